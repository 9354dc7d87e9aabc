package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/verify"
	"github.com/robocensus/robocensus/sink/views"
	"github.com/robocensus/robocensus/sink/visible"
)

const verifyHelp = `Reads all files of RUN in DIR and prints one line for each problem: a plan, manifest
or record that is damaged or contradicts another; a part, rejected.csv,
expectations.csv or comparison that is missing, damaged or not named by a record;
rows or columns that differ from what was written, rows out of order, targets that
are lost or counted twice; values that the statistics of their row group exclude; a body
with another digest than its content_digest. It does not look at the indexes of pages. The
last line is the result; if part of the run is lost, the line before says how to make
the run again.

A views.sql that does not match the runs in DIR is a note and no problem: it holds no
data, and the next run, comparison or prune writes it anew.

The requests and answers of a run (--warc-out) are in a file outside of DIR. With
--warc FILE, verify compares it with what the run wrote, too.

For an unfinished run, verify checks what is committed.
With --json it prints one object

    {"run", "complete", "parts", "rows", "bytes", "problems": [{"path", "kind", "text"}],
     "notes": [{"path", "kind", "text"}]}

Exit codes: 0 whole, 1 whole as far as it is committed, but unfinished (0 with
--incomplete), 64 usage, 65 problems, 74 I/O, 130 interrupted.`

const verifyExamples = `  robocensus verify --out out 20261120T101500Z`

const (
	exitProblems   cli.ExitCode = cli.ExitInput
	exitUnfinished cli.ExitCode = 1
)

func verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "verify --out DIR RUN", Short: "Check the files of a run", Long: verifyHelp, Example: verifyExamples,
		ValidArgsFunction: cli.CompleteRuns(1),
	}
	out := cli.Out(c)
	warc := c.Flags().String("warc", "", "compare `FILE` with what --warc-out of the run wrote")
	var asJSON bool
	cli.JSONVar(c.Flags(), &asJSON, "one object")
	incomplete := cli.Incomplete(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := cli.CheckArguments(c.Context(), *out, args,
			cli.Argument{Name: "RUN", Give: "the run to verify"}); err != nil {
			return err
		}
		if publish.IsDataSet(*out) {
			return cli.Usagef("%s is a data set of robocensus publish: check it with robocensus reproduce, or with "+
				"sha256sum -c checksums.sha256 there", *out)
		}
		run := args[0]
		in, err := cli.OpenOut(c.Context(), *out, &run)
		if err != nil {
			return err
		}
		defer in.Close()
		return verifyRun(c.Context(), in, run, *warc, asJSON, *incomplete, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

func verifyRun(ctx context.Context, in store.Store, run, warc string, asJSON, incomplete bool, stdout,
	stderr io.Writer) error {
	cli.LimitMemory(0, cli.ReadingMemory(0))
	progress, end := verifyBar(stderr)
	v, err := verify.Run(ctx, in, run, progress)
	end()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.NoRun(in, run)
	case err != nil:
		return err
	}
	if warc != "" {
		if v.WARCFile == nil {
			return cli.Usagef("run %s wrote no file of requests and answers: leave out --warc", run)
		}
		digest, err := store.DigestOfFile(ctx, warc)
		if err != nil {
			return err
		}
		if digest != v.WARCFile.Digest {
			v.Problems = append(v.Problems,
				verify.Problem{Path: warc, Kind: "digest", Text: "is not what --warc-out of the run wrote"})
		}
	}
	// The views depend on the files that exist, so a missing part would be
	// reported twice. An incomplete run has not written them.
	notes := []verify.Problem{}
	if v.Complete && !slices.ContainsFunc(v.Problems, func(p verify.Problem) bool { return p.Kind == "file" }) {
		wrong, err := views.Check(in)
		if err != nil {
			return err
		}
		if wrong != "" {
			notes = append(notes, verify.Problem{Path: "views.sql", Kind: "views", Text: wrong})
		}
	}
	if asJSON {
		if err := cli.JSON(stdout, verification{run, v.Complete, v.Parts, v.Rows, v.Bytes,
			append([]verify.Problem{}, v.Problems...), notes}); err != nil {
			return err
		}
	} else {
		for _, n := range notes {
			fmt.Fprintf(stdout, "note: %s %s\n", n.Path, n.Text)
		}
		showVerification(stdout, run, v, warc != "")
	}
	switch {
	case len(v.Problems) > 0:
		return exitProblems
	case !v.Complete && !incomplete:
		return exitUnfinished
	}
	return nil
}

// verification is the output of verify --json.
type verification struct {
	Run      string           `json:"run"`
	Complete bool             `json:"complete"`
	Parts    int              `json:"parts"`
	Rows     int64            `json:"rows"`
	Bytes    int64            `json:"bytes"`
	Problems []verify.Problem `json:"problems"`
	Notes    []verify.Problem `json:"notes"` // what is no damage of the run
}

func showVerification(out io.Writer, run string, v *verify.Result, readWARC bool) {
	for _, p := range v.Problems {
		fmt.Fprintf(out, "%s: %s: %s\n", visible.Text(p.Path), p.Kind, visible.Text(p.Text))
	}
	whole := cli.Paint(out, cli.Green, "whole")
	if n := len(v.Problems); n > 0 {
		whole = cli.Paint(out, cli.Red, count(n, "problem"))
	}
	state := ""
	switch {
	case v.Complete:
	case v.Plan == nil:
		state = "damaged; of what can be read, "
	case v.Damaged:
		state = "unfinished; of what is committed, "
	case !v.Plan.CanBeReadAgain():
		state = "unfinished, and its input cannot be read again; of what is committed, "
	default:
		state = "unfinished, it can be resumed; of what is committed, "
	}
	switch isSharded := v.Plan != nil && v.Plan.Shards > 1; {
	case !v.Damaged:
	case isSharded && !v.Complete:
		fmt.Fprintf(out, "to make a damaged shard anew, remove its record, _runs/%s/segments/NUMBER.json, and start it "+
			"again\n", run)
	case isSharded || v.Plan == nil: // which may have been of shards
		fmt.Fprintln(out, "to make the run anew, give another --run")
	default:
		fmt.Fprintln(out, "to make the run anew, start it with --force-new, or under another --run")
	}
	if f := v.WARCFile; f != nil && !readWARC {
		fmt.Fprintf(out, "not read: the requests and answers in %s, outside of the folder; give the file as --warc\n",
			visible.Text(f.Path))
	}
	fmt.Fprintf(out, "run %s: %s%s, %s, %s: %s\n", run, state, count(v.Parts, "part"), count(v.Rows, "row"),
		count(v.Bytes, "byte"), whole)
}

func count[N int | int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// verifyBar shows the progress of the verification: a bar on a terminal, else a line now and
// then. A large part takes longer than the time between two lines.
func verifyBar(stderr io.Writer) (show func(parts, of int), end func()) {
	var read, all atomic.Int64
	show = func(parts, of int) { read.Store(int64(parts)); all.Store(int64(of)) }
	if !cli.IsTerminal(stderr) {
		return show, cli.ShowLines(stderr, func() []any { return []any{"parts", read.Load(), "of", all.Load()} })
	}
	bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(stderr), progressbar.OptionSetWidth(10),
		progressbar.OptionSetDescription("parts read"), progressbar.OptionShowCount(),
		progressbar.OptionSetSpinnerChangeInterval(0), progressbar.OptionClearOnFinish())
	stop := cli.Every(cli.BarEvery, func() {
		bar.ChangeMax64(all.Load())
		bar.Set64(read.Load())
	})
	return show, func() { stop(); bar.Finish() }
}
