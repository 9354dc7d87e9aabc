package series

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// Intervals of signals allow for hosts that share domains: of many signals that domains draw
// independently, about 95 % have an interval that holds the true share, of the hosts and of
// those with a file. Those of a simple sample hold it far less often.
func TestCoverageOfSignals(t *testing.T) {
	const labels, share, domains, spread = 1500, 0.2, 250, 0.5
	r := rand.New(rand.NewPCG(4, 4))
	dir := t.TempDir()
	p := journal.Plan{Run: "a", Started: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Tables: []string{"fetches",
		"policies", "signals", "lines", "summary"}, Profiles: []string{"google"}}
	run, err := sink.Create(dir, p)
	must(t, err)
	defer run.Close()
	counts := summary.New(agentsOfTest[:1], p.Profiles)
	var seq int64
	s, err := run.Segment(0)
	must(t, err)
	for d := range domains {
		var own [labels]float64
		for k := range own {
			own[k] = beta(r, share*spread, (1-share)*spread)
		}
		domain := fmt.Sprintf("d%d.example", d)
		for range fewHosts(r) {
			f := schema.Fetch{Seq: seq, Host: fmt.Sprintf("h%d.%s", seq, domain), Origin: "https://x", Port: 443,
				RegisteredDomain: &domain, Outcome: "conditional_allow", Reason: "success"}
			if seq%4 > 0 { // every fourth host has no file
				f.ContentDigest = new("x")
				f.IsUTF8 = new(true)
				counts.Add("body_bytes", summary.Unranked, "0")
			}
			counts.Add("targets", summary.Unranked, "")
			must(t, s.Fetches.Write(f))
			for k := range own {
				if f.ContentDigest == nil || r.Float64() >= own[k] {
					continue
				}
				key := fmt.Sprintf("l%d", k)
				counts.Add("signal", summary.Unranked, "content-signal "+key+"=yes")
				for range 1 + k%2 { // a label that comes twice counts once
					must(t, s.Signals.Write(schema.Signal{Seq: seq, Host: f.Host, Origin: f.Origin, Field: "content-signal",
						Key: &key, Value: "yes"}))
				}
			}
			seq++
			s.Targets++
		}
	}
	must(t, s.Commit())
	must(t, run.Complete(sink.Completion{Finished: p.Started, Tally: journal.Tally{Targets: seq}, Totals: sink.Totals{
		Counts: counts.Rows()}}))
	truth := map[string]float64{baseHosts: share * 3 / 4, baseTexts: share}
	for _, clustered := range []bool{false, true} {
		s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"a"}, Strata: []string{All},
			Clustered: clustered})
		must(t, err)
		hit, of := make(map[string]int), make(map[string]int)
		for _, p := range s.Points {
			if p.Metric != "signal" {
				continue
			}
			if want := map[bool]string{false: "wilson", true: "clustered"}[clustered]; *p.Method != want {
				t.Fatalf("%s: the method is %s", *p.Key, *p.Method)
			}
			of[p.Base]++
			if *p.Low <= truth[p.Base] && truth[p.Base] <= *p.High {
				hit[p.Base]++
			}
		}
		for base := range truth {
			coverage := float64(hit[base]) / labels
			t.Logf("clustered %v: %.1f %% of %d intervals hold the true share of %s", clustered, 100*coverage, of[base], base)
			if of[base] != labels || clustered != (coverage > 0.935 && coverage < 0.965) || !clustered && coverage > 0.75 {
				t.Errorf("clustered %v: %.1f %% of %d intervals hold the true share of %s", clustered, 100*coverage, of[base], base)
			}
		}
	}
}

// The pass over hosts counts in the tables what the counters of the run say: every figure
// about contents, in every stratum and of every base.
func TestContentsAreCountedByHost(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	must(t, os.CopyFS(files, os.DirFS("../../testdata/demo/hosts")))
	// A wall has what a file has, and none of it counts.
	must(t, os.WriteFile(filepath.Join(files, "wall.example"),
		[]byte("\ufeff<title>Just a moment...</title>\nUser-agent: *\nDisallow: /*x$\n"+
			"Sitemap: https://wall.example/s.xml\n"), 0o666))
	google, _ := robots.ProfileNamed("google")
	c := pipeline.Config{
		Dir: dir, Run: "a", Tables: schema.TableNames, Source: source.Config{Bodies: files, Schemes: []string{"https"}},
		Evaluate: evaluate.Config{Profiles: []*robots.Profile{google}}, Fetch: client.Config{Timeout: time.Second,
			Limits: fetch.Limits{MaxBody: 1 << 20}, Concurrency: 1, PerAddress: 1, PerDomain: 1},
	}
	var err error
	c.Evaluate.Agents, _, err = registry.ParseAgents("agents.yaml", configs.Agents)
	must(t, err)
	c.Evaluate.Labels, err = registry.ParseUses("uses.yaml", configs.Uses, nil)
	must(t, err)
	templates, err := registry.ParseTemplates("templates.yaml", configs.Templates)
	must(t, err)
	c.Evaluate.Templates = template.New(templates)
	c.Fetch.Challenges, err = registry.ParseChallenges("challenges.yaml", configs.Challenges)
	must(t, err)
	_, err = pipeline.Run(t.Context(), c, new(pipeline.Progress))
	must(t, err)
	walls := 0
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "a")
	must(t, err)
	for _, p := range m.PartsOf("fetches") {
		what := rowio.Selection{Columns: []string{"challenge"}}
		must(t, rowio.Of(t.Context(), sinktest.Open(t, dir), []journal.Part{p}, what, func(batch []schema.Fetch) error {
			for i := range batch {
				if batch[i].Challenge != nil {
					walls++
				}
			}
			return nil
		}))
	}
	if walls != 1 {
		t.Fatalf("%d hosts have a wall", walls)
	}
	type figure struct {
		metric, stratum, agent, category, key, base string
		count, of                                   int64
	}
	counted := make(map[bool]map[figure]bool)
	metrics := make(map[string]int)
	for _, clustered := range []bool{false, true} {
		s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"a"}, Clustered: clustered})
		must(t, err)
		counted[clustered] = make(map[figure]bool)
		for i := range s.Points {
			p := &s.Points[i]
			counted[clustered][figure{p.Metric, p.Stratum, schema.OrZero(p.Agent), schema.OrZero(p.Category),
				schema.OrZero(p.Key), p.Base, p.Count, p.Denominator}] = true
			if _, ok := ofContents[p.Metric]; ok && clustered && *p.Method != "clustered" {
				t.Errorf("%s %s: the method is %s", p.Metric, schema.OrZero(p.Key), *p.Method)
			}
			metrics[p.Metric]++
		}
	}
	for f := range counted[false] {
		if !counted[true][f] {
			t.Errorf("the pass over hosts does not count %+v", f)
		}
	}
	if len(counted[true]) != len(counted[false]) {
		t.Errorf("%d figures by host, and %d of summary", len(counted[true]), len(counted[false]))
	}
	for metric := range ofContents {
		if metrics[metric] == 0 {
			t.Errorf("no file of the demo has a %s", metric)
		}
	}
}
