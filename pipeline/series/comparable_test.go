package series

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// A profile whose fields changed, another kind of list and another edition of one.
func TestWhatBreaksASeries(t *testing.T) {
	base := func() *countedRun {
		return &countedRun{Run: &past.Run{
			Manifest: &journal.Manifest{Plan: journal.Plan{
				Run: "a", Profiles: []string{"google"}, ProfileFields: map[string]map[string]any{"google": {"size_limit": 1.0}},
				Inputs:        []journal.Input{{Role: "hosts", Path: "in/tranco-2024-01-01.csv", SHA256: "1"}},
				Configuration: map[string]any{"limit": "0"},
			}},
			Registry: &past.Registry{Known: true, Agents: []schema.Agent{{Name: "A", Category: "x", Tokens: []string{"A"}}}},
			Category: map[string]string{"A": "x"}, Source: "network",
		}}
	}
	agent, category, status := id{metric: "policy", agent: "A", profile: "google"}, id{metric: "category", category: "x",
		profile: "google"}, id{metric: "status"}
	for name, c := range map[string]struct {
		change                 func(*countedRun)
		agent, category, other string // parts of why, "" for comparable
		mark                   string
	}{
		"nothing": {func(r *countedRun) {}, "", "", "", ""},
		"another edition": {func(r *countedRun) {
			r.Inputs = []journal.Input{{Role: "hosts", Path: "x/tranco-2024-02-01.csv", SHA256: "2"}}
		}, "", "", "", "list_changed"},
		"another list": {func(r *countedRun) { r.Inputs = []journal.Input{{Role: "hosts", Path: "crux.csv", SHA256: "2"}} },
			"another list of hosts: tranco-#-#-#.csv, then crux.csv", "another list", "another list", "break"},
		"another source": {func(r *countedRun) { r.Source = "warc" }, "another kind of source: network, then warc",
			"another kind", "another kind", "break"},
		"another profile": {func(r *countedRun) {
			r.ProfileFields = map[string]map[string]any{"google": {"size_limit": 2.0}}
		}, "size_limit was 1 and is 2", "size_limit", "", "profile_changed"},
		"without profile": {func(r *countedRun) { r.Profiles = []string{"rfc9309"} }, "run b has no profile google",
			"no profile", "", "profile_changed"},
		"tokens": {func(r *countedRun) { r.Registry.Agents[0].Tokens = []string{"B"} }, `tokens: ["A"], now ["B"]`,
			"A changed", "", "agent_changed"},
		"another agent": {func(r *countedRun) { r.Category["B"] = "x" }, "", "B is new", "", "agent_new"},
		"another folder": {func(r *countedRun) {
			r.Inputs = append(r.Inputs, journal.Input{Role: "bodies", Path: "in/news"})
		}, "", "", "", "list_changed"},
		"named hosts": {func(r *countedRun) {
			r.Inputs = []journal.Input{{Role: "hosts", Path: journal.NamedHosts, SHA256: "2"}}
		},
			"then the hosts given (2)", "another list", "another list", "break"},
		"re-evaluated": {func(r *countedRun) {
			again := []journal.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}}
			r.Inputs, r.Earlier, r.Configuration = again, r.Choices(), nil
		}, "", "", "", ""},
		"a sample re-evaluated": {func(r *countedRun) {
			r.Configuration = map[string]any{"limit": "0", "sample": "0.1"}
			again := []journal.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}}
			r.Inputs, r.Earlier, r.Configuration = again, r.Choices(), map[string]any{"limit": "0", "sample": "1"}
		}, "another --sample: 1, then 0.1", "sample", "sample", "break"},
		"part of another list re-evaluated": {func(r *countedRun) {
			r.Inputs = []journal.Input{{Role: "hosts", Path: "crux.csv", SHA256: "2"}}
			again := []journal.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}, {Role: "hosts", Path: "news.txt"}}
			r.Earlier, r.Inputs = r.Choices(), again
		}, "another list of hosts: tranco-#-#-#.csv, then news.txt of crux.csv", "another list", "another list", "break"},
		"unknown hosts re-evaluated": {func(r *countedRun) { r.Inputs = []journal.Input{{Role: "run"}} },
			"run b does not say which hosts", "not say", "not say", "break"},
		"a part of a limit re-evaluated": {func(r *countedRun) {
			r.Configuration = map[string]any{"limit": "7"}
			again := []journal.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}}
			r.Earlier, r.Inputs, r.Configuration = r.Choices(), again, map[string]any{"limit": "9"}
		}, "another --limit: 0, then 7", "limit", "limit", "break"},
		"another field": {func(r *countedRun) {
			r.ProfileFields = map[string]map[string]any{"google": {"size_limit": 1.0, "new": true}}
		}, "new was null and is true", "new was", "", "profile_changed"},
		"another limit": {func(r *countedRun) { r.Configuration = map[string]any{"limit": "7"} },
			"another --limit: 0, then 7", "limit", "limit", "break"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := base(), base()
			after.Plan.Run = "b"
			c.change(after)
			n := newNeighbours(before, after, []string{"google"})
			for _, x := range []struct {
				k    id
				want string
			}{{agent, c.agent}, {category, c.category}, {status, c.other}} {
				if got := n.whyNot(x.k, All); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
					t.Errorf("%s: %q, want %q", x.k.metric, got, x.want)
				}
			}
			if got := n.whyNot(id{metric: "entered"}, All); (got == "") != (c.other == "") {
				t.Errorf("entered: %q, want %q", got, c.other)
			}
			marks := n.marks([]string{"google"})
			if (len(marks) > 0) != (c.mark != "") || c.mark != "" && marks[0].Kind != c.mark {
				t.Errorf("marks are %+v, want %s", marks, c.mark)
			}
		})
	}
}

// An outage lowers shares of hosts, though no policy changed.
func TestOutagesAreNamed(t *testing.T) {
	dir := t.TempDir()
	for at, down := range []int{0, 1, 10, 10, 0} {
		m := make(madeUp)
		for h := range 100 {
			class := "disallow_all"
			if h < down {
				class = "unknown"
			}
			m[fmt.Sprintf("h.d%d.com", h)] = map[string]string{"A": class, "B": class, "C": class}
		}
		m.write(t, dir, fmt.Sprintf("r%d", at), at)
	}
	s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"r0", "r1", "r2", "r3", "r4"}})
	must(t, err)
	var marks []string
	for _, m := range s.Marks {
		if m.Kind == "outage" {
			marks = append(marks, m.Run+" "+m.Text)
		}
	}
	if diff := cmp.Diff([]string{
		"r2 an outage: the policies of 10.0% of the hosts are unknown, of 1.0% in a neighbouring run",
		"r3 an outage: the policies of 10.0% of the hosts are unknown, of 0.0% in a neighbouring run",
	}, marks); diff != "" {
		t.Errorf("marks of outages (-want +got):\n%s", diff)
	}
	var outages []string
	for _, text := range s.Warnings {
		if strings.Contains(text, "unknown") {
			outages = append(outages, text)
		}
	}
	if len(outages) != 2 || !strings.HasPrefix(outages[0],
		"the policies of 10.0% of the hosts are unknown in run r2, and of 1.0% in run r1: ") {
		t.Errorf("outages: %q", outages)
	}
}

// Strata of two lists of ranks cannot be compared, and all hosts can.
func TestAnotherListOfRanks(t *testing.T) {
	run := func(ranks string) *countedRun {
		return &countedRun{Run: &past.Run{
			Manifest: &journal.Manifest{Plan: journal.Plan{Run: ranks, Inputs: []journal.Input{{Role: "hosts", Path: "hosts"},
				{Role: "ranks", Path: ranks}}}},
			Registry: &past.Registry{}, Source: "network",
		}}
	}
	n := newNeighbours(run("tranco.csv"), run("crux.csv"), nil)
	if why := n.whyNot(id{metric: "status"}, All); why != "" {
		t.Errorf("all hosts: %s", why)
	}
	if why := n.whyNot(id{metric: "status"}, "1-1000"); why != "another list of ranks: tranco.csv, then crux.csv" {
		t.Errorf("a stratum: %q", why)
	}
}

// An origin that a list names itself, and to which a host of the list falls back, is
// one host of the panel.
func TestAnOriginThatIsNamedTwice(t *testing.T) {
	dir := t.TempDir()
	for at, run := range []string{"a", "b"} {
		p := journal.Plan{Run: run, Started: time.Date(2024, time.Month(1+at), 1, 0, 0, 0, 0, time.UTC),
			Tables: []string{"fetches", "policies", "summary"}, Profiles: []string{"google"}}
		r, err := sink.Create(dir, p)
		must(t, err)
		s, err := r.Segment(0)
		must(t, err)
		counts := summary.New(agentsOfTest[:1], []string{"google"})
		for seq, origin := range []string{"http://b.example", "http://b.example", "https://c.example", "http://c.example"} {
			_, host, _ := strings.Cut(origin, "://")
			f := schema.Fetch{Seq: int64(seq), Host: host, Origin: origin, Port: 80, Outcome: "conditional_allow",
				Reason: "success"}
			if seq == 0 {
				f.FallbackErrorClass = new("timeout")
			}
			must(t, s.Fetches.Write(f))
			must(t, s.Policies.Write(schema.Policy{Seq: f.Seq, Host: host, Origin: origin, Agent: "A", Category: "ai-training",
				Profile: "google", Outcome: f.Outcome, Class: "partial"}))
			counts.Add("targets", "unranked", "")
			counts.Add("source", "unranked", "network")
			counts.AddProfile("outcome", "unranked", 0, f.Outcome)
			counts.Of("unranked", 0)[0].Policies[1]++
			s.Targets++
		}
		must(t, s.Commit())
		must(t, r.Complete(sink.Completion{Finished: p.Started, Tally: journal.Tally{Targets: 4}, Totals: sink.Totals{
			Counts: counts.Rows()}}))
	}
	for _, clustered := range []bool{false, true} {
		s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"a", "b"}, Panel: true,
			Clustered: clustered})
		must(t, err)
		checked := 0
		for _, p := range s.Points {
			if p.Metric != "policy" || schema.OrZero(p.Key) != "partial" || p.Stratum != All || p.Base != "hosts" {
				continue
			}
			checked++
			if want := map[string]int64{All: 4, "panel": 3, "others": 0}[p.Population]; p.Count != want ||
				p.Denominator != want {
				t.Errorf("%s: %d of %d hosts, want %d", p.Population, p.Count, p.Denominator, want)
			}
		}
		if checked != 4 || s.Panel.Hosts != 2 { // there are no others
			t.Errorf("%d points are checked; the panel has %d hosts", checked, s.Panel.Hosts)
		}
	}
}

// Other templates, other labels about use and other training crawlers each break the
// figures that depend on them, and no others.
func TestWhatBreaksFiguresOfWords(t *testing.T) {
	base := func() *countedRun {
		return &countedRun{Run: &past.Run{
			Manifest: &journal.Manifest{Plan: journal.Plan{Run: "a", Profiles: []string{"google"},
				ProfileFields: map[string]map[string]any{"google": {}}, Inputs: []journal.Input{
					{Role: "uses", Path: "built-in uses.yaml", SHA256: "1"}, {Role: "templates", Path: "built-in templates.yaml",
						SHA256: "1"},
				}, Configuration: map[string]any{}}},
			Registry: &past.Registry{Known: true}, Category: map[string]string{"A": "ai-training"}, Source: "network",
		}}
	}
	const labels, templates, training = "refusal content-signal, refusal content-usage, refusal any, preference x",
		"template x, policy_template x", "refusal crawler, refusal token, refusal any"
	for name, c := range map[string]struct {
		change   func(*countedRun)
		breaks   string
		sentence string
	}{
		"nothing": {func(*countedRun) {}, "", ""},
		"own templates": {func(r *countedRun) {
			r.Inputs = append(r.Inputs, journal.Input{Role: "templates", SHA256: "2"})
		}, templates, "the runs know other templates"},
		"other labels": {func(r *countedRun) { r.Inputs[0].SHA256 = "2" }, labels, "the runs know other labels about use"},
		"own labels": {func(r *countedRun) { r.Configuration["uses"] = []any{"x"} }, labels,
			"the runs have labels about use of their own, and other ones"},
		"older run": {func(r *countedRun) { r.Inputs, r.ToolVersion = nil, "0.1" }, labels + ", " + templates,
			"the runs know other"},
		"training agent": {func(r *countedRun) { r.Category["B"] = "ai-training" }, training, "B "},
	} {
		before, after := base(), base()
		after.Plan.Run = "b"
		c.change(after)
		n := newNeighbours(before, after, []string{"google"})
		for _, figure := range strings.Split("refusal crawler, refusal token, refusal content-signal, refusal "+
			"content-usage, refusal any, preference x, template x, policy_template x, signal x", ", ") {
			metric, key, _ := strings.Cut(figure, " ")
			why := n.whyNot(id{metric: metric, key: key}, All)
			if breaks := strings.Contains(", "+c.breaks+", ", ", "+figure+", "); breaks != (why != "") || breaks &&
				!strings.Contains(why, c.sentence) {
				t.Errorf("%s: %s: %q", name, figure, why)
			}
		}
		if marked := strings.Contains(fmt.Sprint(n.marks(nil)), c.sentence); !marked {
			t.Errorf("%s: no mark says so: %v", name, n.marks(nil))
		}
	}
}
