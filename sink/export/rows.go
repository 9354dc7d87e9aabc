package export

import (
	"reflect"
	"slices"

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

// A column of rows: its name, the type of its cells, of which a nil pointer is null, and the cell
// of a row.
type column struct {
	name string
	of   reflect.Type
	cell func(row reflect.Value) reflect.Value
}

// columnsOf returns the columns of rows of a type.
func columnsOf(row reflect.Type) (columns []column) {
	for i := range row.NumField() {
		columns = append(columns, column{schema.ColumnOf(row.Field(i)), row.Field(i).Type,
			func(row reflect.Value) reflect.Value { return row.Field(i) }})
	}
	return columns
}

func names(columns []column) (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// only returns the columns with these names, in their own order.
func only(all []column, names []string) (columns []column) {
	isNamed := make(map[string]bool, len(names)) // the table access has a column for each agent
	for _, name := range names {
		isNamed[name] = true
	}
	for _, c := range all {
		if isNamed[c.name] {
			columns = append(columns, c)
		}
	}
	return columns
}

// columnNamed returns a column, nil if there is none of that name.
func columnNamed(all []column, name string) *column {
	if i := slices.IndexFunc(all, func(c column) bool { return c.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// textsIn returns the bytes of the texts of a cell, or some number above mostTexts.
func textsIn(cell reflect.Value) (n int) {
	switch cell.Kind() {
	case reflect.String:
		return cell.Len()
	case reflect.Pointer:
		if !cell.IsNil() {
			return textsIn(cell.Elem())
		}
	case reflect.Slice:
		if cell.Type().Elem().Kind() == reflect.Uint8 {
			return cell.Len()
		}
		for i := 0; i < cell.Len() && n <= mostTexts; i++ {
			n += textsIn(cell.Index(i))
		}
	case reflect.Struct:
		for i := range cell.NumField() {
			n += textsIn(cell.Field(i))
		}
	}
	return n
}
