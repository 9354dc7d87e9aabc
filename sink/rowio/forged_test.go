package rowio

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A rawPage is a page as it stands in a file.
type rawPage struct {
	header format.PageHeader
	body   []byte
}

// withPages returns a file with other pages of a column of its first row group, at its end.
func withPages(t *testing.T, content []byte, column int, change func(pages []rawPage) []rawPage) []byte {
	t.Helper()
	end := len(content) - 8
	var added []byte
	out := withFooter(t, content, func(f *parquet.File) {
		m := &f.Metadata().RowGroups[0].Columns[column].MetaData
		from, err := pagesFrom(m)
		c := check{pageChunk: pageChunk{From: from, Length: m.TotalCompressedSize}, in: bytes.NewReader(content[from:])}
		var pages []rawPage
		if err == nil {
			err = c.each(func(h *format.PageHeader, from, to int64) error {
				pages = append(pages, rawPage{*h, content[c.From+from : c.From+to]})
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		hasDictionary := false
		for _, p := range change(slices.Clone(pages)) {
			header, err := thrift.Marshal(new(thrift.CompactProtocol), &p.header)
			if err != nil {
				t.Fatal(err)
			}
			if p.header.Type == format.DictionaryPage && added == nil {
				hasDictionary, m.DictionaryPageOffset = true, int64(end)
			} else if added == nil || hasDictionary {
				hasDictionary, m.DataPageOffset = false, int64(end+len(added))
			}
			added = append(append(added, header...), p.body...)
		}
		m.TotalCompressedSize = int64(len(added))
	})
	// The footer comes after the pages.
	footer := len(out) - 8 - int(binary.LittleEndian.Uint32(out[len(out)-8:]))
	return slices.Concat(content[:end], added, out[footer:])
}

// Pages that some readers take for others are refused: whoever forges a file could show them
// other rows than those that are checked.
func TestForgedPages(t *testing.T) {
	type line struct {
		Seq  int64  `parquet:"seq,delta"`
		Text string `parquet:"text,dict"`
	}
	rows := make([]line, 3000)
	for i := range rows {
		rows[i] = line{int64(i), []string{"allow", "disallow"}[i/500%2]}
	}
	content := written(t, rows, parquet.PageBufferSize(2000), parquet.Compression(&parquet.Uncompressed))
	swapped := func(p rawPage) rawPage {
		p.body = []byte("\x08\x00\x00\x00disallow\x05\x00\x00\x00allow")
		return p
	}
	const text = 1
	for _, c := range []struct {
		name   string
		change func(pages []rawPage) []rawPage
		want   string
	}{
		{"the same", func(p []rawPage) []rawPage { return p }, ""},
		{"a second dictionary", func(p []rawPage) []rawPage { return slices.Insert(p, 1, swapped(p[0])) },
			"a dictionary follows another page"},
		{"a dictionary later", func(p []rawPage) []rawPage { return slices.Insert(p, 2, swapped(p[0])) },
			"a dictionary follows another page"},
		{"a dictionary at the end", func(p []rawPage) []rawPage { return append(p, swapped(p[0])) },
			"a dictionary follows another page"},
		{"another header", func(p []rawPage) []rawPage {
			p[1].header.DictionaryPageHeader.Valid = true
			return p
		}, "not of that type alone"},
		{"two versions", func(p []rawPage) []rawPage {
			p[1].header.DataPageHeader.Valid = true
			return p
		}, "not of that type alone"},
		{"another type", func(p []rawPage) []rawPage {
			p[1].header.Type = format.DictionaryPage
			return p
		}, "not of that type alone"},
		{"an unknown type", func(p []rawPage) []rawPage {
			p[1].header.Type = 9
			return p
		}, "not of that type alone"},
		{"an index", func(p []rawPage) []rawPage {
			h := &p[1].header
			h.Type, h.DataPageHeaderV2.Valid, h.IndexPageHeader.Valid = format.IndexPage, false, true
			return p
		}, "not of that type alone"},
		{"a page twice", func(p []rawPage) []rawPage { return slices.Insert(p, 2, p[1]) },
			"has more rows than its row group"},
		{"a page less", func(p []rawPage) []rawPage { return slices.Delete(p, 1, 2) }, "has fewer rows than its row group"},
	} {
		forged := withPages(t, content, text, c.change)
		for _, s := range []Selection{{}, {Rows: [][2]int64{{0, 1}}}} {
			got, err := all[line](forged, s)
			if c.want == "" && (err != nil || len(got) == 0 || !slices.Equal(got, rows[:len(got)])) ||
				c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %d rows, %v", c.name, len(got), err)
			}
		}
	}
	m := opened(t, content).file.Metadata().RowGroups[0].Columns[text].MetaData
	dictionary := pageChunk{From: m.DictionaryPageOffset, Length: m.DataPageOffset - m.DictionaryPageOffset,
		NoDictionary: true}
	err := checkPages(bytes.NewReader(content), int64(len(content)), []pageChunk{dictionary})
	if err == nil || !strings.Contains(err.Error(), "a dictionary follows another page") {
		t.Errorf("a dictionary that an index takes for a page: %v", err)
	}
	for _, at := range []int64{-1, 1, int64(len(content))} {
		forged := withFooter(t, content, func(f *parquet.File) {
			f.Metadata().RowGroups[0].Columns[text].MetaData.DictionaryPageOffset = at
		})
		if _, err := all[line](forged, Selection{}); err == nil || !strings.Contains(err.Error(),
			"its dictionary is not before its pages") {
			t.Errorf("a dictionary at %d: %v", at, err)
		}
	}
}

// Values that statistics exclude are an error: engines go over row groups by them.
func TestStatisticsThatLie(t *testing.T) {
	type line struct {
		Seq  int64   `parquet:"seq,delta"`
		Text *string `parquet:"text,dict"`
		Own  string  `parquet:"own"`
	}
	type few struct {
		Seq int64 `parquet:"seq"`
	}
	texts := []string{"allow", "disallow"}
	rows := make([]line, 100)
	for i := range rows {
		if rows[i] = (line{int64(i), nil, texts[i%2]}); i%3 > 0 {
			rows[i].Text = &texts[i%2]
		}
	}
	content := written(t, rows)
	number := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	texted := func(s string) []byte { return []byte(s) }
	for i, c := range []struct {
		column     int
		say        format.Statistics
		isExcluded bool
	}{
		{0, format.Statistics{}, false},
		{0, format.Statistics{MinValue: number(0), MaxValue: number(99)}, false},
		{0, format.Statistics{MinValue: number(1), MaxValue: number(99)}, true},
		{0, format.Statistics{MaxValue: number(98)}, true},
		{1, format.Statistics{MinValue: texted("a"), MaxValue: texted("e")}, false},
		{1, format.Statistics{MinValue: texted("allow"), MaxValue: texted("allow")}, true},
		{1, format.Statistics{MinValue: texted("b")}, true},
		{1, format.Statistics{Min: texted("b"), Max: texted("e")}, true},
		{2, format.Statistics{MaxValue: texted("b")}, true},
		{2, format.Statistics{MaxValue: texted("")}, true},
	} {
		forged := withFooter(t, content, func(f *parquet.File) {
			f.Metadata().RowGroups[0].Columns[c.column].MetaData.Statistics = c.say
		})
		_, err := all[line](forged, Selection{Bounds: true})
		_, others := all[few](forged, Selection{Bounds: true, Texts: func(string, []byte) {}})
		_, loose := all[line](forged, Selection{})
		for _, err := range []error{err, others} {
			if (err != nil) != c.isExcluded || err != nil && !strings.HasSuffix(err.Error(),
				"has values that its statistics exclude") {
				t.Errorf("%d: %v", i, err)
			}
		}
		if loose != nil {
			t.Errorf("%d: %v", i, loose)
		}
	}
}

func opened(t *testing.T, content []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
