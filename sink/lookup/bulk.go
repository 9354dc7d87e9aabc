package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
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

func (s *segment) parts(table string) (parts []journal.Part) {
	for _, p := range s.PartsOf(table) {
		if p.Segment == s.number {
			parts = append(parts, p)
		}
	}
	return parts
}

func (s *segment) isWanted(seq int64) bool {
	_, wanted := slices.BinarySearch(s.wanted, seq)
	return wanted
}

// each calls do with the captures: first those whose bodies the run keeps, as they come.
func (s *segment) each(rules bool, do func(*Found) error) error {
	var all []*Found // in the order of the tables
	of := make(map[string][]*Found)
	for row, err := range rowsOf[schema.Fetch](s, "fetches") {
		if err != nil {
			return err
		}
		if s.isWanted(row.Seq) {
			all = append(all, &Found{Fetch: *row})
			if digest := row.KeptDigest(); digest != nil {
				of[*digest] = append(of[*digest], all[len(all)-1])
			}
		}
	}
	done := make(map[*Found]bool)
	for _, p := range s.parts("bodies") {
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

// withRows calls do with captures and their rows of groups and rules, which the tables have
// in the order of fetches.
func (s *segment) withRows(all []*Found, rules bool, do func(*Found) error) error {
	place := make(map[int64]int)
	s.wanted = nil
	for i, f := range all {
		place[f.Seq] = i
		s.wanted = append(s.wanted, f.Seq)
	}
	slices.Sort(s.wanted)
	groups := newFollower(s, "groups", place, func(g *schema.Group) int64 { return g.Seq })
	defer groups.stop()
	ruled := newFollower(s, "rules", place, func(r *schema.Rule) int64 { return r.Seq })
	defer ruled.stop()
	for i, f := range all {
		if rules && f.KeptDigest() != nil {
			var err error
			if f.Groups, err = groups.of(i); err != nil {
				return err
			}
			if f.Rules, err = ruled.of(i); err != nil {
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

// A follower reads the rows of a table for one capture after the other.
type follower[R any] struct {
	next  func() (*R, error, bool)
	stop  func()
	head  *R // the row read last, not yet given
	err   error
	place map[int64]int // of captures, by seq
	seq   func(*R) int64
	rows  []R
}

func newFollower[R any](s *segment, table string, place map[int64]int, seq func(*R) int64) *follower[R] {
	f := &follower[R]{place: place, seq: seq}
	f.next, f.stop = iter.Pull2(rowsOf[R](s, table))
	return f
}

// of returns the rows of a capture, which is behind those asked for before.
func (f *follower[R]) of(place int) ([]R, error) {
	f.rows = f.rows[:0]
	for f.err == nil {
		if f.head == nil {
			var more bool
			if f.head, f.err, more = f.next(); !more || f.err != nil {
				break
			}
		}
		at, wanted := f.place[f.seq(f.head)]
		if wanted && at > place {
			break
		}
		if wanted && at == place {
			f.rows = append(f.rows, *f.head)
		}
		f.head = nil
	}
	return f.rows, f.err
}

// errEnough ends a reading of rows.
var errEnough = errors.New("enough rows")

// rowsOf returns the rows of a table's row groups that may have a wanted capture. A row is
// valid until the next.
func rowsOf[R any](s *segment, table string) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		err := rowio.Of(s.ctx, s.in, s.parts(table), rowio.Selection{Wanted: rowio.Within(s.wanted)}, func(batch []R) error {
			for i := range batch {
				if !yield(&batch[i], nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && err != errEnough {
			yield(nil, err)
		}
	}
}
