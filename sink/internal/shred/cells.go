package shred

import (
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// cells are one field of n consecutive rows, at most batchRows, which are written several
// times in their order: n × times is at most repeatedRows.
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
		values = sized(values, c.n*c.times)
		for i := range c.n {
			values[i] = at[V](c, i)
		}
		fill(values, c.n)
		if _, err := add(values); err != nil {
			return err
		}
		_, err := w.WriteRowValues(nil)
		return err
	}
}

// nullable does what required does for the cells that are not null, and writes the
// definition levels.
func nullable[V any](w *parquet.ColumnWriter, k *kind, add func([]V) (int, error)) func(cells) error {
	values, levels := make([]V, batchRows), newLevels(w, k.buffer)
	return func(c cells) error {
		values = sized(values, c.n*c.times)
		filled := 0
		for i := range c.n {
			p := at[*V](c, i)
			levels.pattern[i] = 0
			if p != nil {
				levels.pattern[i], values[filled] = 1, *p
				filled++
			}
		}
		values = values[:filled*c.times]
		fill(values, filled)
		if _, err := add(values); err != nil {
			return err
		}
		return levels.write(c.n, c.times)
	}
}

// sized returns s, or other memory, with n elements. What they hold is lost.
func sized[V any](s []V, n int) []V {
	if n > cap(s) {
		s = make([]V, n, repeatedRows)
	}
	return s[:n]
}
