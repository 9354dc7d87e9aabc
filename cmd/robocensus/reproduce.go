package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/run"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

const reproduceHelp = `Checks a data set of robocensus publish and reproduces it. It first compares all files
in FOLDER with checksums.sha256, and ends at the first that is damaged. It then
rewrites the views, queries, descriptions, data sheet and citation from the tables, the
manifests and the words in provenance.json, and names each file that differs, is missing,
or was not written by publish. Last, it re-evaluates the answers in the table fetches with
the bodies, agents, URL samples and profile fields of the data set, in a temporary folder,
and says for each table whether its rows are the same. It asks no host. The rows of one
seq may stand in another order. Values that the statistics of their row group exclude are
damage; the indexes of pages are not looked at.

It takes as they are: what hosts answered and list, the words of its makers, how a run was
configured and on which inputs, its times, lines that were rejected or skipped, tables
that were left out, the program that published it. It does not compare the table changes,
which robocensus diff makes, labels of a list, and what was read of documents of consent.
What else the data set lacks it names, too.

--sample re-evaluates a share of the registered domains, and compares the rows of their
hosts, by the host that the table fetches names for a seq. A host of the sample that
another table names, and fetches does not, makes that table different. It says how many
hosts and rows it did not look at. The tables summary, label_counts, examples and bodies
are then not compared.

If the data set has no table bodies, give them with --bodies: a folder or a tar of the
files. A body is found by its digest; if none has it, the file named by the host
stands for it (example.com, or example.com_8443 for a port), and the tables show what
that changes. A data set whose hosts are hashes cannot be re-evaluated.

Exit codes: 0 the same, 1 different, 64 usage, 65 damaged folder, or a body or a column
that judging needs is missing, 74 I/O, 130 interrupted.`

const reproduceExamples = `  robocensus reproduce dataset
  robocensus reproduce dataset --bodies bodies.tar
  robocensus reproduce dataset --sample 0.01`

func reproduceCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "reproduce FOLDER [--bodies DIR|TAR] [--sample P]", Short: "Check a data set and reproduce it",
		Long: reproduceHelp, Example: reproduceExamples,
	}
	r := &reproduction{version: sink.ToolVersion(cli.ToolVersion)}
	c.Flags().StringVar(&r.bodies, "bodies", "", "folder or tar (`DIR|TAR`) of the bodies, if the data set has none")
	c.Flags().Float64Var(&r.sample, "sample", 1,
		"re-evaluate a share `P` of the registered domains, above 0 and at most 1, by hash, as run takes it")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return cli.Usagef("FOLDER is missing: give the folder of the data set")
		case len(args) > 1:
			return cli.Usagef("unexpected argument %q", args[1])
		case !(r.sample > 0 && r.sample <= 1):
			return cli.Usagef("--sample %g: give a share above 0 and at most 1", r.sample)
		}
		r.folder, r.out = args[0], c.OutOrStdout()
		return r.run(c.Context())
	}
	return c
}

// reproduction makes a data set again, and counts what differs and what it did not look at.
type reproduction struct {
	folder, bodies, version string
	sample                  float64
	out                     io.Writer
	in                      store.Store // the folder

	files, tables  int      // that differ
	unseen         []string // tables, or parts of them, that were not compared
	hosts, skipped int64    // re-evaluated, and not
}

func (r *reproduction) say(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

func (r *reproduction) run(ctx context.Context) error {
	if info, err := os.Stat(r.folder); err != nil || !info.IsDir() {
		return cli.Usagef("%s is not a folder: give that of a data set", remote.Name(r.folder))
	}
	if r.bodies != "" {
		if err := source.Check(ctx, source.Config{Bodies: r.bodies}); err != nil { // before all files are read
			return err
		}
	}
	in, err := store.OpenFolder(r.folder)
	if err != nil {
		return err
	}
	defer in.Close()
	r.in = in
	p, err := publish.Check(ctx, in)
	if err != nil {
		return err
	}
	for _, m := range p.Manifests() {
		if m.SchemaVersion != schema.SchemaVersion {
			return cli.Usagef("run %s: the tables have schema version %d, and this program writes version "+
				"%d: use robocensus %s", m.Run, m.SchemaVersion, schema.SchemaVersion, m.ToolVersion)
		}
	}
	rows := int64(0)
	for _, m := range p.Manifests() {
		for _, part := range m.Parts {
			rows += part.Rows
		}
	}
	cli.LimitMemory(0, cli.ReadingMemory(rows))
	r.say("all files match %s", "checksums.sha256")
	if err := r.rebuild(ctx, p); err != nil {
		return err
	}
	if err := r.unjudgeable(p); err != nil {
		if r.files > 0 {
			r.say("not re-evaluated: %s", visible.Text(err.Error()))
			return r.result()
		}
		return fmt.Errorf("%w; its files match their checksums", err)
	}
	scratch, err := temporaryFolder("robocensus-reproduce-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	for i, m := range p.Manifests() {
		if err := r.judge(ctx, p, p.Runs[i], m, filepath.Join(scratch, fmt.Sprint(i))); err != nil {
			return fmt.Errorf("run %s: %w", m.Run, err)
		}
	}
	return r.result()
}

// rebuild writes the files again that follow from the tables and words.
func (r *reproduction) rebuild(ctx context.Context, p *publish.Set) error {
	found, err := p.Rebuild(ctx)
	if err != nil {
		return err
	}
	r.files = len(found)
	for _, d := range found {
		r.say("%s: %s: %s", visible.Text(d.Name), cli.Paint(r.out, cli.Red, "different"), visible.Text(d.Text))
	}
	switch {
	case r.files == 0:
		r.say("the descriptions, views and queries are those that follow from the tables and words")
	case p.ToolVersion != r.version:
		r.say("robocensus %s published the data set, and this is %s, which may write other texts: use that version",
			visible.Text(p.ToolVersion), visible.Text(r.version))
	}
	r.say("taken as they are: %s", publish.TakenAsItIs)
	return nil
}

// unjudgeable returns why a data set cannot be re-evaluated, nil if it can.
func (r *reproduction) unjudgeable(p *publish.Set) error {
	if p.HostsHashed {
		return cli.Usagef("the hosts of %s are hashes: it cannot be re-evaluated", r.folder)
	}
	if err := journal.Lacking(journal.Needed(p.Without, earlier.TablesNeeded(r.bodies != "")...)); err != nil {
		return &userfile.Error{Path: r.folder, Err: err}
	}
	for i, m := range p.Manifests() {
		why := ""
		switch {
		case p.Runs[i].Lacks():
			why = "the data set lacks the agents, URL samples, labels about use or templates of the run"
		case !slices.Contains(m.Tables, "fetches"):
			why = "the data set has no table fetches"
		case r.bodies == "" && !slices.Contains(m.Tables, "bodies"):
			why = "the data set has no table bodies: give them with --bodies"
		}
		if why != "" {
			return cli.Usagef("run %s: %s: it cannot be re-evaluated", m.Run, why)
		}
	}
	return nil
}

// judge re-evaluates a run and compares its tables.
func (r *reproduction) judge(ctx context.Context, p *publish.Set, about *publish.Run, m *journal.Manifest,
	again string) error {
	profiles, err := recordedProfiles(about)
	if err != nil {
		return err
	}
	for _, profile := range profiles {
		if err := journal.Lacking(journal.NeededByType(p.Without)); err != nil && len(profile.ContentTypes) > 0 {
			return &userfile.Error{Path: r.folder, Err: err}
		}
	}
	if err := r.judgeAgain(ctx, about, m, profiles, again); err != nil {
		return err
	}
	otherIn, other, err := cli.OpenRun(ctx, again, m.Run)
	if err != nil {
		return err
	}
	defer otherIn.Close()
	second := publish.Again{In: otherIn, Run: other, BodiesGiven: r.bodies != ""}
	if r.sample < 1 {
		second.InSample = func(host string) bool { return target.InSample(host, r.sample) }
	}
	all, err := publish.Compare(ctx, p.Without, r.in, m, second)
	if err != nil {
		return err
	}
	for _, c := range all {
		r.tell(m.Run, c)
	}
	if p.Compared(m.Run) {
		r.tell(m.Run, publish.Comparison{Table: "changes", Note: "robocensus diff makes it"})
	}
	return nil
}

// tell says whether a table is the same.
func (r *reproduction) tell(run string, c publish.Comparison) {
	result := "the same, " + count(c.Rows, "row")
	switch {
	case !c.Looked:
		result = "not compared"
		r.leave(c.Table)
	case !c.Same:
		r.tables++
		result = fmt.Sprintf("different: %s published, %d re-evaluated", count(c.Rows, "row"), c.OtherRows)
	}
	if len(c.Left) > 0 {
		r.leave(fmt.Sprintf("%s (%s)", c.Table, strings.Join(c.Left, ", ")))
	}
	if c.Looked && c.Unseen > 0 {
		result += fmt.Sprintf(", and %s not looked at", count(c.Unseen, "row"))
	}
	if c.Table == "fetches" {
		r.hosts, r.skipped = r.hosts+c.Rows, r.skipped+c.Unseen
	}
	if c.Note != "" {
		result += " (" + c.Note + ")"
	}
	r.say("run %s: %s: %s", visible.Text(run), visible.Text(c.Table), visible.Text(result))
}

// leave remembers what was not compared.
func (r *reproduction) leave(what string) {
	if !slices.Contains(r.unseen, what) {
		r.unseen = append(r.unseen, what)
	}
}

// result prints the last line.
func (r *reproduction) result() error {
	var limits []string
	if r.skipped > 0 {
		limits = append(limits, fmt.Sprintf("%s re-evaluated, %d not looked at", count(r.hosts, "host"), r.skipped))
	}
	if len(r.unseen) > 0 {
		limits = append(limits, "not compared: "+visible.Text(strings.Join(r.unseen, ", ")))
	}
	limited := ""
	if len(limits) > 0 {
		limited = ", as far as compared (" + strings.Join(limits, "; ") + ")"
	}
	if r.files+r.tables > 0 {
		r.say("%s: %s, %s%s", cli.Paint(r.out, cli.Red, "different"), count(r.files, "file"),
			count(r.tables, "table"), limited)
		return cli.ExitDifferent
	}
	r.say("%s%s", cli.Paint(r.out, cli.Green, "the same"), limited)
	return nil
}

// recordedProfiles returns the profiles of a run as its provenance has them: those of
// this program may have changed.
func recordedProfiles(r *publish.Run) (map[string]*robots.Profile, error) {
	all := make(map[string]*robots.Profile)
	judges := slices.Sorted(maps.Keys(r.ProfileFields)) // those that judge under own are not profiles of the run
	for _, name := range slices.Concat(r.Profiles, judges) {
		profile, err := past.Recorded(name, r.ProfileFields[name])
		if err != nil {
			return nil, fmt.Errorf("provenance.json %w: %w", publish.ErrDamaged, err)
		}
		all[name] = profile
	}
	return all, nil
}

// recordedLabels returns the labels about use that a run had: those of the program, and
// those of the run's own configuration.
func (r *reproduction) recordedLabels(about *publish.Run) (usage.Vocabulary, error) {
	text, err := r.recorded(about.Uses, configs.Uses)
	if err != nil {
		return nil, err
	}
	labels, err := registry.ParseUses("uses.yaml", text, nil)
	own := about.Configuration["uses"]
	if err != nil || own == nil {
		return labels, err
	}
	if text, err = yaml.Marshal(own); err == nil {
		labels, err = registry.ParseUses("uses", text, labels)
	}
	if err != nil {
		return nil, fmt.Errorf("provenance.json %w: %w", publish.ErrDamaged, err)
	}
	return labels, nil
}

// recorded returns the text of a file of the data set; that of this program for a run
// that did not record it.
func (r *reproduction) recorded(name string, ofProgram []byte) ([]byte, error) {
	if name == "" {
		return ofProgram, nil
	}
	return os.ReadFile(filepath.Join(r.folder, filepath.FromSlash(name)))
}

// judgeAgain writes the tables of a run from its answers, as run --from-run does.
func (r *reproduction) judgeAgain(ctx context.Context, about *publish.Run, m *journal.Manifest,
	profiles map[string]*robots.Profile, to string) error {
	f := run.New()
	f.Own, f.Profiles = profiles, about.Profiles
	var err error
	if f.Labels, err = r.recordedLabels(about); err != nil {
		return err
	}
	if f.BuiltInTemplates, err = r.recorded(about.Templates, configs.Templates); err != nil {
		return err
	}
	if about.OwnTemplates != "" {
		f.Templates = filepath.Join(r.folder, filepath.FromSlash(about.OwnTemplates))
	}
	f.Agents = filepath.Join(r.folder, filepath.FromSlash(about.Agents))
	f.URLs = filepath.Join(r.folder, filepath.FromSlash(about.URLSamples))
	c, in := &f.Config, &f.Config.Source
	c.Dir, c.Run, c.Tables = to, m.Run, slices.Clone(m.Tables)
	c.Evaluate.KeepComments = about.Configuration.Text("keep-comments") == "true" && run.HasComments(m.Tables)
	in.FromRun, in.Sample = filepath.Join(r.folder, "_runs", m.Run), r.sample
	config, err := f.Build(ctx)
	if err != nil {
		return err
	}
	config.Source.Bodies = r.bodies
	_, err = pipeline.Run(ctx, config, new(pipeline.Progress))
	return err
}
