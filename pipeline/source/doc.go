// Package source reads the sources of a census: a list of hosts to ask, or stored
// captures in WARC files, in a folder or tar of bodies, or in the tables of an
// earlier run.
//
// [Open] checks a source and identifies its inputs before a run begins. A [Source]
// consists of volumes, which may be read concurrently; each yields its targets in
// order, stored ones with their captures. A list of hosts is one volume.
//
// [Rejects] accounts for everything else in the input: a line that names no host,
// a duplicate, a damaged record. No line is lost silently.
//
// Archives at https URLs are identified when they are read, at the pace of their server.
//
// The same input yields the same targets with the same numbers each time. Resuming
// relies on that.
package source
