package shred

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// list is a field that holds a slice.
type list struct {
	offset uintptr // offset of the slice in a row
	stride uintptr // size of an element
}

// elements returns the cells of a field of the elements of row i.
func (f *field) elements(c cells, i int) cells {
	slice := at[[]struct{}](c, i) // only the address and the length are used
	if len(slice) == 0 {
		return cells{} // an offset from nil is not a pointer, and may end the process
	}
	return cells{first: unsafe.Add(unsafe.Pointer(unsafe.SliceData(slice)), f.offset), stride: f.list.stride,
		n: len(slice), times: 1}
}

// listed returns a function that appends the elements of lists to the column's buffer,
// and gives parquet-go the levels.
func listed(w *parquet.ColumnWriter, f *field) func(cells) error {
	add, finish := adder(f.kind, f.goType)
	maxDefinition := 1
	if f.goType.Kind() == reflect.Pointer {
		maxDefinition = 2
	}
	// The levels of an element, by whether another one of its list stands before it,
	// and whether it is present.
	var ofElement [2][2]parquet.Value
	for repetition := range ofElement {
		for present := range ofElement[repetition] {
			ofElement[repetition][present] = parquet.Value{}.Level(repetition, maxDefinition-1+present, 0)
		}
	}
	var levels []parquet.Value
	return func(c cells) error {
		levels = levels[:0]
		for range c.times {
			for i := range c.n {
				elements := f.elements(c, i)
				if elements.n == 0 {
					levels = append(levels, parquet.Value{}) // both levels of an empty list are 0
				}
				for j := range elements.n {
					present := 0
					if add(elements, j) {
						present = 1
					}
					levels = append(levels, ofElement[min(j, 1)][present])
				}
			}
		}
		if err := finish(); err != nil {
			return err
		}
		_, err := w.WriteRowValues(levels)
		return err
	}
}

// adder returns a function that adds an element, or returns false if it is null, and
// one that ends a batch.
func adder(k *kind, of reflect.Type) (add func(cells, int) bool, finish func() error) {
	switch {
	case k.texts != nil && of.Kind() == reflect.Pointer:
		return func(c cells, j int) bool {
			text := at[*string](c, j)
			if text != nil {
				k.texts.add(*text)
			}
			return text != nil
		}, func() error { return nil }
	case k.texts != nil:
		return func(c cells, j int) bool {
			k.texts.add(at[string](c, j))
			return true
		}, func() error { return nil }
	case of == reflect.TypeFor[time.Time]():
		return elementsOf(micros(k), func(c cells, j int) (time.Time, bool) { return at[time.Time](c, j), true })
	case of.Kind() == reflect.Pointer:
		return elementsOf(k.buffer.(parquet.Int32Writer).WriteInt32s, func(c cells, j int) (n int32, present bool) {
			p := at[*int32](c, j)
			if p != nil {
				n = *p
			}
			return n, p != nil
		})
	}
	return elementsOf(k.buffer.(parquet.Int32Writer).WriteInt32s,
		func(c cells, j int) (int32, bool) { return at[int32](c, j), true })
}

// elementsOf returns what adder does for elements that write takes a batch at a time.
func elementsOf[V any](write func([]V) (int, error), element func(cells, int) (v V, present bool)) (
	add func(cells, int) bool, finish func() error) {
	var values []V
	return func(c cells, j int) bool {
			v, present := element(c, j)
			if present {
				values = append(values, v)
			}
			return present
		}, func() error {
			_, err := write(values)
			values = values[:0]
			return err
		}
}
