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
		fill(values[:c.n*c.times], c.n)
		if _, err := add(values[:c.n*c.times]); err != nil {
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
	filled := 0
	return func(c cells) error {
		if !c.again {
			filled = 0
			for i := range c.n {
				p := at[*V](c, i)
				levels.pattern[i] = 0
				if p != nil {
					levels.pattern[i], values[filled] = 1, *p
					filled++
				}
			}
		}
		fill(values[:filled*c.times], filled)
		if _, err := add(values[:filled*c.times]); err != nil {
			return err
		}
		return levels.write(c.n, c.times)
	}
}
