package series

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
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

var agentsOfTest = []schema.Agent{{Name: "A", Category: "ai-training"}, {Name: "B", Category: "ai-training"},
	{Name: "C", Category: "search"}}

// write writes a run under google in segments of 40 hosts, with its counters.
func (m madeUp) write(t *testing.T, dir, run string, at int) {
	t.Helper()
	m.writeUnder(t, dir, run, at, "google")
}

// writeUnder writes a run under several profiles, with policies of the first.
func (m madeUp) writeUnder(t *testing.T, dir, run string, at int, profiles ...string) {
	t.Helper()
	p := journal.Plan{Run: run, Started: time.Date(2024, time.Month(1+at), 1, 0, 0, 0, 0, time.UTC),
		Tables: []string{"fetches", "policies", "summary"}, Profiles: profiles, Inputs: []journal.Input{
			{Role: "hosts", Path: "hosts", SHA256: "x"}, {Role: "agents", SHA256: "y"}}}
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
			f := schema.Fetch{Seq: seq, Host: host, Origin: "https://" + host, Port: 443, RegisteredDomain: &domain,
				Outcome: "conditional_allow", Reason: "success", Status: new(int32(200))}
			if i%3 == 0 {
				f.Rank = new(seq + 1)
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
				must(t, s.Policies.Write(schema.Policy{Seq: seq, Host: host, Rank: f.Rank, Origin: f.Origin, Agent: a.Name,
					Category: a.Category, Profile: profiles[0], Outcome: f.Outcome, Class: class}))
			}
			s.Targets++
		}
		must(t, s.Commit())
	}
	must(t, r.Complete(sink.Completion{Finished: p.Started, Tally: journal.Tally{Targets: int64(len(hosts))},
		Totals: sink.Totals{Counts: counts.Rows()}, Inputs: p.Inputs}))
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
	plain, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: ids})
	must(t, err)
	fromSummary := make(map[string]int64)
	label := func(p *schema.Point) string {
		return fmt.Sprint(p.Metric, p.Stratum, schema.OrZero(p.Agent), schema.OrZero(p.Category), schema.OrZero(p.Key),
			p.Run, p.Base)
	}
	for i := range plain.Points {
		fromSummary[label(&plain.Points[i])] = plain.Points[i].Count
	}
	for name, c := range map[string]Config{
		"panel": {Panel: true}, "few vectors": {Panel: true, vectors: 2}, "few keys": {Panel: true, keys: 40},
		"clustered": {Panel: true, Clustered: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.In, c.Runs = sinktest.Open(t, dir), ids
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
					if n := countOf(now, func(host string) bool { return other[host] == nil }); p.Count != n ||
						p.Denominator != int64(len(now)) {
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
		s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"a"}, Clustered: true})
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
		row := new(schema.Point)
		p.estimated(row, estimate{share: share, counted: enoughCounted}, "wilson", enoughHosts, sizes{})
		if got := row.Caution; (got == nil) != (want == "") || got != nil && *got != want {
			t.Errorf("a share of %v: caution %v, want %q", share, got, want)
		}
	}
}

// A reason or outcome that this program does not know is an error: as one among others it
// would be a figure without a meaning.
func TestAnUnknownReasonIsAnError(t *testing.T) {
	for _, row := range [][2]string{{"conditional_allow", "of_another_version"}, {"of_another_version", "success"}} {
		dir := t.TempDir()
		p := journal.Plan{Run: "a", Started: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Tables: []string{"fetches",
			"policies", "summary"}, Profiles: []string{"google"}}
		r, err := sink.Create(dir, p)
		must(t, err)
		s, err := r.Segment(0)
		must(t, err)
		must(t, s.Fetches.Write(schema.Fetch{Host: "a.example", Origin: "https://a.example", Port: 443, Outcome: row[0],
			Reason: row[1]}))
		counts := summary.New(agentsOfTest[:1], []string{"google"})
		counts.Add("targets", "unranked", "")
		counts.Add("source", "unranked", "network")
		s.Targets++
		must(t, s.Commit())
		must(t, r.Complete(sink.Completion{Finished: p.Started, Tally: journal.Tally{Targets: 1}, Totals: sink.Totals{
			Counts: counts.Rows()}}))
		_, err = Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"a"}, Clustered: true})
		if err == nil || !strings.Contains(err.Error(), `"of_another_version"`) {
			t.Errorf("%v: %v", row, err)
		}
	}
}
