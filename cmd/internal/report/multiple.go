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

// multiple is a small drawing of lines over time. All those of a figure have a plot with
// the same scale; where that hides how the lines move, a second one has a scale of its own.
type multiple struct {
	Name        string
	Curves      []*curve
	Plots       []plot
	Ticks       []tick
	First, Last string   // dates
	Why         []string // what its own marks and gaps mean
	Label       string   // for those who do not see the drawing

	alike []string // names whose lines are the same
	marks []series.Mark
}

// Width and height of a plot, in its own units.
const (
	multipleWidth  = 1000
	multipleHeight = 300
)

// curve is a line of a multiple. Value says its shares at both ends.
type curve struct {
	Class  string
	Value  string
	base   string
	points []*sink.Point
}

// plot is a drawing of the curves. Its height stands for Top, half of it for Middle.
type plot struct {
	Top, Middle string
	Own         bool // has a scale of its own
	Lines       []dashed
	Curves      []drawnCurve
}

// drawnCurve is a curve with its interval. It is in pieces where points are not joined.
type drawnCurve struct {
	Class string
	Paths []string
	Bands []string
	Dots  []mark
}

// mark is a point of a curve.
type mark struct {
	X, Y, Low, High string
	Tip             string
	Hollow          bool
}

// dashed is a vertical line.
type dashed struct{ X, Tip string }

// tick is a date below a plot. X is a position in the plot, Percent the same of its width.
type tick struct{ X, Percent, Label string }

// shareOf returns the share of a point in words.
func shareOf(p *sink.Point) string {
	if p.Denominator < words.Few && p.Stratum != series.Weighted {
		return percent(p.Count, p.Denominator)
	}
	return words.Share(*p.Share)
}

// fromTo returns the shares of two points in words, such as "1.4 → 25.8%".
func fromTo(a, b *sink.Point) string {
	from, to := shareOf(a), shareOf(b)
	if strings.HasSuffix(to, "%") {
		from = strings.TrimSuffix(from, "%")
	}
	return from + " → " + to
}

// add adds a line of the series, if it has points. base completes "5.0% …".
func (m *multiple) add(d *seriesData, class, base string, l followed) {
	c := &curve{Class: class, base: base}
	for _, p := range d.lines[l] {
		if p.Share != nil {
			c.points = append(c.points, p)
		}
	}
	if c.points == nil {
		return
	}
	first, last := c.points[0], c.points[len(c.points)-1]
	c.Value = shareOf(last) + " " + base
	if first != last {
		c.Value = fromTo(first, last) + " " + base
	}
	// A line that ends before the last run does not tell of it.
	if first.Run != d.Runs[0].Run && !ofPairs[first.Metric] {
		c.Value += ", from " + shortDay(first.Date)
	}
	if last.Run != d.last {
		c.Value += ", to " + shortDay(last.Date)
	}
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

// isCautious reports whether a point has a caution.
func (m *multiple) isCautious() bool {
	return slices.ContainsFunc(m.Curves, func(c *curve) bool {
		return slices.ContainsFunc(c.points, func(p *sink.Point) bool { return p.Caution != nil })
	})
}

// across returns the position of a date in a plot.
func (d *seriesData) across(t time.Time) float64 {
	first, last := d.Runs[0].Date, d.Runs[len(d.Runs)-1].Date
	if !last.After(first) {
		return multipleWidth / 2
	}
	return multipleWidth * (0.02 + 0.96*float64(t.Sub(first))/float64(last.Sub(first)))
}

// events are what happened in each run, by its index.
type events map[int][]string

func (e events) add(at int, text string) {
	if !slices.Contains(e[at], text) {
		e[at] = append(e[at], text)
	}
}

// place computes the drawing. The height of the plot that all multiples have stands for
// scale per cent.
func (m *multiple) place(d *seriesData, scale int64) {
	first, last := d.Runs[0].Date, d.Runs[len(d.Runs)-1].Date
	if m.First, m.Last = shortDay(first), shortDay(last); m.First == m.Last {
		m.Last = ""
	}
	m.Ticks = d.ticks()
	own := make(events)
	for _, mk := range m.marks {
		own.add(d.index[mk.Run], mk.Text)
	}
	shared := d.common()
	var said []string
	for _, c := range m.Curves {
		for _, p := range c.points {
			if p.WhyNot == nil || p.Agent != nil { // the marks of an agent say it
				continue
			}
			for reason := range strings.SplitSeq(*p.WhyNot, "; ") {
				if at := d.index[p.Run]; !slices.Contains(shared[at], reason) {
					own.add(at, reason)
				}
			}
		}
		said = append(said, c.Value)
	}
	var lines []dashed
	for at, run := range d.Runs {
		if happened := append(slices.Clone(shared[at]), own[at]...); happened != nil {
			lines = append(lines, dashed{decimal(d.across(run.Date)), shortDay(run.Date) + ": " + strings.Join(happened, "; ")})
		}
	}
	if m.alike != nil {
		m.explain("The same for " + words.Some(m.alike, 6) + ".")
	}
	for _, at := range slices.Sorted(maps.Keys(own)) {
		m.explain(shortDay(d.Runs[at].Date) + ": " + strings.Join(own[at], "; "))
	}
	m.Label = m.Name + ", " + m.First + " to " + shortDay(last) + ": " + strings.Join(said, "; ")
	m.plot(d, scale, lines)
	if own := scaleFor(int64(m.most()*1e6), 1e6); own*2 < scale {
		m.plot(d, own, lines)
		m.Plots[1].Own = true
	}
}

// plot adds a drawing whose height stands for scale per cent.
func (m *multiple) plot(d *seriesData, scale int64, lines []dashed) {
	top := float64(scale) / 100
	out := plot{Top: fmt.Sprintf("%d%%", scale), Middle: strings.TrimSuffix(fmt.Sprintf("%.1f", float64(scale)/2), ".0") + "%", Lines: lines}
	up := func(share float64) string { return decimal(multipleHeight * (1 - min(1, share/top))) }
	for _, c := range m.Curves {
		drawn := drawnCurve{Class: c.Class}
		var path, upper, lower []string
		end := func() {
			if len(path) > 1 {
				drawn.Paths = append(drawn.Paths, "M"+strings.Join(path, " L"))
				if len(upper) == len(path) {
					for i := len(lower) - 1; i >= 0; i-- {
						upper = append(upper, lower[i])
					}
					drawn.Bands = append(drawn.Bands, "M"+strings.Join(upper, " L")+" Z")
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
			before = at
			x := decimal(d.across(p.Date))
			path = append(path, x+" "+up(*p.Share))
			dot := mark{X: x, Y: up(*p.Share), Tip: tipOf(p, c.base), Hollow: p.Caution != nil}
			if p.Low != nil {
				dot.Low, dot.High = up(*p.Low), up(*p.High)
				upper, lower = append(upper, x+" "+dot.High), append(lower, x+" "+dot.Low)
			}
			drawn.Dots = append(drawn.Dots, dot)
		}
		end()
		out.Curves = append(out.Curves, drawn)
	}
	m.Plots = append(m.Plots, out)
}

// ticks returns the years between the first and the last run or, of a short series, the
// months: at most six.
func (d *seriesData) ticks() (out []tick) {
	first, last := d.Runs[0].Date.UTC(), d.Runs[len(d.Runs)-1].Date.UTC()
	months, layout := 12, "2006"
	if last.Sub(first) < 400*24*time.Hour {
		months, layout = 1, "Jan"
	}
	var dates []time.Time
	at := time.Date(first.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	for ; !at.After(last); at = at.AddDate(0, months, 0) {
		if !at.Before(first) {
			dates = append(dates, at)
		}
	}
	const most = 6
	every := (len(dates) + most - 1) / most
	for i, date := range dates {
		if i%every == 0 {
			x := d.across(date)
			out = append(out, tick{decimal(x), decimal(100 * x / multipleWidth), date.Format(layout)})
		}
	}
	return out
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

func tipOf(p *sink.Point, base string) string {
	text := fmt.Sprintf("%s, run %s: %s %s (%s of %s)", shortDay(p.Date), p.Run, shareOf(p), base, count(p.Count), count(p.Denominator))
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
func (s *svg) plot(p *plot, m *multiple, x, y, width, height int) {
	fmt.Fprintf(s, `<svg x="%d" y="%d" width="%d" height="%d" viewBox="0 0 %d %d" preserveAspectRatio="none" overflow="visible"><rect width="%[5]d" height="%[6]d" fill="#f4f6f8"/>`,
		x, y, width, height, multipleWidth, multipleHeight)
	fmt.Fprintf(s, `<path d="M0 %d H%d" stroke="#d5dce3" vector-effect="non-scaling-stroke"/>`, multipleHeight/2, multipleWidth)
	for _, t := range m.Ticks {
		fmt.Fprintf(s, `<path d="M%s 0 V%d" stroke="#d5dce3" vector-effect="non-scaling-stroke"/>`, t.X, multipleHeight)
	}
	for _, l := range p.Lines {
		fmt.Fprintf(s, `<path d="M%s 0 V%d" stroke="#55626f" stroke-dasharray="3 3" vector-effect="non-scaling-stroke"><title>%s</title></path>`, l.X, multipleHeight, esc(l.Tip))
	}
	for _, c := range p.Curves {
		for _, b := range c.Bands {
			fmt.Fprintf(s, `<path d="%s" fill="%s" fill-opacity="0.2"/>`, b, strokes[c.Class])
		}
		for _, path := range c.Paths {
			fmt.Fprintf(s, `<path d="%s" fill="none" stroke="%s" stroke-width="2" vector-effect="non-scaling-stroke"/>`, path, strokes[c.Class])
		}
		for _, d := range c.Dots {
			fmt.Fprintf(s, `<path d="M%s %s h0" stroke="%s" stroke-width="5" stroke-linecap="round" vector-effect="non-scaling-stroke"><title>%s</title></path>`, d.X, d.Y, strokes[c.Class], esc(d.Tip))
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
