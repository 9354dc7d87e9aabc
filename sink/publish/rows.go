package publish

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// held is a run in a folder.
type held struct {
	in store.Store
	*journal.Manifest
}

// comparing compares a table of two runs, part by part.
type comparing struct {
	runs    [2]held // as published, and as re-evaluated
	table   string
	columns []string
	omit    []omission
	sampled *sample // nil for all
	hash    *rowHash

	mu      sync.Mutex
	sums    [2]map[int]rowSum // by segment of the published run
	unseen  int64
	left    [][]string // names of what was left out, by omission
	strange bool       // it names a host of the sample that is not in fetches
}

// compare compares the rows of each segment. Parts that are the same are not decoded.
func (t *comparing) compare(ctx context.Context, c *Comparison) error {
	parts := [2][]journal.Part{t.runs[0].PartsOf(t.table), t.runs[1].PartsOf(t.table)}
	differ := false
	if t.sampled == nil && len(t.omit) == 0 {
		same, err := t.twins(ctx, &parts)
		if err != nil {
			return err
		}
		c.Rows, c.OtherRows = same, same
		differ = t.uneven(&parts, c)
	}
	t.left = make([][]string, len(t.omit))
	t.sums = [2]map[int]rowSum{make(map[int]rowSum), make(map[int]rowSum)}
	if err := atOnce(ctx, len(parts[0])+len(parts[1]), func(ctx context.Context, i int) error {
		if i < len(parts[0]) {
			return t.part(ctx, 0, parts[0][i])
		}
		return t.part(ctx, 1, parts[1][i-len(parts[0])])
	}); err != nil {
		return err
	}
	c.Looked, c.Same, c.Unseen = true, !differ, t.unseen
	for side, rows := range []*int64{&c.Rows, &c.OtherRows} {
		for segment, sum := range t.sums[side] {
			c.Same = c.Same && sum == t.sums[1-side][segment]
			*rows += sum.rows
		}
	}
	return nil
}

// uneven removes the parts of segments that have other numbers of rows, and adds these. A
// segment that somebody else wrote may have millions too many.
func (t *comparing) uneven(parts *[2][]journal.Part, c *Comparison) (some bool) {
	var rows [2]map[int]int64
	for side := range rows {
		rows[side] = make(map[int]int64)
		for _, part := range parts[side] {
			rows[side][t.segment(side, part)] += part.Rows
		}
	}
	for side, sum := range []*int64{&c.Rows, &c.OtherRows} {
		parts[side] = slices.DeleteFunc(parts[side], func(part journal.Part) bool {
			segment := t.segment(side, part)
			differs := rows[0][segment] != rows[1][segment]
			if differs {
				*sum, some = *sum+part.Rows, true
			}
			return differs
		})
	}
	return some
}

// segment returns the segment of the published run that a part has rows of. A shard that
// is re-evaluated has segments of its own.
func (t *comparing) segment(side int, part journal.Part) int {
	if side == 1 && t.runs[0].Shards > 1 && t.runs[1].Shards == 1 {
		return part.Segment / journal.SegmentsPerVolume
	}
	return part.Segment
}

// twins removes the parts that are the same, and returns their rows.
func (t *comparing) twins(ctx context.Context, parts *[2][]journal.Part) (rows int64, err error) {
	if len(parts[0]) != len(parts[1]) {
		return 0, nil
	}
	var rest [2][]journal.Part
	same := make([]bool, len(parts[0]))
	err = atOnce(ctx, len(same), func(ctx context.Context, i int) error {
		a, b := parts[0][i], parts[1][i]
		if t.segment(0, a) != t.segment(1, b) {
			return nil
		}
		twins, err := areTwins(ctx, t.runs[0].in, a, t.runs[1].in, b)
		same[i] = twins && err == nil
		return ctx.Err() // what is wrong with the part shows when it is decoded
	})
	for i, is := range same {
		if is {
			rows += parts[1][i].Rows
			continue
		}
		rest[0], rest[1] = append(rest[0], parts[0][i]), append(rest[1], parts[1][i])
	}
	*parts = rest
	return rows, err
}

// atOnce calls f with the numbers below n, several at a time, and returns the error of
// the least.
func atOnce(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	found := make([]error, n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			if found[i] = ctx.Err(); found[i] == nil {
				found[i] = f(ctx, i)
			}
			return nil
		})
	}
	g.Wait() // errors are in found
	for _, err := range found {
		if err != nil {
			return err
		}
	}
	return nil
}

// part adds the rows of a part that are compared.
func (t *comparing) part(ctx context.Context, side int, part journal.Part) error {
	r := &partRows{comparing: t}
	err := r.read(ctx, side, part)
	if err != nil {
		if side == 0 {
			err = unreadable(part.Path, err)
		}
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	segment := t.segment(side, part)
	sum := t.sums[side][segment]
	sum.join(r.sum)
	t.sums[side][segment] = sum
	t.unseen += r.unseen
	t.strange = t.strange || r.strange
	for i := range r.omit {
		o := &r.omit[i]
		for _, name := range o.names {
			if !slices.Contains(t.left[o.at], name) {
				t.left[o.at] = append(t.left[o.at], name)
			}
		}
	}
	return nil
}

// partRows adds up the rows of a part that are compared.
type partRows struct {
	*comparing
	sum     rowSum
	hashing *hashing
	seq     int // the field of a row that has it, -1 for none
	omit    []omitted
	seqs    seqOrder
	unseen  int64 // rows of targets that are not sampled
	strange bool
}

// omitted are rows of a part that an omission leaves out.
type omitted struct {
	at    int // of the omission
	field int // of a row
	names []string
}

func (r *partRows) read(ctx context.Context, side int, part journal.Part) (err error) {
	opened, err := rowio.OpenPart(ctx, r.runs[side].in, part)
	if err != nil {
		return err
	}
	defer opened.Close()
	row := schema.Describe(r.table).Row()
	if side == 0 {
		if err := checkColumns(opened.File, row, r.columns); err != nil {
			return err
		}
	}
	selection := rowio.Selection{Columns: r.columns, Bounds: side == 0}
	if side == 0 && r.sampled != nil && slices.Contains(r.columns, "seq") {
		hosts, err := r.sampled.hosts(ctx, part.Segment)
		if err != nil {
			return err
		}
		if err := r.findStrange(ctx, opened.File, hosts); err != nil {
			return err
		}
		selection.Rows, err = r.lookAhead(ctx, opened.File, hosts)
		if r.unseen = part.Rows; err != nil || len(selection.Rows) == 0 {
			return err
		}
		for _, rows := range selection.Rows {
			r.unseen -= rows[1] - rows[0]
		}
	}
	r.hashing, r.seq = r.hash.of(row, r.columns), -1
	for _, f := range r.hashing.fields {
		column := schema.ColumnOf(row.Field(f.number))
		if column == "seq" {
			r.seq = f.number
		}
		for at := range r.comparing.omit {
			if r.comparing.omit[at].column == column {
				r.omit = append(r.omit, omitted{at: at, field: f.number})
			}
		}
	}
	var own error // of batch
	err = rowio.ReadType(ctx, opened.File, selection, row, func(batch reflect.Value) error {
		own = r.batch(batch)
		return own
	})
	if err != nil && own == nil && ctx.Err() == nil {
		err = rowio.Unreadable(r.runs[side].in, part, err)
	}
	return err
}

func (r *partRows) batch(batch reflect.Value) error {
	for i := range batch.Len() {
		row := batch.Index(i)
		if r.seq >= 0 {
			if err := r.seqs.grow(row.Field(r.seq).Int(), r.table); err != nil {
				return err
			}
		}
		if !r.isOmitted(row) {
			r.sum.add(r.hashing.row(row.Addr().UnsafePointer()))
		}
	}
	return nil
}

// isOmitted reports whether a row is left out, and remembers as what.
func (r *partRows) isOmitted(row reflect.Value) bool {
	for i := range r.omit {
		o := &r.omit[i]
		cell := row.Field(o.field)
		if cell.Kind() == reflect.Pointer {
			if cell.IsNil() {
				continue
			}
			cell = cell.Elem()
		}
		if name := r.comparing.omit[o.at].name(cell.String()); name != "" {
			if !slices.Contains(o.names, name) {
				o.names = append(o.names, name)
			}
			return true
		}
	}
	return false
}

// seqOrder checks that seqs do not fall, and grow where each row is a target.
type seqOrder struct {
	last int64
	some bool
}

func (o *seqOrder) grow(seq int64, table string) error {
	if o.some && (seq < o.last || seq == o.last && table == "fetches") {
		return fmt.Errorf("seq %d follows seq %d", seq, o.last)
	}
	o.last, o.some = seq, true
	return nil
}
