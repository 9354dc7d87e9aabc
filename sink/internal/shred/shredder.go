package shred

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// shredder splits flat rows into columns, for parquet-go to write.
type shredder[T any] struct {
	file    *parquet.GenericWriter[T]
	columns []shred
	texts   []*textColumn
	spare   *sync.Pool // *[]*textColumn for reuse by this row type
	rows    int        // rows in the row group
}

// shred extracts one column from rows.
type shred struct {
	name   string
	offset uintptr // offset of the column's field
	write  func(cells) error
	each   func(n int, texts []string) error // writes each text n times; nil if the column cannot
}

// cells are one field of n consecutive rows, which are written several times in
// their order: n × times is at most batchRows.
type cells struct {
	first    unsafe.Pointer
	stride   uintptr
	n, times int
}

func at[V any](c cells, i int) V { return *(*V)(unsafe.Add(c.first, uintptr(i)*c.stride)) }

// batchRows is the number of rows shredded at a time, so that they stay in the CPU
// cache from column to column.
const batchRows = 256

// dictionaryBytes bounds the texts of a column in a row group; more of them end the
// row group. Hostile files can reach it, and parquet-go would hold dictionaries of
// up to a gigabyte.
const dictionaryBytes = 16 << 20

// spareBytes bounds the memory of a column's texts that is kept for reuse.
const spareBytes = 8 << 20

// newShredder returns nil if T has a field of a kind that it does not support; then
// parquet-go shreds the rows.
func newShredder[T any](out io.Writer, spare *sync.Pool, options []parquet.WriterOption) (*shredder[T], error) {
	row, schema := reflect.TypeFor[T](), parquet.SchemaOf(*new(T))
	config, err := parquet.NewWriterConfig(options...)
	if err != nil {
		return nil, err
	}
	root, kinds := record{Node: schema}, make([]*kind, row.NumField())
	for i, field := range schema.Fields() {
		kinds[i] = &kind{Type: field.Type(), name: field.Name(), column: i}
		root.fields = append(root.fields, leaf{field, kinds[i]})
		switch reflect.Zero(row.Field(i).Type).Interface().(type) {
		case string, *string, int64, int32, bool, *int64, *int32, *float64:
		default:
			return nil, nil
		}
	}
	s := &shredder[T]{spare: spare}
	var used []*textColumn
	if left, ok := spare.Get().(*[]*textColumn); ok {
		used = *left
	}
	for _, k := range kinds {
		if k.Kind() != parquet.ByteArray {
			continue
		}
		if n := len(s.texts); n < len(used) {
			k.texts = used[n]
		} else {
			k.texts = &textColumn{texts: newTexts(), last: -1}
		}
		s.texts = append(s.texts, k.texts)
	}
	sharing, err := shareDictionaries(row, kinds, config.Compression)
	if err != nil {
		return nil, err
	}
	s.file = parquet.NewGenericWriter[T](out, append(options, parquet.NewSchema(schema.Name(), root))...)
	for i, w := range s.file.ColumnWriters() {
		if _, err := w.WriteRowValues(nil); err != nil { // creates the buffer
			return nil, err
		}
		c, k := shred{name: schema.Fields()[i].Name(), offset: row.Field(i).Offset}, kinds[i]
		switch reflect.Zero(row.Field(i).Type).Interface().(type) {
		case string:
			c.write = requiredTexts(w, k.texts)
			if k.texts.batch == nil {
				c.each = eachText(w, k.texts)
			}
			if j, ok := sharing[i]; ok {
				c.write = sharedTexts(w, k.texts, kinds[j].texts, int(c.offset)-int(s.columns[j].offset))
			}
		case *string:
			c.write = nullableTexts(w, k.texts)
		case int64:
			c.write = required(w, k.buffer.(parquet.Int64Writer).WriteInt64s)
		case *int64:
			c.write = nullable(w, k.buffer.(parquet.Int64Writer).WriteInt64s)
		case int32:
			c.write = required(w, k.buffer.(parquet.Int32Writer).WriteInt32s)
		case *int32:
			c.write = nullable(w, k.buffer.(parquet.Int32Writer).WriteInt32s)
		case bool:
			c.write = required(w, k.buffer.(parquet.BooleanWriter).WriteBooleans)
		case *float64:
			c.write = nullable(w, k.buffer.(parquet.DoubleWriter).WriteDoubles)
		}
		s.columns = append(s.columns, c)
	}
	return s, nil
}

// shareDictionaries gives a column whose field is tagged dictionary:"name" the
// dictionary of the named column, which stands before it. It returns the index of
// that column by the index of the tagged one.
func shareDictionaries(row reflect.Type, kinds []*kind, codec compress.Codec) (map[int]int, error) {
	sharing := make(map[int]int)
	for i, k := range kinds {
		name, ok := row.Field(i).Tag.Lookup("dictionary")
		if !ok {
			continue
		}
		j := slices.IndexFunc(kinds[:i], func(k *kind) bool { return k.name == name })
		if text := reflect.TypeFor[string](); j < 0 || row.Field(i).Type != text || row.Field(j).Type != text {
			return nil, fmt.Errorf("column %s cannot have the dictionary of %s: it needs a column before it, and texts that are not null in both", k.name, name)
		}
		sharing[i] = j
		first := kinds[j].texts
		first.batch = make([]int32, 0, batchRows)
		k.texts.texts = first.texts
		if codec != nil {
			kinds[j].codec = &repeats{Codec: codec}
			k.codec = kinds[j].codec
		}
	}
	return sharing, nil
}

// write appends rows. It keeps no reference to them.
func (s *shredder[T]) write(rows []T) error {
	for len(rows) > 0 {
		n := min(len(rows), batchRows, RowGroup-s.rows)
		if err := s.batch(rows[:n], -1, nil); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// writeEach appends rows once for each text of a column.
func (s *shredder[T]) writeEach(column string, texts []string, rows []T) error {
	at := slices.IndexFunc(s.columns, func(c shred) bool { return c.name == column && c.each != nil })
	if at < 0 {
		return fmt.Errorf("no column %s of texts", column)
	}
	for len(texts) > 0 && len(rows) > 0 {
		times := min(len(texts), batchRows/len(rows), (RowGroup-s.rows)/len(rows))
		if times > 0 {
			if err := s.batch(rows, at, texts[:times]); err != nil {
				return err
			}
			texts = texts[times:]
			continue
		}
		for rest := rows; len(rest) > 0; {
			n := min(len(rest), batchRows, RowGroup-s.rows)
			if err := s.batch(rest[:n], at, texts[:1]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		texts = texts[1:]
	}
	return nil
}

// batch appends at most batchRows rows: the given ones, or these once for each text
// of a column.
func (s *shredder[T]) batch(rows []T, column int, texts []string) error {
	times := max(len(texts), 1)
	for i, c := range s.columns {
		var err error
		if i == column {
			err = c.each(len(rows), texts)
		} else {
			first := unsafe.Add(unsafe.Pointer(unsafe.SliceData(rows)), c.offset)
			err = c.write(cells{first: first, stride: unsafe.Sizeof(rows[0]), n: len(rows), times: times})
		}
		if err != nil {
			return err
		}
	}
	s.rows += len(rows) * times
	full := s.rows == RowGroup
	for _, t := range s.texts {
		full = full || len(t.values) >= dictionaryBytes
	}
	if !full {
		return nil
	}
	s.rows = 0
	return s.file.Flush()
}

// release passes the memory of the texts on to the next part of the table, column by
// column: otherwise all would grow to the size of the largest.
func (s *shredder[T]) release() {
	if s.texts == nil {
		return
	}
	for _, t := range s.texts {
		t.cells = t.cells[:0]
		t.forget()
		if cap(t.values) > spareBytes {
			t.texts = newTexts()
		}
	}
	left := s.texts
	s.spare.Put(&left)
	s.texts = nil
}

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
