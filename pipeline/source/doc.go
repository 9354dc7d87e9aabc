// Package source reads the sources of a census: a list of hosts to ask, or stored
// captures in WARC files, in a folder or tar of bodies, or in the tables of an
// earlier run.
//
// [Open] checks a source and identifies its inputs before a run begins. A [Source]
// consists of volumes, which may be read concurrently; each yields its targets in
// order, stored ones with their captures. A list of hosts is one volume.
//
// An account of package input has everything else in the input: a line that names no
// host, a duplicate, a damaged record. No line is lost silently.
//
//	source.go    Open, Start, and what a source says of itself
//	kinds.go     the kinds of stored answers; Check
//	volume.go    Volume, which reads targets in order
//	archive.go   archives; repeated.go those that are named again; captures.go reads them
//	index.go     indexes of captures; places.go cuts them into blocks, block.go reads one
//	originals.go the originals of revisit records in indexes
//	bodies.go    a folder or tar of bodies, which package input reads
//	run.go       an earlier run
//	package hosts     lists of hosts
//	package cdx       the lines and rows of an index
//	package earlier   the tables of an earlier run
//	package input     files, folders and URLs, and what of them is not a target
//	package last      the last capture of each host in archives; redirects and revisits
//
// Archives at https URLs are identified when they are read, at the pace of their server.
//
// To add a source of stored answers:
//
//   - stored.go of package journal: a row of StoredSources. The flags that exclude each other,
//     the checks of values, the words of messages and reports, and what a comparison says of
//     other inputs follow from it.
//   - settings.go of package journal: a row for each of its flags.
//   - kinds.go: a row of kinds, and the field of [Config] that it reads.
//   - a file of its own: open adds volumes, with inputs of the role of the row. A volume's
//     function calls emit with targets in order, each with the same Seq whatever is read
//     beside it, and accounts for all else by s.reject and s.wanted. A stored target has
//     [target.Stored], whose Source is the Value of the row. s.number gives volumes of files
//     their ranges; v.mixed is for one that yields the targets of all shards.
//   - cmd/internal/run: the flag (run.go). checkSource (checks.go) refuses what contradicts
//     it, flagRelations and checkEffect (relations.go) refuse what has no effect with it;
//     piped (checks.go) counts it, if it can be standard input.
//   - what users read: the comment of fetches.source (fetches.go in package schema), if the
//     Value is new; go test ./sink -run Dictionary -update copies it to sink/README.md, which
//     has a row for each reason in rejected.csv. runDetails (run.go), for what a flag can't say.
//   - tests: settings_test.go of package journal, for what is published by name;
//     sources_test.go here and in pipeline; TestAllSourcesGiveTheSameTables in sink/duckdb.
//
// The same input yields the same targets with the same numbers each time. Resuming
// relies on that.
package source
