package shred

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// field is a leaf of the schema and where rows keep its cells.
type field struct {
	kind   *kind
	goType reflect.Type
	offset uintptr // offset in the row, or in the element of a list
	list   *list   // nil if a row has one cell
	shares string  // name of the column whose dictionary it has, "" for its own
	other  *field  // the field of that column
}

// fieldsOf returns the schema with our types, and its leaves in their order. It
// returns nil if a row has a field of a kind that this package does not support.
func fieldsOf(row reflect.Type, schema *parquet.Schema) (parquet.Node, []*field) {
	var l leaves
	nodes, ok := l.ofStruct(schema.Fields(), row, nil)
	if !ok {
		return nil, nil
	}
	return record{schema, nodes}, l
}

// leaves are the leaves of a schema met so far.
type leaves []*field

// ofStruct returns the nodes of a struct with our types, which is a row or, with a
// list, an element of it. It reports whether all are supported.
func (l *leaves) ofStruct(nodes []parquet.Field, of reflect.Type, in *list) (wrapped []parquet.Field, ok bool) {
	if len(nodes) != of.NumField() {
		return nil, false // some field has no column
	}
	for i, node := range nodes {
		g := of.Field(i)
		f := field{goType: g.Type, offset: g.Offset, list: in, shares: g.Tag.Get("dictionary")}
		switch {
		case node.Leaf():
			node, ok = l.leaf(node, node.Name(), f)
		case g.Type.Kind() == reflect.Slice && in == nil:
			node, ok = l.list(node, f)
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
		wrapped = append(wrapped, node)
	}
	return wrapped, true
}

func (l *leaves) leaf(node parquet.Field, name string, f field) (parquet.Field, bool) {
	f.kind = &kind{Type: node.Type(), name: name, column: len(*l)}
	*l = append(*l, &f)
	ok := f.isSupported() && node.Optional() == (f.goType.Kind() == reflect.Pointer)
	if f.goType == reflect.TypeFor[int64]() {
		f.kind.longs = new(longs)
	}
	if f.kind.Kind() == parquet.ByteArray {
		ok = ok && node.Encoding() == &parquet.RLEDictionary
	}
	return leaf{node, f.kind}, ok
}

// list returns the three nodes of a list: LIST, its repeated group, and the element.
func (l *leaves) list(node parquet.Field, f field) (parquet.Field, bool) {
	if node.Optional() || len(node.Fields()) != 1 || len(node.Fields()[0].Fields()) != 1 {
		return nil, false
	}
	repeated := node.Fields()[0]
	element, of := repeated.Fields()[0], f.goType.Elem()
	in := &list{offset: f.offset, stride: of.Size()}
	ok := false
	switch {
	case element.Leaf():
		element, ok = l.leaf(element, node.Name(), field{goType: of, list: in, shares: f.shares})
	case of.Kind() == reflect.Struct && !element.Optional():
		var nodes []parquet.Field
		nodes, ok = l.ofStruct(element.Fields(), of, in)
		element = branch{element, nodes}
	}
	return branch{node, []parquet.Field{branch{repeated, []parquet.Field{element}}}}, ok
}

// shareDictionaries gives a column whose field is tagged dictionary:"name" the
// dictionary of the named column, which stands before it.
func shareDictionaries(fields []*field, codec compress.Codec) error {
	for i, f := range fields {
		if f.shares == "" {
			continue
		}
		j := slices.IndexFunc(fields[:i], func(g *field) bool { return g.kind.name == f.shares })
		if j < 0 || !f.isText() || !fields[j].isText() || fields[j].shares != "" {
			return fmt.Errorf("column %s cannot have the dictionary of %s: it needs a column before it with its own "+
				"dictionary, and texts that are not null in both", f.kind.name, f.shares)
		}
		f.other = fields[j]
		first := f.other.kind
		first.texts.shared = true
		f.kind.texts.texts = first.texts.texts
		if codec != nil && first.codec == nil {
			first.codec = &repeats{Codec: codec}
		}
		f.kind.codec = first.codec
	}
	return nil
}

func (f *field) isText() bool { return f.list == nil && f.goType == reflect.TypeFor[string]() }

func (f *field) isSupported() bool {
	switch reflect.Zero(f.goType).Interface().(type) {
	case string, *string, int32, *int32:
		return true
	case int64, *int64, bool, *bool, *float64:
		return f.list == nil
	case time.Time, *time.Time:
		unit := f.kind.LogicalType()
		return (f.list == nil || f.goType.Kind() != reflect.Pointer) && unit != nil && unit.String() == microseconds
	}
	return false
}

// microseconds is the only unit of time that this package writes.
var microseconds = parquet.Timestamp(parquet.Microsecond).Type().LogicalType().String()

// column returns the column that the field's cells are written to.
func (f *field) column(w *parquet.ColumnWriter) shred {
	k := f.kind
	c := shred{name: k.name, offset: f.offset}
	if f.list != nil {
		c.offset, c.write = f.list.offset, listed(w, f)
		return c
	}
	switch reflect.Zero(f.goType).Interface().(type) {
	case string:
		c.write = func(c cells) error { return requiredTexts(w, k.texts, c) }
		if other := f.other; other == nil && !k.texts.shared {
			c.each = eachText(w, k.texts)
		} else if other != nil {
			c.write = sharedTexts(w, k.texts, other.kind.texts, int(f.offset)-int(other.offset))
		}
	case *string:
		c.write = nullableTexts(w, k)
	case int64:
		c.write = requiredLongs(w, k.longs)
	case *int64:
		c.write = nullable(w, k, k.buffer.(parquet.Int64Writer).WriteInt64s)
	case int32:
		c.write = required(w, k.buffer.(parquet.Int32Writer).WriteInt32s)
	case *int32:
		c.write = nullable(w, k, k.buffer.(parquet.Int32Writer).WriteInt32s)
	case bool:
		c.write = required(w, k.buffer.(parquet.BooleanWriter).WriteBooleans)
	case *bool:
		c.write = nullable(w, k, k.buffer.(parquet.BooleanWriter).WriteBooleans)
	case *float64:
		c.write = nullable(w, k, k.buffer.(parquet.DoubleWriter).WriteDoubles)
	case time.Time:
		c.write = required(w, micros(k))
	case *time.Time:
		c.write = nullable(w, k, micros(k))
	}
	return c
}

// micros returns a function that adds times to a column, in microseconds.
func micros(k *kind) func([]time.Time) (int, error) {
	add, values := k.buffer.(parquet.Int64Writer).WriteInt64s, make([]int64, 0, batchRows)
	return func(times []time.Time) (int, error) {
		values = values[:0]
		for _, t := range times {
			values = append(values, t.UnixMicro())
		}
		return add(values)
	}
}
