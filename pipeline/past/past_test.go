package past

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a run without hosts, with counters and a registry.
func write(t *testing.T, dir string, p journal.Plan, agents []schema.Agent, counts ...schema.Count) *Run {
	t.Helper()
	r, err := sink.Create(dir, p)
	must(t, err)
	defer r.Close()
	s, err := r.Segment(0)
	must(t, err)
	must(t, s.Agents.Write(agents...))
	must(t, s.Commit())
	must(t, r.Complete(sink.Completion{Finished: p.Started, Totals: sink.Totals{Counts: counts}}))
	run, err := Read(t.Context(), sinktest.Open(t, dir), p.Run)
	must(t, err)
	return run
}

func TestReadingARun(t *testing.T) {
	dir := t.TempDir()
	plan := journal.Plan{Run: "r", Tables: []string{"agents", "summary"}, Profiles: []string{"google"}}
	agents := []schema.Agent{
		{Name: "A", Category: "search", Tokens: []string{"A", "B"}, FallsBackTo: []string{"C"}, UserAgent: new("A/1"),
			IgnoresStar: true},
		{Name: "D", Category: "other", Tokens: []string{"D"}},
	}
	source := func(key string, n int64) schema.Count {
		return schema.Count{Metric: "source", Stratum: "unranked", Key: &key, Count: n}
	}
	policy := schema.Count{Metric: "policy", Stratum: "unranked", Agent: new("A"), Category: new("search"),
		Key: new("partial"), Count: 1}
	r := write(t, dir, plan, agents, source("cache", 2), source("network", 2), source("warc", 3), policy)
	if r.Source != "network" {
		t.Errorf("most answers come from %q", r.Source)
	}
	if diff := cmp.Diff(agents, r.Registry.Agents); diff != "" || !r.Registry.Known {
		t.Errorf("known: %v, agents:\n%s", r.Registry.Known, diff)
	}
	if diff := cmp.Diff(map[string]string{"A": "search"}, r.Category); diff != "" {
		t.Errorf("agents that were judged:\n%s", diff)
	}
	plan.Run, plan.Tables = "s", []string{"summary"}
	if r := write(t, dir, plan, nil); r.Registry.Known || r.Source != "" {
		t.Errorf("a run without the table agents knows them: %v, source %q", r.Registry.Known, r.Source)
	}
	if _, err := Read(t.Context(), sinktest.Open(t, dir), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no run: %v", err)
	}
}

// wordsOfAllRecords are the fields of words that every run has recorded.
var wordsOfAllRecords = strings.Fields("reading typos near_typos key_prefixes missing_colon group_end unknown_ends " +
	"agent_match several_groups escapes reserved_in_path precedence ties bare_prefix html_redirect redirect_unsupported " +
	"too_many_requests other_status server_error server_error_copy network_failure network_failure_copy unreachable " +
	"unreachable_copy")

// A field that came later is not in the records of older programs: its zero value is valid.
func TestFieldsThatCameLaterMayBeMissing(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	for name := range fieldsOf(recordOf(t, google)) {
		if slices.Contains(wordsOfAllRecords, name) || name == "size_limit" {
			continue
		}
		older := fieldsOf(recordOf(t, google))
		delete(older, name)
		if _, err := Recorded("google", older); err != nil {
			t.Errorf("%v: the runs of older programs do not record %s; make its zero value say what they did", err, name)
		}
	}
}

// recordOf returns the fields of a profile as a manifest has them.
func recordOf(t *testing.T, p *robots.Profile) (fields map[string]any) {
	t.Helper()
	text, err := yaml.Marshal(p)
	must(t, err)
	must(t, yaml.Unmarshal(text, &fields))
	text, err = json.Marshal(fields)
	must(t, err)
	must(t, json.Unmarshal(text, &fields))
	return fields
}

// flat returns recorded fields as runs recorded them before there were groups.
func flat(fields map[string]any) map[string]any {
	fields = fieldsOf(fields)
	fields["lines"] = fields["reading"]
	delete(fields, "reading")
	return fields
}

// A profile is what the run records. This program's profile of the same name may have
// changed.
func TestProfileAsRecorded(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	manifest := func(fields map[string]any) *journal.Manifest {
		return &journal.Manifest{Plan: journal.Plan{Run: "r", Profiles: []string{"google"},
			ProfileFields: map[string]map[string]any{"google": fields}}}
	}
	recorded := func(change func(map[string]any)) *journal.Manifest {
		fields := flat(recordOf(t, google))
		change(fields)
		return manifest(fields)
	}
	want := *google
	want.SizeLimit, want.Wildcards = 77, false
	for form, m := range map[string]*journal.Manifest{
		"in groups":      manifest(recordOf(t, &want)),
		"without groups": recorded(func(f map[string]any) { f["size_limit"], f["wildcards"] = 77.0, false }),
	} {
		p, err := Profile(m, "google")
		must(t, err)
		if diff := cmp.Diff(&want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
		as := func(m *journal.Manifest) *Run { return &Run{Registry: &Registry{}, Manifest: m} }
		d := Compare(as(manifest(recordOf(t, google))), as(m))
		if got := strings.Join(d.Profile("google"), "; "); got != "profile google: size_limit was 512000 and is 77; "+
			"profile google: wildcards was true and is false" || d.ReadsAlike("google") {
			t.Errorf("%s: differs from google by %q", form, got)
		}
		changed := maps.Clone(m.ProfileFields["google"])
		changed["max_redirects"] = 1.0
		if d := Compare(as(m), as(manifest(changed))); len(d.Profile("google")) != 1 || !d.ReadsAlike("google") {
			t.Errorf("%s: other redirects are another reading of files: %q", form, d.Profile("google"))
		}
	}
	if d := Compare(&Run{Registry: &Registry{}, Manifest: manifest(flat(recordOf(t, google)))},
		&Run{Registry: &Registry{}, Manifest: manifest(recordOf(t, google))}); d.Profile("google") != nil {
		t.Errorf("groups alone make a difference: %q", d.Profile("google"))
	}
	less := recordOf(t, google)
	for _, group := range []string{"lines", "groups", "matching", "answers"} {
		maps.DeleteFunc(less[group].(map[string]any), func(_ string, value any) bool { return value == false })
	}
	for _, d := range []*Differences{
		Compare(&Run{Registry: &Registry{}, Manifest: manifest(less)}, &Run{Registry: &Registry{},
			Manifest: manifest(recordOf(t, google))}),
		Compare(&Run{Registry: &Registry{}, Manifest: manifest(recordOf(t, google))}, &Run{Registry: &Registry{},
			Manifest: manifest(less)}),
	} {
		if d.Profile("google") != nil || !d.ReadsAlike("google") {
			t.Errorf("fields that one run does not record and that are off in the other make a difference: %q",
				d.Profile("google"))
		}
	}
	own := &journal.Manifest{Plan: journal.Plan{Run: "r", Configuration: map[string]any{"profiles": map[string]any{
		"mine": map[string]any{"base": "rfc9309", "size_limit": 5.0}}}}}
	if p, err := Profile(own, "mine"); err != nil || p.SizeLimit != 5 || p.Name != "mine" {
		t.Errorf("a profile of one's own: %+v, %v", p, err)
	}
	if p, err := Profile(own, "google"); err != nil || cmp.Diff(google, p) != "" {
		t.Errorf("a run that records no fields: %+v, %v", p, err)
	}
	for name, m := range map[string]*journal.Manifest{
		"run r: profile google:": recorded(func(f map[string]any) { f["of_tomorrow"] = true }),
		"agent_match":            recorded(func(f map[string]any) { delete(f, "agent_match") }),
	} {
		if _, err := Profile(m, "google"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
	if _, err := Profile(own, "other"); err == nil || !strings.Contains(err.Error(),
		"does not say what profile other is") {
		t.Errorf("a profile of which nothing is known: %v", err)
	}
}

// The choice of hosts explains hosts of one run only, and so do a later first run, and
// another edition of a list.
func TestWhatExplainsHostsOfOneRun(t *testing.T) {
	run := func(id string, day int, list, digest, limit string) *Run {
		return &Run{Registry: &Registry{}, Source: "network", Manifest: &journal.Manifest{Date: time.Date(2026, 3, day, 0, 0,
			0, 0, time.UTC), Plan: journal.Plan{
			Run: id, Inputs: []journal.Input{{Role: "hosts", Path: list, SHA256: digest}}, Configuration: map[string]any{
				"limit": limit},
		}}}
	}
	base := run("a", 1, "in/tranco-1.csv", "1", "0")
	for _, c := range []struct {
		after *Run
		want  string
	}{
		{run("b", 2, "tranco-1.csv", "1", "0"), "[]"},
		{run("b", 1, "tranco-1.csv", "1", "0"), "[]"},
		{run("b", 2, "tranco-2.csv", "2", "0"),
			"[another edition of the list of hosts: hosts may be new or gone for that alone]"},
		{run("b", 2, "crux.csv", "2", "7"), "[another list of hosts: tranco-#.csv, then crux.csv; another --limit: 0, then " +
			"7: hosts may be new or gone for that alone]"},
		{run("A", 1, "tranco-1.csv", "1", "0"), "[the runs a and A are of the same time, and the first has the later name: " +
			"what came may read as gone]"},
	} {
		d := Compare(base, c.after)
		if got := fmt.Sprint(d.Told()); got != c.want {
			t.Errorf("told %s, want %s", got, c.want)
		}
		if (d.MayMiss() != "") != strings.Contains(c.want, "hosts may be") {
			t.Errorf("%s: hosts may be missing: %q", c.want, d.MayMiss())
		}
	}
}
