package series

import (
	"encoding/csv"
	"io"
	"reflect"

	"github.com/robocensus/robocensus/sink/schema"
)

// WriteCSV writes points as CSV: the columns of the table series, as [schema.CSV] has them.
func WriteCSV(w io.Writer, points []schema.Point) error {
	out := csv.NewWriter(w)
	out.Write(schema.ColumnsOf(reflect.TypeFor[schema.Point]())) // Flush reports errors
	for i := range points {
		out.Write(schema.CSV(&points[i]))
	}
	out.Flush()
	return out.Error()
}
