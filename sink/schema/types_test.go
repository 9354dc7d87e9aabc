package schema

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// A column that is nullable now is read from a part of an earlier version, which could not
// leave it null; no other column may differ.
func TestPartsOfAnEarlierVersion(t *testing.T) {
	type now struct {
		Seq    int64 `parquet:"seq"`
		IsUTF8 *bool `parquet:"is_utf8"`
	}
	type earlier struct {
		Seq    int64 `parquet:"seq"`
		IsUTF8 bool  `parquet:"is_utf8"`
	}
	type stranger struct {
		Seq    *int64 `parquet:"seq"`
		IsUTF8 bool   `parquet:"is_utf8"`
	}
	file := func(write func(*bytes.Buffer) error) (*parquet.File, error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return OpenRows[now](bytes.NewReader(b.Bytes()), int64(b.Len()))
	}
	old, err := file(func(b *bytes.Buffer) error { return parquet.Write(b, []earlier{{1, true}, {2, false}}) })
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]now, 2)
	in := parquet.NewGenericRowGroupReader[now](old.RowGroups()[0])
	if n, _ := in.Read(rows); n != 2 || rows[0].IsUTF8 == nil || !*rows[0].IsUTF8 || rows[1].IsUTF8 == nil || *rows[1].IsUTF8 {
		t.Errorf("%d rows: %+v", n, rows)
	}
	if _, err := file(func(b *bytes.Buffer) error { return parquet.Write(b, []stranger{{new(int64(1)), true}}) }); err == nil || !strings.Contains(err.Error(), `column "seq"`) {
		t.Errorf("a seq that may be null: %v", err)
	}
}
