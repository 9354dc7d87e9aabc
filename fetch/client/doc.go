// Package client gets the facts of package fetch from the network.
//
// One fetch is one connection: a TCP or TLS dial, one GET written by hand, one
// answer read by [net/http.ReadResponse], and the connection is closed. A
// census asks each host for one file, so pools of keep-alive connections and
// their goroutines would gain nothing. Every bound (bytes of header, bytes of
// body, time) applies to the connection itself, where a hostile server cannot
// evade it.
package client
