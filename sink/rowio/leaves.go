package rowio

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/schema"
)

// A leaf is a column, and the field that it fills.
type leaf struct {
	path   string // of the column in the schema, such as hops.list.element.url
	offset uintptr
	goType reflect.Type
	list   *listField // nil if a row has one cell
	maybe  bool       // a file may lack the column

	// Of a file:
	column         int // -1 if the file lacks it
	kind           parquet.Kind
	maxDef, maxRep int

	// Of a row group:
	skips   *skips  // nil if all pages are read
	bounds  *bounds // nil if values are not compared with them
	bounded bool    // whether they are

	// read reads the column of a file of another writer; nil for one of a table.
	read func(leaf, *parquet.FileColumnChunk) column
}

// A listField is a field that holds a list.
type listField struct {
	offset  uintptr
	element reflect.Type
}

// name returns the name of the column that the leaf is part of.
func (l *leaf) name() string {
	name, _, _ := strings.Cut(l.path, ".")
	return name
}

func (l *leaf) damaged(err error) error {
	return fmt.Errorf("damaged Parquet: column %s: %w", l.name(), err)
}

var known sync.Map // []leaf by reflect.Type

// leavesOf returns the columns of a row type, in the order of its fields.
func leavesOf(row reflect.Type) []leaf {
	if out, ok := known.Load(row); ok {
		return out.([]leaf)
	}
	var out []leaf
	for i := range row.NumField() {
		out = append(out, leavesOfField(row.Field(i))...)
	}
	known.Store(row, out)
	return out
}

// leavesOfField returns the columns of a field. It panics for a type that no table has: a
// row type is code.
func leavesOfField(g reflect.StructField) (out []leaf) {
	name := tagName(g)
	maybe := g.Tag.Get("rowio") == "maybe"
	if g.Type.Kind() != reflect.Slice || g.Type.Elem().Kind() == reflect.Uint8 {
		mustFill(g.Type)
		return []leaf{{path: name, offset: g.Offset, goType: g.Type, maybe: maybe}}
	}
	in := &listField{g.Offset, g.Type.Elem()}
	path := name + ".list.element"
	if e := in.element; e.Kind() == reflect.Struct && e != reflect.TypeFor[time.Time]() {
		for i := range e.NumField() {
			inner := e.Field(i)
			mustFill(inner.Type)
			path := path + "." + tagName(inner)
			out = append(out, leaf{path: path, offset: inner.Offset, goType: inner.Type, list: in, maybe: maybe})
		}
		return out
	}
	mustFill(in.element)
	return []leaf{{path: path, goType: in.element, list: in, maybe: maybe}}
}

func tagName(g reflect.StructField) string {
	name := schema.ColumnOf(g)
	if name == "" {
		panic("rowio: field " + g.Name + " has no tag parquet with the name of its column")
	}
	return name
}

func mustFill(t reflect.Type) {
	if _, ok := kinds[pointed(t)]; !ok {
		panic("rowio: a field of type " + t.String())
	}
}

// kinds are the types of fields, each with that of its column.
var kinds = map[reflect.Type]parquet.Kind{
	reflect.TypeFor[string](): parquet.ByteArray, reflect.TypeFor[[]byte](): parquet.ByteArray,
	reflect.TypeFor[int64](): parquet.Int64, reflect.TypeFor[int32](): parquet.Int32,
	reflect.TypeFor[bool](): parquet.Boolean, reflect.TypeFor[float64](): parquet.Double,
	reflect.TypeFor[time.Time](): parquet.Int64,
}

func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// leaves returns the leaves that are read, with their columns in the file.
func (f *File) leaves(of []leaf, columns []string, partial bool) ([]leaf, error) {
	of = slices.Clone(of)
	var faults []string // in one line
	var missing []string
	for i := range of {
		l := &of[i]
		if columns != nil && !slices.Contains(columns, l.name()) {
			l.column = -1
			continue
		}
		has, ok := f.file.Schema().Lookup(strings.Split(l.path, ".")...)
		switch {
		case !ok && (l.maybe || partial) && !f.Has(l.name()):
			l.column = -1
			continue
		case !ok && !f.Has(l.name()):
			if !slices.Contains(missing, l.name()) {
				missing = append(missing, l.name())
			}
			continue
		case !ok:
			faults = append(faults, l.otherType())
			continue
		}
		l.column, l.kind = has.ColumnIndex, has.Node.Type().Kind()
		l.maxDef, l.maxRep = has.MaxDefinitionLevel, has.MaxRepetitionLevel
		lists, nullable := 0, 0
		if l.list != nil {
			lists = 1
		}
		if l.goType.Kind() == reflect.Pointer {
			nullable = 1
		}
		if l.kind != kinds[pointed(l.goType)] || !isTime(l.goType, has.Node) ||
			l.maxRep != lists || l.maxDef < lists || l.maxDef > lists+nullable {
			faults = append(faults, l.otherType())
		}
	}
	if len(missing) > 0 {
		faults = append(faults, "has no column "+strings.Join(missing, ", "))
	}
	if len(faults) > 0 {
		return nil, errors.New(strings.Join(slices.Compact(faults), "; "))
	}
	return of, nil
}

func (l *leaf) otherType() string {
	return fmt.Sprintf("damaged Parquet: column %s is not of the type that the table has", l.name())
}

// isTime reports whether a column holds times in microseconds, if that is what a field holds.
func isTime(t reflect.Type, column parquet.Node) bool {
	if pointed(t) != reflect.TypeFor[time.Time]() {
		return true
	}
	unit := column.Type().LogicalType()
	return unit != nil && unit.String() == microseconds
}

// microseconds is the only unit of time that tables have.
var microseconds = parquet.Timestamp(parquet.Microsecond).Type().LogicalType().String()
