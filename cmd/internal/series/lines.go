package series

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// shareOf returns the share of a point, which has one, in words.
func shareOf(p *schema.Point) string {
	if p.Denominator < words.Few && p.Stratum != series.Weighted {
		return words.Percent(p.Count, p.Denominator)
	}
	return words.Share(*p.Share)
}

// fromTo returns the shares of two points in words, such as "1.4 → 25.8%".
func fromTo(a, b *schema.Point) string { return words.FromTo(shareOf(a), shareOf(b)) }

// lines are drawn together as one multiple.
type lines struct {
	wide  bool // takes the width of the page
	name  string
	lines []*line
	alike []string // names whose lines are the same
	marks []series.Mark
}

// line is a line of the series. Value says its shares at both ends; base completes them.
type line struct {
	class, value, base string
	points             []*schema.Point
}

// add adds a line of the series, if it has points. base completes "5.0% …".
func (m *lines) add(d *seriesData, class, base string, l followed) {
	c := &line{class: class, base: base}
	for _, p := range d.lines[l] {
		if p.Share != nil {
			c.points = append(c.points, p)
		}
	}
	if c.points == nil {
		return
	}
	first, last := c.points[0], c.points[len(c.points)-1]
	c.value = shareOf(last) + " " + base
	if first != last {
		c.value = fromTo(first, last) + " " + base
	}
	// A line that ends before the last run does not tell of it.
	if first.Run != d.Runs[0].Run && !ofPairs[first.Metric] {
		c.value += ", from " + shortDay(first.Date)
	}
	if last.Run != d.last {
		c.value += ", to " + shortDay(last.Date)
	}
	m.lines = append(m.lines, c)
}

// most returns the greatest share. Intervals may be cut off at the top, but leave room.
func (m *lines) most() (most float64) {
	for _, c := range m.lines {
		for _, p := range c.points {
			most = max(most, *p.Share)
			if p.High != nil {
				most = max(most, min(*p.High, *p.Share*1.5))
			}
		}
	}
	return most
}

// across returns the position of a date in a plot, right of the ticks of its scale.
func (m *lines) across(d *seriesData, t time.Time) float64 {
	first, last := d.Runs[0].Date, d.Runs[len(d.Runs)-1].Date
	if !last.After(first) {
		return draw.MultipleWidth / 2
	}
	left := 0.14
	if m.wide {
		left = 0.06
	}
	return draw.MultipleWidth * (left + (0.98-left)*float64(t.Sub(first))/float64(last.Sub(first)))
}

// events are what happened in each run, by its index.
type events map[int][]string

func (e events) add(at int, text string) {
	if !slices.Contains(e[at], text) {
		e[at] = append(e[at], text)
	}
}

// place returns the drawing. The height of the plot that all multiples have stands for
// scale per cent.
func (m *lines) place(d *seriesData, scale int64) *draw.Multiple {
	first, last := d.Runs[0].Date, d.Runs[len(d.Runs)-1].Date
	out := &draw.Multiple{Name: m.name, First: shortDay(first), Last: shortDay(last), Ticks: m.ticks(d)}
	if out.First == out.Last {
		out.Last = ""
	}
	own := make(events)
	for _, mk := range m.marks {
		own.add(d.index[mk.Run], mk.Text)
	}
	shared := d.common()
	var said []string
	for _, l := range m.lines {
		for _, p := range l.points {
			if p.WhyNot == nil || p.Agent != nil { // the marks of an agent say it
				continue
			}
			for reason := range strings.SplitSeq(*p.WhyNot, "; ") {
				if at := d.index[p.Run]; !slices.Contains(shared[at], reason) {
					own.add(at, reason)
				}
			}
		}
		out.Curves = append(out.Curves, draw.Curve{Class: l.class, Value: l.value})
		said = append(said, l.value)
	}
	var marked []draw.Dashed
	for at, run := range d.Runs {
		if happened := append(slices.Clone(shared[at]), own[at]...); happened != nil {
			marked = append(marked, draw.Dashed{X: draw.Decimal(m.across(d, run.Date)), Tip: shortDay(run.Date) +
				": " + strings.Join(happened, "; ")})
		}
	}
	var why []string
	if m.alike != nil {
		why = append(why, "The same for "+past.Some(m.alike, 6)+".")
	}
	for _, at := range slices.Sorted(maps.Keys(own)) {
		why = append(why, shortDay(d.Runs[at].Date)+": "+strings.Join(own[at], "; "))
	}
	out.Why = shortened(why)
	out.Label = m.name + ", " + out.First + " to " + shortDay(last) + ": " + strings.Join(said, "; ")
	out.Plots = []draw.Plot{m.plot(d, scale, marked)}
	if own := draw.ScaleFor(int64(m.most()*1e6), 1e6); own*2 < scale {
		out.Plots = append(out.Plots, m.plot(d, own, marked))
		out.Plots[1].Own = true
	}
	return out
}

// plot returns a drawing whose height stands for scale per cent.
func (m *lines) plot(d *seriesData, scale int64, marked []draw.Dashed) draw.Plot {
	top := float64(scale) / 100
	out := draw.Plot{Top: fmt.Sprintf("%d%%", scale), Middle: strings.TrimSuffix(fmt.Sprintf("%.1f", float64(scale)/2),
		".0") + "%", Lines: marked}
	up := func(share float64) string { return draw.Decimal(draw.MultipleHeight * (1 - min(1, share/top))) }
	for _, c := range m.lines {
		drawn := draw.DrawnCurve{Class: c.class}
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
			x := draw.Decimal(m.across(d, p.Date))
			path = append(path, x+" "+up(*p.Share))
			dot := draw.Mark{X: x, Y: up(*p.Share), Tip: tipOf(p, c.base), Hollow: p.Caution != nil}
			if p.Low != nil {
				dot.Low, dot.High = up(*p.Low), up(*p.High)
				upper, lower = append(upper, x+" "+dot.High), append(lower, x+" "+dot.Low)
			}
			drawn.Dots = append(drawn.Dots, dot)
		}
		end()
		out.Curves = append(out.Curves, drawn)
	}
	return out
}

// ticks returns the years between the first and the last run or, of a short series, the
// months: at most six.
func (m *lines) ticks(d *seriesData) (out []draw.Tick) {
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
			x := m.across(d, date)
			out = append(out, draw.Tick{X: draw.Decimal(x), Percent: draw.Decimal(100 * x / draw.MultipleWidth),
				Label: date.Format(layout)})
		}
	}
	return out
}

// shortened returns the first few texts, none of them long.
func shortened(texts []string) (out []string) {
	const most = 4
	for _, text := range texts[:min(len(texts), most)] {
		if runes := []rune(text); len(runes) > 200 {
			text = string(runes[:199]) + "…"
		}
		out = append(out, text)
	}
	if len(texts) > most {
		out = append(out, "and more")
	}
	return out
}

func shortDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// cautions has words for cautions.
var cautions = map[string]string{
	"few_hosts": "few hosts", "rare": "a rare share", "few_clusters": "few domains",
	"uneven_clusters": "domains of very different sizes",
}

func tipOf(p *schema.Point, base string) string {
	text := fmt.Sprintf("%s, run %s: %s %s (%s of %s)", shortDay(p.Date), p.Run, shareOf(p), base, words.Number(p.Count),
		words.Number(p.Denominator))
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
