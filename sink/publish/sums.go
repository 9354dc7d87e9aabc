package publish

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// rowSum is the number of rows of a multiset, and the sum of their hashes. Two multisets
// have the same sum if they are the same, whatever the order of their rows. It is a sum
// because in an exclusive or, a row that comes twice would cancel itself.
type rowSum struct {
	rows int64
	sum  uint64
}

func (s *rowSum) add(hash uint64) {
	s.rows++
	s.sum += hash
}

func (s *rowSum) join(other rowSum) {
	s.rows += other.rows
	s.sum += other.sum
}

// rowHash hashes rows under a secret of this process, so that nobody can prepare other
// rows with the same sum.
type rowHash struct {
	seed             maphash.Seed
	begin, null, key uint64
}

func newRowHash() *rowHash {
	h := &rowHash{seed: maphash.MakeSeed()}
	h.begin, h.null, h.key = h.text("begin"), h.text("null"), h.text("key")|1
	return h
}

func (h *rowHash) text(text string) uint64 { return maphash.String(h.seed, text) }

// rows returns the hashes of the rows of a batch, in the memory of spare.
func (h *rowHash) rows(batch arrow.RecordBatch, spare *hashMemory) []uint64 {
	n := int(batch.NumRows())
	rows := resized(&spare.rows, n)
	for i := range rows {
		rows[i] = h.begin
	}
	for _, column := range batch.Columns() {
		cell := h.cells(column, spare)
		for i := range rows {
			c := h.null
			if column.IsValid(i) {
				c = cell(i)
			}
			rows[i] = folded(rows[i]^c, h.key)
		}
	}
	for i := range rows {
		rows[i] = folded(rows[i]^h.null, h.key)
	}
	return rows
}

// hashMemory is memory for the rows of one batch after another.
type hashMemory struct{ rows, values []uint64 }

func resized(memory *[]uint64, n int) []uint64 {
	if cap(*memory) < n {
		*memory = make([]uint64, n)
	}
	return (*memory)[:n]
}

// folded multiplies two numbers and folds the product.
func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// cells returns a function that hashes a cell of a column that is not null.
func (h *rowHash) cells(column arrow.Array, spare *hashMemory) func(i int) uint64 {
	switch c := column.(type) {
	case *array.Int32:
		return func(i int) uint64 { return uint64(c.Value(i)) }
	case *array.Int64:
		return func(i int) uint64 { return uint64(c.Value(i)) }
	case *array.Timestamp: // all of a table's are of one unit
		return func(i int) uint64 { return uint64(c.Value(i)) }
	case *array.Float64:
		return func(i int) uint64 { return math.Float64bits(c.Value(i)) }
	case *array.String:
		return func(i int) uint64 { return h.text(c.Value(i)) }
	case *array.Binary:
		return func(i int) uint64 { return maphash.Bytes(h.seed, c.Value(i)) }
	case *array.Dictionary:
		texts, ok := c.Dictionary().(*array.String)
		indices, narrow := c.Indices().(*array.Int32)
		if !ok || !narrow {
			break
		}
		hashes := resized(&spare.values, texts.Len()) // each when it is first needed
		clear(hashes)
		return func(i int) uint64 {
			at := indices.Value(i)
			if hashes[at] == 0 {
				hashes[at] = h.text(texts.Value(int(at)))
			}
			return hashes[at]
		}
	}
	return func(i int) uint64 { return h.text(column.ValueStr(i)) } // lists, and flags
}
