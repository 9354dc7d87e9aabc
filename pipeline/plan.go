package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// planOf returns the plan of a run that began at a time. s is nil for a run whose lists
// are planned.
func (c *Config) planOf(began time.Time, s *source.Source) journal.Plan {
	configuration, adjustable := c.Settings.Split()
	p := journal.Plan{
		Run: c.Run, ToolVersion: c.ToolVersion, Started: began.UTC(), Configuration: configuration, Adjustable: adjustable,
		Tables:   c.Tables,
		Profiles: c.Evaluate.ProfileNames(), ProfileFields: c.Evaluate.ProfileFields(), AsOf: c.AsOf,
	}
	if s == nil {
		for _, in := range c.Planned.Inputs {
			if in.Role == "hosts" {
				p.Inputs = append(p.Inputs, in)
			}
		}
	} else {
		p.Inputs, p.Repeated = s.Inputs(), s.Repeated()
		if from := s.From(); from != nil {
			p.FromShards, p.Earlier = from.ShardsOfHosts(), from.Choices()
			if p.AsOf == nil {
				p.AsOf = &from.Date
			}
		}
	}
	p.Inputs = append(p.Inputs, c.Inputs...)
	return p
}

// planShards returns the plan of a run made of shards, whose inputs are those of all
// shards, and the source that it describes: nil if the lists of the shards are planned.
func (c *Config) planShards(ctx context.Context) (p journal.Plan, s *source.Source, err error) {
	if c.Planned == nil || len(c.Planned.Lists) == 0 {
		if s, err = source.Open(ctx, c.source()); err != nil {
			return p, nil, err
		}
	}
	p = c.planOf(time.Now(), s)
	p.Shards = c.Source.Shard.Count
	if !p.CanBeReadAgain() {
		s.Close()
		return p, nil, &userfile.Error{Path: "the input",
			Err: errors.New("must be in files that every process of the run can read")}
	}
	return p, s, nil
}

// PlanShards plans a run made of c.Source.Shard.Count shards. It divides a list of
// hosts into the lists of the shards; shards of stored captures share the inputs. It
// reports false if the run is planned already, with the same settings. progress is
// called with the number of rows read.
func PlanShards(ctx context.Context, c Config, progress func(rows int64)) (planned bool, err error) {
	p, from, err := c.planShards(ctx)
	if err != nil {
		return false, err
	}
	defer from.Close()
	to, err := store.Create(ctx, c.Dir)
	if err != nil {
		return false, fmt.Errorf("open the output folder: %w", err)
	}
	defer to.Close()
	planning, err := sink.NewPlanning(to, p)
	if err != nil {
		return false, err
	}
	defer planning.Close()
	if done, err := planning.Planned(); err != nil || done {
		return false, err
	}
	if !c.Source.IsStored() {
		scratch, err := planning.Scratch()
		if err != nil {
			return false, fmt.Errorf("create a file for the lists: %w", err)
		}
		defer scratch.Close()
		from := c.source()
		from.Shard, from.Sample = target.Shard{}, 0 // of all shards
		lists, err := hosts.NewPartition(ctx, *from.List(), p.Shards, scratch, progress)
		if err != nil {
			return false, err
		}
		for i := range p.Shards {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			if err := planning.Add(lists.Rows(i), func(w io.Writer) error { return lists.WriteShard(w, i) }); err != nil {
				return false, err
			}
		}
	}
	return true, planning.Finish()
}

// takeList copies the list of the shard from the run to this attempt's folder: the list
// is what the plan names, and stays when another process completes the run.
func (c *Config) takeList(ctx context.Context, from store.Store) error {
	if c.Planned == nil || len(c.Planned.Lists) == 0 {
		return nil
	}
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return err
	}
	c.Source.Planned = filepath.Join(c.Dir, "hosts.csv.zst")
	return sink.CopyList(ctx, from, c.Planned.Lists[c.Source.Shard.Index], c.Source.Planned)
}

// noteOf returns the note of a shard's record: which absolute URL samples its
// segments, in the spool, used.
func noteOf(spool store.Store, c Config) (json.RawMessage, error) {
	shared := evaluate.Prepare(c.Evaluate)
	_, records, err := journal.ReadCommitted(spool, c.Run)
	for _, r := range records {
		if err == nil {
			err = shared.Restore(r.Note)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the spool of the shard: %w", err)
	}
	return shared.Note()
}
