package shred

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// What parquet-go asks of a schema to have a column's cells from us. Its
// interfaces hold methods that only parquet-go can write, for its own way with
// rows; they are had by embedding one of its own, which stays empty.

// record and leaf are the nodes of a schema whose columns are of our types.
type record struct {
	parquet.Node
	fields []parquet.Field
}

func (r record) Fields() []parquet.Field { return r.fields }

type leaf struct {
	parquet.Field
	kind *kind
}

func (l leaf) Type() parquet.Type { return l.kind }

// Encoding is by differences for whole numbers: rows stand in the order of seq
// and line, and repeat them. The verdicts are a quarter of the size for it.
func (l leaf) Encoding() encoding.Encoding {
	if k := l.kind.Kind(); k == parquet.Int64 || k == parquet.Int32 {
		return &parquet.DeltaBinaryPacked
	}
	return l.Field.Encoding()
}

// kind is the type of one column of one writer. It keeps the buffer that is
// made for the column.
type kind struct {
	parquet.Type
	column int
	texts  *texts // nil for a column of something else
	buffer parquet.ColumnBuffer
}

func (k *kind) NewColumnBuffer(column, values int) parquet.ColumnBuffer {
	k.buffer = k.Type.NewColumnBuffer(column, values)
	if k.texts != nil {
		k.buffer = buffer{k.buffer, k}
	}
	return filled{k.buffer}
}

func (k *kind) NewDictionary(column, values int, data encoding.Values) parquet.Dictionary {
	return dictionary{k.Type.NewDictionary(column, values, data), k}
}

// filled is a buffer that has its cells already when parquet-go is told which
// rows have one.
type filled struct{ parquet.ColumnBuffer }

func (filled) WriteValues(values []parquet.Value) (int, error) { return len(values), nil }

// buffer shows the cells of a column of texts.
type buffer struct {
	parquet.ColumnBuffer
	kind *kind
}

func (b buffer) Len() int    { return len(b.kind.texts.cells) }
func (b buffer) Size() int64 { return 4 * int64(len(b.kind.texts.cells)) }
func (b buffer) Reset()      { b.kind.texts.cells = b.kind.texts.cells[:0] }

func (b buffer) Page() parquet.Page {
	k := b.kind
	numbered := k.Type.NewDictionary(k.column, k.texts.len(), k.texts.all()).Type()
	return numbered.NewPage(k.column, len(k.texts.cells), encoding.Int32Values(k.texts.cells))
}

// dictionary shows the distinct texts of a column.
type dictionary struct {
	parquet.Dictionary
	kind *kind
}

func (d dictionary) Type() parquet.Type { return d.kind }
func (d dictionary) Len() int           { return d.kind.texts.len() }
func (d dictionary) Size() int64        { return int64(len(d.kind.texts.values)) }
func (d dictionary) Reset()             { d.kind.texts.forget() }

func (d dictionary) Page() parquet.Page {
	return d.kind.Type.NewPage(d.kind.column, d.kind.texts.len(), d.kind.texts.all())
}
