package fetch

import (
	"reflect"
	"testing"
)

// Values has every header: what is bounded and weighed by it must not miss one.
func TestValuesHasEveryHeader(t *testing.T) {
	var h Headers
	fields := reflect.ValueOf(&h).Elem()
	for i := range fields.NumField() {
		fields.Field(i).Set(reflect.ValueOf(new(string)))
	}
	values := h.Values()
	for i := range fields.NumField() {
		if i >= len(values) || values[i] != fields.Field(i).Interface() {
			t.Errorf("Values lacks %s, or has it in another place", fields.Type().Field(i).Name)
		}
	}
}
