// Package fetch has the facts about what an origin's robots.txt answered: hop by
// hop, with times, headers, error class and body. They are those of package client,
// which gets them from the network, of package warc, which reads them from archives,
// and of package memory, which keeps them for later runs.
//
// A failure is a field of the [Capture], not an error, and no conclusions are drawn:
// package robots decides what the facts mean.
//
// ftp works like http and yields the same facts; the status is then the reply
// that ended the exchange.
package fetch
