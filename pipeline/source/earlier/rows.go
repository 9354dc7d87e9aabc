package earlier

import (
	"context"
	"fmt"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// mostRows bounds the rows of fetches that are read at once. A piece of a segment has 2,048
// targets, and a row group has those of one piece.
const mostRows = 1 << 14

// mostValues bounds the mean number of values in a list: hops, and answers in memory.
const mostValues = 32

// fewRows is how many rows a row group has at least, when the values in its lists are bounded.
const fewRows = 256

// fits reads the parts that have the needed columns, as a manifest may say that one has, and
// whose row groups pass a check: they may be those of a part that somebody else wrote.
func fits(check func(p journal.Part, g rowio.Group) error) rowio.Selection {
	return rowio.Selection{Partial: true, Part: func(p journal.Part, f *rowio.File) (bool, error) {
		err := journal.Lacking(journal.NeededBut(p.Table, f.Has))
		for _, g := range f.Groups() {
			if err == nil {
				err = check(p, g)
			}
		}
		if err != nil {
			return false, fmt.Errorf("read %s: %w", p.Path, err)
		}
		return true, nil
	}}
}

// anyRows reads rows one by one.
var anyRows = fits(func(p journal.Part, g rowio.Group) error {
	if g.Values > mostValues*(g.Rows+fewRows) {
		return fmt.Errorf("a column of %s has %d values in %d rows", p.Table, g.Values, g.Rows)
	}
	return nil
})

// eachGroup calls f with the rows of each row group of parts of fetches.
func eachGroup(ctx context.Context, in store.Store, parts []journal.Part, f func([]schema.Fetch) error) error {
	var sizes []int64
	groups := fits(func(p journal.Part, g rowio.Group) error {
		if g.Rows > mostRows || g.Rows > p.Rows {
			return fmt.Errorf("a row group of %d rows, where the part has %d", g.Rows, p.Rows)
		}
		if g.Values > mostValues*mostRows { // of lists, a row may have any number
			return fmt.Errorf("a column of a row group has %d values, more than %d for each of %d rows",
				g.Values, mostValues, mostRows)
		}
		if g.Rows > 0 {
			sizes = append(sizes, g.Rows)
		}
		return nil
	})
	var rows []schema.Fetch
	return rowio.Of(ctx, in, parts, groups, func(batch []schema.Fetch) error {
		if rows = append(rows, batch...); int64(len(rows)) < sizes[0] {
			return nil
		}
		group := rows
		rows, sizes = nil, sizes[1:]
		return f(group)
	})
}
