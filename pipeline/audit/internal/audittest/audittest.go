// Package audittest makes the runs that tests of comparisons and expectations share.
package audittest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Config asks a server on loopback for every host.
func Config(t *testing.T, handler http.HandlerFunc, hosts string) pipeline.Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	google, _ := robots.ProfileNamed("google")
	agents, _, err := registry.ParseAgents("agents", []byte("- {name: GPTBot}\n- {name: Googlebot}\n"))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := registry.ParseSamples("urls", []byte("/\n/private\nhttp://h1.example/own\nhttp://nowhere.example/x\n"))
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Config{
		Dir: filepath.Join(t.TempDir(), "out"), Run: "r",
		Source:   source.Config{Hosts: sinktest.WriteFile(t, "hosts", []byte(hosts)), Schemes: []string{"http"}},
		Evaluate: evaluate.Config{Agents: agents, Samples: samples, Profiles: []*robots.Profile{google}},
		Tables:   schema.TableNames,
		Fetch: client.Config{
			UserAgent: "test", Timeout: 20 * time.Second, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 1 << 20},
			Concurrency: 50, PerAddress: 4,
			PerDomain: 50,
			ConnectTo: netip.MustParseAddrPort(server.Listener.Addr().String()),
		},
	}
}

// Hosts returns a list of n hosts.
func Hosts(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "h%d.example\n", i)
	}
	return text.String()
}

// FirstDay is a day for runs.
var FirstDay = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// Down answers as a server that is down.
func Down(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }

// Run writes a run of one segment for each list of rows.
func Run(t *testing.T, dir, id string, tables []string, segments ...[]schema.Fetch) {
	t.Helper()
	PlannedRun(t, dir, id, journal.Plan{Tables: tables}, segments...)
}

// PlannedRun writes a run with what the plan says, of fetches unless it says more.
func PlannedRun(t *testing.T, dir, id string, plan journal.Plan, segments ...[]schema.Fetch) {
	t.Helper()
	plan.Run, plan.Profiles = id, []string{"google"}
	if plan.Tables == nil {
		plan.Tables = []string{"fetches"}
	}
	run, err := sink.Create(dir, plan)
	if err != nil {
		t.Fatal(err)
	}
	seq := int64(0)
	for i, rows := range segments {
		s, err := run.Segment(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			row.Seq = seq
			seq++
			if err := s.Fetches.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		s.Targets = int64(len(rows))
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Complete(sink.Completion{Finished: time.Now(), Inputs: plan.Inputs,
		Tally: journal.Tally{Targets: seq}}); err != nil {
		t.Fatal(err)
	}
}

// Fetch returns a row of fetches on a day.
func Fetch(origin, reason, digest string, day int) schema.Fetch {
	_, host, _ := strings.Cut(origin, "://")
	outcome := map[string]string{"success": "conditional_allow", "client_error": "full_allow",
		"stale_copy": "conditional_allow"}[reason]
	if outcome == "" {
		outcome = "full_disallow"
	}
	return schema.Fetch{
		Host: host, Origin: origin, Outcome: outcome, Reason: reason, ContentDigest: schema.NonZero(digest),
		FetchTime: FirstDay.AddDate(0, 0, day), FinalURL: new(origin + "/robots.txt"),
	}
}

// HostileRules are too many wildcards to be compared.
func HostileRules(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "%s: /*%c*%c*%c*%d\n", []string{"Disallow", "Allow"}[i%2], 'a'+i%7, 'b'+i%11, 'c'+i%5, i)
	}
	return out.String()
}

// StoredRun makes a run of a folder or tar of robots.txt files.
func StoredRun(t *testing.T, dir, id, bodies string, tables string, profiles ...*robots.Profile) {
	t.Helper()
	agents, _, err := registry.ParseAgents("agents",
		[]byte("- {name: RoboTestA, category: search}\n- {name: RoboTestB, category: ai-training}\n- {name: RoboTestC}\n"))
	sinktest.Must(t, err)
	StoredRunOf(t, dir, id, bodies, tables, evaluate.Config{Agents: agents, Profiles: profiles})
}

// StoredRunOf does the same for what a configuration evaluates; readers are the built-in profiles.
func StoredRunOf(t *testing.T, dir, id, bodies, tables string, e evaluate.Config) {
	t.Helper()
	e.Readers = make(map[string]*robots.Profile)
	for _, name := range robots.ProfileNames() {
		e.Readers[name], _ = robots.ProfileNamed(name)
	}
	_, err := pipeline.Run(context.Background(), pipeline.Config{
		Dir: dir, Run: id, Source: source.Config{Bodies: bodies, Schemes: []string{"https"}}, Tables: strings.Fields(tables),
		Evaluate: e, Fetch: client.Config{UserAgent: "test", Timeout: time.Second, Limits: fetch.Limits{MaxRedirects: 5,
			MaxBody: 1 << 20},
			Concurrency: 1, PerAddress: 1, PerDomain: 1},
	}, new(pipeline.Progress))
	sinktest.Must(t, err)
}

// Corpus is the corpus of real files, from a folder beside this one's parent.
const Corpus = "../../../../shared/corpus/robots-real.tar.gz"
