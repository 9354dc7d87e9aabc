package userfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d: 1\n", i)
		}
		return b.String()
	}
	laughs := "a0: &a0 [x]\n"
	for i := 1; i < 20; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1)
	}
	for _, row := range []struct{ name, text, err string }{
		{"a document", "a: 1\n", ""},
		{"empty", "", ""},
		{"comments alone", "# a\n", ""},
		{"one that begins and ends with a mark", "---\na: 1\n...\n", ""},
		{"a second document", "a: 1\n---\nb: 1\n", "f:2: begins a second document (after ---); keep all in one"},
		{"a second one that is empty", "a: 1\n---\n", "f:2: begins a second document"},
		{"a second one that is damaged", "a: 1\n---\nb: [\n", "f:3: "},
		{"no YAML", "a: [\n", "f:1: did not find expected node content"},
		{"as many keys as may be", many(maxKeys), ""},
		{"300,000 keys", many(300_000), "f:1: 300000 keys here; at most 10000 are allowed"},
		{"too many keys below", "profiles:\n" + strings.ReplaceAll(" "+many(maxKeys+1), "\nk", "\n k"),
			"f:2: 10001 keys here"},
		{"aliases of aliases", laughs, "holds more than 2000000 values"},
		{"an anchor that holds itself", "a: &a [*a]\n", "the value of this anchor holds itself"},
		{"large", strings.Repeat("# comment\n", 2<<20), "is larger than 16 MiB"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root, err := Parse("f", []byte(row.text))
			if err == nil && root != nil {
				err = Decode("f", root, new(any))
			}
			if err == nil != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("error %v, want %q", err, row.err)
			}
		})
	}
}

type (
	statuses []string
	kind     string
)

func TestDecodeNamesNoType(t *testing.T) {
	for text, want := range map[string]string{
		"w: [a]":                    "f:1: expected a word, got a list",
		"b: maybe":                  "f:1: expected true or false, got `maybe`",
		"n: x":                      "f:1: expected a whole number, got `x`",
		"l: a":                      "f:1: expected a list, got `a`",
		"l: {a: b}":                 "f:1: expected a list, got keys and values",
		"s: any":                    "f:1: expected a list, got `any`",
		"f: x":                      "f:1: expected a number, got `x`",
		"k: [a]":                    "f:1: expected a word, got a list",
		"t: [{k: {a: b}}]":          "f:1: expected a word, got keys and values",
		"t: [{k: a},\n x]":          "f:2: expected `key: value` pairs, got `x`",
		"[a]":                       "f:1: expected `key: value` pairs, got a list",
		"w: a\nw: b":                `f:2: mapping key "w" already defined at line 1`,
		"w: a\nb: 1\n":              "f:2: expected true or false, got `1`",
		"n: 9999999999999999999999": "f:1: expected a whole number, got `9999999...`",
	} {
		root, err := Parse("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var into struct {
			W string
			B bool
			N int
			F float64
			L []string
			S statuses
			K kind
			T []struct{ K kind }
		}
		if err := Decode("f", root, &into); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// What is no YAML is told by its line, and a tab by its name.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"\ta: 1\n":           "f:1: is indented by a tab; use spaces",
		"a:\n  b: 1\n\tc: 2": "f:3: is indented by a tab; use spaces",
		"a: }":               "f:1: did not find expected node content",
	} {
		if _, err := Parse("f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a: &a [x, *a]\n---\nb: 1"))
	f.Add([]byte("a: 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := Parse("f", text)
		if err == nil && root != nil {
			var into any
			Decode("f", root, &into)
		}
	})
}

// Each entry of a list has the keys of its type, those of structs inline too. An error about
// an entry has its line, unless it has one of its own.
func TestEach(t *testing.T) {
	type common struct {
		Name string `yaml:"name"`
	}
	type entry struct {
		common `yaml:",inline"`
		N      int `yaml:"n"`
		Unread int `yaml:"-"`
	}
	for text, want := range map[string]string{
		"- {name: a, n: 1}\n- {name: b}\n": "a1@1 b0@2 ",
		"- {name: a}\n- {nam: b}\n":        `a0@1 f:2: unknown key "nam"; the keys are name, n`,
		"- {unread: 1}\n":                  `f:1: unknown key "unread"; the keys are name, n`,
		"- {n: x}\n":                       "f:1: expected a whole number, got `x`",
		"\n- {name: bad}\n":                "f:2: is bad",
		"- {name: elsewhere}\n":            "f:9: there",
		"- x\n":                            "f:1: expected `key: value` pairs with the keys name, n",
	} {
		nodes, err := List("f", []byte(text), "entry")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		err = Each("f", nodes, func(e *entry, line int) error {
			switch e.Name {
			case "bad":
				return errors.New("is bad")
			case "elsewhere":
				return &Error{Path: "f", Line: 9, Err: errors.New("there")}
			}
			got += fmt.Sprintf("%s%d@%d ", e.Name, e.N, line)
			return nil
		})
		if err != nil {
			got += err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
