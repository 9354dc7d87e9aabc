package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink"
)

// multiple is a small drawing of lines over time, one of several with the same scale.
type multiple struct {
	Name, Sub   string
	Curves      []*curve
	Lines       []dashed // marks
	First, Last string   // dates
	Why         []string // what the marks and gaps mean
	Label       string   // for those who do not see the drawing

	marks []series.Mark
}

// Width and height of a drawing, in its own units.
const (
	multipleWidth  = 1000
	multipleHeight = 300
)

// curve is a line with its interval. It is in pieces where points are not joined.
type curve struct {
	Class  string
	Value  string // the last share
	Paths  []string
	Bands  []string
	Dots   []mark
	points []*sink.Point
}

// mark is a point of a curve.
type mark struct {
	X, Y, Low, High string
	Tip             string
	Hollow          bool
}

// dashed is a vertical line.
type dashed struct{ X, Tip string }

// add adds a line of the series, if it has points.
func (m *multiple) add(d *seriesData, class, base string, l followed) {
	c := &curve{Class: class}
	for _, p := range d.lines[l] {
		if p.Share != nil {
			c.points = append(c.points, p)
		}
	}
	if c.points == nil {
		return
	}
	last := c.points[len(c.points)-1]
	c.Value = strings.TrimSpace(words.Share(*last.Share) + " " + base)
	m.Curves = append(m.Curves, c)
}

func (m *multiple) hasPoints() bool { return len(m.Curves) > 0 }

// most returns the greatest share. Intervals may be cut off at the top, but leave room.
func (m *multiple) most() (most float64) {
	for _, c := range m.Curves {
		for _, p := range c.points {
			most = max(most, *p.Share)
			if p.High != nil {
				most = max(most, min(*p.High, *p.Share*1.5))
			}
		}
	}
	return most
}

// place computes the drawing. The height stands for the share top.
func (m *multiple) place(d *seriesData, top float64) {
	first, last := d.Runs[0].Date, d.Runs[len(d.Runs)-1].Date
	across := func(t time.Time) string {
		if !last.After(first) {
			return decimal(multipleWidth / 2)
		}
		return decimal(multipleWidth * (0.02 + 0.96*float64(t.Sub(first))/float64(last.Sub(first))))
	}
	up := func(share float64) string { return decimal(multipleHeight * (1 - min(1, share/top))) }
	m.First, m.Last = shortDay(first), shortDay(last)
	if m.First == m.Last {
		m.Last = ""
	}
	events := make(map[int][]string) // by run
	happened := func(run, text string) {
		if at := d.index[run]; !slices.Contains(events[at], text) {
			events[at] = append(events[at], text)
		}
	}
	for _, mk := range append(d.common(), m.marks...) {
		happened(mk.Run, mk.Text)
	}
	var said []string
	for _, c := range m.Curves {
		var path, upper, lower []string
		end := func() {
			if len(path) > 1 {
				c.Paths = append(c.Paths, "M"+strings.Join(path, " L"))
				if len(upper) == len(path) {
					for i := len(lower) - 1; i >= 0; i-- {
						upper = append(upper, lower[i])
					}
					c.Bands = append(c.Bands, "M"+strings.Join(upper, " L")+" Z")
				}
			}
			path, upper, lower = nil, nil, nil
		}
		before := -1
		for _, p := range c.points {
			at := d.index[p.Run]
			if before >= 0 && (at != before+1 || p.Comparable != nil && !*p.Comparable) {
				end()
			}
			if p.WhyNot != nil && p.Agent == nil { // the marks of an agent say it
				for reason := range strings.SplitSeq(*p.WhyNot, "; ") {
					happened(p.Run, reason)
				}
			}
			before = at
			x := across(p.Date)
			path = append(path, x+" "+up(*p.Share))
			dot := mark{X: x, Y: up(*p.Share), Tip: tipOf(p, c.Value), Hollow: p.Caution != nil}
			if p.Low != nil {
				dot.Low, dot.High = up(*p.Low), up(*p.High)
				upper, lower = append(upper, x+" "+dot.High), append(lower, x+" "+dot.Low)
			}
			c.Dots = append(c.Dots, dot)
		}
		end()
		said = append(said, fmt.Sprintf("%s on %s to %s", words.Share(*c.points[0].Share), shortDay(c.points[0].Date), c.Value))
	}
	for _, at := range slices.Sorted(maps.Keys(events)) {
		date := d.Runs[at].Date
		m.Lines = append(m.Lines, dashed{across(date), shortDay(date) + ": " + strings.Join(events[at], "; ")})
		m.explain(shortDay(date) + ": " + strings.Join(events[at], "; "))
	}
	m.Label = m.Name + ": " + strings.Join(said, "; ")
}

// explain adds a text below the drawing, and not more than a few.
func (m *multiple) explain(text string) {
	const most = 4
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:199]) + "…"
	}
	switch {
	case len(m.Why) < most:
		m.Why = append(m.Why, text)
	case len(m.Why) == most:
		m.Why = append(m.Why, "and more")
	}
}

func shortDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// cautions has words for cautions.
var cautions = map[string]string{
	"few_hosts": "few hosts", "rare": "a rare share", "few_clusters": "few domains", "uneven_clusters": "domains of very different sizes",
}

func tipOf(p *sink.Point, value string) string {
	_, base, _ := strings.Cut(value, " ")
	text := fmt.Sprintf("%s, run %s: %s %s (%s of %s)", shortDay(p.Date), p.Run, words.Share(*p.Share), base, count(p.Count), count(p.Denominator))
	if p.Low != nil {
		text += fmt.Sprintf(", interval %.1f to %.1f%%", 100**p.Low, 100**p.High)
	}
	if p.DesignEffect != nil {
		text += fmt.Sprintf(", design effect %.2f", *p.DesignEffect)
	}
	if p.Caution != nil {
		var cautious []string
		for name := range strings.SplitSeq(*p.Caution, ",") {
			cautious = append(cautious, cautions[name])
		}
		text += "; caution: " + strings.Join(cautious, ", ")
	}
	return text
}

// strokes are the colours of lines on white.
var strokes = map[string]string{"allow": fills["allow"], "closed": fills["closed"], "broken": fills["broken"]}

// multiples draws the multiples, three in a row.
func (s *svg) multiples(f *figure) {
	const (
		across = 3
		gap    = 24
		width  = (svgWidth - 2*svgMargin - (across-1)*gap) / across
		height = 110
	)
	s.y += 14
	for i, m := range f.Multiples {
		x := svgMargin + i%across*(width+gap)
		if i > 0 && i%across == 0 {
			s.y += height + 84
		}
		top := s.y + 38
		name := []rune(m.Name)
		if len(name) > 36 {
			name = append(name[:35], '…')
		}
		s.text(float64(x), s.y+12, `font-size="13" font-weight="bold" fill="#16202a"`, string(name))
		var values []string
		for _, c := range m.Curves {
			values = append(values, c.Value)
		}
		s.text(float64(x), s.y+29, `font-size="11" fill="#55626f"`, strings.Join(values, ", "))
		fmt.Fprintf(s, `<svg x="%d" y="%d" width="%d" height="%d" viewBox="0 0 %d %d" preserveAspectRatio="none" overflow="visible"><rect width="%[5]d" height="%[6]d" fill="#f4f6f8"/>`,
			x, top, width, height, multipleWidth, multipleHeight)
		for _, l := range m.Lines {
			fmt.Fprintf(s, `<path d="M%s 0 V%d" stroke="#55626f" stroke-dasharray="3 3" vector-effect="non-scaling-stroke"><title>%s</title></path>`, l.X, multipleHeight, esc(l.Tip))
		}
		for _, c := range m.Curves {
			for _, b := range c.Bands {
				fmt.Fprintf(s, `<path d="%s" fill="%s" fill-opacity="0.2"/>`, b, strokes[c.Class])
			}
			for _, p := range c.Paths {
				fmt.Fprintf(s, `<path d="%s" fill="none" stroke="%s" stroke-width="2" vector-effect="non-scaling-stroke"/>`, p, strokes[c.Class])
			}
			for _, d := range c.Dots {
				fmt.Fprintf(s, `<path d="M%s %s h0" stroke="%s" stroke-width="5" stroke-linecap="round" vector-effect="non-scaling-stroke"><title>%s</title></path>`, d.X, d.Y, strokes[c.Class], esc(d.Tip))
			}
		}
		s.WriteString("</svg>")
		s.text(float64(x+width), top-4, `font-size="10" text-anchor="end" fill="#55626f"`, f.Axis) // no line is there
		s.text(float64(x), top+height+14, `font-size="10" fill="#55626f"`, m.First)
		s.text(float64(x+width), top+height+14, `font-size="10" text-anchor="end" fill="#55626f"`, m.Last)
	}
	s.y += height + 70
}
