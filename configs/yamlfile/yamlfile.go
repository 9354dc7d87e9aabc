// Package yamlfile reads the YAML files that users write: one document of
// bounded size, whose errors name the line and say in a user's words what is
// expected.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of a document. The library compares each key of a map with every
// other when it decodes them, and aliases make a small file unfold to any size.
const (
	maxBytes  = 16 << 20
	maxValues = 2_000_000 // of the document, each alias counted as what it stands for
	maxKeys   = 10_000    // of a map that is decoded
)

// Error is what is wrong with a document, and in which line; 0 where that is
// not known.
type Error struct {
	Line int
	Err  error
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func failed(line int, format string, args ...any) error {
	return &Error{line, fmt.Errorf(format, args...)}
}

// Parse returns the value that a document holds, nil for an empty one. A
// second document is an error: a reader would take what it holds for read.
func Parse(text []byte) (*yaml.Node, error) {
	if len(text) > maxBytes {
		return nil, failed(0, "is larger than %d MiB", maxBytes>>20)
	}
	var document, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, reworded(err)
	}
	if err := d.Decode(&second); err == nil {
		return nil, failed(second.Line, "begins a second document (after ---); keep all in one")
	} else if !errors.Is(err, io.EOF) {
		return nil, reworded(err)
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil // nothing but comments, or ---
	}
	if _, err := measure(root, make(map[*yaml.Node]int)); err != nil {
		return nil, err
	}
	return root, nil
}

// measure counts the values below a node, aliases unfolded. known has the nodes
// counted before; 0 stands for one that is under way, and so holds itself.
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

// Decode decodes a node of a document that Parse has returned.
func Decode(n *yaml.Node, into any) error {
	if err := checkKeys(n); err != nil {
		return err
	}
	if err := n.Decode(into); err != nil {
		return reworded(err)
	}
	return nil
}

func checkKeys(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode && len(n.Content)/2 > maxKeys {
		return failed(n.Line, "%d keys stand here; %d at most", len(n.Content)/2, maxKeys)
	}
	inner := n.Content
	if n.Kind == yaml.AliasNode {
		inner = []*yaml.Node{n.Alias}
	}
	for _, below := range inner {
		if err := checkKeys(below); err != nil {
			return err
		}
	}
	return nil
}

var (
	yamlLine  = regexp.MustCompile(`^line (\d+): `)
	mismatch  = regexp.MustCompile("^cannot unmarshal (!!\\w+)(?: (`.*`))? into (.*)$")
	foundKind = map[string]string{"!!map": "keys and values stand", "!!seq": "a list stands", "!!null": "nothing stands"}
	wantKind  = map[string]string{"bool": "true or false", "string": "a word", "int": "a whole number", "float64": "a number"}
)

// reworded makes one of ours of an error of the library, which says "line 3: …"
// within its text and names types of Go.
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
		kind, ok := wantKind[found[3]]
		switch {
		case ok:
		case strings.HasPrefix(found[3], "[]"):
			kind = "a list"
		case strings.HasPrefix(found[3], "map["):
			kind = "`key: value` pairs"
		default:
			kind = "another value"
		}
		stands, ok := foundKind[found[1]]
		if !ok {
			stands = found[2] + " stands"
		}
		text = fmt.Sprintf("expected %s, and %s here", kind, stands)
	}
	return &Error{line, errors.New(strings.ReplaceAll(text, "\n", " "))}
}
