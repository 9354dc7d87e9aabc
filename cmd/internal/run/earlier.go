package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
	"github.com/robocensus/robocensus/sink/visible"
)

// carryLabels takes over the labels of the run of --from-run, unless flags name others.
func (f *Flags) carryLabels(ctx context.Context) error {
	in := &f.Config.Source
	if in.FromRun == "" || len(in.Label) > 0 || !f.writes("labels", "label_counts") {
		return nil
	}
	kept, lost, err := earlier.LabelsOf(ctx, in.FromRun)
	if in.Labels != "" {
		f.replaced = slices.Concat(kept, lost)
		return err
	}
	in.Carried, f.lost = kept, lost
	return err
}

// writes reports whether the run may write one of some tables: none is given, or one of these.
func (f *Flags) writes(tables ...string) bool {
	return len(f.tables) == 0 || slices.ContainsFunc(f.tables, func(t string) bool { return slices.Contains(tables, t) })
}

// remarkMissed prints what the tables lack of the run of --from-run.
func (f *Flags) remarkMissed(ctx context.Context, c pipeline.Config, stderr io.Writer) {
	if c.Source.FromRun == "" {
		return
	}
	missed, err := earlier.MissedBy(ctx, c.Source.FromRun)
	if err != nil {
		return // it was readable, and its answers are judged
	}
	note := func(format string, args ...any) { fmt.Fprintf(stderr, "note: "+format+"\n", args...) }
	names := func(names []string) string { return visible.Text(strings.Join(names, ", ")) }
	if missed.OwnURLs && f.writes("verdicts", "summary") {
		note("URLs that only some hosts have are not re-evaluated: the earlier run has no verdicts that name them")
	}
	if missed.Pages && f.writes("sitemap_files", "coverage", "summary") {
		note("not carried over: sitemaps of the earlier run, for it does not have the tables sitemap_files and " +
			"urls with all their columns (--keep-urls)")
	}
	if missed.Answers && f.writes("answers", "summary") {
		note("not carried over: answers to identities of the earlier run, for it was published without columns that " +
			"they are re-evaluated from")
	}
	if n := missed.Documents; n > 0 && f.writes("documents", "preferences", "summary") {
		where := ""
		if missed.Evidence != "" {
			where = ": run --warc has them of " + missed.Evidence
		}
		note("not carried over: %s of the earlier run and what is stated there, for no run keeps the bodies of documents%s",
			words.Count(n, "document"), where)
	}
	if !slices.Contains(c.Tables, "bodies") && len(f.tables) == 0 {
		note("not kept: the bodies of the earlier run, so that this one cannot be re-evaluated; --keep-bodies keeps them")
	}
	if len(f.lost) > 0 {
		note("not carried over: labels of the earlier run, for it does not say which hosts have them: %s", names(f.lost))
	}
	if len(f.replaced) > 0 {
		note("not carried over beside --labels: labels of the earlier run; --label NAME takes them too: %s",
			names(f.replaced))
	}
	if len(missed.Columns) > 0 {
		note("the earlier run was published without %s: they are empty, and what is counted by them is counted as absent",
			names(missed.Columns))
	}
}
