package diff

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/sink/sinktest"
)

func TestExpectationsOfChanges(t *testing.T) {
	texts := make(map[string]string)
	for i := range len(recipes) {
		texts[fmt.Sprintf("h%03d.example", i)] = ""
	}
	w, lists, samples, _ := script(texts, len(texts))
	c := twoRuns(t, w, lists, samples)
	for text, want := range map[string]string{
		// recipes 0 and 16, two profiles
		"{no_change: policy_class, after: disallow_all, category: search}":             "broken 4",
		"{no_change: policy_class, after: disallow_all, category: search, at_most: 4}": "kept 4",
		"{no_change: policy_class, after: disallow_all, agents: robotestc}":            "broken 2",
		"{no_change: all, severity: critical, profile: rfc9309}":                       "broken 6",
		// the lists differ
		"{no_change: [host_new, host_gone]}":         "unchecked 0",
		"{no_change: all, hosts: h028.example}":      "kept 0",
		"{no_change: all, hosts: elsewhere.example}": "unchecked 0",
		// with those that the row of a class covers
		"{no_change: verdict, urls: /private, category: search}":                             "broken 8",
		"{reachable: true, at_most: 2}":                                                      "kept 2",
		"{verdict: allow, urls: /, hosts: h000.example, agents: RoboTestA, profile: google}": "broken 1",
	} {
		e, err := expect.Parse("e", []byte("- "+strings.Replace(text, "{", "{name: x, ", 1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b", Expect: e})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Expectations[0]; fmt.Sprintf("%s %d", p.State, p.Broken) != want {
			t.Errorf("%s: %s, %d broken, want %s: %+v", text, p.State, p.Broken, want, p.First)
		}
	}
	e, err := expect.Parse("e", []byte("- {name: x, no_change: all, agents: Stranger}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b",
		Expect: e}); err == nil || !strings.Contains(err.Error(), `e:1: expectation "x" is about agent "Stranger"`) {
		t.Errorf("of an agent that no run has: %v", err)
	}
	csv := filepath.Join(c.Dir, "changes", "run=b", "against=a", "expectations.csv")
	if _, err := os.Stat(csv); err != nil {
		t.Error(err)
	}
	if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(csv); err == nil {
		t.Error("breaches of an earlier comparison stay")
	}
}
