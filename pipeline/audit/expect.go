package audit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// Expectations are what a file promises of hosts, and of what may change.
type Expectations struct {
	path string
	list []*expectation
}

// expectation is one entry: which rows it looks at, and what they must be.
type expectation struct {
	Name     string `yaml:"name"`
	Hosts    words  `yaml:"hosts"` // globs, none for all
	Agents   words  `yaml:"agents"`
	Category words  `yaml:"category"`
	Profile  words  `yaml:"profile"`
	URLs     words  `yaml:"urls"`
	AtMost   string `yaml:"at_most"` // that may be otherwise: a number, or a share as 1%

	// One of these says what is expected.
	Verdict   string `yaml:"verdict"`
	Class     words  `yaml:"class"`
	Reachable bool   `yaml:"reachable"`
	NoChange  words  `yaml:"no_change"` // kinds, or all

	// Files, models of a robots.txt.
	AtLeastAsStrict string `yaml:"at_least_as_strict_as"`
	AtMostAsStrict  string `yaml:"at_most_as_strict_as"`

	Severity words `yaml:"severity"` // of changes
	After    words `yaml:"after"`

	line    int
	lines   map[string]int // of its keys
	what    string         // its key, of expectKeys
	model   []byte         // the file that it names
	count   int64
	percent float64 // where at_most is a share, else -1
}

// words are one word, or a list of them.
type words []string

func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = words{n.Value}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// has reports whether a word is listed, or none is.
func (w words) has(s string) bool { return len(w) == 0 || slices.Contains(w, s) }

// Keys of an expectation: those that say what is expected, each with the
// others that it takes besides name, hosts and at_most.
var expectKeys = map[string][]string{
	"verdict":   {"agents", "category", "profile", "urls"},
	"class":     {"agents", "category", "profile"},
	"reachable": {},
	"no_change": {"agents", "category", "profile", "urls", "severity", "after"},

	atLeastAsStrict: {"agents", "category"},
	atMostAsStrict:  {"agents", "category"},
}

const expectable = "verdict, class, reachable, no_change, at_least_as_strict_as or at_most_as_strict_as"

// ParseExpectations reads a YAML list of expectations. An unknown key or
// value, and an entry that expects nothing, or two things, are errors with
// their line. read reads the files that expectations name, whose paths are
// relative to that of the expectations.
func ParseExpectations(path string, text []byte, read func(path string) ([]byte, error)) (*Expectations, error) {
	nodes, err := userfile.List(path, text, "expectation")
	if err != nil {
		return nil, err
	}
	e := &Expectations{path: path}
	names := make(map[string]int)
	for _, node := range nodes {
		x, err := parseExpectation(path, node)
		if err != nil {
			return nil, err
		}
		if first := names[x.Name]; first > 0 {
			return nil, e.fail(x.line, "expectation %q stands in line %d already", x.Name, first)
		}
		names[x.Name] = x.line
		if x.isOfModel() {
			if x.model, err = read(x.modelPath(path)); err != nil {
				var input *userfile.Error
				if !errors.As(err, &input) {
					return nil, err
				}
				return nil, e.fail(x.lines[x.what], "%s: %w", x.what, err)
			}
		}
		e.list = append(e.list, x)
	}
	return e, nil
}

func (e *Expectations) fail(line int, format string, args ...any) error {
	return &userfile.Error{Path: e.path, Line: int64(line), Err: fmt.Errorf(format, args...)}
}

func parseExpectation(file string, node *yaml.Node) (*expectation, error) {
	err := userfile.CheckKeys(file, node, "name", "hosts", "at_most", "verdict", "class", "reachable", "no_change", atLeastAsStrict, atMostAsStrict,
		"agents", "category", "profile", "urls", "severity", "after")
	if err != nil {
		return nil, err
	}
	x := &expectation{line: node.Line, percent: -1}
	if err := userfile.Decode(file, node, x); err != nil {
		return nil, err
	}
	lines := make(map[string]int)
	x.lines = lines
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		lines[key.Value] = key.Line
		if expectKeys[key.Value] != nil {
			if x.what != "" {
				return nil, (&Expectations{path: file}).fail(key.Line, "an expectation has one of %s; make two of it", strings.Replace(expectable, " or ", " and ", 1))
			}
			x.what = key.Value
		}
	}
	if key, err := x.check(lines); err != nil {
		return nil, &userfile.Error{Path: file, Line: int64(max(lines[key], x.line)), Err: err}
	}
	return x, nil
}

// check finds what is wrong with an entry, and the key that it is about.
func (x *expectation) check(lines map[string]int) (key string, err error) {
	switch {
	case x.Name == "":
		return "", errors.New("the expectation has no name; give it one")
	case x.what == "":
		return "", fmt.Errorf("expectation %q expects nothing: give %s", x.Name, expectable)
	}
	for key := range lines {
		if !slices.Contains([]string{"name", "hosts", "at_most", x.what}, key) && !slices.Contains(expectKeys[x.what], key) {
			return key, fmt.Errorf("%s does not apply to %s; remove it", key, x.what)
		}
	}
	oneOf := func(key string, list words, known []string) error {
		if _, given := lines[key]; given && len(list) == 0 {
			return fmt.Errorf("%s is empty", key)
		}
		for _, word := range list {
			if known != nil && len(known) == 0 {
				return fmt.Errorf("%s %q: these changes have no such value", key, word)
			}
			if known != nil && !slices.Contains(known, word) {
				return fmt.Errorf("%s %q: use %s", key, word, strings.Join(known, ", "))
			}
		}
		return nil
	}
	for _, row := range []struct {
		key   string
		list  words
		known []string
	}{
		{"hosts", x.Hosts, nil}, {"agents", x.Agents, nil}, {"profile", x.Profile, nil}, {"urls", x.URLs, nil}, {"after", x.After, x.afterWords()},
		{"category", x.Category, evaluate.Categories}, {"severity", x.Severity, Severities}, {"no_change", x.NoChange, append([]string{"all"}, Kinds...)},
		{"class", x.Class, summary.ClassNames[:summary.ClassUnknown]},
	} {
		if err := oneOf(row.key, row.list, row.known); err != nil {
			return row.key, err
		}
	}
	for i, glob := range x.Hosts {
		x.Hosts[i] = strings.ToLower(glob)
		if _, err := path.Match(glob, ""); err != nil {
			return "hosts", fmt.Errorf("hosts %q: * stands for anything, ? for one character, [a-c] for one of some", glob)
		}
	}
	switch {
	case x.what == "verdict" && x.Verdict != summary.ValueNames[robots.Allowed] && x.Verdict != summary.ValueNames[robots.Disallowed]:
		return "verdict", fmt.Errorf("verdict %q: use allow or disallow", x.Verdict)
	case x.what == "verdict" && len(x.URLs) == 0:
		return "verdict", errors.New("verdict needs urls: name the samples to check")
	case x.isOfModel() && x.AtLeastAsStrict+x.AtMostAsStrict == "":
		return x.what, fmt.Errorf("%s is empty; name a robots.txt file", x.what)
	case x.what == "reachable" && !x.Reachable:
		return "reachable", errors.New("reachable can only be true")
	}
	if _, given := lines["at_most"]; given {
		share, isShare := strings.CutSuffix(x.AtMost, "%")
		if isShare {
			x.percent, err = strconv.ParseFloat(strings.TrimSpace(share), 64)
		} else {
			x.count, err = strconv.ParseInt(x.AtMost, 10, 64)
		}
		if err != nil || x.count < 0 || isShare && !(x.percent >= 0 && x.percent <= 100) {
			return "at_most", fmt.Errorf("at_most %q: use a number, or a share such as 1%%", x.AtMost)
		}
		if isShare && x.what == "no_change" {
			return "at_most", errors.New("at_most of no_change must be a number")
		}
	}
	return "", nil
}

// afterKinds are the kinds of changes of which it is known what can come after:
// a word that never does would be a promise that nothing breaks.
var afterKinds = map[string][]string{
	"policy_class": summary.ClassNames[:summary.ClassUnknown],
	"group":        append([]string{summary.ClassEmpty}, summary.ClassNames[:summary.ClassUnknown]...),
	"verdict":      {summary.ValueNames[robots.Allowed], summary.ValueNames[robots.Disallowed]},
	"outcome":      outcomeNames,
	"host_new":     outcomeNames,
	"host_gone":    {},
	"rules":        {"closes", "opens", "both"},
}

var outcomeNames = []string{string(robots.ConditionalAllow), string(robots.FullAllow), string(robots.FullDisallow), string(robots.Undecided)}

// afterWords are what can come after a change of the expectation's kinds, nil
// where that may be anything.
func (x *expectation) afterWords() []string {
	out := []string{}
	for _, kind := range x.NoChange {
		known, ok := afterKinds[kind]
		if !ok {
			return nil
		}
		out = append(out, known...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// matches reports whether the expectation is about a host.
func (x *expectation) matches(host string) bool {
	if len(x.Hosts) == 0 {
		return true
	}
	for _, glob := range x.Hosts {
		if ok, _ := path.Match(glob, host); ok {
			return true
		}
	}
	return false
}

// isOf reports whether it is about an agent.
func (x *expectation) isOf(agent, category string) bool {
	return x.Category.has(category) && (len(x.Agents) == 0 || slices.ContainsFunc(x.Agents, func(name string) bool { return strings.EqualFold(name, agent) }))
}

// table is the one that the expectation looks at.
func (x *expectation) table() string {
	return map[string]string{"verdict": "verdicts", "class": "policies", "reachable": "fetches", "no_change": "changes", atLeastAsStrict: "rules", atMostAsStrict: "rules"}[x.what]
}

// Fit finds out, before a run, whether it will show what is expected: an
// expectation of an agent, a URL, a profile or a table that the run does not
// have is an error with its line.
func (e *Expectations) Fit(c evaluate.Config, tables []string) error {
	profiles := c.ProfileNames()
	for _, x := range e.list {
		needs := []string{x.table()}
		switch {
		case x.what == "no_change":
			needs = nil
		case x.isOfModel() && len(c.Profiles) > 0:
			needs = modelTables(c.Profiles[0])
		}
		for _, table := range needs {
			if !slices.Contains(tables, table) {
				return e.fail(x.line, "expectation %q looks at table %s, which the run does not write: add it to --tables", x.Name, table)
			}
		}
		for _, p := range x.Profile {
			if !slices.Contains(profiles, p) {
				return e.fail(x.line, "expectation %q is about profile %q: add it to --profile", x.Name, p)
			}
		}
		if err := e.knownAgents(x, c.Agents); err != nil {
			return err
		}
		for _, url := range x.URLs {
			if x.what == "verdict" && !slices.ContainsFunc(c.Samples, func(s evaluate.Sample) bool { return s.URL == url }) {
				return e.fail(x.line, "expectation %q is about a URL that the run does not judge: add the line %s to the file of --urls", x.Name, url)
			}
		}
	}
	return nil
}

func (e *Expectations) knownAgents(x *expectation, agents []evaluate.Agent) error {
	for _, name := range x.Agents {
		if !slices.ContainsFunc(agents, func(a evaluate.Agent) bool { return strings.EqualFold(a.Name, name) }) {
			return e.fail(x.line, "expectation %q is about agent %q, which the registry does not have: add it to --agents", x.Name, name)
		}
	}
	return nil
}

// State says what became of an expectation.
type State string

const (
	Kept      State = "kept"
	Broken    State = "broken"
	Unchecked State = "unchecked" // the tables do not show whether it is kept
)

// Promise is an expectation, and what became of it.
type Promise struct {
	Name      string   `json:"name"`
	Line      int      `json:"line"` // in the file
	State     State    `json:"state"`
	Fails     bool     `json:"fails"`     // counts for exit code 1: broken, or unchecked by a mistake
	Note      string   `json:"note"`      // why it is unchecked, or not everything is known
	Checked   int64    `json:"checked"`   // rows, or hosts where nothing may change
	Broken    int64    `json:"broken"`    // of these, or the number of changes
	Unknown   int64    `json:"unknown"`   // policies besides those checked, which the host did not show
	Undecided int64    `json:"undecided"` // of the checked, or changes, those that could not be compared by what they mean
	AtMost    string   `json:"at_most"`
	First     []Breach `json:"first"` // the first of those that are otherwise
}

// unchecked says why nobody can tell. That is no mistake where nothing but an
// outage stands in the way, or the command is not the one that tells.
func (p *Promise) unchecked(why string, mistake bool) {
	p.State, p.Note, p.Fails = Unchecked, why, mistake
}

// Breach is a row that is otherwise than expected.
type Breach struct {
	Host    string  `json:"host"`
	Agent   *string `json:"agent"`
	Profile *string `json:"profile"`
	URL     *string `json:"url"`
	Found   string  `json:"found"`
	Line    *int32  `json:"line"` // that decides
}

const maxBreaches = 20

// judge says what became of a promise, once all is checked. To promise
// something of nothing is a mistake; of an outage nothing is expected. What is
// undecided may be otherwise: a promise that hangs on it is unchecked.
func (x *expectation) judge(p *Promise) {
	if p.State == Unchecked {
		return
	}
	if p.Unknown > 0 {
		p.Note = fmt.Sprintf("%d of %d policies unknown for an outage", p.Unknown, p.Checked+p.Unknown)
	}
	if p.Undecided > 0 {
		if p.Note != "" {
			p.Note += "; "
		}
		p.Note += fmt.Sprintf("%d undecided by what their rules mean", p.Undecided)
	}
	kept := func(broken int64) bool {
		if x.percent >= 0 {
			return float64(broken)*100 <= x.percent*float64(p.Checked)
		}
		return broken <= x.count
	}
	switch {
	case p.Checked == 0 && p.Unknown > 0:
		p.unchecked(p.Note, false)
	case p.Checked == 0:
		p.unchecked("it matches nothing; correct the entry or remove it", true)
	case !kept(p.Broken):
		p.State, p.Fails = Broken, true
	case !kept(p.Broken + p.Undecided):
		p.unchecked(p.Note, true)
	default:
		p.State = Kept
	}
}

// shownFound is a change as a breach has it.
func shownFound(c *sink.Change) string {
	side := func(s *string) string {
		if s == nil {
			return "none"
		}
		return *s
	}
	return c.Kind + ": " + side(c.Before) + " → " + side(c.After)
}
