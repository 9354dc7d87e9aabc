package export

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest/oracle"
)

// anyRow has the kinds of columns that tables have.
type anyRow struct {
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
	Hops   []anyHop   `parquet:"hops,list"`
	Rank   *int64     `parquet:"rank"`
	Broken *bool      `parquet:"broken"`
}

type anyHop struct {
	URL    string `parquet:"url"`
	Status *int32 `parquet:"status"`
}

func writtenFile[T any](t interface{ Fatal(...any) }, rows []T, options ...parquet.WriterOption) []byte {
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

// streamed returns the Arrow stream of a file: its columns, and each batch.
func streamed(ctx context.Context, t interface{ Fatal(...any) }, f *rowio.File, each func(arrow.RecordBatch)) (
	*arrow.Schema, error) {
	var out bytes.Buffer
	e := &exporter{ctx: ctx, format: &arrowFormat{out: bufio.NewWriter(&out)}}
	if err := e.part(f, journal.Part{}, &view{of: asItIs}); err != nil {
		return nil, err
	}
	if err := e.format.end(); err != nil {
		return nil, err
	}
	in, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Release()
	for in.Next() {
		each(in.RecordBatch())
	}
	return in.Schema(), in.Err()
}

func opened(t interface{ Fatal(...any) }, content []byte) *rowio.File {
	f, err := rowio.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sameColumns compares columns with those that arrow-go reads, except for field IDs, which
// parquet-go omits.
func sameColumns(t interface{ Fatalf(string, ...any) }, got, want *arrow.Schema) {
	if got.NumFields() != want.NumFields() {
		t.Fatalf("%d columns, want %d", got.NumFields(), want.NumFields())
	}
	for i, f := range want.Fields() {
		f.Metadata = arrow.Metadata{}
		if got := got.Field(i); got.String() != f.String() {
			t.Fatalf("column %s, want %s", got, f)
		}
	}
}

// Columns of every kind become what arrow-go reads, over pages and row groups, whatever the
// runs of nulls and the lengths of lists.
func TestBatchesAreAsArrowReadsThem(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", "/x", "é", strings.Repeat("long ", 50)})
	when := rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMicro(rapid.Int64Range(-1e15, 4e15).Draw(t, "µs")).UTC()
	})
	number := rapid.Ptr(rapid.Int32(), true)
	one := rapid.Custom(func(t *rapid.T) anyRow {
		return anyRow{
			Seq: rapid.Int64().Draw(t, "seq"), Line: number.Draw(t, "line"), Text: texts.Draw(t, "text"),
			Maybe: rapid.Ptr(texts, true).Draw(t, "maybe"), Plain: []byte(texts.Draw(t, "plain")),
			Is:    rapid.Bool().Draw(t, "is"),
			Delay: rapid.Ptr(rapid.Float64(), true).Draw(t, "delay"), At: when.Draw(t, "at"), Since: rapid.Ptr(when, true).Draw(
				t, "since"),
			Names: rapid.SliceOfN(texts, 0, 4).Draw(t, "names"), Lines: rapid.SliceOfN(rapid.Int32(), 0, 4).Draw(t, "lines"),
			Hops: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) anyHop {
				return anyHop{texts.Draw(t, "url"), number.Draw(t, "status")}
			}), 0, 3).Draw(t, "hops"),
			Rank: rapid.Ptr(rapid.Int64(), true).Draw(t, "rank"), Broken: rapid.Ptr(rapid.Bool(), true).Draw(t, "broken"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var rows []anyRow
		for _, r := range rapid.SliceOfN(one, 0, 12).Draw(t, "rows") {
			for range rapid.SampledFrom([]int{1, 1, 2, 64, 300}).Draw(t, "times") {
				rows = append(rows, r)
			}
		}
		content := writtenFile(t, rows, parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 2000).Draw(t, "row group")+50),
			parquet.PageBufferSize(rapid.IntRange(100, 10000).Draw(t, "page")), parquet.KeyValueMetadata("k", "v"))
		var want, got []string
		columns := oracle.Arrow(t, content, func(b arrow.RecordBatch) { want = append(want, rendered(b)...) })
		schema, err := streamed(t.Context(), t, opened(t, content), func(b arrow.RecordBatch) {
			got = append(got, rendered(b)...)
		})
		if err != nil {
			t.Fatal(err)
		}
		sameColumns(t, schema, columns)
		if v, ok := schema.Metadata().GetValue("k"); !ok || v != "v" {
			t.Fatalf("metadata %s", schema.Metadata())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-arrow-go +ours):\n%s", diff)
		}
	})
}

// The columns of each table have the types that arrow-go reads.
func TestColumnsOfTables(t *testing.T) {
	for _, table := range schema.TableNames {
		content, err := schema.EmptyPart(table)
		if err != nil {
			t.Fatal(err)
		}
		got, err := streamed(t.Context(), t, opened(t, content), func(arrow.RecordBatch) {})
		if err != nil {
			t.Fatal(err)
		}
		sameColumns(t, got, oracle.Arrow(t, content, func(arrow.RecordBatch) {}))
	}
}

// Batches of long texts have few rows, and a row of any size is refused: a list may name a text
// of the dictionary again and again.
func TestBatchesAreBounded(t *testing.T) {
	type row struct {
		Text string   `parquet:"text,dict"`
		List []string `parquet:"list,list" parquet-element:",dict"`
	}
	wide := strings.Repeat("x", 1<<20)
	options := []parquet.WriterOption{parquet.SkipPageBounds("text"), parquet.SkipPageStatistics("text"),
		parquet.SkipPageBounds("list", "list", "element"), parquet.SkipPageStatistics("list", "list", "element")}
	rows := make([]row, 200)
	for i := range rows {
		rows[i].Text = wide
	}
	n, largest, all := 0, int64(0), int64(0)
	_, err := streamed(t.Context(), t, opened(t, writtenFile(t, rows, options...)), func(b arrow.RecordBatch) {
		n, largest, all = n+1, max(largest, b.NumRows()), all+b.NumRows()
	})
	if err != nil || n != 25 || largest != 8 || all != 200 {
		t.Errorf("%d batches of at most %d rows, %d together: %v", n, largest, all, err)
	}
	again := make([]string, 200)
	for i := range again {
		again[i] = wide
	}
	_, err = streamed(t.Context(), t, opened(t, writtenFile(t, []row{{Text: "a"}, {List: again}}, options...)),
		func(arrow.RecordBatch) {})
	if err == nil || !strings.Contains(err.Error(), "a row whose texts take more than") {
		t.Error(err)
	}
}

// A column of a type that no table has is named.
func TestColumnsThatNoTableHas(t *testing.T) {
	type of struct {
		Seq int64 `parquet:"seq"`
		Day int32 `parquet:"day,date"`
	}
	f := opened(t, writtenFile(t, []of{{}}))
	if _, err := streamed(t.Context(), t, f, func(arrow.RecordBatch) {}); err == nil || !strings.Contains(err.Error(),
		"column day is not of a type that tables have") {
		t.Error(err)
	}
}
