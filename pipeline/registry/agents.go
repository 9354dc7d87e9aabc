package registry

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// Categories are the categories of agents.
var Categories = []string{
	"search", "ai-training", "ai-search", "ai-assistant", "ai-data", "seo", "archive", "preview", "ads", "social", "other",
}

// BuiltIn returns the agents of the registry that the program has built in: the crawlers that
// operators name, with tokens, categories and sources.
func BuiltIn() []schema.Agent { return slices.Clone(builtIn()) }

var builtIn = sync.OnceValue(func() []schema.Agent {
	agents, _, err := ParseAgents("built-in agents.yaml", configs.Agents)
	if err != nil {
		panic(err) // a test parses it
	}
	return agents
})

// Robots converts an agent for package robots.
func Robots(a *schema.Agent) robots.Agent {
	out := robots.Agent{Name: a.Name, Tokens: a.Tokens, FallsBackTo: a.FallsBackTo, IgnoresStar: a.IgnoresStar}
	if a.UserAgent != nil {
		out.UserAgent = *a.UserAgent
	}
	if a.Kind == KindToken { // of which * says whether its group counts
		out.FallsBackTo = slices.DeleteFunc(slices.Clone(out.FallsBackTo), func(token string) bool { return token == "*" })
	}
	return out
}

// Reader returns the name of the profile that judges an agent under own.
func Reader(a *schema.Agent) string {
	if a.ReadsAs != nil {
		return *a.ReadsAs
	}
	return robots.DefaultReader
}

// ParseAgents parses a registry in YAML. An unknown key, a token that cannot match,
// a repeated name, an unknown category and an unknown profile are errors with their
// line. Besides the built-in profiles, reads_as may name the given ones. Names that files
// carry and no operator sends are not among the agents: they are named.
func ParseAgents(path string, text []byte, profiles ...string) (agents []schema.Agent, named []string, err error) {
	profiles = slices.Concat(robots.ProfileNames(), robots.ProgramNames(), profiles)
	nodes, err := userfile.List(path, text, "agent")
	if err != nil {
		return nil, nil, err
	}
	lines := make(map[string]int)
	var at []int // lines of the agents
	type entry struct {
		schema.Agent `yaml:",inline"`
		Binds        yaml.Node `yaml:"binds"`
	}
	err = userfile.Each(path, nodes, func(entry *entry, line int) error {
		a := &entry.Agent
		for _, text := range []**string{&a.Operator, &a.UserAgent, &a.ReadsAs, &a.Checked, &a.IPs, &a.Verifies} {
			if *text != nil && **text == "" {
				*text = nil
			}
		}
		if err := checkKnown(a); err != nil {
			return err
		}
		if a.Binds, err = boundUses(path, &entry.Binds); err != nil {
			return err
		}
		if a.Name == "" {
			return fmt.Errorf("an agent needs a name")
		}
		if first, ok := lines[strings.ToLower(a.Name)]; ok {
			return fmt.Errorf("agent %q is already in line %d", a.Name, first)
		}
		lines[strings.ToLower(a.Name)] = line
		if a.Kind == KindNamedOnly {
			if !reflect.DeepEqual(*a, schema.Agent{Name: a.Name, Kind: a.Kind, Source: a.Source, Checked: a.Checked}) {
				return fmt.Errorf("%q is of kind %s, which has only a name, a source and the day when it was checked; remove "+
					"the other keys", a.Name, KindNamedOnly)
			}
			if err := (robots.Agent{Name: a.Name, Tokens: []string{a.Name}}).Validate(); err != nil {
				return err
			}
			named = append(named, a.Name)
			return nil
		}
		if len(a.Tokens) == 0 {
			a.Tokens = []string{a.Name}
		}
		if a.Category == "" {
			a.Category = "other"
		}
		if !slices.Contains(Categories, a.Category) {
			return fmt.Errorf("agent %q: no category %q; use one of %s", a.Name, a.Category, strings.Join(Categories, ", "))
		}
		if a.ReadsAs != nil && !slices.Contains(profiles, *a.ReadsAs) {
			return fmt.Errorf("agent %q: reads_as: no profile %q; use one of %s", a.Name, *a.ReadsAs,
				strings.Join(profiles, ", "))
		}
		if err := Robots(a).Validate(); err != nil {
			return err
		}
		agents, at = append(agents, *a), append(at, line)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	fail := func(i int, format string, args ...any) error {
		return &userfile.Error{Path: path, Line: int64(at[i]), Err: fmt.Errorf(format, args...)}
	}
	only := make(map[string]string) // by the name in lower case: names are ASCII
	for _, name := range named {
		only[strings.ToLower(name)] = name
	}
	for i, a := range agents {
		for _, token := range a.Tokens {
			if name, ok := only[strings.ToLower(token)]; ok {
				return nil, nil, fail(i, "agent %q: the token %s is of kind %s in line %d; remove that line", a.Name, name,
					KindNamedOnly, lines[strings.ToLower(name)])
			}
		}
	}
	return agents, named, checkKinds(agents, fail)
}

// Ways in which an operator says that its requests can be told from those of others.
var verifies = []string{"reverse_dns", "signature", "none"}

// checkKnown checks what an entry says about its sources.
func checkKnown(a *schema.Agent) error {
	if a.Source != nil && !isURL(*a.Source) {
		return fmt.Errorf("agent %q: source: %q is not the URL of a page; give one that names the agent, as https://…",
			a.Name, *a.Source)
	}
	if a.IPs != nil && !isURL(*a.IPs) {
		return fmt.Errorf("agent %q: ips: %q is not the URL of a list of addresses", a.Name, *a.IPs)
	}
	if a.Checked != nil {
		if _, err := time.Parse(time.DateOnly, *a.Checked); err != nil {
			return fmt.Errorf("agent %q: checked: %q is not a day, such as 2026-11-28", a.Name, *a.Checked)
		}
	}
	if a.Verifies != nil && !slices.Contains(verifies, *a.Verifies) {
		return fmt.Errorf("agent %q: verifies: %q is unknown; use %s", a.Name, *a.Verifies, strings.Join(verifies, ", "))
	}
	return nil
}

// isURL reports whether a text is the URL of a page on the web.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
