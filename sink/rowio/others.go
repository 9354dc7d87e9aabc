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

// newOther returns a column that is decoded and fills no field.
func newOther(chunk *parquet.FileColumnChunk, l leaf, each func(column string, text []byte)) column {
	switch l.kind {
	case parquet.ByteArray:
		name := l.name()
		return texts(l, chunk, func(b []byte) []byte {
			if l.maxRep == 0 {
				each(name, b)
			}
			return nil
		})
	case parquet.Int64:
		return numbers(l, chunk, int64s)
	case parquet.Int32:
		return numbers(l, chunk, int32s)
	case parquet.Double:
		return numbers(l, chunk, doubles)
	case parquet.Boolean:
		return numbers(l, chunk, booleans)
	}
	return &cells[bool]{leaf: l, pages: noPages{}} // a type that no table has
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
			return c.failed(errors.New("has fewer or more rows than its row group"))
		case s != 0 && c.name() == list && s != shape:
			return c.failed(errors.New("the columns of a list have different lengths"))
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
			return 0, 0, c.failed(err)
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
