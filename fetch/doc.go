// Package fetch gets facts from the network: what an origin's robots.txt
// answered, hop by hop, with times, headers, error class and body.
//
// It draws no conclusions. A failure is a field of the [Capture], not an error;
// package robots decides what the facts mean.
//
// One fetch is one connection: a TCP or TLS dial, one GET written by hand, one
// answer read by [net/http.ReadResponse], and the connection is closed. A
// census asks each host for one file, so pools of keep-alive connections and
// their goroutines would gain nothing. Every bound (bytes of header, bytes of
// body, time) applies to the connection itself, where a hostile server cannot
// evade it.
//
// ftp works like http and yields the same facts; the status is then the reply
// that ended the exchange.
package fetch
