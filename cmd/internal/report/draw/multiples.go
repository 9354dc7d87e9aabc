package draw

import (
	"fmt"
	"slices"
)

// HasHollow reports whether a point is hollow.
func (m *Multiple) HasHollow() bool {
	return slices.ContainsFunc(m.Plots[0].Curves, func(c DrawnCurve) bool {
		return slices.ContainsFunc(c.Dots, func(d Mark) bool { return d.Hollow })
	})
}

// Multiple is a small drawing of lines over time. All those of a figure have a plot with
// the same scale; where that hides how the lines move, a second one has a scale of its own.
type Multiple struct {
	Name        string
	Curves      []Curve
	Plots       []Plot
	Ticks       []Tick
	First, Last string   // dates
	Why         []string // what its own marks and gaps mean
	Label       string   // for those who do not see the drawing
}

// Width and height of a plot, in its own units.
const (
	MultipleWidth  = 1000
	MultipleHeight = 300
)

// Curve names a line of a multiple. Value says its shares at both ends.
type Curve struct{ Class, Value string }

// Plot is a drawing of the curves. Its height stands for Top, half of it for Middle.
type Plot struct {
	Top, Middle string
	Own         bool // has a scale of its own
	Lines       []Dashed
	Curves      []DrawnCurve
}

// DrawnCurve is a curve with its interval. It is in pieces where points are not joined.
type DrawnCurve struct {
	Class string
	Paths []string
	Bands []string
	Dots  []Mark
}

// Mark is a point of a curve.
type Mark struct {
	X, Y, Low, High string
	Tip             string
	Hollow          bool
}

// Dashed is a vertical line.
type Dashed struct{ X, Tip string }

// Tick is a date below a plot. X is a position in the plot, Percent the same of its width.
type Tick struct{ X, Percent, Label string }

// strokes are the colours of lines on white.
var strokes = map[string]string{"allow": fills["allow"], "closed": fills["closed"], "broken": fills["broken"]}

// multiples draws the multiples, three in a row.
func (s *svg) multiples(f *Figure) {
	const (
		across = 3
		gap    = 24
		width  = (svgWidth - 2*svgMargin - (across-1)*gap) / across
		height = 110
		below  = 34 // below a plot: dates, and space
		head   = 48
	)
	s.y += 14
	for i := 0; i < len(f.Multiples); i += across {
		row, plots, heads := f.Multiples[i:min(i+across, len(f.Multiples))], 1, 0
		for _, m := range row {
			plots, heads = max(plots, len(m.Plots)), max(heads, len(m.Curves))
		}
		for k, m := range row {
			x := svgMargin + k*(width+gap)
			name := []rune(m.Name)
			if len(name) > 36 {
				name = append(name[:35], '…')
			}
			s.text(float64(x), s.y+12, `font-size="13" font-weight="bold" fill="#16202a"`, string(name))
			for j, c := range m.Curves {
				s.text(float64(x), s.y+28+14*j, `font-size="11" fill="`+strokes[c.Class]+`"`, c.Value)
			}
			for j := range m.Plots {
				s.plot(&m.Plots[j], m, x, s.y+head+14*(heads-1)+j*(height+below), width, height)
			}
		}
		s.y += head + 14*(heads-1) + plots*(height+below) + 10
	}
}

// plot draws one plot of a multiple.
func (s *svg) plot(p *Plot, m *Multiple, x, y, width, height int) {
	fmt.Fprintf(s, `<svg x="%d" y="%d" width="%d" height="%d" viewBox="0 0 %d %d" preserveAspectRatio="none" `+
		`overflow="visible"><rect width="%[5]d" height="%[6]d" fill="#f4f6f8"/>`,
		x, y, width, height, MultipleWidth, MultipleHeight)
	fmt.Fprintf(s, `<path d="M0 %d H%d" stroke="#d5dce3" vector-effect="non-scaling-stroke"/>`, MultipleHeight/2,
		MultipleWidth)
	for _, t := range m.Ticks {
		fmt.Fprintf(s, `<path d="M%s 0 V%d" stroke="#d5dce3" vector-effect="non-scaling-stroke"/>`, t.X, MultipleHeight)
	}
	for _, l := range p.Lines {
		fmt.Fprintf(s, `<path d="M%s 0 V%d" stroke="#55626f" stroke-dasharray="3 3" `+
			`vector-effect="non-scaling-stroke"><title>%s</title></path>`, l.X, MultipleHeight, esc(l.Tip))
	}
	for _, c := range p.Curves {
		for _, b := range c.Bands {
			fmt.Fprintf(s, `<path d="%s" fill="%s" fill-opacity="0.2"/>`, b, strokes[c.Class])
		}
		for _, path := range c.Paths {
			fmt.Fprintf(s, `<path d="%s" fill="none" stroke="%s" stroke-width="2" vector-effect="non-scaling-stroke"/>`, path,
				strokes[c.Class])
		}
		for _, d := range c.Dots {
			fmt.Fprintf(s, `<path d="M%s %s h0" stroke="%s" stroke-width="5" stroke-linecap="round" `+
				`vector-effect="non-scaling-stroke"><title>%s</title></path>`, d.X, d.Y, strokes[c.Class], esc(d.Tip))
		}
	}
	s.WriteString("</svg>")
	const quiet = `font-size="10" fill="#55626f"`
	top := p.Top
	if p.Own {
		top += ", own scale"
	}
	s.text(float64(x)+2, y-3, quiet, top)
	s.text(float64(x)+2, y+height/2-3, quiet, p.Middle)
	s.text(float64(x)+2, y+height-3, quiet, "0")
	for _, t := range m.Ticks {
		var at float64
		fmt.Sscan(t.Percent, &at)
		s.text(float64(x)+at*float64(width)/100, y+height+11, quiet+` text-anchor="middle"`, t.Label)
	}
	s.text(float64(x), y+height+22, quiet, m.First)
	s.text(float64(x+width), y+height+22, quiet+` text-anchor="end"`, m.Last)
}
