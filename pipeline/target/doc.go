// Package target describes what a run asks about: an origin to ask, or one with its
// stored capture. The sources of a census yield targets, and package evaluate makes rows
// of them.
//
//	target.go  Target, and Stored: where a stored capture comes from
//	shard.go   which share of the hosts or the archives a process takes
//	sample.go  which registered domains a sample takes
package target
