package scan

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// BenchmarkRead reads all columns, and two, of 200,000 rows.
func BenchmarkRead(b *testing.B) {
	some, line, rank := "/section", int32(7), int64(3)
	rows := make([]row, 200_000)
	for i := range rows {
		rows[i] = row{Seq: int64(i / 200), Rank: &rank, Text: fmt.Sprintf("h%d.example", i/200), Plain: []byte("x"), Last: fmt.Sprintf("/page-%d", i%10)}
		if i%3 > 0 {
			rows[i].Maybe, rows[i].Line = &some, &line
		}
		if i%50 == 0 {
			rows[i].Names, rows[i].Hops = []string{"a", "b"}, []hop{{"u", &line}}
		}
	}
	content := written(b, rows)
	for _, columns := range [][]string{nil, {"seq", "text"}} {
		name := "all"
		if columns != nil {
			name = "two"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n := 0
				f, err := Open(bytes.NewReader(content))
				if err == nil {
					err = f.Batches(b.Context(), Selection{Columns: columns}, func(batch arrow.RecordBatch) error {
						n += int(batch.NumRows())
						return nil
					})
				}
				if err != nil || n != len(rows) {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(len(rows))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
