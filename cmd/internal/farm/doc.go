// Package farm serves robots.txt files for many hosts on the loopback interface and
// injects faults on request, for tests and benchmarks of a census.
//
// A farm has three inputs. [Hosts] holds the bodies by host name. [Faults] selects
// the hosts that misbehave and how, from a wrong status to a handshake that never
// ends; [FaultFormat] documents its file. [Latency] draws a delay for each host. A
// [Server] listens on any number of loopback addresses and distinguishes hosts by the
// Host header and the TLS server name. Its [Report] counts requests and concurrency
// by host, which shows whether a client is polite.
//
// Most faults of a real network lie below HTTP, so the server speaks HTTP by hand
// over bare connections: one goroutine each, no timers, one write for a plain
// answer. It shares the machine with the program under test and must leave most of
// the processor to that program.
package farm
