package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// hasLists reports whether the run is planned, with a list for each shard.
func (c *Config) hasLists() bool { return c.Planned != nil && len(c.Planned.Lists) > 0 }

// planOf returns the plan of a run that began at a time. Its inputs are those of all
// shards; s is nil for a run whose lists are planned.
func (c *Config) planOf(began time.Time, s *source.Source) (journal.Plan, error) {
	configuration, adjustable := c.Settings.Split()
	p := journal.Plan{
		Run: c.Run, ToolVersion: c.ToolVersion, Started: began.UTC(), Configuration: configuration, Adjustable: adjustable,
		Tables: c.Tables, Shards: c.Source.Shard.Count,
		Growing:  c.Spool == "" && c.Source.Shard.Count <= 1, // what a spool holds is joined when it is sent
		Profiles: c.Evaluate.ProfileNames(), ProfileFields: c.Evaluate.ProfileFields(), AsOf: c.AsOf,
	}
	if s == nil {
		for _, in := range c.Planned.Inputs {
			if in.Role == "hosts" || in.Role == "labels" { // both are in the lists of the shards
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
			c.inheritAsked(configuration, from.Configuration)
		}
	}
	p.Inputs = append(p.Inputs, c.Inputs...)
	if (c.Spool != "" || p.Shards > 1) && !p.CanBeReadAgain() {
		return p, &userfile.Error{Path: "the input",
			Err: errors.New("must be in files that every process of the run can read")}
	}
	return p, nil
}

// inheritAsked gives a run that re-evaluates another one the settings by which that one asked for a
// page under further identities, and came by the pages that hosts list. A run cannot judge more of
// these than the earlier one has kept.
func (c *Config) inheritAsked(configuration, from journal.Values) {
	for _, name := range []string{"page", "pages", "sitemaps", "sitemap-sample"} {
		if delete(configuration, name); from[name] != nil {
			configuration[name] = from[name]
		}
	}
	if kept, err := strconv.Atoi(from.Text("sitemap-sample")); err == nil && c.Evaluate.SitemapSample < kept {
		configuration["sitemap-sample"] = strconv.Itoa(c.Evaluate.SitemapSample)
	}
}

// PlanShards plans a run made of c.Source.Shard.Count shards. It divides a list of
// hosts into the lists of the shards; shards of stored captures share the inputs. It
// reports false if the run is planned already, with the same settings. progress is
// called with the number of rows read.
func PlanShards(ctx context.Context, c Config, progress func(rows int64)) (planned bool, err error) {
	all, err := source.Open(ctx, c.source())
	if err != nil {
		return false, err
	}
	defer all.Close()
	p, err := c.planOf(time.Now(), all)
	if err != nil {
		return false, err
	}
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
	if c.Source.IsStored() {
		if err := all.CheckLists(ctx, c.checkLabels); err != nil {
			return false, err
		}
	} else {
		scratch, err := planning.Scratch()
		if err != nil {
			return false, fmt.Errorf("create a file for the lists: %w", err)
		}
		defer scratch.Close()
		from := c.source()
		from.Shard, from.Sample = target.Shard{}, 0 // of all shards
		labels := all.PlannedLabels(ctx, c.checkLabels)
		lists, err := hosts.NewPartition(ctx, *from.List(), p.Shards, scratch, labels, progress)
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
