package scan

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// field is a column of a file, or an element of a list or field of a struct.
type field struct {
	arrow.Field
	levels   file.LevelInfo
	leaf     int      // index of the column chunk, if there are no children
	children []*field // the element of a list, or the fields of a struct
}

// foreign is the type of a column that our tables do not use, such as a nested
// struct.
type foreign string

func (f foreign) ID() arrow.Type               { return arrow.NULL }
func (f foreign) Name() string                 { return string(f) }
func (f foreign) String() string               { return string(f) }
func (f foreign) Fingerprint() string          { return "" }
func (f foreign) Layout() arrow.DataTypeLayout { return arrow.DataTypeLayout{} }

func fieldsOf(s *schema.Schema) []*field {
	fields := make([]*field, s.Root().NumFields())
	for i := range fields {
		fields[i] = fieldOf(s, s.Root().Field(i), file.LevelInfo{NullSlotUsage: 1})
	}
	return fields
}

func fieldOf(s *schema.Schema, n schema.Node, levels file.LevelInfo) *field {
	levels.Increment(n)
	f := &field{Field: arrow.Field{Name: n.Name(), Nullable: n.RepetitionType() == parquet.Repetitions.Optional}, levels: levels}
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		f.Type = foreign("repeated without a list")
		return f
	}
	group, ok := n.(*schema.GroupNode)
	if !ok {
		leaf := n.(*schema.PrimitiveNode)
		f.Type, f.leaf = leafType(leaf), s.ColumnIndexByNode(leaf)
		return f
	}
	if group.LogicalType().Equals(schema.NewListLogicalType()) {
		f.list(s, group)
	} else {
		f.structure(s, group)
	}
	return f
}

// list sets f to a list of three levels: group (LIST), repeated group, element. Any
// other form is foreign.
func (f *field) list(s *schema.Schema, n *schema.GroupNode) {
	f.Type = foreign("a list of another form")
	if n.NumFields() != 1 || n.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
		return
	}
	repeated, ok := n.Field(0).(*schema.GroupNode)
	if !ok || repeated.NumFields() != 1 {
		return
	}
	above := f.levels.IncrementRepeated()
	element := fieldOf(s, repeated.Field(0), f.levels)
	f.levels.RepeatedAncestorDefLevel = above
	if _, ok := element.Type.(*arrow.ListType); ok || element.Type.ID() == arrow.NULL {
		return
	}
	f.children = []*field{element}
	f.Type = arrow.ListOfField(element.Field)
}

// structure sets f to a struct that is never null and has flat fields. Any other
// form is foreign.
func (f *field) structure(s *schema.Schema, n *schema.GroupNode) {
	f.Type = foreign("a nested struct")
	var fields []arrow.Field
	for i := range n.NumFields() {
		child := fieldOf(s, n.Field(i), f.levels)
		if child.children != nil || child.Type.ID() == arrow.NULL {
			return
		}
		f.children, fields = append(f.children, child), append(fields, child.Field)
	}
	if !f.Nullable && len(fields) > 0 {
		f.Type = arrow.StructOf(fields...)
	}
}

// leafType returns the Arrow type of a column's values. Narrow integers have the
// width in which Parquet stores them.
func leafType(n *schema.PrimitiveNode) arrow.DataType {
	logical := n.LogicalType()
	none := logical == nil || logical.IsNone()
	number, isNumber := logical.(schema.IntLogicalType)
	switch n.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.Int32:
		switch {
		case isNumber && !number.IsSigned():
			return arrow.PrimitiveTypes.Uint32
		case isNumber || none:
			return arrow.PrimitiveTypes.Int32
		}
	case parquet.Types.Int64:
		if t, ok := logical.(schema.TimestampLogicalType); ok {
			return timestamp(t)
		}
		switch {
		case isNumber && !number.IsSigned():
			return arrow.PrimitiveTypes.Uint64
		case isNumber || none:
			return arrow.PrimitiveTypes.Int64
		}
	case parquet.Types.ByteArray:
		switch logical.(type) {
		case schema.StringLogicalType:
			return arrow.BinaryTypes.String
		case schema.EnumLogicalType, schema.JSONLogicalType:
			return arrow.BinaryTypes.Binary
		}
		if none {
			return arrow.BinaryTypes.Binary
		}
	}
	if none {
		return foreign(n.PhysicalType().String())
	}
	return foreign(logical.String())
}

func timestamp(t schema.TimestampLogicalType) arrow.DataType {
	unit, ok := map[schema.TimeUnitType]arrow.TimeUnit{
		schema.TimeUnitMillis: arrow.Millisecond, schema.TimeUnitMicros: arrow.Microsecond, schema.TimeUnitNanos: arrow.Nanosecond,
	}[t.TimeUnit()]
	if !ok {
		return foreign(t.String())
	}
	zone := ""
	if t.IsAdjustedToUTC() || t.IsFromConvertedType() {
		zone = "UTC"
	}
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}
}

// asDictionary returns the column with its texts as a dictionary.
func (f *field) asDictionary() *field {
	if f.Type.ID() != arrow.STRING {
		return f
	}
	with := *f
	with.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: f.Type}
	return &with
}
