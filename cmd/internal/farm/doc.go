// Package farm serves robots.txt files as many hosts on the loopback interface, well
// or badly, for trials and benchmarks of a census.
//
// A farm has three parts. [Hosts] are the bodies, by host name. [Faults] say which
// hosts misbehave and how, from a wrong status to a handshake that never ends;
// [FaultFormat] documents their file. [Latency] draws a delay for each host. A
// [Server] listens on any number of loopback addresses, distinguishes hosts by the
// Host header and the TLS server name, and counts requests and concurrency by host
// ([Report]), which show whether a client is polite.
//
// Most faults of a real network lie below HTTP, so the server speaks HTTP by hand
// over bare connections: one goroutine each, no timers, one write for a plain
// answer. It shares the machine with the program under test and leaves most of it
// to that program.
package farm
