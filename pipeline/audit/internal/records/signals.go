package records

import (
	"github.com/robocensus/robocensus/sink/summary"
)

// The mark before the path of a signal. A line has one path and possibly
// thousands of keys, so the path is stored once.
const (
	noPath = iota
	newPath
	pathOfLine
)

// Signal is a row of signals.
type Signal struct {
	Group int32 // -1 before the first
	Line  int32
	Field string
	Path  *string
	Rank  int    // the path's place among the paths of both files, from 1
	Key   string // with its =, "" for none
	Text  string // a line of robots.txt with this signal alone
}

func ReadSignals(d Decoder) (rows []Signal) {
	var path *string
	for len(d) > 0 {
		r := Signal{Group: int32(d.Uint()) - 1, Line: int32(d.Uint()), Field: d.Text()}
		switch d.Uint() {
		case noPath:
			path = nil
		case newPath:
			path = new(d.Text())
		}
		r.Path = path
		if d.Uint() == 1 {
			r.Key = d.Text() + "="
		}
		r.Text = r.Field + ": "
		if r.Path != nil {
			r.Text += summary.Cut(*r.Path) + " "
		}
		r.Text += r.Key + d.Text()
		rows = append(rows, r)
	}
	return rows
}
