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

// figure is one picture with all that belongs to it: what it says, the drawing,
// its numbers, and the SQL that gives them.
type figure struct {
	ID       string
	Title    string // what it shows, a sentence without its full stop
	Of       string // what the shares are shares of
	Note     string
	Legend   []legend
	Axis     string     // what the full width of a bar stands for, as "2% of hosts"
	Heads    []string   // of the values beside the bars, where there are two
	Bars     []bar      // or
	Columns  *columns   // a histogram
	Head     []string   // of the numbers: the columns of the SQL
	Rows     [][]string // raw, as the SQL gives them
	Names    func(string) string
	SQL      string
	Examples *listed

	file   string // what a copy is called
	source string // what a copy says that it is from
}

type legend struct{ Class, Name string }

// bar is a name with one track, or with one for each base.
type bar struct {
	Name, Sub string // Name may be a stranger's
	Tracks    []track
}

// track is one horizontal bar of several parts, with its values at the right.
type track struct {
	Label  string // tells it from the bar's other ones
	Parts  []part
	Values []string
}

// part is a rectangle of X and Width per cent of the track.
type part struct {
	Class    string
	X, Width float64
	Tip      string // what it shows, in words
	Text     string // inside it, where there is room
}

// Middle is where the text stands.
func (p part) Middle() float64 { return p.X + p.Width/2 }

// share is a number of hosts, or of whatever a bar is about.
type share struct {
	class, name string
	n           int64
}

// parts draws shares of a whole, one beside another. The width of the track
// stands for scale per cent of the whole.
func parts(scale, whole int64, of ...share) (out []part) {
	x := 0.0
	for _, s := range of {
		if s.n <= 0 || whole <= 0 {
			continue
		}
		width := 100 * float64(s.n) / float64(whole) * 100 / float64(scale)
		out = append(out, part{Class: s.class, X: x, Width: width, Tip: fmt.Sprintf("%s: %s, %s", s.name, count(s.n), percent(s.n, whole))})
		x += width
	}
	return out
}

// lengths draws numbers, one beside another. The width of the track stands for
// full.
func lengths(full int64, of ...share) (out []part) {
	x := 0.0
	for _, s := range of {
		if s.n > 0 {
			width := 100 * float64(s.n) / float64(full)
			out = append(out, part{Class: s.class, X: x, Width: width, Tip: fmt.Sprintf("%s: %s", s.name, count(s.n))})
			x += width
		}
	}
	return out
}

// roundUp is the next of 1, 2, 5, 10, 20, 50 and so on.
func roundUp(n int64) int64 {
	for decade := int64(1); ; decade *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if step*decade >= n || decade >= 1e17 {
				return max(step*decade, n)
			}
		}
	}
}

// inscribed writes shares into the parts of a track that is a whole.
func inscribed(of []part) []part {
	for i := range of {
		if p := &of[i]; p.Width >= 9 {
			p.Text = p.Tip[strings.LastIndexByte(p.Tip, ' ')+1:]
		}
	}
	return of
}

// scaleFor is the per cent that the width of a track stands for: as few as
// leave room for the longest bar, so that small shares can be told apart.
func scaleFor(most, whole int64) int64 {
	for _, p := range []int64{1, 2, 5, 10, 20, 50} {
		if 100*float64(most) <= float64(whole)*float64(p) {
			return p
		}
	}
	return 100
}

// columns is a histogram; X, Width and Middle are per cent across.
type columns struct {
	Columns []column
	Axis    string
}

type column struct {
	X, Width, Middle float64
	Share            float64 // of the highest column
	Tip, Label, Top  string
	Sparse           bool // its label is left out where the page is narrow
}

// Heights of a histogram in pixels, for the template and the copy.
const (
	plotTop    = 20
	plotHeight = 130
	plotFoot   = 24
)

// Y and Height place a column under a space for its label.
func (c column) Y() string      { return decimal(plotTop + plotHeight*(1-c.Share)) }
func (c column) Height() string { return decimal(plotHeight * c.Share) }

// histogram draws a distribution in bins that can be read. label and name tell
// a value, noun what is counted.
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

// binLabel is the label of a column: the value, or the first of several.
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

func count(n int64) string                { return words.Number(n) }
func percent(n, of int64) string          { return words.Percent(n, of) }
func counted(n int64, noun string) string { return words.Count(n, noun) }
func hosts(n int64) string                { return words.Count(n, "host") }

// and joins parts of a sentence.
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

// about marks a quantile that is not exact.
func about(n int64) string {
	if n < 100 {
		return count(n)
	}
	return "about " + count(n)
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// short is the least value of a bin as a label: it has one digit and zeros.
func short(n int64) string {
	for _, unit := range []string{"", "k", "M", "G", "T"} {
		if n < 1000 {
			return strconv.FormatInt(n, 10) + unit
		}
		n /= 1000
	}
	return count(n) + "P"
}

// binName is the key of a bin in words.
func binName(key string) string {
	b, err := summary.ParseBin(key)
	if err != nil {
		return key
	}
	return span(b, count)
}

// microsName is a time as a label.
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

// listed are the examples of a figure.
type listed struct {
	Caption string
	What    string // the head of their texts
	HasKey  bool
	HasLine bool
	HasRank bool
	Rows    []example
}

// example is a row. Key is "" where it is that of the row before; Span says
// for how many rows it stands.
type example struct {
	Key, Host, Rank, Line, Text string
	Span                        int
}

// measured shows texts that are numbers as sizes.
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

// Cell shows a cell of the numbers: those of the first column in words, and
// numbers with their thousands apart.
func (f *figure) Cell(column int, text string) string {
	if column == 0 && f.Names != nil {
		return f.Names(text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && column > 0 {
		return count(n)
	}
	return text
}

// Label is a head of the numbers in words.
func (f *figure) Label(head string) string { return strings.ReplaceAll(head, "_", " ") }

// IsNumber tells whether the cells of a column are numbers.
func (f *figure) IsNumber(column int) bool {
	return column > 0 && !slices.ContainsFunc(f.Rows, func(row []string) bool { return strings.Trim(row[column], "0123456789") != "" })
}
