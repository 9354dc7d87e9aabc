package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

const publishHelp = `Writes a data set of the RUNs in DIR to a new FOLDER, ready for a repository:

    TABLE/run=ID/part-*.parquet   the tables
    views.sql, queries/           DuckDB views, and the queries behind published figures
    croissant.json                every file with its SHA-256 and every column with type
    datapackage.json              and meaning, in Croissant 1.1 and Data Package 2
    README.md                     what is in it, and how to open it
    CITATION.cff                  how to cite it
    DATASHEET.md                  how, when and from where; what is missing and why; limits;
                                  and questions that only you can answer
    provenance.json               versions, configuration, digests of the inputs, profiles
    _runs/ID/                     manifest, agents and URL samples of each run
    checksums.sha256              for sha256sum -c

Commands that only read, except verify, read FOLDER as they read DIR; diff, plan, prune
and run refuse it as their DIR. What is written depends on the runs and the flags alone:
published twice, the files are the same to the byte. Paths of this machine, the lines
that were rejected, and the values of --connect-to, --resolver, --proxy and --state are
not in it, only whether these flags were given.

--words names a YAML file with the keys title, description, creators, licence,
contact, url, doi, version, date, keywords, publisher and funding; flags win. Creators
and a licence are needed. A creator is a name, or has the keys name, orcid and
affiliation. The date is the day on which the last run was finished unless the file
gives another. The keys motivation, ethics, uses and maintenance answer what the data
sheet asks; a question without an answer stays in it as one:

    title: Crawl policies of news sites
    creators:
      - {name: "Doe, Jane", orcid: 0000-0002-1825-0097, affiliation: Example University}
    licence: CC-BY-4.0
    maintenance: |
      One version a month. Report errors to census@example.org.

--without leaves out tables and columns. --hash-hosts replaces names of hosts by hashes
and leaves out all columns with text that hosts wrote, and the tables bodies and changes.
Anyone who guesses a name can check it against its hash, and ranks and digests of files
may lead to one.

Exit codes: 0 done, 64 usage, 65 bad input, 74 I/O, 130 interrupted.`

const publishExamples = `  robocensus publish --out out latest --to dataset --creator 'Doe, Jane' --licence CC-BY-4.0
  robocensus publish --out out 2026-10 2026-11 --to dataset --words words.yaml --without bodies,fetches.remote_address
  robocensus reproduce dataset`

// publishFlags are the flags of publish.
type publishFlags struct {
	out, to, words          string
	title, licence, contact string
	creators, without       []string
	hashHosts               bool
}

func publishCommand() *cobra.Command {
	f := new(publishFlags)
	c := &cobra.Command{
		Use:   "publish --out DIR RUN... --to FOLDER --creator NAME --licence ID [flags]",
		Short: "Make a data set that can be cited", Long: publishHelp,
		Example: publishExamples, ValidArgsFunction: cli.CompleteRuns(100),
	}
	s := c.Flags()
	cli.OutVar(c, &f.out)
	s.StringVar(&f.to, "to", "", "`FOLDER` to write, new or empty")
	s.StringVar(&f.words, "words", "", "YAML `FILE` of title, creators, licence and so on")
	s.StringVar(&f.title, "title", "", "title (default with the dates of the runs)")
	s.StringArrayVar(&f.creators, "creator", nil,
		"`NAME` of who made it, as in 'Doe, Jane', or of an organisation; repeatable")
	s.StringVar(&f.licence, "licence", "", "SPDX `ID` of a licence for data, such as CC-BY-4.0, or a URL")
	s.StringVar(&f.contact, "contact", "", "address of mail, or a URL")
	s.StringSliceVar(&f.without, "without", nil, "`NAMES` of tables, and of columns as TABLE.COLUMN, to leave out")
	s.BoolVar(&f.hashHosts, "hash-hosts", false, "publish hashes instead of names of hosts")
	c.MarkFlagDirname("to")
	c.MarkFlagFilename("words", "yaml", "yml")
	cli.CompleteList(c, "without", append(publish.TableNames(), publish.ColumnNames()...))
	cli.CompleteFlag(c, "licence", publish.LicenceNames()...)
	c.RunE = func(c *cobra.Command, args []string) error {
		config, err := f.config(c.Context(), args)
		if config.In != nil {
			defer config.In.Close()
		}
		if err != nil {
			return err
		}
		return writeDataSet(c.Context(), config, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// config checks the flags and reads the manifests.
func (f *publishFlags) config(ctx context.Context, runs []string) (c publish.Config, err error) {
	to, err := store.Follow(f.to)
	switch {
	case f.out == "":
		return c, cli.ErrNoOut
	case f.to == "":
		return c, cli.Usagef("--to is missing: give the folder to write")
	case err != nil:
		return c, cli.Usagef("--to %w", err)
	case cli.IsURL(f.to):
		return c, cli.NotHere("to", f.to)
	case cli.IsSameFile(f.to, "."):
		return c, cli.Usagef("--to %s is the working folder: give a new folder", f.to)
	case isAmongTables(to, f.out):
		return c, cli.Usagef("--to %s is where %s has its runs and tables: give another folder", f.to, f.out)
	case dataSetAround(to) != "":
		return c, cli.Usagef("--to %s is in the data set %s, and would break its checksums: give another folder", f.to,
			dataSetAround(to))
	case len(runs) == 0:
		return c, cli.Usagef("RUN is missing: give the runs to publish%s", cli.ThereAre(ctx, f.out))
	}
	known := append(publish.TableNames(), publish.ColumnNames()...)
	for _, name := range f.without {
		if !slices.Contains(known, name) {
			return c, cli.Usagef("--without: no table or column %q%s: give tables, such as %s, or columns, such as "+
				"fetches.remote_address",
				name, flags.Suggest(name, known), strings.Join(publish.TableNames(), ", "))
		}
	}
	c = publish.Config{To: f.to, Without: f.without, HashHosts: f.hashHosts,
		ToolVersion: sink.ToolVersion(cli.ToolVersion)}
	if f.words != "" {
		text, err := cli.ReadInput(ctx, f.words)
		if err != nil {
			return c, err
		}
		if c.Metadata, err = publish.ParseMetadata(remote.Name(f.words), text); err != nil {
			return c, err
		}
	}
	for i, text := range append([]string{f.title, f.licence, f.contact}, f.creators...) {
		if !publish.IsLine(text) {
			return c, cli.Usagef("--%s %q: write it on one line",
				[]string{"title", "licence", "contact", "creator"}[min(i, 3)], text)
		}
	}
	for _, given := range []struct{ flag, word *string }{{&f.title, &c.Metadata.Title},
		{&f.licence, &c.Metadata.Licence}, {&f.contact, &c.Metadata.Contact}} {
		if *given.flag != "" {
			*given.word = *given.flag
		}
	}
	if len(f.creators) > 0 {
		c.Metadata.Creators = f.creators
	}
	var each []*string
	for i := range runs {
		each = append(each, &runs[i])
	}
	if c.In, err = cli.OpenOut(ctx, f.out, each...); err != nil {
		return c, err
	}
	for i, name := range runs {
		if slices.Contains(runs[:i], runs[i]) {
			return c, cli.Usagef("run %s is named twice", runs[i])
		}
		m, err := cli.CompleteRun(c.In, name)
		if err != nil {
			return c, err
		}
		if m.SchemaVersion != schema.SchemaVersion {
			return c, cli.Usagef("run %s has tables of schema version %d, and this program publishes version %d: use the "+
				"version that wrote it (%s)", m.Run, m.SchemaVersion, schema.SchemaVersion, m.ToolVersion)
		}
		c.Runs = append(c.Runs, m)
	}
	return c, nil
}

// isAmongTables reports whether a path leads into a folder of dir that runs are written
// to. A data set there would be taken for a run, and a run could write into it.
func isAmongTables(path, dir string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if name := filepath.Base(path); (name == "_runs" || slices.Contains(publish.TableNames(), name)) &&
			cli.IsSameFile(filepath.Dir(path), dir) {
			return true
		}
	}
	return false
}

// dataSetAround returns the data set that a path leads into, "" if there is none.
func dataSetAround(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for path != filepath.Dir(path) {
		if path = filepath.Dir(path); publish.IsDataSet(path) {
			return path
		}
	}
	return ""
}

func writeDataSet(ctx context.Context, c publish.Config, stdout, stderr io.Writer) error {
	lacking, err := publish.Write(ctx, c)
	switch {
	case errors.Is(err, publish.ErrMetadata), errors.Is(err, publish.ErrSelection), errors.Is(err, store.ErrNotEmpty):
		return cli.UsageError{Err: err}
	case err != nil:
		return err
	}
	for _, in := range lacking {
		fmt.Fprintf(stderr, "robocensus: %s (%s) is not there as a run read it, so reproduce cannot re-evaluate the data "+
			"set: publish where that run was started, with the same file\n", visible.Text(in.Path), in.Role)
	}
	fmt.Fprintf(stdout, "published %s in %s; check it with sha256sum -c checksums.sha256 there\n",
		count(len(c.Runs), "run"), visible.Text(c.To))
	if open := c.Metadata.Open(); len(open) > 0 {
		fmt.Fprintf(stdout, "DATASHEET.md leaves open what only you can answer: %s; --words FILE has the answers\n",
			words.And(open))
	}
	return nil
}
