package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/settings"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

const planHelp = `Plans a run that several processes make together, a shard each: under Kubernetes,
Slurm, AWS Batch, Google Batch, or whatever starts one command per index.

It divides the list of hosts once, so that no process reads all of it, and writes the
plan to DIR/_runs/ID/plan.json with the number of shards, the settings and the
digests of all inputs. Hosts of one registered domain are in one shard, so the limits
per domain hold; archives (--warc) are divided into groups of about equal size. The
memory it takes does not grow with the list, but with its labels, which the list of each
shard has: some 20 bytes a host and label. From some millions of hosts on, shards of
100,000 are worth it: one that fails is made again alone, and others go on.

Then start each process with

    robocensus run --out DIR --run ID [--shard I]

The process takes the source and the settings from the plan. Files such as --agents
must be at the same path, and a --proxy must be given again. The plan does not hold
queries of URLs, so only lists of hosts and of archives can be at signed URLs. A process whose
settings differ from the plan ends with exit code 65, and so does planning in an object
store that ignores conditional writes. The process that commits the last shard
completes the run.

Planning a planned run again changes nothing.

Exit codes: 0 done, 64 usage, 65 bad input or another plan, 74 I/O, 130 interrupted.`

const planExamples = `  robocensus plan --hosts hosts.txt --shards 100 --out out --run 2026-11
  robocensus run --out out --run 2026-11 --shard 7
  robocensus runs --out out`

func PlanCommand() *cobra.Command {
	f := New()
	c := &cobra.Command{
		Use: `plan --hosts FILE --shards N --out DIR --run ID [flags of run]
       robocensus plan ` + f.alternatives(journal.SourceFlags(func(s journal.StoredSource) bool {
			return s.Role != "cdx"
		})) + ` --shards N --out DIR --run ID [flags of run]`,
		Short: "Plan a run of many shards", Long: planHelp, Example: planExamples,
		RunE: func(c *cobra.Command, args []string) error {
			f.setArguments(args)
			f.Config.Source.Planning = true
			ctx := c.Context()
			if err := f.ApplyConfig(ctx); err != nil {
				return err
			}
			for _, name := range settings.NotOf("plan") {
				if c.Flags().Changed(name) {
					return cli.Usagef("--%s does not apply to a plan", name)
				}
			}
			if f.shards <= 1 {
				return cli.Usagef("--shards N is missing or too small: give the number of shards, at least 2")
			}
			if err := f.checkQueries(); err != nil {
				return err
			}
			ctx = f.unguarded(ctx)
			config, err := f.Build(ctx)
			if err != nil {
				return err
			}
			var rows atomic.Int64
			stop := cli.ShowCount(c.ErrOrStderr(), "rows", rows.Load)
			planned, err := pipeline.PlanShards(ctx, config, rows.Store)
			stop()
			if ctx.Err() != nil {
				return cli.ErrInterrupted
			}
			if err != nil {
				return err
			}
			showPlan(c.OutOrStdout(), f, config, planned, rows.Load())
			return nil
		},
	}
	f.AddTo(c)
	for _, name := range append(settings.NotOf("plan"), "progress") {
		c.Flags().Lookup(name).Hidden = true
	}
	return c
}

// checkQueries refuses URLs that a process of the run could not read: the plan does not
// have their queries. A list of hosts is part of the plan, and so are the names in a list
// of archives.
func (f *Flags) checkQueries() (err error) {
	settings, _ := f.settings().Split()
	for name, planned := range settings {
		given := f.Set.Lookup(name)
		if given == nil || name == "hosts" || name == "warc-paths" {
			continue
		}
		values, isList := valuesOf(given)
		if isList && !reflect.DeepEqual(planned, values) || !isList && planned != values[0] {
			err = cli.Usagef("--%s: a plan does not have the query of a URL, which may be a signature: give a file that "+
				"every process can read", name)
		}
	}
	return err
}

func showPlan(out io.Writer, f *Flags, c pipeline.Config, planned bool, rows int64) {
	folder := visible.Text(folderOf(&c))
	if !planned {
		fmt.Fprintf(out, "nothing to do: %s is planned with these settings\n", folder)
		return
	}
	of := ""
	if rows > 0 {
		of = " of " + words.Count(rows, "row")
	}
	fmt.Fprintf(out, "planned %s%s in %s; start each with\n\n  robocensus run --out %s --run %s --shard I\n\n"+
		"with I from 0 to %d, or as the tasks of an array without --shard\n",
		words.Count(int64(f.shards), "shard"), of, folder, visible.Text(f.Config.Dir), visible.Text(c.Run), f.shards-1)
	if tar := c.Source.Bodies; tar != "" {
		if info, err := os.Stat(tar); err != nil || !info.IsDir() {
			size := ""
			if err == nil {
				size = ", " + words.Count(info.Size(), "byte") + ","
			}
			fmt.Fprintf(out, "\nOf a plain tar, each shard reads its own files, as of a folder. If %s%s is compressed "+
				"or at a URL, each reads all of it: %s times in all.\n", visible.Text(remote.Name(tar)), size,
				words.Number(int64(f.shards)))
		}
	}
}

// planned reads the plan of the run.
func (f *Flags) planned(ctx context.Context) (p journal.Plan, err error) {
	s, err := store.Open(ctx, f.Config.Dir)
	if err != nil {
		return p, err
	}
	defer s.Close()
	p, _, err = journal.ReadPlan(s, f.Config.Run)
	return p, err
}

// applyPlan takes the source and the settings from the plan of a run made of shards,
// if no source is given and there is such a plan. Flags that are given stay: a
// difference from the plan is an error later.
func (f *Flags) applyPlan(ctx context.Context) error {
	if f.Config.Run == "" || f.Config.Dir == "" || len(f.given())+len(f.Config.Source.Named) > 0 {
		return nil
	}
	plan, err := f.planned(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if plan.Shards == 1 {
		return nil
	}
	f.plan = &plan
	for _, setting := range journal.Settings { // no other flag is a setting, whatever the file says
		planned := plan.Configuration
		if setting.Adjustable {
			planned = plan.Adjustable
		}
		value, ok := planned[setting.Name]
		if flag := f.Set.Lookup(setting.Name); ok && flag != nil && !flag.Changed && !setting.Local && err == nil {
			err = applySetting(flag, value)
		}
	}
	if err != nil {
		return &userfile.Error{Path: store.Join(folderOf(&f.Config), "plan.json"), Err: err}
	}
	if plan.Adjustable.Text("proxy") != "" && f.Proxy == "" {
		return cli.Usagef("the run is planned with a --proxy, whose password the plan does not hold: give --proxy")
	}
	if shards := f.Set.Lookup("shards"); !shards.Changed {
		f.shards = plan.Shards
	}
	return nil
}

// applySetting sets a flag to the value that a plan has of it.
func applySetting(flag *pflag.Flag, value any) (err error) {
	list, isList := flag.Value.(pflag.SliceValue)
	switch value := value.(type) {
	case string:
		err = flag.Value.Set(value)
	case []any:
		var items []string
		for _, item := range value {
			text, ok := item.(string)
			if !ok {
				return fmt.Errorf("--%s in the plan: expected a list of words", flag.Name)
			}
			items = append(items, text)
		}
		if !isList {
			return fmt.Errorf("--%s in the plan: expected one value", flag.Name)
		}
		err = list.Replace(items)
	case nil:
	default:
		return fmt.Errorf("--%s in the plan: expected a word", flag.Name)
	}
	if err != nil {
		return fmt.Errorf("--%s in the plan: %w", flag.Name, err)
	}
	return nil
}

// setPlanned has a planned run read what the plan names.
func (f *Flags) setPlanned(c *pipeline.Config) {
	if f.plan == nil {
		return
	}
	c.Planned, c.Source.Repeated = f.plan, f.plan.Repeated
	for _, in := range f.plan.Inputs {
		if in.Role == "warc" {
			c.Source.Archives = append(c.Source.Archives, in)
		}
	}
}
