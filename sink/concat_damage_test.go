package sink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/robocensus/robocensus/sink/schema"
)

// smallFile returns a file of few bytes with all that a part has: several row groups,
// lists, nulls, dictionaries, a Bloom filter, page indexes, metadata.
func smallFile(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	status := int32(404)
	rows := []smallRow{{1, "a", nil}, {2, "b", []schema.Hop{{URL: "u", Status: &status}, {URL: "v"}}}, {3, "c", nil}}
	must(t, parquet.Write(&out, rows, parquet.MaxRowsPerRowGroup(2), parquet.KeyValueMetadata("k", "v"),
		parquet.CreatedBy("x", "y", "z"),
		parquet.BloomFilters(parquet.SplitBlockFilter(10, "host"))))
	return out.Bytes()
}

type smallRow struct {
	Seq  int64        `parquet:"seq"`
	Host string       `parquet:"host,dict"`
	Hops []schema.Hop `parquet:"hops,list"`
}

func TestConcatenateErrors_NoRace(t *testing.T) {
	good := smallFile(t)
	other := func(rows any) []byte {
		var out bytes.Buffer
		w := parquet.NewWriter(&out)
		must(t, w.Write(rows))
		must(t, w.Close())
		return out.Bytes()
	}
	type nullable struct {
		Seq  *int64       `parquet:"seq"`
		Host string       `parquet:"host,dict"`
		Hops []schema.Hop `parquet:"hops,list"`
	}
	for _, test := range []struct {
		name  string
		parts [][]byte
		want  string
	}{
		{"no files", nil, "concatenate: no files"},
		{"empty file", [][]byte{good, {}}, "concatenate part 1: 0 bytes are too few for a Parquet file"},
		{"other file", [][]byte{append(bytes.Repeat([]byte("text"), 9), 0, 0, 0, 0, 't', 'e', 'x', 't')},
			"concatenate part 0: invalid magic header"},
		{"other columns", [][]byte{good, other(&schema.Hop{})}, "concatenate part 1: its schema is not that of part 0"},
		{"other nullability", [][]byte{good, other(&nullable{})}, "concatenate part 1: its schema is not that of part 0"},
		{"long footer", [][]byte{append(bytes.Clone(good[:len(good)-8]), "\xff\xff\xff\x0fPAR1"...)},
			fmt.Sprintf("concatenate part 0: a footer of 268435455 bytes in a file of %d", len(good))},
		{"cut out", [][]byte{slices.Concat(good[:100], good[101:])}, "concatenate part 0: bytes "},
		{"put in", [][]byte{slices.Insert(bytes.Clone(good), 100, 'x')}, "concatenate part 0: bytes "},
	} {
		var out bytes.Buffer
		err := concatenate(&out, partFiles(test.parts...))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if bytes.HasSuffix(out.Bytes(), []byte("PAR1")) && out.Len() > 4 {
			t.Errorf("%s: the output has a footer", test.name)
		}
	}
}

// A file with bytes that its footer does not name, or names twice, is not copied: a
// reader of the output would miss them.
func TestConcatenateEachByteOnce_NoRace(t *testing.T) {
	good := smallFile(t)
	footer := len(good) - 8 - int(binary.LittleEndian.Uint32(good[len(good)-8:]))
	index := int(openParquet(t, good).Metadata().RowGroups[0].Columns[0].ColumnIndexOffset)
	between := func(from, to int) string { return fmt.Sprintf("bytes %d to %d are not covered exactly once", from, to) }
	second := int(openParquet(t, good).Metadata().RowGroups[0].Columns[1].MetaData.DictionaryPageOffset)
	for _, test := range []struct {
		name   string
		change func(m *format.FileMetaData)
		want   string
	}{
		{"nothing", func(*format.FileMetaData) {}, "<nil>"},
		{"no order of columns", func(m *format.FileMetaData) { m.ColumnOrders = nil }, "its schema is not that of part 0"},
		{"a row group less", func(m *format.FileMetaData) { m.RowGroups = m.RowGroups[:1] }, "are not covered exactly once"},
		{"a chunk that begins before its file", func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -9
		}, between(-9, 4)},
		{"a chunk that is longer than its file", func(m *format.FileMetaData) {
			m.RowGroups[1].Columns[0].MetaData.TotalCompressedSize = 1<<63 - 1
		}, "are not covered exactly once"},
		{"a chunk of less than nothing", func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = -1
		}, between(4, 4)},
		{"a chunk that reaches into the next", func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize++
		}, between(second, second+1)},
		{"a chunk that ends early", func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize--
		}, between(second-1, second)},
		{"a Bloom filter without a length", func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[1].MetaData.BloomFilterLength = 0
		}, "are not covered exactly once"},
		{"a page index among the data", func(m *format.FileMetaData) {
			index, filter := &m.RowGroups[0].Columns[0], &m.RowGroups[1].Columns[1].MetaData
			index.OffsetIndexOffset, filter.BloomFilterOffset = filter.BloomFilterOffset, index.OffsetIndexOffset
		}, "a page index before byte"},
		{"no page indexes", func(m *format.FileMetaData) {
			for _, g := range m.RowGroups {
				for k := range g.Columns {
					g.Columns[k].ColumnIndexLength, g.Columns[k].OffsetIndexLength = 0, 0
				}
			}
		}, between(index, footer)},
	} {
		m := openParquet(t, good).Metadata()
		test.change(m)
		encoded, err := thrift.Marshal(new(thrift.CompactProtocol), m)
		must(t, err)
		bad := slices.Concat(good[:footer], encoded, binary.LittleEndian.AppendUint32(nil, uint32(len(encoded))),
			[]byte("PAR1"))
		if err := concatenate(io.Discard, partFiles(good, bad)); !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// Files may have more row groups together than an ordinal counts; concatenate says so.
func TestConcatenateManyRowGroups_NoRace(t *testing.T) {
	var out bytes.Buffer
	must(t, parquet.Write(&out, make([]schema.Sitemap, 1000), parquet.MaxRowsPerRowGroup(1)))
	parts := slices.Repeat([][]byte{out.Bytes()}, 33)
	f := openParquet(t, concatenated(t, parts[:2]...))
	if n := len(f.RowGroups()); n != 2000 || f.Metadata().RowGroups[1999].Ordinal != 1999 {
		t.Errorf("%d row groups, want 2000", n)
	}
	if err := concatenate(io.Discard, partFiles(parts...)); !strings.Contains(fmt.Sprint(err),
		"there are more than 32767 row groups: write several files") {
		t.Error(err)
	}
}

// Every truncation of a file is an error, and so is a file that shrinks while it is
// read.
func TestConcatenateTruncated_NoRace(t *testing.T) {
	good := smallFile(t)
	for n := range good {
		if err := concatenate(io.Discard, partFiles(good, good[:n])); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(good))
		}
		shrunk := func(yield func(namedFile, error) bool) {
			yield(namedFile{Name: "shrunk", ReaderAt: hole{bytes.NewReader(good), int64(n)}, Size: int64(len(good))}, nil)
		}
		if err := concatenate(io.Discard, shrunk); err == nil {
			t.Errorf("a file that lacks byte %d is accepted", n)
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
func TestConcatenateErrorsOfOthers_NoRace(t *testing.T) {
	own := errors.New("own")
	if err := concatenate(io.Discard, func(yield func(namedFile, error) bool) { yield(namedFile{}, own) }); err != own {
		t.Error(err)
	}
	good := smallFile(t)
	whole := int64(len(concatenated(t, good, good)))
	for room := int64(0); room < whole; room += 5 {
		if err := concatenate(&fullDisk{room, own}, partFiles(good, good)); !errors.Is(err, own) {
			t.Errorf("after %d bytes: %v", room, err)
		}
	}
}

// fullDisk is a disk with room for a number of bytes.
type fullDisk struct {
	room int64
	err  error
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.room -= int64(len(p)); f.room < 0 {
		return 0, f.err
	}
	return len(p), nil
}
