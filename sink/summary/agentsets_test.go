package summary

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// A set is read as it was written.
func TestSetsOfAgents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 1, 30, rapid.ID[int]).Draw(t, "set")
		slices.Sort(set)
		got, err := parseSet(nil, setText(set), 41)
		if err != nil || !slices.Equal(got, set) {
			t.Fatalf("%v becomes %q and %v: %v", set, setText(set), got, err)
		}
	})
	if got := setText([]int{0, 1, 2, 4, 6, 7}); got != "0-2,4,6-7" {
		t.Error(got)
	}
	for _, text := range []string{"", "a", "-1", "3-1", "1,1", "2,1", "0-41", "41", "1-", "1,", "99999999999999999999"} {
		if set, err := parseSet(nil, text, 41); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%q is the set %v: %v", text, set, err)
		}
	}
}

// What segments of several programs' registries write adds up to what was counted: for each
// agent of its own, by value.
func TestTalliesByLabelAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		profiles := []string{"google", "rfc9309"}[:rapid.IntRange(1, 2).Draw(t, "profiles")]
		all, want := newLabelCounts(), make(map[[7]string]int64)
		for range rapid.IntRange(1, 3).Draw(t, "segments") {
			var agents []schema.Agent
			first := rapid.IntRange(0, 3).Draw(t, "first agent")
			for i := range rapid.IntRange(1, 12).Draw(t, "agents") {
				agents = append(agents, schema.Agent{Name: fmt.Sprint("bot", first+i), Category: []string{"", "seo"}[(first+i)%2]})
			}
			n := New(agents, profiles)
			n.KeepHosts()
			for range rapid.IntRange(0, 6).Draw(t, "hosts") {
				v := LabelValue{"sector", rapid.SampledFrom([]string{"news", "shop"}).Draw(t, "value")}
				n.BeginHost([]LabelValue{v})
				n.Add("targets", "unranked", "")
				want[[7]string{"targets", v.Label, v.Value}]++
				if rapid.Bool().Draw(t, "unjudged") {
					continue
				}
				for p := range profiles {
					for i, a := range agents {
						class := rapid.IntRange(0, 1).Draw(t, "class")
						n.Mark(p, i, &Mark{Class: uint8(class)})
						want[[7]string{"policy", v.Label, v.Value, a.Name, a.Category, profiles[p], ClassNames[class]}]++
					}
				}
			}
			var rows []schema.LabelCount
			if err := n.EachByLabel(func(of []schema.LabelCount) error {
				rows = append(rows, of...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			// A part is read in batches.
			for batch := range slices.Chunk(rows, rapid.IntRange(1, 20).Draw(t, "batch")) {
				if err := all.read(0, batch); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := make(map[[7]string]int64)
		for rows := range all.rows() {
			for _, r := range rows {
				got[[7]string{r.Metric, r.Label, r.Value, schema.OrZero(r.Agent), schema.OrZero(r.Category),
					schema.OrZero(r.Profile), schema.OrZero(r.Key)}] = r.Count
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Parts that nobody writes are errors, and no long work.
func TestForgedSets(t *testing.T) {
	number := schema.LabelCount{Metric: setPrefix, Agent: new("a")}
	counts := func(agent string) schema.LabelCount {
		return schema.LabelCount{Metric: setPrefix + "policy", Label: "l", Value: "v", Agent: &agent, Count: 1}
	}
	for name, rows := range map[string][]schema.LabelCount{
		"no agents":       {counts("0")},
		"not so many":     {number, counts("1")},
		"no set":          {number, {Metric: setPrefix + "policy", Label: "l", Value: "v", Count: 1}},
		"below zero":      {number, {Metric: setPrefix + "policy", Label: "l", Value: "v", Agent: new("0"), Count: -1}},
		"no name":         {{Metric: setPrefix}},
		"too many agents": slices.Repeat([]schema.LabelCount{number}, MostByLabel+1),
	} {
		if err := newLabelCounts().read(0, rows); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	n := newLabelCounts()
	agents := slices.Repeat([]schema.LabelCount{number}, MostByLabel)
	if err := n.read(0, agents); err != nil {
		t.Fatal(err)
	}
	n.sets.left = 10 * MostByLabel
	err := n.read(0, slices.Repeat([]schema.LabelCount{counts(fmt.Sprintf("0-%d", MostByLabel-1))}, 11))
	if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "sets of agents have more than") {
		t.Error(err)
	}
}
