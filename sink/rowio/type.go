package rowio

import (
	"fmt"
	"reflect"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Type returns the row type of the columns with these names, nil for all, in the order of the
// file: for those who write the tables of any run for others, and know of no column.
func (f *File) Type(names []string) (row reflect.Type, err error) {
	defer Recovered(&err)
	isNamed := make(map[string]bool, len(names))
	for _, name := range names {
		isNamed[name] = true
	}
	var fields []reflect.StructField
	for _, c := range f.file.Root().Columns() {
		if names != nil && !isNamed[c.Name()] {
			continue
		}
		t, err := typeOf(c)
		if err != nil {
			return nil, err
		}
		fields = append(fields, fieldOf(c, len(fields), t))
	}
	return reflect.StructOf(fields), nil
}

func fieldOf(c *parquet.Column, i int, t reflect.Type) reflect.StructField {
	return reflect.StructField{
		Name: fmt.Sprintf("F%d", i), Type: t, Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", c.Name())),
	}
}

// typeOf returns the type of a field for a column, as the rows of tables have it.
func typeOf(c *parquet.Column) (reflect.Type, error) {
	if c.Leaf() && !c.Repeated() {
		return cellType(c)
	}
	inner := c.Columns()
	if c.Leaf() || c.Optional() || c.Repeated() || len(inner) != 1 || inner[0].Name() != "list" ||
		!inner[0].Repeated() || len(inner[0].Columns()) != 1 || inner[0].Columns()[0].Name() != "element" {
		return nil, noType(c)
	}
	element := inner[0].Columns()[0]
	if element.Leaf() {
		t, err := cellType(element)
		if err != nil {
			return nil, err
		}
		return reflect.SliceOf(t), nil
	}
	var fields []reflect.StructField
	for i, of := range element.Columns() {
		if !of.Leaf() || element.Optional() {
			return nil, noType(c)
		}
		t, err := cellType(of)
		if err != nil {
			return nil, err
		}
		fields = append(fields, fieldOf(of, i, t))
	}
	return reflect.SliceOf(reflect.StructOf(fields)), nil
}

// cellType returns the type of a cell.
func cellType(c *parquet.Column) (t reflect.Type, err error) {
	switch means := logical(c.Type()).(type) {
	case *format.StringType:
		t = reflect.TypeFor[string]()
	case *format.TimestampType:
		if isTime(reflect.TypeFor[time.Time](), c) {
			t = reflect.TypeFor[time.Time]()
		}
	case nil, *format.IntType:
		of, _ := means.(*format.IntType)
		switch kind := c.Type().Kind(); {
		case kind == parquet.Boolean:
			t = reflect.TypeFor[bool]()
		case kind == parquet.Int32 && (of == nil || of.IsSigned && of.BitWidth == 32):
			t = reflect.TypeFor[int32]()
		case kind == parquet.Int64 && (of == nil || of.IsSigned):
			t = reflect.TypeFor[int64]()
		case kind == parquet.Double:
			t = reflect.TypeFor[float64]()
		case kind == parquet.ByteArray:
			t = reflect.TypeFor[[]byte]()
		}
	}
	switch {
	case t == nil || c.Repeated():
		return nil, noType(c)
	case c.Optional():
		t = reflect.PointerTo(t)
	}
	return t, nil
}

func noType(c *parquet.Column) error {
	return fmt.Errorf("damaged Parquet: column %s is not of a type that tables have", c.Path()[0])
}
