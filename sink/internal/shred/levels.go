package shred

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// levels writes the definition levels of a nullable column: which cells are null.
type levels struct {
	writer  *parquet.ColumnWriter
	pattern []byte // of the cells of the last batch, 1 for a cell that is not null
	values  []parquet.Value

	// The levels of the page and its rows, where parquet-go keeps them; nil if it keeps
	// them elsewhere.
	page *[]byte
	rows *[]int32
}

// newLevels looks for the levels of a column whose buffer exists.
//
// [parquet.ColumnWriter.WriteRowValues] appends a level and a row at a time, which is a
// tenth of the CPU of a census. So this package appends them to parquet-go's own slices,
// a batch at a time, where there is room, and leaves it to parquet-go to make room. It
// finds the slices by name and type. A version that has none of them costs time only.
// parquet-go replaces the buffer of a column only with DictionaryMaxBytes, which this package
// must not set: levels would be lost.
func newLevels(w *parquet.ColumnWriter) *levels {
	l := &levels{writer: w, pattern: make([]byte, batchRows), values: make([]parquet.Value, batchRows)}
	buffer := reflect.ValueOf(w).Elem().FieldByName("columnBuffer")
	if buffer.Kind() != reflect.Interface || buffer.Elem().Kind() != reflect.Pointer ||
		buffer.Elem().Elem().Kind() != reflect.Struct {
		return l
	}
	page, rows := sliceIn[byte](buffer.Elem().Elem(), "definitionLevels"), sliceIn[int32](buffer.Elem().Elem(), "rows")
	if page != nil && rows != nil {
		l.page, l.rows = page, rows
	}
	return l
}

// sliceIn returns the slice data of a field of a struct, nil if there is none.
func sliceIn[V any](of reflect.Value, field string) *[]V {
	buffer := of.FieldByName(field)
	if buffer.Kind() != reflect.Struct {
		return nil
	}
	data := buffer.FieldByName("data")
	if !data.IsValid() || data.Type() != reflect.TypeFor[[]V]() {
		return nil
	}
	return (*[]V)(data.Addr().UnsafePointer())
}

// write appends the pattern of n cells several times, and flushes a full page.
func (l *levels) write(n, times int) error {
	all := n * times
	fill(l.pattern[:all], n)
	var slow []parquet.Value
	// parquet-go reads a page's number of rows, and the rows only after it sorts.
	if l.page != nil && len(*l.page)+all < cap(*l.page) && len(*l.rows)+all < cap(*l.rows) {
		*l.page = append(*l.page, l.pattern[:all]...)
		*l.rows = (*l.rows)[:len(*l.rows)+all]
	} else {
		for i, level := range l.pattern[:all] {
			l.values[i] = levelOf[level]
		}
		slow = l.values[:all]
	}
	_, err := l.writer.WriteRowValues(slow)
	return err
}

// levelOf holds values that have only a definition level.
var levelOf = [...]parquet.Value{parquet.Value{}.Level(0, 0, 0), parquet.Value{}.Level(0, 1, 0)}
