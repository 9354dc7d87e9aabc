package series

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Movers are the figures whose share moved, as far as that can be told from chance.
type Movers struct {
	Population string  `json:"population"`
	Stratum    string  `json:"stratum"`
	Movers     []Mover `json:"movers"`   // those that moved most first
	Compared   int     `json:"compared"` // figures, moved or not
	// Method is paired where the same hosts are compared, else unpaired.
	Method string `json:"method"`
	// Level is what each figure is held to, so that all of them hold at once: 5 % over
	// Compared.
	Level float64 `json:"level"`
	// Broken are figures of the last run that cannot be compared with those of the run
	// before it.
	Broken int `json:"broken"`
}

// Mover is a figure whose share moved.
type Mover struct {
	Metric   string  `json:"metric"` // policy, category or signal
	Agent    *string `json:"agent"`
	Category *string `json:"category"`
	Key      *string `json:"key"`
	From     End     `json:"from"` // the earliest run whose share can be compared with the last one's
	To       End     `json:"to"`
	Change
}

// End is a share at one end of a movement: of the files of the run or, where runs are paired, of the
// hosts of the pairs.
type End struct {
	Run         string    `json:"run"`
	Date        time.Time `json:"date"`
	Count       int64     `json:"count"`
	Denominator int64     `json:"denominator"`
	Share       float64   `json:"share"`
}

func endOf(p *schema.Point) End { return End{p.Run, p.Date, p.Count, p.Denominator, *p.Share} }

func (e *End) of(n, hosts int64) {
	e.Count, e.Denominator, e.Share = n, hosts, float64(n)/float64(hosts)
}

// moves reports whether a point is of a figure whose movement is of interest: an agent
// that is shut out, a category of which any agent is, or a signal. The share is of the hosts that
// have a file: of all hosts it would move with outages and walls, where no policy did.
func moves(p *schema.Point) bool {
	key := schema.OrZero(p.Key)
	switch p.Metric {
	case "policy":
		return p.Base == baseFiles && key == "disallow_all"
	case "category":
		return p.Base == baseFiles && key == closesAny
	case "signal":
		return p.Base == baseTexts
	}
	return false
}

// Movers compares the shares of files of a population in a stratum, under the first
// profile: of the last run, and of the earliest run from which on all neighbours are
// comparable.
//
// The interval of a difference is the square-and-add one of two independent shares
// (R. G. Newcombe, Statistics in Medicine 17, 1998, 873, method 10). Two runs that have
// hosts in common vary less than that: of the panel, pairs are compared (paired.go). So many
// figures are compared that some would leave their intervals of 95 % by chance; these are
// widened so that all of them hold at once (O. J. Dunn, JASA 56, 1961, 52), and tests are held
// to the same level.
func (r *Result) Movers(population, stratum string) Movers {
	m := Movers{Population: population, Stratum: stratum, Movers: []Mover{}}
	var chains [][]*schema.Point
	last := r.Runs[len(r.Runs)-1].Run
	for _, points := range r.series(population, stratum) {
		end := points[len(points)-1]
		if end.Run != last || end.Share == nil || len(r.Runs) == 1 {
			continue // the last run does not have it
		}
		from := len(points) - 1
		for from > 0 && points[from].Comparable != nil && *points[from].Comparable && points[from-1].Share != nil {
			from--
		}
		if from == len(points)-1 {
			m.Broken++
			continue
		}
		chains = append(chains, []*schema.Point{points[from], end})
	}
	m.Compared = len(chains)
	m.Level = 0.05 / float64(max(1, m.Compared))
	compare := r.comparison(population, stratum)
	m.Method = compare.method()
	for _, ends := range chains {
		a, b := ends[0], ends[1]
		change := compare.of(a, b, m.Level)
		if change.IsChance(m.Level) {
			continue
		}
		from, to := endOf(a), endOf(b)
		if p := change.Pairs; p != nil {
			from.of(p.both+p.Lost, p.Hosts)
			to.of(p.both+p.Gained, p.Hosts)
		}
		m.Movers = append(m.Movers, Mover{b.Metric, b.Agent, b.Category, b.Key, from, to, change})
	}
	slices.SortStableFunc(m.Movers,
		func(a, b Mover) int { return cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference)) })
	return m
}

// series returns the points of each figure that moves, by date.
func (r *Result) series(population, stratum string) (all [][]*schema.Point) {
	var before *schema.Point
	for i := range r.Points {
		p := &r.Points[i]
		if p.Population != population || p.Stratum != stratum || !moves(p) || p.Profile != nil &&
			*p.Profile != r.Profiles[0] {
			continue
		}
		if before == nil || !isSameFigure(before, p) {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], p)
		before = p
	}
	return all
}

// isSameFigure reports whether two points are of one figure. The category of an agent
// may change.
func isSameFigure(a, b *schema.Point) bool {
	same := func(x, y *string) bool { return x == y || x != nil && y != nil && *x == *y }
	return a.Metric == b.Metric && same(a.Agent, b.Agent) && same(a.Key, b.Key) && same(a.Profile, b.Profile) &&
		(a.Agent != nil || same(a.Category, b.Category))
}

// difference returns the interval of the difference of two shares for a quantile of the
// normal distribution.
func difference(a, b *schema.Point, quantile float64) (low, high float64) {
	lowA, highA := interval(a, quantile)
	lowB, highB := interval(b, quantile)
	d := *b.Share - *a.Share
	return d - math.Hypot(*b.Share-lowB, highA-*a.Share), d + math.Hypot(highB-*b.Share, *a.Share-lowA)
}

// interval returns the interval of a share for a quantile. For clusters and strata that
// of the point is widened in proportion, which keeps what Student's t added to it.
func interval(p *schema.Point, quantile float64) (low, high float64) {
	switch {
	case p.Low == nil:
		return 0, 1
	case *p.Method == "wilson":
		return summary.ScoreInterval(*p.Share, float64(p.Denominator), quantile)
	}
	wider := quantile / summary.Normal95
	return max(0, *p.Share-(*p.Share-*p.Low)*wider), min(1, *p.Share+(*p.High-*p.Share)*wider)
}
