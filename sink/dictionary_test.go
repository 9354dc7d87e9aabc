package sink

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
)

var update = flag.Bool("update", false, "write the data dictionary anew")

// The data dictionary agrees with the row types and their comments.
func TestDictionaryIsCurrent(t *testing.T) {
	got := dictionaryText
	for _, name := range append(slices.Clone(schema.TableNames), layout.Changes, "series") {
		head := "## `" + name + "`\n"
		before, rest, ok := strings.Cut(got, head)
		text, columns, ok2 := strings.Cut(rest, columnsHead)
		if !ok || !ok2 {
			t.Fatalf("README.md has no section for %s, or no table in it", name)
		}
		_, after, _ := strings.Cut("\n"+columns, "\n\n") // a new section has no columns yet
		var made strings.Builder
		for _, c := range columnsOf(t, schema.Describe(name).Row().Name()) {
			fmt.Fprintf(&made, "| `%s` | %s | %s |\n", c.Column, c.Type, c.Meaning)
		}
		got = before + head + text + columnsHead + made.String() + "\n" + after
	}
	if *update {
		must(t, os.WriteFile("README.md", []byte(got), 0o666))
		return
	}
	if diff := cmp.Diff(dictionaryText, got); diff != "" {
		t.Errorf("README.md is not current (-README.md +package schema); go test ./sink -run Dictionary -update "+
			"writes it anew:\n%s", diff)
	}
}

// declarations returns the types of package schema.
func declarations(t *testing.T) map[string]*ast.TypeSpec {
	t.Helper()
	names, err := filepath.Glob("schema/*.go")
	must(t, err)
	found := make(map[string]*ast.TypeSpec)
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				found[s.Name.Name] = s
			}
			return true
		})
	}
	return found
}

// columnsOf reads a row type.
func columnsOf(t *testing.T, name string) (docs []ColumnDoc) {
	t.Helper()
	for _, field := range declarations(t)[name].Type.(*ast.StructType).Fields.List {
		column, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("parquet"), ",")
		text := strings.Join(strings.Fields(field.Doc.Text()), " ")
		_, nullable := field.Type.(*ast.StarExpr)
		if says := strings.Contains(text, "Null ") || strings.HasPrefix(text, "As in "); nullable && !says || !nullable &&
			strings.Contains(text, "Null ") {
			t.Errorf("%s.%s: is it null? its comment says %q", name, column, text)
		}
		if text == "" || strings.Contains(text, " | ") {
			t.Errorf("%s.%s has the comment %q", name, column, text)
		}
		docs = append(docs, ColumnDoc{Column: column, Type: columnType(t, field.Type), Meaning: text})
	}
	return docs
}

func columnType(t *testing.T, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return columnType(t, e.X) + ", nullable"
	case *ast.ArrayType:
		switch element := e.Elt.(*ast.Ident).Name; element {
		case "byte":
			return "BLOB"
		case "Hop":
			return "LIST<STRUCT<url STRING, status INT32>>"
		case "HeaderLine":
			return "LIST<STRUCT<name STRING, value STRING>>"
		case "Seen":
			return "LIST<STRUCT<since TIMESTAMP, kind STRING, redirects INT32>>"
		default:
			return "LIST<" + columnType(t, e.Elt) + ">"
		}
	case *ast.SelectorExpr:
		return "TIMESTAMP"
	case *ast.Ident:
		if kind, ok := map[string]string{"string": "STRING", "int64": "INT64", "int32": "INT32", "bool": "BOOLEAN",
			"float64": "DOUBLE"}[e.Name]; ok {
			return kind
		}
	}
	t.Fatalf("no column type for %T", e)
	return ""
}

// The dictionary has every column of every table, in order.
func TestDictionaryHasEveryColumn(t *testing.T) {
	if *update {
		t.Skip("this binary has the README.md from before")
	}
	of := make(map[string][]string)
	for _, d := range Dictionary() {
		of[d.Table] = append(of[d.Table], d.Column)
	}
	for _, table := range append(schema.TableNames, layout.Changes, "series") {
		schema, err := Schema(table)
		must(t, err)
		var want []string
		for _, f := range schema.Fields() {
			want = append(want, f.Name)
		}
		if diff := cmp.Diff(want, of[table]); diff != "" {
			t.Errorf("%s (-table +dictionary):\n%s", table, diff)
		}
	}
	if len(of) != len(schema.TableNames)+2 {
		t.Errorf("the dictionary has %d tables, and there are %d: %v", len(of), len(schema.TableNames)+2, schema.TableNames)
	}
}
