package series

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// madeUp is a run of hosts whose policies are drawn at random.
type madeUp map[string]map[string]string // class by host and agent

var agentsOfTest = []summary.Agent{{Name: "A", Category: "ai-training"}, {Name: "B", Category: "ai-training"}, {Name: "C", Category: "search"}}

// write writes a run under google in segments of 40 hosts, with its counters.
func (m madeUp) write(t *testing.T, dir, run string, at int) {
	t.Helper()
	m.writeUnder(t, dir, run, at, "google")
}

// writeUnder writes a run under several profiles, with policies of the first.
func (m madeUp) writeUnder(t *testing.T, dir, run string, at int, profiles ...string) {
	t.Helper()
	p := sink.Plan{Run: run, Started: time.Date(2024, time.Month(1+at), 1, 0, 0, 0, 0, time.UTC), Tables: []string{"fetches", "policies", "summary"}, Profiles: profiles, Inputs: []sink.Input{{Role: "hosts", Path: "hosts", SHA256: "x"}, {Role: "agents", SHA256: "y"}}}
	r, err := sink.Create(dir, p)
	must(t, err)
	defer r.Close()
	counts := summary.New(agentsOfTest, profiles)
	hosts := make([]string, 0, len(m))
	for host := range m {
		hosts = append(hosts, host)
	}
	segments := 0
	for from := 0; from < len(hosts); from += 40 {
		s, err := r.Segment(segments)
		must(t, err)
		segments++
		for i, host := range hosts[from:min(from+40, len(hosts))] {
			seq := int64(from + i)
			domain := host[strings.IndexByte(host, '.')+1:]
			f := sink.Fetch{Seq: seq, Host: host, Origin: "https://" + host, Port: 443, RegisteredDomain: &domain, Outcome: "conditional_allow", Reason: "success", Status: sink.Some(int32(200))}
			if i%3 == 0 {
				f.Rank = sink.Some(seq + 1)
			}
			if m[host]["A"] == "unknown" {
				f.Outcome, f.Reason, f.Status = []string{"full_disallow", "undefined"}[i%2], "network_failure", nil
			}
			stratum := summary.StratumOf(f.Rank)
			counts.Add("targets", stratum, "")
			counts.Add("source", stratum, "network")
			counts.AddProfile("outcome", stratum, 0, f.Outcome)
			must(t, s.Fetches.Write(f))
			for k, a := range agentsOfTest {
				class := m[host][a.Name]
				for n, name := range summary.ClassNames {
					if name == class {
						counts.Of(stratum, 0)[k].Policies[n]++
					}
				}
				must(t, s.Policies.Write(sink.Policy{Seq: seq, Host: host, Rank: f.Rank, Origin: f.Origin, Agent: a.Name, Category: a.Category, Profile: profiles[0], Outcome: f.Outcome, Class: class}))
			}
			s.Targets++
		}
		must(t, s.Commit())
	}
	must(t, r.Complete(sink.Completion{Finished: p.Started, Tally: sink.Tally{Targets: int64(len(hosts))}, Totals: sink.Totals{Counts: counts.Rows()}, Inputs: p.Inputs}))
}

func countOf(m madeUp, is func(host string) bool) (n int64) {
	for host := range m {
		if is(host) {
			n++
		}
	}
	return n
}

// The pass over hosts counts what the hosts say, also if it may keep two vectors or the
// keys of 40 hosts only, and all hosts together as summary does.
func TestHostsAreCounted(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	var runs []madeUp
	var ids []string
	for at := range 3 {
		m := make(madeUp)
		for d := range 90 {
			for h := range 1 + d%3 {
				if r.IntN(8) == 0 {
					continue
				}
				classes := make(map[string]string)
				for _, a := range agentsOfTest {
					classes[a.Name] = []string{"allow_all", "partial", "disallow_all"}[r.IntN(3)]
				}
				if r.IntN(10) == 0 {
					classes["B"] = "unknown"
				}
				if r.IntN(10) == 0 {
					classes = map[string]string{"A": "unknown", "B": "unknown", "C": "unknown"}
				}
				m[fmt.Sprintf("h%d.d%d.com", h, d)] = classes
			}
		}
		runs, ids = append(runs, m), append(ids, fmt.Sprintf("r%d", at))
		m.write(t, dir, ids[at], at)
	}
	inAll := func(host string) bool {
		for _, m := range runs {
			if m[host] == nil {
				return false
			}
		}
		return true
	}
	plain, err := Read(t.Context(), Config{Dir: dir, Runs: ids})
	must(t, err)
	fromSummary := make(map[string]int64)
	label := func(p *sink.Point) string {
		return fmt.Sprint(p.Metric, p.Stratum, word(p.Agent), word(p.Category), word(p.Key), p.Run, p.Base)
	}
	for i := range plain.Points {
		fromSummary[label(&plain.Points[i])] = plain.Points[i].Count
	}
	for name, c := range map[string]Config{
		"panel": {Panel: true}, "few vectors": {Panel: true, vectors: 2}, "few keys": {Panel: true, keys: 40}, "clustered": {Panel: true, Clustered: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.Dir, c.Runs = dir, ids
			s, err := Read(t.Context(), c)
			must(t, err)
			if panel := countOf(runs[0], inAll); s.Panel.Hosts != panel {
				t.Errorf("the panel has %d hosts, want %d", s.Panel.Hosts, panel)
			}
			checked := 0
			for i := range s.Points {
				p := &s.Points[i]
				if p.Population == All && (p.Metric == "policy" || p.Metric == "outcome") {
					if want, ok := fromSummary[label(p)]; !ok || want != p.Count {
						t.Errorf("%s: %d, and %d in summary", label(p), p.Count, want)
					}
				}
				if p.Metric == "entered" || p.Metric == "left" {
					now, other := runs[p.Run[1]-'0'], runs[p.Run[1]-'1']
					if p.Metric == "left" {
						now, other = other, now
					}
					if n := countOf(now, func(host string) bool { return other[host] == nil }); p.Count != n || p.Denominator != int64(len(now)) {
						t.Errorf("run %s: %d of %d hosts %s, want %d of %d", p.Run, p.Count, p.Denominator, p.Metric, n, len(now))
					}
				}
				if p.Stratum != All || p.Base != "hosts" || p.Metric != "policy" && p.Metric != "category" {
					continue
				}
				checked++
				var n, of int64
				for host, classes := range runs[p.Run[1]-'0'] {
					if p.Population != All && inAll(host) != (p.Population == "panel") {
						continue
					}
					of++
					switch {
					case p.Metric == "policy":
						if classes[*p.Agent] == *p.Key {
							n++
						}
					case *p.Category == "ai-training":
						key := "none"
						switch a, b := classes["A"] == "disallow_all", classes["B"] == "disallow_all"; {
						case classes["A"] == "unknown", classes["B"] == "unknown":
							key = "unknown"
						case a && b:
							key = "all"
						case a || b:
							key = "some"
						}
						if key == *p.Key || *p.Key == "any" && (key == "all" || key == "some") {
							n++
						}
					default:
						continue
					}
				}
				if p.Metric == "category" && *p.Category == "search" {
					continue
				}
				if p.Count != n || p.Denominator != of {
					t.Errorf("%s %s: %d of %d, want %d of %d", p.Population, label(p), p.Count, p.Denominator, n, of)
				}
			}
			if want := 3*3*3*4 + 3*3*2*5; checked != want {
				t.Errorf("%d points are checked, want %d", checked, want)
			}
		})
	}
}

// A profile whose fields changed, another kind of list and another edition of one.
func TestWhatBreaksASeries(t *testing.T) {
	base := func() *countedRun {
		return &countedRun{Run: &past.Run{
			Manifest: &sink.Manifest{Plan: sink.Plan{
				Run: "a", Profiles: []string{"google"}, ProfileFields: map[string]map[string]any{"google": {"size_limit": 1.0}},
				Inputs: []sink.Input{{Role: "hosts", Path: "in/tranco-2024-01-01.csv", SHA256: "1"}}, Configuration: map[string]any{"limit": "0"},
			}},
			Registry: &past.Registry{Known: true, Agents: []sink.Agent{{Agent: "A", Category: "x", Tokens: []string{"A"}}}},
			Category: map[string]string{"A": "x"}, Source: "network",
		}}
	}
	agent, category, status := id{metric: "policy", agent: "A", profile: "google"}, id{metric: "category", category: "x", profile: "google"}, id{metric: "status"}
	for name, c := range map[string]struct {
		change                 func(*countedRun)
		agent, category, other string // parts of why, "" for comparable
		mark                   string
	}{
		"nothing": {func(r *countedRun) {}, "", "", "", ""},
		"another edition": {func(r *countedRun) {
			r.Inputs = []sink.Input{{Role: "hosts", Path: "x/tranco-2024-02-01.csv", SHA256: "2"}}
		}, "", "", "", "list_changed"},
		"another list": {func(r *countedRun) { r.Inputs = []sink.Input{{Role: "hosts", Path: "crux.csv", SHA256: "2"}} },
			"another list of hosts: tranco-#-#-#.csv, then crux.csv", "another list", "another list", "break"},
		"another source":  {func(r *countedRun) { r.Source = "warc" }, "another kind of source: network, then warc", "another kind", "another kind", "break"},
		"another profile": {func(r *countedRun) { r.ProfileFields = map[string]map[string]any{"google": {"size_limit": 2.0}} }, "size_limit was 1 and is 2", "size_limit", "", "profile_changed"},
		"without profile": {func(r *countedRun) { r.Profiles = []string{"rfc9309"} }, "run b has no profile google", "no profile", "", "profile_changed"},
		"tokens":          {func(r *countedRun) { r.Registry.Agents[0].Tokens = []string{"B"} }, `tokens: ["A"], now ["B"]`, "A changed", "", "agent_changed"},
		"another agent":   {func(r *countedRun) { r.Category["B"] = "x" }, "", "B is new", "", "agent_new"},
		"another folder":  {func(r *countedRun) { r.Inputs = append(r.Inputs, sink.Input{Role: "bodies", Path: "in/news"}) }, "", "", "", "list_changed"},
		"named hosts": {func(r *countedRun) { r.Inputs = []sink.Input{{Role: "hosts", Path: sink.NamedHosts, SHA256: "2"}} },
			"then the hosts given (2)", "another list", "another list", "break"},
		"re-evaluated": {func(r *countedRun) {
			again := []sink.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}}
			r.Inputs, r.Earlier, r.Configuration = again, r.Choices(), nil
		}, "", "", "", ""},
		"a sample re-evaluated": {func(r *countedRun) {
			r.Configuration = map[string]any{"limit": "0", "sample": "0.1"}
			again := []sink.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}}
			r.Inputs, r.Earlier, r.Configuration = again, r.Choices(), map[string]any{"limit": "0", "sample": "1"}
		}, "another --sample: 1, then 0.1", "sample", "sample", "break"},
		"part of another list re-evaluated": {func(r *countedRun) {
			r.Inputs = []sink.Input{{Role: "hosts", Path: "crux.csv", SHA256: "2"}}
			again := []sink.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}, {Role: "hosts", Path: "news.txt"}}
			r.Earlier, r.Inputs = r.Choices(), again
		}, "another list of hosts: tranco-#-#-#.csv, then news.txt of crux.csv", "another list", "another list", "break"},
		"unknown hosts re-evaluated": {func(r *countedRun) { r.Inputs = []sink.Input{{Role: "run"}} }, "run b does not say which hosts", "not say", "not say", "break"},
		"a part of a limit re-evaluated": {func(r *countedRun) {
			r.Configuration = map[string]any{"limit": "7"}
			again := []sink.Input{{Role: "run", Path: "fetches/run=a/part-0.parquet"}}
			r.Earlier, r.Inputs, r.Configuration = r.Choices(), again, map[string]any{"limit": "9"}
		}, "another --limit: 0, then 7", "limit", "limit", "break"},
		"another field": {func(r *countedRun) {
			r.ProfileFields = map[string]map[string]any{"google": {"size_limit": 1.0, "new": true}}
		}, "new was null and is true", "new was", "", "profile_changed"},
		"another limit": {func(r *countedRun) { r.Configuration = map[string]any{"limit": "7"} }, "another --limit: 0, then 7", "limit", "limit", "break"},
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

// Hashes of domains differ from process to process, and so does the order in which
// domains are summed up.
func TestClustersAreTheSameInEveryProcess(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(2, 2))
	m := make(madeUp)
	for d := range 300 {
		for h := range 1 + d%7 {
			classes := make(map[string]string)
			for _, a := range agentsOfTest {
				classes[a.Name] = []string{"allow_all", "partial", "disallow_all"}[r.IntN(3)]
			}
			m[fmt.Sprintf("h%d.d%d.com", h, d)] = classes
		}
	}
	m.write(t, dir, "a", 0)
	var first []byte
	for range 5 {
		seed = maphash.MakeSeed()
		s, err := Read(t.Context(), Config{Dir: dir, Runs: []string{"a"}, Clustered: true})
		must(t, err)
		var text bytes.Buffer
		must(t, WriteCSV(&text, s.Points))
		if first == nil {
			first = text.Bytes()
		}
		if !bytes.Equal(first, text.Bytes()) {
			t.Fatal("the points differ")
		}
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
	s, err := Read(t.Context(), Config{Dir: dir, Runs: []string{"r0", "r1", "r2", "r3", "r4"}})
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
	if len(outages) != 2 || !strings.HasPrefix(outages[0], "the policies of 10.0% of the hosts are unknown in run r2, and of 1.0% in run r1: ") {
		t.Errorf("outages: %q", outages)
	}
}

// Strata of two lists of ranks cannot be compared, and all hosts can.
func TestAnotherListOfRanks(t *testing.T) {
	run := func(ranks string) *countedRun {
		return &countedRun{Run: &past.Run{
			Manifest: &sink.Manifest{Plan: sink.Plan{Run: ranks, Inputs: []sink.Input{{Role: "hosts", Path: "hosts"}, {Role: "ranks", Path: ranks}}}},
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

// http, https and ftp on their own ports are one host.
func TestKeysOfHosts(t *testing.T) {
	if keyOf("a.example", 80) != keyOf("a.example", 443) || keyOf("a.example", 21) != keyOf("a.example", 443) {
		t.Error("the schemes of a host are several hosts")
	}
	if keyOf("a.example", 80) == keyOf("a.example", 8080) || keyOf("a.example", 80) == keyOf("b.example", 80) {
		t.Error("two hosts are one")
	}
}

// A share is rare if few hosts count in it, and so is one that nearly all do.
func TestRareShares(t *testing.T) {
	p := pointMaker{shared: make(map[string]*string)}
	for share, want := range map[float64]string{0.03: "rare", 0.5: "", 0.97: "rare"} {
		row := new(sink.Point)
		p.estimated(row, estimate{share: share, counted: enoughCounted}, "wilson", enoughHosts, sizes{})
		if got := row.Caution; (got == nil) != (want == "") || got != nil && *got != want {
			t.Errorf("a share of %v: caution %v, want %q", share, got, want)
		}
	}
}

// An origin that a list names itself, and to which a host of the list falls back, is
// one host of the panel.
func TestAnOriginThatIsNamedTwice(t *testing.T) {
	dir := t.TempDir()
	for at, run := range []string{"a", "b"} {
		p := sink.Plan{Run: run, Started: time.Date(2024, time.Month(1+at), 1, 0, 0, 0, 0, time.UTC), Tables: []string{"fetches", "policies", "summary"}, Profiles: []string{"google"}}
		r, err := sink.Create(dir, p)
		must(t, err)
		s, err := r.Segment(0)
		must(t, err)
		counts := summary.New(agentsOfTest[:1], []string{"google"})
		for seq, origin := range []string{"http://b.example", "http://b.example", "https://c.example", "http://c.example"} {
			_, host, _ := strings.Cut(origin, "://")
			f := sink.Fetch{Seq: int64(seq), Host: host, Origin: origin, Port: 80, Outcome: "conditional_allow", Reason: "success"}
			if seq == 0 {
				f.FallbackErrorClass = sink.Some("timeout")
			}
			must(t, s.Fetches.Write(f))
			must(t, s.Policies.Write(sink.Policy{Seq: f.Seq, Host: host, Origin: origin, Agent: "A", Category: "ai-training", Profile: "google", Outcome: f.Outcome, Class: "partial"}))
			counts.Add("targets", "unranked", "")
			counts.Add("source", "unranked", "network")
			counts.AddProfile("outcome", "unranked", 0, f.Outcome)
			counts.Of("unranked", 0)[0].Policies[1]++
			s.Targets++
		}
		must(t, s.Commit())
		must(t, r.Complete(sink.Completion{Finished: p.Started, Tally: sink.Tally{Targets: 4}, Totals: sink.Totals{Counts: counts.Rows()}}))
	}
	for _, clustered := range []bool{false, true} {
		s, err := Read(t.Context(), Config{Dir: dir, Runs: []string{"a", "b"}, Panel: true, Clustered: clustered})
		must(t, err)
		checked := 0
		for _, p := range s.Points {
			if p.Metric != "policy" || word(p.Key) != "partial" || p.Stratum != All || p.Base != "hosts" {
				continue
			}
			checked++
			if want := map[string]int64{All: 4, "panel": 3, "others": 0}[p.Population]; p.Count != want || p.Denominator != want {
				t.Errorf("%s: %d of %d hosts, want %d", p.Population, p.Count, p.Denominator, want)
			}
		}
		if checked != 4 || s.Panel.Hosts != 2 { // there are no others
			t.Errorf("%d points are checked; the panel has %d hosts", checked, s.Panel.Hosts)
		}
	}
}

// A reason or outcome that this program does not know is an error: as one among others it
// would be a figure without a meaning.
func TestAnUnknownReasonIsAnError(t *testing.T) {
	for _, row := range [][2]string{{"conditional_allow", "of_another_version"}, {"of_another_version", "success"}} {
		dir := t.TempDir()
		p := sink.Plan{Run: "a", Started: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Tables: []string{"fetches", "policies", "summary"}, Profiles: []string{"google"}}
		r, err := sink.Create(dir, p)
		must(t, err)
		s, err := r.Segment(0)
		must(t, err)
		must(t, s.Fetches.Write(sink.Fetch{Host: "a.example", Origin: "https://a.example", Port: 443, Outcome: row[0], Reason: row[1]}))
		counts := summary.New(agentsOfTest[:1], []string{"google"})
		counts.Add("targets", "unranked", "")
		counts.Add("source", "unranked", "network")
		s.Targets++
		must(t, s.Commit())
		must(t, r.Complete(sink.Completion{Finished: p.Started, Tally: sink.Tally{Targets: 1}, Totals: sink.Totals{Counts: counts.Rows()}}))
		_, err = Read(t.Context(), Config{Dir: dir, Runs: []string{"a"}, Clustered: true})
		if err == nil || !strings.Contains(err.Error(), `"of_another_version"`) {
			t.Errorf("%v: %v", row, err)
		}
	}
}
