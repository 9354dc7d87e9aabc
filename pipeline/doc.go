// Package pipeline runs a census: it reads a source, fetches what the source has
// no capture of, evaluates the captures, and commits the rows.
//
//	source ─► cutter ─► fetch ─► piece full ─► evaluate ─► last piece: commit
//	             (stored captures skip fetch)
//
// Package source yields targets in the order of the input. The cutter cuts them
// into pieces of a bounded number of targets, and consecutive pieces make a segment: one
// piece at first, more as a run grows, so that a long list has few parts. A goroutine
// fetches each target as soon as the client has a slot for it. When every target of a
// piece has its capture, an evaluator makes its rows, in the order of the input. A slow
// host therefore delays its own piece only, and memory holds the captures of a bounded
// number of open pieces. The evaluator of a segment's last piece commits the segment.
//
// The same source is cut into the same segments each time, so resuming re-reads
// the source and skips committed segments.
//
// A run may be made of shards, by a process each, on any machines that share the
// output folder. To this package a shard is a filter of its source, and all else is as
// in any run: where a shard is made and how it becomes a part of the run is the business
// of sink.Begin and sink.Run.Send. The process that commits the last shard completes the
// run.
//
// A failed host is a row, never an error. An error of this package ends the run:
// the source is unreadable, the disk fails, or this machine is cut off.
//
// robots/README.md has a glossary of the words used here.
package pipeline
