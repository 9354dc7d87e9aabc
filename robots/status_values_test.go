package robots

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// The lists of enumerated values hold every exported constant of their type.
func TestListsOfValuesAreWhole(t *testing.T) {
	file, err := goparser.ParseFile(token.NewFileSet(), "status.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := make(map[string][]string)
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			of, _ := v.Type.(*ast.Ident)
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if of == nil || err != nil {
				t.Fatalf("%s has no type or no text", v.Names[0])
			}
			constants[of.Name] = append(constants[of.Name], text)
		}
	}
	for name, list := range map[string][]string{
		"ErrorClass": list(ErrorClasses[:]), "Outcome": list(Outcomes[:]), "AnswerReason": list(AnswerReasons[:]),
	} {
		if !slices.Equal(list, constants[name]) {
			t.Errorf("%s: the list is %v, and the constants are %v", name, list, constants[name])
		}
	}
}

func list[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
