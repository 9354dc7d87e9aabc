package pipeline

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A run of shards counts and lists what it rejects and skips as a run without: a line
// without a host and an unused sample once, and the hosts outside of the sample in sum.
func TestShardsRejectAndSkipAsAWhole_NoRace(t *testing.T) {
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "User-agent: *\n") }, list(60)+
		"not a host\nh3.example\n")
	c.Source.Sample = 0.5
	type account struct {
		Targets, Rejected int64
		Skipped           map[string]int64
		List              string
	}
	of := func(dir string) account {
		m, err := journal.ReadManifest(sinktest.Open(t, dir), c.Run)
		must(t, err)
		text, err := os.ReadFile(filepath.Join(dir, "_runs", c.Run, "rejected.csv"))
		must(t, err)
		return account{m.Targets, m.Rejected, m.Skipped, string(text)}
	}
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	whole := of(c.Dir)
	if whole.Skipped["not_sampled"] < 2 || whole.Rejected < 2 {
		t.Fatalf("nothing to compare: %+v", whole)
	}
	for _, shards := range []int{1, 2, 3} {
		c.Dir = filepath.Join(t.TempDir(), "out")
		c.Spool = filepath.Join(c.Dir, "_runs", c.Run, "spool")
		for i := range shards {
			c.Source.Shard = target.Shard{Index: i, Count: shards}
			r, err := Run(t.Context(), c, new(Progress))
			must(t, err)
			if (r.Uncommitted == 0) != (i == shards-1) {
				t.Errorf("shard %d of %d: %d uncommitted", i, shards, r.Uncommitted)
			}
		}
		if diff := cmp.Diff(whole, of(c.Dir)); diff != "" {
			t.Errorf("%d shards (-whole +shards):\n%s", shards, diff)
		}
	}
}
