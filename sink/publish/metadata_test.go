package publish

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
)

// A word that Markdown and BibTeX write on one line has no line break; a folded text
// ends with one.
func TestWordsOnOneLine(t *testing.T) {
	w, err := ParseMetadata("w.yaml", []byte("title: >\n  Census of\n  2026\ncreators: [' Doe, Jane ']\ndescription: |\n"+
		"  One.\n\n  Two.\n"))
	if err != nil || w.Title != "Census of 2026" || w.Creators[0] != "Doe, Jane" || w.Description != "One.\n\nTwo." {
		t.Errorf("%+v, %v", w, err)
	}
	for text, line := range map[string]int64{
		"licence: x\ntitle: \"a\\n# b\"\n": 2,
		"creators:\n- Doe\n- \"a\\rb\"\n":  3,
		"keywords: [\"a\\u2028b\"]\n":      1,
		"version: |\n  1\n  2\n":           1,
	} {
		var bad *userfile.Error
		if _, err := ParseMetadata("w.yaml", []byte(text)); !errors.As(err, &bad) || bad.Line != line {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
}

// Braces of words do not end a field of BibTeX.
func TestBibTeXOfBraces(t *testing.T) {
	w := &Metadata{Title: "Sets } of {{ 100 % & \\more", Creators: []string{"Doe}, Jane", "A and B_{"},
		Date: "2026-11-20", Version: "1}", URL: "https://example.org/{a}"}
	text := w.bibtex()
	open := 0
	for i, c := range text {
		if c == '{' {
			open++
		} else if c == '}' {
			open--
		}
		if open < 1 && i < len(text)-1 && i >= len("@misc{") || open > 3 {
			t.Fatalf("%s: braces at %d", text, i)
		}
	}
	if open != 0 {
		t.Errorf("%s: %d braces are open", text, open)
	}
	for _, want := range []string{`author = {Doe\textbraceright , Jane and {A and B\_\textbraceleft }}`,
		`100 \% \& \textbackslash more}`, "url = {https://example.org/%7Ba%7D}"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

// A creator is a name, or has more; an ORCID is checked by its last digit.
func TestCreators(t *testing.T) {
	w, err := ParseMetadata("w.yaml",
		[]byte("creators:\n- {name: ' Doe, Jane ', orcid: 0000-0002-1694-233X, affiliation: U}\n- A & B\n- {name: C}\n"))
	if want := (map[string]Maker{"Doe, Jane": {"0000-0002-1694-233X", "U"}}); err != nil || !maps.Equal(w.Makers, want) ||
		!slices.Equal(w.Creators, []string{"Doe, Jane", "A & B", "C"}) {
		t.Errorf("%+v, %v", w, err)
	}
	for text, line := range map[string]int64{
		"creators:\n- A\n- {orcid: 0000-0002-1825-0097}\n": 3, "creators:\n- {name: A, orchid: x}\n": 2,
		"creators:\n- {name: A, affiliation: \"a\\nb\"}\n": 2, "creators:\n- {name: [A]}\n": 2,
		"publisher: \"a\\nb\"\n": 1, "funding: [\"a\\nb\"]\n": 1,
	} {
		var bad *userfile.Error
		if _, err := ParseMetadata("w.yaml", []byte(text)); !errors.As(err, &bad) || bad.Line != line {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
	for text, want := range map[string]bool{
		"0000-0002-1825-0097": true, "0000-0002-1694-233X": true, "0000-0002-1825-0098": false, "0000-0002-1694-2330": false,
		"0000000218250097": false, "https://orcid.org/0000-0002-1825-0097": false, "0000-0002-1825-009": false,
	} {
		if isORCID(text) != want {
			t.Errorf("%s is an ORCID: %v", text, !want)
		}
	}
}

// The questions without an answer stay in sight.
func TestOpenQuestions(t *testing.T) {
	if open := (&Answers{Ethics: "None.", Uses: "Research."}).Open(); !slices.Equal(open,
		[]string{"motivation", "maintenance"}) {
		t.Errorf("%q are open", open)
	}
}
