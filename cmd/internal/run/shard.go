package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/recap"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/visible"
)

// mostShards bounds the shards of a run.
const mostShards = 100_000

// indices are the variables in which schedulers give a task of an array its index,
// and the variable of the first index, if that is not 0.
var indices = []struct{ name, first string }{
	{"JOB_COMPLETION_INDEX", ""}, // Kubernetes Indexed Job
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN"},
	{"AWS_BATCH_JOB_ARRAY_INDEX", ""},
	{"BATCH_TASK_INDEX", ""}, // Google Batch
}

// indexOf returns the index of this task in its array, from 0, and the variable that
// says so; "" if there is none.
func indexOf(lookup func(string) (string, bool)) (index int, name string, err error) {
	for _, v := range indices {
		text, ok := lookup(v.name)
		if !ok {
			continue
		}
		first := 0
		if index, err = strconv.Atoi(text); err == nil && v.first != "" {
			if min, ok := lookup(v.first); ok {
				first, err = strconv.Atoi(min)
			}
		}
		if err != nil || index < first {
			return 0, v.name, cli.Usagef("%s is %q, not an index: give --shard", v.name, text)
		}
		return index - first, v.name, nil
	}
	return 0, "", nil
}

// checkShard checks the flags of shards and finds the index of the shard.
func (f *Flags) checkShard() error {
	switch {
	case f.shards < 1 || f.shards > mostShards:
		return cli.Usagef("--shards must be between 1 and %d", mostShards)
	case f.parallel < 0:
		return cli.Usagef("--parallelism must be positive")
	case f.shards == 1 && (f.Set.Changed("shard") || f.parallel > 0):
		return cli.Usagef("--shard and --parallelism need --shards N")
	case cli.IsURL(f.spool):
		return cli.NotHere("spool", f.spool)
	case f.shards == 1 && f.spool != "" && !store.IsURL(f.Config.Dir):
		return cli.Usagef("--spool needs --shards N, or an object store as --out")
	case f.shards == 1 && store.IsURL(f.Config.Dir) && f.piped() > 0:
		return cli.Usagef("standard input cannot be read again, as a run in an object store needs it: keep the list in " +
			"a file")
	case f.shards == 1:
		return nil
	case f.Config.Run == "":
		return cli.Usagef("--shards needs --run ID: all shards are of one run")
	case f.Config.ForceNew:
		return cli.Usagef("--force-new would remove the other shards: give another --run")
	case f.Config.Source.Limit > 0:
		return cli.Usagef("--limit cannot be combined with --shards: shorten the list")
	case f.expect != "":
		return cli.Usagef("--expect needs all shards: give it to diff once the run is complete")
	case len(f.Config.Source.Named) > 0:
		return cli.Usagef("--shards needs a source that every process can read: give --hosts FILE")
	case f.piped() > 0:
		return cli.Usagef("--shards needs a source that every process can read: keep the list in a file")
	}
	if f.Config.Source.Planning {
		f.shard = 0
		return nil
	}
	if f.Set.Changed("shard") && f.shard < 0 {
		return cli.Usagef("--shard %d: shards count from 0", f.shard)
	}
	if f.shard < 0 {
		index, name, err := indexOf(os.LookupEnv)
		if err != nil {
			return err
		}
		// Tasks counted from 1 are shards counted from 0, but a few tasks of an array,
		// submitted again, are not the first shards.
		if count, min := os.Getenv("SLURM_ARRAY_TASK_COUNT"),
			os.Getenv("SLURM_ARRAY_TASK_MIN"); name == "SLURM_ARRAY_TASK_ID" && min != "0" && count != "" &&
			count != strconv.Itoa(f.shards) {
			return cli.Usagef("the array has %s tasks from %s, and the run %d shards: give --shard", count, min, f.shards)
		}
		if name == "" {
			return cli.Usagef("--shards %d needs --shard I: this process is not a task of an array of Kubernetes, Slurm, "+
				"AWS Batch or Google Batch", f.shards)
		}
		f.shard, f.indexFrom = index, name
	}
	if f.shard >= f.shards {
		return cli.Usagef("there is no shard %d of %d: shards count from 0", f.shard, f.shards)
	}
	return nil
}

// shardOf returns the shard to make.
func (f *Flags) shardOf() target.Shard {
	if f.shards == 1 {
		return target.Shard{}
	}
	return target.Shard{Index: f.shard, Count: f.shards}
}

// atOnce returns the number of shards that run at once.
func (f *Flags) atOnce() int {
	if f.parallel > 0 {
		return min(f.shards, f.parallel)
	}
	return f.shards
}

// divide gives a shard its share of the limits that hold for all shards together.
// The limits per domain stay: all hosts of a domain are in one shard.
func (f *Flags) divide(c *client.Config) {
	at := f.atOnce()
	c.Rate /= float64(at)
	c.AddressRate /= float64(at)
	c.PerAddress = max(1, c.PerAddress/at)
	if c.PerResolver > 0 {
		c.PerResolver = max(1, c.PerResolver/at)
	}
}

// setSpool sets the folder for what is not committed yet. In an object store nothing
// grows, so it is on this machine.
func (f *Flags) setSpool(c *pipeline.Config) error {
	switch {
	case f.Config.Source.Planning, f.dryRun, f.shards == 1 && !store.IsURL(c.Dir):
	case f.spool != "":
		if info, err := os.Stat(f.spool); err == nil && !info.IsDir() {
			return cli.Usagef("--spool: %s is not a folder", f.spool)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cli.Usagef("--spool: %v", err)
		}
		c.Spool = filepath.Join(f.spool, "robocensus-"+c.Run)
	case !store.IsURL(c.Dir):
		c.Spool = filepath.Join(folderOf(c), "spool")
	default:
		cache, err := os.UserCacheDir()
		if err != nil {
			return cli.Usagef("an object store as --out needs a folder on this machine: give --spool DIR (%v)", err)
		}
		c.Spool = filepath.Join(cache, "robocensus", c.Run)
	}
	return nil
}

// executeShard makes a shard and prints its summary.
func (f *Flags) executeShard(ctx context.Context, c pipeline.Config, stdout, stderr io.Writer) error {
	stdout = f.begin(&c, stdout, stderr)
	if f.indexFrom != "" {
		fmt.Fprintf(stderr, "note: this is %s, by %s\n", c.Source.Shard, f.indexFrom)
	}
	var p pipeline.Progress
	stop := f.watch(c, &p, stderr)
	r, err := pipeline.Run(ctx, c, &p)
	stop()
	if err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return fmt.Errorf("%w: start %s again; it resumes if %s survives", cli.ErrInterrupted, c.Source.Shard, c.Spool)
		}
		var lost *sink.LostError
		if errors.As(err, &lost) {
			return err
		}
		if code := cli.ExitCodeOf(err); code == cli.ExitIO || code == cli.ExitTemporary {
			return fmt.Errorf("%w; fix that, then start %s again", err, c.Source.Shard)
		}
		return advised(c, err)
	}
	f.remarkMissed(ctx, c, stderr)
	if f.json {
		return f.writeShard(c, r, stdout)
	}
	showShard(stdout, c, r)
	if r.Uncommitted > 0 || !slices.Contains(c.Tables, "summary") {
		return nil
	}
	in, m, err := cli.OpenRun(ctx, c.Dir, c.Run)
	if err != nil {
		return err
	}
	defer in.Close()
	fmt.Fprintln(stdout)
	return recap.ShowRun(ctx, in, m, stdout)
}

// showShard prints what became of a shard and of the run.
func showShard(out io.Writer, c pipeline.Config, r *pipeline.Result) {
	shard := c.Source.Shard
	switch {
	case r.Made && r.Won:
		fmt.Fprintf(out, "%s: %s, %s\n", shard, words.Count(r.Targets, recap.TargetOf(&c.Source)),
			words.Count(r.Rejected, "rejected line"))
	case r.Won:
		fmt.Fprintf(out, "%s: committed what an earlier attempt had made\n", shard)
	default:
		fmt.Fprintf(out, "%s: another attempt has committed it\n", shard)
	}
	folder := visible.Text(folderOf(&c))
	if r.Uncommitted == 0 {
		fmt.Fprintf(out, "all shards are committed: the run in %s is complete\n", folder)
		return
	}
	fmt.Fprintf(out, "%d of %d shards are committed; the run in %s is complete with the last one\n",
		shard.Count-r.Uncommitted, shard.Count, folder)
}

// shardResult is what run --json prints of a shard.
type shardResult struct {
	Run         string `json:"run"`
	Folder      string `json:"folder"`
	State       string `json:"state"` // of the run
	Shard       int    `json:"shard"`
	Shards      int    `json:"shards"`
	Uncommitted int    `json:"uncommitted"` // shards that are not committed
	Won         bool   `json:"won"`         // this process committed the shard
	Hosts       *int64 `json:"hosts"`       // of the shard; null if this process did not make it
	Rejected    *int64 `json:"rejected"`    // likewise
}

func (f *Flags) writeShard(c pipeline.Config, r *pipeline.Result, stdout io.Writer) error {
	out := shardResult{
		Run: c.Run, Folder: folderOf(&c), State: journal.Incomplete,
		Shard: c.Source.Shard.Index, Shards: c.Source.Shard.Count, Uncommitted: r.Uncommitted, Won: r.Won,
	}
	if r.Uncommitted == 0 {
		out.State = journal.Complete
	}
	if r.Made {
		out.Hosts, out.Rejected = &r.Targets, &r.Rejected
	}
	return cli.JSON(stdout, out)
}
