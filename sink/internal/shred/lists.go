package shred

import (
	"reflect"
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
	slice := at[[]struct{}](c, i) // its elements have another size
	return cells{first: unsafe.Add(unsafe.Pointer(unsafe.SliceData(slice)), f.offset), stride: f.list.stride, n: len(slice), times: 1}
}

// listed returns a function that appends the elements of lists to the column's buffer,
// and gives parquet-go the levels.
func listed(w *parquet.ColumnWriter, f *field) func(cells) error {
	add, flush := adder(f.kind, f.goType)
	// Levels of an element: the first of a row starts a list. An empty list has one
	// cell, with both levels 0.
	most := 1
	if f.goType.Kind() == reflect.Pointer {
		most = 2
	}
	var level [2][2]parquet.Value // by whether it follows another, and whether it is present
	for follows := range level {
		for is := range level[follows] {
			level[follows][is] = parquet.Value{}.Level(follows, most-1+is, 0)
		}
	}
	var levels []parquet.Value
	return func(c cells) error {
		levels = levels[:0]
		for range c.times {
			for i := range c.n {
				elements := f.elements(c, i)
				if elements.n == 0 {
					levels = append(levels, parquet.Value{})
				}
				for j := range elements.n {
					is := 0
					if add(elements, j) {
						is = 1
					}
					levels = append(levels, level[min(j, 1)][is])
				}
			}
		}
		if err := flush(); err != nil {
			return err
		}
		_, err := w.WriteRowValues(levels)
		return err
	}
}

// adder returns a function that adds an element, or returns false if it is null, and
// one that ends a batch.
func adder(k *kind, of reflect.Type) (add func(cells, int) bool, flush func() error) {
	if k.texts != nil {
		return func(c cells, j int) bool {
			k.texts.add(at[string](c, j))
			return true
		}, func() error { return nil }
	}
	var values []int32
	flush = func() error {
		_, err := k.buffer.(parquet.Int32Writer).WriteInt32s(values)
		values = values[:0]
		return err
	}
	if of.Kind() != reflect.Pointer {
		return func(c cells, j int) bool {
			values = append(values, at[int32](c, j))
			return true
		}, flush
	}
	return func(c cells, j int) bool {
		p := at[*int32](c, j)
		if p != nil {
			values = append(values, *p)
		}
		return p != nil
	}, flush
}
