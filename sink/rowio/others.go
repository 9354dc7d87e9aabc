package rowio

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// others returns the columns of the file that are not in leaves. They have no type of a field.
func (f *File) others(leaves []leaf) (out []leaf) {
	read := make(map[int]bool)
	for _, l := range leaves {
		read[l.column] = true
	}
	schema := f.file.Schema()
	for i, path := range schema.Columns() {
		if has, _ := schema.Lookup(path...); !read[i] {
			out = append(out, leaf{
				path: strings.Join(path, "."), column: i, kind: has.Node.Type().Kind(),
				maxDef: has.MaxDefinitionLevel, maxRep: has.MaxRepetitionLevel,
			})
		}
	}
	return out
}

// newOther returns a column that is decoded and fills no field. It gives each text that the
// column has, of a dictionary once, unless it is that of a list.
func newOther(chunk *parquet.FileColumnChunk, l leaf, each func(column string, text []byte)) column {
	switch l.kind {
	case parquet.ByteArray, parquet.Int64, parquet.Int32, parquet.Double, parquet.Boolean:
	default: // a type that no table has
		return &cells[struct{}]{leaf: l, pages: noPages{}}
	}
	c := &cells[struct{}]{leaf: l, chunk: chunk, pages: l.open(chunk)}
	name, given := l.name(), l.kind == parquet.ByteArray && l.maxRep == 0
	var from parquet.Dictionary
	var has []bool // of its values, those that were given
	c.decode = func(p parquet.Page) (func(int) ([]struct{}, error), error) {
		data := p.Data()
		var left int // values
		switch d := p.Dictionary(); {
		case d != nil:
			if d != from {
				from, has = d, make([]bool, d.Len())
			}
			words := data.Int32()
			left = len(words)
			if err := used(words, has, func(w int32) {
				if given {
					each(name, d.Index(w).ByteArray())
				}
			}); err != nil {
				return nil, err
			}
		case l.kind == parquet.ByteArray:
			bytes, offsets := data.ByteArray()
			left = len(offsets) - 1
			for i := 0; given && i < left; i++ {
				each(name, bytes[offsets[i]:offsets[i+1]])
			}
		default:
			left = valuesOf(l.kind, p)
		}
		return func(n int) ([]struct{}, error) {
			if left -= n; left < 0 {
				return nil, errValues
			}
			return nil, nil
		}, nil
	}
	return c
}

// used calls first with each word that has does not have yet, and marks it.
func used(words []int32, has []bool, first func(int32)) error {
	for _, w := range words {
		if uint(w) >= uint(len(has)) {
			return errDictionary
		}
		if !has[w] {
			has[w] = true
			first(w)
		}
	}
	return nil
}

// valuesOf returns the number of values of a page without a dictionary.
func valuesOf(kind parquet.Kind, p parquet.Page) int {
	data := p.Data()
	switch kind {
	case parquet.Int64:
		return len(data.Int64())
	case parquet.Int32:
		return len(data.Int32())
	case parquet.Double:
		return len(data.Double())
	}
	return len(booleans(p))
}

// noPages are those of a column that cannot be decoded.
type noPages struct{}

func (noPages) ReadPage() (parquet.Page, error) { return nil, errors.New("a type that no table has") }
func (noPages) SeekToRow(int64) error           { return io.EOF }
func (noPages) Close() error                    { return nil }

// drained reads columns to their ends. Each must have as many rows as the row group, and
// those of a list must agree where its elements are.
func drained(columns []column, rows int64) error {
	list, shape := "", uint64(0)
	for _, c := range columns {
		n, s, err := c.drain()
		switch {
		case err != nil:
			return err
		case n != rows:
			return c.damaged(errors.New("has fewer or more rows than its row group"))
		case s != 0 && c.name() == list && s != shape:
			return c.damaged(errors.New("the columns of a list have different lengths"))
		}
		list, shape = c.name(), s
	}
	return nil
}

var shapes = maphash.MakeSeed()

// drain reads the entries that are left. It returns the number of rows, and for a list a
// hash of where its elements are.
func (c *cells[V]) drain() (rows int64, shape uint64, err error) {
	var places maphash.Hash
	places.SetSeed(shapes)
	var place []byte
	for {
		if err := c.load(); err != nil {
			return 0, 0, err
		}
		if c.n == 0 {
			return rows, shape, nil
		}
		present := c.n
		if c.maxDef > 0 {
			present = bytes.Count(c.defs, []byte{byte(c.maxDef)})
		}
		if _, err := c.take(present); err != nil {
			return 0, 0, c.damaged(err)
		}
		c.at = c.n
		if c.maxRep == 0 {
			rows += int64(c.n)
			continue
		}
		place = place[:0]
		for i, r := range c.page.RepetitionLevels() {
			if r == 0 {
				rows++
			}
			place = append(place, r<<1|min(c.defs[i], 1))
		}
		places.Write(place)
		shape = places.Sum64() | 1
	}
}
