package shred

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"pgregory.net/rapid"
)

type verdict struct {
	Seq         int64   `parquet:"seq"`
	Host        string  `parquet:"host,dict"`
	Rank        *int64  `parquet:"rank"`
	Agent       string  `parquet:"agent,dict"`
	URL         string  `parquet:"url,dict"`
	GroupAgent  *string `parquet:"group_agent,dict"`
	RuleKind    *string `parquet:"rule_kind,dict"`
	RulePattern *string `parquet:"rule_pattern,dict"`
	RuleLine    *int32  `parquet:"rule_line"`
}

type rule struct {
	Line    int32  `parquet:"line"`
	Pattern string `parquet:"pattern,dict"`
}

func shredded[T any](t interface{ Fatal(...any) }, spare *sync.Pool, batches [][]T,
	options ...parquet.WriterOption) *parquet.File {
	var out bytes.Buffer
	s, err := New[T](&out, spare, options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range batches {
		if err := s.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func rowsOf[T any](t interface{ Fatal(...any) }, f *parquet.File) []T {
	rows := make([]T, f.NumRows())
	if len(rows) == 0 {
		return nil
	}
	if n, err := parquet.NewGenericReader[T](f).Read(rows); n != len(rows) {
		t.Fatal(n, err)
	}
	return rows
}

// Shredded rows read back as they were, whatever the runs of nulls and of equal
// texts, and whatever the reused memory held.
func TestShreddedRowsComeBack(t *testing.T) {
	var spare sync.Pool
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]string{"", "a", "b", "/x", "/a longer one", strings.Repeat("long", 100)})
		optional := rapid.Ptr(some, true)
		row := rapid.Custom(func(t *rapid.T) verdict {
			return verdict{
				Seq: rapid.Int64().Draw(t, "seq"), Host: some.Draw(t, "host"), Rank: rapid.Ptr(rapid.Int64(), true).Draw(t, "rank"),
				Agent: some.Draw(t, "agent"), URL: rapid.String().Draw(t, "url"), GroupAgent: optional.Draw(t, "group_agent"),
				RuleKind: optional.Draw(t, "rule_kind"), RuleLine: rapid.Ptr(rapid.Int32(), true).Draw(t, "rule_line"),
			}
		})
		var all []verdict
		var batches [][]verdict
		for range rapid.IntRange(0, 4).Draw(t, "batches") {
			few := rapid.SliceOfN(row, 1, 8).Draw(t, "rows")
			var batch []verdict
			for _, r := range few {
				for range rapid.SampledFrom([]int{1, 1, 2, 63, 64, batchRows}).Draw(t, "times") {
					batch = append(batch, r)
				}
			}
			batches, all = append(batches, batch), append(all, batch...)
		}
		if diff := cmp.Diff(all, rowsOf[verdict](t, shredded(t, &spare, batches))); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

type page struct {
	Seq    int64      `parquet:"seq"`
	Agents []string   `parquet:"agents,list" parquet-element:",dict"`
	Lines  []int32    `parquet:"lines,list"`
	Time   time.Time  `parquet:"time,timestamp(microsecond)"`
	Hops   []hop      `parquet:"hops,list"`
	Since  *time.Time `parquet:"since,timestamp(microsecond)"`
	Class  string     `parquet:"class,dict"`
	Cut    *bool      `parquet:"cut"`
}

type hop struct {
	Status *int32    `parquet:"status"`
	URL    string    `parquet:"url,dict"`
	Time   time.Time `parquet:"time,timestamp(microsecond)"`
	Count  int32     `parquet:"count"`
	Note   *string   `parquet:"note,dict"`
}

// Lists and times read back as they were.
func TestListsAndTimesComeBack(t *testing.T) {
	var spare sync.Pool
	some := rapid.SampledFrom([]string{"", "a", "b", strings.Repeat("long", 100)})
	when := rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMicro(rapid.Int64Range(-1<<50, 1<<52).Draw(t, "us")).UTC()
	})
	row := rapid.Custom(func(t *rapid.T) page {
		return page{
			Seq: rapid.Int64().Draw(t, "seq"), Agents: rapid.SliceOfN(some, 0, 5).Draw(t, "agents"),
			Lines: rapid.SliceOfN(rapid.Int32(), 0, 3).Draw(t, "lines"), Time: when.Draw(t, "time"),
			Hops: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) hop {
				return hop{
					Status: rapid.Ptr(rapid.Int32(), true).Draw(t, "status"), URL: some.Draw(t, "url"), Time: when.Draw(t, "time"),
					Count: rapid.Int32().Draw(t, "count"), Note: rapid.Ptr(some, true).Draw(t, "note"),
				}
			}), 0, 3).Draw(t, "hops"),
			Since: rapid.Ptr(when, true).Draw(t, "since"), Class: some.Draw(t, "class"),
			Cut: rapid.Ptr(rapid.Bool(), true).Draw(t, "cut"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var all []page
		var batches [][]page
		for range rapid.IntRange(0, 3).Draw(t, "batches") {
			var batch []page
			for _, r := range rapid.SliceOfN(row, 1, 5).Draw(t, "rows") {
				for range rapid.SampledFrom([]int{1, 2, 63, batchRows}).Draw(t, "times") {
					batch = append(batch, r)
				}
			}
			batches, all = append(batches, batch), append(all, batch...)
		}
		got := rowsOf[page](t, shredded(t, &spare, batches))
		if diff := cmp.Diff(all, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
	w, err := New[page](io.Discard, &spare)
	if err != nil || w.shredder == nil {
		t.Errorf("rows with lists and times are not shredded here (%v)", err)
	}
}

// parquet-go shreds the rows that this package cannot.
func TestOtherRowsComeBack(t *testing.T) {
	type body struct {
		Body []byte `parquet:"body"`
	}
	type milli struct {
		Time time.Time `parquet:"time,timestamp(millisecond)"`
	}
	type nested struct {
		Lists [][]string `parquet:"lists,list"`
	}
	type inner struct {
		Lists []nested `parquet:"lists,list"`
	}
	type group struct {
		Group body `parquet:"group"`
	}
	comesBack(t, []body{{[]byte("x")}, {[]byte("yz")}})
	comesBack(t, []milli{{time.UnixMilli(1234).UTC()}})
	comesBack(t, []nested{{[][]string{{"a"}, {"b", "c"}}}, {}})
	comesBack(t, []inner{{[]nested{{[][]string{{"a"}}}}}, {}})
	comesBack(t, []group{{body{[]byte("x")}}})

	type plain struct {
		Text string `parquet:"text"`
	}
	type plainList struct {
		Texts []string `parquet:"texts,list"`
	}
	type zero struct {
		Number int32 `parquet:"number,optional"`
	}
	type hidden struct {
		Number int64  `parquet:"number"`
		Other  int64  `parquet:"-"`
		Text   string `parquet:"text,dict"`
	}
	comesBack(t, []plain{{"a"}, {"b"}})
	comesBack(t, []plainList{{[]string{"a", "b"}}, {}})
	comesBack(t, []zero{{1}, {0}, {3}})
	comesBack(t, []hidden{{Number: 1, Text: "a"}, {Number: 2, Text: "b"}})
}

// A list may have more elements than a batch has rows, and be nil.
func TestLongLists(t *testing.T) {
	var rows []page
	for i := range 700 {
		r := page{Seq: int64(i), Time: time.UnixMicro(int64(i)).UTC(), Class: "c"}
		for j := range (i * 37) % 3000 * (1 - min(i%30, 1)) {
			n := int32(j)
			r.Agents = append(r.Agents, fmt.Sprint(j%700))
			r.Lines = append(r.Lines, n)
			r.Hops = append(r.Hops, hop{URL: fmt.Sprint(j % 11), Time: time.UnixMicro(int64(i * j)).UTC(), Count: n})
			if j%5 > 0 {
				r.Hops[j].Status = &n
			}
		}
		rows = append(rows, r)
	}
	got := rowsOf[page](t, shredded(t, new(sync.Pool), [][]page{rows}))
	if diff := cmp.Diff(rows, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-written +read):\n%.1000s", diff)
	}

	var many []page // whose lists have more texts than a dictionary holds
	for i := range 300 {
		r := page{Seq: int64(i)}
		for j := range 2000 {
			r.Agents = append(r.Agents, fmt.Sprint(2000*i+j))
		}
		many = append(many, r)
	}
	f := shredded(t, new(sync.Pool), [][]page{many})
	if n := len(f.RowGroups()); n != 2 {
		t.Errorf("%d row groups, want 2", n)
	}
}

// Memory that a writer leaves holds nothing of its rows, and serves one writer.
func TestReleasedMemory(t *testing.T) {
	var spare sync.Pool
	var stale []twins
	for i := range 300 {
		stale = append(stale, twins{Pattern: fmt.Sprint("stale ", i), Normalized: fmt.Sprint("stale ", i)})
	}
	w, err := New[twins](io.Discard, &spare)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(stale); err != nil {
		t.Fatal(err)
	}
	w.Release() // as of a segment that is given up
	w.Release()
	var out [2]bytes.Buffer
	var writers [2]*Writer[twins]
	for i := range writers {
		if writers[i], err = New[twins](&out[i], &spare); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		for i, w := range writers {
			text := fmt.Sprint("text ", i, n)
			if err := w.Write([]twins{{Pattern: text, Normalized: text}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, w := range writers {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(out[i].Bytes()), int64(out[i].Len()))
		if err != nil {
			t.Fatal(err)
		}
		for n, r := range rowsOf[twins](t, f) {
			if text := fmt.Sprint("text ", i, n); r.Pattern != text || r.Normalized != text {
				t.Errorf("writer %d, row %d: %v, want %s", i, n, r, text)
			}
		}
	}
}

// Rows with lists, and with columns that share a dictionary, are written once for
// each text of another column.
func inAll(name string, texts []string) Column { return Column{name, texts, 0, len(texts)} }

func TestWriteEachOfOtherColumns(t *testing.T) {
	var out, shared bytes.Buffer
	w, err := New[page](&out, new(sync.Pool))
	v, err1 := New[twins](&shared, new(sync.Pool))
	if err := errors.Join(err, err1); err != nil {
		t.Fatal(err)
	}
	pages := []page{{Seq: 1, Agents: []string{"a", "b"}, Lines: []int32{1, 2}, Time: time.UnixMicro(1).UTC()},
		{Seq: 2, Time: time.UnixMicro(2).UTC()}}
	pattern := "/pattern"
	rows := []twins{{Line: 1, Pattern: pattern, Normalized: pattern}, {Line: 2, Pattern: pattern,
		Normalized: pattern[:4]}, {Line: 3, Pattern: pattern[:2], Normalized: "/"}}
	classes := []string{"x", "y", "z"}
	if err := errors.Join(w.WriteEach(pages, inAll("class", classes)), v.WriteEach(rows, inAll("host", classes)),
		w.Close(), v.Close()); err != nil {
		t.Fatal(err)
	}
	var wantPages []page
	var wantRows []twins
	for _, class := range classes {
		for _, r := range pages {
			r.Class = class
			wantPages = append(wantPages, r)
		}
		for _, r := range rows {
			r.Host = class
			wantRows = append(wantRows, r)
		}
	}
	for _, x := range []struct {
		file      *bytes.Buffer
		want, got func(*parquet.File) any
	}{
		{&out, func(*parquet.File) any { return wantPages }, func(f *parquet.File) any { return rowsOf[page](t, f) }},
		{&shared, func(*parquet.File) any { return wantRows }, func(f *parquet.File) any { return rowsOf[twins](t, f) }},
	} {
		f, err := parquet.OpenFile(bytes.NewReader(x.file.Bytes()), int64(x.file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x.want(f), x.got(f), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
}

func comesBack[T any](t *testing.T, rows []T) {
	t.Helper()
	if diff := cmp.Diff(rows, rowsOf[T](t, shredded(t, new(sync.Pool), [][]T{rows})), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

type twins struct {
	Line       int32  `parquet:"line"`
	Pattern    string `parquet:"pattern,dict"`
	Host       string `parquet:"host,dict"`
	Normalized string `parquet:"normalized,dict" dictionary:"pattern"`
}

// Columns that share a dictionary read back as they were, whether their texts share
// memory, are equal, or differ, wherever pages and row groups end.
func TestColumnsThatShareADictionary(t *testing.T) {
	var spare sync.Pool
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]string{"", "/", "/a", "/b", strings.Repeat("/long", 50)})
		var all []twins
		var batches [][]twins
		for range rapid.IntRange(0, 3).Draw(t, "batches") {
			var batch []twins
			for range rapid.IntRange(1, 6).Draw(t, "runs") {
				r := twins{Pattern: some.Draw(t, "pattern"), Host: some.Draw(t, "host")}
				switch rapid.IntRange(0, 2).Draw(t, "normalized") {
				case 0:
					r.Normalized = r.Pattern
				case 1:
					r.Normalized = strings.Clone(r.Pattern)
				default:
					r.Normalized = rapid.OneOf(some, rapid.String()).Draw(t, "other")
				}
				for range rapid.SampledFrom([]int{1, 2, 63, batchRows}).Draw(t, "times") {
					r.Line++
					batch = append(batch, r)
				}
			}
			batches, all = append(batches, batch), append(all, batch...)
		}
		if diff := cmp.Diff(all,
			rowsOf[twins](t, shredded(t, &spare, batches, parquet.Compression(&parquet.Zstd)))); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})

	var rows []twins // of several pages and row groups
	for i := range RowGroup + 5000 {
		pattern := fmt.Sprint("/", i%70_000)
		rows = append(rows, twins{Line: int32(i), Pattern: pattern, Normalized: pattern, Host: fmt.Sprint(i / 100)})
		if i%1000 == 999 {
			rows[i].Normalized += "%C3%A9"
		}
	}
	for _, options := range [][]parquet.WriterOption{nil, {parquet.Compression(&parquet.Zstd)}} {
		f := shredded(t, &spare, [][]twins{rows}, options...)
		if got := rowsOf[twins](t, f); !slices.Equal(rows, got) {
			t.Error("many rows are not what was written")
		}
		sizes := make(map[string]int64)
		for _, c := range f.Metadata().RowGroups[0].Columns {
			sizes[c.MetaData.PathInSchema[0]] = c.MetaData.TotalCompressedSize
		}
		if p, n := sizes["pattern"], sizes["normalized"]; n > p+p/100 {
			t.Errorf("pattern takes %d bytes, normalized %d", p, n)
		}
	}
}

// A dictionary is that of a column of texts before it, and rows are not written once
// for each text of a column whose cells another one takes over.
func TestColumnsThatCannotShareADictionary(t *testing.T) {
	type later struct {
		A string `parquet:"a,dict" dictionary:"b"`
		B string `parquet:"b,dict"`
	}
	type null struct {
		A *string `parquet:"a,dict"`
		B string  `parquet:"b,dict" dictionary:"a"`
	}
	type number struct {
		A string `parquet:"a,dict"`
		B int32  `parquet:"b" dictionary:"a"`
	}
	type chain struct {
		A string `parquet:"a,dict"`
		B string `parquet:"b,dict" dictionary:"a"`
		C string `parquet:"c,dict" dictionary:"b"`
	}
	type listed struct {
		A string   `parquet:"a,dict"`
		B []string `parquet:"b,list" parquet-element:",dict" dictionary:"a"`
	}
	_, err3 := New[chain](io.Discard, new(sync.Pool))
	_, err4 := New[listed](io.Discard, new(sync.Pool))
	_, err := New[later](io.Discard, new(sync.Pool))
	_, err1 := New[null](io.Discard, new(sync.Pool))
	_, err2 := New[number](io.Discard, new(sync.Pool))
	for _, err := range []error{err, err1, err2, err3, err4} {
		if err == nil || !strings.Contains(err.Error(), "cannot have the dictionary of") {
			t.Errorf("error is %v", err)
		}
	}
	w, err := New[twins](io.Discard, new(sync.Pool))
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"pattern", "normalized"} {
		if err := w.WriteEach([]twins{{}}, inAll(column, []string{"/"})); err == nil {
			t.Errorf("WriteEach accepts the column %s", column)
		}
	}
}

// Rows written once for each text of a column are those written one after the
// other, wherever pages and row groups end, within a batch or between two.
func TestWriteEach(t *testing.T) {
	write := func(rows []verdict, agents []string, each bool) []verdict {
		var out bytes.Buffer
		w, err := New[verdict](&out, new(sync.Pool))
		urls := []string{"before"}
		for _, agent := range agents {
			urls = append(urls, agent[1:])
		}
		for n := 0; err == nil && n <= RowGroup+len(rows)*len(agents); n += len(rows) * len(agents) {
			if each {
				err = w.WriteEach(rows, inAll("agent", agents), Column{"url", urls, 1, len(agents) + 1})
				continue
			}
			for _, agent := range agents {
				for _, r := range rows {
					r.Agent, r.URL = agent, agent[1:]
					err = errors.Join(err, w.Write([]verdict{r}))
				}
			}
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.RowGroups()) != 2 || f.RowGroups()[0].NumRows() != RowGroup {
			t.Fatalf("%d row groups, the first of %d rows", len(f.RowGroups()), f.RowGroups()[0].NumRows())
		}
		wantBounds(t, f)
		return rowsOf[verdict](t, f)
	}
	a, b, rank, line := "a", "b", int64(7), int32(3)
	var rows []verdict
	for i := range 700 {
		r := verdict{Seq: int64(i / 5), Host: "h", Agent: "none", URL: fmt.Sprint("/", i%9), Rank: &rank}
		switch i % 4 {
		case 1:
			r.GroupAgent, r.RuleLine = &a, &line
		case 2:
			r.GroupAgent, r.RuleKind, r.RulePattern, r.Rank = &a, &a, &b, nil
		}
		rows = append(rows, r)
	}
	agents := []string{"x", "y", "x", "z", "agent 4", "agent 5", "agent 6"}
	many := slices.Concat(agents, agents, agents)[:20]
	same := func(x, y verdict) bool {
		return x.Seq == y.Seq && x.Host == y.Host && x.Agent == y.Agent && x.URL == y.URL && equal(x.Rank, y.Rank) &&
			equal(x.GroupAgent, y.GroupAgent) && equal(x.RuleKind, y.RuleKind) && equal(x.RulePattern, y.RulePattern) &&
			equal(x.RuleLine, y.RuleLine)
	}
	for _, c := range []struct {
		rows   int
		agents []string
	}{
		{37, agents}, {len(rows), agents},
		{30, many}, // the row group ends between two batches of the same rows
		{9, many},  // all cells of a batch in one page, or in two
	} {
		if !slices.EqualFunc(write(rows[:c.rows], c.agents, true), write(rows[:c.rows], c.agents, false), same) {
			t.Errorf("%d rows, %d agents: not what is written one after the other", c.rows, len(c.agents))
		}
	}
	var out bytes.Buffer
	w, err := New[verdict](&out, new(sync.Pool), parquet.PageBufferSize(1000)) // a page for each batch
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteEach(rows[1:3], inAll("agent", slices.Repeat(agents, 100))), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	wantBounds(t, f)
	if w, err = New[verdict](io.Discard, new(sync.Pool)); err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"seq", "group_agent", "other"} {
		if err := w.WriteEach(rows, inAll(column, agents)); err == nil {
			t.Errorf("WriteEach accepts the column %s", column)
		}
	}
}

// Levels are appended a batch at a time with the version of parquet-go in use. Without
// that, tables are equal, and take a fifth more CPU.
func TestLevelsAreAppendedInBatches(t *testing.T) {
	w, err := New[verdict](io.Discard, new(sync.Pool))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	var batched []string
	for i, c := range w.shredder.file.ColumnWriters() {
		if _, ours := (*fieldOf[parquet.ColumnBuffer](c, "columnBuffer")).(*nullableBuffer); ours {
			batched = append(batched, w.shredder.columns[i].name)
		}
	}
	if want := []string{"rank", "group_agent", "rule_kind", "rule_pattern", "rule_line"}; !slices.Equal(batched, want) {
		t.Errorf("levels are appended in batches to the columns %v, want %v", batched, want)
	}
}

// The levels that a file counts, by row group and by page, are those of its cells.
func TestCountsOfLevels(t *testing.T) {
	texts := []string{"*", "disallow"}
	rows := make([]verdict, RowGroup+100_000)
	for i := range rows {
		rows[i].Seq = int64(i)
		if i%3 > 0 || i > 200_000 {
			rows[i].GroupAgent = &texts[i%2]
		}
		if i%5 == 0 && i < RowGroup {
			rows[i].Rank, rows[i].RuleKind = &rows[i].Seq, &texts[1]
		}
	}
	f := shredded(t, new(sync.Pool), [][]verdict{rows[:1], rows[1:1000], rows[1000:]})
	pages := 0
	for g, group := range f.Metadata().RowGroups {
		for c, chunk := range group.Columns {
			of := chunk.MetaData.SizeStatistics.DefinitionLevelHistogram
			if len(of) == 0 {
				continue // not nullable
			}
			column := fmt.Sprint("row group ", g, ", ", chunk.MetaData.PathInSchema)
			nulls, values := chunk.MetaData.Statistics.NullCount, chunk.MetaData.NumValues
			if want := []int64{nulls, values - nulls}; values != group.NumRows || !slices.Equal(of, want) {
				t.Errorf("%s: the levels are counted as %d of %d, want %d", column, of, group.NumRows, want)
			}
			at := g*len(group.Columns) + c
			index, locations := f.ColumnIndexes()[at], f.OffsetIndexes()[at].PageLocations
			for i, page := range locations {
				end := group.NumRows
				if i+1 < len(locations) {
					end = locations[i+1].FirstRowIndex
				}
				nulls, pages = index.NullCounts[i], pages+1
				want, got := []int64{nulls, end - page.FirstRowIndex - nulls}, index.DefinitionLevelHistogram[2*i:2*i+2]
				if !slices.Equal(got, want) {
					t.Errorf("%s, page %d: the levels are counted as %d, want %d", column, i, got, want)
				}
			}
		}
	}
	if pages < 40 {
		t.Errorf("the nullable columns have %d pages; the test needs more", pages)
	}
}

func equal[V comparable](a, b *V) bool { return a == b || a != nil && b != nil && *a == *b }

// The shredder keeps no reference to a row: its texts may be in memory that the
// next target overwrites.
func TestShredderKeepsNoTexts(t *testing.T) {
	var out bytes.Buffer
	s, err := New[rule](&out, new(sync.Pool))
	if err != nil {
		t.Fatal(err)
	}
	memory := []byte("/first")
	if err := s.Write([]rule{{Pattern: unsafe.String(&memory[0], len(memory))}}); err != nil {
		t.Fatal(err)
	}
	copy(memory, "/other")
	if err := s.Write([]rule{{Pattern: unsafe.String(&memory[0], len(memory))}, {Pattern: "/first"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rowsOf[rule](t, f) {
		got = append(got, r.Pattern)
	}
	if diff := cmp.Diff([]string{"/first", "/other", "/first"}, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// A row group ends before its dictionary grows too large.
func TestShredderBoundsDictionaries(t *testing.T) {
	pad := strings.Repeat("x", 1<<20)
	var rows []rule
	for i := range 2*dictionaryBytes>>20 + 1 {
		rows = append(rows, rule{Line: int32(i), Pattern: fmt.Sprint(i, pad)})
	}
	var batches [][]rule
	for i := range rows {
		batches = append(batches, rows[i:i+1])
	}
	f := shredded(t, new(sync.Pool), batches)
	if n := len(f.RowGroups()); n != 3 {
		t.Errorf("%d row groups, want 3", n)
	}
	for i, r := range rowsOf[rule](t, f) {
		if r != rows[i] {
			t.Fatalf("row %d is not what was written", i)
		}
	}
}

// BenchmarkVerdicts writes the rows of targets with 20 agents and 10 URLs, shredded
// by this package and by parquet-go.
func BenchmarkVerdicts(b *testing.B) {
	kind, pattern, star := "disallow", "/section", "*"
	rows := make([]verdict, 0, 200*256)
	for i := range 256 {
		host, rank, line := fmt.Sprintf("h%d.example", i), int64(i), int32(2)
		for a := range 20 {
			agent := fmt.Sprintf("Agent%c", 'A'+a)
			for u := range 10 {
				rows = append(rows, verdict{
					Seq: int64(i), Host: host, Rank: &rank, Agent: agent, URL: fmt.Sprintf("/section-%d/page.html", u),
					GroupAgent: &star, RuleKind: &kind, RulePattern: &pattern, RuleLine: &line,
				})
			}
		}
	}
	rate := func(b *testing.B) {
		b.ReportMetric(float64(len(rows))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	}
	b.Run("shred", func(b *testing.B) {
		var spare sync.Pool
		for b.Loop() {
			w, err := New[verdict](io.Discard, &spare)
			if err == nil {
				err = w.Write(rows)
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
	b.Run("parquet-go", func(b *testing.B) {
		for b.Loop() {
			w := parquet.NewGenericWriter[verdict](io.Discard)
			if _, err := w.Write(rows); err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
}

// parquet-go reads the numbers of a page of texts as they are, however they are
// added.
func TestNumbersOfTexts(t *testing.T) {
	dictionaries := make(map[int]*texts)
	for _, most := range []int{1, 2, 3, 9, 70, 300, 70_000} {
		dictionaries[most] = newTexts()
		for n := range most {
			dictionaries[most].find(fmt.Sprint(n))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom(slices.Sorted(maps.Keys(dictionaries))).Draw(t, "texts")
		c := &textColumn{texts: dictionaries[most], last: -1}
		var cells, batch []int32
		some := func(add func(text string, n int32)) {
			for range rapid.IntRange(0, 4).Draw(t, "runs") {
				n := rapid.IntRange(0, most-1).Draw(t, "text")
				for range rapid.SampledFrom([]int{1, 2, 5, 7, 8, 9, 30}).Draw(t, "cells") {
					add(fmt.Sprint(n), int32(n))
				}
			}
		}
		many := rapid.SampledFrom([]int{1, 2, 3, 8, 50})
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"one by one", "batch", "each", "flush"}).Draw(t, "step") {
			case "one by one":
				some(func(text string, n int32) { c.add(text); cells = append(cells, n) })
			case "batch":
				from := len(c.cells)
				batch = batch[:0]
				some(func(text string, n int32) { c.add(text); batch = append(batch, n) })
				times := many.Draw(t, "times")
				c.repeat(from, times)
				cells = append(cells, slices.Repeat(batch, times)...)
			case "each":
				some(func(text string, n int32) {
					times := many.Draw(t, "times")
					c.add(text)
					c.addRun(times - 1)
					cells = append(cells, slices.Repeat([]int32{n}, times)...)
				})
			case "flush":
				c.empty()
				cells = cells[:0]
			}
			if c.count() != len(cells) {
				t.Fatalf("%d cells, want %d", c.count(), len(cells))
			}
		}
		for _, dst := range [][]byte{nil, make([]byte, 3, 4), make([]byte, 0, 1000)} {
			page, err := (numbers{texts: c}).Encode(dst, encoding.Values{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := new(rle.DictionaryEncoding).DecodeInt32(nil, page)
			if err != nil || !slices.Equal(got, cells) {
				t.Fatalf("%x: %v, want %v: %v", page, got, cells, err)
			}
		}
	})
}

// A writer makes room for the rows that it gets, not for full pages, and encodes a large
// dictionary without leaving several times its memory behind.
func TestMemoryOfAWriter(t *testing.T) {
	bytesOf := func(do func() error) uint64 {
		runtime.GC() // twice empties the pools of parquet-go
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var w *Writer[verdict]
	create := func() (err error) {
		if w, err = New[verdict](io.Discard, new(sync.Pool)); err == nil {
			err = w.Write(make([]verdict, 1))
		}
		return err
	}
	if n := bytesOf(create); n > 256<<10 {
		t.Errorf("a row takes %d bytes", n)
	}
	many := make([]verdict, 1<<14)
	for i := range many {
		many[i].URL = fmt.Sprintf("/%0300d", i)
	}
	if err := w.Write(many); err != nil {
		t.Fatal(err)
	}
	if n := bytesOf(w.Close); n > 16<<20 {
		t.Errorf("closing a file with a dictionary of %d bytes takes %d", len(many)*301, n)
	}
}
