package series

import (
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// followedRuns is a series of two runs of 10,000 hosts, 8,000 of them with rules. counts holds
// the hosts of a line in both, by metric, name and key of it.
func followedRuns(counts map[[3]string][2]int64) *seriesData {
	r := &series.Result{Profiles: []string{"google"}}
	for i, run := range []string{"one", "two"} {
		r.Runs = append(r.Runs, series.Run{Run: run, Date: time.Date(2024+i, 1, 1, 0, 0, 0, 0, time.UTC), Hosts: 10_000,
			Files: new(int64(8000))})
	}
	for l, n := range counts {
		for i, run := range r.Runs {
			for base, of := range map[string]int64{"hosts": 10_000, "files": 8000, "texts": 9000, "before": 10_000} {
				share := float64(n[i]) / float64(of)
				p := schema.Point{Metric: l[0], Population: series.All, Stratum: series.All, Profile: new("google"),
					Key: schema.NonZero(l[2]), Run: run.Run, Date: run.Date, Base: base, Count: n[i], Denominator: of, Share: &share}
				switch l[0] {
				case "policy", "policy_template":
					p.Agent = new(l[1])
				case "category":
					p.Category = new(l[1])
				case "feature", "entered", "left":
					p.Profile = nil
				}
				r.Points = append(r.Points, p)
			}
		}
	}
	return newSeriesData(r)
}

// A title says who leads and who moved: of equals how many there are, and nothing of what did
// not move by as much as the digits show.
func TestTitlesOfASeries(t *testing.T) {
	closed := func(agents ...string) map[[3]string][2]int64 {
		out := make(map[[3]string][2]int64)
		for i, agent := range agents {
			out[[3]string{"policy", agent, "disallow_all"}] = [2]int64{int64(1000 + 10*i), 2000}
		}
		return out
	}
	outage := func(d *seriesData, run string) *seriesData {
		d.Marks = append(d.Marks, series.Mark{Run: run, Kind: "outage", Text: "an outage"})
		return d
	}
	training := map[[3]string][2]int64{{"category", "ai-training", "any"}: {1000, 2000}}
	features := func(group, rule [2]int64) map[[3]string][2]int64 {
		return map[[3]string][2]int64{{"feature", "", "group"}: group, {"feature", "", "rule"}: rule}
	}
	for _, row := range []struct {
		name, title, want string
	}{
		{"two that lead", followedRuns(closed("A", "B")).ofAgents().Title,
			"Shut out most often: A 10.0 → 20.0%; B 10.1 → 20.0%"},
		{"more than a title names", followedRuns(closed("A", "B", "C", "D", "E")).ofAgents().Title,
			"Shut out most often: A 10.0 → 20.0%, and 4 more with the same share"},
		{"of hosts", followedRuns(training).training().Title, "10.0 → 20.0% of hosts shut out an agent for AI training"},
		{"an outage at the end", outage(followedRuns(training), "two").training().Title,
			"12.5 → 25.0% of hosts with rules shut out an agent for AI training"},
		{"of agents too", outage(followedRuns(closed("A", "B")), "one").ofAgents().Title,
			"Shut out most often: A 12.5 → 25.0%; B 12.6 → 25.0%"},
		{"moved", followedRuns(features([2]int64{4500, 5400}, [2]int64{4000, 4010})).ofFeatures().Title,
			"What files contain, moved most: a group 50.0 → 60.0%; an allow or disallow rule 44.4 → 44.6%"},
		{"moved less than the digits show",
			followedRuns(features([2]int64{4500, 5400}, [2]int64{4001, 4002})).ofFeatures().Title,
			"What files contain, moved most: a group 50.0 → 60.0%"},
		{"nothing moved", followedRuns(features([2]int64{4500, 4500}, [2]int64{4000, 4000})).ofFeatures().Title,
			"What files contain: no share moved by 0.1 points from the first run to the last"},
		{"words", followedRuns(map[[3]string][2]int64{{"policy_template", "A", "t"}: {100, 200},
			{"policy_template", "B", "t"}: {100, 200}, {"policy_template", "C", "t"}: {100, 200},
			{"policy_template", "D", "t"}: {100, 200}}).ofWords().Title,
			"Shut out in a template's words: A (t) 1.0 → 2.0%, and 3 more with the same share"},
	} {
		if row.title != row.want {
			t.Errorf("%s: %q, want %q", row.name, row.title, row.want)
		}
	}
	if f := followedRuns(map[[3]string][2]int64{{"entered", "", ""}: {0, 0}, {"left", "", ""}: {
		0, 0}}).movements(); f != nil {
		t.Errorf("nobody came or went, and a figure says %q", f.Title)
	}
	if f := followedRuns(map[[3]string][2]int64{{"entered", "", ""}: {0, 5}, {"left", "", ""}: {
		0, 0}}).movements(); f == nil {
		t.Error("hosts came, and no figure says so")
	}
	f := followedRuns(map[[3]string][2]int64{{"policy_template", "A", "t"}: {100, 200}, {"policy_template", "B", "t"}: {
		100, 200}, {"policy_template", "C", "t"}: {100, 200}}).ofWords()
	if len(f.Multiples) != 1 || len(f.Multiples[0].Why) != 1 || f.Multiples[0].Why[0] != "The same for B (t), C (t)." {
		t.Errorf("lines that are the same are drawn %d times: %q", len(f.Multiples), f.Multiples[0].Why)
	}
}

// What moved is drawn with its intervals, and said to be compared as samples that differ.
func TestDifferencesAreDrawn(t *testing.T) {
	r := &series.Result{Profiles: []string{"google"}, Runs: []series.Run{{Run: "one"}, {Run: "two"}}}
	for _, agent := range []string{"A", "B"} {
		for i, run := range r.Runs {
			n := map[string][2]int64{"A": {2000, 1000}, "B": {500, 501}}[agent][i]
			share, low, high := summary.ShareOf(n, 10_000)
			r.Points = append(r.Points, schema.Point{
				Metric: "policy", Population: series.All, Stratum: series.All, Agent: &agent, Profile: new("google"),
				Key: new("disallow_all"), Run: run.Run, Base: "files",
				Count: n, Denominator: 10_000, Share: &share, Low: &low, High: &high, Method: new("wilson"), Comparable: new(true),
			})
		}
	}
	f := newSeriesData(r).differences()
	if f == nil || f.Title != "1 of 2 figures moved by more than chance, A shut out most" || len(f.Bars) != 1 ||
		!strings.Contains(f.Note, "samples that differ") {
		t.Fatalf("%+v", f)
	}
	if parts := f.Bars[0].Tracks[0].Parts; len(parts) != 3 || parts[1].X+parts[1].Width >= 50 || f.Rows[0][7] != "" ||
		f.Rows[0][9] != "-0.100000" {
		t.Errorf("%+v, %q", parts, f.Rows[0])
	}
}

// Agents × rank shows each band of each agent run by run, and marks what cannot be compared.
func TestAgentsByRank(t *testing.T) {
	d := followedRuns(nil)
	add := func(agent, stratum string, counts [2]int64, comparable *bool) {
		for i, run := range d.Runs {
			share := float64(counts[i]) / 1000
			l := d.ofPolicy("policy")(agent, "hosts")
			l.stratum = stratum
			p := &schema.Point{Metric: "policy", Population: series.All, Stratum: stratum, Agent: &agent,
				Profile: new("google"), Key: new("disallow_all"), Run: run.Run,
				Date: run.Date, Base: "hosts", Count: counts[i], Denominator: 1000, Share: &share}
			if i == 1 {
				p.Comparable, p.WhyNot = comparable, new("another list")
			}
			d.lines[l] = append(d.lines[l], p)
		}
	}
	for _, stratum := range []string{series.All, "unranked", "1-1000", "1001-10000"} {
		add("B", stratum, [2]int64{10, 20}, nil)
		add("A", stratum, [2]int64{100, 300}, new(false))
	}
	f := d.ofRanks()
	if f == nil || f.Title != "Shut out most often, by rank: A, rank 1 to 1,000 10.0 → 30.0%, not comparable throughout; "+
		"rank 1,001 to 10,000 10.0 → 30.0%, not comparable throughout; unranked 10.0 → 30.0%, not comparable throughout" {
		t.Fatalf("%+v", f)
	}
	if len(f.Heat.Rows) != 6 || len(f.Heat.Columns) != 2 || len(f.Rows) != 12 {
		t.Fatalf("%d rows, %d columns, %d numbers", len(f.Heat.Rows), len(f.Heat.Columns), len(f.Rows))
	}
	first := f.Heat.Rows[0]
	if first.Name != "A, rank 1 to 1,000" || first.Cells[0].Text != "10.0%" || first.Cells[1].Text != "| 30.0%" ||
		first.Cells[1].Level != 9 ||
		!strings.HasSuffix(first.Cells[1].Tip, "(300 of 1,000); not comparable with the run before: another list") {
		t.Errorf("%+v", first)
	}
	if last := f.Heat.Rows[5]; last.Name != "B, unranked" || last.Cells[1].Text != "2.0%" || last.Cells[1].Level != 1 {
		t.Errorf("%+v", last)
	}
}
