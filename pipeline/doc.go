// Package pipeline is the census itself: targets in, tables out.
//
//	hosts ─► targets ─► fetches ─┐
//	                             ├─► segment full ─► evaluators ─► parts
//	WARC, bodies, earlier run ───┘
//
// One goroutine reads the hosts in order and cuts them into segments of a
// fixed number of targets. Each target is fetched by a goroutine that begins
// when the client has a slot for it; when every target of a segment has its
// capture, an evaluator parses and judges them in the order of the input and
// commits the segment's parts. A slow host therefore holds up its own segment
// and nothing else, the rows of a part stand in the order of the input, and
// what lives in memory is the captures of a bounded number of open segments.
//
// Stored captures come as volumes, files that are read side by side and cut
// into segments of their own. Writing the rows takes most of the time, so the
// reading of a body is kept only for bodies that come again soon.
//
// The same source is cut into the same segments each time, so resuming re-reads
// the source and skips committed segments.
//
// A failed host is a row, never an error. An error of this package is a
// reason to stop: an unreadable source or a failing disk.
package pipeline
