package publish

import (
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"time"
	"unsafe"

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

// A hashing hashes rows of a type by some columns. It reaches their fields through their offsets,
// which come from the type.
type hashing struct {
	*rowHash
	fields []hashedField
}

// A hashedField is a field of a structure, and what hashes its contents.
type hashedField struct {
	number int
	offset uintptr
	hash   func(at unsafe.Pointer) uint64
}

// of returns what hashes rows of a type by columns.
func (h *rowHash) of(row reflect.Type, columns []string) *hashing {
	return &hashing{h, h.fieldsOf(row, func(field reflect.StructField) bool {
		return slices.Contains(columns, schema.ColumnOf(field))
	})}
}

func (h *rowHash) fieldsOf(of reflect.Type, chosen func(reflect.StructField) bool) (out []hashedField) {
	for i := range of.NumField() {
		if field := of.Field(i); chosen(field) {
			out = append(out, hashedField{i, field.Offset, h.cell(field.Type)})
		}
	}
	return out
}

// row returns the hash of a row.
func (h *hashing) row(at unsafe.Pointer) uint64 { return h.structure(h.fields, at) }

func (h *rowHash) structure(fields []hashedField, at unsafe.Pointer) uint64 {
	sum := h.begin
	for i := range fields {
		f := &fields[i]
		sum = folded(sum^f.hash(unsafe.Add(at, f.offset)), h.key)
	}
	return folded(sum^h.null, h.key)
}

// cell returns what hashes cells of a type. An empty list is as none.
func (h *rowHash) cell(of reflect.Type) func(at unsafe.Pointer) uint64 {
	switch {
	case of == reflect.TypeFor[time.Time]():
		return func(at unsafe.Pointer) uint64 { return uint64((*time.Time)(at).UnixMicro()) }
	case of == reflect.TypeFor[[]byte]():
		return func(at unsafe.Pointer) uint64 { return maphash.Bytes(h.seed, *(*[]byte)(at)) }
	}
	switch of.Kind() {
	case reflect.Pointer:
		pointed := h.cell(of.Elem())
		return func(at unsafe.Pointer) uint64 {
			if at = *(*unsafe.Pointer)(at); at == nil {
				return h.null
			}
			return pointed(at)
		}
	case reflect.Bool:
		return func(at unsafe.Pointer) uint64 {
			if *(*bool)(at) {
				return h.key
			}
			return h.begin
		}
	case reflect.Int32:
		return func(at unsafe.Pointer) uint64 { return uint64(*(*int32)(at)) }
	case reflect.Int64:
		return func(at unsafe.Pointer) uint64 { return uint64(*(*int64)(at)) }
	case reflect.Float64:
		return func(at unsafe.Pointer) uint64 { return math.Float64bits(*(*float64)(at)) }
	case reflect.String: // texts of a column repeat
		last, hash := "", h.text("")
		return func(at unsafe.Pointer) uint64 {
			if text := *(*string)(at); text != last {
				last, hash = text, h.text(text)
			}
			return hash
		}
	case reflect.Struct:
		fields := h.fieldsOf(of, func(reflect.StructField) bool { return true })
		return func(at unsafe.Pointer) uint64 { return h.structure(fields, at) }
	case reflect.Slice:
		element, size := h.cell(of.Elem()), of.Elem().Size()
		return func(at unsafe.Pointer) uint64 {
			sum, list := h.begin, *(*[]struct{})(at)
			for i := range list {
				sum = folded(sum^element(unsafe.Add(unsafe.Pointer(unsafe.SliceData(list)), uintptr(i)*size)), h.key)
			}
			return sum
		}
	}
	panic("publish: a column of the type " + of.String())
}

// folded multiplies two numbers and folds the product.
func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
