package evaluate

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// Config says under which profiles captures are judged, for which agents and URLs.
type Config struct {
	Agents    []schema.Agent
	Samples   []registry.Sample
	Profiles  []*robots.Profile // the first one also fills the tables of content: groups, rules, …
	NamedOnly []string          // names that files carry and no operator sends
	Templates *template.Set     // nil finds none
	Labels    usage.Vocabulary  // of preferences about use
	// the profiles of the agents' parsers, by name, and google; those that judge under own
	Readers       map[string]*robots.Profile
	OwnLabels     []string       // labels of the program that are wanted, tld and cdn
	SitemapSample int            // the most URLs of a host's sitemaps that are judged
	KeepComments  bool           // also write comments to the table lines
	Documents     documents.List // those that further requests may be of
	Vantage       string         // where the requests are made from, "" if it is not said
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
