package publish

import (
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/schema"
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

// A hashing hashes rows of a table, by some columns.
type hashing struct {
	*rowHash
	fields []int      // the columns, as fields of a row
	last   []lastText // of each
}

// lastText is a text and its hash: texts of a column repeat.
type lastText struct {
	text string
	hash uint64
}

// of returns what hashes rows of a type by columns.
func (h *rowHash) of(row reflect.Type, columns []string) *hashing {
	out := &hashing{rowHash: h}
	for i := range row.NumField() {
		if slices.Contains(columns, schema.ColumnOf(row.Field(i))) {
			out.fields = append(out.fields, i)
		}
	}
	out.last = make([]lastText, len(out.fields))
	return out
}

// row returns the hash of a row.
func (h *hashing) row(row reflect.Value) uint64 {
	sum := h.begin
	for k, i := range h.fields {
		sum = folded(sum^h.cell(row.Field(i), &h.last[k]), h.key)
	}
	return folded(sum^h.null, h.key)
}

// cell returns the hash of a cell. An empty list is as none.
func (h *hashing) cell(cell reflect.Value, last *lastText) uint64 {
	switch cell.Kind() {
	case reflect.Pointer:
		if cell.IsNil() {
			return h.null
		}
		return h.cell(cell.Elem(), last)
	case reflect.Bool:
		if cell.Bool() {
			return h.key
		}
		return h.begin
	case reflect.Int32, reflect.Int64:
		return uint64(cell.Int())
	case reflect.Float64:
		return math.Float64bits(cell.Float())
	case reflect.String:
		text := cell.String()
		if text != last.text || last.hash == 0 {
			last.text, last.hash = text, h.text(text)
		}
		return last.hash
	case reflect.Struct:
		if when, ok := cell.Interface().(time.Time); ok {
			return uint64(when.UnixMicro())
		}
		sum := h.begin
		for _, field := range cell.Fields() {
			sum = folded(sum^h.cell(field, new(lastText)), h.key)
		}
		return sum
	}
	if cell.Type().Elem().Kind() == reflect.Uint8 {
		return maphash.Bytes(h.seed, cell.Bytes())
	}
	sum := h.begin
	for i := range cell.Len() {
		sum = folded(sum^h.cell(cell.Index(i), last), h.key)
	}
	return sum
}

// folded multiplies two numbers and folds the product.
func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
