package diff

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/views"
)

// Config says which two runs are compared.
type Config struct {
	In            store.Store // the output folder
	Before, After string      // IDs
	ToolVersion   string
	Expect        *expect.List // nil for none

	memory int // bound for each sorter, 0 for store.SortMemory
}

// ErrNotComparable is the error of two runs that cannot be compared. The error that
// wraps it says why.
var ErrNotComparable = errors.New("cannot be compared")

// noRunError is [fs.ErrNotExist] with a message about a run, not a file.
type noRunError struct{ in, run string }

func (e noRunError) Error() string        { return fmt.Sprintf("no run %q in %s", e.run, e.in) }
func (e noRunError) Is(target error) bool { return target == fs.ErrNotExist }

// Runs compares two runs origin by origin, writes the table changes and returns a
// summary. It replaces an earlier comparison of the same runs (see [Stored]). If a run does not
// exist, the error is [fs.ErrNotExist]; if the runs cannot be compared, it is
// [ErrNotComparable].
func Runs(ctx context.Context, c Config) (*Result, error) {
	d := &differ{Config: c, names: new(records.Names)}
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	var err error
	if d.out, err = sink.CreateChanges(c.In, d.Runs[1].Manifest, c.Before, c.ToolVersion, d.notes...); err != nil {
		return nil, err
	}
	defer d.out.Abort()
	d.scratch, d.write = d.out.Scratch, d.out.Write
	if err := d.compare(ctx); err != nil {
		return nil, err
	}
	d.result.finish()
	found, err := json.Marshal(d.result)
	if err != nil {
		return nil, fmt.Errorf("result of the comparison: %w", err)
	}
	d.out.Compared(d.result.Compared, d.result.Unread, d.result.Earlier...)
	d.out.Result(found, d.Runs[0].Manifest.Digest(), c.Expect.Digest())
	if err := d.out.Commit(); err != nil {
		return nil, err
	}
	return d.result, views.Write(c.In)
}

// A differ compares two runs. In its arrays, 0 is the earlier run and 1 the later.
type differ struct {
	Config
	expect.Comparison
	tables []int // indices in records.DetailTables of the tables that both runs have
	notes  []string
	rules  *rulesDiff // nil if the meaning of rules is not compared

	beside [records.NumBeside]bool // tables that are compared

	targets Targets   // of the hosts that are compared, nil for all
	earlier []*differ // compare runs that stand in for the first one with the second, latest first

	names   *records.Names
	sorters []*store.Sorter
	byHost  [2]*store.Sorter // rows of fetches by host
	hidden  *hiddenPairs
	pairs   *store.Sorter    // pairs that may differ, by number
	asked   [2]*store.Sorter // targets whose rows are needed, by run, segment and seq
	found   [2]*store.Sorter // rows of these targets, by number of the pair and table

	out     *sink.Changes
	scratch func() (*store.Scratch, error)
	write   func(...schema.Change) error
	result  *Result
	checker *expect.Checker // nil without expectations
}

func (d *differ) sorter() *store.Sorter {
	s := &store.Sorter{Scratch: d.scratch, Memory: cmp.Or(d.memory, store.SortMemory)}
	d.sorters = append(d.sorters, s)
	return s
}

func (d *differ) close() {
	for _, s := range d.sorters {
		s.Close()
	}
}

// compare takes the steps of a comparison.
func (d *differ) compare(ctx context.Context) error {
	d.result = newResult(d.Config, d.notes, slices.Concat(d.Common, d.Others))
	d.result.Policies = d.SameReading || d.rules != nil || len(d.Common) > 0 && len(d.tables) > 0
	defer d.close()
	for _, step := range []func(context.Context) error{d.expect, d.fetches, d.join, d.lookBack, d.details, d.compareAll,
		d.expected} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// open reads the runs and decides what can be compared.
func (d *differ) open(ctx context.Context) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("runs %s and %s %w: %s", d.Before, d.After, ErrNotComparable, fmt.Sprintf(format, args...))
	}
	if d.Before == d.After {
		return refuse("they are one run")
	}
	for i, run := range []string{d.Before, d.After} {
		m, err := d.Runs[i], error(nil)
		if m == nil {
			m, err = past.Read(ctx, d.In, run)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return noRunError{d.In.Path("."), run}
		case err != nil:
			return err
		case !m.Complete():
			return refuse("%s is not complete: %s", run, m.HowToComplete())
		case m.SchemaVersion != schema.SchemaVersion:
			return refuse("%s has tables of schema version %d, and this program knows version %d", run, m.SchemaVersion,
				schema.SchemaVersion)
		case !slices.Contains(m.Tables, "fetches"):
			return refuse("%s has no table fetches, by which hosts are found", run)
		}
		d.Runs[i] = m
	}
	d.plan()
	return nil
}

// plan decides what can be compared of the runs.
func (d *differ) plan() {
	a, b := d.Runs[0], d.Runs[1]
	d.Between = past.Compare(a, b)
	d.notes = d.Between.Told()
	d.planProfiles()
	d.planTables()
	for _, role := range []string{"agents", "urls"} {
		if !slices.Equal(digests(a, role), digests(b, role)) {
			d.note("the runs' %s differ: those that both have are compared", role)
		}
	}
	d.planRules()
	d.planAgents()
	d.planPreferences()
	d.planAnswers()
	d.planDocuments()
	d.planCoverage()
	d.ruleAgents()
	if why := d.Between.Templates(); why != "" {
		d.note("%s: whose words decide is as each run knows it", why)
	}
}

// fetches sorts the rows of fetches of both runs by host.
func (d *differ) fetches(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, run := range d.Runs {
		d.byHost[i] = d.sorter()
		g.Go(func() error { return d.readFetches(ctx, run, nil, d.byHost[i]) })
	}
	return g.Wait()
}

// readFetches adds the rows of fetches of a run to a sorter: those that are compared,
// or of these the wanted hosts.
func (d *differ) readFetches(ctx context.Context, run *past.Run, wanted func(host string) bool,
	into *store.Sorter) error {
	if d.targets != nil {
		return d.lookUp(ctx, run, into)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	parts, segments := run.BySegment()
	for _, segment := range segments {
		of := parts[segment]
		g.Go(func() error {
			besides, err := records.ReadBesides(ctx, d.In, of, d.beside, d.names)
			if err != nil {
				return err
			}
			for _, p := range of["fetches"] {
				if err := records.ReadFetches(ctx, d.In, p, wanted, &besides, into); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// details reads the rows of the targets that settle asked for. It reads each part
// once, in any order.
func (d *differ) details(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, sources := range [2][]*differ{append([]*differ{d}, d.earlier...), {d}} {
		var parts map[int]map[string][]journal.Part // of the current source
		d.found[i] = d.sorter()
		read := func(segment int, list []records.Wanted) {
			of := parts[segment]
			g.Go(func() error { return records.ReadBodies(ctx, d.In, of["bodies"], list, d.found[i]) })
			for _, t := range d.tables {
				for _, p := range of[records.DetailTables[t]] {
					g.Go(func() error { return records.Read(ctx, d.In, p, t, list, d.names, d.found[i]) })
				}
			}
		}
		asked, err := d.asked[i].Sorted()
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		source, segment, list := -1, -1, []records.Wanted(nil)
		for {
			key, value, err := asked.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return errors.Join(err, g.Wait())
			}
			k, v := records.Decoder(key), records.Decoder(value)
			n, s := int(k.Ordered()), int(k.Ordered())
			if n != source || s != segment {
				read(segment, list)
				if n != source {
					parts, _ = sources[n].Runs[i].BySegment()
				}
				source, segment, list = n, s, nil
			}
			list = append(list, records.Wanted{Seq: k.Ordered(), N: v.Ordered(), Digest: v.Text()})
			if ctx.Err() != nil {
				break
			}
		}
		read(segment, list)
	}
	return g.Wait()
}

// compareAll compares pair by pair.
func (d *differ) compareAll(ctx context.Context) error {
	pairs, err := d.pairs.Sorted()
	if err != nil {
		return err
	}
	var found [2]*records.Found
	for i := range found {
		if found[i], err = records.NewFound(d.found[i]); err != nil {
			return err
		}
	}
	comparisons := []*comparison{newComparison(d)}
	for _, e := range d.earlier {
		comparisons = append(comparisons, newComparison(e))
	}
	last := comparisons[0]
	for {
		key, value, err := pairs.Next()
		if err == io.EOF {
			return last.flush()
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k := records.Decoder(key)
		n, p := k.Ordered(), decodePair(value)
		for i := range found {
			if p.rows[i], err = found[i].Take(n); err != nil {
				return err
			}
		}
		if c := comparisons[p.from]; c != last {
			if err := last.flush(); err != nil {
				return err
			}
			last = c
		}
		if err := last.pair(p); err != nil {
			return err
		}
	}
}
