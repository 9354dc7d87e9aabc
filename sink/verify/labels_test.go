package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// Counters by label that are not those of the rows of labels, policies and verdicts are found.
func TestLabelCountsAreVerified_NoRace(t *testing.T) {
	hosts := []struct{ sector, class, verdict string }{
		{"news", "partial", "allow"}, {"news", "disallow_all", "disallow"}, {"shop", "partial", "allow"},
		{"rare", "partial", "disallow"}, {"", "partial", "allow"},
	}
	row := func(metric, value, agent, key string, n int64) schema.LabelCount {
		r := schema.LabelCount{Metric: metric, Label: "sector", Value: value, Agent: schema.NonZero(agent),
			Key: schema.NonZero(key), Count: n}
		if agent != "" {
			r.Profile = new("google")
		}
		return r
	}
	right := []schema.LabelCount{ // rare counts as other
		row("targets", "news", "", "", 2), row("targets", "shop", "", "", 1), row("targets", "other", "", "", 1),
		row("status", "news", "", "200", 77),
		row("policy", "news", "A", "partial", 1), row("policy", "news", "A", "disallow_all", 1), row("policy", "news", "B",
			"partial", 1), row("policy", "news", "B", "disallow_all", 1),
		row("policy", "shop", "A", "partial", 1), row("policy", "shop", "B", "partial", 1), row("policy", "other", "A",
			"partial", 1), row("policy", "other", "B", "partial", 1),
		row("verdict", "news", "A", "allow", 1), row("verdict", "news", "A", "disallow", 1), row("verdict", "news", "B",
			"allow", 1), row("verdict", "news", "B", "disallow", 1),
		row("verdict", "shop", "A", "allow", 1), row("verdict", "shop", "B", "allow", 1), row("verdict", "other", "A",
			"disallow", 1), row("verdict", "other", "B", "disallow", 1),
	}
	changed := func(at int, change func(r *schema.LabelCount)) []schema.LabelCount {
		rows := slices.Clone(right)
		change(&rows[at])
		return rows
	}
	for name, c := range map[string]struct {
		rows []schema.LabelCount
		want string
	}{
		"right": {right, ""},
		"a host more": {changed(0, func(r *schema.LabelCount) { r.Count++ }),
			`counts 3 of targets for "news" of label "sector", and the tables hold 2`},
		"no value": {slices.DeleteFunc(slices.Clone(right), func(r schema.LabelCount) bool {
			return r.Value == "other"
		}), `counts 0 of policy "A" "google" "partial" for "other" of label "sector", and the tables hold 1`},
		"a value of nobody": {append(slices.Clone(right), row("targets", "bank", "", "", 1)),
			`counts 1 of targets for "bank" of label "sector", and the tables hold 0`},
		"another class": {changed(4, func(r *schema.LabelCount) { r.Key = new("unknown") }),
			`counts 0 of policy "A" "google" "partial" for "news" of label "sector", and the tables hold 1`},
		"another profile": {changed(8, func(r *schema.LabelCount) { r.Profile = new("own") }),
			`counts 0 of policy "A" "google" "partial" for "shop" of label "sector", and the tables hold 1`},
		"another agent": {changed(8, func(r *schema.LabelCount) { r.Agent = new("B"); r.Key = new("unknown") }),
			`counts 0 of policy "A" "google" "partial" for "shop" of label "sector", and the tables hold 1`},
		"no rows of an agent": {slices.DeleteFunc(slices.Clone(right), func(r schema.LabelCount) bool {
			return r.Metric == "policy" && *r.Agent == "B"
		}), `counts 0 of policy "B" "google" "disallow_all" for "news" of label "sector", and the tables hold 1`},
		"other verdicts": {changed(13, func(r *schema.LabelCount) { r.Key = new("allow") }),
			`counts 3 of verdict "google" "allow" for "news" of label "sector", and the tables hold 2`},
		"the label of another": {changed(1, func(r *schema.LabelCount) { r.Label = "owner" }),
			`counts 1 of policy "A" "google" "partial" for "other" of label "sector", and the tables hold 2`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plan := described()
			plan.Tables = []string{"fetches", "labels", "policies", "verdicts", "label_counts"}
			run, err := sink.Create(dir, plan)
			must(t, err)
			for index, some := range [][2]int{{0, 2}, {2, 5}} { // two segments
				s, err := run.Segment(index)
				must(t, err)
				for i := some[0]; i < some[1]; i++ {
					h, seq := hosts[i], int64(i+1)
					must(t, s.Fetches.Write(schema.Fetch{Seq: seq, Host: "h"}))
					if h.sector != "" {
						must(t, s.Labels.Write(schema.Label{Seq: seq, Host: "h", Label: "sector", Value: h.sector}))
					}
					for _, agent := range []string{"A", "B"} {
						must(t, s.Policies.Write(schema.Policy{Seq: seq, Agent: agent, Profile: "google", Class: h.class}))
						must(t, s.Verdicts.Write(schema.Verdict{Seq: seq, Agent: agent, Profile: "google", Verdict: h.verdict}))
					}
				}
				s.Targets = int64(some[1] - some[0])
				must(t, s.Commit())
			}
			must(t, run.Complete(sink.Completion{Finished: time.Now(), Tally: journal.Tally{Targets: 5}, Totals: sink.Totals{
				LabelCounts: slices.Values([][]schema.LabelCount{c.rows})}, Inputs: plan.Inputs}))
			must(t, run.Close())
			var got []string
			for _, p := range verified(t, dir).Problems {
				got = append(got, p.Path+": "+p.Kind+": "+p.Text)
			}
			want := ""
			if c.want != "" {
				want = "label_counts/run=r/part-0000000000.parquet: summary: " + c.want
			}
			if strings.Join(got, "\n") != want {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
}
