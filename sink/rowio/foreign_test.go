package rowio

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/sink/sinktest/oracle"
)

// cellsOf reads all columns of a file that are read at all, as lines.
func cellsOf(content []byte) (lines []string, err error) {
	f, err := OpenForeign(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	var s ForeignSelection
	var names []string
	for i, c := range f.Columns() {
		if c.IsText || c.IsTime {
			s.Columns, names = append(s.Columns, i), append(names, c.Name)
		}
	}
	err = f.Read(context.Background(), s, func(rows int, cell func(row, column int) string) error {
		for row := range rows {
			line := ""
			for i, name := range names {
				line += fmt.Sprintf("%s %q ", name, cell(row, i))
			}
			lines = append(lines, line)
		}
		return nil
	})
	return lines, err
}

// arrowText returns a cell as arrow-go reads it, and whether it is one that is read.
func arrowText(c arrow.Array, row int) (text string, isRead bool) {
	switch v := c.(type) {
	case *array.Timestamp:
		text = v.Value(row).ToTime(v.DataType().(*arrow.TimestampType).Unit).Format(time.RFC3339Nano)
	case *array.Date32:
		text = v.Value(row).ToTime().Format(time.DateOnly)
	case *array.Boolean:
		text = strconv.FormatBool(v.Value(row))
	case *array.Float64:
		text = strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%f", v.Value(row)), "0"), ".")
	case *array.Float32:
		text = strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%f", v.Value(row)), "0"), ".")
	case *array.Binary:
		text = string(v.Value(row))
	case *array.Decimal128:
		text = v.Value(row).ToString(v.DataType().(*arrow.Decimal128Type).Scale)
	case *array.String, *array.Int8, *array.Int16, *array.Int32, *array.Int64,
		*array.Uint8, *array.Uint16, *array.Uint32, *array.Uint64:
		text = c.ValueStr(row)
	default:
		return "", false
	}
	if c.IsNull(row) {
		text = ""
	}
	return text, true
}

func cellsByArrow(t interface{ Fatal(...any) }, content []byte) (lines []string) {
	oracle.Arrow(t, content, func(batch arrow.RecordBatch) {
		for row := range int(batch.NumRows()) {
			line := ""
			for i, c := range batch.Columns() {
				if text, isRead := arrowText(c, row); isRead {
					line += fmt.Sprintf("%s %q ", batch.ColumnName(i), text)
				}
			}
			lines = append(lines, line)
		}
	})
	return lines
}

// ofArrow returns a file that arrow-go has written, with columns of all types, nulls among
// them.
func ofArrow(t testing.TB, rows int, options ...arrowparquet.WriterProperty) []byte {
	t.Helper()
	types := []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Date32, &arrow.Decimal128Type{Precision: 9, Scale: 2},
		&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, &arrow.TimestampType{Unit: arrow.Microsecond},
		&arrow.TimestampType{Unit: arrow.Nanosecond}, arrow.ListOf(arrow.BinaryTypes.String),
		&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow.Decimal128Type{Precision: 18, Scale: 0},
		&arrow.Decimal128Type{Precision: 38, Scale: 7},
	}
	var fields []arrow.Field
	for i, of := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d.%s", i, of.Name()), Type: of, Nullable: i%2 == 0})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for row := range rows {
		for i := range fields {
			v := int64(row*row*7 - 40*row)
			to := b.Field(i)
			if fields[i].Nullable && row%(i+2) == 1 {
				to.AppendNull()
				continue
			}
			switch to := to.(type) {
			case *array.StringBuilder:
				to.Append(fmt.Sprintf("host%d.example", row/3))
			case *array.BinaryBuilder:
				to.Append([]byte{byte(v), 0xff})
			case *array.Int8Builder:
				to.Append(int8(v))
			case *array.Int16Builder:
				to.Append(int16(v))
			case *array.Int32Builder:
				to.Append(int32(v))
			case *array.Int64Builder:
				to.Append(v << 20)
			case *array.Uint8Builder:
				to.Append(uint8(v))
			case *array.Uint16Builder:
				to.Append(uint16(v))
			case *array.Uint32Builder:
				to.Append(uint32(v))
			case *array.Uint64Builder:
				to.Append(uint64(v))
			case *array.Float32Builder:
				to.Append(float32(v) / 4)
			case *array.Float64Builder:
				to.Append(float64(v) / 8)
			case *array.BooleanBuilder:
				to.Append(v%2 == 0)
			case *array.Date32Builder:
				to.Append(arrow.Date32(v))
			case *array.Decimal128Builder:
				to.Append(decimal128.FromI64(v))
			case *array.TimestampBuilder:
				to.Append(arrow.Timestamp(v * 1_000_003))
			case *array.ListBuilder:
				to.Append(true)
				to.ValueBuilder().(*array.StringBuilder).Append("x")
			case *array.FixedSizeBinaryBuilder:
				to.Append([]byte("abc"))
			}
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(batch.Schema(), &out, arrowparquet.NewWriterProperties(options...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithDeprecatedInt96Timestamps(rows%2 == 0)))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteBuffered(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Files of arrow-go, in each of its compressions, versions of pages and encodings, are read as
// arrow-go reads them.
func TestForeignFilesAreAsArrowReadsThem(t *testing.T) {
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip,
		compress.Codecs.Brotli, compress.Codecs.Zstd}
	encodings := map[string][]arrowparquet.WriterProperty{
		"dictionary": nil,
		"plain":      {arrowparquet.WithDictionaryDefault(false), arrowparquet.WithStoreDecimalAsInteger(true)},
		"delta": {
			arrowparquet.WithDictionaryDefault(false),
			arrowparquet.WithEncodingFor("c0.utf8", arrowparquet.Encodings.DeltaByteArray),
			arrowparquet.WithEncodingFor("c1.binary", arrowparquet.Encodings.DeltaLengthByteArray),
			arrowparquet.WithEncodingFor("c4.int32", arrowparquet.Encodings.DeltaBinaryPacked),
			arrowparquet.WithEncodingFor("c5.int64", arrowparquet.Encodings.DeltaBinaryPacked),
			arrowparquet.WithEncodingFor("c11.float64", arrowparquet.Encodings.ByteStreamSplit),
		},
	}
	for _, codec := range codecs {
		for name, encoding := range encodings {
			for _, version := range []arrowparquet.DataPageVersion{arrowparquet.DataPageV1, arrowparquet.DataPageV2} {
				for _, rows := range []int{0, 1, 700, 701} {
					options := append(slices.Clone(encoding), arrowparquet.WithCompression(codec),
						arrowparquet.WithDataPageVersion(version), arrowparquet.WithDataPageSize(3000), arrowparquet.WithBatchSize(100))
					content := ofArrow(t, rows, options...)
					got, err := cellsOf(content)
					if err != nil {
						t.Errorf("%s, %s, version %d, %d rows: %v", codec, name, version, rows, err)
						continue
					}
					if diff := cmp.Diff(cellsByArrow(t, content), got); diff != "" {
						t.Fatalf("%s, %s, version %d (-arrow-go +ours):\n%s", codec, name, version, diff)
					}
				}
			}
		}
	}
}

// Files of parquet-go are read as arrow-go reads them.
func TestForeignRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, options := drawRows(t)
		for i := range rows {
			rows[i].Delay = nil // arrowText prints few digits
		}
		content := written(t, rows, options...)
		got, err := cellsOf(content)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(cellsByArrow(t, content), got); diff != "" {
			t.Fatalf("(-arrow-go +ours):\n%s", diff)
		}
	})
}

// Numbers that are no texts, whole or not, are as a line of text would hold them.
func TestForeignNumbers(t *testing.T) {
	type numbers struct {
		Rank float64  `parquet:"rank"`
		None *float64 `parquet:"none"`
		URL  string   `parquet:"url"`
	}
	content := written(t, []numbers{{Rank: 1e15}, {Rank: 0.5}, {Rank: math.NaN(), URL: "x"}})
	got, err := cellsOf(content)
	want := []string{`rank "1000000000000000" none "" url "" `, `rank "0.5" none "" url "" `, `rank "" none "" url "x" `}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
}

// Columns that hold no texts say what they hold.
func TestForeignColumns(t *testing.T) {
	type odd struct {
		List []string        `parquet:"list,list"`
		Map  map[string]bool `parquet:"map"`
		Hop  *hop            `parquet:"hop,optional"`
		Day  int32           `parquet:"day,date"`
		Is   *bool           `parquet:"is"`
		ID   [16]byte        `parquet:"id,uuid"`
		Many []int32         `parquet:"many"`
		At   time.Time       `parquet:"at,timestamp(millisecond)"`
		Text string          `parquet:"text"`
	}
	content := written(t, []odd{{Text: "x"}, {Day: 20512, Is: new(true)}, {Day: -1, Is: new(false)}})
	f, err := OpenForeign(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range f.Columns() {
		got = append(got, fmt.Sprint(c.Name, " ", c.Type, " ", c.IsText, " ", c.IsTime))
	}
	want := []string{"list list false false", "map map false false", "hop a group false false", "day DATE true false",
		"is BOOLEAN true false",
		"id UUID false false", "many repeated INT(32,true) false false",
		"at TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS) false true", "text STRING true false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	lines, err := cellsOf(content)
	const at = `at "0001-01-01T00:00:00Z" `
	want = []string{`day "1970-01-01" is "" ` + at + `text "x" `, `day "2026-02-28" is "true" ` + at + `text "" `,
		`day "1969-12-31" is "false" ` + at + `text "" `}
	if diff := cmp.Diff(want, lines); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// Row groups without a wanted text are passed, and not even looked at; a column without
// statistics passes none.
func TestForeignRowGroups(t *testing.T) {
	var rows []row
	for i := range int64(100) {
		rows = append(rows, row{Seq: i, Text: fmt.Sprintf("h%02d.example", i), Last: fmt.Sprint(i / 50)})
	}
	content := written(t, rows, parquet.MaxRowsPerRowGroup(10), parquet.Compression(&parquet.Gzip),
		parquet.SkipPageStatistics("plain"))
	at := func(text string) func(least, greatest string) bool {
		return func(least, greatest string) bool { return least <= text && text <= greatest }
	}
	number := map[string]int{"seq": 0, "text": 2, "last": 13}
	read := func(content []byte, texts map[int]func(string, string) bool) (got []string, passed int64, err error) {
		f, err := OpenForeign(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		for name, i := range number {
			if f.Columns()[i].Name != name {
				t.Fatalf("column %d is %s", i, f.Columns()[i].Name)
			}
		}
		err = f.Read(t.Context(), ForeignSelection{Columns: []int{0}, Texts: texts, Passed: func(n int64) { passed += n }},
			func(_ int, cell func(row, column int) string) error { got = append(got, cell(0, 0)); return nil })
		return got, passed, err
	}
	for _, c := range []struct {
		texts map[int]func(least, greatest string) bool
		want  []string
	}{
		{map[int]func(string, string) bool{2: at("h42.example")}, []string{"40"}},
		{map[int]func(string, string) bool{2: at("h42.example"), 13: at("1")}, nil},
		{map[int]func(string, string) bool{13: at("1"), 0: at("x")}, []string{"50", "60", "70", "80", "90"}},
	} {
		got, passed, err := read(content, c.texts)
		if err != nil || !slices.Equal(got, c.want) || passed != int64(100-10*len(c.want)) {
			t.Errorf("groups from %q, want %q; %d rows are passed; %v", got, c.want, passed, err)
		}
	}
	// The header of a page in the second row group says that it has gigabytes.
	damaged := bytes.Clone(content)
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	copy(damaged[file.Metadata().RowGroups[1].Columns[0].MetaData.DataPageOffset:], "\x15\x06\x15\xfe\xff\xff\xff\x0f")
	for text, want := range map[string]bool{"h42.example": true, "h15.example": false} {
		_, _, err := read(damaged, map[int]func(string, string) bool{2: at(text)})
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "row group 1") {
			t.Errorf("%s of a damaged file: %v", text, err)
		}
	}
}

// withFooter returns a file with another footer.
func withFooter(t testing.TB, content []byte, change func(f *parquet.File)) []byte {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), f.Metadata())
	if err != nil {
		t.Fatal(err)
	}
	end := len(content) - 8 - int(binary.LittleEndian.Uint32(content[len(content)-8:]))
	return slices.Concat(content[:end], footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), []byte("PAR1"))
}

// A column with more rows, or fewer, than its row group is damaged.
func TestRowsOfColumnsAndRowGroups(t *testing.T) {
	content := written(t, []row{{Seq: 1}, {Seq: 2}, {Seq: 3}})
	for says, want := range map[int64]string{2: "has more rows than its row group", 3: "<nil>",
		4: "has fewer rows than its row group"} {
		other := withFooter(t, content, func(f *parquet.File) {
			m := f.Metadata()
			m.NumRows, m.RowGroups[0].NumRows = says, says
		})
		_, err := cellsOf(other)
		if !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("%d rows: %v, want %s", says, err, want)
		}
	}
}

// A page that decompresses to another size than its header says is refused before a decoder
// follows the frame, in any compression; so is one that is larger than any, and one whose texts
// take more than their page.
func TestPagesOfOthersAreBounded(t *testing.T) {
	type body struct {
		Body []byte `parquet:"body"`
	}
	bounds := []parquet.WriterOption{parquet.SkipPageStatistics("body"), parquet.SkipPageBounds("body")}
	const size = 3_000_000
	for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Gzip), parquet.Compression(&parquet.Snappy),
		parquet.Compression(&parquet.Brotli), parquet.Compression(&parquet.Zstd)} {
		for _, version := range []int{1, 2} {
			options := append(slices.Clone(bounds), codec, parquet.DataPageVersion(version))
			file := written(t, []body{{make([]byte, size)}}, options...)
			if lines, err := cellsOf(file); err != nil || len(lines) != 1 {
				t.Fatal(err)
			}
			// The page has the body and its length, in one of several encodings.
			n, i := size+1, -1
			for ; i < 0 && n < size+64; n++ {
				i = bytes.Index(file[:100], binary.AppendVarint(nil, int64(n)))
			}
			if i < 0 {
				t.Fatal("the header of the page is not found")
			}
			copy(file[i:], binary.AppendVarint(nil, size-1))
			if _, err := cellsOf(file); err == nil || !strings.Contains(err.Error(),
				"does not decompress to the 2999999 bytes that its header says") {
				t.Errorf("version %d: %v", version, err)
			}
		}
		if _, err := cellsOf(written(t, []body{{make([]byte, 65<<20+1)}}, append(slices.Clone(bounds),
			codec)...)); err == nil || !strings.Contains(err.Error(), "a page of ") {
			t.Errorf("a page of any size: %v", err)
		}
	}
	type text struct {
		Text string `parquet:"text,delta"`
	}
	long := strings.Repeat("x", 1<<20)
	alike := make([]text, 100)
	for i := range alike {
		alike[i].Text = long
	}
	for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Gzip), parquet.Compression(&parquet.Zstd),
		parquet.Compression(&parquet.Uncompressed)} {
		for _, version := range []int{1, 2} {
			options := []parquet.WriterOption{codec, parquet.DataPageVersion(version), parquet.SkipPageStatistics("text"),
				parquet.SkipPageBounds("text"), parquet.PageBufferSize(200 << 20)}
			if lines, err := cellsOf(written(t, alike[:20], options...)); err != nil || len(lines) != 20 {
				t.Errorf("20 MB of texts: %d lines, %v", len(lines), err)
			}
			if _, err := cellsOf(written(t, alike, options...)); err == nil || !strings.Contains(err.Error(),
				"texts take more than") {
				t.Errorf("100 MB of texts in a page: %v", err)
			}
		}
	}
}

// A compression that is not read says what to do.
func TestCompressionsThatAreNotRead(t *testing.T) {
	_, err := cellsOf(ofArrow(t, 100, arrowparquet.WithCompression(compress.Codecs.Lz4Raw)))
	if err == nil || !strings.Contains(err.Error(),
		"compressed with LZ4_RAW, which is not read; write the file with zstd or snappy") {
		t.Error(err)
	}
}

// Whatever is damaged in a file, reading returns its rows or an error.
func FuzzForeign(f *testing.F) {
	line := int32(3)
	f.Add(written(f, []row{{Seq: 1, Text: "x", Line: &line}, {Seq: 2}}))
	f.Add(ofArrow(f, 5, arrowparquet.WithCompression(compress.Codecs.Snappy)))
	f.Fuzz(func(t *testing.T, content []byte) { cellsOf(content) })
}

// Decimals have as many digits after the point as their type says, in whatever they are stored.
func TestDecimals(t *testing.T) {
	for _, row := range []struct {
		digits string
		scale  int
		want   string
	}{{"150", 2, "1.50"}, {"15", 1, "1.5"}, {"7", 0, "7"}, {"-7", 2, "-0.07"}, {"0", 3, "0.000"}, {"12", -2, "12"},
		{"-123456", 3, "-123.456"}} {
		if got := decimalText(row.digits, row.scale); got != row.want {
			t.Errorf("%s of scale %d is %s, want %s", row.digits, row.scale, got, row.want)
		}
	}
	for want, b := range map[string][]byte{"0.01": {1}, "decimal of 65 bytes": make([]byte, 65)} {
		if got := decimalOf(b, 2); got != want {
			t.Errorf("%d bytes are %s, want %s", len(b), got, want)
		}
	}
	for want, b := range map[string][]byte{"0": {}, "150": {0, 150}, "-106": {150}, "-1": {255, 255, 255}, "127": {127}} {
		if got := signed(b).String(); got != want {
			t.Errorf("%v is %s, want %s", b, got, want)
		}
	}
}
