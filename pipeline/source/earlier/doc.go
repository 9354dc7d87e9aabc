// Package earlier reads the captures of an earlier run, to re-evaluate them. The tables
// may be somebody else's: whatever they hold is checked, in bounded memory.
//
//	earlier.go  Run and its segments, and the rows of fetches
//	row.go      makes the target of a row of fetches; a new fact of a capture is read here
//	rows.go     reads rows one after the other
//	bodies.go   the bodies that the rows need, each held no longer than it is needed
//	answers.go  the answers to other identities
//	urls.go     the URLs that only some hosts have
//	check.go    checks that rows, bodies and segments fit together
//	needs.go    what a run lacks, found out before it is read
package earlier
