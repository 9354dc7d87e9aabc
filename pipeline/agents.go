package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/robots"
)

// Agent is an entry of the registry: a crawler and what its operator
// documents about it.
type Agent struct {
	Name          string   `yaml:"name"`
	Tokens        []string `yaml:"tokens"` // product tokens in order of preference; the name where none is given
	Operator      string   `yaml:"operator"`
	Category      string   `yaml:"category"`
	UserAgent     string   `yaml:"user_agent"`     // the full product token that it sends, for classic-1996
	IgnoresStar   bool     `yaml:"ignores_star"`   // `*` does not bind it
	UserTriggered bool     `yaml:"user_triggered"` // it fetches on a person's behalf
}

// Categories are the kinds of agents that the registry knows.
var Categories = []string{
	"search", "ai-training", "ai-search", "ai-assistant", "seo", "archive", "preview", "ads", "social", "other",
}

// Robots is what package robots wants to know of the agent.
func (a Agent) Robots() robots.Agent {
	return robots.Agent{Name: a.Name, Tokens: a.Tokens, UserAgent: a.UserAgent, IgnoresStar: a.IgnoresStar}
}

// ParseAgents reads a registry. An unknown key, a token that could never
// match, a name that occurs twice and an unknown category are errors with
// their line.
func ParseAgents(path string, text []byte) ([]Agent, error) {
	var nodes []yaml.Node
	if err := yaml.Unmarshal(text, &nodes); err != nil {
		return nil, YAMLError(path, err)
	}
	if len(nodes) == 0 {
		return nil, &InputError{Path: path, Err: errors.New("holds no agents")}
	}
	var out []Agent
	lines := make(map[string]int)
	for _, node := range nodes {
		fail := func(format string, args ...any) error {
			return &InputError{Path: path, Line: int64(node.Line), Err: fmt.Errorf(format, args...)}
		}
		var a Agent
		if err := knownKeys(path, &node, "name", "tokens", "operator", "category", "user_agent", "ignores_star", "user_triggered"); err != nil {
			return nil, err
		}
		if err := node.Decode(&a); err != nil {
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
			return nil, fail("agent %q: %w", a.Name, err)
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

// YAMLError turns an error of the YAML library, which says "line 3: …" within
// its text, into file, line and what is wrong.
func YAMLError(path string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if i := strings.Index(text, "line "); i >= 0 {
		var line int64
		if _, e := fmt.Sscanf(text[i:], "line %d:", &line); e == nil {
			_, rest, _ := strings.Cut(text[i:], ": ")
			rest, _, _ = strings.Cut(rest, "\n")
			return &InputError{Path: path, Line: line, Err: errors.New(rest)}
		}
	}
	return &InputError{Path: path, Err: errors.New(strings.ReplaceAll(text, "\n", " "))}
}
