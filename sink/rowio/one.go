package rowio

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// seqRow has the target of a row.
type seqRow struct {
	Seq int64 `parquet:"seq"`
}

// EachSeq calls each with the seqs of all rows, in their order, those of a page at a time. It
// must not keep them.
func (f *File) EachSeq(ctx context.Context, each func(seqs []int64) error) (err error) {
	defer Recovered(&err)
	leaves, err := f.leaves(leavesOf(reflect.TypeFor[seqRow]()), nil, false)
	if err != nil {
		return err
	}
	return f.eachGroup(ctx, leaves, nil, func(g *group) error {
		c := g.seq
		for rows := int64(0); ; rows += int64(c.n) {
			if err := c.load(); err != nil {
				return err
			}
			if c.n == 0 && rows != g.rows {
				return c.damaged(errors.New("has fewer or more rows than its row group"))
			}
			if c.n == 0 {
				return nil
			}
			seqs, err := c.take(c.n)
			if err != nil {
				return c.damaged(err)
			}
			if err := each(seqs); err != nil {
				return err
			}
			c.at = c.n
		}
	})
}

// EachText calls each with the texts of a column that is in no list: once for a row group
// those of a dictionary, and each of another page. It must not keep them.
func (f *File) EachText(ctx context.Context, column string, each func(text []byte)) (err error) {
	defer Recovered(&err)
	leaves := f.others(nil)
	at := slices.IndexFunc(leaves, func(l leaf) bool { return l.path == column && l.kind == parquet.ByteArray })
	if at < 0 {
		return fmt.Errorf("has no texts in a column %s", column)
	}
	give := func(_ string, text []byte) { each(text) }
	return f.eachGroup(ctx, leaves[at:at+1], give, func(g *group) error {
		c := g.others[0].(*cells[struct{}])
		isPlain := func(p chunkPage) bool { return !p.Coded }
		if c.skips == nil || slices.ContainsFunc(c.skips.pages, isPlain) {
			return drained(g.others, g.rows)
		}
		d, err := c.pages.(*parquet.FilePages).ReadDictionary()
		if err != nil {
			return c.damaged(err)
		}
		if d == nil { // the footer does not say where it is
			return drained(g.others, g.rows)
		}
		for i := range d.Len() {
			each(d.Index(int32(i)).ByteArray())
		}
		return nil
	})
}

// eachGroup calls f with the row groups, of which some columns are open.
func (f *File) eachGroup(
	ctx context.Context, leaves []leaf, text func(column string, text []byte), each func(*group) error,
) error {
	for i := range f.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return err
		}
		g, err := f.group(i, leaves, text)
		if err != nil {
			return err
		}
		err = each(g)
		g.close()
		if err != nil {
			return err
		}
	}
	return nil
}
