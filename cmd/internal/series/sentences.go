package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/schema"
)

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// bases of the shares in titles, in words.
var baseWords = map[string]string{"hosts": "hosts", "files": "hosts with rules"}

// titled is the base of the shares in titles: of an outage or walls at either end of the series the
// share of hosts tells more than of policies.
func (d *seriesData) titled() string {
	for _, m := range d.marksOf([]string{"outage", "walls"}, "") {
		if m.Run == d.Runs[0].Run || m.Run == d.last {
			return "files"
		}
	}
	return "hosts"
}

// told says a share at the first and the last run that have the line; one and many tell what
// the hosts do.
func (d *seriesData) told(s subject, name, one, many string) string {
	base := d.titled()
	of := baseWords[base]
	points := slices.DeleteFunc(slices.Clone(d.lines[s.line(name, base)]),
		func(p *schema.Point) bool { return p.Denominator == 0 })
	if len(points) == 0 {
		return "No host " + one
	}
	a, b := points[0], points[len(points)-1]
	if a == b {
		return fmt.Sprintf("%s %s", words.ShareOf(a.Count, a.Denominator, of),
			words.AgreeOf(a.Count, a.Denominator, one, many))
	}
	return words.ArrowOf(a.Count, a.Denominator, b.Count, b.Denominator, of) +
		" " + words.AgreeOf(b.Count, b.Denominator, one, many) + d.between(points)
}

// between says what limits a comparison of the ends of a line: dates that are not those of
// the series, and gaps.
func (d *seriesData) between(points []*schema.Point) (text string) {
	a, b := points[0], points[len(points)-1]
	if a.Run != d.Runs[0].Run && !(ofPairs[a.Metric] && a.Run == d.Runs[1].Run) {
		text += ", from " + shortDay(a.Date)
	}
	if b.Run != d.last {
		text += ", to " + shortDay(b.Date)
	}
	if slices.ContainsFunc(points[1:], func(p *schema.Point) bool { return p.Comparable != nil && !*p.Comparable }) {
		text += ", not comparable throughout"
	}
	return text
}

// ofPairs are the metrics that compare a run with the one before it, so that the first run
// of a series has none.
var ofPairs = map[string]bool{"change": true, "entered": true, "left": true}

// leaders is the number of lines that a title names.
const leaders = 3

// leading says the shares of the first of some lines at both ends. Lines that tie with the
// last one that it could name are not named, but counted if they tie with the first.
func (d *seriesData) leading(s subject, base string) string {
	names := s.names
	last := func(name string) float64 {
		points := d.lines[s.line(name, base)]
		if p := points[len(points)-1]; p.Share != nil {
			return *p.Share
		}
		return 0
	}
	n := min(len(names), leaders)
	for n > 1 && n < len(names) && last(names[n]) == last(names[n-1]) {
		n--
	}
	said := d.tell(s, names[:n], base)
	more := 0
	for n == 1 && 1+more < len(names) && last(names[1+more]) == last(names[0]) {
		more++
	}
	if more > 0 {
		said += fmt.Sprintf(", and %d more with the same share", more)
	}
	return said
}

// movers completes a title with the shares of the lines that moved most.
func (d *seriesData) movers(s subject, title, base string) string {
	by := func(name string) float64 {
		points := d.drawn(s.line(name, base))
		if len(points) < 2 {
			return 0
		}
		return math.Abs(*points[len(points)-1].Share - *points[0].Share)
	}
	if d.last == d.Runs[0].Run {
		return title + ": " + d.leading(s, base)
	}
	names := slices.DeleteFunc(slices.Clone(s.names), func(name string) bool {
		points := d.drawn(s.line(name, base))
		return by(name) == 0 || shareOf(points[0]) == shareOf(points[len(points)-1])
	})
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(by(b), by(a)) })
	if len(names) == 0 {
		return title + ": no share moved by 0.1 points from the first run to the last"
	}
	return title + ", moved most: " + d.tell(s, names[:min(len(names), leaders)], base)
}

// drawn returns the points of a line that have a share.
func (d *seriesData) drawn(l followed) []*schema.Point {
	return slices.DeleteFunc(slices.Clone(d.lines[l]), func(p *schema.Point) bool { return p.Share == nil })
}

// tell says the shares of lines at both ends.
func (d *seriesData) tell(s subject, names []string, base string) string {
	var said []string
	for _, name := range names {
		points := d.drawn(s.line(name, base))
		switch len(points) {
		case 0:
		case 1:
			said = append(said, s.named(name)+" "+shareOf(points[0]))
		default:
			said = append(said, s.named(name)+" "+fromTo(points[0], points[len(points)-1])+d.between(points))
		}
	}
	if said == nil {
		return "nothing"
	}
	return strings.Join(said, "; ")
}

// values returns the names of the lines of a subject, which one label of them says. The
// greatest share at the last run that has the line comes first.
func (d *seriesData) values(s subject, name func(followed) string) []string {
	line := func(name string) followed { return s.line(name, s.bases[0]) }
	greatest := make(map[string]float64)
	for l, points := range d.lines {
		if p := points[len(points)-1]; l == line(name(l)) && p.Share != nil {
			greatest[name(l)] = *p.Share
		}
	}
	var names []string
	for name, share := range greatest {
		if share > 0 || slices.ContainsFunc(d.lines[line(name)], func(p *schema.Point) bool { return p.Count > 0 }) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(greatest[b], greatest[a]),
			cmp.Compare(a, b))
	})
	return names
}
