package recap

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/report"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// WriteText prints the summary of a run that the run itself printed at its end.
func WriteText(ctx context.Context, in store.Store, run string, incomplete bool, stdout io.Writer) error {
	m, err := cli.RunOf(in, run, incomplete, journal.ReadManifest)
	if err == nil && !slices.Contains(m.Tables, "summary") {
		err = cli.UsageError{Err: fmt.Errorf("%w: run %s has no table summary; choose a run that has it",
			report.ErrNoSummary, run)}
	}
	if err != nil {
		return err
	}
	return ShowRun(ctx, in, m, stdout)
}

// ShowRun prints the figures of a run that has the table summary.
func ShowRun(ctx context.Context, in store.Store, m *journal.Manifest, stdout io.Writer) error {
	counts, err := summary.Read(ctx, in, m)
	if err != nil {
		return err
	}
	rows, targets := make(map[string]int64), counters.Of(counts).Total("targets")
	for _, p := range slices.Concat(m.RunParts, m.Parts) {
		rows[p.Table] += p.Rows
	}
	p := &cli.Text{Out: stdout}
	f := FiguresOf(m.FirstProfile(), targets, counts)
	what := words.Count(targets, "host")
	if slices.ContainsFunc(m.Inputs, journal.Input.HasCaptures) {
		hosts := int64(0)
		if !store.IsURL(in.Path(".")) {
			hosts, _ = series.Hosts(ctx, in, m) // 0 is unknown
		}
		if hosts != targets {
			f.noun, what = "capture", words.Count(targets, "capture")
			if hosts > 0 {
				what += " of " + words.Count(hosts, "host")
			}
		}
	}
	text := fmt.Sprintf("run %s of %s: %s", m.Run, cli.Date(m.Date), what)
	if !m.Complete() {
		text += ", so far"
	}
	if m.Rejected > 0 {
		text += fmt.Sprintf("; %s rejected", words.Number(m.Rejected))
		if there, err := store.Exists(in, "_runs/"+m.Run+"/rejected.csv"); err != nil {
			return err
		} else if there {
			text += ": " + store.Join(in.Path("."), "_runs", m.Run, "rejected.csv")
		}
	}
	p.Line(p.Foreign(text))
	showFigures(p, f, m.Profiles)
	p.Line("\nRows in " + p.Foreign(in.Path(".")))
	showRows(p, m.Tables, rows)
	return nil
}
