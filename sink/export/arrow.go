package export

import (
	"bufio"
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowFormat is an Arrow IPC stream.
type arrowFormat struct {
	out    *bufio.Writer
	stream *ipc.Writer
	rows   *array.RecordBuilder
	add    []func(cell reflect.Value) // by column
}

func (f *arrowFormat) isArrow() bool { return true }
func (f *arrowFormat) cut() int64    { return 0 }

func (f *arrowFormat) begin(columns []column, said map[string]string) error {
	metadata := arrow.MetadataFrom(said)
	all := arrow.NewSchema(fieldsOf(columns), &metadata)
	f.stream, f.rows = ipc.NewWriter(f.out, ipc.WithSchema(all)), array.NewRecordBuilder(memory.DefaultAllocator, all)
	for i, c := range columns {
		f.add = append(f.add, adder(f.rows.Field(i), c.of))
	}
	f.rows.Reserve(batchRows) // of the first batch
	return nil
}

func (f *arrowFormat) write(cells []reflect.Value) error {
	for i, cell := range cells {
		f.add[i](cell)
	}
	return nil
}

func (f *arrowFormat) flush() error {
	batch := f.rows.NewRecordBatch()
	defer batch.Release()
	if batch.NumRows() == 0 {
		return nil
	}
	f.rows.Reserve(batchRows)
	return f.stream.Write(batch)
}

func (f *arrowFormat) end() error {
	err := f.stream.Close()
	if e := f.out.Flush(); err == nil {
		err = e
	}
	return err
}

// broken is the prefix of an Arrow IPC message of 8 bytes, which never follow. A
// stream needs no mark at its end, so one that an error cuts would look whole.
var broken = []byte{0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0}

func (f *arrowFormat) abort() {
	f.out.Write(broken)
	f.out.Flush()
}

func fieldsOf(columns []column) (fields []arrow.Field) {
	for _, c := range columns {
		field := fieldOf(c.of)
		field.Name = c.name
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
		f.Type = arrow.StructOf(fieldsOf(columnsOf(t))...)
	}
	return f
}

// adder returns what adds cells of a type to a column.
func adder(to array.Builder, t reflect.Type) func(cell reflect.Value) {
	if t.Kind() == reflect.Pointer {
		add := adder(to, t.Elem())
		return func(cell reflect.Value) {
			if cell.IsNil() {
				to.AppendNull()
			} else {
				add(cell.Elem())
			}
		}
	}
	switch to := to.(type) {
	case *array.StringBuilder:
		return func(cell reflect.Value) { to.Append(cell.String()) }
	case *array.BinaryBuilder:
		return func(cell reflect.Value) { to.Append(cell.Bytes()) }
	case *array.Int64Builder:
		return func(cell reflect.Value) { to.Append(cell.Int()) }
	case *array.Int32Builder:
		return func(cell reflect.Value) { to.Append(int32(cell.Int())) }
	case *array.BooleanBuilder:
		return func(cell reflect.Value) { to.Append(cell.Bool()) }
	case *array.Float64Builder:
		return func(cell reflect.Value) { to.Append(cell.Float()) }
	case *array.TimestampBuilder:
		return func(cell reflect.Value) { to.Append(arrow.Timestamp(timeIn(cell).UnixMicro())) }
	case *array.ListBuilder:
		add := adder(to.ValueBuilder(), t.Elem())
		return func(cell reflect.Value) {
			to.Append(true)
			for i := range cell.Len() {
				add(cell.Index(i))
			}
		}
	}
	in := to.(*array.StructBuilder)
	var fields []func(reflect.Value)
	for i := range in.NumField() {
		fields = append(fields, adder(in.FieldBuilder(i), t.Field(i).Type))
	}
	return func(cell reflect.Value) {
		in.Append(true)
		for i, add := range fields {
			add(cell.Field(i))
		}
	}
}
