// Package concat makes one Parquet file of many, with their row groups as they are.
//
// The bytes of a file's column chunks and Bloom filters are copied as one block, so
// each offset into them moves by the same distance. The column indexes and offset
// indexes of all files follow the blocks, as readers expect them, and then one
// footer. Nothing is decoded but the footers and offset indexes, which hold the
// offsets. These are edited in their encoded form: statistics, and fields that this
// package does not know, stay as they are.
//
// parquet-go 0.32 can copy a row group too, but decodes and encodes it again if a Bloom
// filter does not have the size for its number of values (those of package shred have
// the size for distinct values), and takes a source that ends early for whole.
// arrow-go has no way to copy encoded pages.
//
// Files may be damaged. [Write] accepts a file only if its chunks, filters and indexes
// cover all bytes between its magic number and its footer, and pages those of their
// chunk, each byte once. So it notices a wrong offset or length before it reaches the
// output. It does not notice damage in pages or statistics: compare the digest of a
// file first.
package concat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// File is a file to concatenate.
type File struct {
	Name string // for errors
	io.ReaderAt
	Size int64
}

const magic = "PAR1"

const (
	// maxHeld bounds the bytes of footers and page indexes of all files, which
	// are in memory until the last file is copied. A row group of the widest
	// table, fetches, takes about 10 KB.
	maxHeld = 256 << 20

	// maxGroups is the most row groups of a file: their ordinal has 16 bits.
	maxGroups = math.MaxInt16

	bufferBytes = 256 << 10
)

// Write writes to w one Parquet file with the row groups of all files, in their
// order, and returns its number of rows. The files must have the same schema.
// Key-value metadata and the name of the writer are those of the first file. The
// same files give the same bytes, about as many as the files have together.
//
// Write uses a file only until it takes the next one, so files can close each one
// after yielding it. If files yields an error, Write returns it. After an error the
// output has no footer, so that no reader takes it for a Parquet file.
func Write(w io.Writer, files iter.Seq2[File, error]) (rows int64, err error) {
	out := &output{w: w, buffer: make([]byte, bufferBytes)}
	for f, err := range files {
		if err != nil {
			return 0, err
		}
		if err := out.add(f); err != nil {
			return 0, fmt.Errorf("concatenate %s: %w", f.Name, err)
		}
	}
	if len(out.parts) == 0 {
		return 0, errors.New("concatenate: no files")
	}
	return out.close()
}

// output is the file that Write makes.
type output struct {
	w      io.Writer
	at     int64 // bytes written
	buffer []byte

	parts  []part
	groups int
	held   int64 // bytes of footers and page indexes in memory

	columnIndexes, offsetIndexes []byte
	lengths                      []int64 // of each offset index
}

// part is a file whose chunks are copied.
type part struct {
	footer
	name     string
	distance int64 // from offsets in the file to those in the output
}

// add copies the chunks of a file and keeps the rest for close.
func (o *output) add(f File) error {
	encoded, err := o.readFooter(f)
	if err != nil {
		return err
	}
	end := f.Size - tailBytes - int64(len(encoded))
	parsed, err := parseFooter(encoded, end)
	if err != nil {
		return err
	}
	if len(o.parts) == 0 {
		if err := o.write([]byte(magic)); err != nil {
			return err
		}
	} else if first := o.parts[0]; !bytes.Equal(parsed.schema, first.schema) || !bytes.Equal(parsed.orders, first.orders) {
		return fmt.Errorf("its schema is not that of %s", first.name)
	}
	if o.groups += parsed.count; o.groups > maxGroups {
		return fmt.Errorf("there are more than %d row groups: write several files", maxGroups)
	}
	data := span{int64(len(magic)), parsed.dataEnd}
	distance := o.at - data.from
	indexes, err := o.read(f, span{data.to, end})
	if err != nil {
		return err
	}
	for _, c := range parsed.chunks {
		if err := o.addIndexes(c, indexes, data.to, distance); err != nil {
			return err
		}
	}
	if err := o.copy(f, data); err != nil {
		return err
	}
	parsed.chunks = nil
	o.parts = append(o.parts, part{parsed, f.Name, distance})
	return nil
}

// tailBytes is the length of what follows the footer: its length and the magic number.
const tailBytes = 8

// readFooter reads the footer of a file.
func (o *output) readFooter(f File) ([]byte, error) {
	if f.Size < int64(len(magic))+tailBytes {
		return nil, fmt.Errorf("%d bytes are too few for a Parquet file", f.Size)
	}
	head, err := o.read(f, span{0, int64(len(magic))})
	if err != nil {
		return nil, err
	}
	tail, err := o.read(f, span{f.Size - tailBytes, f.Size})
	if err != nil {
		return nil, err
	}
	if string(head) != magic || string(tail[4:]) != magic {
		return nil, errors.New("it does not begin and end as a Parquet file does")
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if length > f.Size-tailBytes-int64(len(magic)) {
		return nil, fmt.Errorf("damaged: a footer of %d bytes in a file of %d", length, f.Size)
	}
	return o.read(f, span{f.Size - tailBytes - length, f.Size - tailBytes})
}

// addIndexes adds the page indexes of a chunk, which indexes holds from offset on.
func (o *output) addIndexes(c chunk, indexes []byte, offset, distance int64) error {
	if s := c.columnIndex; s.length() > 0 {
		index := indexes[s.from-offset : s.to-offset]
		if _, err := edit(index, columnIndexRoot, 1, nil); err != nil {
			return fmt.Errorf("damaged column index: %w", err)
		}
		o.columnIndexes = append(o.columnIndexes, index...)
	}
	if s := c.offsetIndex; s.length() > 0 {
		next := c.data // begin of the next page
		index, err := edit(indexes[s.from-offset:s.to-offset], offsetIndexRoot, 1, func(at path, v int64) (int64, error) {
			switch at {
			case pageOffset:
				if v != next {
					return 0, fmt.Errorf("a page at %d, want %d", v, next)
				}
				v += distance
			case pageSize:
				if v <= 0 || v > c.pages.to-next {
					return 0, fmt.Errorf("a page of %d bytes, where its chunk has %d", v, c.pages.to-next)
				}
				next += v
			}
			return v, nil
		})
		if err == nil && next != c.pages.to {
			err = fmt.Errorf("%d bytes of its chunk are in no page", c.pages.to-next)
		}
		if err != nil {
			return fmt.Errorf("damaged offset index: %w", err)
		}
		o.offsetIndexes = append(o.offsetIndexes, index...)
		o.lengths = append(o.lengths, int64(len(index)))
	}
	return nil
}

// close writes the page indexes and the footer.
func (o *output) close() (rows int64, err error) {
	columnIndexes := o.at
	if err := o.write(o.columnIndexes); err != nil {
		return 0, err
	}
	offsetIndexes := o.at
	if err := o.write(o.offsetIndexes); err != nil {
		return 0, err
	}
	for _, p := range o.parts {
		rows += p.rows
	}
	begin, ordinal, first := o.at, int64(0), o.parts[0]
	if err := o.write(first.head(rows, o.groups)); err != nil {
		return 0, err
	}
	for _, p := range o.parts {
		groups, err := edit(p.groups, fileGroups, p.count, func(at path, v int64) (int64, error) {
			switch at {
			case groupOffset, chunkOffset, dataOffset, indexOffset, dictionaryOffset, bloomOffset:
				if v != 0 { // zero stands for none
					v += p.distance
				}
			case groupOrdinal:
				v = ordinal
				ordinal++
			case columnIndexOffset:
				if v != 0 {
					v = columnIndexes
				}
			case columnIndexLength:
				columnIndexes += v
			case offsetIndexOffset:
				if v != 0 {
					v = offsetIndexes
				}
			case offsetIndexLength:
				if v != 0 {
					v, o.lengths = o.lengths[0], o.lengths[1:]
				}
				offsetIndexes += v
			}
			return v, nil
		})
		if err != nil {
			return 0, err
		}
		if err := o.write(groups); err != nil {
			return 0, err
		}
	}
	if err := o.write(first.rest); err != nil {
		return 0, err
	}
	length := o.at - begin
	return rows, o.write(append(binary.LittleEndian.AppendUint32(nil, uint32(length)), magic...))
}

// read reads what is held in memory.
func (o *output) read(f File, s span) ([]byte, error) {
	if o.held += s.length(); o.held > maxHeld {
		return nil, fmt.Errorf("the footers and page indexes of the files exceed %d MB: write several files", maxHeld>>20)
	}
	content := make([]byte, s.length())
	if n, err := f.ReadAt(content, s.from); n < len(content) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read at %d: %w", s.from, err)
	}
	return content, nil
}

func (o *output) write(content []byte) error {
	n, err := o.w.Write(content)
	o.at += int64(n)
	return err
}

// copy copies a range of bytes of a file.
func (o *output) copy(f File, s span) error {
	// A file as the writer would bring a buffer of its own.
	w, r := struct{ io.Writer }{o.w}, io.NewSectionReader(f, s.from, s.length())
	n, err := io.CopyBuffer(w, r, o.buffer)
	o.at += n
	if err == nil && n != s.length() {
		err = fmt.Errorf("read at %d: %w", s.from+n, io.ErrUnexpectedEOF)
	}
	return err
}
