package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// mostJoined is the number of segments that become one: as many targets as a shard is
// advised to have.
const mostJoined = 64

// joined holds parts with the rows of several segments each, which have temporary names until
// the run is complete: whoever lists the folder of a table would count rows twice.
type joined struct {
	parts    []journal.Part // in place of those of the segments
	replaced []journal.Part // of these

	mu    sync.Mutex
	files []*store.File
}

// Join joins the parts of segments that follow each other in a volume, for [Run.Complete]: a
// table of a million hosts has eight parts then, and not 489. The pages are copied as they
// are. For the time until the run is complete, the tables take twice the room; where the disk
// has too little, nothing is joined. A run in a spool is joined when it is sent.
func (r *Run) Join(ctx context.Context) error {
	if r.spool != nil || r.plan.FromShards > 0 { // the numbers of segments say shards
		return nil
	}
	r.mu.Lock()
	records := slices.SortedFunc(maps.Values(r.records), bySegment)
	r.mu.Unlock()
	j := new(joined)
	var tasks []func(context.Context) error
	for len(records) > 0 {
		n := follow(records)
		first, last := records[0].Segment, records[n-1].Segment
		for _, table := range r.plan.Tables {
			var parts []journal.Part
			for _, record := range records[:n] {
				parts = append(parts, journal.PartsOf(table, record.Parts)...)
			}
			switch {
			case layout.OfRun[table]:
				continue
			case len(parts) < 2:
				j.parts = append(j.parts, parts...)
				continue
			}
			j.replaced = append(j.replaced, parts...)
			for i, some := range groupParts(parts) {
				at := len(j.parts)
				j.parts = append(j.parts, journal.Part{Table: table, Segment: first,
					Path: layout.Part(table, r.plan.Run, first, layout.Joined(last, i))})
				tasks = append(tasks, func(ctx context.Context) error { return j.write(ctx, r.store, &j.parts[at], some) })
			}
		}
		records = records[n:]
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, task := range tasks {
		g.Go(func() error { return task(ctx) })
	}
	if err := g.Wait(); err != nil {
		j.discard()
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return nil
		}
		return err
	}
	if len(tasks) > 0 {
		r.joined = j
	}
	return nil
}

// follow returns how many records, from the first on, become one.
func follow(records []*journal.Record) int {
	n, first := 1, records[0].Segment
	for n < min(len(records), mostJoined) && records[n].Segment == first+n &&
		records[n].Segment/journal.SegmentsPerVolume == first/journal.SegmentsPerVolume {
		n++
	}
	return n
}

// write writes a part with the rows of some, under a temporary name.
func (j *joined) write(ctx context.Context, s store.Store, p *journal.Part, some []journal.Part) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := s.Create(p.Path)
	if err != nil {
		return fmt.Errorf("join parts: %w", err)
	}
	j.mu.Lock()
	j.files = append(j.files, f)
	j.mu.Unlock()
	for _, part := range some {
		p.Rows += part.Rows
	}
	if err = joinParts(ctx, f, s, some); err == nil {
		p.Digest, err = f.Finish()
	}
	if err != nil {
		return fmt.Errorf("join the parts of %s from segment %d on: %w", p.Table, p.Segment, err)
	}
	return nil
}

// replace puts the joined parts into a manifest, and returns those that they replace. j may
// be nil.
func (j *joined) replace(m *journal.Manifest) (replaced []journal.Part) {
	if j == nil {
		return nil
	}
	m.Joined, m.Parts = true, j.parts
	return j.replaced
}

// publish gives the joined parts their names.
func (j *joined) publish(s store.Store) error {
	if j == nil {
		return nil
	}
	for _, f := range j.files {
		if err := f.Publish(); err != nil {
			return fmt.Errorf("publish a joined part: %w", err)
		}
	}
	synced := make(map[string]bool)
	for _, p := range j.parts {
		if folder := path.Dir(p.Path); !synced[folder] {
			if err := s.Sync(folder); err != nil {
				return fmt.Errorf("sync the folder of a joined part: %w", err)
			}
			synced[folder] = true
		}
	}
	return nil
}

// discard removes the joined parts, which do not count.
func (j *joined) discard() {
	if j == nil {
		return
	}
	for _, f := range j.files {
		f.Discard()
	}
	j.files = nil
}
