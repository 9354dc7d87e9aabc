package scan

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// BenchmarkRead reads all columns, and two, of 200,000 rows with this package and
// with pqarrow.
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
		b.Run(name+"/scan", func(b *testing.B) {
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
		b.Run(name+"/pqarrow", func(b *testing.B) {
			for b.Loop() {
				if n := readAll(b, content, columns); n != len(rows) {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(len(rows))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func readAll(b *testing.B, content []byte, names []string) (n int) {
	properties := parquet.NewReaderProperties(memory.DefaultAllocator)
	properties.BufferedStreamEnabled, properties.BufferSize = true, 256<<10
	r, err := file.NewParquetReader(bytes.NewReader(content), file.WithReadProps(properties))
	if err != nil {
		b.Fatal(err)
	}
	var columns []int
	for _, name := range names {
		columns = append(columns, r.MetaData().Schema.ColumnIndexByName(name))
	}
	a, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		b.Fatal(err)
	}
	batches, err := a.GetRecordReader(context.Background(), columns, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer batches.Release()
	for batches.Next() {
		n += int(batches.RecordBatch().NumRows())
	}
	return n
}
