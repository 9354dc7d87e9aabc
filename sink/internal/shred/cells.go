package shred

import (
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// cells are one field of n consecutive rows, which are written several times in
// their order: n × times is at most batchRows.
type cells struct {
	first    unsafe.Pointer
	stride   uintptr
	n, times int
}

func at[V any](c cells, i int) V { return *(*V)(unsafe.Add(c.first, uintptr(i)*c.stride)) }

// required returns a function that appends cells to the column's buffer and flushes
// a full page.
func required[V any](w *parquet.ColumnWriter, add func([]V) (int, error)) func(cells) error {
	values := make([]V, batchRows)
	return func(c cells) error {
		for i := range c.n {
			values[i] = at[V](c, i)
		}
		for range c.times {
			if _, err := add(values[:c.n]); err != nil {
				return err
			}
		}
		_, err := w.WriteRowValues(nil)
		return err
	}
}

// nullable does what required does for the cells that are not null, and gives
// parquet-go the definition levels.
func nullable[V any](w *parquet.ColumnWriter, add func([]V) (int, error)) func(cells) error {
	values, mixed := make([]V, 0, batchRows), make([]parquet.Value, batchRows)
	return func(c cells) error {
		values = values[:0]
		for i := range c.n {
			if p := at[*V](c, i); p != nil {
				values = append(values, *p)
			}
		}
		for range c.times {
			if _, err := add(values); err != nil {
				return err
			}
		}
		_, err := w.WriteRowValues(levels[V](c, len(values), mixed))
		return err
	}
}

// null and present are definition levels of cells.
var null, present = func() (null, present [batchRows]parquet.Value) {
	for i := range present {
		present[i] = parquet.Value{}.Level(0, 1, 0)
	}
	return null, present
}()

// levels returns the definition levels of cells of which filled are not null. Most
// often that is all or none; otherwise it uses the memory of mixed.
func levels[V any](c cells, filled int, mixed []parquet.Value) []parquet.Value {
	switch filled {
	case 0:
		return null[:c.n*c.times]
	case c.n:
		return present[:c.n*c.times]
	}
	for i := range c.n {
		mixed[i] = null[0]
		if at[*V](c, i) != nil {
			mixed[i] = present[0]
		}
	}
	for k := 1; k < c.times; k++ {
		copy(mixed[k*c.n:], mixed[:c.n])
	}
	return mixed[:c.n*c.times]
}
