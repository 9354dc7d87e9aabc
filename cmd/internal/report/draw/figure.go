package draw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// Figure is a drawing with its finding, its numbers, and the SQL that computes
// them.
type Figure struct {
	ID        string
	Title     string // the finding: a sentence without a full stop
	Of        string // base of the shares
	Note      string
	Legend    []Legend
	Axis      string      // what the full width of a bar stands for, such as "2% of hosts"
	Heads     []string    // heads of the values beside the bars, if each bar has two
	Bars      []Bar       // nil for a histogram
	Columns   *columns    // a histogram, or nil
	Multiples []*Multiple // drawings of lines over time
	Heat      *Heat       // a coloured table, or nil
	Wide      bool        // each multiple takes the width of the page
	Head      []string    // heads of the numbers: the columns of the SQL
	Rows      [][]string  // the numbers as the SQL returns them
	Names     func(string) string
	SQL       string
	Examples  *Listed

	File   string // file name of a download, without suffix
	Source string // provenance, printed in a download
}

// Legend is the name of a colour.
type Legend struct{ Class, Name string }

// Bar is a name with one track, or with one for each base.
type Bar struct {
	Name, Sub string // Name may be text from the network
	Tracks    []Track
}

// Track is one horizontal bar of several parts, with its values at the right.
type Track struct {
	Label  string // distinguishes the tracks of a bar
	Parts  []rectangle
	Values []string
}

// A rectangle is a part of a bar. X and Width are percentages of the track's width.
type rectangle struct {
	Class    string
	X, Width float64
	Tip      string // tooltip
	Text     string // inside the rectangle, if there is room
	said     string // its share
}

// Middle returns the x position of the text, in per cent.
func (p rectangle) Middle() float64 { return p.X + p.Width/2 }

// Share is a number of hosts, or of what else a bar counts.
type Share struct {
	Class, Name string
	N           int64
}

// Parts draws shares of a whole side by side. The width of the track stands for
// scale per cent of the whole.
func Parts(scale, whole int64, of ...Share) (out []rectangle) {
	x := 0.0
	for _, s := range of {
		if s.N <= 0 || whole <= 0 {
			continue
		}
		width := 100 * float64(s.N) / float64(whole) * 100 / float64(scale)
		out = append(out, rectangle{Class: s.Class, X: x, Width: width, Tip: fmt.Sprintf("%s: %s, %s", s.Name, words.Number(s.N), words.Percent(s.N, whole)), said: words.Percent(s.N, whole)})
		x += width
	}
	return out
}

// Lengths draws numbers side by side. The width of the track stands for full.
func Lengths(full int64, of ...Share) (out []rectangle) {
	x := 0.0
	for _, s := range of {
		if s.N > 0 {
			width := 100 * float64(s.N) / float64(full)
			out = append(out, rectangle{Class: s.Class, X: x, Width: width, Tip: fmt.Sprintf("%s: %s", s.Name, words.Number(s.N))})
			x += width
		}
	}
	return out
}

// RoundUp returns the least of 1, 2, 5, 10, 20, 50 and so on that is at least n.
func RoundUp(n int64) int64 {
	for decade := int64(1); ; decade *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if step*decade >= n || decade >= 1e17 {
				return max(step*decade, n)
			}
		}
	}
}

// Inscribed writes the percentage into each part that has room for it.
func Inscribed(of []rectangle) []rectangle {
	for i := range of {
		if p := &of[i]; p.Width >= 12 {
			p.Text = p.said
		}
	}
	return of
}

// ScaleFor returns the percentage that the width of a track stands for: the least
// that leaves room for the longest bar, so that small shares stay visible.
func ScaleFor(most, whole int64) int64 {
	for _, p := range []int64{1, 2, 5, 10, 20, 50} {
		if 100*float64(most) <= float64(whole)*float64(p) {
			return p
		}
	}
	return 100
}

// Decimal formats a position.
func Decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// OfHosts returns n as a share of a number of hosts, such as "86.0% of 2,156 hosts".
func OfHosts(n, of int64) string {
	if of < words.Few {
		return words.Number(n) + " of " + words.Hosts(of)
	}
	return words.Percent(n, of) + " of " + words.Hosts(of)
}

// Cell formats a cell of the numbers: keys in the first column as words, and
// numbers with thousands separators.
func (f *Figure) Cell(column int, text string) string {
	if column == 0 && f.Names != nil {
		return f.Names(text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && column > 0 {
		return words.Number(n)
	}
	return text
}

// Label formats a head of the numbers.
func (f *Figure) Label(head string) string { return strings.ReplaceAll(head, "_", " ") }

// IsNumber reports whether all cells of a column are numbers.
func (f *Figure) IsNumber(column int) bool {
	return column > 0 && !slices.ContainsFunc(f.Rows, func(row []string) bool { return strings.Trim(row[column], "0123456789") != "" })
}

// HasLongValues reports whether a value beside the bars is longer than a share of a base.
func (f *Figure) HasLongValues() bool {
	const most = 15
	return slices.ContainsFunc(f.Bars, func(b Bar) bool {
		return slices.ContainsFunc(b.Tracks, func(t Track) bool {
			return slices.ContainsFunc(t.Values, func(v string) bool { return len([]rune(v)) > most })
		})
	})
}

// MostBars is the most bars that a figure draws. Its table lists all numbers.
const MostBars = 24
