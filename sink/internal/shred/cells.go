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
	again    bool // the batch before had the same rows
}

func at[V any](c cells, i int) V { return *(*V)(unsafe.Add(c.first, uintptr(i)*c.stride)) }

// required returns a function that appends cells to the column's buffer and flushes
// a full page.
func required[V any](w *parquet.ColumnWriter, add func([]V) (int, error)) func(cells) error {
	values := make([]V, batchRows)
	return func(c cells) error {
		if !c.again {
			for i := range c.n {
				values[i] = at[V](c, i)
			}
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

// nullable does what required does for the cells that are not null, and writes the
// definition levels.
func nullable[V any](w *parquet.ColumnWriter, add func([]V) (int, error)) func(cells) error {
	values, levels := make([]V, 0, batchRows), newLevels(w)
	return func(c cells) error {
		if !c.again {
			values = values[:0]
			for i := range c.n {
				p := at[*V](c, i)
				levels.pattern[i] = 0
				if p != nil {
					levels.pattern[i], values = 1, append(values, *p)
				}
			}
		}
		for range c.times {
			if _, err := add(values); err != nil {
				return err
			}
		}
		return levels.write(c.n, c.times)
	}
}
