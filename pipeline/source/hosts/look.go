package hosts

import (
	"fmt"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/schema"
)

const (
	lookRows  = 1000    // rows to look at
	lookBytes = 1 << 20 // of their text
	// pipeRows are enough of a pipe: its writer may wait until hosts are asked.
	pipeRows = 20
)

// A look holds back the first rows of a list until it is clear that they are one of hosts,
// so that nobody is asked for a list that was misread.
type look struct {
	name   string // of the list, for errors
	bare   bool   // names without a dot are hosts
	forced bool   // the user knows that the list is bad
	enough int    // the look ends after so many rows if most of them are good
	yield  func(row) error

	rows     []row
	bytes    int
	bad      int    // rows that name no host, whose number is without those of dotless
	dotless  int    // rows that name a host if names without a dot are hosts
	dotted   int    // rows with a host with a dot
	first    string // the first row that names none, and why
	released bool
}

func (l *look) take(r row) error {
	if l.released {
		r.bare = l.bare
		return l.yield(r)
	}
	l.rows, l.bytes = append(l.rows, r), l.bytes+len(r.text)
	l.judge(&r)
	n := len(l.rows)
	if n >= lookRows || l.bytes >= lookBytes || n >= l.enough && 2*(l.bad+l.dotless) <= n {
		return l.release(false)
	}
	return nil
}

// judge counts a row.
func (l *look) judge(r *row) {
	why := r.refusal(false)
	switch {
	case why == "":
		l.dotted++
	case r.refusal(true) == "":
		l.dotless++
	default:
		l.bad++
	}
	if why != "" && l.first == "" {
		l.first = fmt.Sprintf("line %d: %s", r.line, schema.TextString(why))
	}
}

// refusal returns why a row names no host, or "".
func (r *row) refusal(bare bool) string {
	switch {
	case r.err != "":
		return r.err
	case r.given() == "":
		return noHost
	}
	_, _, why := candidatesOf(r.given(), []string{"https"}, bare)
	return why
}

// release yields the rows that were held back, or returns the error of a list most of whose
// rows name no host. A list that ends without any has an error of its own.
func (l *look) release(isWhole bool) error {
	if l.released {
		return nil
	}
	l.released = true
	if l.dotted == 0 && l.dotless > 0 && l.rows[0].isNamed {
		l.bare = true // a list of names without a dot, that says that they are hosts
	}
	bad := l.bad
	if !l.bare {
		bad += l.dotless
	}
	if n := len(l.rows); 2*bad > n && !l.forced && !(isWhole && bad == n) {
		of := "the"
		if !isWhole {
			of = "the first"
		}
		return &userfile.Error{Path: l.name,
			Err: fmt.Errorf("%d of %s %d rows name no host, such as %s; nobody was asked: correct the list, "+
				"name its column with --column, or give --force to ask the others", bad, of, n, l.first)}
	}
	rows := l.rows
	l.rows = nil
	for _, r := range rows {
		r.bare = l.bare
		if err := l.yield(r); err != nil {
			return err
		}
	}
	return nil
}
