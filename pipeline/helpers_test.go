package pipeline

import (
	"testing"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/sinktest"
)

var (
	must         = sinktest.Must
	writeFile    = sinktest.WriteFile
	warcRecord   = sinktest.Record
	warcFields   = sinktest.ResponseFields
	warcResponse = sinktest.Response
	gzipped      = sinktest.Gzip
	in           = sinktest.Scratch
)

// rowsOf reads a table of a run.
func rowsOf[T any](t *testing.T, c Config, table string) []T {
	t.Helper()
	return sinktest.Rows[T](t, c.Dir, c.Run, table)
}

func profilesNamed(names ...string) (out []*robots.Profile) {
	for _, name := range names {
		p, _ := robots.ProfileNamed(name)
		out = append(out, p)
	}
	return out
}
