package shred

import (
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// longs holds the cells of a page of integers. Nearly all equal the one above, as the rows
// of a target have its number.
type longs struct {
	values []int64 // without their repetitions
	times  []int32
	count  int
	memory []int64
}

// add appends a cell n times.
func (l *longs) add(value int64, n int) {
	if last := len(l.values) - 1; last >= 0 && l.values[last] == value {
		l.times[last] += int32(n)
	} else {
		l.values, l.times = append(room(l.values, 1), value), append(room(l.times, 1), int32(n))
	}
	l.count += n
}

func (l *longs) empty() { l.values, l.times, l.count = l.values[:0], l.times[:0], 0 }

// requiredLongs does what required does, for integers.
func requiredLongs(w *parquet.ColumnWriter, l *longs) func(cells) error {
	return func(c cells) error {
		first, same := at[int64](c, 0), 1
		for same < c.n && at[int64](c, same) == first {
			same++
		}
		if same == c.n {
			l.add(first, c.n*c.times)
		} else {
			for range c.times {
				for i := range c.n {
					l.add(at[int64](c, i), 1)
				}
			}
		}
		_, err := w.WriteRowValues(nil)
		return err
	}
}

// longBuffer is the buffer of a column of integers. That of parquet-go stays empty.
type longBuffer struct {
	parquet.ColumnBuffer
	cells *longs
}

func (b longBuffer) Len() int           { return b.cells.count }
func (b longBuffer) Size() int64        { return 8 * int64(b.cells.count) }
func (b longBuffer) Reset()             { b.cells.empty() }
func (b longBuffer) Page() parquet.Page { return longPage{b.ColumnBuffer.Page(), b.cells} }

// longPage is a page of integers.
type longPage struct {
	parquet.Page
	cells *longs
}

func (p longPage) Type() parquet.Type { return longType{p.Page.Type(), p.cells} }
func (p longPage) NumRows() int64     { return int64(p.cells.count) }
func (p longPage) NumValues() int64   { return int64(p.cells.count) }

func (p longPage) Bounds() (least, greatest parquet.Value, ok bool) {
	if len(p.cells.values) == 0 {
		return parquet.Value{}, parquet.Value{}, false
	}
	return parquet.Int64Value(slices.Min(p.cells.values)), parquet.Int64Value(slices.Max(p.cells.values)), true
}

// longType is the type of a page of integers. It writes the bytes that
// [parquet.DeltaBinaryPacked] writes.
type longType struct {
	parquet.Type
	cells *longs
}

const (
	deltaBlock = 128 // differences of a block
	miniBlocks = 4   // of a block
)

// longRuns is the least mean number of equal cells for which blocks are written one by one.
const longRuns = 64

func (t longType) Encode(dst []byte, _ encoding.Values, as encoding.Encoding) ([]byte, error) {
	l := t.cells
	if l.count < longRuns*len(l.values) {
		l.memory = slices.Grow(l.memory[:0], l.count)
		for i, value := range l.values {
			for range l.times[i] {
				l.memory = append(l.memory, value)
			}
		}
		return as.EncodeInt64(dst, l.memory)
	}
	dst = deltaHeader(dst[:0], l.count, l.values[0])
	above, run, left := l.values[0], 0, int(l.times[0])-1 // while any is left, above is of the run
	var mixed []byte
	for done := 1; done < l.count; {
		if left >= deltaBlock { // no difference, in mini blocks of no bits
			blocks := left / deltaBlock
			n := len(dst) + blocks*(1+miniBlocks)
			dst = slices.Grow(dst, n-len(dst))[:n]
			clear(dst[n-blocks*(1+miniBlocks):])
			left, done = left%deltaBlock, done+blocks*deltaBlock
			continue
		}
		var block [1 + deltaBlock]int64
		block[0] = above
		n := 1
		for ; n < len(block) && done < l.count; n, done = n+1, done+1 {
			for left == 0 {
				run++
				left = int(l.times[run])
			}
			above = l.values[run]
			block[n] = above
			left--
		}
		var err error
		if mixed, err = as.EncodeInt64(mixed, block[:n]); err != nil {
			return dst, err
		}
		dst = append(dst, mixed[len(deltaHeader(nil, n, block[0])):]...)
	}
	return dst, nil
}

// deltaHeader appends what integers begin with.
func deltaHeader(dst []byte, count int, first int64) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, miniBlocks)
	return binary.AppendVarint(binary.AppendUvarint(dst, uint64(count)), first)
}
