package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// figure is one picture with all that belongs to it.
type figure struct {
	ID       string
	Title    string // what it shows, as a sentence without its full stop
	Of       string // the denominator
	Note     string
	Legend   []legend
	Bars     []bar
	Columns  *columns
	Head     []string
	Rows     [][]string
	SQL      string
	Examples *listed
}

type legend struct{ Class, Name string }

// bar is one horizontal bar of several parts.
type bar struct {
	Name, Sub string // Name is a stranger's
	Parts     []part
	Value     string
}

// part is a rectangle; X and Width are per cent.
type part struct {
	Class, X, Width string
	Tip             string // what it shows, in words
	Text, TextX     string // inside it, where there is room
}

// parts draws what each class has of a whole, one beside another. The bar's
// width stands for so many per cent of the whole.
func parts(scale, whole int64, of ...share) (out []part) {
	x := 0.0
	for _, s := range of {
		if s.n <= 0 || whole <= 0 {
			continue
		}
		width := 100 * float64(s.n) / float64(whole) * 100 / float64(scale)
		p := part{Class: s.class, X: decimal(x), Width: decimal(width), Tip: fmt.Sprintf("%s: %s, %s", s.name, count(s.n), percent(s.n, whole))}
		if width >= 14 {
			p.Text, p.TextX = percent(s.n, whole), decimal(x+width/2)
		}
		out = append(out, p)
		x += width
	}
	return out
}

// scaleFor is how many per cent of a whole the width of bars stands for of which
// the longest is most, so that small shares can be told apart; and the words
// for it.
func scaleFor(most, whole int64) (int64, string) {
	for _, p := range []int64{1, 2, 5, 10, 20, 50} {
		if 100*float64(most) <= float64(whole)*float64(p) {
			return p, fmt.Sprintf(" The whole width stands for %d\u00a0%%.", p)
		}
	}
	return 100, ""
}

type share struct {
	class, name string
	n           int64
}

// columns is a histogram; its coordinates are per cent across and pixels down.
type columns struct {
	Columns []column
	Height  int // of all
	Base    int // where the columns stand
}

type column struct {
	X, Width, Middle string
	Y, Height        string
	Tip, Label, Top  string
	Sparse           bool // its label is left out where the page is narrow
}

const (
	plotTop    = 20
	plotHeight = 130
	plotFoot   = 24
)

// histogram draws a distribution in bins that can be read, without gaps between
// them. name tells a value.
func histogram(h sink.Histogram, whole int64, name func(int64) string, unit string) *columns {
	if len(h) == 0 || whole <= 0 {
		return nil
	}
	bins, most := h.Grouped(), int64(1)
	for _, b := range bins {
		most = max(most, b.Count)
	}
	c := &columns{Height: plotTop + plotHeight + plotFoot, Base: plotTop + plotHeight}
	width := 100 / float64(max(len(bins), 6))
	every := (len(bins) + 5) / 6
	for i, b := range bins {
		height := float64(plotHeight) * float64(b.Count) / float64(most)
		col := column{
			X: decimal(float64(i)*width + width*0.08), Width: decimal(width * 0.84), Middle: decimal((float64(i) + 0.5) * width),
			Y: decimal(float64(c.Base) - height), Height: decimal(height),
			Label: name(b.First), Tip: fmt.Sprintf("%s: %s, %s", span(b.Bin, name), counted(b.Count, strings.TrimSuffix(unit, "s"), unit), percent(b.Count, whole)), Sparse: i%every != 0,
		}
		if b.Count > 0 {
			col.Top = percent(b.Count, whole)
		}
		c.Columns = append(c.Columns, col)
	}
	return c
}

// span names the values of a bin.
func span(b sink.Bin, name func(int64) string) string {
	switch {
	case b.First == b.Last:
		return name(b.First)
	case b.Last == math.MaxInt64:
		return name(b.First) + " or more"
	}
	return "from " + name(b.First) + " to below " + name(b.Last+1)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// count writes a number with its thousands apart.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var out strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return out.String()
}

// percent is a share, "0 %" for nothing and never for something.
func percent(n, of int64) string {
	const space = "\u00a0"
	if of <= 0 || n == 0 {
		return "0" + space + "%"
	}
	p := 100 * float64(n) / float64(of)
	switch {
	case n == of:
		return "100" + space + "%"
	case p < 0.05:
		return "<0.1" + space + "%"
	case p > 99.95:
		return ">99.9" + space + "%"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + space + "%"
}

func hosts(n int64) string { return counted(n, "host", "hosts") }

func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// bytesName is a size as a label.
func bytesName(n int64) string {
	for _, unit := range []string{"", "K", "M", "G", "T"} {
		if n < 1024 {
			return strconv.FormatInt(n, 10) + unit
		}
		n /= 1024
	}
	return "huge"
}

// microsName is a time as a label, with the binary bins rounded.
func microsName(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d\u00a0µs", n)
	case n < 10_000:
		return fmt.Sprintf("%.1f\u00a0ms", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%.0f\u00a0ms", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f\u00a0s", float64(n)/1_000_000)
}

// secondsName is a delay as a label.
func secondsName(n int64) string {
	switch {
	case n < 60:
		return fmt.Sprintf("%d\u00a0s", n)
	case n < 3600:
		return fmt.Sprintf("%d\u00a0min", n/60)
	case n < 2*86400:
		return fmt.Sprintf("%d\u00a0h", n/3600)
	}
	return fmt.Sprintf("%s\u00a0d", count(n/86400))
}

// listed are the examples of a figure.
type listed struct {
	Caption string
	What    string // the head of their texts
	HasKey  bool
	HasLine bool
	Rows    []example
}

// example is a row. Key is "" where it is that of the row before; Span says
// for how many rows it stands.
type example struct {
	Key, Host, Line, Text string
	Span                  int
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
