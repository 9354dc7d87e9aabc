// Package pipeline is the census itself: targets in, tables out.
//
//	source ─► jobs ─► fetch workers ─► segment full ─► analysts ─► parts
//
// One goroutine reads the source in order and cuts it into segments of a
// fixed number of targets. Workers fetch the targets of all open segments;
// when every target of a segment has its capture, an analyst parses and
// judges them in the order of the input and commits the segment's parts. A
// slow host therefore holds up its own segment and nothing else, the rows of
// a part stand in the order of the input, and what lives in memory is the
// captures of a bounded number of open segments.
//
// A failed host is a row, never an error. An error of this package is a
// reason to stop: an unreadable source or a failing disk.
package pipeline
