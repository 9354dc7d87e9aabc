package series

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// WriteCSV writes points as CSV: the columns of the table series, null as an empty
// cell. Agents and keys that a spreadsheet could take for a formula get an apostrophe.
func WriteCSV(w io.Writer, points []schema.Point) error {
	out := csv.NewWriter(w)
	var head []string
	for _, d := range sink.Dictionary() {
		if d.Table == "series" {
			head = append(head, d.Column)
		}
	}
	out.Write(head) // Flush reports errors
	for i := range points {
		p := &points[i]
		out.Write([]string{
			word(&p.Metric), word(&p.Population), word(&p.Stratum), word(p.Agent), word(p.Category), word(p.Profile),
			word(p.Key), word(&p.Run), p.Date.Format(time.RFC3339), word(&p.Base),
			integer(p.Count), integer(p.Denominator), number(p.Share), number(p.Low), number(p.High), word(p.Method),
			number(p.DesignEffect), cell(p.Clusters, integer), word(p.Caution), cell(p.Comparable, strconv.FormatBool),
			word(p.WhyNot),
		})
	}
	out.Flush()
	return out.Error()
}

// cell returns a cell as text, "" for null.
func cell[T any](value *T, text func(T) string) string {
	if value == nil {
		return ""
	}
	return text(*value)
}

func word(s *string) string { return cell(s, visible.Cell) }
func number(f *float64) string {
	return cell(f, func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) })
}
func integer(n int64) string { return strconv.FormatInt(n, 10) }
