package source

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
	"github.com/robocensus/robocensus/sink/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	must      = pipelinetest.Must
	writeFile = pipelinetest.WriteFile
	gzipped   = pipelinetest.Gzip
	zstandard = pipelinetest.Zstd
)

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
