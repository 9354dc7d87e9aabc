package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robocensus/robocensus/pipeline"
)

// A resumed run has asked the hosts that it passes over at another time, and does not
// know what they answered.
func TestProgressOfAResumedRun(t *testing.T) {
	s := pipeline.Snapshot{Total: 4000, Done: 3000, Fetched: 3000, Earlier: 2500, Answered: 300, ClientError: 100,
		Unreachable: 100}
	if got, want := mix(s, 80, 5*time.Second), "100 hosts/s, 2xx 60%, 4xx 20%, none 20%, "+
		"other 0%, 3000 hosts"; got != want {
		t.Errorf("%q beside the bar, want %q", got, want)
	}
	var out bytes.Buffer
	l := &logger{out: slog.New(slog.NewTextHandler(&out, nil))}
	if l.say(s, 5*time.Second); !strings.Contains(out.String(), " rate=100/s ") || !strings.HasSuffix(out.String(),
		" left=10s\n") {
		t.Errorf("logged %q, want a rate of 100/s and 10 s for 1,000 hosts", out.String())
	}
}

// The work after the last answer takes a while, and progress names it.
func TestWorkAfterTheLastAnswerIsNamed(t *testing.T) {
	of := func(phase pipeline.Phase, fetched, committed int64) pipeline.Snapshot {
		return pipeline.Snapshot{Phase: phase, Total: 3000, Done: fetched, Fetched: fetched, Written: committed,
			Answered: fetched}
	}
	var out bytes.Buffer
	l := &logger{out: slog.New(slog.NewTextHandler(&out, nil))}
	var line bytes.Buffer
	view := &barView{out: &line}
	for i, step := range []struct {
		snapshot pipeline.Snapshot
		log      string // text of the log line, "" for none
		bar      string // text beside the bar
	}{
		{of(pipeline.Fetching, 0, 0), "", "asking"},
		{of(pipeline.Fetching, 1500, 0), "left=1s", "1500 hosts/s, 2xx 100%"},
		{of(pipeline.Fetching, 1500, 0), "", "750 hosts/s, 2xx 100%"},
		{of(pipeline.Writing, 3000, 0), `now="writing tables, 0 of 3,000 hosts in them"`,
			"writing tables, 0 of 3,000 hosts in them"},
		{of(pipeline.Writing, 3000, 0), `now="writing tables, 0 of 3,000 hosts in them"`,
			"writing tables, 0 of 3,000 hosts in them"},
		{of(pipeline.Writing, 3000, 2048), `written=2048`, "writing tables, 2,048 of 3,000 hosts in them"},
		{of(pipeline.SummingUp, 3000, 3000), `now="summing up"`, "summing up"},
		{of(pipeline.Completing, 3000, 3000), `now="writing the manifest"`, "writing the manifest"},
		{of(pipeline.Finished, 3000, 3000), "", ""},
	} {
		out.Reset()
		elapsed := time.Duration(i) * time.Second
		if l.say(step.snapshot, elapsed); step.log == "" && out.Len() > 0 || !strings.Contains(out.String(), step.log) {
			t.Errorf("step %d logs %q, want %q", i, out.String(), step.log)
		}
		if got := mix(step.snapshot, 80, elapsed); !strings.HasPrefix(got, step.bar) {
			t.Errorf("step %d is %q beside the bar, want %q", i, got, step.bar)
		}
		line.Reset()
		if view.draw(step.snapshot, elapsed); !strings.Contains(line.String(), step.bar[:min(len(step.bar), 80-barColumns)]) {
			t.Errorf("step %d draws %q, want %q", i, line.String(), step.bar)
		}
		if got := mix(step.snapshot, 12, elapsed); len(got) > 12 {
			t.Errorf("step %d: %q is longer than there is room", i, got)
		}
	}
}

// While hosts let us wait, or tables are written before more answers are read, nothing is
// fetched. The log goes on, but a run that ends at once does not say that it has fetched nothing.
func TestARunThatWaitsIsNotSilent(t *testing.T) {
	for took, want := range map[time.Duration]int{LogEvery / 4: 0, 2*LogEvery + LogEvery/4: 2, 3*LogEvery +
		LogEvery*3/4: 4} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			stop := showLog(new(pipeline.Progress), &out)
			time.Sleep(took)
			stop()
			if n := strings.Count(out.String(), "msg=progress fetched=0 "); n != want {
				t.Errorf("%s: %d lines, want %d:\n%s", took, n, want, out.String())
			}
		})
	}
}

// What is left includes the writing: where tables are written more slowly than hosts are
// asked, they say when the run ends.
func TestLeftIncludesTheWriting(t *testing.T) {
	for _, c := range []struct {
		name string
		s    pipeline.Snapshot
		want time.Duration
	}{
		{"nothing is written yet", pipeline.Snapshot{Total: 4000, Done: 1000, Fetched: 1000}, 30 * time.Second},
		{"written as fast as asked", pipeline.Snapshot{Total: 4000, Done: 1000, Fetched: 1000, Written: 1000},
			30 * time.Second},
		{"written half as fast", pipeline.Snapshot{Total: 4000, Done: 1000, Fetched: 1000, Written: 500}, 70 * time.Second},
		{"two lines a host", pipeline.Snapshot{Total: 4000, Done: 1000, Fetched: 500, Written: 500}, 30 * time.Second},
		{"resumed", pipeline.Snapshot{Total: 4000, Done: 2000, Fetched: 2000, Earlier: 1000, Written: 1500},
			50 * time.Second},
		{"after the last answer", pipeline.Snapshot{Phase: pipeline.Writing, Total: 4000, Done: 4000, Fetched: 4000,
			Written: 2000}, 10 * time.Second},
		{"nobody knows", pipeline.Snapshot{Phase: pipeline.Writing, Total: 4000, Done: 4000, Fetched: 4000}, 0},
		{"summing up", pipeline.Snapshot{Phase: pipeline.SummingUp, Total: 4000, Done: 4000, Fetched: 4000, Written: 2000},
			0},
	} {
		if got := leftOf(c.s, 10*time.Second); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
