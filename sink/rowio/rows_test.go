package rowio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// row has the kinds of columns that tables have.
type row struct {
	Seq    int64       `parquet:"seq"`
	Line   *int32      `parquet:"line"`
	Text   string      `parquet:"text,dict"`
	Maybe  *string     `parquet:"maybe,dict"`
	Plain  []byte      `parquet:"plain"`
	Is     bool        `parquet:"is"`
	Delay  *float64    `parquet:"delay"`
	At     time.Time   `parquet:"at,timestamp(microsecond)"`
	Since  *time.Time  `parquet:"since,timestamp(microsecond)"`
	Names  []string    `parquet:"names,list" parquet-element:",dict"`
	Lines  []int32     `parquet:"lines,list"`
	Hops   []hop       `parquet:"hops,list"`
	Times  []time.Time `parquet:"times,list" parquet-element:",timestamp(microsecond)"`
	Last   string      `parquet:"last"`
	Number int64       `parquet:"number,dict"`
	Rank   *int64      `parquet:"rank"`
	Broken *bool       `parquet:"broken"`
}

type hop struct {
	URL    string    `parquet:"url"`
	Status *int32    `parquet:"status"`
	At     time.Time `parquet:"at,timestamp(microsecond)"`
}

func written[T any](t interface{ Fatal(...any) }, rows []T, options ...parquet.WriterOption) []byte {
	var out bytes.Buffer
	if err := parquet.Write(&out, rows, options...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// all reads the rows of a file.
func all[T any](content []byte, s Selection) (rows []T, err error) {
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err == nil {
		err = Read(context.Background(), f, s, func(batch []T) error {
			rows = append(rows, batch...)
			return nil
		})
	}
	return rows, err
}

func draw() *rapid.Generator[row] {
	texts := rapid.SampledFrom([]string{"", "a", "/x", "é", strings.Repeat("long ", 50)})
	when := rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMicro(rapid.Int64Range(-1e15, 4e15).Draw(t, "µs")).UTC()
	})
	one := rapid.Custom(func(t *rapid.T) hop {
		return hop{texts.Draw(t, "url"), rapid.Ptr(rapid.Int32(), true).Draw(t, "status"), when.Draw(t, "at")}
	})
	return rapid.Custom(func(t *rapid.T) row {
		return row{
			Seq: rapid.Int64().Draw(t, "seq"), Line: rapid.Ptr(rapid.Int32(), true).Draw(t, "line"), Text: texts.Draw(t, "text"),
			Maybe: rapid.Ptr(texts, true).Draw(t, "maybe"), Plain: []byte(texts.Draw(t, "plain")),
			Is:    rapid.Bool().Draw(t, "is"),
			Delay: rapid.Ptr(rapid.Float64(), true).Draw(t, "delay"), At: when.Draw(t, "at"), Since: rapid.Ptr(when, true).Draw(
				t, "since"),
			Names: rapid.SliceOfN(texts, 0, 4).Draw(t, "names"), Lines: rapid.SliceOfN(rapid.Int32(), 0, 4).Draw(t, "lines"),
			Hops: rapid.SliceOfN(one, 0, 3).Draw(t, "hops"), Times: rapid.SliceOfN(when, 0, 3).Draw(t, "times"),
			Last: texts.Draw(t, "last"), Number: rapid.Int64Range(0, 3).Draw(t, "number"), Rank: rapid.Ptr(rapid.Int64(),
				true).Draw(t, "rank"),
			Broken: rapid.Ptr(rapid.Bool(), true).Draw(t, "broken"),
		}
	})
}

func drawRows(t *rapid.T) (rows []row, options []parquet.WriterOption) {
	for _, r := range rapid.SliceOfN(draw(), 0, 12).Draw(t, "rows") {
		for range rapid.SampledFrom([]int{1, 1, 2, 64, 300}).Draw(t, "times") {
			rows = append(rows, r)
		}
	}
	codecs := []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Uncompressed)}
	return rows, []parquet.WriterOption{
		parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 2000).Draw(t, "row group") + 50),
		parquet.PageBufferSize(rapid.IntRange(100, 10000).Draw(t, "page")), rapid.SampledFrom(codecs).Draw(t, "codec"),
	}
}

// Columns of every kind are read as they were written, over pages and row groups, whatever
// the runs of nulls and the lengths of lists. What rows hold stays valid.
func TestRowsAreAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, options := drawRows(t)
		got, err := all[row](written(t, rows, options...), Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

// Some rows of a row group are those that stand there, wherever pages begin.
func TestSomeRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, options := drawRows(t)
		content := written(t, rows, options...)
		f, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		before := int64(0)
		for i, g := range f.Groups() {
			first := rapid.Int64Range(0, g.Rows-1).Draw(t, "first")
			n := rapid.Int64Range(1, g.Rows-first).Draw(t, "n")
			got, err := Some[row](f, Span{i, first, n})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rows[before+first:][:n], got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("rows from %d on of %d in row group %d (-written +read):\n%s", first, n, i, diff)
			}
			before += g.Rows
		}
	})
}

// Rows without lists stand in pages of version 1, and are read from them as a whole, some, and
// in ranges.
func TestRowsOfVersion1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn, options := drawRows(t)
		var rows []flat
		for _, r := range drawn {
			rows = append(rows, flat{r.Seq, r.Line, r.Text, r.Maybe, r.Plain, r.Is, r.Delay, r.At, r.Since, r.Last, r.Number,
				r.Rank,
				r.Broken})
		}
		content := written(t, rows, append(options, parquet.DataPageVersion(1))...)
		same := func(want, got []flat, err error) {
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("(-written +read):\n%s", diff)
			}
		}
		got, err := all[flat](content, Selection{})
		same(rows, got, err)
		f, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		before := int64(0)
		for i, g := range f.Groups() {
			first := rapid.Int64Range(0, g.Rows-1).Draw(t, "first")
			n := rapid.Int64Range(1, g.Rows-first).Draw(t, "n")
			got, err := Some[flat](f, Span{i, first, n})
			same(rows[before+first:][:n], got, err)
			from, to := before+first, before+first+n
			got, err = all[flat](content, Selection{Rows: [][2]int64{{from, to}}})
			same(rows[from:to], got, err)
			before += g.Rows
		}
	})
}

// flat has what row has, but for lists.
type flat struct {
	Seq    int64      `parquet:"seq"`
	Line   *int32     `parquet:"line"`
	Text   string     `parquet:"text,dict"`
	Maybe  *string    `parquet:"maybe,dict"`
	Plain  []byte     `parquet:"plain"`
	Is     bool       `parquet:"is"`
	Delay  *float64   `parquet:"delay"`
	At     time.Time  `parquet:"at,timestamp(microsecond)"`
	Since  *time.Time `parquet:"since,timestamp(microsecond)"`
	Last   string     `parquet:"last"`
	Number int64      `parquet:"number,dict"`
	Rank   *int64     `parquet:"rank"`
	Broken *bool      `parquet:"broken"`
}

// Ranges of rows are read, across pages and row groups, and no others.
func TestRangesOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, options := drawRows(t)
		ranges := make([][2]int64, 0)
		var want []row
		for at, n := int64(0), int64(len(rows)); ; {
			from := at + rapid.Int64Range(0, n-at).Draw(t, "gap")
			if from == n {
				break
			}
			at = from + rapid.Int64Range(1, n-from).Draw(t, "rows")
			ranges, want = append(ranges, [2]int64{from, at}), append(want, rows[from:at]...)
		}
		got, err := all[row](written(t, rows, options...), Selection{Rows: ranges})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("rows of %v (-written +read):\n%s", ranges, diff)
		}
	})
}

// EachText gives each text of a column.
func TestEachText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, options := drawRows(t)
		content := written(t, rows, options...)
		f, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		want, got := make(map[string]bool), make(map[string]bool)
		for i := range rows {
			want[rows[i].Text] = true
		}
		if err := f.EachText(t.Context(), "text", func(text []byte) { got[string(text)] = true }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-written +given):\n%s", diff)
		}
		for _, column := range []string{"seq", "none"} {
			if err := f.EachText(t.Context(), column, func([]byte) {}); err == nil {
				t.Errorf("no error for %s", column)
			}
		}
	})
}

// More rows than a row group has are an error, as is a page that must not be decoded.
func TestSomeRowsOfDamage(t *testing.T) {
	type text struct {
		Text string `parquet:"text,delta"`
	}
	for _, content := range [][]byte{written(t, []row{{Seq: 1}, {Seq: 2}}), written(t, []text{{"a"}, {"ab"}})} {
		f, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		_, ofRows := Some[row](f, Span{0, 1, 2})
		_, ofTexts := Some[text](f, Span{0, 0, 2})
		if f.Has("seq") && ofRows == nil || !f.Has("seq") && ofTexts == nil {
			t.Errorf("%v: %v, %v", f.Columns(), ofRows, ofTexts)
		}
	}
}

// A struct with few columns reads those, in any order, nullable or not.
func TestFewColumns(t *testing.T) {
	b := "b"
	content := written(t, []row{{Seq: 1, Text: "x", Maybe: &b, Hops: []hop{{URL: "u"}}}, {Seq: 2, Text: "y"}})
	type few struct {
		Maybe *string  `parquet:"maybe"`
		Text  *string  `parquet:"text"`
		Seq   int64    `parquet:"seq"`
		Later *float64 `parquet:"later" rowio:"maybe"`
		Hops  []struct {
			URL string `parquet:"url"`
		} `parquet:"hops"`
	}
	got, err := all[few](content, Selection{})
	if err != nil || len(got) != 2 || got[1].Seq != 2 || *got[0].Maybe != "b" || got[1].Maybe != nil ||
		*got[1].Text != "y" || got[0].Later != nil || got[0].Hops[0].URL != "u" || got[1].Hops != nil {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = all[few](content, Selection{Columns: []string{"seq"}})
	if err != nil || len(got) != 2 || got[1].Seq != 2 || got[1].Text != nil || got[0].Hops != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// A column that is missing, or of another type, is named.
func TestOtherColumns(t *testing.T) {
	content := written(t, []row{{Seq: 1}})
	for _, c := range []struct {
		read func() error
		want string
	}{
		{func() error {
			_, err := all[struct {
				A int64 `parquet:"a"`
				B int64 `parquet:"b"`
			}](content, Selection{})
			return err
		}, "has no column a, b"},
		{func() error {
			_, err := all[struct {
				Seq string `parquet:"seq"`
			}](content, Selection{})
			return err
		}, "damaged Parquet: column seq is not of the type that the table has"},
		{func() error {
			_, err := all[struct {
				Seq time.Time `parquet:"seq"`
			}](content, Selection{})
			return err
		}, "damaged Parquet: column seq is not of the type that the table has"},
		{func() error {
			_, err := all[struct {
				Line int32 `parquet:"line"` // which may be null
			}](content, Selection{})
			return err
		}, "damaged Parquet: column line is not of the type that the table has"},
		{func() error {
			_, err := all[struct {
				Names string `parquet:"names"`
			}](content, Selection{})
			return err
		}, "damaged Parquet: column names is not of the type that the table has"},
		{func() error {
			_, err := all[struct {
				Text []string `parquet:"text"`
			}](content, Selection{})
			return err
		}, "damaged Parquet: column text is not of the type that the table has"},
		{func() error { // in one line
			_, err := all[struct {
				A    int64  `parquet:"a"`
				Seq  string `parquet:"seq"`
				Hops []struct {
					URL    int64 `parquet:"url"`
					Status int64 `parquet:"status"`
				} `parquet:"hops"`
			}](content, Selection{})
			return err
		}, "damaged Parquet: column seq is not of the type that the table has; " +
			"damaged Parquet: column hops is not of the type that the table has; has no column a"},
	} {
		if err := c.read(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Row groups without a wanted seq are skipped, an error of the caller and the end of a
// context come back as they are.
func TestSelection(t *testing.T) {
	var rows []row
	for i := range int64(100) {
		rows = append(rows, row{Seq: i})
	}
	content := written(t, rows, parquet.MaxRowsPerRowGroup(10))
	got, err := all[row](content, Selection{Wanted: func(least, greatest int64) bool {
		return least <= 42 && 42 <= greatest
	}})
	if err != nil || len(got) != 10 || got[0].Seq != 40 {
		t.Errorf("%d rows: %v", len(got), err)
	}
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	own := errors.New("own")
	if err := Read(t.Context(), f, Selection{}, func([]row) error { return own }); err != own {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Read(ctx, f, Selection{}, func([]row) error { return nil }); err != context.Canceled {
		t.Error(err)
	}
}

// Batches without a wanted seq are gone over, whatever their columns are, and the others come
// with the rows that they have; also where the row type does not say seq, all come.
func TestBatchesThatNobodyWants(t *testing.T) {
	type item struct {
		Seq  int64    `parquet:"seq"`
		Text string   `parquet:"text,dict"`
		List []string `parquet:"list,list" parquet-element:",dict"`
		Line *int32   `parquet:"line"`
	}
	var rows []item
	for seq := range int64(40) {
		for i := range 700 {
			r := item{Seq: seq, Text: fmt.Sprint(seq, i%15), List: []string{fmt.Sprint(seq), "x"}[i%3/2:]}
			if i%2 == 0 {
				r.Line = new(int32(i))
			}
			rows = append(rows, r)
		}
	}
	content := written(t, rows, parquet.MaxRowsPerRowGroup(20_000), parquet.PageBufferSize(3000))
	wanted := Within([]int64{3, 17, 18, 39})
	got, err := all[item](content, Selection{Wanted: wanted})
	if err != nil || len(got) > 15_000 {
		t.Fatalf("%d rows: %v", len(got), err)
	}
	keep := func(rows []item) []item {
		return slices.DeleteFunc(slices.Clone(rows), func(r item) bool { return !wanted(r.Seq, r.Seq) })
	}
	if diff := cmp.Diff(keep(rows), keep(got)); diff != "" {
		t.Error(diff)
	}
	texts, err := all[struct {
		Text string `parquet:"text"`
	}](content, Selection{Wanted: wanted})
	if err != nil || len(texts) != len(rows) {
		t.Errorf("%d rows: %v", len(texts), err)
	}
}

// A text that repeats is copied once, however often.
func TestTextsThatRepeat(t *testing.T) {
	type row struct {
		Text string   `parquet:"text,dict"`
		List []string `parquet:"list,list" parquet-element:",dict"`
	}
	long := strings.Repeat("x", 1<<20)
	rows := make([]row, 200)
	for i := range rows {
		rows[i] = row{long, []string{long, "y"}}
	}
	content := written(t, rows, parquet.Compression(&parquet.Zstd), parquet.SkipPageBounds("text"),
		parquet.SkipPageStatistics("text"),
		parquet.SkipPageBounds("list", "list", "element"), parquet.SkipPageStatistics("list", "list", "element"))
	got, err := all[row](content, Selection{})
	if err != nil || len(got) != len(rows) {
		t.Fatalf("%d rows: %v", len(got), err)
	}
	for _, r := range got {
		if r.Text != long || len(r.List) != 2 || r.List[0] != long || r.List[1] != "y" {
			t.Fatal("other texts")
		}
		if unsafe.StringData(r.Text) != unsafe.StringData(got[0].Text) || unsafe.StringData(r.List[0]) != unsafe.StringData(
			got[0].List[0]) {
			t.Fatal("a text is copied twice")
		}
	}
}

// Pages that a reader of whole pages must not decode are refused.
func TestPagesAreChecked(t *testing.T) {
	type text struct {
		Text string `parquet:"text,delta"`
	}
	type listed struct {
		List []int32 `parquet:"list,list"`
	}
	for _, c := range []struct {
		name    string
		content []byte
		want    string
		read    func([]byte) error
	}{
		{"texts that begin alike", written(t, []text{{"a"}, {"ab"}}), "DELTA_BYTE_ARRAY", func(b []byte) error {
			_, err := all[text](b, Selection{})
			return err
		}},
		{"gzip", written(t, []listed{{[]int32{1}}}, parquet.Compression(&parquet.Gzip)), "zstd is read",
			func(b []byte) error { _, err := all[listed](b, Selection{}); return err }},
		{"lists of version 1", written(t, []listed{{[]int32{1}}}, parquet.DataPageVersion(1)), "may begin inside a row",
			func(b []byte) error { _, err := all[listed](b, Selection{}); return err }},
	} {
		if err := c.read(c.content); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	many := make([]struct {
		Is bool `parquet:"is"`
	}, 3<<20)
	content := written(t, many, parquet.PageBufferSize(1<<20))
	if got, err := all[struct {
		Is bool `parquet:"is"`
	}](content, Selection{}); err == nil && len(got) != len(many) {
		t.Errorf("%d rows", len(got))
	}
}

// panicking is a disk whose reader panics.
type panicking struct {
	io.ReaderAt
	armed bool
}

func (p *panicking) ReadAt(b []byte, at int64) (int, error) {
	if p.armed {
		panic(io.ErrNoProgress)
	}
	return p.ReaderAt.ReadAt(b, at)
}

// A panic while a file is decoded is an error; one of the caller stays one.
func TestPanics(t *testing.T) {
	rows := make([]row, 3000)
	for i := range rows {
		rows[i].Plain = bytes.Repeat([]byte{byte(i)}, 800) // larger than a file that is read at once
	}
	content := written(t, rows, parquet.Compression(&parquet.Uncompressed))
	in := &panicking{ReaderAt: bytes.NewReader(content)}
	f, err := Open(in, int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if r := recover(); r != "own" {
				t.Errorf("the caller's panic became %v", r)
			}
		}()
		t.Error(Read(t.Context(), f, Selection{}, func([]row) error { panic("own") }))
	}()
	in.armed = true
	err = Read(t.Context(), f, Selection{}, func([]row) error { return nil })
	if !errors.Is(err, io.ErrNoProgress) || !strings.HasPrefix(err.Error(), "damaged Parquet: ") {
		t.Errorf("%v", err)
	}
}

// A type that is known when the program runs is read like one that the compiler knows; with
// Overwrite, who keeps rows has others in the end.
func TestTypesOfTheProgram(t *testing.T) {
	b := "b"
	content := written(t, []row{{Seq: 1, Text: "x", Maybe: &b, Names: []string{"n"}}, {Seq: 2}})
	Overwrite = true
	defer func() { Overwrite = false }()
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var kept []row
	text := ""
	err = ReadType(t.Context(), f, Selection{}, reflect.TypeFor[row](), func(batch reflect.Value) error {
		kept = batch.Interface().([]row)
		for _, r := range kept {
			text += fmt.Sprint(r.Seq, r.Text, r.Maybe == &b, r.Names)
		}
		return nil
	})
	if err != nil || text != "1xfalse [n]2false []" || len(kept) != 2 || kept[0].Text != "overwritten" {
		t.Errorf("%q, %+v: %v", text, kept, err)
	}
	if err := f.Fits(reflect.TypeFor[hop](), []string{"url"}); err == nil {
		t.Error("a column that is missing fits")
	}
	if g := f.Groups(); len(g) != 1 || g[0].Rows != 2 || !f.Has("hops") || f.Has("url") || f.Columns()[2] != "text" {
		t.Errorf("%v, %v", g, f.Columns())
	}
	if err := f.CheckPages(); err != nil {
		t.Error(err)
	}
}

// A row type that no table could have is a mistake in the code, and found at once.
func TestRowTypesAreChecked(t *testing.T) {
	for _, c := range []any{struct{ A int64 }{}, struct {
		A uint8 `parquet:"a"`
	}{}, struct {
		A []struct{ B []string } `parquet:"a"`
	}{}} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "rowio: ") {
					t.Errorf("%T: %v", c, r)
				}
			}()
			leavesOfField(reflect.TypeOf(c).Field(0))
		}()
	}
}

// With Texts, the columns that the row type lacks are decoded, too: damage in them is found,
// and their texts are given out, once those of a dictionary.
func TestTexts(t *testing.T) {
	type seq struct {
		Seq int64 `parquet:"seq"`
	}
	b := "b"
	var rows []row
	for i := range int64(300) {
		rows = append(rows, row{Seq: i, Text: "x", Maybe: &b, Plain: []byte("p"), Names: []string{"name"},
			Hops: []hop{{URL: "u"}}})
	}
	content := written(t, rows)
	given := make(map[string]int)
	count := func(column string, text []byte) { given[column+" "+string(text)]++ }
	got, err := all[seq](content, Selection{Texts: count})
	if err != nil || len(got) != len(rows) || got[299].Seq != 299 {
		t.Fatalf("%d rows: %v", len(got), err)
	}
	if diff := cmp.Diff(map[string]int{"text x": 1, "maybe b": 1, "plain p": 300, "last ": 300}, given); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"text", "delay", "names.list.element", "hops.list.element.status"} {
		has, _ := file.Schema().Lookup(strings.Split(column, ".")...)
		at := file.Metadata().RowGroups[0].Columns[has.ColumnIndex].MetaData
		damaged := bytes.Clone(content)
		for i := range at.TotalCompressedSize {
			damaged[at.DataPageOffset+i] ^= 0x55
		}
		if _, err := all[seq](damaged, Selection{}); err != nil {
			t.Errorf("%s: %v", column, err)
		}
		if _, err := all[seq](damaged, Selection{Texts: count}); err == nil {
			t.Errorf("%s: its damage is not found", column)
		}
	}
}

// The columns of a list agree where its elements are, read or not.
func TestColumnsOfAListAgree(t *testing.T) {
	type other struct {
		URL    []string `parquet:"url,list"`
		Status []int32  `parquet:"status,list"`
	}
	content := written(t, []other{{[]string{"a", "b"}, []int32{1}}, {nil, []int32{2, 3}}})
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	leaves := f.others(nil)
	for i := range leaves {
		leaves[i].path = "hops.list.element." + leaves[i].name()
	}
	var columns []column
	for _, l := range leaves {
		chunk := f.file.RowGroups()[0].ColumnChunks()[l.column].(*parquet.FileColumnChunk)
		columns = append(columns, newOther(chunk, l, func(string, []byte) {}))
	}
	if err := drained(columns, 2); err == nil || !strings.Contains(err.Error(), "different lengths") {
		t.Error(err)
	}
}
