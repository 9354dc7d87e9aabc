package diff

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// changesBetween are the changes of a host whose robots.txt is first the one
// text and then the other.
func changesBetween(t *testing.T, before, after string) []schema.Change {
	t.Helper()
	w := &web{told: [2]map[string]*told{{"h.example": text1(before)}, {"h.example": text1(after)}}}
	c := twoRuns(t, w, [2]string{"h.example\n", "h.example\n"}, "/\n")
	if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b"}); err != nil {
		t.Fatal(err)
	}
	return changesOf(t, c.Dir, "b", "a")
}

// manySignals is a file of a group with so many agents and signals, and one
// with other agents and terms, in some order.
func manySignals(agents, signals int, order *rand.Rand, first string) string {
	var names, lines []string
	for i := range agents {
		names = append(names, "User-agent: robot"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+string(rune('a'+i/26%26))+
			string(rune('a'+i/676))+"\n")
	}
	for i := range signals {
		lines = append(lines, fmt.Sprintf("Content-Usage: /p%d train-ai=%s\n", i, first))
		first = "y"
	}
	groups := []string{"", "User-agent: other\nUser-agent: another\nContent-Signal: search=yes, ai-train=no\n" +
		"Disallow: /x\n\n"}
	for _, list := range [][]string{names, lines} {
		order.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		groups[0] += strings.Join(list, "")
	}
	groups[0] += "Disallow: /y\n\n"
	order.Shuffle(2, func(i, k int) { groups[i], groups[k] = groups[k], groups[i] })
	return strings.Join(groups, "")
}

// A file in another order says the same, and a signal is told for every agent
// of its group, however many these are.
func TestSignalsDoNotGoByOrder(t *testing.T) {
	order := rand.New(rand.NewPCG(1, 2))
	for _, row := range []struct{ agents, signals int }{{3, 2}, {40, 3}, {300, 20}, {2000, 4000}} {
		first, second := manySignals(row.agents, row.signals, order, "y"), manySignals(row.agents, row.signals, order, "y")
		var got []string
		for _, c := range changesBetween(t, first, second) {
			got = append(got, c.Kind)
		}
		if diff := cmp.Diff([]string{"text"}, got); diff != "" {
			t.Errorf("%d agents and %d signals in another order: %.300s", row.agents, row.signals, diff)
		}
	}
	changes := changesBetween(t, manySignals(40, 3, order, "y"), manySignals(40, 3, order, "n"))
	told := make(map[string]bool)
	for _, c := range changes {
		if c.Kind != "signal" || c.Severity != change.Major || schema.OrZero(c.Before) != "content-usage: /p0 train-ai=y" ||
			schema.OrZero(c.After) != "content-usage: /p0 train-ai=n" || told[schema.OrZero(c.Agent)] {
			t.Errorf("%s", showChange(&c))
		}
		told[schema.OrZero(c.Agent)] = true
	}
	if len(told) != 40 {
		t.Errorf("it is told for %d agents of 40", len(told))
	}
}

// Of thousands of agents with thousands of signals each change is told once,
// and what else may have changed is not called cosmetic.
func TestSignalsOfAHostileFile(t *testing.T) {
	order := rand.New(rand.NewPCG(3, 4))
	changes := changesBetween(t, manySignals(2000, 4000, order, "y"), manySignals(2000, 4000, order, "n"))
	if len(changes) != 1 || !strings.HasPrefix(showChange(&changes[0]),
		"h.example signal major - - - - content-usage:_/p0_train-ai=y content-usage:_/p0_train-ai=n ") {
		t.Errorf("%d changes, the first %s", len(changes), showChange(&changes[0]))
	}
	again := changesBetween(t, manySignals(2000, 4000, order, "y"), manySignals(2000, 4000, order, "y"))
	if len(again) != 1 || again[0].Kind != "text" || again[0].Severity != change.Minor {
		t.Errorf("in another order: %s", showChange(&again[0]))
	}
}

// A line has one path and may have thousands of keys: that path is not held, or
// told, as often as there are keys.
func TestALongPathIsToldOnce(t *testing.T) {
	file := func(value string) string {
		pairs := make([]string, 1200)
		for i := range pairs {
			pairs[i] = fmt.Sprintf("k%04d=%s", i, value)
		}
		line := "Content-Usage: /" + strings.Repeat("p", 7000) + " " + strings.Join(pairs, ",") + "\n"
		return "User-agent: *\nDisallow: /x\n" + line + strings.Replace(line, "/p", "/q", 1)
	}
	w := &web{told: [2]map[string]*told{{"h.example": text1(file("y"))}, {"h.example": text1(file("n"))}}}
	c := twoRuns(t, w, [2]string{"h.example\n", "h.example\n"}, "/\n")
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), "a")
	if err != nil {
		t.Fatal(err)
	}
	held := &store.Sorter{Memory: 1 << 30}
	for _, p := range m.Parts {
		if p.Table == "signals" {
			err = errors.Join(err, records.Read(context.Background(), sinktest.Open(t, c.Dir), p, records.Signals,
				[]records.Wanted{{Seq: 0, N: 0}, {Seq: 1, N: 1}}, new(records.Names), held))
		}
	}
	_, size, e := heldBy(held)
	if err = errors.Join(err, e); err != nil || size < 20_000 || size > 200_000 {
		t.Errorf("%d bytes are held of a file of %d, %v", size, len(file("y")), err)
	}
	if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b"}); err != nil {
		t.Fatal(err)
	}
	changes := changesOf(t, c.Dir, "b", "a")
	size = 0
	for _, c := range changes {
		size += len(schema.OrZero(c.Before)) + len(schema.OrZero(c.After))
	}
	if len(changes) != 2400 || size > 2400*2*300 {
		t.Errorf("%d changes, of %d bytes of text", len(changes), size)
	}
}
