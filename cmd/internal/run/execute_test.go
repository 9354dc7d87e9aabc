package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
)

// The advice to resume appears only if it works: the run has started, and its
// inputs can be read again.
func TestResumingIsAdvisedOnlyIfItWorks(t *testing.T) {
	cutOff, full := fmt.Errorf("fetch: %w", outage.ErrCutOff), errors.New("no space left on device")
	for name, row := range map[string]struct {
		inputs    []journal.Input // nil if the run has not started
		resumable bool
	}{
		"a list":     {[]journal.Input{{Role: "hosts", Path: "hosts", SHA256: "aa"}}, true},
		"an archive": {[]journal.Input{{Role: "warc", Path: "a.warc", EndsSHA256: "aa"}}, true},
		"standard input": {[]journal.Input{{Role: "agents", Path: "agents", SHA256: "aa"}, {Role: "hosts", Path: "-"}},
			false},
		"a pipe": {[]journal.Input{{Role: "warc", Path: "a.warc", EndsSHA256: "aa"},
			{Role: "ranks", Path: "/dev/fd/63"}}, false},
		"nothing yet": {nil, false},
	} {
		c := pipeline.Config{Dir: t.TempDir(), Run: "r", Fetch: client.Config{OutagePatience: time.Minute}}
		if row.inputs != nil {
			run, err := sink.Create(c.Dir, journal.Plan{Run: c.Run, Tables: []string{"fetches"}, Profiles: []string{"google"},
				Inputs: row.inputs})
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for _, cause := range []error{cutOff, full} {
			err := advised(c, cause)
			if !errors.Is(err, cause) || strings.Contains(err.Error(), "--resume") != row.resumable {
				t.Errorf("%s: %v", name, err)
			}
			if errors.Is(err, outage.ErrCutOff) && !row.resumable && !strings.Contains(err.Error(), "start a new run") {
				t.Errorf("%s: %v", name, err)
			}
		}
		stopped := &pipeline.Stopped{Committed: 1, Kept: 2, Resumable: row.resumable}
		if err := interrupted(c, stopped, pipeline.Snapshot{Fetched: 3}); strings.Contains(err.Error(),
			"--resume") != row.resumable || cli.ExitCodeOf(err) != cli.ExitInterrupted {
			t.Errorf("%s: %v", name, err)
		}
	}
}
