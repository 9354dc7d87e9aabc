package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// Config says under which profiles captures are judged, for which agents and URLs.
type Config struct {
	Agents       []Agent
	Samples      []Sample
	Profiles     []*robots.Profile          // the first one also fills the tables of content: groups, rules, …
	NamedOnly    []string                   // names that files carry and no operator sends
	Templates    *robots.Templates          // nil finds none
	Labels       robots.Vocabulary          // of preferences about use
	Readers      map[string]*robots.Profile // the profiles of the agents' parsers, by name, and google; those that judge under own
	KeepComments bool                       // also write comments to the table lines
	Vantage      string                     // where the requests are made from, "" if it is not said
}

// ProfileNames returns the names of the profiles, in their order.
func (c *Config) ProfileNames() (names []string) {
	for _, p := range c.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// ProfileFields returns the fields of each profile of the run, and of the agents' parsers,
// by their names in a configuration file.
func (c *Config) ProfileFields() map[string]map[string]any {
	all := make(map[string]map[string]any)
	for _, p := range slices.Concat(slices.Collect(maps.Values(c.Readers)), c.Judges(), c.Profiles) {
		text, err := yaml.Marshal(p)
		fields := make(map[string]any)
		if err == nil {
			err = yaml.Unmarshal(text, &fields)
		}
		if err != nil {
			panic("fields of profile " + p.Name + ": " + err.Error()) // all are numbers, words and flags
		}
		all[p.Name] = fields
	}
	return all
}

// Agent is an entry of the registry: a crawler as its operator documents it.
type Agent struct {
	Name          string   `yaml:"name"`
	Tokens        []string `yaml:"tokens"`        // its product tokens in order of preference; default: the name
	FallsBackTo   []string `yaml:"falls_back_to"` // other crawlers' tokens that it obeys if none of its own is named
	Operator      string   `yaml:"operator"`
	Category      string   `yaml:"category"`
	UserAgent     string   `yaml:"user_agent"`     // the full product token that it sends, for classic-1996
	IgnoresStar   bool     `yaml:"ignores_star"`   // `*` does not bind it, in profiles that allow this
	UserTriggered bool     `yaml:"user_triggered"` // it fetches on behalf of a person
	Kind          string   `yaml:"kind"`           // KindCrawler or KindToken
	Uses          []string `yaml:"uses"`           // what it is for; of a policy token, what its group refuses
	PolicyTokens  []string `yaml:"policy_tokens"`  // agents of KindToken that bind it
	ReadsAs       string   `yaml:"reads_as"`       // the profile of the parser that it is documented to use, "" for none
}

// Categories are the categories of agents.
var Categories = []string{
	"search", "ai-training", "ai-search", "ai-assistant", "ai-data", "seo", "archive", "preview", "ads", "social", "other",
}

// Robots converts the agent for package robots.
func (a Agent) Robots() robots.Agent {
	fallsBack := a.FallsBackTo
	if a.Kind == KindToken { // of which * says whether its group counts
		fallsBack = slices.DeleteFunc(slices.Clone(fallsBack), func(token string) bool { return token == "*" })
	}
	return robots.Agent{Name: a.Name, Tokens: a.Tokens, FallsBackTo: fallsBack, UserAgent: a.UserAgent, IgnoresStar: a.IgnoresStar}
}

// agentRows returns the rows of the table agents.
func agentRows(agents []Agent) []sink.Agent {
	var rows []sink.Agent
	for _, a := range agents {
		rows = append(rows, sink.Agent{
			Agent: a.Name, Category: a.Category, Operator: sink.NonZero(a.Operator), Tokens: a.Tokens, FallsBackTo: a.FallsBackTo,
			UserAgent: sink.NonZero(a.UserAgent), IgnoresStar: a.IgnoresStar, UserTriggered: a.UserTriggered,
			Kind: a.Kind, Uses: a.Uses, PolicyTokens: a.PolicyTokens, ReadsAs: sink.NonZero(a.ReadsAs),
		})
	}
	return rows
}

// ParseAgents parses a registry in YAML. An unknown key, a token that cannot match,
// a repeated name, an unknown category and an unknown profile are errors with their
// line. Besides the built-in profiles, reads_as may name the given ones. Names that files
// carry and no operator sends are not among the agents; see [NamedOnly].
func ParseAgents(path string, text []byte, profiles ...string) ([]Agent, error) {
	agents, _, err := parseRegistry(path, text, profiles)
	return agents, err
}

// NamedOnly returns the names of a registry that files carry and no operator sends.
func NamedOnly(path string, text []byte, profiles ...string) ([]string, error) {
	_, names, err := parseRegistry(path, text, profiles)
	return names, err
}

func parseRegistry(path string, text []byte, profiles []string) (out []Agent, names []string, err error) {
	profiles = append(robots.ProfileNames(), profiles...)
	nodes, err := userfile.List(path, text, "agent")
	if err != nil {
		return nil, nil, err
	}
	lines := make(map[string]int)
	var at []int // lines of the agents
	for _, node := range nodes {
		fail := func(format string, args ...any) error {
			return &userfile.Error{Path: path, Line: int64(node.Line), Err: fmt.Errorf(format, args...)}
		}
		var a Agent
		if err := userfile.CheckKeys(path, node, "name", "tokens", "falls_back_to", "operator", "category", "user_agent", "ignores_star", "user_triggered", "kind", "uses", "policy_tokens", "reads_as"); err != nil {
			return nil, nil, err
		}
		if err := userfile.Decode(path, node, &a); err != nil {
			return nil, nil, err
		}
		if a.Name == "" {
			return nil, nil, fail("an agent needs a name")
		}
		if first, ok := lines[strings.ToLower(a.Name)]; ok {
			return nil, nil, fail("agent %q is already in line %d", a.Name, first)
		}
		lines[strings.ToLower(a.Name)] = node.Line
		if a.Kind == KindNamedOnly {
			if len(node.Content) > 4 {
				return nil, nil, fail("%q is of kind %s, which has only a name; remove the other keys", a.Name, KindNamedOnly)
			}
			if err := (robots.Agent{Name: a.Name, Tokens: []string{a.Name}}).Validate(); err != nil {
				return nil, nil, fail("%w", err)
			}
			names = append(names, a.Name)
			continue
		}
		if len(a.Tokens) == 0 {
			a.Tokens = []string{a.Name}
		}
		if a.Category == "" {
			a.Category = "other"
		}
		if !slices.Contains(Categories, a.Category) {
			return nil, nil, fail("agent %q: no category %q; use one of %s", a.Name, a.Category, strings.Join(Categories, ", "))
		}
		if a.ReadsAs != "" && !slices.Contains(profiles, a.ReadsAs) {
			return nil, nil, fail("agent %q: reads_as: no profile %q; use one of %s", a.Name, a.ReadsAs, strings.Join(profiles, ", "))
		}
		if err := a.Robots().Validate(); err != nil {
			return nil, nil, fail("%w", err)
		}
		out, at = append(out, a), append(at, node.Line)
	}
	fail := func(i int, format string, args ...any) error {
		return &userfile.Error{Path: path, Line: int64(at[i]), Err: fmt.Errorf(format, args...)}
	}
	for i, a := range out {
		for _, name := range names {
			if slices.ContainsFunc(a.Tokens, func(token string) bool { return strings.EqualFold(token, name) }) {
				return nil, nil, fail(i, "agent %q: the token %s is of kind %s in line %d; remove that line", a.Name, name, KindNamedOnly, lines[strings.ToLower(name)])
			}
		}
	}
	return out, names, checkKinds(out, fail)
}
