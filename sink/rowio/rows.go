// Package rowio reads Parquet files into plain structs, column by column.
//
// A struct names its columns by their parquet tags, as package schema writes them; it may
// have few of a table's columns. [Read] fills a bounded batch of rows at a time. Rows own
// their texts, lists and nullable cells: they may be kept. A text that repeats is copied
// once for each row group.
//
// Files may be damaged or hostile. Pages are checked before they are decoded (pages.go),
// a column must have the type and the levels of its field, and a panic of parquet-go becomes
// an error.
//
// It exists for speed and for plainness. parquet-go's generic reader takes nine times as
// long, as it assembles each row from values; Arrow's columns want a name and a type for each
// use. It fills fields with unsafe, through their offsets, which come from reflection over the
// row type, never from data.
package rowio

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
)

// batchRows is the most rows of a batch.
const batchRows = 1024

// Overwrite makes [Read] write over a batch once each has returned: tests that set it see who
// keeps a row, and not a copy of it.
var Overwrite bool

func overwrite(batch reflect.Value) {
	row := reflect.New(batch.Type().Elem()).Elem()
	if row.Kind() != reflect.Struct { // of texts, see [Foreign.Read]
		batch.Clear()
		return
	}
	for _, field := range row.Fields() {
		switch field.Kind() {
		case reflect.String:
			field.SetString("overwritten")
		case reflect.Int64, reflect.Int32:
			field.SetInt(-0x5555)
		case reflect.Bool:
			field.SetBool(true)
		}
	}
	for i := range batch.Len() {
		batch.Index(i).Set(row)
	}
}

// Selection says which rows, and which columns of their type, are read.
type Selection struct {
	// Columns are the columns to read, nil for all of the row type. The fields of others stay
	// zero.
	Columns []string
	// Wanted reports whether a row group whose statistics give seqs from least to greatest may
	// hold wanted rows; if the row type has seq, also whether a batch with these seqs does. Nil
	// wants all.
	Wanted func(least, greatest int64) bool
	// Rows are the ranges of rows of the file to read, each up to and without its second
	// number, ascending; nil for all. A row group without any of them is not read.
	Rows [][2]int64
	// Part is asked of each part that [Of] opens whether its rows are read; nil for all. Its error
	// is returned unchanged.
	Part func(p journal.Part, f *File) (bool, error)
	// Partial says that the file may lack any column, whose field stays zero then.
	Partial bool
	// Bounds says that a value outside of the statistics of its row group is an error.
	Bounds bool
	// Texts, if it is not nil, has the columns decoded, too, that the row type lacks. It is given
	// the texts of these that are not in lists: once for a row group those of a dictionary, and
	// each of another page. It must not keep them.
	Texts func(column string, text []byte)

	groups func(group int) bool // whether a row group may hold wanted rows; nil for all
}

// Within returns a Selection.Wanted for the rows with the given seqs, which must be sorted.
func Within(seqs []int64) func(least, greatest int64) bool {
	return func(least, greatest int64) bool {
		i, _ := slices.BinarySearch(seqs, least)
		return i < len(seqs) && seqs[i] <= greatest
	}
}

// Read reads a file, in the order of its rows. A batch is valid until each returns, and what
// its rows hold stays valid.
//
// A field tagged rowio:"maybe" stays zero where the file lacks its column. A field of a
// pointer may read a column without nulls.
func Read[T any](ctx context.Context, f *File, s Selection, each func(batch []T) error) (err error) {
	batch := make([]T, batchRows)
	return f.read(ctx, s, reflect.ValueOf(batch), func(n int) error { return each(batch[:n]) })
}

// ReadType is [Read] for rows of a type that is known when the program runs: a batch is a
// slice of it.
func ReadType(ctx context.Context, f *File, s Selection, row reflect.Type, each func(batch reflect.Value) error) error {
	batch := reflect.MakeSlice(reflect.SliceOf(row), batchRows, batchRows)
	return f.read(ctx, s, batch, func(n int) error { return each(batch.Slice(0, n)) })
}

// read reads a file into a batch, again and again.
func (f *File) read(ctx context.Context, s Selection, batch reflect.Value, each func(n int) error) error {
	return f.readGroups(ctx, s, batch, func() ([]leaf, error) {
		leaves, err := f.leaves(leavesOf(batch.Type().Elem()), s.Columns, s.Partial)
		if err == nil && s.Texts != nil {
			leaves = append(leaves, f.others(leaves)...)
		}
		for i := range leaves {
			leaves[i].bounded = s.Bounds
		}
		return leaves, err
	}, each)
}

func (f *File) readGroups(
	ctx context.Context, s Selection, batch reflect.Value, columns func() ([]leaf, error), each func(n int) error,
) (err error) {
	isOurs := false // what runs is each, whose panics are not about the file
	defer func() {
		if !isOurs {
			err = recovered(recover(), err)
		}
	}()
	leaves, err := columns()
	if err != nil {
		return err
	}
	base := int64(0) // the first row of the row group
	for i, of := range f.file.RowGroups() {
		first := base
		base += of.NumRows()
		rows := s.rowsOf(first, base)
		if len(rows) == 0 || !f.isWanted(i, s.Wanted) || s.groups != nil && !s.groups(i) {
			continue
		}
		g, err := f.group(i, leaves, s.Texts)
		if err != nil {
			return err
		}
		g.wanted = s.Wanted
		if err := g.read(ctx, batch, rows, func(n int) error {
			isOurs = true
			if err := each(n); err != nil {
				return err
			}
			isOurs = false
			if Overwrite {
				overwrite(batch)
			}
			return nil
		}); err != nil {
			g.close()
			return err
		}
		if s.Rows != nil {
			g.close()
		} else if err := g.end(); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the ranges of rows that are read of those from first to before end, counted
// from first.
func (s *Selection) rowsOf(first, end int64) (out [][2]int64) {
	if s.Rows == nil {
		return [][2]int64{{0, end - first}}
	}
	next, _ := slices.BinarySearchFunc(s.Rows, first+1, func(r [2]int64, row int64) int { return cmp.Compare(r[1], row) })
	for _, r := range s.Rows[next:] {
		if r[0] >= end {
			break
		}
		out = append(out, [2]int64{max(r[0], first) - first, min(r[1], end) - first})
	}
	return out
}

// isWanted reports whether a row group may hold a wanted seq.
func (f *File) isWanted(group int, wanted func(least, greatest int64) bool) bool {
	seq, ok := f.file.Schema().Lookup("seq")
	if wanted == nil || !ok || seq.Node.Type().Kind() != parquet.Int64 {
		return true
	}
	least, greatest, ok := f.file.RowGroups()[group].ColumnChunks()[seq.ColumnIndex].(*parquet.FileColumnChunk).Bounds()
	return !ok || least.IsNull() || greatest.IsNull() || wanted(least.Int64(), greatest.Int64())
}

// A group is a row group that is read.
type group struct {
	columns []filler
	others  []column // which are read at the end
	rows    int64
	left    int64                            // rows
	seq     *cells[int64]                    // of columns; nil if there is none
	wanted  func(least, greatest int64) bool // see Selection
}

// A filler fills one field of rows, or one list.
type filler interface {
	// most returns how many rows, of at most n, the next batch may have.
	most(n int) (int, error)
	// fill fills the field of n rows.
	fill(first unsafe.Pointer, stride uintptr, n int) error
	// seek goes to a row, before anything is read.
	seek(row int64) error
	// pass goes over rows.
	pass(rows int64) error
	// end returns an error if rows are left, and close gives the pages back.
	end() error
	close()
}

// group opens the columns of a row group.
func (f *File) group(i int, leaves []leaf, each func(column string, text []byte)) (*group, error) {
	leaves = slices.DeleteFunc(slices.Clone(leaves), func(l leaf) bool { return l.column < 0 })
	if err := f.check(i, leaves); err != nil {
		return nil, err
	}
	return f.columns(i, leaves, each), nil
}

// columns opens columns of a row group, whose pages are checked.
func (f *File) columns(i int, leaves []leaf, each func(column string, text []byte)) *group {
	of := f.file.RowGroups()[i]
	g := &group{rows: of.NumRows(), left: of.NumRows()}
	var lists []*list
	for _, l := range leaves {
		chunk := of.ColumnChunks()[l.column].(*parquet.FileColumnChunk)
		if l.goType == nil {
			g.others = append(g.others, newOther(chunk, l, each))
			continue
		}
		c := newCells(chunk, l)
		switch at := len(lists); {
		case l.list == nil:
			if seq, ok := c.(*cells[int64]); ok && l.path == "seq" && l.maxDef == 0 {
				g.seq = seq
			}
			g.columns = append(g.columns, c)
		case at > 0 && lists[at-1].of == l.list:
			lists[at-1].leaves = append(lists[at-1].leaves, c)
		default:
			lists = append(lists, &list{of: l.list, leaves: []column{c}})
			g.columns = append(g.columns, lists[at])
		}
	}
	return g
}

// check checks that a row group has columns, and their pages. It says of each leaf which
// pages it has.
func (f *File) check(i int, leaves []leaf) error {
	m := f.file.Metadata().RowGroups[i]
	var chunks []pageChunk
	for _, l := range leaves {
		if l.column >= len(m.Columns) {
			return fmt.Errorf("damaged Parquet: row group %d has no column %s", i, l.name())
		}
		data := &m.Columns[l.column].MetaData
		if strings.Join(data.PathInSchema, ".") != l.path || parquet.Kind(data.Type) != l.kind {
			return fmt.Errorf("damaged Parquet: row group %d has no column %s of the type that its schema has", i, l.name())
		}
		from, err := pagesFrom(data)
		if err != nil {
			return l.damaged(err)
		}
		chunks = append(chunks, pageChunk{
			From: from, Length: data.TotalCompressedSize, Codec: data.Codec,
			MaxDef: l.maxDef, MaxRep: l.maxRep, Foreign: l.read != nil,
		})
	}
	if err := checkPages(f.in, f.size, chunks); err != nil {
		return fmt.Errorf("damaged Parquet: row group %d: %w", i, err)
	}
	for j := range leaves {
		if err := chunks[j].hasRows(m.NumRows); err != nil {
			return leaves[j].damaged(err)
		}
		data := &m.Columns[leaves[j].column].MetaData
		leaves[j].skips = skipsOf(f.in, data, &chunks[j])
		if leaves[j].bounded {
			leaves[j].bounds = boundsOf(f.file.RowGroups()[i].ColumnChunks()[leaves[j].column].Type(), &data.Statistics)
		}
	}
	return nil
}

// read fills a batch with ranges of rows, again and again.
func (g *group) read(ctx context.Context, batch reflect.Value, rows [][2]int64, each func(n int) error) error {
	size := batch.Type().Elem().Size()
	for _, r := range rows {
		if err := g.pass(r[0]); err != nil {
			return err
		}
		for left := r[1] - r[0]; left > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			some := int(min(left, batchRows))
			batch.Slice(0, some).Clear()
			n, wanted, err := g.fill(batch.UnsafePointer(), size, some)
			if err != nil {
				return err
			}
			if wanted {
				if err := each(n); err != nil {
					return err
				}
			}
			left -= int64(n)
		}
	}
	return nil
}

// pass goes over the rows before a row. It does not seek them: that would believe the
// offset index, by which somebody could show other rows.
func (g *group) pass(row int64) error {
	for _, c := range g.columns {
		if err := c.pass(row - (g.rows - g.left)); err != nil {
			return err
		}
	}
	g.left = g.rows - row
	return nil
}

// fill fills the next batch, of at most most rows, or goes over it if it holds no wanted row.
func (g *group) fill(first unsafe.Pointer, stride uintptr, most int) (n int, wanted bool, err error) {
	n = int(min(int64(most), g.left))
	for _, c := range g.columns {
		if n, err = c.most(n); err != nil {
			return 0, false, err
		}
	}
	wanted = true
	if g.seq != nil && g.wanted != nil {
		if err := g.seq.fill(first, stride, n); err != nil {
			return 0, false, err
		}
		least, greatest := int64(math.MaxInt64), int64(math.MinInt64)
		for i := range n {
			seq := *(*int64)(unsafe.Add(first, g.seq.offset+uintptr(i)*stride))
			least, greatest = min(least, seq), max(greatest, seq)
		}
		wanted = g.wanted(least, greatest)
	}
	for _, c := range g.columns {
		switch {
		case c == filler(g.seq) && g.wanted != nil:
		case wanted:
			err = c.fill(first, stride, n)
		default:
			err = c.pass(int64(n))
		}
		if err != nil {
			return 0, false, err
		}
	}
	g.left -= int64(n)
	return n, wanted, nil
}

func (g *group) end() error {
	defer g.close()
	for _, c := range g.columns {
		if err := c.end(); err != nil {
			return err
		}
	}
	return drained(g.others, g.rows)
}

func (g *group) close() {
	for _, c := range g.columns {
		c.close()
	}
	for _, c := range g.others {
		c.close()
	}
}
