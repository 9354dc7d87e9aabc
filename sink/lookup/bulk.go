package lookup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// Found is the last capture of an origin, and what the run holds of its file: the body, or
// if it keeps none the rows of groups and rules.
type Found struct {
	schema.Fetch
	Body   []byte // nil if the run does not keep it
	Groups []schema.Group
	Rules  []schema.Rule
}

// capture is what tells the last capture of an origin.
type capture struct {
	Seq       int64     `parquet:"seq"`
	Host      string    `parquet:"host,dict"`
	Origin    string    `parquet:"origin,dict"`
	FetchTime time.Time `parquet:"fetch_time,timestamp(microsecond)"`
}

// lastCapture is the last one known of an origin.
type lastCapture struct {
	capture
	segment int
}

// Each calls do with the last capture of each origin of hosts, in no particular order. It
// reads the tables from end to end, once, where many single look-ups would read the same
// pages again and again, and holds the rows of fetches of these hosts. The rows of groups
// and rules are read if asked for, and valid until do returns.
func (r *Run) Each(ctx context.Context, hosts map[string]bool, rules bool, do func(*Found) error) error {
	last := make(map[string]lastCapture) // by origin
	for _, p := range r.PartsOf("fetches") {
		err := rowio.Of(ctx, r.in, []journal.Part{p}, rowio.Selection{}, func(batch []capture) error {
			for _, c := range batch {
				if !hosts[c.Host] {
					continue
				}
				was, known := last[c.Origin]
				if !known || cmp.Or(c.FetchTime.Compare(was.FetchTime), cmp.Compare(c.Seq, was.Seq)) >= 0 {
					last[c.Origin] = lastCapture{c, p.Segment}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	segments := make(map[int][]int64) // the wanted seqs, which ascend
	for _, c := range last {
		segments[c.segment] = append(segments[c.segment], c.Seq)
	}
	for _, p := range r.PartsOf("fetches") {
		wanted := segments[p.Segment]
		if len(wanted) == 0 {
			continue
		}
		delete(segments, p.Segment)
		slices.Sort(wanted)
		s := &segment{Run: r, ctx: ctx, number: p.Segment, wanted: wanted}
		if err := s.each(rules, do); err != nil {
			return err
		}
	}
	return nil
}

// A segment is read for some of its captures.
type segment struct {
	*Run
	ctx    context.Context
	number int
	wanted []int64 // seqs, which ascend
}

// each calls do with the captures: first those whose bodies the run keeps, as they come.
func (s *segment) each(rules bool, do func(*Found) error) error {
	var all []*Found // in the order of the tables
	of := make(map[string][]*Found)
	err := rowio.Runs(s.ctx, s.in, s.PartsIn(s.number, "fetches"), rowio.Selection{Wanted: rowio.Within(s.wanted)},
		func(_ string, seq int64, rows []schema.Fetch) error {
			if _, wanted := slices.BinarySearch(s.wanted, seq); !wanted {
				return nil
			}
			f := &Found{Fetch: rows[0]}
			all = append(all, f)
			if digest := f.KeptDigest(); digest != nil {
				of[*digest] = append(of[*digest], f)
			}
			return nil
		})
	if err != nil {
		return err
	}
	done := make(map[*Found]bool)
	for _, p := range s.PartsIn(s.number, "bodies") {
		err := rowio.Of(s.ctx, s.in, []journal.Part{p}, rowio.Selection{}, func(batch []schema.Body) error {
			for i := range batch {
				row := &batch[i]
				if len(of[row.ContentDigest]) > 0 && schema.ContentDigest(row.Body) != row.ContentDigest {
					return rowio.Unreadable(s.in, p, fmt.Errorf("the body %s has another digest", row.ContentDigest))
				}
				for _, f := range of[row.ContentDigest] {
					f.Body, done[f] = append([]byte{}, row.Body...), true
					if err := do(f); err != nil {
						return err
					}
					f.Body = nil
				}
				delete(of, row.ContentDigest)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return s.withRows(slices.DeleteFunc(all, func(f *Found) bool { return done[f] }), rules, do)
}

// withRows calls do with captures and their rows of groups and rules.
func (s *segment) withRows(all []*Found, rules bool, do func(*Found) error) error {
	slices.SortFunc(all, func(a, b *Found) int { return cmp.Compare(a.Seq, b.Seq) })
	s.wanted = nil
	for _, f := range all {
		s.wanted = append(s.wanted, f.Seq)
	}
	groups, ruled := follow[schema.Group](s, "groups"), follow[schema.Rule](s, "rules")
	defer groups.Close()
	defer ruled.Close()
	for _, f := range all {
		if rules && f.KeptDigest() != nil {
			var err error
			if f.Groups, err = groups.Of(f.Seq); err != nil {
				return err
			}
			if f.Rules, err = ruled.Of(f.Seq); err != nil {
				return err
			}
		}
		if err := do(f); err != nil {
			return err
		}
		f.Groups, f.Rules = nil, nil
	}
	return nil
}

// follow reads the rows of a table that may be of a wanted capture.
func follow[R any](s *segment, table string) *rowio.Cursor[R] {
	return rowio.Follow[R](s.ctx, s.in, s.PartsIn(s.number, table), rowio.Selection{Wanted: rowio.Within(s.wanted)})
}
