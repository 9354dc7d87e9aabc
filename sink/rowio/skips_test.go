package rowio

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Pages without wanted rows are not decoded, whatever the offset index says.
func TestPagesThatAreSkipped(t *testing.T) {
	type line struct {
		Seq  int64   `parquet:"seq,delta"`
		Text *string `parquet:"text,dict"`
	}
	texts := []string{"a", "b", "c"}
	rows := make([]line, 20_000)
	for i := range rows {
		if rows[i].Seq = int64(i * i); i%7 > 0 {
			rows[i].Text = &texts[i%3]
		}
	}
	read := func(content []byte, ranges ...[2]int64) (same bool, err error) {
		var want []line
		for _, r := range ranges {
			want = append(want, rows[r[0]:r[1]]...)
		}
		got, err := all[line](content, Selection{Rows: ranges})
		return reflect.DeepEqual(got, want), err
	}
	content := written(t, rows, parquet.PageBufferSize(4000), parquet.Compression(&parquet.Uncompressed))
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil || len(file.RowGroups()) != 1 {
		t.Fatal(err)
	}
	for i, chunk := range file.RowGroups()[0].ColumnChunks() {
		index, err := chunk.OffsetIndex()
		if err != nil || index.NumPages() < 5 {
			t.Fatal(err, index.NumPages())
		}
		damaged := bytes.Clone(content)
		from, to := index.FirstRowIndex(2), index.FirstRowIndex(3) // of the page that is damaged
		end := index.Offset(2) + index.CompressedPageSize(2)
		copy(damaged[end-16:end], "sixteen of noise")
		at := file.Metadata().RowGroups[0].Columns[i].OffsetIndexOffset
		copy(damaged[at:][:index.NumPages()], bytes.Repeat([]byte{0x55}, index.NumPages()))
		if same, err := read(damaged, [2]int64{5, 9}, [2]int64{from, to}); same && err == nil {
			t.Errorf("column %d: no page is damaged", i)
		}
		for _, ranges := range [][][2]int64{{{0, 1}, {to, to + 1}}, {{to + 9, to + 10}},
			{{from - 1, from}, {to, to + 2000}}} {
			if same, err := read(damaged, ranges...); !same || err != nil {
				t.Errorf("column %d: rows of %v are the same: %v, %v", i, ranges, same, err)
			}
		}
	}
}
