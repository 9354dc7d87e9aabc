package pipeline

import (
	"testing"

	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/store"
)

var (
	must         = pipelinetest.Must
	writeFile    = pipelinetest.WriteFile
	warcRecord   = pipelinetest.Record
	warcFields   = pipelinetest.ResponseFields
	warcResponse = pipelinetest.Response
	gzipped      = pipelinetest.Gzip
)

// rowsOf reads a table of a run of one segment.
func rowsOf[T any](t *testing.T, c Config, table string) []T {
	t.Helper()
	return pipelinetest.Rows[T](t, c.Dir, c.Run, table)
}

// in returns a function that creates scratch files in a folder.
func in(t *testing.T, dir string) func() (*store.Scratch, error) {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func() (*store.Scratch, error) { return s.Scratch(".") }
}

func profilesNamed(names ...string) (out []*robots.Profile) {
	for _, name := range names {
		p, _ := robots.ProfileNamed(name)
		out = append(out, p)
	}
	return out
}
