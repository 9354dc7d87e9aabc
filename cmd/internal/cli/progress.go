package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink/visible"
)

const (
	BarEvery = 200 * time.Millisecond
	LogEvery = 4 * time.Second // on a busy machine too, a line at least every five
)

// ShowProgress reports progress until stop is called: as a bar on a terminal, otherwise as
// a line every few seconds.
func ShowProgress(mode string, p *pipeline.Progress, stderr io.Writer) (stop func()) {
	if mode == "auto" {
		mode = "log"
		if IsTerminal(stderr) {
			mode = "bar"
		}
	}
	switch mode {
	case "bar":
		return showBar(p, stderr)
	case "log":
		return showLog(p, stderr)
	}
	return func() {}
}

// Every calls f at an interval until the returned function is called, and then once
// more.
func Every(interval time.Duration, f func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f()
			case <-done:
				f()
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// ShowCount writes a line with a count every few seconds until the returned function is called,
// for a command that takes long before it prints anything.
func ShowCount(stderr io.Writer, what string, count func() int64) (stop func()) {
	return ShowLines(stderr, func() []any { return []any{what, count()} })
}

// ShowLines is [ShowCount] for lines that say more.
func ShowLines(stderr io.Writer, says func() []any) (stop func()) {
	out, began := slog.New(slog.NewTextHandler(stderr, nil)), time.Now()
	return Every(LogEvery, func() {
		if time.Since(began) >= LogEvery { // not at the end of a short one
			out.Info("progress", says()...)
		}
	})
}

func showBar(p *pipeline.Progress, stderr io.Writer) (stop func()) {
	b := &barView{out: stderr}
	began := time.Now()
	end := Every(BarEvery, func() { b.draw(p.Snapshot(), time.Since(began)) })
	return func() {
		end()
		b.bar.Clear()
	}
}

// barView draws progress on one line of a terminal.
type barView struct {
	out   io.Writer
	bar   *progressbar.ProgressBar
	total int64
}

func (b *barView) draw(s pipeline.Snapshot, elapsed time.Duration) {
	if b.bar == nil {
		b.total = -1 // the length is unknown until the list was read once
		b.bar = progressbar.NewOptions64(b.total,
			progressbar.OptionSetWriter(b.out), progressbar.OptionSetWidth(10),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			// No spinner: its goroutine would draw too, even after the run.
			progressbar.OptionSetSpinnerChangeInterval(0))
	}
	if s.Total > 0 && s.Total != b.total {
		b.total = s.Total
		b.bar.ChangeMax64(b.total)
	}
	b.bar.Describe(mix(s, width(b.out)-barColumns, elapsed))
	done := s.Done
	if b.total > 0 {
		done = min(done, b.total-1) // a full bar disappears, and there is more to do
	}
	b.bar.Set64(done)
}

func showLog(p *pipeline.Progress, stderr io.Writer) (stop func()) {
	l := &logger{out: slog.New(slog.NewTextHandler(stderr, nil))}
	began := time.Now()
	return Every(LogEvery, func() { l.say(p.Snapshot(), time.Since(began)) })
}

// logger reports progress in lines.
type logger struct {
	out  *slog.Logger
	last pipeline.Snapshot
	at   time.Duration // when last was said
}

// say writes a line, also if no host has answered since the last one, because a silent run
// seems to hang. At the end it does only if there is something new.
func (l *logger) say(s pipeline.Snapshot, elapsed time.Duration) {
	if !s.CutOff.IsZero() {
		l.out.Warn("no host can be reached; waiting, and nothing that fails now is recorded", "since",
			s.CutOff.UTC().Format(time.RFC3339), "fetched", s.Fetched)
		return
	}
	ended := s.Phase == pipeline.Finished || s.Phase == pipeline.Fetching && elapsed-l.at < LogEvery/2
	if ended && s.Fetched == l.last.Fetched {
		return
	}
	l.last, l.at = s, elapsed
	args := []any{
		"fetched", s.Fetched, "written", s.Written, "rejected", s.Rejected, "rate", rate(s, elapsed) + "/s",
		"2xx", s.Answered, "4xx", s.ClientError, "none", s.Unreachable, "other", s.OtherError,
	}
	if s.Outages > 0 {
		args = append(args, "outages", s.Outages)
	}
	if doing := atWork(s); doing != "" {
		args = append(args, "now", doing)
	}
	if left := leftOf(s, elapsed); left > 0 {
		args = append(args, "left", left.Round(time.Second).String())
	}
	l.out.Info("progress", args...)
}

// leftOf estimates how long a run still takes, 0 if nobody knows: to ask, and to write what was
// answered into tables, which may be the slower of the two and ends later.
func leftOf(s pipeline.Snapshot, elapsed time.Duration) time.Duration {
	if s.Phase != pipeline.Fetching && s.Phase != pipeline.Writing || s.Total <= 0 || s.Done <= 0 ||
		s.Fetched <= s.Earlier {
		return 0
	}
	// Of the lines that are done, this process has the share that it has of the hosts.
	done := float64(s.Done) * float64(s.Fetched-s.Earlier) / float64(s.Fetched)
	lines := float64(max(0, s.Total-s.Done))
	if s.Phase == pipeline.Writing {
		lines = 0
	}
	left := float64(elapsed) * lines / done
	if s.Written > s.Earlier {
		hosts := float64(s.Fetched-s.Written) + lines*float64(s.Fetched)/float64(s.Done)
		left = max(left, float64(elapsed)*hosts/float64(s.Written-s.Earlier))
	}
	return time.Duration(left)
}

// atWork names the work after the last answer, "" before it and at the end.
func atWork(s pipeline.Snapshot) string {
	switch s.Phase {
	case pipeline.Writing:
		return fmt.Sprintf("writing tables, %s of %s in them", words.Number(s.Written), words.Count(s.Fetched, "host"))
	case pipeline.SummingUp:
		return "summing up"
	case pipeline.Completing:
		return "writing the manifest"
	}
	return ""
}

// rate returns the number of hosts that this process has fetched in a second.
func rate(s pipeline.Snapshot, elapsed time.Duration) string {
	return fmt.Sprintf("%.0f", float64(s.Fetched-s.Earlier)/elapsed.Seconds())
}

// barColumns is the width of percentage, bar and times.
const barColumns = 40

// width returns the columns of the terminal.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// mix counts the answers so far or, after the last one, names the current work. It
// fits into the line: a line that wraps cannot be redrawn.
func mix(s pipeline.Snapshot, room int, elapsed time.Duration) string {
	if doing := atWork(s); doing != "" && s.CutOff.IsZero() {
		return doing[:min(len(doing), max(room, 0))]
	}
	if !s.CutOff.IsZero() {
		text := "no host can be reached: waiting"
		return text[:min(len(text), max(room, 0))]
	}
	if s.Fetched == 0 {
		return "asking"
	}
	seen := max(1, s.Answered+s.ClientError+s.Unreachable+s.OtherError) // not those in the tables already
	percent := func(n int64) int64 { return (100*n + seen/2) / seen }
	text := ""
	for i, part := range []string{
		rate(s, elapsed) + " hosts/s",
		fmt.Sprintf("2xx %d%%", percent(s.Answered)), fmt.Sprintf("4xx %d%%", percent(s.ClientError)),
		fmt.Sprintf("none %d%%", percent(s.Unreachable)), fmt.Sprintf("other %d%%", percent(s.OtherError)),
		visible.Count(s.Fetched, "host", "hosts"),
	} {
		if i > 0 {
			part = ", " + part
		}
		if len(text)+len(part) > room {
			break
		}
		text += part
	}
	return text
}
