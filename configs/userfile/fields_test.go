package userfile

import (
	"strings"
	"testing"
	"time"
)

// A key that no field has is an error at any depth, of lists, of maps and of aliases; a value that
// decodes itself has keys of its own.
func TestUnknownKeysAtAnyDepth(t *testing.T) {
	type inner struct {
		After time.Duration `yaml:"after"`
		Plain int
	}
	type outer struct {
		List []inner           `yaml:"list"`
		Map  map[string]*inner `yaml:"map"`
		One  inner             `yaml:"one"`
		Any  any               `yaml:"any"`
	}
	for text, want := range map[string]string{
		"list: [{after: 1h, plain: 2}]\nmap: {x: {after: 2h}}\none: {after: 3h}\nany: {x: y}": "",
		"list:\n  - {after: 1h}\n  - {afer: 1h}":                                              `f:3: unknown key "afer"; the keys are after, plain`,
		"map:\n  x: {foo: 1}":                                                                 `f:2: unknown key "foo"`,
		"one: {Plain: 1}":                                                                     `f:1: unknown key "Plain"`,
		"any: &a {x: 1}\none: *a":                                                             `unknown key "x"`,
		"foo: 1":                                                                              "", // see CheckKeys
	} {
		node, err := Parse("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = Decode("f", node, new(outer))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
