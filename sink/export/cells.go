package export

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// value returns a cell: nil, a bool, an int64, a float64, a string, a [time.Time], or
// [json.RawMessage] for a list or struct. Bytes are base64.
func value(column arrow.Array, row int) any {
	if column.IsNull(row) {
		return nil
	}
	switch c := column.(type) {
	case *array.Boolean:
		return c.Value(row)
	case *array.Int32:
		return int64(c.Value(row))
	case *array.Int64:
		return c.Value(row)
	case *array.Float64:
		return c.Value(row)
	case *array.String:
		return c.Value(row)
	case *array.Binary:
		return base64.StdEncoding.EncodeToString(c.Value(row))
	case *array.Timestamp:
		return time.UnixMicro(int64(c.Value(row))).UTC()
	case *array.List:
		from, to := c.ValueOffsets(row)
		out := json.RawMessage{'['}
		for i := from; i < to; i++ {
			if i > from {
				out = append(out, ',')
			}
			out = append(out, asJSON(value(c.ListValues(), int(i)))...)
		}
		return append(out, ']')
	case *array.Struct:
		out := json.RawMessage{'{'}
		for i, f := range c.DataType().(*arrow.StructType).Fields() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(strconv.AppendQuote(out, f.Name), ':')
			out = append(out, asJSON(value(c.Field(i), row))...)
		}
		return append(out, '}')
	}
	return column.ValueStr(row) // no table has another type
}

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
