package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// Config is what captures are judged by.
type Config struct {
	Agents       []Agent
	Samples      []Sample
	Profiles     []*robots.Profile // the first of them reads the files for the tables of their content
	KeepComments bool              // in the table lines
}

// ProfileNames are the names of the profiles, in their order.
func (c *Config) ProfileNames() (names []string) {
	for _, p := range c.Profiles {
		names = append(names, p.Name)
	}
	return names
}

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
	nodes, err := userfile.List(path, text, "agent")
	if err != nil {
		return nil, err
	}
	var out []Agent
	lines := make(map[string]int)
	for _, node := range nodes {
		fail := func(format string, args ...any) error {
			return &userfile.Error{Path: path, Line: int64(node.Line), Err: fmt.Errorf(format, args...)}
		}
		var a Agent
		if err := userfile.CheckKeys(path, node, "name", "tokens", "falls_back_to", "operator", "category", "user_agent", "ignores_star", "user_triggered"); err != nil {
			return nil, err
		}
		if err := userfile.Decode(path, node, &a); err != nil {
			return nil, err
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
