package export

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"
)

// value returns a cell: nil, a bool, an int64, a float64, a string, a [time.Time], or
// [json.RawMessage] for a list or struct. Bytes are base64.
func value(cell reflect.Value) any {
	switch cell.Kind() {
	case reflect.Pointer:
		if cell.IsNil() {
			return nil
		}
		return value(cell.Elem())
	case reflect.String:
		return cell.String()
	case reflect.Int32, reflect.Int64:
		return cell.Int()
	case reflect.Bool:
		return cell.Bool()
	case reflect.Float64:
		return cell.Float()
	case reflect.Slice:
		if cell.Type().Elem().Kind() == reflect.Uint8 {
			return base64.StdEncoding.EncodeToString(cell.Bytes())
		}
		out := json.RawMessage{'['}
		for i := range cell.Len() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, asJSON(value(cell.Index(i)))...)
		}
		return append(out, ']')
	}
	if cell.Type() == reflect.TypeFor[time.Time]() {
		return timeIn(cell).UTC()
	}
	out := json.RawMessage{'{'}
	for i, field := range columnsOf(cell.Type()) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, field.name), ':')
		out = append(out, asJSON(value(cell.Field(i)))...)
	}
	return append(out, '}')
}

// timeIn returns the time in a cell, which is one of a row in memory: no copy is made.
func timeIn(cell reflect.Value) *time.Time { return cell.Addr().Interface().(*time.Time) }

// asJSON returns a cell as JSON. A number that JSON does not have is a string.
func asJSON(v any) []byte {
	switch v := v.(type) {
	case json.RawMessage:
		return v
	case time.Time:
		return strconv.AppendQuote(nil, text(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.AppendQuote(nil, text(v))
		}
	}
	out, _ := json.Marshal(v) // neither of these types has an error
	return out
}

// text returns a cell as text, "" for null.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return string(v.(json.RawMessage))
}
