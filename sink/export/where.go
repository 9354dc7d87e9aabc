package export

import (
	"reflect"
	"slices"
)

// Condition is one that a row fulfils if its cell of the column is one of the values, as
// CSV has it without a guard; of a list, if an element is. "" is a null, or an empty text.
type Condition struct {
	Column string
	Values []string
}

// holds reports whether a cell fulfils the condition.
func (c *Condition) holds(cell reflect.Value) bool {
	isText := func(cell reflect.Value) bool {
		if cell.Kind() == reflect.String {
			return slices.Contains(c.Values, cell.String())
		}
		return slices.Contains(c.Values, text(value(cell)))
	}
	if cell.Kind() != reflect.Slice || cell.Type().Elem().Kind() == reflect.Uint8 {
		return isText(cell)
	}
	for i := range cell.Len() {
		if isText(cell.Index(i)) {
			return true
		}
	}
	return cell.Len() == 0 && slices.Contains(c.Values, "")
}
