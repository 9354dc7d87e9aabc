package series

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// The interval of paired shares turns round with the runs, holds the difference, is that of
// samples that differ where hosts are not alike in both runs, and narrower where they are.
func TestPairedDifference(t *testing.T) {
	for _, p := range []pairs{{36, 2, 12, 0}, {20, 2, 12, 16}, {18, 0, 14, 18}, {53, 0, 1, 0}, {300, 40, 0, 2660},
		{0, 40, 0, 2960}, {5, 45, 45, 405}, {0, 0, 0, 9}, {9, 0, 0, 0}} {
		for _, quantile := range []float64{summary.Normal95, 3.5} {
			d, low, high := p.difference(quantile)
			turned, turnedLow, turnedHigh := pairs{p.both, p.lost, p.gained, p.none}.difference(quantile)
			if d != -turned || math.Abs(low+turnedHigh) > 1e-12 || math.Abs(high+turnedLow) > 1e-12 || low > d || d > high {
				t.Errorf("%+v: %v, %v to %v; turned round %v, %v to %v", p, d, low, high, turned, turnedLow, turnedHigh)
			}
			a, b := simplePoint(1, "x", p.both+p.lost, p.hosts()), simplePoint(2, "x", p.both+p.gained, p.hosts())
			apartLow, apartHigh := difference(&a, &b, quantile)
			switch product := p.both*p.none - p.gained*p.lost; {
			case product > p.hosts() && (low <= apartLow || high >= apartHigh):
				t.Errorf("%+v: %v to %v is not narrower than %v to %v", p, low, high, apartLow, apartHigh)
			case product == 0 && (math.Abs(low-max(-1, apartLow)) > 1e-12 || math.Abs(high-min(1, apartHigh)) > 1e-12):
				t.Errorf("%+v: %v to %v, as samples that differ %v to %v", p, low, high, apartLow, apartHigh)
			}
		}
	}
	if d, low, high := (pairs{}).difference(summary.Normal95); d != 0 || low != -1 || high != 1 {
		t.Errorf("without a host: %v, %v to %v", d, low, high)
	}
}

// McNemar's exact test is a binomial one: here by sums of whole numbers.
func TestChance(t *testing.T) {
	for n := range int64(40) {
		choose, total := 1.0, 0.0
		for k := range n/2 + 1 {
			total += choose
			want := min(1, 2*total/math.Exp2(float64(n)))
			if got := (pairs{gained: k, lost: n - k}).chance(); math.Abs(got-want) > 1e-9 {
				t.Errorf("%d and %d: %v, want %v", k, n-k, got, want)
			}
			if got, other := (pairs{gained: k, lost: n - k}).chance(), (pairs{gained: n - k, lost: k}).chance(); got != other {
				t.Errorf("%d and %d: %v, the other way round %v", k, n-k, got, other)
			}
			choose = choose * float64(n-k) / float64(k+1)
		}
	}
	if p := (pairs{gained: 1_000_000, lost: 1_010_000}).chance(); p > 1e-11 || p < 1e-13 { // z = 7.05
		t.Errorf("of a million: %v", p)
	}
}

// Of 1,500 panels, 95 % of the intervals hold the true difference, and of panels that do not
// move at most 5 % are said to.
func TestCoverageOfPairs(t *testing.T) {
	const panels, hosts = 1500, 1000
	for _, c := range []struct{ before, begins, ends float64 }{ // the last two of hosts that do not, and that do
		{0.3, 0.03, 0.07}, {0.1, 0.02, 0.1}, {0.5, 0.2, 0.2}, {0.05, 0.03, 0.02}, {0.2, 0.1, 0.4}, {0.8, 0.3, 0.05},
	} {
		truth := (1-c.before)*c.begins - c.before*c.ends
		random := rand.New(rand.NewPCG(7, uint64(1000*c.before)))
		hit, moved := 0, 0
		for range panels {
			var p pairs
			for range hosts {
				before := random.Float64() < c.before
				switch x := random.Float64(); {
				case before && x < c.ends:
					p.lost++
				case before:
					p.both++
				case x < c.begins:
					p.gained++
				default:
					p.none++
				}
			}
			if _, low, high := p.difference(summary.Normal95); low <= truth && truth <= high {
				hit++
			}
			if p.chance() <= 0.05 {
				moved++
			}
		}
		coverage := float64(hit) / panels
		t.Logf("%+v: %.2f %% of the intervals hold, %.2f %% of the panels moved", c, 100*coverage, 100*float64(moved)/panels)
		if coverage < 0.935 || coverage > 0.975 { // 2.5 standard errors below 95 %
			t.Errorf("%+v: coverage %.4f", c, coverage)
		}
		if truth == 0 && moved > panels*6/100 {
			t.Errorf("%+v: %d of %d panels moved", c, moved, panels)
		}
	}
}

// Of 3,000 hosts 40 more shut an agent out, and none lets it in again: that is no chance,
// though two samples would differ by as much.
func TestFortyOfThreeThousand(t *testing.T) {
	dir := t.TempDir()
	var ids []string
	for at := range 2 {
		m := make(madeUp)
		for i := range 3000 {
			classes := map[string]string{"A": "allow_all", "B": "allow_all", "C": "partial"}
			if i < 300+40*at {
				classes["A"] = "disallow_all"
			}
			if (i+at)%50 == 0 { // as many begin as end
				classes["C"] = "disallow_all"
			}
			m[fmt.Sprintf("www.d%d.com", i)] = classes
		}
		ids = append(ids, fmt.Sprint("r", at))
		m.write(t, dir, ids[at], at)
	}
	for name, c := range map[string]struct {
		Config
		population, method string
		moved              int
	}{
		"paired":    {Config{Panel: true, Paired: true}, "panel", Paired, 2}, // A, and its category
		"unpaired":  {Config{Paired: true}, All, Unpaired, 0},
		"clustered": {Config{Panel: true, Paired: true, Clustered: true}, "panel", Unpaired, 0},
	} {
		c.In, c.Runs = sinktest.Open(t, dir), ids
		r, err := Read(t.Context(), c.Config)
		must(t, err)
		m := r.Movers(c.population, All)
		if m.Method != c.method || len(m.Movers) != c.moved || m.Compared == 0 || m.Level != 0.05/float64(m.Compared) {
			t.Errorf("%s: %+v", name, m)
		}
		for _, x := range m.Movers {
			if x.Pairs == nil || x.Gained != 40 || x.Lost != 0 || x.Hosts != 3000 || x.Low <= 0.007 || x.High >= 0.02 ||
				x.Chance > 1e-11 {
				t.Errorf("%s: %+v %+v", name, x, x.Pairs)
			}
		}
		for _, course := range r.Courses(c.population, []string{"A", "C"}).Agents {
			if course.Stratum != All {
				continue
			}
			last := course.Runs[1]
			if last.Since == nil || last.IsChance != (c.moved == 0 || course.Agent == "C") || course.Runs[0].Since != nil ||
				last.Low == nil {
				t.Errorf("%s: %s: %+v", name, course.Agent, last)
			}
			if p := last.Since.Pairs; p != nil && course.Agent == "C" && (p.Gained != 60 || p.Lost != 60) {
				t.Errorf("%s: C: %+v", name, p)
			}
		}
	}
}

// Pairs are those of the hosts that both runs have, once each, and in a band only those that
// are in it in both runs.
func TestPairsOfHosts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const hosts = 500
	p := newPairing(2, hosts)
	k := []id{{metric: "policy", agent: "A", category: "x", profile: "google", key: "disallow_all"},
		{metric: "policy", agent: "A", category: "x", profile: "rfc9309", key: "disallow_all"},
		{metric: "signal", key: "s"}, {metric: "category", category: "x", profile: "google", key: "any"},
		{metric: "category", category: "x", profile: "google", key: "all"}}
	var is [2][hosts][]bool
	var answers, bands [2][hosts]int
	for run := range 2 {
		for host := range hosts {
			answers[run][host], bands[run][host] = random.IntN(4), random.IntN(2)
			for range min(answers[run][host], 3) - 1 { // none, one, or two
				var list []int32
				counted := make([]bool, len(k))
				for n := range k {
					if counted[n] = random.IntN(3) == 0; counted[n] {
						list = append(list, int32(n))
					}
				}
				is[run][host] = counted
				p.add(run, host, uint8(bands[run][host]), p.set(k, list, "google"))
			}
		}
	}
	for _, stratum := range []string{All, bandNames[0]} {
		of := p.between(0, 1, stratum)
		for n, figure := range k {
			var want pairs
			for host := range hosts {
				if answers[0][host] != 2 || answers[1][host] != 2 || stratum != All &&
					(bands[0][host] != 0 || bands[1][host] != 0) {
					continue
				}
				switch a, b := is[0][host][n], is[1][host][n]; {
				case !isPaired(figure, "google"):
					want.none++
				case a && b:
					want.both++
				case a:
					want.lost++
				case b:
					want.gained++
				default:
					want.none++
				}
			}
			if figure.agent != "" {
				figure.category = ""
			}
			if got := of(figure); got != want || want.hosts() == 0 {
				t.Errorf("%s, %+v: %+v, want %+v", stratum, figure, got, want)
			}
		}
	}
	if got := idOf(&schema.Point{Metric: "policy", Agent: new("A"), Category: new("y"), Profile: new("google"),
		Key: new("disallow_all")}); got != p.ids[p.numbers[got]] {
		t.Errorf("%+v is not a figure that pairs know", got)
	}
}

// An outage that hides half of the hosts moves nothing, as no policy changed; what does change among
// the others is told, in shares of those whose policies both runs know.
func TestOutagesMoveNothing(t *testing.T) {
	dir := t.TempDir()
	var ids []string
	for at := range 2 {
		m := make(madeUp)
		for i := range 2000 {
			classes := map[string]string{"A": "allow_all", "B": "partial", "C": "partial"}
			if i%2 == 0 {
				classes["A"] = "disallow_all"
			}
			if at == 1 && i%20 == 3 {
				classes["B"] = "disallow_all"
			}
			if at == 0 && i%20 == 7 {
				classes["C"] = "disallow_all"
			}
			if at == 1 && i%4 < 2 {
				classes = map[string]string{"A": "unknown", "B": "unknown", "C": "unknown"}
			}
			m[fmt.Sprintf("www.d%d.com", i)] = classes
		}
		ids = append(ids, fmt.Sprint("r", at))
		m.write(t, dir, ids[at], at)
	}
	for name, c := range map[string]struct {
		Config
		population string
	}{
		"paired": {Config{Panel: true, Paired: true}, "panel"}, "unpaired": {Config{Paired: true}, All},
		"clustered": {Config{Panel: true, Paired: true, Clustered: true}, "panel"},
	} {
		c.In, c.Runs = sinktest.Open(t, dir), ids
		r, err := Read(t.Context(), c.Config)
		must(t, err)
		for _, x := range r.Movers(c.population, All).Movers {
			if schema.OrZero(x.Agent) == "A" {
				t.Errorf("%s: %s moved: %+v", name, schema.OrZero(x.Agent), x)
			}
			if x.Pairs != nil && (x.From.Denominator != 1000 || x.To.Denominator != 1000 || x.Hosts != 1000 ||
				math.Abs(x.To.Share-x.From.Share-x.Difference) > 1e-12) {
				t.Errorf("%s: %+v %+v", name, x, x.Pairs)
			}
		}
		for _, course := range r.Courses(c.population, []string{"A"}).Agents {
			if last := course.Runs[1]; course.Stratum == All && (last.Since == nil || !last.IsChance ||
				last.Denominator != 1000 || *last.Share != 0.5) {
				t.Errorf("%s: %+v", name, last)
			}
		}
	}
}
