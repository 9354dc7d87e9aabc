package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// figure is a drawing with its finding, its numbers, and the SQL that computes
// them.
type figure struct {
	ID        string
	Title     string // the finding: a sentence without a full stop
	Of        string // base of the shares
	Note      string
	Legend    []legend
	Axis      string      // what the full width of a bar stands for, such as "2% of hosts"
	Heads     []string    // heads of the values beside the bars, if each bar has two
	Bars      []bar       // nil for a histogram
	Columns   *columns    // a histogram, or nil
	Multiples []*multiple // drawings of lines over time
	Heat      *heat       // a coloured table, or nil
	Wide      bool        // each multiple takes the width of the page
	Head      []string    // heads of the numbers: the columns of the SQL
	Rows      [][]string  // the numbers as the SQL returns them
	Names     func(string) string
	SQL       string
	Examples  *listed

	file   string // file name of a download, without suffix
	source string // provenance, printed in a download
}

type legend struct{ Class, Name string }

// bar is a name with one track, or with one for each base.
type bar struct {
	Name, Sub string // Name may be text from the network
	Tracks    []track
}

// track is one horizontal bar of several parts, with its values at the right.
type track struct {
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

// share is a number of hosts, or of what else a bar counts.
type share struct {
	class, name string
	n           int64
}

// parts draws shares of a whole side by side. The width of the track stands for
// scale per cent of the whole.
func parts(scale, whole int64, of ...share) (out []rectangle) {
	x := 0.0
	for _, s := range of {
		if s.n <= 0 || whole <= 0 {
			continue
		}
		width := 100 * float64(s.n) / float64(whole) * 100 / float64(scale)
		out = append(out, rectangle{Class: s.class, X: x, Width: width, Tip: fmt.Sprintf("%s: %s, %s", s.name, count(s.n), percent(s.n, whole)), said: percent(s.n, whole)})
		x += width
	}
	return out
}

// lengths draws numbers side by side. The width of the track stands for full.
func lengths(full int64, of ...share) (out []rectangle) {
	x := 0.0
	for _, s := range of {
		if s.n > 0 {
			width := 100 * float64(s.n) / float64(full)
			out = append(out, rectangle{Class: s.class, X: x, Width: width, Tip: fmt.Sprintf("%s: %s", s.name, count(s.n))})
			x += width
		}
	}
	return out
}

// roundUp returns the least of 1, 2, 5, 10, 20, 50 and so on that is at least n.
func roundUp(n int64) int64 {
	for decade := int64(1); ; decade *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if step*decade >= n || decade >= 1e17 {
				return max(step*decade, n)
			}
		}
	}
}

// inscribed writes the percentage into each part that has room for it.
func inscribed(of []rectangle) []rectangle {
	for i := range of {
		if p := &of[i]; p.Width >= 9 {
			p.Text = p.said
		}
	}
	return of
}

// scaleFor returns the percentage that the width of a track stands for: the least
// that leaves room for the longest bar, so that small shares stay visible.
func scaleFor(most, whole int64) int64 {
	for _, p := range []int64{1, 2, 5, 10, 20, 50} {
		if 100*float64(most) <= float64(whole)*float64(p) {
			return p
		}
	}
	return 100
}

// columns is a histogram. X, Width and Middle of a column are percentages of its
// width.
type columns struct {
	Columns []column
	Axis    string
}

type column struct {
	X, Width, Middle float64
	Share            float64 // share of the highest column
	Tip, Label, Top  string
	Sparse           bool // hide the label on a narrow page
}

// Heights of a histogram in pixels, on the page and in its SVG.
const (
	plotTop    = 20
	plotHeight = 130
	plotFoot   = 24
)

// Y and Height leave room for a label above the column.
func (c column) Y() string      { return decimal(plotTop + plotHeight*(1-c.Share)) }
func (c column) Height() string { return decimal(plotHeight * c.Share) }

// histogram draws a distribution in grouped bins, or returns nil if there is
// nothing to draw. label and name format a value; noun names what is counted.
func histogram(h summary.Histogram, whole int64, label, name func(int64) string, noun, axis string) *columns {
	if len(h) == 0 || whole <= 0 {
		return nil
	}
	bins, most := h.Grouped(), int64(1)
	for _, b := range bins {
		most = max(most, b.Count)
	}
	c := &columns{Axis: axis}
	width := 100 / float64(max(len(bins), 6))
	every := (len(bins) + 4) / 5
	for i, b := range bins {
		col := column{
			X: float64(i)*width + width*0.08, Width: width * 0.84, Middle: (float64(i) + 0.5) * width, Share: float64(b.Count) / float64(most),
			Label: binLabel(b.Bin, label), Sparse: i%every != 0,
			Tip: fmt.Sprintf("%s: %s, %s", span(b.Bin, name), counted(b.Count, noun), percent(b.Count, whole)),
		}
		if b.Count > 0 {
			col.Top = percent(b.Count, whole)
		}
		c.Columns = append(c.Columns, col)
	}
	return c
}

// binLabel returns the label of a column: its value, or the first of several.
func binLabel(b summary.Bin, name func(int64) string) string {
	if b.First == b.Last {
		return name(b.First)
	}
	return name(b.First) + "–"
}

// span names the values of a bin.
func span(b summary.Bin, name func(int64) string) string {
	switch {
	case b.First == b.Last:
		return name(b.First)
	case b.Last == 1<<63-1:
		return name(b.First) + " or more"
	}
	return name(b.First) + " to " + name(b.Last)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func count(n int64) string       { return words.Number(n) }
func percent(n, of int64) string { return words.Percent(n, of) }

// ofBase returns n as a share of a base in words, such as "35.9% of hosts" or, of a few,
// "2 of 3 hosts".
func ofBase(n, of int64, base string) string { return words.ShareOf(n, of, base) }

// ofHosts returns n as a share of a number of hosts, such as "86.0% of 2,156 hosts".
func ofHosts(n, of int64) string {
	if of < words.Few {
		return count(n) + " of " + hosts(of)
	}
	return percent(n, of) + " of " + hosts(of)
}

func counted(n int64, noun string) string { return words.Count(n, noun) }
func hosts(n int64) string                { return words.Count(n, "host") }

// and joins parts of a sentence with commas and "and".
func and(parts []string) string {
	switch n := len(parts); n {
	case 0:
		return ""
	case 1:
		return parts[0]
	default:
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
}

// tied names up to three that tie, "GPTBot and CCBot", and counts more of them.
func tied(names []string, plural string) string {
	if len(names) > 3 {
		return count(int64(len(names))) + " " + plural
	}
	return and(names)
}

// about formats a quantile, which is exact below 100 only.
func about(n int64) string {
	if n < 100 {
		return count(n)
	}
	return "about " + count(n)
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// short formats the least value of a bin, one digit and zeros, as a label.
func short(n int64) string {
	for _, unit := range []string{"", "k", "M", "G", "T"} {
		if n < 1000 {
			return strconv.FormatInt(n, 10) + unit
		}
		n /= 1000
	}
	return count(n) + "P"
}

// binName returns the display name of a bin's key.
func binName(key string) string {
	b, err := summary.ParseBin(key)
	if err != nil {
		return key
	}
	return span(b, count)
}

// microsName formats a time in microseconds.
func microsName(n int64) string {
	trim := func(f float64, unit string) string {
		return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0") + "\u00a0" + unit
	}
	switch {
	case n < 1000:
		return fmt.Sprintf("%d\u00a0µs", n)
	case n < 10_000:
		return trim(float64(n)/1000, "ms")
	case n < 1_000_000:
		return fmt.Sprintf("%.0f\u00a0ms", float64(n)/1000)
	}
	return trim(float64(n)/1_000_000, "s")
}

// listed is the table of a figure's examples.
type listed struct {
	Caption string
	What    string // head of the column of texts
	HasKey  bool
	HasLine bool
	HasRank bool
	Rows    []example
}

// A list longer than shortList shows its first part, of about firstPart rows; the rest is
// folded.
const (
	shortList = 15
	firstPart = 12
)

// FirstBars returns the bars that are not folded.
func (f *figure) FirstBars() []bar {
	if len(f.Bars) <= shortList {
		return f.Bars
	}
	return f.Bars[:firstPart]
}

// MoreBars returns the bars that are folded.
func (f *figure) MoreBars() []bar { return f.Bars[len(f.FirstBars()):] }

// cut returns the number of rows that are not folded: groups stay whole.
func (l *listed) cut() int {
	if len(l.Rows) <= shortList {
		return len(l.Rows)
	}
	at := firstPart
	for at < len(l.Rows) && l.HasKey && l.Rows[at].Span == 0 {
		at++
	}
	return at
}

// First returns the rows that are not folded.
func (l *listed) First() *listed {
	first := *l
	first.Rows = l.Rows[:l.cut()]
	return &first
}

// More returns the rows that are folded, nil for none.
func (l *listed) More() *listed {
	if l.cut() == len(l.Rows) {
		return nil
	}
	more := *l
	more.Caption, more.Rows = "", l.Rows[l.cut():]
	return &more
}

// example is a row. Key is "" if it equals that of the row before; otherwise Span
// is the number of rows with the key.
type example struct {
	Key, Host, Rank, Line, Text string
	Span                        int
}

// measured formats the texts that are numbers with name.
func (l *listed) measured(name func(int64) string) *listed {
	if l != nil {
		for i := range l.Rows {
			if n, err := strconv.ParseInt(l.Rows[i].Text, 10, 64); err == nil {
				l.Rows[i].Text = name(n)
			}
		}
	}
	return l
}

// Cell formats a cell of the numbers: keys in the first column as words, and
// numbers with thousands separators.
func (f *figure) Cell(column int, text string) string {
	if column == 0 && f.Names != nil {
		return f.Names(text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && column > 0 {
		return count(n)
	}
	return text
}

// Label formats a head of the numbers.
func (f *figure) Label(head string) string { return strings.ReplaceAll(head, "_", " ") }

// IsNumber reports whether all cells of a column are numbers.
func (f *figure) IsNumber(column int) bool {
	return column > 0 && !slices.ContainsFunc(f.Rows, func(row []string) bool { return strings.Trim(row[column], "0123456789") != "" })
}
