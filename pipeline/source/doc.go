// Package source reads what a census is made of: hosts to ask, or captures that
// are stored already, in WARC files, as bodies, or in the tables of an earlier
// run.
//
// [Open] finds out what a [Config] names and how it is told apart from another,
// before a run begins. A [Source] consists of volumes, which may be read side by
// side; each yields its targets in order, with their captures where these are
// stored. A list of hosts is one volume.
//
// What is no target is accounted for in [Rejects]: a line of a list that names no
// host, a host that is asked already, a damaged record. Nothing of the input is
// lost in silence.
//
// The same input yields the same targets with the same numbers each time it is
// read, which is what resuming a run relies on.
package source
