package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/robocensus/robocensus/sink/schema"
)

// An engine that skips pages and row groups by their bounds finds every row: all bounds
// hold, in the files of a run, a run of shards, a comparison, a series and a data set.
// arrow-go reads the cells, and what the files say of them.
func TestBoundsOfAllFiles_NoRace(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	in := func(name string) string { return filepath.Join(work, name) }
	agents := ""
	for i := range 20 { // verdicts of a segment fill several pages
		agents += fmt.Sprintf("- {name: Agent%c, category: seo}\n", 'A'+i)
	}
	must(t, os.WriteFile(in("agents.yaml"), []byte(agents), 0o666))
	must(t, os.WriteFile(in("urls.txt"), []byte("/\n/a-path-that-is-longer-than-a-bound-of-texts\n"), 0o666))
	greatest := strings.Repeat("\U0010ffff", 40)
	special := []string{
		"User-agent: " + greatest + "\nDisallow: /" + greatest + "\nnothing\nSitemap: " + greatest + "\n",
		"User-agent: " + strings.Repeat("é", 40) + "\nCrawl-delay: 1.5\nAllow: /" + strings.Repeat("\ud7ff", 30) + "x\n",
		"Disallow: /\nUser-agent: *\nDisallow: /" + strings.Repeat("\xff", 90) + "\n" + strings.Repeat("long ", 900),
		strings.Repeat("\xff", 70), strings.Repeat("\xff", 31) + strings.Repeat("a", 9), "",
	}
	of := func(run string, hosts int) []string {
		must(t, os.Mkdir(in(run), 0o777))
		for i := range hosts {
			text := fmt.Sprintf("User-agent: *\nDisallow: /%d\nSitemap: https://h%d.example/sitemap.xml\n", i, i)
			if i < len(special) {
				text = special[i] + run
			}
			must(t, os.WriteFile(filepath.Join(in(run), fmt.Sprintf("h%d.example", i)), []byte(text), 0o666))
		}
		return []string{"run", "--run", run, "--bodies", in(run), "--agents", in("agents.yaml"), "--urls", in("urls.txt"),
			"--keep-bodies", "--keep-comments", "--progress", "none"}
	}
	call(t, 0, append(of("q", 9), "--out", in("out"), "--as-of", "2014")...)
	run := of("r", 4200) // two segments in each of two shards
	call(t, 0, append(run, "--out", in("out"), "--as-of", "2015")...)
	for shard := range 2 {
		call(t, 0, append(run, "--out", in("joined"), "--shards", "2", "--shard", fmt.Sprint(shard))...)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			w.Header()["X-Robots-Tag"] = []string{strings.Repeat("\xff", 80) + ": noai, " + strings.Repeat("\U0010ffff", 40),
				strings.Repeat("a", 3000)}
		case r.UserAgent() == "x" && r.URL.RawQuery == "":
			http.Redirect(w, r, "/robots.txt?"+strings.Repeat("~", 100), http.StatusFound)
		case r.UserAgent() == "x":
			fmt.Fprint(w, "User-agent: *\nDisallow: /"+strings.Repeat("%ff", 60))
		default:
			fmt.Fprint(w, "User-agent: *\nDisallow: /"+r.Host)
		}
	}))
	defer server.Close()
	must(t, os.WriteFile(in("also.yaml"), []byte("- {name: x, user_agent: x}\n- {name: control}\n"), 0o666))
	call(t, 0, "run", "a.example", "b.example", strings.Repeat("c.", 60)+"example", "--out", in("asked"), "--schemes",
		"http", "--connect-to", server.Listener.Addr().String(), "--also-as", in("also.yaml"), "--front-page",
		"--documents=license.xml", "--sitemaps", "1", "--keep-urls", "--label", "tld", "--progress", "none")
	call(t, 0, "diff", "--out", in("out"), "q", "r")
	call(t, 0, "series", "--out", in("out"), "--parquet", in("series.parquet"))
	call(t, 0, "publish", "--out", in("out"), "q", "r", "--to", in("set"), "--creator", "A", "--licence", "CC0-1.0",
		"--hash-hosts", "--without", "bodies.body")
	tables := map[string]bool{}
	for _, folder := range []string{"out", "asked", "joined", "set"} {
		for _, table := range append(slices.Clone(schema.TableNames), "changes") {
			names, err := filepath.Glob(filepath.Join(in(folder), table, "*", "part-*.parquet"))
			must(t, err)
			more, err := filepath.Glob(filepath.Join(in(folder), table, "*", "*", "part-*.parquet"))
			must(t, err)
			for _, name := range append(names, more...) {
				tables[table] = true
				wantBounds(t, name)
			}
		}
	}
	wantBounds(t, in("series.parquet"))
	if len(tables) != len(schema.TableNames)+1 { // with changes
		t.Errorf("there are files of %v", tables)
	}
}

// wantBounds expects bounds that hold for the cells of every page and row group of a
// file, and bounds of each row group that has cells.
func wantBounds(t *testing.T, name string) {
	t.Helper()
	f, err := file.OpenParquetFile(name, false)
	must(t, err)
	defer f.Close()
	for g := range f.NumRowGroups() {
		group := f.RowGroup(g)
		indexes, err := f.GetPageIndexReader().RowGroup(g)
		must(t, err)
		for c := range group.NumColumns() {
			chunk, err := group.MetaData().ColumnChunk(c)
			must(t, err)
			index, err := indexes.GetColumnIndex(c)
			must(t, err)
			pages, err := group.GetColumnPageReader(c)
			must(t, err)
			var sizes []int // levels of each page
			for pages.Next() {
				if p, ok := pages.Page().(file.DataPage); ok {
					sizes = append(sizes, int(p.NumValues()))
				}
			}
			must(t, pages.Err())
			column, err := group.Column(c)
			must(t, err)
			var wrong error
			switch r := column.(type) {
			case *file.BooleanColumnChunkReader:
				wrong = wrongBounds(chunk, index, sizes, r.ReadBatch, func(b []byte) (bool, bool) {
					return b[0] != 0, len(b) == 1
				}, func(a, b bool) int {
					switch {
					case a == b:
						return 0
					case a:
						return 1
					}
					return -1
				})
			case *file.Int32ColumnChunkReader:
				wrong = wrongBounds(chunk, index, sizes, r.ReadBatch, func(b []byte) (int32, bool) {
					return int32(binary.LittleEndian.Uint32(b)), len(b) == 4
				}, cmp.Compare)
			case *file.Int64ColumnChunkReader:
				wrong = wrongBounds(chunk, index, sizes, r.ReadBatch, func(b []byte) (int64, bool) {
					return int64(binary.LittleEndian.Uint64(b)), len(b) == 8
				}, cmp.Compare)
			case *file.Float64ColumnChunkReader:
				wrong = wrongBounds(chunk, index, sizes, r.ReadBatch, func(b []byte) (float64, bool) {
					return math.Float64frombits(binary.LittleEndian.Uint64(b)), len(b) == 8
				}, cmp.Compare)
			case *file.ByteArrayColumnChunkReader:
				text := column.Descriptor().LogicalType().String() == "String"
				wrong = wrongBounds(chunk, index, sizes, r.ReadBatch, func(b []byte) (parquet.ByteArray, bool) {
					return b, !text || utf8.Valid(b)
				}, func(a, b parquet.ByteArray) int { return bytes.Compare(a, b) })
			default:
				t.Fatalf("%s: a column of %T", name, r)
			}
			if wrong != nil {
				t.Errorf("%s: row group %d, column %s: %v", name, g, column.Descriptor().Path(), wrong)
			}
		}
	}
}

// wrongBounds says what is wrong with the bounds of a chunk and of its pages.
func wrongBounds[T any](chunk *metadata.ColumnChunkMetaData, index metadata.ColumnIndex, sizes []int,
	read func(int64, []T, []int16, []int16) (int64, int, error), decode func([]byte) (T, bool), compare func(a, b T) int,
) error {
	within := func(low, high []byte, cells []T) error {
		least, ok := decode(low)
		if !ok {
			return fmt.Errorf("%q is no value of the column", low)
		}
		greatest, ok := decode(high)
		if !ok {
			return fmt.Errorf("%q is no value of the column", high)
		}
		for _, v := range cells {
			if compare(v, least) < 0 || compare(v, greatest) > 0 {
				return fmt.Errorf("%.99q is not between %.99q and %.99q", fmt.Sprint(v), low, high)
			}
		}
		return nil
	}
	if index != nil && (len(index.GetNullPages()) != len(sizes) || len(index.GetMinValues()) != len(sizes) ||
		len(index.GetMaxValues()) != len(sizes)) {
		return fmt.Errorf("an index of %d pages, where there are %d", len(index.GetNullPages()), len(sizes))
	}
	var all []T
	var lows, highs []T
	nulls := 0
	for p, size := range sizes {
		cells, defined, repeated := make([]T, size), make([]int16, size), make([]int16, size)
		levels, filled := 0, 0
		for levels < size {
			n, values, err := read(int64(size-levels), cells[filled:], defined[levels:], repeated[levels:])
			if err != nil || n == 0 {
				return fmt.Errorf("page %d: %d of %d cells: %v", p, levels, size, err)
			}
			levels, filled = levels+int(n), filled+values
		}
		cells = cells[:filled]
		for i, v := range cells {
			if b, ok := any(v).(parquet.ByteArray); ok { // its memory is used again
				cells[i] = any(parquet.ByteArray(bytes.Clone(b))).(T)
			}
		}
		all, nulls = append(all, cells...), nulls+size-filled
		if index == nil {
			continue
		}
		if index.GetNullPages()[p] != (filled == 0) || index.IsSetNullCounts() && index.GetNullCounts()[p] != int64(
			size-filled) {
			return fmt.Errorf("page %d has %d cells, %d of them null; the index says otherwise", p, size, size-filled)
		}
		if filled == 0 {
			continue
		}
		if err := within(index.GetMinValues()[p], index.GetMaxValues()[p], cells); err != nil {
			return fmt.Errorf("page %d: %w", p, err)
		}
		low, _ := decode(index.GetMinValues()[p])
		high, _ := decode(index.GetMaxValues()[p])
		lows, highs = append(lows, low), append(highs, high)
	}
	if index != nil {
		order := index.GetBoundaryOrder()
		if order == metadata.Descending {
			slices.Reverse(lows)
			slices.Reverse(highs)
		}
		if order != metadata.Unordered && !(slices.IsSortedFunc(lows, compare) && slices.IsSortedFunc(highs, compare)) {
			return fmt.Errorf("bounds of pages are not %v", order)
		}
	}
	s, err := chunk.Statistics()
	if err != nil {
		return err
	}
	if s == nil || s.NullCount() != int64(nulls) {
		return fmt.Errorf("statistics of the row group %v, where %d cells are null", s, nulls)
	}
	if s.HasMinMax() != (len(all) > 0) {
		return fmt.Errorf("of %d cells there are bounds: %v", len(all), s.HasMinMax())
	}
	if len(all) == 0 {
		return nil
	}
	if err := within(s.EncodeMin(), s.EncodeMax(), all); err != nil {
		return fmt.Errorf("row group: %w", err)
	}
	for _, end := range []struct {
		bound []byte
		cell  T
	}{{s.EncodeMin(), slices.MinFunc(all, compare)}, {s.EncodeMax(), slices.MaxFunc(all, compare)}} {
		if b, ok := any(end.cell).(parquet.ByteArray); ok && len(b) > 32 {
			continue
		}
		if v, _ := decode(end.bound); compare(v, end.cell) != 0 {
			return fmt.Errorf("row group: the bound %q, where the cell is %v", end.bound, end.cell)
		}
	}
	return nil
}
