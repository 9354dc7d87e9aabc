package series

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

func simplePoint(run int, agent string, count, of int64) schema.Point {
	p := schema.Point{
		Metric: "policy", Population: All, Stratum: All, Agent: &agent, Profile: new("google"), Key: new("disallow_all"),
		Run: fmt.Sprint("r", run), Date: time.Date(2026, time.Month(run), 1, 0, 0, 0, 0, time.UTC), Base: baseFiles,
		Count: count, Denominator: of,
	}
	if run > 1 {
		p.Comparable = new(true)
	}
	if of > 0 {
		e := wilson(float64(count), float64(of))
		p.Share, p.Low, p.High, p.Method = &e.share, &e.low, &e.high, new("wilson")
	}
	return p
}

func seriesOf(runs int, points ...schema.Point) *Result {
	r := &Result{Profiles: []string{"google"}, Points: points}
	for run := range runs {
		r.Runs = append(r.Runs, Run{Run: fmt.Sprint("r", run+1)})
	}
	return r
}

// Newcombe 1998, table II, examples (a) to (c) and (e), by method 10.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		y1, n1, y2, n2 int64
		low, high      float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.1705, 0.8090},
		{6, 7, 2, 7, 0.0582, 0.8062},
		{0, 10, 0, 20, -0.1611, 0.2775},
	} {
		a, b := simplePoint(1, "x", c.y2, c.n2), simplePoint(2, "x", c.y1, c.n1)
		low, high := difference(&a, &b, summary.Normal95)
		near(t, fmt.Sprintf("%d/%d - %d/%d: low", c.y1, c.n1, c.y2, c.n2), low, c.low, 0.00006)
		near(t, "high", high, c.high, 0.00006)
	}
}

// Of 150 figures that do not move, none is said to move in 95 % of series, and a figure
// that moves is found.
func TestMoversAreNotChance(t *testing.T) {
	const figures, hosts, series = 150, 2000, 300
	random := rand.New(rand.NewPCG(5, 6))
	draw := func(p float64) (n int64) {
		for range hosts {
			if random.Float64() < p {
				n++
			}
		}
		return n
	}
	false1, found := 0, 0
	for range series {
		var points []schema.Point
		for k := range figures {
			p := 0.02 + 0.3*float64(k)/figures
			for run := 1; run <= 2; run++ {
				points = append(points, simplePoint(run, fmt.Sprint("a", k), draw(p), hosts))
			}
		}
		points = append(points, simplePoint(1, "moved", draw(0.1), hosts), simplePoint(2, "moved", draw(0.16), hosts))
		m := seriesOf(2, points...).Movers(All, All)
		if m.Compared != figures+1 || m.Broken != 0 {
			t.Fatalf("%d compared, %d broken", m.Compared, m.Broken)
		}
		moved := slices.IndexFunc(m.Movers, func(m Mover) bool { return *m.Agent == "moved" })
		if moved >= 0 {
			found++
			if d := m.Movers[moved]; d.Low <= 0 || d.Low > d.Difference || d.Difference > d.High || d.From.Run != "r1" ||
				d.To.Run != "r2" {
				t.Errorf("%+v", d)
			}
		}
		if len(m.Movers) > 1 || len(m.Movers) == 1 && moved < 0 {
			false1++
		}
	}
	if false1 > series*8/100 || found < series*9/10 {
		t.Errorf("chance moved a figure in %d of %d series, and the one that moved was found in %d", false1, series, found)
	}
}

// A figure is compared from the earliest run from which on all neighbours are
// comparable, and not at all if the last two are not.
func TestMoversBetweenComparableRuns(t *testing.T) {
	broken := func(p schema.Point) schema.Point { p.Comparable = new(false); return p }
	signal := func(p schema.Point) schema.Point {
		p.Metric, p.Key, p.Agent, p.Base = "signal", new("content-signal ai-train=no"), nil, baseTexts
		return p
	}
	rfc := func(p schema.Point) schema.Point { p.Profile = new("rfc9309"); return p }
	m := seriesOf(3,
		simplePoint(1, "all", 100, 1000), simplePoint(2, "all", 200, 1000), simplePoint(3, "all", 300, 1000),
		simplePoint(1, "late", 900, 1000), broken(simplePoint(2, "late", 200, 1000)), simplePoint(3, "late", 800, 1000),
		simplePoint(2, "last", 100, 1000), broken(simplePoint(3, "last", 800, 1000)),
		simplePoint(1, "gone", 100, 1000), simplePoint(2, "gone", 800, 1000),
		simplePoint(1, "empty", 0, 0), simplePoint(2, "empty", 100, 1000), simplePoint(3, "empty", 500, 1000),
		simplePoint(1, "still", 100, 1000), simplePoint(2, "still", 900, 1000), simplePoint(3, "still", 101, 1000),
		rfc(simplePoint(1, "other", 100, 1000)), rfc(simplePoint(2, "other", 900, 1000)),
		rfc(simplePoint(3, "other", 900, 1000)),
		signal(simplePoint(1, "", 500, 1000)), signal(simplePoint(2, "", 400, 1000)), signal(simplePoint(3, "", 90, 1000)),
	).Movers(All, All)
	var got []string
	for _, m := range m.Movers {
		name := *m.Key
		if m.Agent != nil {
			name = *m.Agent
		}
		got = append(got, fmt.Sprintf("%s %s %d %s %d", name, m.From.Run, m.From.Count, m.To.Run, m.To.Count))
	}
	want := []string{"late r2 200 r3 800", "content-signal ai-train=no r1 500 r3 90", "empty r2 100 r3 500",
		"all r1 100 r3 300"}
	if !slices.Equal(got, want) || m.Compared != 5 || m.Broken != 1 {
		t.Errorf("%q, want %q; %d compared, %d broken", got, want, m.Compared, m.Broken)
	}
}

// With clusters or strata, the interval of the point counts, widened.
func TestMoversOfClusters(t *testing.T) {
	a, b := simplePoint(1, "x", 100, 1000), simplePoint(2, "x", 200, 1000)
	for _, p := range []*schema.Point{&a, &b} {
		p.Method, p.Low, p.High = new("clustered"), new(*p.Share-0.06), new(*p.Share+0.06)
	}
	low, high := difference(&a, &b, summary.Normal95)
	near(t, "low", low, 0.1-0.0849, 0.0001)
	near(t, "high", high, 0.1+0.0849, 0.0001)
	if low, high := interval(&a, 2*summary.Normal95); low != 0 || high < 0.2199 || high > 0.2201 {
		t.Errorf("twice as wide: %v to %v", low, high)
	}
	if m := seriesOf(2, a, b).Movers(All, All); len(m.Movers) != 1 || m.Movers[0].Low > 0.0152 {
		t.Errorf("%+v", m)
	}
}
