package s3

import (
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/internal/s3server"
	"github.com/robocensus/robocensus/sink/store"
)

// What holds in one server that keeps to conditions holds in another: MinIO keeps the
// promises of a store, takes an object that decides once, and a run of shards.
func TestMinIO(t *testing.T) {
	if testing.Short() {
		t.Skip("MinIO takes minutes to build the first time")
	}
	minio, err := s3server.StartMinIO("minio", t.TempDir())
	must(t, err)
	t.Cleanup(minio.Stop)
	t.Setenv("AWS_ENDPOINT_URL", minio.URL)
	open := func(t *testing.T, dir string) store.Store {
		s, err := store.Create(t.Context(), dir)
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	url, err := minio.Bucket("census")
	must(t, err)
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			dir := url + "/" + p.name
			p.test(t, open(t, dir), func() store.Store { return open(t, dir) })
		})
	}
	s := open(t, url)
	must(t, store.CheckPut(s, "."))
	long := make([]byte, 20<<20)
	for i := range 2 {
		long[0] = byte(i)
		if won, err := s.Put("record.json", long); won != (i == 0) || err != nil {
			t.Errorf("put %d: %v, %v", i, won, err)
		}
	}
	c := census(t, storedBodies(t))
	c.Dir, c.Spool = url+"/run", filepath.Join(t.TempDir(), "spool")
	for c.Source.Shard = (target.Shard{Count: shards}); c.Source.Shard.Index < shards; c.Source.Shard.Index++ {
		r, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
		must(t, err)
		if !r.Won || (r.Uncommitted == 0) != (c.Source.Shard.Index == shards-1) {
			t.Errorf("shard %d: %+v", c.Source.Shard.Index, r)
		}
	}
}
