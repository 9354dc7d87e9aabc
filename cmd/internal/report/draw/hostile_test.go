package draw

import (
	"encoding/base64"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/visible"
)

// Every text of a page may be a stranger's: also one that no figure of today takes from data.
func TestNoTextOfAPageControlsATerminal(t *testing.T) {
	const hostile = "x\x1b[31m\u202ey\r\u009bz"
	p := &Page{Sections: []Section{{Figures: []*Figure{{Columns: new(columns), Multiples: []*Multiple{{}}, Heat: new(Heat),
		Examples: new(Listed)}}}}}
	fillTexts(reflect.ValueOf(p), hostile)
	f := p.Sections[0].Figures[0]
	f.Head, f.Rows = []string{hostile, "\n=" + hostile}, [][]string{{hostile, hostile}}
	out, err := p.Render()
	if err != nil {
		t.Fatal(err)
	}
	documents := []string{string(out)}
	for _, copied := range regexp.MustCompile(`href="data:[^,"]*;base64,([^"]+)"`).FindAllSubmatch(out, -1) {
		content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(copied[1]), "&#43;", "+"))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(content))
	}
	if len(documents) != 3 {
		t.Fatalf("%d documents, want the page, a drawing and numbers", len(documents))
	}
	for i, text := range documents {
		if strings.Count(text, `\u001b[31m`) < 2 {
			t.Errorf("document %d shows few of the texts: the test has missed them", i)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); visible.Text(line) != line {
				t.Errorf("document %d has the line %.200q", i, line)
			}
		}
	}
}

// fillTexts sets every text below a value, with one element in each list of texts or structs.
func fillTexts(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillTexts(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillTexts(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.CanSet() && v.Type().Elem().Kind() != reflect.Pointer {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fillTexts(v.Index(i), text)
		}
	case reflect.String:
		v.SetString(text)
	}
}
