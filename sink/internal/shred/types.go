package shred

import (
	"bytes"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/format"
)

// The types through which parquet-go reads a column's cells from us. Its interfaces
// have unexported methods, for its own writing of rows; our types get them by
// embedding a value of parquet-go, which stays empty.

// record, branch and leaf are the nodes of a schema with columns of our types.
type record struct {
	parquet.Node
	fields []parquet.Field
}

func (r record) Fields() []parquet.Field { return r.fields }

// branch is a node within a record, such as a list.
type branch struct {
	parquet.Field
	fields []parquet.Field
}

func (b branch) Fields() []parquet.Field { return b.fields }

type leaf struct {
	parquet.Field
	kind *kind
}

func (l leaf) Type() parquet.Type { return l.kind }

// Encoding returns the delta encoding for integers: rows are ordered by seq and line,
// and repeat them. It makes the table verdicts a quarter of the size.
func (l leaf) Encoding() encoding.Encoding {
	if k := l.kind.Kind(); k == parquet.Int64 || k == parquet.Int32 {
		return &parquet.DeltaBinaryPacked
	}
	return l.Field.Encoding()
}

func (l leaf) Compression() compress.Codec {
	if l.kind.codec == nil {
		return l.Field.Compression()
	}
	return l.kind.codec
}

// repeats is the codec of columns that share a dictionary. It keeps the last page, and
// does not compress an equal one again. It serves one writer.
type repeats struct {
	compress.Codec
	page, compressed []byte
}

func (r *repeats) Encode(dst, page []byte) ([]byte, error) {
	if r.compressed != nil && bytes.Equal(page, r.page) {
		dst = append(dst[:0], r.compressed...)
		if len(page) > smallPage {
			r.page, r.compressed = nil, nil
		}
		return dst, nil
	}
	compressed, err := r.Codec.Encode(r.compressed, page)
	if err != nil {
		r.compressed = nil
		return dst, err
	}
	r.page, r.compressed = append(r.page[:0], page...), compressed
	return append(dst[:0], compressed...), nil
}

// kind is the type of a column of one writer. It keeps the buffer that parquet-go
// creates for the column.
type kind struct {
	parquet.Type
	name   string
	column int
	texts  *textColumn    // nil if the column does not hold texts
	longs  *longs         // nil if it does not hold integers that are not null
	codec  compress.Codec // nil for that of the file
	buffer parquet.ColumnBuffer
}

func (k *kind) NewColumnBuffer(column, _ int) parquet.ColumnBuffer {
	k.buffer = k.Type.NewColumnBuffer(column, 0) // grows: most columns never fill a page
	switch {                                     // the buffer stays empty
	case k.texts != nil:
		k.buffer = buffer{k.buffer, k}
	case k.longs != nil:
		k.buffer = longBuffer{k.buffer, k.longs}
	}
	return filled{k.buffer}
}

func (k *kind) NewDictionary(column, values int, data encoding.Values) parquet.Dictionary {
	return dictionary{k.Type.NewDictionary(column, values, data), k}
}

// filled is a buffer that already has its cells when parquet-go writes the
// definition levels.
type filled struct{ parquet.ColumnBuffer }

func (filled) WriteValues(values []parquet.Value) (int, error) { return len(values), nil }

// buffer is the buffer of a column of texts.
type buffer struct {
	parquet.ColumnBuffer
	kind *kind
}

func (b buffer) Len() int    { return b.kind.texts.count() }
func (b buffer) Size() int64 { return 4 * int64(b.kind.texts.count()) }
func (b buffer) Reset()      { b.kind.texts.empty() }

func (b buffer) Page() parquet.Page {
	k := b.kind
	numbered := k.Type.NewDictionary(k.column, k.texts.len(), k.texts.all()).Type()
	return textPage{numbered.NewPage(k.column, 0, encoding.Int32Values(nil)), k.texts}
}

// dictionary is the dictionary of a column of texts.
type dictionary struct {
	parquet.Dictionary
	kind *kind
}

func (d dictionary) Type() parquet.Type { return d.kind }
func (d dictionary) Len() int           { return d.kind.texts.len() }
func (d dictionary) Size() int64        { return int64(len(d.kind.texts.values)) }
func (d dictionary) Reset()             { d.kind.texts.forget() }

func (d dictionary) Page() parquet.Page {
	return dictionaryPage{d.kind.Type.NewPage(d.kind.column, d.kind.texts.len(), d.kind.texts.all())}
}

// dictionaryPage is the page with the texts of a dictionary.
type dictionaryPage struct{ parquet.Page }

func (p dictionaryPage) Type() parquet.Type { return roomy{p.Page.Type()} }

// roomy is a type that makes room for all texts before it encodes them: parquet-go appends
// them one by one, and leaves several times their memory behind.
type roomy struct{ parquet.Type }

func (r roomy) Encode(dst []byte, texts encoding.Values, as encoding.Encoding) ([]byte, error) {
	if as.Encoding() == format.Plain { // not a Bloom filter, which dst holds
		values, offsets := texts.ByteArray()
		dst = slices.Grow(dst[:0], len(values)+plain.ByteArrayLengthSize*len(offsets))
	}
	return r.Type.Encode(dst, texts, as)
}
