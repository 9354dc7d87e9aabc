package robots

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// corpusPairs calls f for each group with rules of each file of the corpus,
// with the file's policy for all and the policy of the group.
func corpusPairs(tb testing.TB, bodies [][]byte, p *Profile, f func(star, own *Policy)) {
	var file File
	for _, body := range bodies {
		file.Parse(body, p)
		agents := namedAgents(&file)
		j := NewJudge(p, agents)
		j.Load(&file)
		for n := range agents {
			if n > 0 && j.Policy(n).SameAs == n {
				f(j.Policy(0), j.Policy(n))
			}
		}
	}
}

// namedAgents returns an agent that no group names, and those that a file names.
func namedAgents(f *File) []Agent {
	agents := []Agent{{Name: "*"}}
	for _, a := range f.Agents {
		if n := string(a.Token); n != "" && n != "*" {
			agents = append(agents, Agent{Name: n, Tokens: []string{n}})
		}
	}
	return agents
}

// BenchmarkCompare compares each group of the corpus with the group for all.
func BenchmarkCompare(b *testing.B) {
	bodies, _ := benchBodies(b)
	for _, name := range documentNames() {
		b.Run(name, func(b *testing.B) {
			p := named(b, name)
			var times []time.Duration
			states, searched := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				times = times[:0]
				states, searched = 0, 0
				corpusPairs(b, bodies, p, func(star, own *Policy) {
					start := time.Now()
					c := Compare(star, own)
					times = append(times, time.Since(start))
					states = max(states, c.States)
					if c.States > 0 {
						searched++
					}
				})
			}
			slices.Sort(times)
			n := len(times)
			at := func(i int) float64 { return float64(times[i]) / 1e3 }
			b.ReportMetric(float64(n), "pairs")
			b.ReportMetric(float64(searched), "searched")
			b.ReportMetric(float64(states), "states-most")
			b.ReportMetric(at(n/2), "µs-median")
			b.ReportMetric(at(n*99/100), "µs-99%")
			b.ReportMetric(at(n-1), "µs-worst")
		})
	}
}

// entangled returns pairs of policies built to be slow to compare.
func entangled() map[string][2]string {
	letters := "abcdefghijklmnopqrstuvwxyz0123456789"
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i) + "\n")
		}
		return b.String()
	}
	// Each pattern waits for a different letter: one state for each set of
	// letters.
	sets := repeat(18, func(i int) string { return fmt.Sprintf("disallow: /*%c*%c", letters[i], letters[i+18]) })
	kinds := repeat(18, func(i int) string {
		return []string{"allow", "disallow"}[i%2] + fmt.Sprintf(": /*%c%s%c", letters[i], strings.Repeat("*", i+1),
			letters[i+18])
	})
	pairs := map[string][2]string{
		"sets":     {sets + "disallow: /*a*b*c", sets + "allow: /*b*c*d*e"},
		"kinds":    {kinds, kinds + "allow: /*aa*bb*cc\ndisallow: /*dd*ee***f"},
		"anchored": {strings.ReplaceAll(sets, "\n", "$\n"), strings.ReplaceAll(kinds, "\n", "$\n")},
		"escapes":  {strings.ReplaceAll(sets, "*", "*%3A*"), strings.ReplaceAll(kinds, "*", "*:")},
		"digits":   {strings.ReplaceAll(sets, "*", "*%"), kinds},
		"groups":   {repeat(20000, func(i int) string { return fmt.Sprintf("user-agent: a\ndisallow: /%d", i) }), sets},
	}
	for name, body := range hostile() {
		rules := strings.TrimPrefix(string(body), "user-agent: *\n")
		pairs[name] = [2]string{rules, "allow: /aaaa*aaac\n" + rules[:len(rules)/2]}
	}
	return pairs
}

// BenchmarkCompareHostile parses and compares each pair once.
func BenchmarkCompareHostile(b *testing.B) {
	for name, rules := range entangled() {
		for _, profile := range documentNames() {
			b.Run(name+"/"+profile, func(b *testing.B) {
				p := named(b, profile)
				x, y := policyOf(p, rules[0]), policyOf(p, rules[1])
				var c Comparison
				for b.Loop() {
					c = Compare(x, y)
				}
				b.ReportMetric(float64(c.States), "states")
			})
		}
	}
}

// TestCompareHostile checks the bound with a wide margin: what takes a tenth of
// a second must not take seconds anywhere, and a comparison that gives up is
// undecided.
func TestCompareHostile(t *testing.T) {
	if raceDetector {
		t.Skip("measures time")
	}
	undecided := 0
	pairs, profiles := entangled(), documentNames()
	for i, name := range slices.Sorted(maps.Keys(pairs)) {
		rules, p := pairs[name], named(t, profiles[i%len(profiles)])
		a, b := policyOf(p, rules[0]), policyOf(p, rules[1])
		start := time.Now()
		c := Compare(a, b)
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("%s: %s takes %v, with %d states", p.Name, name, d, c.States)
		}
		if c.Relation == RelationUndecided {
			undecided++
		}
	}
	if undecided == 0 {
		t.Error("nothing reaches the bounds")
	}
}
