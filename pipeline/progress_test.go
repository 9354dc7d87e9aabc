package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

// The phase of a run whose last work fails is the phase that failed: a bar shows it
// while it lasts.
func TestPhasesAfterTheLastAnswer(t *testing.T) {
	for _, row := range []struct {
		obstacle string // a folder in place of a file
		want     Phase
	}{
		{"fetches/run=test/part-0000000000.parquet", Writing},
		{"summary/run=test/part-0000000000.parquet", Completing},
		{"_runs/test/manifest.json", Completing},
		{"nothing", Finished},
	} {
		t.Run(row.obstacle, func(t *testing.T) {
			var c Config
			c = newConfig(t, func(w http.ResponseWriter, r *http.Request) {
				path := filepath.Join(c.Dir, row.obstacle)
				os.Remove(path)
				if err := os.MkdirAll(filepath.Join(path, "x"), 0o777); err != nil {
					t.Error(err)
				}
				fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			}, "h.example\n")
			c.Run, c.Fetch.Retries = "test", 0
			c.Tables = schema.TableNames
			var progress Progress
			_, err := Run(context.Background(), c, &progress)
			if (err == nil) != (row.want == Finished) {
				t.Errorf("the run ends with %v", err)
			}
			if s := progress.Snapshot(); s.Phase != row.want || s.Fetched != 1 {
				t.Errorf("it is at phase %d with %d fetched, want phase %d", s.Phase, s.Fetched, row.want)
			}
		})
	}
}

// Answers are counted by status; an answer that broke off is none with a file.
func TestProgressCountsAnswers(t *testing.T) {
	var p Progress
	answered := func(status int, class answer.ErrorClass) *fetch.Capture {
		return &fetch.Capture{Hops: []answer.Hop{{Status: status}}, Error: class}
	}
	for _, c := range []*fetch.Capture{
		answered(200, ""), answered(204, ""), answered(299, ""), answered(404, ""), answered(499, ""),
		answered(0, answer.ErrorTimeout),
		answered(200, answer.ErrorTruncatedBody), answered(301, answer.ErrorRedirectLoop), answered(500, ""),
		answered(199, ""),
	} {
		p.fetched(c, 2)
	}
	p.found(answered(200, ""), 2)
	s := p.Snapshot()
	got := [...]int64{s.Answered, s.ClientError, s.Unreachable, s.OtherError, s.Fetched, s.Earlier, s.Done}
	if want := [...]int64{4, 2, 1, 4, 11, 1, 22}; got != want {
		t.Errorf("2xx, 4xx, none, other, fetched, earlier and lines are %v, want %v", got, want)
	}
}

// Until the source ends and every answer has arrived, the phase is fetching.
func TestPhaseBeforeTheLastAnswer(t *testing.T) {
	var p Progress
	p.passedOver(2, 2)
	if s := p.Snapshot(); s.Phase != Fetching {
		t.Errorf("phase %d before the source ends", s.Phase)
	}
	p.sourceEnds(3)
	if s := p.Snapshot(); s.Phase != Fetching {
		t.Errorf("phase %d with an answer due", s.Phase)
	}
	p.passedOver(1, 1)
	if s := p.Snapshot(); s.Phase != Writing {
		t.Errorf("phase %d after the last answer", s.Phase)
	}
}
