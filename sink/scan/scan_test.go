package scan

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"pgregory.net/rapid"
)

// row has the kinds of columns that tables have.
type row struct {
	Seq    int64      `parquet:"seq"`
	Line   *int32     `parquet:"line"`
	Text   string     `parquet:"text,dict"`
	Maybe  *string    `parquet:"maybe,dict"`
	Plain  []byte     `parquet:"plain"`
	Is     bool       `parquet:"is"`
	Delay  *float64   `parquet:"delay"`
	At     time.Time  `parquet:"at,timestamp(microsecond)"`
	Since  *time.Time `parquet:"since,timestamp(microsecond)"`
	Names  []string   `parquet:"names,list" parquet-element:",dict"`
	Lines  []int32    `parquet:"lines,list"`
	Hops   []hop      `parquet:"hops,list"`
	Last   string     `parquet:"last"`
	Rank   *int64     `parquet:"rank"`
	Broken *bool      `parquet:"broken"`
}

type hop struct {
	URL    string `parquet:"url"`
	Status *int32 `parquet:"status"`
}

func written[T any](t interface{ Fatal(...any) }, rows []T, options ...parquet.WriterOption) []byte {
	var out bytes.Buffer
	if err := parquet.Write(&out, rows, options...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func rendered(batch arrow.RecordBatch) (rows []string) {
	for i := range int(batch.NumRows()) {
		var text strings.Builder
		for k, c := range batch.Columns() {
			if c.IsNull(i) {
				fmt.Fprintf(&text, "%s null ", batch.ColumnName(k))
			} else {
				fmt.Fprintf(&text, "%s %q ", batch.ColumnName(k), c.ValueStr(i))
			}
		}
		rows = append(rows, text.String())
	}
	return rows
}

func read(t interface{ Fatal(...any) }, content []byte, s Selection) (schema *arrow.Schema, rows []string) {
	f, err := Open(bytes.NewReader(content))
	if err == nil {
		schema = f.Schema()
		err = f.Batches(context.Background(), s, func(b arrow.RecordBatch) error {
			rows = append(rows, rendered(b)...)
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return schema, rows
}

// readByArrow reads a file with pqarrow.
func readByArrow(t interface{ Fatal(...any) }, content []byte) (schema *arrow.Schema, rows []string) {
	r, err := file.NewParquetReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	a, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := a.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	batches := array.NewTableReader(table, 0)
	for batches.Next() {
		rows = append(rows, rendered(batches.RecordBatch())...)
	}
	return table.Schema(), rows
}

// Columns of every kind are read as pqarrow reads them, over pages and row groups,
// whatever the runs of nulls and the lengths of lists.
func TestRowsAreAsPqarrowReadsThem(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", "/x", "é", strings.Repeat("long ", 50)})
	when := rapid.Custom(func(t *rapid.T) time.Time { return time.UnixMicro(rapid.Int64Range(-1e15, 4e15).Draw(t, "µs")).UTC() })
	one := rapid.Custom(func(t *rapid.T) row {
		return row{
			Seq: rapid.Int64().Draw(t, "seq"), Line: rapid.Ptr(rapid.Int32(), true).Draw(t, "line"), Text: texts.Draw(t, "text"),
			Maybe: rapid.Ptr(texts, true).Draw(t, "maybe"), Plain: []byte(texts.Draw(t, "plain")), Is: rapid.Bool().Draw(t, "is"),
			Delay: rapid.Ptr(rapid.Float64(), true).Draw(t, "delay"), At: when.Draw(t, "at"), Since: rapid.Ptr(when, true).Draw(t, "since"),
			Names: rapid.SliceOfN(texts, 0, 4).Draw(t, "names"), Lines: rapid.SliceOfN(rapid.Int32(), 0, 4).Draw(t, "lines"),
			Hops: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) hop {
				return hop{texts.Draw(t, "url"), rapid.Ptr(rapid.Int32(), true).Draw(t, "status")}
			}), 0, 3).Draw(t, "hops"),
			Last: texts.Draw(t, "last"), Rank: rapid.Ptr(rapid.Int64(), true).Draw(t, "rank"), Broken: rapid.Ptr(rapid.Bool(), true).Draw(t, "broken"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var rows []row
		for _, r := range rapid.SliceOfN(one, 0, 12).Draw(t, "rows") {
			for range rapid.SampledFrom([]int{1, 1, 2, 64, 300}).Draw(t, "times") {
				rows = append(rows, r)
			}
		}
		content := written(t, rows, parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 2000).Draw(t, "row group")+50),
			parquet.PageBufferSize(rapid.IntRange(100, 10000).Draw(t, "page")), parquet.KeyValueMetadata("k", "v"))
		wantSchema, want := readByArrow(t, content)
		schema, got := read(t, content, Selection{})
		for i, f := range wantSchema.Fields() { // except for field IDs, which parquet-go omits
			f.Metadata = arrow.Metadata{}
			if got := schema.Field(i); got.String() != f.String() {
				t.Fatalf("column %s, want %s", got, f)
			}
		}
		if v, ok := schema.Metadata().GetValue("k"); !ok || v != "v" {
			t.Fatalf("metadata %s", schema.Metadata())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-pqarrow +scan):\n%s", diff)
		}
	})
}

func TestColumnsAreChosen(t *testing.T) {
	b := "b"
	content := written(t, []row{{Seq: 1, Text: "x", Maybe: &b}, {Seq: 2, Text: "y"}})
	_, rows := read(t, content, Selection{Columns: []string{"maybe", "seq"}})
	if diff := cmp.Diff([]string{`seq "1" maybe "b" `, `seq "2" maybe null `}, rows); diff != "" {
		t.Error(diff)
	}
	f, err := Open(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		s    Selection
		each func(arrow.RecordBatch) error
		want string
	}{
		{Selection{Columns: []string{"seq", "x", "y"}}, nil, "has no column x, y"},
		{Selection{}, func(b arrow.RecordBatch) error { Column[*array.String](b, "seq"); return nil }, "damaged Parquet: interface conversion"},
		{Selection{}, func(b arrow.RecordBatch) error { return errors.New("own") }, "own"},
	} {
		if err := f.Batches(t.Context(), row.s, row.each); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Batches(ctx, Selection{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended: %v", err)
	}
}

// Row groups without a wanted seq are skipped.
func TestRowGroupsAreChosen(t *testing.T) {
	var rows []row
	for i := range int64(100) {
		rows = append(rows, row{Seq: i})
	}
	content := written(t, rows, parquet.MaxRowsPerRowGroup(10))
	_, got := read(t, content, Selection{Columns: []string{"seq"}, Wanted: func(least, greatest int64) bool { return least <= 42 && 42 <= greatest }})
	if len(got) != 10 || got[0] != `seq "40" ` {
		t.Errorf("%q", got)
	}
}

// Row groups without a wanted text are skipped, and of a large file not even looked at; a
// column without statistics, or one that is not there, skips none.
func TestRowGroupsAreChosenByTexts(t *testing.T) {
	var rows []row
	for i := range int64(100) {
		rows = append(rows, row{Seq: i, Text: fmt.Sprintf("h%02d.example", i), Last: fmt.Sprint(i / 50)})
	}
	content := written(t, rows, parquet.MaxRowsPerRowGroup(10), parquet.Compression(&parquet.Zstd), parquet.SkipPageStatistics("plain"))
	at := func(text string) func(least, greatest string) bool {
		return func(least, greatest string) bool { return least <= text && text <= greatest }
	}
	f, err := OpenLarge(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		texts map[string]func(least, greatest string) bool
		want  []int64
	}{
		{map[string]func(string, string) bool{"text": at("h42.example")}, []int64{40}},
		{map[string]func(string, string) bool{"text": at("h42.example"), "last": at("1")}, nil},
		{map[string]func(string, string) bool{"last": at("1"), "absent": at("1"), "seq": at("x")}, []int64{50, 60, 70, 80, 90}},
	} {
		var got []int64
		passed := int64(0)
		err := f.Batches(t.Context(), Selection{Columns: []string{"seq"}, Texts: c.texts, Passed: func(rows int64) { passed += rows }}, func(b arrow.RecordBatch) error {
			got = append(got, Column[*array.Int64](b, "seq").Value(0))
			return nil
		})
		if err != nil || !slices.Equal(got, c.want) || passed != int64(100-10*len(c.want)) {
			t.Errorf("groups from %d, want %d; %d rows are passed; %v", got, c.want, passed, err)
		}
	}
	// The header of a page in the second row group says that it has gigabytes.
	damaged := bytes.Clone(content)
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	copy(damaged[file.Metadata().RowGroups[1].Columns[0].MetaData.DataPageOffset:], "\x15\x06\x15\xfe\xff\xff\xff\x0f")
	if f, err = OpenLarge(bytes.NewReader(damaged)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"h42.example": true, "h15.example": false} {
		err := f.Batches(t.Context(), Selection{Columns: []string{"seq"}, Texts: map[string]func(string, string) bool{"text": at(text)}}, func(arrow.RecordBatch) error { return nil })
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "row group 1") {
			t.Errorf("%s of a damaged file: %v", text, err)
		}
	}
}

// Batches of long cells have few rows.
func TestBatchesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	rows := make([]row, 200)
	for i := range rows {
		rows[i].Text = long // a thousandth of that in the file, in a dictionary
	}
	f, err := Open(bytes.NewReader(written(t, rows, parquet.SkipPageBounds("text"), parquet.SkipPageStatistics("text"))))
	if err != nil {
		t.Fatal(err)
	}
	batches, last := 0, int64(0)
	err = f.Batches(t.Context(), Selection{Columns: []string{"text"}}, func(b arrow.RecordBatch) error {
		batches, last = batches+1, b.NumRows()
		return nil
	})
	if err != nil || batches < 6 || last > 8 {
		t.Errorf("%d batches, the last of %d rows: %v", batches, last, err)
	}
}

// A column that no table has does not stand in the way of others, whatever an Arrow
// schema says of them.
func TestForeignColumns(t *testing.T) {
	type deep struct {
		Seq   int64           `parquet:"seq"`
		Day   int32           `parquet:"day,date"`
		Map   map[string]bool `parquet:"map"`
		Hop   *hop            `parquet:"hop,optional"`
		ID    [16]byte        `parquet:"id,uuid"`
		Small uint16          `parquet:"small"`
		Text  string          `parquet:"text"`
	}
	other := arrow.NewSchema([]arrow.Field{
		{Name: "seq", Type: arrow.PrimitiveTypes.Int64}, {Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "map", Type: arrow.Null},
		{Name: "hop", Type: arrow.Null}, {Name: "id", Type: arrow.Null}, {Name: "small", Type: arrow.PrimitiveTypes.Uint16}, {Name: "text", Type: arrow.BinaryTypes.LargeString},
	}, nil)
	said := base64.StdEncoding.EncodeToString(flight.SerializeSchema(other, memory.DefaultAllocator))
	content := written(t, []deep{{Seq: 7, Small: 65535, Text: "x"}}, parquet.KeyValueMetadata("ARROW:schema", said))
	_, rows := read(t, content, Selection{Columns: []string{"seq", "small"}})
	if diff := cmp.Diff([]string{`seq "7" small "65535" `}, rows); diff != "" {
		t.Error(diff)
	}
	schema, _ := read(t, content, Selection{})
	if text, _ := schema.FieldsByName("text"); text[0].Type != arrow.BinaryTypes.String {
		t.Errorf("text is of type %s", text[0].Type)
	}
}

// A column with more rows, or fewer, than its row group is damaged.
func TestRowsOfColumnsAndRowGroups(t *testing.T) {
	content := written(t, []row{{Seq: 1}, {Seq: 2}, {Seq: 3}})
	for says, want := range map[int64]string{2: "column seq: has more than the 2 rows of its row group", 3: "<nil>", 4: "column seq: has 3 rows, where 4 are announced"} {
		f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		m := f.Metadata()
		m.NumRows, m.RowGroups[0].NumRows = says, says
		footer, err := thrift.Marshal(new(thrift.CompactProtocol), m)
		if err != nil {
			t.Fatal(err)
		}
		end := len(content) - 8 - int(binary.LittleEndian.Uint32(content[len(content)-8:]))
		other := slices.Concat(content[:end], footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), []byte("PAR1"))
		in, err := Open(bytes.NewReader(other))
		if err == nil {
			err = in.Batches(t.Context(), Selection{Columns: []string{"seq"}}, func(arrow.RecordBatch) error { return nil })
		}
		if fmt.Sprint(err) != want {
			t.Errorf("%d rows: %v, want %s", says, err, want)
		}
	}
}

// Whatever is damaged in a file, reading returns its rows or an error.
func FuzzFile(f *testing.F) {
	b := "b"
	line := int32(3)
	f.Add(written(f, []row{{Seq: 1, Text: "x", Maybe: &b, Line: &line, Names: []string{"a", ""}, Hops: []hop{{"u", &line}, {"v", nil}}}, {Seq: 2}}))
	f.Add(written(f, []hop{{"a", nil}, {"b", &line}}, parquet.MaxRowsPerRowGroup(1)))
	f.Fuzz(func(t *testing.T, content []byte) {
		in, err := Open(bytes.NewReader(content))
		if err != nil {
			return
		}
		rows := 0
		in.Batches(t.Context(), Selection{}, func(b arrow.RecordBatch) error {
			if rows += len(rendered(b)); rows > 10_000 {
				return os.ErrClosed
			}
			return nil
		})
	})
}
