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
	var total int64 = -1 // the list is read once before its length is known
	began := time.Now()
	end := every(barEvery, func() {
		s := p.Snapshot()
		if bar == nil {
			bar = progressbar.NewOptions64(total,
				progressbar.OptionSetWriter(stderr), progressbar.OptionSetWidth(10),
				progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
		}
		if s.Total > 0 && s.Total != total {
			total = s.Total
			bar.ChangeMax64(total)
		}
		bar.Describe(mix(s, width(stderr)-barColumns, time.Since(began)))
		bar.Set64(s.Done)
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
		if left := s.Total - s.Done; s.Total > 0 && left > 0 && s.Done > 0 {
			args = append(args, "left", (elapsed * time.Duration(left) / time.Duration(s.Done)).Round(time.Second).String())
		}
		log.Info("progress", args...)
	})
}

// barColumns is what percentage, bar and times take of a line.
const barColumns = 40

// width is that of the terminal, in columns.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// mix says what has come so far, as much of it as there is room for: a line
// that wraps could not be drawn over.
func mix(s pipeline.Snapshot, room int, elapsed time.Duration) string {
	if s.Fetched == 0 {
		return "asking"
	}
	percent := func(n int64) int64 { return (100*n + s.Fetched/2) / s.Fetched }
	text := ""
	for i, part := range []string{
		fmt.Sprintf("%.0f hosts/s", float64(s.Fetched)/elapsed.Seconds()),
		fmt.Sprintf("2xx %d%%", percent(s.Answered)), fmt.Sprintf("4xx %d%%", percent(s.ClientError)),
		fmt.Sprintf("none %d%%", percent(s.Unreachable)), fmt.Sprintf("other %d%%", percent(s.OtherError)),
		fmt.Sprintf("%d hosts", s.Fetched),
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
