package rowio

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// A Foreign is a file of another writer, such as a list of hosts: its columns have any type,
// encoding and compression. Cells are read as texts.
type Foreign struct {
	file    *File
	columns []ForeignColumn
}

// A ForeignColumn is a column of a [Foreign] file.
type ForeignColumn struct {
	Name   string
	Type   string // for people
	IsText bool   // its cells are texts, bytes, numbers, days, or true and false
	IsTime bool   // its cells are times

	leaf leaf
}

// OpenForeign reads the footer of a file of size bytes.
func OpenForeign(in io.ReaderAt, size int64) (f *Foreign, err error) {
	defer Recovered(&err)
	file, err := Open(in, size)
	if err != nil {
		return nil, err
	}
	f = &Foreign{file: file}
	for _, c := range file.file.Root().Columns() {
		f.columns = append(f.columns, foreignColumn(c))
	}
	return f, nil
}

// Rows returns the number of rows according to the footer.
func (f *Foreign) Rows() int64 { return f.file.Rows() }

// Columns returns the columns, in the order of the file.
func (f *Foreign) Columns() []ForeignColumn { return f.columns }

func foreignColumn(c *parquet.Column) ForeignColumn {
	out := ForeignColumn{Name: c.Name(), Type: "a group"}
	if !c.Leaf() {
		if l := c.Type().LogicalType(); l != nil {
			out.Type = strings.ToLower(l.String())
		}
		return out
	}
	out.Type = c.Type().String()
	if c.MaxRepetitionLevel() > 0 {
		out.Type = "repeated " + out.Type
		return out
	}
	read := readerOf(c.Type())
	_, out.IsTime = logical(c.Type()).(*format.TimestampType)
	out.IsTime = out.IsTime || c.Type().Kind() == parquet.Int96
	out.IsText = read != nil && !out.IsTime
	out.leaf = leaf{
		path: strings.Join(c.Path(), "."), goType: reflect.TypeFor[string](), column: c.Index(), kind: c.Type().Kind(),
		maxDef: c.MaxDefinitionLevel(), read: read,
	}
	return out
}

func logical(t parquet.Type) any {
	if l := t.LogicalType(); l != nil {
		return l.Value
	}
	return nil
}

// readerOf returns what reads a column of a type as texts, nil if that means nothing.
//
// Doubles that are whole numbers are read as such: pandas makes doubles of a column of
// numbers with gaps. Times are as in RFC 3339, and days the dates of these.
func readerOf(t parquet.Type) func(leaf, *parquet.FileColumnChunk) column {
	means := logical(t)
	if of, ok := means.(*format.DecimalType); ok {
		return decimals(t.Kind(), int(of.Scale))
	}
	number, isNumber := means.(*format.IntType)
	isNumber = isNumber || means == nil
	switch t.Kind() {
	case parquet.ByteArray:
		switch means.(type) {
		case nil, *format.StringType, *format.EnumType, *format.JsonType, *format.BsonType:
			return func(l leaf, chunk *parquet.FileColumnChunk) column {
				return texts(l, chunk, func(b []byte) string { return string(b) })
			}
		}
	case parquet.Boolean:
		return asTexts(booleans, strconv.FormatBool)
	case parquet.Int32:
		if _, ok := means.(*format.DateType); ok {
			return asTexts(int32s, func(v int32) string { return time.Unix(int64(v)*24*60*60, 0).UTC().Format(time.DateOnly) })
		}
		if isNumber && number != nil && !number.IsSigned {
			return asTexts(int32s, func(v int32) string { return strconv.FormatUint(uint64(uint32(v)), 10) })
		}
		if isNumber {
			return asTexts(int32s, func(v int32) string { return strconv.FormatInt(int64(v), 10) })
		}
	case parquet.Int64:
		if of, ok := means.(*format.TimestampType); ok {
			return asTexts(int64s, func(v int64) string { return timeText(timeOf(of, v)) })
		}
		if isNumber && number != nil && !number.IsSigned {
			return asTexts(int64s, func(v int64) string { return strconv.FormatUint(uint64(v), 10) })
		}
		if isNumber {
			return asTexts(int64s, func(v int64) string { return strconv.FormatInt(v, 10) })
		}
	case parquet.Int96:
		return asTexts(int96s, func(v deprecated.Int96) string { return timeText(timeOf96(v)) })
	case parquet.Float:
		return asTexts(floats, func(v float32) string { return wholeNumber(float64(v)) })
	case parquet.Double:
		return asTexts(doubles, wholeNumber)
	}
	return nil
}

func floats(p parquet.Page) []float32          { v := p.Data(); return v.Float() }
func int96s(p parquet.Page) []deprecated.Int96 { v := p.Data(); return v.Int96() }

func wholeNumber(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func timeOf(of *format.TimestampType, v int64) time.Time {
	switch of.Unit.Value.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(v)
	case *format.MicroSeconds:
		return time.UnixMicro(v)
	}
	return time.Unix(0, v)
}

// timeOf96 returns the time that Impala and older Spark write: nanoseconds of a Julian day.
func timeOf96(v deprecated.Int96) time.Time {
	const julianOf1970 = 2440588
	var nanoseconds [8]byte
	binary.LittleEndian.PutUint32(nanoseconds[:], v[0])
	binary.LittleEndian.PutUint32(nanoseconds[4:], v[1])
	return time.Unix((int64(v[2])-julianOf1970)*24*60*60, int64(binary.LittleEndian.Uint64(nanoseconds[:])))
}

// asTexts returns what reads a column of numbers as texts.
func asTexts[N any](of func(parquet.Page) []N, text func(N) string) func(leaf, *parquet.FileColumnChunk) column {
	return func(l leaf, chunk *parquet.FileColumnChunk) column {
		as := numbers(l, chunk, of).decode
		c := &cells[string]{leaf: l, chunk: chunk, pages: chunk.Pages()}
		var scratch []string
		c.decode = func(p parquet.Page) (func(int) ([]string, error), error) {
			take, err := as(p)
			return func(n int) ([]string, error) {
				taken, err := take(n)
				scratch = scratch[:0]
				for _, v := range taken {
					scratch = append(scratch, text(v))
				}
				return scratch, err
			}, err
		}
		return c
	}
}

// ForeignSelection says what [Foreign.Read] reads.
type ForeignSelection struct {
	Columns []int // numbers of those of [Foreign.Columns] that hold texts or times
	// Texts reports, by the number of a column of texts, whether a row group whose statistics
	// give texts from least to greatest may hold wanted rows: each must want it, or lack
	// statistics.
	Texts map[int]func(least, greatest string) bool
	// Passed, if it is not nil, is told the number of rows of each row group that is not
	// wanted.
	Passed func(rows int64)
}

// Read reads a file, in the order of its rows. A cell is that of a row of the batch, and of a
// column by its number in the selection; a null is "".
func (f *Foreign) Read(
	ctx context.Context, s ForeignSelection, each func(rows int, cell func(row, column int) string) error,
) error {
	width := max(1, len(s.Columns))
	batch := reflect.MakeSlice(reflect.SliceOf(reflect.ArrayOf(width, reflect.TypeFor[string]())), batchRows, batchRows)
	all := unsafe.Slice((*string)(batch.UnsafePointer()), batchRows*width)
	cell := func(row, column int) string { return all[row*width+column] }
	var leaves []leaf
	for i, at := range s.Columns {
		l := f.columns[at].leaf
		l.offset = uintptr(i) * unsafe.Sizeof("")
		leaves = append(leaves, l)
	}
	return f.file.readGroups(ctx, Selection{groups: func(group int) bool {
		wants := f.wants(group, s.Texts)
		if !wants && s.Passed != nil {
			s.Passed(f.file.file.RowGroups()[group].NumRows())
		}
		return wants
	}}, batch, func() ([]leaf, error) { return leaves, nil }, func(n int) error { return each(n, cell) })
}

// wants reports whether a row group may hold wanted rows.
func (f *Foreign) wants(group int, texts map[int]func(least, greatest string) bool) bool {
	for at, wants := range texts {
		l := f.columns[at].leaf
		if l.kind != parquet.ByteArray || l.read == nil {
			continue
		}
		chunk, ok := f.file.file.RowGroups()[group].ColumnChunks()[l.column].(*parquet.FileColumnChunk)
		if !ok {
			continue
		}
		least, greatest, known := chunk.Bounds()
		if known && !wants(string(least.ByteArray()), string(greatest.ByteArray())) {
			return false
		}
	}
	return true
}
