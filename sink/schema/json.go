package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robocensus/robocensus/sink/visible"
)

// JSON returns columns of a row as an object whose keys are their names, in the order of these,
// which commas separate as in SQL; for "", all columns. A row may embed another.
func JSON(row any, columns string) ([]byte, error) {
	v := reflect.Indirect(reflect.ValueOf(row))
	names := ColumnsOf(v.Type())
	if columns != "" {
		names = strings.Split(columns, ", ")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // who encodes the whole does, where it is wanted
	at := placesOf(v.Type())
	for i, name := range names {
		if at[name] == nil {
			return nil, fmt.Errorf("%s has no column %q", v.Type(), name)
		}
		out.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&out, "%q:", name)
		if err := e.Encode(v.FieldByIndex(at[name]).Interface()); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// CSV returns a row as the cells of a line of CSV, "" for null and times to the second. A text that a
// spreadsheet could take for a formula gets an apostrophe.
func CSV(row any) (cells []string) {
	for _, v := range reflect.Indirect(reflect.ValueOf(row)).Fields() {
		cell := ""
		if v.Kind() != reflect.Pointer || !v.IsNil() {
			switch x := reflect.Indirect(v).Interface().(type) {
			case float64:
				cell = strconv.FormatFloat(x, 'g', -1, 64)
			case time.Time:
				cell = x.Format(time.RFC3339)
			default:
				cell = visible.Cell(fmt.Sprint(x))
			}
		}
		cells = append(cells, cell)
	}
	return cells
}

var places sync.Map // of columns, by row type

// placesOf returns where the columns of a row type are.
func placesOf(row reflect.Type) map[string][]int {
	if known, ok := places.Load(row); ok {
		return known.(map[string][]int)
	}
	at := make(map[string][]int)
	for _, field := range reflect.VisibleFields(row) {
		at[ColumnOf(field)] = field.Index
	}
	places.Store(row, at)
	return at
}
