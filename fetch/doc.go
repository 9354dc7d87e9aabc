// Package fetch gets facts from the network: for an origin, what its
// robots.txt answered, hop by hop, with times, headers, error class and body.
//
// It draws no conclusion. A failure is a field of the [Capture], never an
// error that stops anything; what the facts mean is decided by package
// robots.
//
// One fetch is one bare connection: a TCP or TLS dial, one GET written by
// hand, one answer read by [net/http.ReadResponse], and the connection is
// closed. A census asks each host for one file, so keep-alive pools, and the
// goroutines that they cost, would buy nothing; and every bound (bytes of
// header, bytes of body, time) is laid on the connection itself, where a
// hostile server cannot get around it.
//
// ftp is asked as http is, and has the same facts: the status is then the
// reply that ended the exchange.
package fetch
