package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/robocensus/robocensus/pipeline"
)

const (
	barEvery = 200 * time.Millisecond
	logEvery = 5 * time.Second
)

// show reports progress until stop is called: a bar on a terminal, a line
// every few seconds elsewhere.
func show(mode string, p *pipeline.Progress, stderr io.Writer) (stop func()) {
	if mode == "auto" {
		mode = "log"
		if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
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

// every calls f at an interval until the returned function is called, and
// once more then.
func every(interval time.Duration, f func()) (stop func()) {
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

func showBar(p *pipeline.Progress, stderr io.Writer) (stop func()) {
	var bar *progressbar.ProgressBar
	end := every(barEvery, func() {
		s := p.Snapshot()
		if bar == nil {
			total := s.Total
			if total == 0 {
				total = -1
			}
			bar = progressbar.NewOptions64(total,
				progressbar.OptionSetWriter(stderr), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
				progressbar.OptionSetItsString("hosts"), progressbar.OptionSetWidth(24),
				progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
		}
		bar.Describe(mix(s))
		// Rejected lines count as done: the total is in lines.
		bar.Set64(s.Fetched + s.Rejected)
	})
	return func() {
		end()
		if bar != nil {
			bar.Clear()
		}
	}
}

func showLog(p *pipeline.Progress, stderr io.Writer) (stop func()) {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	began := time.Now()
	last := int64(0)
	return every(logEvery, func() {
		s := p.Snapshot()
		if s.Fetched == last {
			return
		}
		last = s.Fetched
		elapsed := time.Since(began)
		rate := float64(s.Fetched) / elapsed.Seconds()
		args := []any{
			"fetched", s.Fetched, "committed", s.Committed, "rejected", s.Rejected, "rate", fmt.Sprintf("%.0f/s", rate),
			"answered", s.Answered, "client_error", s.ClientError, "other_error", s.OtherError, "unreachable", s.Unreachable,
		}
		if left := s.Total - s.Fetched - s.Rejected; s.Total > 0 && left > 0 && rate > 0 {
			args = append(args, "left", (time.Duration(float64(left)/rate) * time.Second).String())
		}
		log.Info("progress", args...)
	})
}

func mix(s pipeline.Snapshot) string {
	if s.Fetched == 0 {
		return "asking"
	}
	percent := func(n int64) int64 { return (100*n + s.Fetched/2) / s.Fetched }
	return fmt.Sprintf("2xx %d%% · 4xx %d%% · other %d%% · no answer %d%%",
		percent(s.Answered), percent(s.ClientError), percent(s.OtherError), percent(s.Unreachable))
}
