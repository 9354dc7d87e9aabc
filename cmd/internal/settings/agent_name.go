package settings

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// namesOf returns the names that a user may give for an agent: its name and its own
// tokens.
func namesOf(a schema.Agent) []string { return append([]string{a.Name}, a.Tokens...) }

var (
	product    = regexp.MustCompile(`[A-Za-z0-9._-]+`)
	compatible = regexp.MustCompile(`compatible; *([A-Za-z][A-Za-z0-9._-]*)`)
)

// agentWithin returns the agent of the registry whose name or token is in a User-Agent header,
// and that name.
func agentWithin(userAgent string, agents []schema.Agent) (agent schema.Agent, name string) {
	for _, word := range product.FindAllString(userAgent, -1) {
		for _, a := range agents {
			for _, name := range namesOf(a) {
				if strings.EqualFold(word, name) {
					return a, name
				}
			}
		}
	}
	return schema.Agent{}, ""
}

// AgentOf returns the agent of the registry that sends a User-Agent header.
func (f *Shared) AgentOf(ctx context.Context, userAgent string) (agent schema.Agent, ok bool, err error) {
	agents, _, err := f.ReadAgents(ctx)
	if err != nil {
		return agent, false, err
	}
	agent, name := agentWithin(userAgent, agents)
	return agent, name != "", nil
}

// tokenWithin returns the product token in a User-Agent header: one of the
// registry, otherwise the name after "compatible;", otherwise the first word.
func tokenWithin(userAgent string, agents []schema.Agent) string {
	if _, name := agentWithin(userAgent, agents); name != "" {
		return name
	}
	if found := compatible.FindStringSubmatch(userAgent); found != nil {
		return found[1]
	}
	return product.FindString(userAgent)
}

// nobody is a product token of which no group has so much as a part: what binds it binds every
// agent that no group names.
const nobody = "_"

// FindAgent looks an agent up in the registry. Any other name is taken as a product
// token.
// The name * stands for an agent that no group names.
func (f *Shared) FindAgent(ctx context.Context, name string) (schema.Agent, string, error) {
	agents, _, err := f.ReadAgents(ctx)
	if err != nil {
		return schema.Agent{}, "", err
	}
	if name == "*" {
		return schema.Agent{Name: name, Tokens: []string{nobody}}, "", nil
	}
	for _, a := range agents {
		if strings.EqualFold(a.Name, name) {
			return a, "", nil
		}
	}
	a := schema.Agent{Name: name, Tokens: []string{name}}
	if err := registry.Robots(&a).Validate(); err != nil {
		if token := tokenWithin(name, agents); token != "" {
			err = fmt.Errorf("%q is not a product token; use %s", name, token)
		}
		return a, "", cli.UsageError{Err: err}
	}
	var known []string
	for _, other := range agents {
		known = append(known, namesOf(other)...)
	}
	return a, fmt.Sprintf("%s is not in the registry%s: taken as a product token\n", visible.Text(name),
		visible.Text(flags.Suggest(name, known))), nil
}

// CompleteAgents completes a flag with the agents of the registry.
func (f *Shared) CompleteAgents(c *cobra.Command, name string) {
	c.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		agents, _, err := f.ReadAgents(context.Background())
		if err != nil {
			return nil, cli.NoFiles
		}
		var words []string
		for _, a := range agents {
			words = append(words, cobra.CompletionWithDesc(a.Name, a.Category))
		}
		return words, cli.NoFiles
	})
}

// Readers returns the profiles of the agents' parsers, by name, and google; none if no
// agent has one and own is not among the profiles.
func (f *Shared) Readers(profiles []*robots.Profile, agents ...schema.Agent) map[string]*robots.Profile {
	if !slices.ContainsFunc(profiles, func(p *robots.Profile) bool { return p.ByAgent }) &&
		!slices.ContainsFunc(agents, func(a schema.Agent) bool { return a.ReadsAs != nil }) {
		return nil
	}
	out := make(map[string]*robots.Profile)
	for _, a := range append(agents, schema.Agent{}) { // whose parser is google
		name := registry.Reader(&a)
		for _, p := range profiles {
			if p.Name == name {
				out[name] = p
			}
		}
		if out[name] == nil {
			p, _ := f.Profile(name) // ParseAgents knows it
			out[name] = f.limited(p)
		}
	}
	return out
}

// ForAgent returns the profiles that judge an agent, each once: for own, the one that the
// registry names.
func (f *Shared) ForAgent(profiles []*robots.Profile, agent schema.Agent) []*robots.Profile {
	c := evaluate.Config{Profiles: profiles, Readers: f.Readers(profiles, agent)}
	var out []*robots.Profile
	for _, p := range profiles {
		if p = c.JudgedBy(p, &agent); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// ReadAgents reads the registry, once: the file may be a pipe.
func (f *Shared) ReadAgents(ctx context.Context) ([]schema.Agent, journal.Input, error) {
	if f.registry != nil {
		return f.registry, f.registryInput, nil
	}
	text, path, err := cli.ReadOr(ctx, f.Agents, "built-in agents.yaml", configs.Agents)
	if err != nil {
		return nil, journal.Input{}, err
	}
	profiles := slices.Sorted(maps.Keys(f.Own))
	agents, named, err := registry.ParseAgents(path, text, profiles...)
	if err != nil {
		return nil, journal.Input{}, err
	}
	f.registry, f.NamedOnly = agents, named
	f.registryInput = cli.InputOf("agents", path, text, len(agents))
	return f.registry, f.registryInput, nil
}
