package s3

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/verify"
)

const shards = 2

// census returns the configuration of a run over a few stored files, some of which are
// rejected.
func census(t testing.TB, bodies string) pipeline.Config {
	t.Helper()
	agents, _, err := registry.ParseAgents("agents", []byte("- {name: GPTBot}\n- {name: Googlebot}\n"))
	must(t, err)
	samples, err := registry.ParseSamples("urls", []byte("/\n/private\nhttp://nowhere.example/x\n"))
	must(t, err)
	google, _ := robots.ProfileNamed("google")
	return pipeline.Config{
		Run: "r", Source: source.Config{Bodies: bodies, Schemes: []string{"https"}},
		Evaluate: evaluate.Config{Agents: agents, Samples: samples, Profiles: []*robots.Profile{google}},
		Tables:   []string{"fetches", "agents", "examples", "summary"},
		Fetch: client.Config{UserAgent: "test", Timeout: time.Second, Limits: fetch.Limits{MaxRedirects: 5,
			MaxBody: 1 << 20}, Concurrency: 4, PerAddress: 4, PerDomain: 4},
	}
}

func storedBodies(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 12 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("h%d.example", i)),
			fmt.Appendf(nil, "User-agent: *\nDisallow: /%d\n", i), 0o666))
	}
	must(t, os.WriteFile(filepath.Join(dir, "no host"), []byte("User-agent: *\n"), 0o666))
	return dir
}

// attempt makes one attempt at a shard, on a machine of its own.
func attempt(ctx context.Context, t testing.TB, c pipeline.Config, shard int) (*pipeline.Result, error) {
	t.Helper()
	spool, err := os.MkdirTemp("", "robocensus-spool-")
	must(t, err)
	defer os.RemoveAll(spool)
	c.Spool = filepath.Join(spool, "spool")
	c.Source.Shard = target.Shard{Index: shard, Count: shards}
	return pipeline.Run(ctx, c, new(pipeline.Progress))
}

// outcome is what must not depend on faults.
type outcome struct {
	Targets, Rejected int64
	Rows              map[string]int64
	Parts             map[string]int
}

// outcomeOf returns the outcome of a run whose files are in the folder dir, and checks
// that no others are there.
func outcomeOf(t *testing.T, url, dir string) outcome {
	t.Helper()
	v, err := verify.Run(t.Context(), sinktest.Open(t, url), "r", func(int, int) {})
	must(t, err)
	if !v.Complete || len(v.Problems) > 0 {
		t.Errorf("complete %v, problems %v", v.Complete, v.Problems)
	}
	m, err := journal.ReadManifest(sinktest.Open(t, url), "r")
	must(t, err)
	o := outcome{m.Targets, m.Rejected, make(map[string]int64), make(map[string]int)}
	named := []string{"views.sql", "_runs/r/plan.json", "_runs/r/manifest.json", "_runs/r/rejected.csv"}
	for _, r := range m.Records {
		named = append(named, fmt.Sprintf("_runs/r/segments/%010d.json", r.Segment))
	}
	for _, p := range slices.Concat(m.Parts, m.RunParts) {
		o.Rows[p.Table] += p.Rows
		o.Parts[p.Table]++
		named = append(named, p.Path)
	}
	slices.Sort(named)
	var found []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".sgw") { // the server's own
			return fs.SkipDir
		}
		if !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			found = append(found, filepath.ToSlash(name))
		}
		return nil
	}))
	slices.Sort(found)
	if diff := cmp.Diff(named, found); diff != "" {
		t.Errorf("files, - named by the manifest, + found:\n%s", diff)
	}
	return o
}

// Whatever an object store does to requests, and whichever process is killed, of three attempts
// at each shard one wins, and the run is the one of an undisturbed folder.
func TestFaultsOfTheStore(t *testing.T) {
	t.Parallel()
	schedules := 200
	if testing.Short() {
		schedules = 6
	}
	c := census(t, storedBodies(t))
	c.Dir = t.TempDir()
	for shard := range shards {
		_, err := attempt(t.Context(), t, c, shard)
		must(t, err)
	}
	want := outcomeOf(t, c.Dir, c.Dir)
	if want.Targets != 12 || want.Rejected == 0 || want.Parts["fetches"] != shards {
		t.Fatalf("undisturbed: %+v", want)
	}
	var mu sync.Mutex
	met := make(map[string]int)
	var failed, lost, won atomic.Int64
	t.Run("schedules", func(t *testing.T) {
		for seed := range schedules {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				name := fmt.Sprintf("schedule-%d", seed)
				c := c
				c.Dir = bucket(t, name) + "/prefix"
				random := rand.New(rand.NewPCG(uint64(seed), 1))
				script := faulty.disturb(name, uint64(seed), 0.03+0.22*random.Float64())
				var all sync.WaitGroup
				var winners, ended [shards]atomic.Int64
				for i := range 3 * shards {
					ctx, kill := context.WithCancel(t.Context())
					delay := time.Duration(random.IntN(300)) * time.Millisecond
					if random.IntN(6) == 0 {
						time.AfterFunc(delay+time.Duration(random.IntN(3000))*time.Millisecond, kill)
					}
					all.Go(func() {
						defer kill()
						time.Sleep(delay)
						r, err := attempt(ctx, t, c, i%shards)
						if err == nil {
							ended[i%shards].Add(1)
						}
						switch {
						case err != nil:
							failed.Add(1)
							t.Logf("attempt %d at shard %d: %v", i/shards, i%shards, err)
						case r.Won:
							winners[i%shards].Add(1)
							won.Add(1)
						default:
							lost.Add(1)
						}
					})
				}
				all.Wait()
				script.end()
				faulty.leave(name)
				// Of those that end well, the last finds both shards committed.
				_, err := os.Stat(filepath.Join(server.Dir, name, "prefix/_runs/r/manifest.json"))
				if err != nil && ended[0].Load() > 0 && ended[1].Load() > 0 {
					t.Errorf("nobody completed the run: %v", err)
				}
				// The scheduler tries again. The second attempt completes the run, if it is not
				// complete yet; the third finds it complete, and sweeps it.
				for _, shard := range []int{0, 1, 1} {
					r, err := attempt(t.Context(), t, c, shard)
					must(t, err)
					if r.Won {
						winners[shard].Add(1)
						won.Add(1)
					}
				}
				for shard := range winners {
					if n := winners[shard].Load(); n > 1 {
						t.Errorf("%d attempts won shard %d", n, shard)
					}
				}
				if diff := cmp.Diff(want, outcomeOf(t, c.Dir, filepath.Join(server.Dir, name, "prefix"))); diff != "" {
					t.Errorf("- undisturbed, + disturbed:\n%s", diff)
				}
				mu.Lock()
				defer mu.Unlock()
				for kind, n := range script.met {
					met[kind] += n
				}
			})
		}
	})
	t.Logf("%d schedules: attempts won %d, lost %d, failed %d; faults %v", schedules, won.Load(), lost.Load(),
		failed.Load(), met)
	if won.Load() == 0 || lost.Load() == 0 || met["lag"] == 0 || met["409"] == 0 || met["lose the answer"] == 0 {
		t.Error("the schedules show nothing")
	}
}
