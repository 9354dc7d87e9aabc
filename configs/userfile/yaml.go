package userfile

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Bounds of a document. When the library decodes a map, it compares every key with
// every other; and aliases let a small file expand to any size.
const (
	maxBytes  = 16 << 20
	maxValues = 2_000_000 // most values of a document, with aliases expanded
	maxKeys   = 10_000    // most keys of a map
)

// failed returns an error at a line of a document, without the path.
func failed(line int, format string, args ...any) error {
	return &Error{Line: int64(line), Err: fmt.Errorf(format, args...)}
}

// Parse returns the root value of a document, or nil if it is empty. A second
// document is an error, because it would go unread. path is for errors.
func Parse(path string, text []byte) (*yaml.Node, error) {
	root, err := parse(text)
	return root, in(path, err)
}

// in sets the path of an error of this package.
func in(path string, err error) error {
	if known, ok := err.(*Error); ok {
		known.Path = path
	}
	return err
}

func parse(text []byte) (*yaml.Node, error) {
	if len(text) > maxBytes {
		return nil, failed(0, "is larger than %d MiB", maxBytes>>20)
	}
	var document, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		if named := Format(text); named != nil {
			return nil, failed(0, "%w", named)
		}
		return nil, misread(text, err)
	}
	if err := d.Decode(&second); err == nil {
		return nil, failed(second.Line, "begins a second document (after ---); keep all in one")
	} else if !errors.Is(err, io.EOF) {
		return nil, misread(text, err)
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil // only comments, or ---
	}
	if _, err := measure(root, make(map[*yaml.Node]int)); err != nil {
		return nil, err
	}
	return root, nil
}

// measure returns the number of values in a node, with aliases expanded. known
// holds the sizes of nodes already measured, and 0 for the ancestors of n, so that
// a node that contains itself is an error.
func measure(n *yaml.Node, known map[*yaml.Node]int) (int, error) {
	if size, ok := known[n]; ok {
		if size == 0 {
			return 0, failed(n.Line, "the value of this anchor holds itself")
		}
		return size, nil
	}
	known[n] = 0
	size := 1
	inner := n.Content
	if n.Kind == yaml.AliasNode {
		inner = []*yaml.Node{n.Alias}
	}
	for _, below := range inner {
		more, err := measure(below, known)
		if err != nil {
			return 0, err
		}
		if size += more; size > maxValues {
			return 0, failed(n.Line, "holds more than %d values", maxValues)
		}
	}
	known[n] = size
	return size, nil
}

// Decode decodes a node of a document that [Parse] returned. A map with too many keys, a key
// below the first level that no field has, and a value of the wrong type are errors; those of the
// first level are for [CheckKeys].
func Decode(path string, n *yaml.Node, into any) error {
	if err := countKeys(n); err != nil {
		return in(path, err)
	}
	if err := checkFields(path, n, reflect.TypeOf(into), true); err != nil {
		return err
	}
	if err := n.Decode(into); err != nil {
		return in(path, reworded(err))
	}
	return nil
}

// List returns the entries of a document that is a list; an empty list is an error.
// kind names an entry in errors.
func List(path string, text []byte, kind string) ([]*yaml.Node, error) {
	root, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	if root == nil || root.Kind == yaml.SequenceNode && len(root.Content) == 0 {
		return nil, &Error{Path: path, Err: fmt.Errorf("holds no %s; begin each with a dash, as in `- name: …`", kind)}
	}
	if root.Kind != yaml.SequenceNode {
		return nil, &Error{Path: path, Line: int64(root.Line),
			Err: fmt.Errorf("expected a list: begin each %s with a dash, as in `- name: …`", kind)}
	}
	nodes := root.Content
	for i, n := range nodes {
		if n.Kind == yaml.AliasNode {
			nodes[i] = n.Alias
		}
	}
	return nodes, nil
}

// Pairs yields the keys of a mapping and their values.
func Pairs(mapping *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for pair := range slices.Chunk(mapping.Content, 2) {
			if !yield(pair[0], pair[1]) {
				return
			}
		}
	}
}

// CheckKeys returns an error if node is not a mapping or has a key that is not in
// names. A misspelt key must not pass for an absent one.
func CheckKeys(path string, node *yaml.Node, names ...string) error {
	if node.Kind != yaml.MappingNode {
		return &Error{Path: path, Line: int64(node.Line), Err: fmt.Errorf("expected `key: value` pairs with the keys %s",
			strings.Join(names, ", "))}
	}
	for key := range Pairs(node) {
		if !slices.Contains(names, key.Value) {
			return &Error{Path: path, Line: int64(key.Line), Err: fmt.Errorf("unknown key %q; the keys are %s", key.Value,
				strings.Join(names, ", "))}
		}
	}
	return nil
}

// Each decodes nodes, which are mappings with the keys of T, and calls f with each and its
// line. An error of f is one of that line.
func Each[T any](path string, nodes []*yaml.Node, f func(entry *T, line int) error) error {
	keys := Keys(reflect.TypeFor[T]())
	for _, node := range nodes {
		if err := CheckKeys(path, node, keys...); err != nil {
			return err
		}
		entry := new(T)
		if err := Decode(path, node, entry); err != nil {
			return err
		}
		if err := f(entry, node.Line); err != nil {
			var known *Error
			if !errors.As(err, &known) {
				err = &Error{Path: path, Line: int64(node.Line), Err: err}
			}
			return err
		}
	}
	return nil
}

// checkFields checks the keys of mappings that are decoded into structs, but for those of the
// first level.
func checkFields(path string, n *yaml.Node, t reflect.Type, isFirst bool) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	to := reflect.PointerTo(t)
	if t == reflect.TypeFor[yaml.Node]() || to.Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		return nil
	}
	isList, hasKeys := t.Kind() == reflect.Slice, t.Kind() == reflect.Struct || t.Kind() == reflect.Map
	want := wantOf(t)
	if to.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		isList, hasKeys, want = false, false, wantKind["string"]
	}
	switch {
	case n.ShortTag() == "!!null":
	case isList && n.Kind != yaml.SequenceNode, hasKeys && n.Kind != yaml.MappingNode,
		!isList && !hasKeys && want != "" && n.Kind != yaml.ScalarNode:
		return in(path, failed(n.Line, "expected %s, got %s", want, Found(n)))
	case n.Kind == yaml.SequenceNode && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		for _, element := range n.Content {
			if err := checkFields(path, element, t.Elem(), false); err != nil {
				return err
			}
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for _, value := range Pairs(n) {
			if err := checkFields(path, value, t.Elem(), false); err != nil {
				return err
			}
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		if !isFirst {
			if err := CheckKeys(path, n, Keys(t)...); err != nil {
				return err
			}
		}
		fields := fieldsOf(t)
		for key, value := range Pairs(n) {
			of := cmp.Or(fields[key.Value], reflect.TypeFor[any]())
			if err := checkFields(path, value, of, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldTypes holds the maps of fieldsOf, by the type of the struct.
var fieldTypes sync.Map

// fieldsOf returns the types of the fields that have the keys of [Keys].
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	if known, ok := fieldTypes.Load(of); ok {
		return known.(map[string]reflect.Type)
	}
	fields := make(map[string]reflect.Type)
	for field := range of.Fields() {
		if field.Anonymous {
			maps.Copy(fields, fieldsOf(field.Type))
		} else {
			fields[keyOf(field)] = field.Type
		}
	}
	fieldTypes.Store(of, fields)
	return fields
}

// keyOf returns the key of a field, "-" for none.
func keyOf(field reflect.StructField) string {
	key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	switch {
	case !field.IsExported():
		return "-"
	case key == "":
		return strings.ToLower(field.Name) // as package yaml has it
	}
	return key
}

// Keys returns the keys of a struct's fields, with those of structs inline.
func Keys(of reflect.Type) (keys []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		key := keyOf(field)
		switch {
		case field.Anonymous:
			keys = append(keys, Keys(field.Type)...)
		case key != "-":
			keys = append(keys, key)
		}
	}
	return keys
}

func countKeys(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode && len(n.Content)/2 > maxKeys {
		return failed(n.Line, "%d keys here; at most %d are allowed", len(n.Content)/2, maxKeys)
	}
	inner := n.Content
	if n.Kind == yaml.AliasNode {
		inner = []*yaml.Node{n.Alias}
	}
	for _, below := range inner {
		if err := countKeys(below); err != nil {
			return err
		}
	}
	return nil
}

var (
	yamlLine  = regexp.MustCompile(`^line (\d+): `)
	mismatch  = regexp.MustCompile("^cannot unmarshal (!!\\w+)(?: (`.*`))? into (.*)$")
	foundKind = map[string]string{"!!map": "keys and values", "!!seq": "a list", "!!null": "nothing"}
	wantKind  = map[string]string{"bool": "true or false", "string": "a word", "int": "a whole number",
		"int64": "a whole number", "int32": "a whole number", "float64": "a number",
		"time.Duration": "a duration such as 720h",
		"slice":         "a list", "struct": "`key: value` pairs", "map": "`key: value` pairs"}
)

// wantOf says what a type holds, by its name or what it is made of; "" for anything.
func wantOf(t reflect.Type) string { return cmp.Or(wantKind[t.String()], wantKind[t.Kind().String()]) }

// Found says what a node is, for an error that says what it should be.
func Found(n *yaml.Node) string { return cmp.Or(foundKind[n.ShortTag()], "`"+n.Value+"`") }

// misread rewrites the library's error for a text that is not YAML. The library gives no line
// for an error in the first one.
func misread(text []byte, err error) error {
	failed, ok := reworded(err).(*Error)
	if !ok {
		return err
	}
	failed.Line = max(failed.Line, 1)
	if why := failed.Err.Error(); !strings.Contains(why, "tab character") && !strings.Contains(why, "any token") {
		return failed
	}
	n := int64(0)
	for line := range bytes.Lines(text) {
		if n++; n >= failed.Line && bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("\t")) {
			return &Error{Line: n, Err: errors.New("is indented by a tab; use spaces")}
		}
	}
	return failed
}

// reworded rewrites an error of the library, whose text contains the line and names
// types of Go.
func reworded(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var types *yaml.TypeError
	if errors.As(err, &types) && len(types.Errors) > 0 {
		text = types.Errors[0]
	}
	line := 0
	if found := yamlLine.FindStringSubmatch(text); found != nil {
		line, _ = strconv.Atoi(found[1])
		text = text[len(found[0]):]
	}
	if found := mismatch.FindStringSubmatch(text); found != nil {
		kind := cmp.Or(wantKind[found[3]], wantKind["struct"]) // [checkFields] has checked fields of one value
		if strings.HasPrefix(found[3], "[]") {
			kind = wantKind["slice"]
		}
		got, ok := foundKind[found[1]]
		if !ok {
			got = found[2]
		}
		text = fmt.Sprintf("expected %s, got %s", kind, got)
	}
	return &Error{Line: int64(line), Err: errors.New(strings.ReplaceAll(text, "\n", " "))}
}
