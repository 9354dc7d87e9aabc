package shred

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// A bound of a value is short, on its side of the value, as near as its length allows,
// and a text if the value is one.
func TestBoundOfAValue(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "é", "\ud7ff", "\U0010ffff", "\U0010fffe", "\x7f", "long and ", "\xff",
		"\xfe"})
	rapid.Check(t, func(t *rapid.T) {
		var v []byte
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			v = append(v, strings.Repeat(piece.Draw(t, "piece"), rapid.SampledFrom([]int{1, 2, 7, 8, 30, 33}).Draw(t,
				"times"))...)
		}
		was, isText := bytes.Clone(v), utf8.Valid(v)
		lower, upper := lowerBound(v, isText), upperBound(v, isText)
		if !bytes.Equal(v, was) {
			t.Fatalf("%q becomes %q", was, v)
		}
		if bytes.Compare(lower, v) > 0 || bytes.Compare(upper, v) < 0 {
			t.Fatalf("%q is not between %q and %q", v, lower, upper)
		}
		if len(v) <= boundBytes && !(bytes.Equal(lower, v) && bytes.Equal(upper, v)) {
			t.Fatalf("%q has the bounds %q and %q", v, lower, upper)
		}
		if isText && !(utf8.Valid(lower) && utf8.Valid(upper)) {
			t.Fatalf("the text %q has the bounds %q and %q", v, lower, upper)
		}
		greatest := "\xff"
		if isText {
			greatest = "\U0010ffff"
		}
		if long := len(v) > boundBytes && strings.Repeat(greatest, boundBytes/len(greatest)) == string(
			v[:boundBytes]); !long && max(len(lower), len(upper)) > boundBytes+1 {
			t.Fatalf("%q has the bounds %q and %q", v, lower, upper)
		}
		if n := len(upper) - 1; len(v) > boundBytes && len(upper) < len(v) {
			for isText && !utf8.RuneStart(upper[n]) {
				n--
			}
			if !bytes.HasPrefix(v, upper[:n]) || !bytes.HasPrefix(v, lower) {
				t.Fatalf("%q has the bounds %q and %q", v, lower, upper)
			}
		}
	})
}

// The next character after the last one before the surrogates is the first one behind.
func TestBoundBesideSurrogates(t *testing.T) {
	if got := upperBound(bytes.Repeat([]byte("\ud7ff"), 20), true); !bytes.HasSuffix(got, []byte("\ud7ff\ue000")) {
		t.Errorf("%q", got)
	}
}

// The extremes of a page with more texts than fit into a word are found.
func TestBoundsOfManyTexts(t *testing.T) {
	var rows []rule
	for i := range 300 {
		rows = append(rows, rule{Pattern: fmt.Sprintf("%03d", i)})
	}
	wantBounds(t, shredded(t, new(sync.Pool), [][]rule{rows[:200], rows[200:]}, parquet.PageBufferSize(1000)))
}

// Pages and row groups have the bounds of their own cells, also where columns share a
// dictionary, cells are null, or parquet-go shreds the rows.
func TestBoundsOfPages(t *testing.T) {
	type shares struct {
		Seq        int64   `parquet:"seq"`
		Pattern    string  `parquet:"pattern,dict"`
		Normalized string  `parquet:"normalized,dict" dictionary:"pattern"`
		Kind       *string `parquet:"kind,dict"`
		Agents     []hop   `parquet:"agents,list"`
	}
	type body struct {
		Digest string `parquet:"digest,dict"`
		Body   []byte `parquet:"body"`
	}
	letter := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "m", "z", strings.Repeat("long", 20), strings.Repeat("\U0010ffff", 9)}),
		rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, 999).Draw(t, "number")) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		var texts []shares
		var bodies []body
		for range rapid.IntRange(1, 40).Draw(t, "rows") {
			row := shares{Pattern: letter.Draw(t, "pattern"), Normalized: letter.Draw(t, "normalized"),
				Kind: rapid.Ptr(letter, true).Draw(t, "kind")}
			for range rapid.IntRange(0, 2).Draw(t, "agents") {
				row.Agents = append(row.Agents, hop{URL: letter.Draw(t, "agent")})
			}
			for range rapid.SampledFrom([]int{1, 1, 7, batchRows}).Draw(t, "times") {
				texts = append(texts, row)
				bodies = append(bodies, body{row.Pattern, []byte(row.Normalized)})
			}
		}
		small := parquet.PageBufferSize(1200)
		wantBounds(t, shredded(t, new(sync.Pool), slices.Collect(slices.Chunk(texts, batchRows)), small))
		wantBounds(t, shredded(t, new(sync.Pool), slices.Collect(slices.Chunk(bodies, 1)), small))
	})
}

func wantBounds(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, f *parquet.File) {
	for g, group := range f.RowGroups() {
		for c, chunk := range group.ColumnChunks() {
			if chunk.Type().Kind() != parquet.ByteArray {
				continue
			}
			index, err := chunk.ColumnIndex()
			if err != nil {
				t.Fatal(err)
			}
			isText := chunk.Type().LogicalType() != nil
			var least, greatest []byte
			cells := 0
			pages := chunk.Pages()
			for n := 0; ; n++ {
				page, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				values := make([]parquet.Value, page.NumValues())
				page.Values().ReadValues(values)
				values = slices.DeleteFunc(values, parquet.Value.IsNull)
				if index.NullPage(n) != (len(values) == 0) {
					t.Fatalf("page %d has %d texts, and the index says none: %v", n, len(values), index.NullPage(n))
				}
				if len(values) == 0 {
					continue
				}
				compare := func(a, b parquet.Value) int { return bytes.Compare(a.ByteArray(), b.ByteArray()) }
				low, high := slices.MinFunc(values, compare).ByteArray(), slices.MaxFunc(values, compare).ByteArray()
				if got, want := index.MinValue(n).ByteArray(), lowerBound(low, isText); !bytes.Equal(got, want) {
					t.Fatalf("page %d from %q on has the lower bound %q", n, low, got)
				}
				if got, want := index.MaxValue(n).ByteArray(), upperBound(high, isText); !bytes.Equal(got, want) {
					t.Fatalf("page %d up to %q has the upper bound %q", n, high, got)
				}
				if cells == 0 || bytes.Compare(low, least) < 0 {
					least = bytes.Clone(low)
				}
				if cells == 0 || bytes.Compare(high, greatest) > 0 {
					greatest = bytes.Clone(high)
				}
				cells += len(values)
			}
			s := f.Metadata().RowGroups[g].Columns[c].MetaData.Statistics
			if cells > 0 && !(bytes.Equal(s.MinValue, lowerBound(least, isText)) &&
				bytes.Equal(s.MaxValue, upperBound(greatest, isText))) {
				t.Fatalf("row group from %q to %q has bounds %q and %q", least, greatest, s.MinValue, s.MaxValue)
			}
		}
	}
}
