package diff

import (
	"context"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Targets looks up the targets of some hosts in a run, all of them. It may be called for
// several runs at once.
type Targets func(context.Context, *past.Run) ([]lookup.Target, error)

// Hosts compares two runs on some hosts. It returns the rows that [Runs] writes
// for them, and notes: what is not compared, and what was asked otherwise. It writes
// nothing, and reads of fetches what targets looks up: also in runs before the two, for
// a host that one of them could not read. Errors are those of Runs.
func Hosts(ctx context.Context, in store.Store, before, after *past.Run, targets Targets) (rows []schema.Change,
	notes []string, err error) {
	d := &differ{
		Config:     Config{In: in, Before: before.ID(), After: after.ID()},
		Comparison: expect.Comparison{Runs: [2]*past.Run{before, after}},
		names:      new(records.Names), targets: targets,
		scratch: store.ScratchHere,
		write:   func(some ...schema.Change) error { rows = append(rows, some...); return nil },
	}
	if err := d.open(ctx); err != nil {
		return nil, nil, err
	}
	b := d.Between
	notes = slices.Concat(b.Tables, b.Asked, d.notes[len(b.Told()):])
	err = d.compare(ctx)
	return rows, notes, err
}

// lookUp adds the rows of fetches of the compared hosts in a run to a sorter.
func (d *differ) lookUp(ctx context.Context, run *past.Run, into *store.Sorter) error {
	targets, err := d.targets(ctx, run)
	if err != nil {
		return err
	}
	r := lookup.Open(d.In, run.Manifest)
	defer r.Close()
	for i := range targets {
		beside, err := records.LookUpBesides(ctx, r, &targets[i], d.beside, d.names)
		if err != nil {
			return err
		}
		if err := records.AddTarget(&targets[i], beside, into); err != nil {
			return err
		}
	}
	return nil
}
