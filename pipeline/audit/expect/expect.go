package expect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
)

// A List holds a file's expectations: promises about hosts and about changes.
type List struct {
	path string
	list []*expectation
	sum  hash.Hash // of what was read
}

// An expectation is one entry of the file.
type expectation struct {
	Name     string           `yaml:"name"`
	Hosts    words            `yaml:"hosts"` // globs, none for all
	Where    map[string]words `yaml:"where"` // values of labels, none for all hosts
	Agents   words            `yaml:"agents"`
	Category words            `yaml:"category"`
	Profile  words            `yaml:"profile"`
	URLs     words            `yaml:"urls"`
	AtMost   string           `yaml:"at_most"` // how many may differ: a number, or a share such as 1%

	// Exactly one of these is given.
	Verdict    string `yaml:"verdict"`
	Class      words  `yaml:"class"`
	Reachable  bool   `yaml:"reachable"`
	NoChange   words  `yaml:"no_change"`  // kinds, or all
	Preference words  `yaml:"preference"` // with use
	// Identities of --also-as, or all, that get the file that the run itself got.
	ServedAlike words `yaml:"served_alike"`
	// Identities of --also-as, or all, that get the page of --pages as robots.txt says.
	ServedAsWritten words `yaml:"served_as_written"`
	// How much of what hosts list agents may fetch.
	Coverage *coverageBar `yaml:"coverage"`

	// Files with a model robots.txt.
	AtLeastAsStrict string `yaml:"at_least_as_strict_as"`
	AtMostAsStrict  string `yaml:"at_most_as_strict_as"`

	Severity words `yaml:"severity"` // for no_change
	After    words `yaml:"after"`
	Use      words `yaml:"use"`      // for preference, and for no_change of that kind
	Identity words `yaml:"identity"` // for no_change of kind answer

	line     int
	lines    map[string]int  // by key
	what     string          // the key of expectKeys that is given
	kinds    []string        // of no_change: the kinds of changes that it is about
	literals map[string]bool // hosts without a wildcard
	globs    []string        // the other hosts
	labelled map[string]bool // with where: the hosts that have the values: see readWhere
	model    []byte          // contents of the model file
	count    int64           // at_most, if it is a number
	percent  float64         // at_most, if it is a share; else -1
}

// words is a word or a list of words.
type words []string

func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = words{n.Value}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// has reports whether a word is listed. An empty list has all words.
func (w words) has(s string) bool { return len(w) == 0 || slices.Contains(w, s) }

// expectKeys lists the keys of which an expectation has one, each with the table that it is checked
// on, and the keys that it allows besides name, hosts, where and at_most.
var expectKeys = map[string]struct {
	table string
	keys  []string
}{
	"verdict":    {"verdicts", []string{"agents", "category", "profile", "urls"}},
	"class":      {"policies", []string{"agents", "category", "profile"}},
	"preference": {"policies", []string{"agents", "category", "profile", "use"}},
	"reachable":  {"fetches", nil},
	"no_change": {"changes",
		[]string{"agents", "category", "profile", "urls", "severity", "after", "use", "identity"}},
	servedAlike:     {"answers", nil},
	servedAsWritten: {"answers", nil},
	ofCoverage:      {"coverage", []string{"agents", "category", "profile"}},
	atLeastAsStrict: {"rules", []string{"agents", "category"}},
	atMostAsStrict:  {"rules", []string{"agents", "category"}},
}

const expectable = "verdict, class, preference, reachable, no_change, served_alike, served_as_written, coverage, " +
	"at_least_as_strict_as or at_most_as_strict_as"

// Parse parses a YAML list of expectations. Unknown keys and values, and
// entries that expect nothing or two things, are errors with their line. Paths of
// model files are relative to path; read reads such a file.
func Parse(path string, text []byte, read func(path string) ([]byte, error)) (*List, error) {
	nodes, err := userfile.List(path, text, "expectation")
	if err != nil {
		return nil, err
	}
	e := &List{path: path, sum: sha256.New()}
	e.sum.Write(text)
	names := make(map[string]int)
	for _, node := range nodes {
		x, err := parseExpectation(path, node)
		if err != nil {
			return nil, err
		}
		if first := names[x.Name]; first > 0 {
			return nil, e.fail(x.line, "expectation %q is already in line %d", x.Name, first)
		}
		names[x.Name] = x.line
		if x.isOfModel() {
			if x.model, err = read(x.modelPath(path)); err != nil {
				if _, isInput := errors.AsType[*userfile.Error](err); !isInput {
					return nil, err
				}
				return nil, e.fail(x.lines[x.what], "%s: %w", x.what, err)
			}
			fmt.Fprintf(e.sum, "\n%d\n%s", len(x.model), x.model)
			if err := x.checkModel(); err != nil {
				return nil, e.fail(x.lines[x.what], "%w", err)
			}
		}
		e.list = append(e.list, x)
	}
	return e, nil
}

// Digest returns the SHA-256 of the file and of the models that it names, in hexadecimal,
// "" for no list.
func (e *List) Digest() string {
	if e == nil {
		return ""
	}
	return hex.EncodeToString(e.sum.Sum(nil))
}

func (e *List) fail(line int, format string, args ...any) error {
	return &userfile.Error{Path: e.path, Line: int64(line), Err: fmt.Errorf(format, args...)}
}

func parseExpectation(file string, node *yaml.Node) (*expectation, error) {
	err := userfile.CheckKeys(file, node, "name", "hosts", "where", "at_most", "verdict", "class", "preference",
		"reachable", "no_change", servedAlike, servedAsWritten, ofCoverage, atLeastAsStrict, atMostAsStrict,
		"agents", "category", "profile", "urls", "severity", "after", "use", "identity")
	if err != nil {
		return nil, err
	}
	x := &expectation{line: node.Line, percent: -1}
	if err := userfile.Decode(file, node, x); err != nil {
		return nil, err
	}
	x.lines = make(map[string]int)
	for key, value := range userfile.Pairs(node) {
		x.lines[key.Value] = key.Line
		if key.Value == ofCoverage && value.Kind == yaml.MappingNode {
			if err := userfile.CheckKeys(file, value, "agent", "at_least"); err != nil {
				return nil, err
			}
		}
		if expectKeys[key.Value].table != "" {
			if x.what != "" {
				return nil, (&List{path: file}).fail(key.Line, "an expectation has one of %s; split it in two",
					strings.Replace(expectable, " or ", " and ", 1))
			}
			x.what = key.Value
		}
	}
	if key, err := x.check(); err != nil {
		return nil, &userfile.Error{Path: file, Line: int64(max(x.lines[key], x.line)), Err: err}
	}
	return x, nil
}
