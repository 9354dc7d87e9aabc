package pipeline

import (
	"testing"

	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
	"github.com/robocensus/robocensus/robots"
)

var (
	must         = pipelinetest.Must
	writeFile    = pipelinetest.WriteFile
	warcRecord   = pipelinetest.Record
	warcFields   = pipelinetest.ResponseFields
	warcResponse = pipelinetest.Response
	gzipped      = pipelinetest.Gzip
	in           = pipelinetest.Scratch
)

// rowsOf reads a table of a run.
func rowsOf[T any](t *testing.T, c Config, table string) []T {
	t.Helper()
	return pipelinetest.Rows[T](t, c.Dir, c.Run, table)
}

func profilesNamed(names ...string) (out []*robots.Profile) {
	for _, name := range names {
		p, _ := robots.ProfileNamed(name)
		out = append(out, p)
	}
	return out
}
