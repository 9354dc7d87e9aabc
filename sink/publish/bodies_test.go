package publish

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Bodies that are given stand for those that rows judge, and for copies that they do not;
// the verdicts come along, for their URLs.
func TestAssembledRun(t *testing.T) {
	dir, given, to := t.TempDir(), t.TempDir(), t.TempDir()
	m := aRun(t, dir, "r", func(segment int, r *rowsOfSegment) {
		if segment == 0 { // of h1 the copy is not judged, of h2 it is
			r.fetches[0].ContentDigest, r.fetches[0].CopyDigest = nil, r.fetches[0].ContentDigest
			r.fetches[1].CopyDigest = r.fetches[1].ContentDigest
		}
	})
	m.Without = []string{"bodies.body", "fetches.server"}
	for i, name := range []string{"h1.example", "h2.example", "h3.example", "h4.example", "h5.example", "h6.example"} {
		text := "Disallow: /" + name + "\n"
		if i < 2 {
			text = "Disallow: /another-" + name + "\n"
		}
		must(t, os.WriteFile(filepath.Join(given, name), []byte(text), 0o666))
	}
	bodies, err := IndexBodies(t.Context(), given, t.TempDir(), 1000)
	must(t, err)
	from := filepath.Join(to, "from")
	must(t, bodies.Assemble(t.Context(), sinktest.Open(t, dir), m, from, 1000))
	run, err := sink.ReadManifest(sinktest.Open(t, from), "r")
	must(t, err)
	if !slices.Equal(run.Tables, []string{"fetches", "bodies", "verdicts"}) || !slices.Equal(run.Without, []string{"fetches.server"}) || len(run.PartsOf("verdicts")) != 2 {
		t.Errorf("tables %v without %v, %d parts of verdicts", run.Tables, run.Without, len(run.PartsOf("verdicts")))
	}
	rows, err := parquet.ReadFile[schema.Fetch](filepath.Join(from, run.PartsOf("fetches")[0].Path))
	must(t, err)
	one, two := schema.ContentDigest([]byte("Disallow: /another-h1.example\n")), schema.ContentDigest([]byte("Disallow: /another-h2.example\n"))
	if rows[0].ContentDigest != nil || *rows[0].CopyDigest != one || *rows[1].ContentDigest != two || *rows[1].CopyDigest != two || rows[2].CopyDigest != nil {
		t.Errorf("the digests of the rows are not those of the bodies: %v", rows)
	}
	all, err := parquet.ReadFile[schema.Body](filepath.Join(from, run.PartsOf("bodies")[0].Path))
	must(t, err)
	if len(all) != 3 || all[0].ContentDigest != one || all[1].ContentDigest != two {
		t.Errorf("bodies: %v", all)
	}
}
