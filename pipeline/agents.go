package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/yamlfile"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// Agent is an entry of the registry: a crawler and what its operator
// documents about it.
type Agent struct {
	Name          string   `yaml:"name"`
	Tokens        []string `yaml:"tokens"`        // its own product tokens in order of preference; the name where none is given
	FallsBackTo   []string `yaml:"falls_back_to"` // other crawlers' tokens, looked for after its own
	Operator      string   `yaml:"operator"`
	Category      string   `yaml:"category"`
	UserAgent     string   `yaml:"user_agent"`     // the full product token that it sends, for classic-1996
	IgnoresStar   bool     `yaml:"ignores_star"`   // `*` does not bind it, where the profile has it so
	UserTriggered bool     `yaml:"user_triggered"` // it fetches on a person's behalf
}

// Categories are the kinds of agents that the registry knows.
var Categories = []string{
	"search", "ai-training", "ai-search", "ai-assistant", "seo", "archive", "preview", "ads", "social", "other",
}

// Robots is what package robots wants to know of the agent.
func (a Agent) Robots() robots.Agent {
	return robots.Agent{Name: a.Name, Tokens: a.Tokens, FallsBackTo: a.FallsBackTo, UserAgent: a.UserAgent, IgnoresStar: a.IgnoresStar}
}

// agentRows are the registry as the table agents has it.
func agentRows(agents []Agent) []sink.Agent {
	var rows []sink.Agent
	for _, a := range agents {
		rows = append(rows, sink.Agent{
			Agent: a.Name, Category: a.Category, Operator: sink.NonZero(a.Operator), Tokens: a.Tokens, FallsBackTo: a.FallsBackTo,
			UserAgent: sink.NonZero(a.UserAgent), IgnoresStar: a.IgnoresStar, UserTriggered: a.UserTriggered,
		})
	}
	return rows
}

// ParseAgents reads a registry. An unknown key, a token that could never
// match, a name that occurs twice and an unknown category are errors with
// their line.
func ParseAgents(path string, text []byte) ([]Agent, error) {
	nodes, err := yamlList(path, text, "agent")
	if err != nil {
		return nil, err
	}
	var out []Agent
	lines := make(map[string]int)
	for _, node := range nodes {
		fail := func(format string, args ...any) error {
			return &InputError{Path: path, Line: int64(node.Line), Err: fmt.Errorf(format, args...)}
		}
		var a Agent
		if err := knownKeys(path, node, "name", "tokens", "falls_back_to", "operator", "category", "user_agent", "ignores_star", "user_triggered"); err != nil {
			return nil, err
		}
		if err := yamlfile.Decode(node, &a); err != nil {
			return nil, YAMLError(path, err)
		}
		if a.Name == "" {
			return nil, fail("an agent needs a name")
		}
		if first, ok := lines[strings.ToLower(a.Name)]; ok {
			return nil, fail("agent %q stands in line %d already", a.Name, first)
		}
		lines[strings.ToLower(a.Name)] = node.Line
		if len(a.Tokens) == 0 {
			a.Tokens = []string{a.Name}
		}
		if a.Category == "" {
			a.Category = "other"
		}
		if !slices.Contains(Categories, a.Category) {
			return nil, fail("agent %q: no category %q; use one of %s", a.Name, a.Category, strings.Join(Categories, ", "))
		}
		if err := a.Robots().Validate(); err != nil {
			return nil, fail("%w", err)
		}
		out = append(out, a)
	}
	return out, nil
}

// knownKeys refuses a mapping with a key that is none of names: a misspelt
// field must not pass for an absent one.
func knownKeys(path string, node *yaml.Node, names ...string) error {
	if node.Kind != yaml.MappingNode {
		return &InputError{Path: path, Line: int64(node.Line), Err: fmt.Errorf("expected `key: value` pairs with the keys %s", strings.Join(names, ", "))}
	}
	for i := 0; i < len(node.Content); i += 2 {
		if key := node.Content[i]; !slices.Contains(names, key.Value) {
			return &InputError{Path: path, Line: int64(key.Line), Err: fmt.Errorf("unknown key %q; the keys are %s", key.Value, strings.Join(names, ", "))}
		}
	}
	return nil
}

// yamlList reads a file that is a list of entries of a kind.
func yamlList(path string, text []byte, kind string) ([]*yaml.Node, error) {
	root, err := yamlfile.Parse(text)
	if err != nil {
		return nil, YAMLError(path, err)
	}
	if root == nil || root.Kind == yaml.SequenceNode && len(root.Content) == 0 {
		return nil, &InputError{Path: path, Err: fmt.Errorf("holds no %ss; begin each with a dash, as in `- name: …`", kind)}
	}
	if root.Kind != yaml.SequenceNode {
		return nil, &InputError{Path: path, Line: int64(root.Line), Err: fmt.Errorf("expected a list: begin each %s with a dash, as in `- name: …`", kind)}
	}
	nodes := root.Content
	for i, n := range nodes {
		if n.Kind == yaml.AliasNode {
			nodes[i] = n.Alias
		}
	}
	return nodes, nil
}

// YAMLError puts the file before what package yamlfile finds wrong.
func YAMLError(path string, err error) error {
	var known *yamlfile.Error
	if errors.As(err, &known) {
		return &InputError{Path: path, Line: int64(known.Line), Err: known.Err}
	}
	return &InputError{Path: path, Err: err}
}
