package earlier

import (
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// The own URLs of a target are the absolute ones of its origin, those of one agent under
// one profile, wherever parts and batches end.
func TestOwnURLsOfVerdicts(t *testing.T) {
	const a = "http://a.example"
	rows := func(seq int64, urls ...string) (all []schema.Verdict) {
		for _, profile := range []string{"p", "q"} {
			for _, agent := range []string{"A", "B"} {
				for _, url := range urls {
					all = append(all, schema.Verdict{Seq: seq, Profile: profile, Agent: agent, URL: url})
				}
			}
		}
		return all
	}
	e := &Run{in: sinktest.Open(t, t.TempDir())}
	two := rows(2, "/", a+"/x", "HTTP://a.example/listed", a+".elsewhere/", a+"/y?q")
	parts := []journal.Part{
		partOf(t, e.in.Path(""), "verdicts", 0, 3, slices.Concat(rows(1, "/", "/y"), two[:7])),
		partOf(t, e.in.Path(""), "verdicts", 1, 3, slices.Concat(two[7:], rows(3, a+"/of no target"),
			rows(4, a+"/nor this"))),
		partOf(t, e.in.Path(""), "verdicts", 2, 1000, slices.Concat(rows(6, "/y"), rows(7, a+"/z"))),
	}
	urls := e.ownURLs(t.Context(), parts)
	defer urls.Close()
	for _, row := range []struct {
		seq  int64
		want []string
	}{{1, nil}, {2, []string{"/x", "/y?q"}}, {7, []string{"/z"}}, {9, nil}} {
		got, bytes, err := urls.of(row.seq, fetch.Origin{Scheme: "http", Host: "a.example", Port: 80})
		want := 0
		for _, path := range row.want {
			want += target.PathBytes(path)
		}
		if err != nil || !slices.Equal(got, row.want) || bytes != want {
			t.Errorf("target %d: %v of %d bytes, %v; want %v of %d", row.seq, got, bytes, err, row.want, want)
		}
	}

	none := e.ownURLs(t.Context(), []journal.Part{{Table: "verdicts", Path: "gone.parquet"}})
	defer none.Close()
	if _, _, err := none.of(1, fetch.Origin{}); err == nil {
		t.Error("a part that is gone is no error")
	}
	long := a + "/" + strings.Repeat("x", target.MaxPathBytes/8)
	full := partOf(t, e.in.Path(""), "verdicts", 4, 100, rows(1, slices.Repeat([]string{long}, 33)...),
		parquet.SkipPageBounds("url"), parquet.SkipPageStatistics("url"))
	tooMany := e.ownURLs(t.Context(), []journal.Part{full})
	defer tooMany.Close()
	if _, _, err := tooMany.of(1, fetch.Origin{}); err == nil || !strings.Contains(err.Error(), "more than 128 MiB") {
		t.Errorf("the URLs of a target have no bound: %v", err)
	}
}
