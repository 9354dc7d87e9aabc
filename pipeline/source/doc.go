// Package source reads the sources of a census: a list of hosts to ask, or stored
// captures in WARC files, in a folder or tar of bodies, or in the tables of an
// earlier run.
//
// [Open] checks a source and identifies its inputs before a run begins. A [Source]
// consists of volumes, which may be read concurrently; each yields its targets in
// order, stored ones with their captures. A list of hosts is one volume.
//
// Package rejected accounts for everything else in the input: a line that names no host,
// a duplicate, a damaged record. No line is lost silently.
//
//	source.go    Open, Start, and what a source says of itself
//	volume.go    Volume, which reads targets in order
//	archive.go   archives; repeated.go those that are named again
//	last*.go     the last capture of each host in archives
//	cdx*.go      captures that an index names
//	bodies.go    a folder or tar of bodies
//	run.go       an earlier run
//	package hosts     lists of hosts
//	package earlier   the tables of an earlier run
//	package input     files and URLs
//	package rejected  what is not a target
//
// Archives at https URLs are identified when they are read, at the pace of their server.
//
// To add a source:
//
//   - source.go: its field in [Config], IsStored if it has captures, sourceName and
//     Empty (what an input without hosts lacks). Open calls its function, which adds
//     volumes with inputs of a role of its own; [Check] finds out without reading
//     whether it is there.
//   - a file of its own: the volume's function calls emit with targets in order, each
//     with the same Seq whatever is read beside it, and accounts for all else by
//     package rejected. A stored target has [target.Stored], whose Source goes to
//     fetches.source.
//   - sink: a row of settings.go for its flag, ShardsOfHosts in plan.go if shards do not
//     divide the hosts, the values of fetches.source (fetches.go in package schema, and
//     values.go in package verify), and its role in datasheet.go of package describe.
//   - cmd/internal/run: the flag and the usage lines (run.go, plan.go), given and
//     checkSource (checks.go), build (config.go). What changes nothing with it is refused by
//     checkEffect (relations.go).
//   - cmd/internal/settings: the flag is not for demo (scopes.go).
//   - cmd/internal/recap: TargetOf and skippedTexts (recap.go).
//   - where a target is not a host, as with archives: source in
//     cmd/internal/report, isArchive in its package trends, and the callers of [Config.HasArchives].
//   - tests: sources_test.go here and in pipeline (the same hosts from every source give the
//     same tables).
//
// The same input yields the same targets with the same numbers each time. Resuming
// relies on that.
package source
