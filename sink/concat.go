package sink

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// One Parquet file is made of many, with their row groups as they are.
//
// The bytes of a file's column chunks and Bloom filters are copied as one block, so
// each offset into them moves by the same distance. The column indexes and offset
// indexes of all files follow the blocks, as readers expect them, and then one
// footer. Nothing is decoded but the footers and offset indexes, which hold the
// offsets.
//
// parquet-go 0.32 can copy a row group too, but decodes and encodes it again if a Bloom
// filter does not have the size for its number of values (those of package shred have
// the size for distinct values), and takes a source that ends early for whole.
// arrow-go has no way to copy encoded pages.
//
// The files are parts, whose digests the caller has compared. What a footer names must
// cover each byte of the file once, so that nothing is lost if a writer puts something
// there that this code does not know.

// A namedFile is a file to concatenate.
type namedFile struct {
	Name string // for errors
	io.ReaderAt
	Size int64
}

const parquetMagic = "PAR1"

const (
	// maxGroups is the most row groups of a file: their ordinal has 16 bits.
	maxGroups = math.MaxInt16

	copyBytes = 256 << 10
)

// concatenate writes to w one Parquet file with the row groups of all files, in their
// order. The files must have the same schema. Key-value metadata and the name of the
// writer are those of the first file. The same files give the same bytes, about as many
// as the files have together.
//
// What the footers say of row groups stays in memory until the last file is copied,
// about 1 KB a column chunk: the caller bounds their number.
//
// concatenate uses a file only until it takes the next one, so files can close each one
// after yielding it. If files yields an error, concatenate returns it. After an error the
// output has no footer, so that no reader takes it for a Parquet file.
func concatenate(w io.Writer, files iter.Seq2[namedFile, error]) error {
	out := &concatenation{w: w, buffer: make([]byte, copyBytes)}
	for f, err := range files {
		if err != nil {
			return err
		}
		if err := out.add(f); err != nil {
			return fmt.Errorf("concatenate %s: %w", f.Name, err)
		}
	}
	if out.footer == nil {
		return errors.New("concatenate: no files")
	}
	return out.close()
}

// A concatenation is the file that concatenate makes.
type concatenation struct {
	w      io.Writer
	at     int64 // bytes written
	buffer []byte

	first  string               // name of the first file
	footer *format.FileMetaData // with offsets of page indexes within these:

	columnIndexes, offsetIndexes []byte
}

// span is a range of bytes of a file.
type span struct{ from, to int64 }

func (s span) length() int64 { return s.to - s.from }

// add copies the chunks of a file and keeps the rest for close.
func (o *concatenation) add(f namedFile) error {
	end, err := footerOf(f)
	if err != nil {
		return err
	}
	opened, err := parquet.OpenFile(f, f.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	m := opened.Metadata()
	data, err := dataOf(m, end)
	if err != nil {
		return err
	}
	indexes := make([]byte, end-data.to)
	if _, err := io.ReadFull(io.NewSectionReader(f, data.to, end-data.to), indexes); err != nil {
		return fmt.Errorf("read page indexes: %w", err)
	}
	groups := m.RowGroups
	switch first := o.footer; {
	case first == nil:
		if err := o.write([]byte(parquetMagic)); err != nil {
			return err
		}
		o.first, o.footer = f.Name, m
		m.NumRows, m.RowGroups = 0, nil
	case !reflect.DeepEqual(m.Schema, first.Schema) || !reflect.DeepEqual(m.ColumnOrders, first.ColumnOrders):
		return fmt.Errorf("its schema is not that of %s", o.first)
	}
	if len(o.footer.RowGroups)+len(groups) > maxGroups {
		return fmt.Errorf("there are more than %d row groups: write several files", maxGroups)
	}
	distance := o.at - data.from
	for i := range groups {
		g := &groups[i]
		g.Ordinal = int16(len(o.footer.RowGroups))
		moveOffset(&g.FileOffset, distance)
		for k := range g.Columns {
			if err := o.addChunk(&g.Columns[k], indexes, data.to, distance); err != nil {
				return err
			}
		}
		o.footer.RowGroups = append(o.footer.RowGroups, *g)
		o.footer.NumRows += g.NumRows
	}
	return o.copy(f, data)
}

// tailBytes is the length of what follows the footer: its length and the magic number.
const tailBytes = 8

// footerOf returns where the footer of a file begins.
func footerOf(f namedFile) (int64, error) {
	if f.Size < int64(len(parquetMagic))+tailBytes {
		return 0, fmt.Errorf("%d bytes are too few for a Parquet file", f.Size)
	}
	var tail [tailBytes]byte
	if _, err := io.ReadFull(io.NewSectionReader(f, f.Size-tailBytes, tailBytes), tail[:]); err != nil {
		return 0, fmt.Errorf("read the length of its footer: %w", err)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > f.Size-tailBytes-int64(len(parquetMagic)) {
		return 0, fmt.Errorf("a footer of %d bytes in a file of %d", length, f.Size)
	}
	return f.Size - tailBytes - length, nil
}

// dataOf returns where column chunks and Bloom filters are, which page indexes follow up
// to the footer at end. It checks that all of them cover each byte once.
func dataOf(m *format.FileMetaData, end int64) (span, error) {
	data := span{int64(len(parquetMagic)), int64(len(parquetMagic))}
	var all []span
	add := func(from, length int64) {
		if length != 0 {
			all = append(all, span{from, from + length})
		}
	}
	for _, g := range m.RowGroups {
		for _, c := range g.Columns {
			add(cmp.Or(c.MetaData.DictionaryPageOffset, c.MetaData.DataPageOffset), c.MetaData.TotalCompressedSize)
			add(c.MetaData.BloomFilterOffset, int64(c.MetaData.BloomFilterLength))
		}
	}
	for _, s := range all {
		data.to = max(data.to, s.to)
	}
	for _, g := range m.RowGroups {
		for _, c := range g.Columns {
			if c.ColumnIndexLength != 0 && c.ColumnIndexOffset < data.to || c.OffsetIndexLength != 0 &&
				c.OffsetIndexOffset < data.to {
				return span{}, fmt.Errorf("a page index before byte %d, where data ends", data.to)
			}
			add(c.ColumnIndexOffset, int64(c.ColumnIndexLength))
			add(c.OffsetIndexOffset, int64(c.OffsetIndexLength))
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	at := data.from
	for _, s := range append(all, span{end, end}) {
		if s.from != at || s.to < s.from {
			return span{}, fmt.Errorf("bytes %d to %d are not covered exactly once", min(at, s.from), max(at, s.from))
		}
		at = s.to
	}
	return data, nil
}

// addChunk adds the page indexes of a chunk, which indexes holds from offset on, and
// moves what the chunk and its pages say of their place.
func (o *concatenation) addChunk(c *format.ColumnChunk, indexes []byte, offset, distance int64) error {
	m := &c.MetaData
	for _, at := range []*int64{&c.FileOffset, &m.DataPageOffset, &m.IndexPageOffset, &m.DictionaryPageOffset,
		&m.BloomFilterOffset} {
		moveOffset(at, distance)
	}
	if n := int64(c.ColumnIndexLength); n > 0 {
		index := indexes[c.ColumnIndexOffset-offset:][:n]
		c.ColumnIndexOffset = int64(len(o.columnIndexes))
		o.columnIndexes = append(o.columnIndexes, index...)
	}
	if n := int64(c.OffsetIndexLength); n > 0 {
		var index format.OffsetIndex
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), indexes[c.OffsetIndexOffset-offset:][:n],
			&index); err != nil {
			return fmt.Errorf("offset index: %w", err)
		}
		for i := range index.PageLocations {
			moveOffset(&index.PageLocations[i].Offset, distance)
		}
		encoded, err := thrift.Marshal(new(thrift.CompactProtocol), &index)
		if err != nil {
			return err
		}
		c.OffsetIndexOffset, c.OffsetIndexLength = int64(len(o.offsetIndexes)), int32(len(encoded))
		o.offsetIndexes = append(o.offsetIndexes, encoded...)
	}
	return nil
}

// moveOffset moves an offset; zero stands for none.
func moveOffset(offset *int64, distance int64) {
	if *offset != 0 {
		*offset += distance
	}
}

// close writes the page indexes and the footer.
func (o *concatenation) close() error {
	for _, g := range o.footer.RowGroups {
		for k := range g.Columns {
			c := &g.Columns[k]
			if c.ColumnIndexLength > 0 {
				c.ColumnIndexOffset += o.at
			}
			if c.OffsetIndexLength > 0 {
				c.OffsetIndexOffset += o.at + int64(len(o.columnIndexes))
			}
		}
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), o.footer)
	if err != nil {
		return err
	}
	tail := append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), parquetMagic...)
	for _, content := range [][]byte{o.columnIndexes, o.offsetIndexes, footer, tail} {
		if err := o.write(content); err != nil {
			return err
		}
	}
	return nil
}

func (o *concatenation) write(content []byte) error {
	n, err := o.w.Write(content)
	o.at += int64(n)
	return err
}

// copy copies a range of bytes of a file.
func (o *concatenation) copy(f namedFile, s span) error {
	// A file as the writer would bring a buffer of its own.
	w, r := struct{ io.Writer }{o.w}, io.NewSectionReader(f, s.from, s.length())
	n, err := io.CopyBuffer(w, r, o.buffer)
	o.at += n
	if err == nil && n != s.length() {
		err = fmt.Errorf("read at %d: %w", s.from+n, io.ErrUnexpectedEOF)
	}
	return err
}
