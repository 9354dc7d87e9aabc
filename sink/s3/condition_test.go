package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// always is a store that ignores every condition, as s3rver and rclone 1.70 do; inParts
// one that ignores it where an upload in parts is completed, as Ceph 16.2 does; never a
// store as others are.
func always(*http.Request) bool    { return true }
func inParts(r *http.Request) bool { return r.Method == http.MethodPost }
func never(*http.Request) bool     { return false }

func left(t *testing.T, bucket string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(filepath.Join(server.Dir, bucket), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(name, ".sgw") {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// In a store that ignores conditional writes no run of shards begins, and one process
// makes a run with a remark.
func TestAStoreThatIgnoresConditions(t *testing.T) {
	t.Parallel()
	bodies := storedBodies(t)
	c := census(t, bodies)
	c.Dir = bucket(t, "ignoring")
	faulty.ignore("ignoring", always)
	remarks := 0
	c.Unconditional = func() { remarks++ }
	for shard := range shards {
		r, err := attempt(t.Context(), t, c, shard)
		if !errors.Is(err, store.ErrUnconditional) || !strings.Contains(fmt.Sprint(err),
			c.Dir+": the store ignores conditional writes (If-None-Match)") {
			t.Errorf("shard %d: %+v, %v", shard, r, err)
		}
	}
	c.Source.Shard = target.Shard{Count: shards}
	if _, err := pipeline.PlanShards(t.Context(), c, func(int64) { t.Error("the list is read") }); !errors.Is(err,
		store.ErrUnconditional) {
		t.Errorf("plan: %v", err)
	}
	if names := left(t, "ignoring"); len(names) > 0 {
		t.Errorf("left %q", names)
	}
	if remarks > 0 {
		t.Errorf("%d remarks on a run of shards", remarks)
	}
	c.Spool = filepath.Join(t.TempDir(), "spool")
	c.Source.Shard = target.Shard{}
	if _, err := pipeline.Run(t.Context(), c, new(pipeline.Progress)); err != nil || remarks != 1 {
		t.Errorf("one process: %d remarks, %v", remarks, err)
	}
	outcomeOf(t, c.Dir, filepath.Join(server.Dir, "ignoring"))
}

// An object that decides has one writer however long it is, also where the condition
// counts for one request alone.
func TestALongObjectHasOneWriter(t *testing.T) {
	t.Parallel()
	dir := bucket(t, "long")
	faulty.ignore("long", inParts)
	s, err := store.Open(t.Context(), dir)
	must(t, err)
	defer s.Close()
	long := make([]byte, 20<<20)
	for i := range 2 {
		long[0] = byte(i)
		if won, err := s.Put("record.json", long); won != (i == 0) || err != nil {
			t.Errorf("put %d: %v, %v", i, won, err)
		}
	}
}

// There the shards of a crawl with 100,000 archives complete their run.
func TestALongPlanHasOneWriter(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a plan of 19 MB takes seconds; TestALongObjectHasOneWriter has the object alone")
	}
	c := census(t, storedBodies(t))
	c.Dir = bucket(t, "parts")
	faulty.ignore("parts", inParts)
	for i := range 100_000 {
		name := fmt.Sprintf(
			"crawl-data/CC-MAIN-2026-43/segments/%d.%d/robotstxt/CC-MAIN-20261012%06d-20261012%06d-%05d.warc.gz", 1_760_000_000+
				i%100, i%97, i%86_400, i*7%86_400, i)
		c.Inputs = append(c.Inputs, journal.Input{Role: "ranks", Path: name, IdentifiedWhenRead: true})
	}
	won := 0
	for shard := range shards {
		r, err := attempt(t.Context(), t, c, shard)
		must(t, err)
		if r.Won {
			won++
		}
	}
	if outcomeOf(t, c.Dir, filepath.Join(server.Dir, "parts")); won != shards {
		t.Errorf("%d shards won", won)
	}
}

// What a run asks a store for, by kind: of two shards, each a process, and of a shard that
// begins again.
func TestRequestsOfARun(t *testing.T) {
	t.Parallel()
	c := census(t, storedBodies(t))
	c.Dir = bucket(t, "counted")
	script := faulty.ignore("counted", never)
	var got []map[string]int
	for _, shard := range []int{0, 1, 1} {
		_, err := attempt(t.Context(), t, c, shard)
		must(t, err)
		got = append(got, script.requests())
	}
	want := []map[string]int{
		{"DELETE": 1, "GET": 6, "HEAD": 6, "LIST": 2, "PUT": 10}, // of these 5 ask whether the store keeps to conditions
		{"DELETE": 8, "GET": 20, "HEAD": 25, "LIST": 16, "PUT": 11},
		{"GET": 5, "HEAD": 5, "LIST": 13},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}
