package series

import (
	"math"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/schema"
)

// Change is how a share differs from that of an earlier run.
type Change struct {
	// Difference is the later share less the earlier one. Low and High hold the differences of
	// all that are shown together in 95 % of samples.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Method     string  `json:"method"` // [Paired] or [Unpaired]
	*Pairs
}

// Pairs are the hosts whose rules decide in both runs, of a change that is paired.
type Pairs struct {
	both   int64   // counted by both runs
	Hosts  int64   `json:"paired_hosts"`
	Gained int64   `json:"gained"` // counted by the later run alone
	Lost   int64   `json:"lost"`   // counted by the earlier run alone
	Chance float64 `json:"p"`      // by McNemar's exact test
}

// Methods of comparison.
const (
	Paired   = "paired"
	Unpaired = "unpaired"
)

// IsChance reports whether chance makes such a change at a level.
func (c *Change) IsChance(level float64) bool {
	if c.Pairs != nil {
		return c.Chance > level
	}
	return c.Low <= 0 && c.High >= 0
}

// comparison compares points of two runs of a population in a stratum, in pairs where it can.
type comparison struct {
	*Result
	stratum string
	isPanel bool
	known   map[[2]int]func(id) pairs // by runs
}

func (r *Result) comparison(population, stratum string) *comparison {
	return &comparison{r, stratum, population == "panel" && stratum != Weighted && r.pairing != nil,
		make(map[[2]int]func(id) pairs)}
}

func (c *comparison) method() string {
	if c.isPanel {
		return Paired
	}
	return Unpaired
}

// of compares two points of a figure at a level.
func (c *comparison) of(a, b *schema.Point, level float64) Change {
	quantile := math.Sqrt2 * math.Erfinv(1-level)
	if c.isPanel {
		place := func(run string) int { return slices.IndexFunc(c.Runs, func(r Run) bool { return r.Run == run }) }
		runs := [2]int{place(a.Run), place(b.Run)}
		if c.known[runs] == nil {
			c.known[runs] = c.pairing.between(runs[0], runs[1], c.stratum)
		}
		if p := c.known[runs](idOf(b)); p.hosts() > 0 {
			d, low, high := p.difference(quantile)
			return Change{d, low, high, Paired, &Pairs{p.both, p.hosts(), p.gained, p.lost, p.chance()}}
		}
	}
	low, high := difference(a, b, quantile)
	return Change{*b.Share - *a.Share, low, high, Unpaired, nil}
}

// Course is the share of the hosts whose rules decide that shut an agent out, run by run.
type Course struct {
	Agent      string  `json:"agent"`
	Population string  `json:"population"`
	Stratum    string  `json:"stratum"`
	Runs       []Stage `json:"runs"`
}

// Stage is a run of a course. Low and High are the interval of 95 % of the share, each by
// itself.
type Stage struct {
	Run         string    `json:"run"`
	Date        time.Time `json:"date"`
	Count       int64     `json:"count"`
	Denominator int64     `json:"denominator"`
	Share       *float64  `json:"share"`
	Low         *float64  `json:"low"`
	High        *float64  `json:"high"`
	// Since compares with the first run, nil if it has no share, or cannot be compared: WhyNot.
	Since    *Change `json:"since_first"`
	IsChance bool    `json:"may_be_chance"` // the difference
	WhyNot   *string `json:"why_not"`
}

// Courses are the shares of some agents, in each stratum of the series.
type Courses struct {
	Agents []Course `json:"agents"`
	Method string   `json:"method"`
	// Differences are compared together, each held to Level, so that all hold at once.
	Differences int     `json:"differences"`
	Level       float64 `json:"level"`
	// Listed are how much of what hosts list the agents may fetch, where a run read sitemaps.
	Listed []Listed `json:"listed"`
	// Pages are how often hosts turn identities of the agents away from a page, where a run asked
	// for one.
	Pages []Met `json:"pages"`
}

// Courses returns the shares of the hosts of a population, of those whose rules decide, that shut
// agents out, under the first profile, and how they differ from those of the first run.
func (r *Result) Courses(population string, agents []string) Courses {
	c := Courses{Agents: []Course{}, Method: Unpaired, Listed: r.Listed(agents),
		Pages: r.Pages(agents)}
	var all [][]*schema.Point
	for i := range r.Points {
		p := &r.Points[i]
		if p.Population != population || p.Metric != "policy" || !moves(p) || *p.Profile != r.Profiles[0] ||
			!slices.Contains(agents, *p.Agent) {
			continue
		}
		if n := len(all); n == 0 || *all[n-1][0].Agent != *p.Agent || all[n-1][0].Stratum != p.Stratum {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], p)
	}
	for _, points := range all {
		c.Differences += comparableUntil(points) - 1
	}
	c.Level = 0.05 / float64(max(1, c.Differences))
	for _, points := range all {
		course := Course{Agent: *points[0].Agent, Population: population, Stratum: points[0].Stratum}
		compare := r.comparison(population, course.Stratum)
		if compare.isPanel {
			c.Method = Paired
		}
		until := comparableUntil(points)
		for i, p := range points {
			s := Stage{Run: p.Run, Date: p.Date, Count: p.Count, Denominator: p.Denominator, Share: p.Share, Low: p.Low,
				High: p.High}
			switch {
			case i == 0:
			case i < until:
				s.Since = new(compare.of(points[0], p, c.Level))
				s.IsChance = s.Since.IsChance(c.Level)
			default:
				s.WhyNot = points[until].WhyNot
			}
			course.Runs = append(course.Runs, s)
		}
		c.Agents = append(c.Agents, course)
	}
	return c
}

// comparableUntil returns how many of the first points of a figure can be compared with the
// first one.
func comparableUntil(points []*schema.Point) int {
	n := 1
	for points[0].Share != nil && n < len(points) && points[n].Comparable != nil && *points[n].Comparable &&
		points[n].Share != nil {
		n++
	}
	return n
}
