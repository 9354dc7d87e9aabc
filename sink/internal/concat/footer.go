package concat

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A path leads to a value: the numbers of the fields on the way, a byte each, as in
// parquet.thrift. It passes over lists.
type path uint64

const (
	// Fields of FileMetaData are the roots of paths in the footer.
	fileRows       path = 3
	fileGroups     path = 4
	fileOrders     path = 7
	fileEncryption path = 8
	schemaType     path = 0x0201 // only leaves of the schema have a type

	groupColumns = fileGroups<<8 | 1
	groupRows    = fileGroups<<8 | 3
	groupOffset  = fileGroups<<8 | 5
	groupOrdinal = fileGroups<<8 | 7

	chunkFile         = groupColumns<<8 | 1
	chunkOffset       = groupColumns<<8 | 2
	chunkMeta         = groupColumns<<8 | 3
	offsetIndexOffset = groupColumns<<8 | 4
	offsetIndexLength = groupColumns<<8 | 5
	columnIndexOffset = groupColumns<<8 | 6
	columnIndexLength = groupColumns<<8 | 7
	chunkEncryption   = groupColumns<<8 | 8

	compressedSize   = chunkMeta<<8 | 7
	dataOffset       = chunkMeta<<8 | 9
	indexOffset      = chunkMeta<<8 | 10
	dictionaryOffset = chunkMeta<<8 | 11
	bloomOffset      = chunkMeta<<8 | 14
	bloomLength      = chunkMeta<<8 | 15

	// Roots of paths in page indexes are not fields of FileMetaData.
	columnIndexRoot path = 0xF0
	offsetIndexRoot path = 0xF1
	pageOffset           = (offsetIndexRoot<<8|1)<<8 | 1
	pageSize             = (offsetIndexRoot<<8|1)<<8 | 2
)

// kinds has the types of the fields that this package uses: readers pass over a field
// of another type.
var kinds = map[path]byte{
	fileRows: int64s, schemaType: int32s, groupRows: int64s, groupOffset: int64s, groupOrdinal: int16s,
	chunkOffset: int64s, offsetIndexOffset: int64s, offsetIndexLength: int32s, columnIndexOffset: int64s, columnIndexLength: int32s,
	compressedSize: int64s, dataOffset: int64s, indexOffset: int64s, dictionaryOffset: int64s, bloomOffset: int64s, bloomLength: int32s,
	pageOffset: int64s, pageSize: int32s,
	fileEncryption: refused, chunkFile: refused, chunkEncryption: refused,
}

// refused is the kind of a field that no file may have.
const refused = 0

// footer is the FileMetaData of a file in its encoded form, split where the files
// are joined.
type footer struct {
	schema []byte // the fields before the number of rows, and its header
	rows   int64
	count  int    // of row groups
	groups []byte // the row groups
	rest   []byte // the fields after the row groups
	orders []byte // of these, the order of values of each column

	chunks  []chunk
	dataEnd int64 // where chunks and Bloom filters end
}

// chunk says where the bytes of a column chunk are.
type chunk struct {
	pages, bloom, columnIndex, offsetIndex span
	data                                   int64 // begin of the data pages, which end the pages
}

// span is a range of bytes of a file.
type span struct{ from, to int64 }

func (s span) length() int64 { return s.to - s.from }

// parseFooter parses and checks a footer that begins at end in its file.
func parseFooter(encoded []byte, end int64) (footer, error) {
	p := parser{end: end, found: make(map[path]int64)}
	c := &cursor{in: encoded, number: p.number, end: p.leave}
	f, last := &p.footer, int16(0)
	for {
		kind, more := c.field(&last)
		if !more {
			break
		}
		begin, at := c.at, path(last)
		switch {
		case at == fileRows:
			f.schema = encoded[:begin]
			c.value(kind, at)
		case at == fileGroups && kind == lists:
			_, f.count = c.list()
			begin = c.at
			for range f.count {
				c.structure(at)
			}
			f.groups, f.rest = encoded[begin:c.at], encoded[c.at:]
		default:
			c.value(kind, at)
			if at == fileOrders {
				f.orders = encoded[begin:c.at]
			}
		}
	}
	switch {
	case c.err != nil:
	case c.at < len(encoded):
		c.err = errors.New("something follows its end")
	case f.schema == nil || f.rest == nil:
		c.err = errors.New("it has no number of rows, or no row groups")
	case p.ordinals != int64(f.count):
		c.err = errors.New("a row group has no ordinal")
	case p.left != 0:
		c.err = fmt.Errorf("its row groups lack %d of the %d rows", p.left, f.rows)
	default:
		c.err = f.cover(end)
	}
	if c.err != nil {
		return footer{}, fmt.Errorf("damaged or foreign footer: %w", c.err)
	}
	return *f, nil
}

// parser collects what a footer says.
type parser struct {
	footer
	end int64

	leaves  int   // of the schema
	left    int64 // rows that are in none of the row groups so far
	columns int   // of the row group so far

	ordinals int64          // that row groups had so far
	found    map[path]int64 // numbers of the chunk
}

// number is called for each number.
func (p *parser) number(at path, v int64) (int64, error) {
	switch at {
	case schemaType:
		p.leaves++
	case fileRows:
		p.rows, p.left = v, v
	case groupRows:
		if v < 0 || v > p.left {
			return 0, fmt.Errorf("a row group of %d rows, where the file has %d more", v, p.left)
		}
		p.left -= v
	case groupOrdinal:
		if v != p.ordinals {
			return 0, fmt.Errorf("row group %d has ordinal %d", p.ordinals, v)
		}
		p.ordinals++
	case groupOffset, chunkOffset, indexOffset:
		if v < 0 || v > p.end {
			return 0, fmt.Errorf("offset %d, where the footer is at %d", v, p.end)
		}
	default:
		if at>>8 == groupColumns || at>>8 == chunkMeta {
			p.found[at] = v
		}
	}
	return v, nil
}

// leave is called after each struct.
func (p *parser) leave(at path) error {
	switch at {
	case groupColumns:
		c, err := chunkOf(p.found, p.end)
		if err != nil {
			return err
		}
		clear(p.found)
		p.chunks = append(p.chunks, c)
		p.columns++
	case fileGroups:
		if p.columns != p.leaves {
			return fmt.Errorf("a row group of %d columns, where the schema has %d", p.columns, p.leaves)
		}
		p.columns = 0
	}
	return nil
}

// chunkOf returns the chunk with these numbers.
func chunkOf(found map[path]int64, end int64) (c chunk, err error) {
	c.data = found[dataOffset]
	begin := c.data
	if dictionary := found[dictionaryOffset]; dictionary != 0 {
		begin = dictionary
	}
	for _, s := range []struct {
		*span
		what         string
		from, length int64
		needed       bool
	}{
		{&c.pages, "column chunk", begin, found[compressedSize], true},
		{&c.bloom, "Bloom filter", found[bloomOffset], found[bloomLength], false},
		{&c.columnIndex, "column index", found[columnIndexOffset], found[columnIndexLength], false},
		{&c.offsetIndex, "offset index", found[offsetIndexOffset], found[offsetIndexLength], false},
	} {
		if s.from == 0 && s.length == 0 && !s.needed {
			continue
		}
		if s.from < int64(len(magic)) || s.from > end || s.length <= 0 || s.length > end-s.from {
			return chunk{}, fmt.Errorf("a %s of %d bytes at %d, where %d bytes are before the footer", s.what, s.length, s.from, end)
		}
		*s.span = span{s.from, s.from + s.length}
	}
	if c.data < c.pages.from || c.data >= c.pages.to {
		return chunk{}, fmt.Errorf("data pages at %d, outside their chunk", c.data)
	}
	return c, nil
}

// cover checks that the chunks cover each byte between the magic number and the
// footer once, and finds the end of the data.
func (f *footer) cover(end int64) error {
	f.dataEnd = int64(len(magic))
	var all []span
	for _, c := range f.chunks {
		f.dataEnd = max(f.dataEnd, c.pages.to, c.bloom.to)
		all = append(all, c.pages, c.bloom, c.columnIndex, c.offsetIndex)
	}
	for _, c := range f.chunks {
		for _, s := range []span{c.columnIndex, c.offsetIndex} {
			if s.length() > 0 && s.from < f.dataEnd {
				return fmt.Errorf("a page index at %d, where data ends at %d", s.from, f.dataEnd)
			}
		}
	}
	all = slices.DeleteFunc(all, func(s span) bool { return s.length() == 0 })
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	at := int64(len(magic))
	for _, s := range append(all, span{end, end}) {
		if s.from != at {
			return fmt.Errorf("of the bytes from %d to %d it says nothing, or two things", min(at, s.from), max(at, s.from))
		}
		at = s.to
	}
	return nil
}

// head returns what precedes the row groups, with other numbers of rows and groups.
func (f *footer) head(rows int64, groups int) []byte {
	const next = 1 << 4 // the field with the next number
	out := append(binary.AppendVarint(slices.Clone(f.schema), rows), next|lists)
	if groups < 0xF {
		return append(out, byte(groups)<<4|structs)
	}
	return binary.AppendUvarint(append(out, 0xF<<4|structs), uint64(groups))
}
