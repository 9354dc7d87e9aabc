// Package farm is a web of hosts on the loopback interface that answer for
// their robots.txt, well or badly, as told: what a census is tried on.
//
// Three things make a farm. [Hosts] are the bodies, by host name. [Faults] say
// which hosts misbehave and how, from a wrong status down to a handshake that
// never ends; [FaultFormat] is the reference of their file. [Latency] draws a
// delay for each host. A [Server] made of these listens on as many loopback
// addresses as wanted, tells hosts apart by the Host header and by TLS server
// name, and keeps count of who asked for what and how much of it at once
// ([Report]), so that it can bear witness to a client's manners.
//
// Most of what goes wrong on a real network lies below HTTP, so the server
// speaks it by hand over bare connections: one goroutine each, no timers, one
// write for a plain answer. It is meant to share a machine with the program
// under test and to leave the machine to it.
package farm
