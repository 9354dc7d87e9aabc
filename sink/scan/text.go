package scan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// IsText reports whether [Text] can read a type.
func IsText(t arrow.DataType) bool {
	return arrow.IsBaseBinary(t.ID()) || arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}

// Text returns a cell as a line of text would hold it, "" for null. Binary
// cells are read as text. Doubles that are whole numbers are read as such: pandas
// makes doubles of a column of numbers with gaps. Times are as in RFC 3339.
func Text(column arrow.Array, i int) string {
	if column.IsNull(i) {
		return ""
	}
	switch values := column.(type) {
	case *array.String:
		return strings.Clone(values.Value(i)) // the batch's memory is reused
	case *array.Binary:
		return string(values.Value(i))
	case *array.Timestamp:
		unit := values.DataType().(*arrow.TimestampType).Unit
		return values.Value(i).ToTime(unit).Format(time.RFC3339Nano)
	case *array.Float64:
		return wholeNumber(values.Value(i))
	case *array.Float32:
		return wholeNumber(float64(values.Value(i)))
	}
	return column.ValueStr(i)
}

func wholeNumber(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
