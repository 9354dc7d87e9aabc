package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/publish"
)

const reproduceHelp = `Checks a data set of robocensus publish and makes its tables again. It compares all
files in FOLDER with checksums.sha256. Then it judges the answers in the table fetches
again, with the bodies, agents, URL samples and profile fields of the data set, in a
temporary folder, and says of each table whether it has the same rows. It leaves out
the table changes, which robocensus diff makes, and profiles other than the first if
they need the memory of earlier runs (--state). It asks nobody.

If the data set has no table bodies, give them with --bodies: a folder or a tar of the
files. A body is found by its digest; if none has it, the file named by the host
stands for it (example.com, or example.com_8443 for a port), and the tables show what
that changes. A data set whose hosts are hashes cannot be judged again.

Exit codes: 0 the same, 1 different, 64 usage, 65 damaged folder or a body is missing,
74 I/O, 130 interrupted.`

const reproduceExamples = `  robocensus reproduce dataset
  robocensus reproduce dataset --bodies bodies.tar`

func reproduceCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "reproduce FOLDER [--bodies DIR|TAR]", Short: "Check a data set, and make its tables again", Long: reproduceHelp, Example: reproduceExamples,
	}
	bodies := c.Flags().String("bodies", "", "folder or tar (`DIR|TAR`) of the bodies, if the data set has none")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("FOLDER is missing: give the folder of the data set")
		case 1:
		default:
			return usagef("unexpected argument %q", args[1])
		}
		err := reproduce(c.Context(), args[0], *bodies, c.OutOrStdout())
		if c.Context().Err() != nil {
			return errInterrupted
		}
		return err
	}
	return c
}

func reproduce(ctx context.Context, folder, bodies string, stdout io.Writer) error {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usagef("%s is no folder: give that of a data set", folder)
	}
	if bodies != "" {
		if _, err := os.Stat(bodies); errors.Is(err, fs.ErrNotExist) { // before all files are read
			return &userfile.Error{Path: bodies, Err: errors.New("does not exist: give --bodies a folder or a tar")}
		}
	}
	p, err := publish.Check(ctx, folder)
	if err != nil {
		return err
	}
	if p.HostsHashed {
		return usagef("the hosts of %s are hashes: it cannot be judged again; its files match their checksums", folder)
	}
	if column := p.NeededColumn(); column != "" {
		return usagef("%s has no column %s: it cannot be judged again; its files match their checksums", folder, column)
	}
	fmt.Fprintf(stdout, "all files match %s\n", "checksums.sha256")
	scratch, err := os.MkdirTemp("", "robocensus-reproduce-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	differ := 0
	for i, r := range p.Runs {
		n, err := reproduceRun(ctx, p, r, folder, bodies, filepath.Join(scratch, fmt.Sprint(i)), stdout)
		if err != nil {
			return fmt.Errorf("run %s: %w", r.Run, err)
		}
		differ += n
	}
	if differ > 0 {
		fmt.Fprintf(stdout, "%s: %s\n", paint(stdout, red, "different"), count(differ, "table"))
		return exitProblems
	}
	fmt.Fprintln(stdout, paint(stdout, green, "the same"))
	return nil
}

// reproduceRun judges a run again and returns the number of tables that differ.
func reproduceRun(ctx context.Context, p *publish.Provenance, r *publish.Run, folder, bodies, scratch string, stdout io.Writer) (differ int, err error) {
	m, err := sink.ReadManifest(ctx, folder, r.Run)
	if err != nil {
		return 0, err
	}
	profiles, err := recordedProfiles(r)
	if err != nil {
		return 0, err
	}
	switch {
	case m.SchemaVersion != sink.SchemaVersion:
		return 0, usagef("the tables have schema version %d, and this program writes version %d: use robocensus %s", m.SchemaVersion, sink.SchemaVersion, m.ToolVersion)
	case r.Agents == "" || r.URLSamples == "":
		return 0, usagef("the data set lacks the agents or the URL samples of the run")
	case !slices.Contains(m.Tables, "fetches"):
		return 0, usagef("the data set has no table fetches")
	case bodies == "" && !slices.Contains(m.Tables, "bodies"):
		return 0, usagef("the data set has no table bodies: give them with --bodies")
	}
	from := folder
	if bodies != "" {
		if from, err = assemble(ctx, folder, bodies, scratch, m, profiles); err != nil {
			return 0, err
		}
	}
	again := filepath.Join(scratch, "again")
	if err := judgeAgain(ctx, r, m, profiles, folder, from, again); err != nil {
		return 0, err
	}
	other, err := sink.ReadManifest(ctx, again, r.Run)
	if err != nil {
		return 0, err
	}
	all, err := p.Compare(ctx, folder, m, again, other)
	for _, c := range all {
		result := "the same, " + count(c.Rows, "row")
		if !c.Same {
			differ++
			result = fmt.Sprintf("different: %s published, %d judged again", count(c.Rows, "row"), c.OtherRows)
		}
		if c.Note != "" {
			result += " (" + c.Note + ")"
		}
		fmt.Fprintf(stdout, "run %s: %s: %s\n", plain(r.Run), plain(c.Table), plain(result))
	}
	return differ, err
}

// recordedProfiles returns the profiles of a run as its provenance has them: those of
// this program may have changed.
func recordedProfiles(r *publish.Run) (map[string]*robots.Profile, error) {
	all := make(map[string]*robots.Profile)
	for _, name := range r.Profiles {
		profile, err := past.Recorded(name, r.ProfileFields[name])
		if err != nil {
			return nil, fmt.Errorf("provenance.json %w: %w", publish.ErrDamaged, err)
		}
		all[name] = profile
	}
	return all, nil
}

// assemble makes a run of the published answers and the bodies given.
func assemble(ctx context.Context, folder, bodies, scratch string, m *sink.Manifest, profiles map[string]*robots.Profile) (string, error) {
	limit := 0
	for _, p := range profiles {
		limit = max(limit, p.SizeLimit)
	}
	unpacked := filepath.Join(scratch, "bodies")
	if err := os.MkdirAll(unpacked, 0o700); err != nil {
		return "", err
	}
	index, err := publish.IndexBodies(ctx, bodies, unpacked, int64(limit))
	if err != nil {
		return "", fmt.Errorf("read the bodies: %w", err)
	}
	from := filepath.Join(scratch, "from")
	return from, index.Assemble(ctx, folder, m, from, int64(limit))
}

// judgeAgain writes the tables of a run from its answers, as run --from-run does.
func judgeAgain(ctx context.Context, r *publish.Run, m *sink.Manifest, profiles map[string]*robots.Profile, folder, from, to string) error {
	f := newRunFlags()
	f.own, f.profiles = profiles, r.Profiles
	for name, value := range map[string]string{
		"from-run": filepath.Join(from, "_runs", r.Run), "out": to, "run": r.Run, "tables": strings.Join(m.Tables, ","),
		"agents": filepath.Join(folder, filepath.FromSlash(r.Agents)), "urls": filepath.Join(folder, filepath.FromSlash(r.URLSamples)),
		"keep-comments": fmt.Sprint(r.Configuration["keep-comments"] == "true" && hasComments(m.Tables)),
	} {
		if err := f.set.Set(name, value); err != nil {
			return err
		}
	}
	config, err := f.build(ctx)
	if err != nil {
		return err
	}
	_, err = pipeline.Run(ctx, config, new(pipeline.Progress))
	return err
}
