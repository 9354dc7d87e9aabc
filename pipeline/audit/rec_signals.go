package audit

import (
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// The mark before the path of a signal. A line has one path and possibly
// thousands of keys, so the path is stored once.
const (
	noPath = iota
	newPath
	pathOfLine
)

// signalRow is a row of signals.
type signalRow struct {
	group int32 // -1 before the first
	line  int32
	field string
	path  *string
	rank  int    // the path's place among the paths of both files, from 1
	key   string // with its =, "" for none
	text  string // a line of robots.txt with this signal alone
}

func signalRows(d decoder) (rows []signalRow) {
	var path *string
	for len(d) > 0 {
		r := signalRow{group: int32(d.uint()) - 1, line: int32(d.uint()), field: d.text()}
		switch d.uint() {
		case noPath:
			path = nil
		case newPath:
			path = sink.Some(d.text())
		}
		r.path = path
		if d.uint() == 1 {
			r.key = d.text() + "="
		}
		r.text = r.field + ": "
		if r.path != nil {
			r.text += summary.Cut(*r.path) + " "
		}
		r.text += r.key + d.text()
		rows = append(rows, r)
	}
	return rows
}
