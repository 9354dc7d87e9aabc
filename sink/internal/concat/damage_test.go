package concat_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/concat"
)

// small returns a file of few bytes with all that a part has: several row groups,
// lists, nulls, dictionaries, a Bloom filter, page indexes, metadata.
func small(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	status := int32(404)
	rows := []row{{1, "a", nil}, {2, "b", []sink.Hop{{URL: "u", Status: &status}, {URL: "v"}}}, {3, "c", nil}}
	must(t, parquet.Write(&out, rows, parquet.MaxRowsPerRowGroup(2), parquet.KeyValueMetadata("k", "v"), parquet.CreatedBy("x", "y", "z"),
		parquet.BloomFilters(parquet.SplitBlockFilter(10, "host"))))
	return out.Bytes()
}

type row struct {
	Seq  int64      `parquet:"seq"`
	Host string     `parquet:"host,dict"`
	Hops []sink.Hop `parquet:"hops,list"`
}

func TestErrors(t *testing.T) {
	good := small(t)
	other := func(rows any, options ...parquet.WriterOption) []byte {
		var out bytes.Buffer
		w := parquet.NewWriter(&out, options...)
		must(t, w.Write(rows))
		must(t, w.Close())
		return out.Bytes()
	}
	type nullable struct {
		Seq  *int64     `parquet:"seq"`
		Host string     `parquet:"host,dict"`
		Hops []sink.Hop `parquet:"hops,list"`
	}
	key := parquet.WithEncryption(&parquet.EncryptionConfig{FooterKey: make([]byte, 16)})
	for _, test := range []struct {
		name  string
		parts [][]byte
		want  string
	}{
		{"no files", nil, "concatenate: no files"},
		{"empty file", [][]byte{good, {}}, "concatenate part 1: 0 bytes are too few for a Parquet file"},
		{"other file", [][]byte{bytes.Repeat([]byte("text"), 9)}, "concatenate part 0: it does not begin and end as a Parquet file does"},
		{"other columns", [][]byte{good, other(&sink.Hop{})}, "concatenate part 1: its schema is not that of part 0"},
		{"other nullability", [][]byte{good, other(&nullable{})}, "concatenate part 1: its schema is not that of part 0"},
		{"encrypted", [][]byte{other(&row{}, key)}, "concatenate part 0: damaged or foreign footer: it is encrypted, or names other files"},
		{"long footer", [][]byte{append(bytes.Clone(good[:len(good)-8]), "\xff\xff\xff\x0fPAR1"...)}, fmt.Sprintf("concatenate part 0: damaged: a footer of 268435455 bytes in a file of %d", len(good))},
		{"field twice", [][]byte{[]byte("PAR1\x15\x02\x05\x02\x02\x00\x06\x00\x00\x00PAR1")}, "concatenate part 0: damaged or foreign footer: field 1 after field 1"},
		{"cut out", [][]byte{slices.Concat(good[:100], good[101:])}, "concatenate part 0: damaged or foreign footer: "},
		{"put in", [][]byte{slices.Insert(bytes.Clone(good), 100, 'x')}, "concatenate part 0: damaged or foreign footer: of the bytes from "},
	} {
		var out bytes.Buffer
		_, err := concat.Write(&out, files(test.parts...))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if bytes.HasSuffix(out.Bytes(), []byte("PAR1")) && out.Len() > 4 {
			t.Errorf("%s: the output has a footer", test.name)
		}
	}
}

// What a footer says of its file is checked before it is copied.
func TestFooters(t *testing.T) {
	good := small(t)
	for _, test := range []struct {
		name   string
		change func(m *format.FileMetaData)
		want   string
	}{
		{"nothing", func(*format.FileMetaData) {}, "<nil>"},
		{"no order of columns", func(m *format.FileMetaData) { m.ColumnOrders = nil }, "its schema is not that of part 0"},
		{"a row more", func(m *format.FileMetaData) { m.NumRows++ }, "its row groups lack 1 of the 4 rows"},
		{"a row less", func(m *format.FileMetaData) { m.NumRows-- }, "a row group of 1 rows, where the file has 0 more"},
		{"rows less than none", func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 }, "a row group of -1 rows"},
		{"a row group less", func(m *format.FileMetaData) { m.RowGroups = m.RowGroups[:1] }, "its row groups lack 1 of the 3 rows"},
		{"row groups in another order", func(m *format.FileMetaData) { slices.Reverse(m.RowGroups) }, "row group 0 has ordinal 1"},
		{"a column less", func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[1:] }, "a row group of 3 columns, where the schema has 4"},
		{"a row group that begins behind the footer", func(m *format.FileMetaData) { m.RowGroups[1].FileOffset = 1 << 40 }, "offset 1099511627776"},
		{"a chunk in another file", func(m *format.FileMetaData) { m.RowGroups[1].Columns[2].FilePath = "/etc/passwd" }, "it is encrypted, or names other files"},
		{"a chunk that begins before its file", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -9 }, "a column chunk of"},
		{"a chunk that is longer than its file", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1<<63 - 1 }, "a column chunk of"},
		{"a chunk that reaches into the next", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize++ }, "it says nothing, or two things"},
		{"a chunk that ends early", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize-- }, "it says nothing, or two things"},
		{"data pages in the next chunk", func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.DataPageOffset += 1000 }, "outside their chunk"},
		{"a Bloom filter without a length", func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.BloomFilterLength = 0 }, "a Bloom filter of 0 bytes"},
		{"no Bloom filter", func(m *format.FileMetaData) {
			c := &m.RowGroups[0].Columns[1].MetaData
			c.BloomFilterOffset, c.BloomFilterLength = 0, 0
		}, "it says nothing, or two things"},
		{"a page index among the data", func(m *format.FileMetaData) {
			index, filter := &m.RowGroups[0].Columns[0], &m.RowGroups[1].Columns[1].MetaData
			index.OffsetIndexOffset, filter.BloomFilterOffset = filter.BloomFilterOffset, index.OffsetIndexOffset
		}, "a page index at"},
		{"another chunk's offset index", func(m *format.FileMetaData) {
			a, b := &m.RowGroups[0].Columns[0], &m.RowGroups[0].Columns[1]
			a.OffsetIndexOffset, a.OffsetIndexLength, b.OffsetIndexOffset, b.OffsetIndexLength = b.OffsetIndexOffset, b.OffsetIndexLength, a.OffsetIndexOffset, a.OffsetIndexLength
		}, "damaged offset index: a page at"},
		{"a column index as offset index", func(m *format.FileMetaData) {
			c := &m.RowGroups[0].Columns[0]
			c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength
		}, "damaged offset index: "},
	} {
		m := opened(t, good).Metadata()
		test.change(m)
		length := int(binary.LittleEndian.Uint32(good[len(good)-8:]))
		encoded, err := thrift.Marshal(new(thrift.CompactProtocol), m)
		must(t, err)
		bad := slices.Concat(good[:len(good)-8-length], encoded, binary.LittleEndian.AppendUint32(nil, uint32(len(encoded))), []byte("PAR1"))
		if _, err := concat.Write(io.Discard, files(good, bad)); !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// Pages that are not those of their chunk are an error.
func TestPageLocations(t *testing.T) {
	good := small(t)
	c := opened(t, good).Metadata().RowGroups[0].Columns[0]
	for want, change := range map[string]func(*format.PageLocation){
		"a page of ":                          func(p *format.PageLocation) { p.CompressedPageSize++ },
		"1 bytes of its chunk are in no page": func(p *format.PageLocation) { p.CompressedPageSize-- },
		"a page at 5, want 4":                 func(p *format.PageLocation) { p.Offset++ },
	} {
		bad := bytes.Clone(good)
		in := bad[c.OffsetIndexOffset:][:c.OffsetIndexLength]
		var index format.OffsetIndex
		must(t, thrift.Unmarshal(new(thrift.CompactProtocol), in, &index))
		change(&index.PageLocations[0])
		encoded, err := thrift.Marshal(new(thrift.CompactProtocol), &index)
		must(t, err)
		if copy(in, encoded) != len(encoded) {
			t.Fatal("the index is longer")
		}
		if _, err := concat.Write(io.Discard, files(bad)); !strings.Contains(fmt.Sprint(err), "damaged offset index: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Files may have more row groups together than an ordinal counts; Write says so.
func TestManyRowGroups(t *testing.T) {
	var out bytes.Buffer
	must(t, parquet.Write(&out, make([]sink.Sitemap, 1000), parquet.MaxRowsPerRowGroup(1)))
	parts := slices.Repeat([][]byte{out.Bytes()}, 33)
	f := opened(t, joined(t, parts[:2]...))
	if n := len(f.RowGroups()); n != 2000 || f.Metadata().RowGroups[1999].Ordinal != 1999 {
		t.Errorf("%d row groups, want 2000", n)
	}
	if _, err := concat.Write(io.Discard, files(parts...)); !strings.Contains(fmt.Sprint(err), "there are more than 32767 row groups: write several files") {
		t.Error(err)
	}
}

// Every truncation of a file is an error, and so is a file that shrinks while it is
// read.
func TestTruncated(t *testing.T) {
	good := small(t)
	for n := range good {
		if _, err := concat.Write(io.Discard, files(good, good[:n])); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(good))
		}
		shrunk := func(yield func(concat.File, error) bool) {
			yield(concat.File{Name: "shrunk", ReaderAt: hole{bytes.NewReader(good), int64(n)}, Size: int64(len(good))}, nil)
		}
		if _, err := concat.Write(io.Discard, shrunk); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a file that lacks byte %d: %v", n, err)
		}
	}
}

// hole is a file of which a byte cannot be read.
type hole struct {
	io.ReaderAt
	at int64
}

func (h hole) ReadAt(p []byte, offset int64) (int, error) {
	if offset <= h.at && h.at < offset+int64(len(p)) {
		n, _ := h.ReaderAt.ReadAt(p[:h.at-offset], offset)
		return n, io.EOF
	}
	return h.ReaderAt.ReadAt(p, offset)
}

// Errors of files and of the writer come back.
func TestErrorsOfOthers(t *testing.T) {
	own := errors.New("own")
	if _, err := concat.Write(io.Discard, func(yield func(concat.File, error) bool) { yield(concat.File{}, own) }); err != own {
		t.Error(err)
	}
	good := small(t)
	whole := int64(len(joined(t, good, good)))
	for room := int64(0); room < whole; room += 5 {
		if _, err := concat.Write(&full{room, own}, files(good, good)); !errors.Is(err, own) {
			t.Errorf("after %d bytes: %v", room, err)
		}
	}
}

// full is a disk with room for a number of bytes.
type full struct {
	room int64
	err  error
}

func (f *full) Write(p []byte) (int, error) {
	if f.room -= int64(len(p)); f.room < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// A footer takes no more memory than it may, whatever it announces.
func TestMemory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	const size = 5 << 30
	must(t, f.Truncate(size))
	for _, test := range []struct {
		footer uint32
		text   string // of the footer's first bytes
		want   string
	}{
		{4<<30 - 1, "", "exceed 256 MB"},
		{300 << 20, "", "exceed 256 MB"},
		{64, "\x15\x02\x19\xfc\xff\xff\xff\xff\x07", "damaged or foreign footer: unexpected EOF"},                         // a schema of 2^31 elements
		{64, "\x15\x02\x19\x0c\x16\x02\x19\xfc\xff\xff\xff\xff\x07", "damaged or foreign footer: unexpected EOF"},         // row groups
		{64, "\x15\x02\x19\x0c\x16\x02\x19\x1c\x19\xfc\xff\xff\xff\xff\x07", "damaged or foreign footer: unexpected EOF"}, // chunks
		{64, "\x15\x02\x19\x0c\x16\x02\x18\xff\xff\xff\xff\x07", "damaged or foreign footer: unexpected EOF"},             // a text
		{64, strings.Repeat("\x1c", 64), "structs are nested too deep"},
		{64, "\x19" + strings.Repeat("\x19", 63), "a list of lists"},
	} {
		tail := binary.LittleEndian.AppendUint32(nil, test.footer)
		_, err := f.WriteAt(append(tail, "PAR1"...), size-8)
		must(t, err)
		_, err = f.WriteAt([]byte("PAR1"), 0)
		must(t, err)
		_, err = f.WriteAt([]byte(test.text), size-8-64)
		must(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = concat.Write(io.Discard, func(yield func(concat.File, error) bool) {
			yield(concat.File{Name: "sparse", ReaderAt: f, Size: size}, nil)
		})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("footer of %d bytes, %q: %v, want %s", test.footer, test.text, err, test.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("footer of %d bytes, %q: %d bytes of memory", test.footer, test.text, n)
		}
	}
}

// Whichever byte after the pages is damaged, either Write notices, or the output is
// to a reader what the damaged file is.
func TestDamagedBytes(t *testing.T) {
	good := small(t)
	goodRows, err := readable(good)
	must(t, err)
	noticed, all := 0, 0
	for at := dataEnd(opened(t, good)); at < len(good); at++ {
		for _, bit := range []int{at % 8} {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << bit
			all++
			var out bytes.Buffer
			if _, err := concat.Write(&out, files(good, bad)); err != nil {
				noticed++
				continue
			}
			want, err := readable(bad)
			if err != nil {
				continue
			}
			if got, err := readable(out.Bytes()); err != nil || !slices.Equal(slices.Concat(goodRows, want), got) {
				t.Errorf("byte %d, bit %d: the output has other rows: %v", at, bit, err)
			}
		}
	}
	if noticed < all/2 {
		t.Errorf("%d of %d damaged bits are noticed", noticed, all)
	}
}

// dataEnd returns where the page indexes of a file begin.
func dataEnd(f *parquet.File) int {
	return int(f.Metadata().RowGroups[0].Columns[0].ColumnIndexOffset)
}

// readable reads a file that may be damaged with parquet-go, as text.
func readable(content []byte) (rows []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	for _, g := range f.RowGroups() {
		r := g.Rows()
		buffer := make([]parquet.Row, 10)
		for {
			n, err := r.ReadRows(buffer)
			for _, row := range buffer[:n] {
				rows = append(rows, fmt.Sprintf("%+v", row))
			}
			if err == io.EOF {
				break
			}
			if err != nil || n == 0 {
				return nil, fmt.Errorf("%d rows: %v", n, err)
			}
		}
		r.Close()
	}
	return rows, nil
}

// FuzzWrite: whatever is damaged, Write ends with an error, or with a file that it
// takes as it is.
func FuzzWrite(f *testing.F) {
	good := small(f)
	f.Add(good)
	f.Add(joined(f, good, good))
	f.Add(good[dataEnd(opened(f, good)):])
	for _, table := range []string{"fetches", "verdicts"} {
		empty, err := sink.EmptyPart(table)
		must(f, err)
		f.Add(empty)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var one, two bytes.Buffer
		rows, err := concat.Write(&one, files(content))
		if err != nil {
			return
		}
		again, err := concat.Write(&two, files(one.Bytes()))
		if err != nil || again != rows || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatalf("%d rows become %d, %d bytes %d: %v", rows, again, one.Len(), two.Len(), err)
		}
		if _, err := concat.Write(io.Discard, files(content, one.Bytes())); err != nil {
			t.Fatal(err)
		}
	})
}
