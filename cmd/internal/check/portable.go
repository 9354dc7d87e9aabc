package check

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/sink/visible"
)

// checkPortable shows the lines of a file on which the parsers of crawlers part.
func (f *checkFlags) checkPortable(ctx context.Context, words []string, stdin io.Reader, stdout io.Writer) error {
	if len(words) != 1 || len(f.agents) > 0 || f.urls != "" || f.jsonl || f.Set.Changed("profile") {
		return cli.Usagef("--portable takes a robots.txt file alone: it asks about every crawler that the file names, " +
			"for every parser")
	}
	body, err := f.ReadRobots(ctx, words[0], stdin)
	if err != nil {
		return err
	}
	crawlers, err := f.ownParsers(ctx)
	if err != nil {
		return err
	}
	r := portable.Check(body, crawlers...)
	if f.json {
		if err := cli.JSON(stdout, r); err != nil {
			return err
		}
	} else {
		showPortable(stdout, r)
	}
	switch r.Answer {
	case portable.NotPortable, portable.ParsersAgree:
		return cli.ExitDifferent
	case portable.Undecided:
		return cli.ExitUndefined
	}
	return nil
}

// ownParsers returns the crawlers of the registry whose parser is not google.
func (f *checkFlags) ownParsers(ctx context.Context) (out []portable.Crawler, err error) {
	agents, _, err := f.ReadAgents(ctx)
	if err != nil {
		return nil, err
	}
	readers := f.Readers(nil, agents...)
	for i := range agents {
		a := &agents[i]
		if p := readers[registry.Reader(a)]; a.Kind != registry.KindToken && p != nil && p.Name != robots.DefaultReader {
			out = append(out, portable.Crawler{Agent: registry.Robots(a), Parser: p})
		}
	}
	return out, nil
}

func showPortable(out io.Writer, r *portable.Report) {
	switch r.Answer {
	case portable.NotPortable:
		fmt.Fprintf(out, "NOT PORTABLE  some parser answers %d of %d questions otherwise than google\n", r.Differing,
			r.Questions)
	case portable.Portable:
		fmt.Fprintf(out, "PORTABLE  all parsers answer the %d questions asked as google does, and so do all documents\n",
			r.Questions)
	case portable.ParsersAgree:
		fmt.Fprintf(out, "PARSERS AGREE  every parser reads it alike, answering the %d questions asked as google does; "+
			"documents do not\n", r.Questions)
	default:
		fmt.Fprintf(out, "UNDECIDED  all parsers answer the %d questions asked as google does, and others are not asked\n",
			r.Questions)
	}
	left := func(what string, n int, noun, why string) {
		if n > 0 {
			fmt.Fprintf(out, "  %-18s %s%s\n", what, words.Count(int64(n), noun), why)
		}
	}
	left("not asked about", r.UnaskedAgents, "crawler", " that the file also names: that would take too long")
	left("not asked about", r.UnaskedPaths, "path", " that its rules also name: that would take too long")
	left("not compared", r.Uncompared, "reading", " of a parser on every path: that would take too long")
	left("not compared", r.UncomparedDocuments, "reading", " of a document on every path: that would take too long")
	left("not explained", r.Unexplained, "question", " that some parser answers otherwise: that would take too long")
	if r.Truncated {
		fmt.Fprintf(out, "  %-18s what lies beyond google's size limit\n", "not asked about")
	}
	for _, x := range r.Findings {
		fmt.Fprintf(out, "\n%s\n", linesText(x.Cause, x.Lines))
		fmt.Fprintf(out, "  read otherwise by  %s\n", strings.Join(x.Parsers, ", "))
		switch {
		case x.Rewritten:
			fmt.Fprintf(out, "  instead            %s\n", x.Advice)
		case x.Advice != "":
			fmt.Fprintf(out, "  instead            %s; google would then answer otherwise, so the file is not rewritten so\n",
				x.Advice)
		default:
			fmt.Fprintf(out, "  instead            no way of writing it is read alike by all\n")
		}
		fmt.Fprintf(out, "  for example        %s on %s: google %s, %s %s, with\n", visible.Text(x.Agent),
			visible.Text(asArgument(x.Path)), x.Google, x.Parser, x.Answer)
		for line := range strings.Lines(x.File + string(x.FileB64)) {
			fmt.Fprintf(out, "      %s\n", visible.Text(strings.TrimRight(line, "\r\n")))
		}
	}
	showDocuments(out, r.Documents)
}

// showDocuments shows why documents read a file otherwise.
func showDocuments(out io.Writer, all []portable.Departure) {
	for _, x := range all {
		what := "the file"
		if len(x.Lines) > 0 {
			what, _, _ = strings.Cut(linesText("", x.Lines), ":")
		}
		is := "is"
		if len(x.Lines) > 1 {
			is = "are"
		}
		fmt.Fprintf(out, "\nunder %s, %s %s read otherwise because %s\n", x.Document, what, is, x.Cause)
		if x.Rewritten {
			fmt.Fprintf(out, "  instead            %s\n", x.Advice)
		} else {
			fmt.Fprintf(out, "  instead            no rewriting here makes it agree\n")
		}
		fmt.Fprintf(out, "  for example        %s on %s: google %s, %s %s\n", visible.Text(x.Agent),
			visible.Text(asArgument(x.Path)), x.Google, x.Document, x.Answer)
	}
}

// linesText puts the lines of a cause behind it, the first few of many.
func linesText(cause string, lines []int) string {
	if len(lines) == 0 {
		return cause
	}
	const few = 8
	var texts []string
	for _, n := range lines[:min(len(lines), few)] {
		texts = append(texts, fmt.Sprint(n))
	}
	text := strings.Join(texts, ", ")
	if more := len(lines) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if slices.Equal(lines, lines[:1]) {
		return fmt.Sprintf("line %s: %s", text, cause)
	}
	return fmt.Sprintf("lines %s: %s", text, cause)
}
