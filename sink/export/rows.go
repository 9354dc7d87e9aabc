package export

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

const (
	// batchRows is the most rows of a batch, and batchTexts the bytes of texts after which a
	// batch has no more.
	batchRows  = 8192
	batchTexts = 8 << 20

	// mostTexts is the most bytes of the texts of one row: a list may name a long text of a
	// dictionary again and again.
	mostTexts = 128 << 20
)

// schemaOf returns the columns of a file as Arrow types, and its metadata.
func schemaOf(f *rowio.File) (*arrow.Schema, error) {
	row, err := f.Type(nil)
	if err != nil {
		return nil, err
	}
	said := arrow.MetadataFrom(f.AllMetadata())
	return arrow.NewSchema(fieldsOf(row), &said), nil
}

func fieldsOf(row reflect.Type) (fields []arrow.Field) {
	for f := range row.Fields() {
		field := fieldOf(f.Type)
		field.Name = schema.ColumnOf(f)
		fields = append(fields, field)
	}
	return fields
}

func fieldOf(t reflect.Type) (f arrow.Field) {
	if f.Nullable = t.Kind() == reflect.Pointer; f.Nullable {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[[]byte]():
		f.Type = arrow.BinaryTypes.Binary
		return f
	case reflect.TypeFor[time.Time]():
		f.Type = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
		return f
	}
	switch t.Kind() {
	case reflect.String:
		f.Type = arrow.BinaryTypes.String
	case reflect.Int64:
		f.Type = arrow.PrimitiveTypes.Int64
	case reflect.Int32:
		f.Type = arrow.PrimitiveTypes.Int32
	case reflect.Bool:
		f.Type = arrow.FixedWidthTypes.Boolean
	case reflect.Float64:
		f.Type = arrow.PrimitiveTypes.Float64
	case reflect.Slice:
		element := fieldOf(t.Elem())
		element.Name = "element"
		f.Type = arrow.ListOfField(element)
	default: // see [rowio.File.Type]
		f.Type = arrow.StructOf(fieldsOf(t)...)
	}
	return f
}

// batches reads columns of a file, nil for all, and gives them batch by batch. A batch is
// valid until each returns.
func batches(ctx context.Context, f *rowio.File, columns []string, each func(arrow.RecordBatch) error) error {
	row, err := f.Type(columns)
	if err != nil {
		return err
	}
	all, err := schemaOf(f)
	if err != nil {
		return err
	}
	of := only(all, columns)
	b := &batchBuilder{rows: array.NewRecordBuilder(memory.DefaultAllocator, of), each: each}
	defer b.rows.Release()
	for i := range of.NumFields() {
		b.columns = append(b.columns, cells{row.Field(i).Offset, b.adder(b.rows.Field(i), row.Field(i).Type)})
	}
	err = rowio.ReadType(ctx, f, rowio.Selection{}, row, func(batch reflect.Value) error {
		first := batch.UnsafePointer()
		for i := range batch.Len() {
			if err := b.add(unsafe.Add(first, uintptr(i)*row.Size())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.flush()
}

// A batchBuilder makes batches of rows.
type batchBuilder struct {
	rows    *array.RecordBuilder
	columns []cells
	each    func(arrow.RecordBatch) error
	n       int
	texts   int // bytes
}

// cells are those of a column: where they lie in a row, or in an element of a list, and what
// adds one.
type cells struct {
	offset uintptr
	add    func(cell unsafe.Pointer)
}

func (b *batchBuilder) add(row unsafe.Pointer) error {
	if b.n == 0 {
		b.rows.Reserve(batchRows)
	}
	before := b.texts
	for _, c := range b.columns {
		if c.add(unsafe.Add(row, c.offset)); b.texts-before > mostTexts {
			return fmt.Errorf("damaged Parquet: a row whose texts take more than %d bytes", mostTexts)
		}
	}
	if b.n++; b.n < batchRows && b.texts < batchTexts {
		return nil
	}
	return b.flush()
}

func (b *batchBuilder) flush() error {
	if b.n == 0 {
		return nil
	}
	b.n, b.texts = 0, 0
	batch := b.rows.NewRecordBatch()
	defer batch.Release()
	return b.each(batch)
}

// adder returns what adds cells of a type to a column. Reflection would take more time than
// all else.
func (b *batchBuilder) adder(to array.Builder, t reflect.Type) func(unsafe.Pointer) {
	if t.Kind() == reflect.Pointer {
		add := b.adder(to, t.Elem())
		return func(cell unsafe.Pointer) {
			if at := *(*unsafe.Pointer)(cell); at != nil {
				add(at)
			} else {
				to.AppendNull()
			}
		}
	}
	switch to := to.(type) {
	case *array.StringBuilder:
		return func(cell unsafe.Pointer) { v := *(*string)(cell); b.texts += len(v); to.Append(v) }
	case *array.BinaryBuilder:
		return func(cell unsafe.Pointer) { v := *(*[]byte)(cell); b.texts += len(v); to.Append(v) }
	case *array.Int64Builder:
		return func(cell unsafe.Pointer) { to.Append(*(*int64)(cell)) }
	case *array.Int32Builder:
		return func(cell unsafe.Pointer) { to.Append(*(*int32)(cell)) }
	case *array.BooleanBuilder:
		return func(cell unsafe.Pointer) { to.Append(*(*bool)(cell)) }
	case *array.Float64Builder:
		return func(cell unsafe.Pointer) { to.Append(*(*float64)(cell)) }
	case *array.TimestampBuilder:
		return func(cell unsafe.Pointer) { to.Append(arrow.Timestamp((*time.Time)(cell).UnixMicro())) }
	case *array.ListBuilder:
		add := b.adder(to.ValueBuilder(), t.Elem())
		return func(cell unsafe.Pointer) {
			to.Append(true)
			list := *(*[]struct{})(cell) // of whatever
			first := unsafe.Pointer(unsafe.SliceData(list))
			for i := range len(list) {
				if add(unsafe.Add(first, uintptr(i)*t.Elem().Size())); b.texts > 2*mostTexts {
					return // add refuses the row
				}
			}
		}
	}
	in := to.(*array.StructBuilder)
	var fields []cells
	for i := range in.NumField() {
		fields = append(fields, cells{t.Field(i).Offset, b.adder(in.FieldBuilder(i), t.Field(i).Type)})
	}
	return func(element unsafe.Pointer) {
		in.Append(true)
		for _, c := range fields {
			c.add(unsafe.Add(element, c.offset))
		}
	}
}

// column returns a column of a batch, which has it.
func column[T arrow.Array](batch arrow.RecordBatch, name string) T {
	at := slices.IndexFunc(batch.Schema().Fields(), func(f arrow.Field) bool { return f.Name == name })
	return batch.Column(at).(T)
}
