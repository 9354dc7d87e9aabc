package shred

import (
	"bytes"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// Readers skip row groups and pages whose bounds exclude what they look for, so each
// bound must hold: the format has no word for an unknown one (parquet.thrift,
// ColumnIndex), and engines such as ClickHouse, Spark and Trino believe an empty text.
// It may be shorter than the least or greatest value, if it is a valid value of the
// column. parquet-go shortens bounds in the index alone, not in the footer, and in the
// middle of a character.

// boundBytes is the most bytes of a bound, unless there is no shorter one. It leaves
// agents, classes and most hosts whole.
const boundBytes = 32

// Bounds returns options for a writer of rows of this schema: row groups and pages have
// bounds of a few bytes, also where a value is long, such as a body. Pages have the version
// of those of all tables.
func Bounds(schema *parquet.Schema) []parquet.WriterOption {
	fields := boundedFields(schema)
	return append(ofPages(schema), parquet.NewSchema(schema.Name(), record{schema, fields}))
}

// ofPages keeps parquet-go from shortening bounds that are short already, and
// from repeating them in the headers of pages. It chooses the version of pages.
func ofPages(schema *parquet.Schema) []parquet.WriterOption {
	options := []parquet.WriterOption{parquet.ColumnIndexSizeLimit(func([]string) int { return 0 })}
	if !hasLists(schema) {
		options = append(options, parquet.DataPageVersion(1))
	}
	for _, path := range schema.Columns() {
		if column, _ := schema.Lookup(path...); column.Node.Type().Kind() == parquet.ByteArray {
			options = append(options, parquet.SkipPageStatistics(path...))
		}
	}
	return options
}

// hasLists reports whether rows have lists. Their pages are of version 2, which begin with a row.
// Those of version 1 have levels that are compressed with the cells: of verdicts, where nulls
// repeat with the rows of other agents, levels would take two thirds of the table.
func hasLists(node parquet.Node) bool {
	return node.Repeated() || slices.ContainsFunc(node.Fields(), func(f parquet.Field) bool { return hasLists(f) })
}

func boundedFields(node parquet.Node) (fields []parquet.Field) {
	for _, f := range node.Fields() {
		switch {
		case !f.Leaf():
			f = branch{f, boundedFields(f)}
		case f.Type().Kind() == parquet.ByteArray:
			f = boundedLeaf{f, bounded{f.Type()}}
		}
		fields = append(fields, f)
	}
	return fields
}

type boundedLeaf struct {
	parquet.Field
	of bounded
}

func (l boundedLeaf) Type() parquet.Type { return l.of }

// bounded is the type of a column whose pages have short bounds.
type bounded struct{ parquet.Type }

func (b bounded) NewColumnBuffer(column, values int) parquet.ColumnBuffer {
	return boundedBuffer{b.Type.NewColumnBuffer(column, values)}
}

func (b bounded) NewDictionary(column, values int, data encoding.Values) parquet.Dictionary {
	return boundedDictionary{b.Type.NewDictionary(column, values, data)}
}

type boundedDictionary struct{ parquet.Dictionary }

func (d boundedDictionary) Type() parquet.Type { return bounded{d.Dictionary.Type()} }

type boundedBuffer struct{ parquet.ColumnBuffer }

func (b boundedBuffer) Clone() parquet.ColumnBuffer { return boundedBuffer{b.ColumnBuffer.Clone()} }
func (b boundedBuffer) Page() parquet.Page          { return boundedPage{b.ColumnBuffer.Page()} }

type boundedPage struct{ parquet.Page }

func (p boundedPage) Bounds() (least, greatest parquet.Value, ok bool) {
	least, greatest, ok = p.Page.Bounds()
	if ok {
		least, greatest = boundsOf(least.ByteArray(), greatest.ByteArray(), p.Type().LogicalType() != nil)
	}
	return least, greatest, ok
}

func boundsOf(least, greatest []byte, isText bool) (lower, upper parquet.Value) {
	return parquet.ByteArrayValue(lowerBound(least, isText)), parquet.ByteArrayValue(upperBound(greatest, isText))
}

// textPage is a page of texts of a column. The page of parquet-go is empty.
type textPage struct {
	parquet.Page
	texts *textColumn
}

func (p textPage) Type() parquet.Type { return numbers{p.Page.Type(), p.texts} }
func (p textPage) NumRows() int64     { return int64(p.texts.count()) }
func (p textPage) NumValues() int64   { return int64(p.texts.count()) }

func (p textPage) Bounds() (least, greatest parquet.Value, ok bool) {
	if len(p.texts.cells) == 0 {
		return parquet.Value{}, parquet.Value{}, false
	}
	first, last := p.texts.extremes()
	least, greatest = boundsOf(first, last, true)
	return least, greatest, true
}

// extremes returns the least and the greatest text of the cells. There must be one.
func (t *textColumn) extremes() (least, greatest []byte) {
	least = t.text(t.cells[0])
	greatest = least
	for i, word := range t.seen {
		for ; word != 0; word &= word - 1 {
			switch text := t.text(int32(64*i + bits.TrailingZeros64(word))); {
			case bytes.Compare(text, least) < 0:
				least = text
			case bytes.Compare(text, greatest) > 0:
				greatest = text
			}
		}
	}
	return least, greatest
}

// lowerBound returns a value that is not greater than any value from v on: v, or its
// beginning. Of a text it cuts no character.
func lowerBound(v []byte, isText bool) []byte {
	if len(v) <= boundBytes {
		return v
	}
	end := boundBytes
	for isText && end > 0 && !utf8.RuneStart(v[end]) {
		end--
	}
	return v[:end]
}

// upperBound returns a value that is not less than any value up to v: v, or its
// beginning with the last character, or byte, replaced by the next. It is long if v
// begins with nothing but the greatest character, or byte.
func upperBound(v []byte, isText bool) []byte {
	begin := lowerBound(v, isText)
	if len(begin) == len(v) {
		return v
	}
	for len(begin) > 0 {
		if !isText {
			last := len(begin) - 1
			if b := begin[last]; b < 0xFF {
				return append(slices.Clone(begin[:last]), b+1)
			}
			begin = begin[:last]
			continue
		}
		r, n := utf8.DecodeLastRune(begin)
		begin = begin[:len(begin)-n]
		switch {
		case r == 0xD7FF:
			r = 0xE000 // between them are surrogates, not characters
		case r == utf8.MaxRune || r == utf8.RuneError && n == 1:
			continue
		default:
			r++
		}
		return utf8.AppendRune(slices.Clone(begin), r)
	}
	return v
}
