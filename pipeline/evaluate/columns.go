package evaluate

import (
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// A column is a profile of the run: under all but own, one reading judges every agent.
type column struct {
	name string
	face int   // the reading that answers for the profile as a whole
	of   []int // per agent: the reading that judges it
}

// JudgedBy returns the profile that judges an agent under a profile of the run. They
// differ only under own (see [robots.Profile.ByAgent]).
func (c *Config) JudgedBy(p *robots.Profile, agent *schema.Agent) *robots.Profile {
	if !p.ByAgent {
		return p
	}
	if reader := c.Readers[registry.Reader(agent)]; reader != nil {
		return reader
	}
	return c.Readers[robots.DefaultReader]
}

// Judges returns the profiles that judge, each once, and first the one that fills the
// tables of content.
func (c *Config) Judges() (judges []*robots.Profile) {
	known := make(map[string]bool)
	add := func(p *robots.Profile) {
		if !known[p.Name] {
			known[p.Name] = true
			judges = append(judges, p)
		}
	}
	for _, p := range c.Profiles {
		add(c.JudgedBy(p, new(schema.Agent)))
		for i := range c.Agents {
			add(c.JudgedBy(p, &c.Agents[i]))
		}
	}
	return judges
}

// columnsOf returns the columns and the profile of each reading. The first profile's
// readings come first, for the others are compared with them. A further profile shares one
// of them that judges all its agents under the first one too: there is nothing to compare.
func (c *Config) columnsOf() (columns []column, profiles []*robots.Profile) {
	from := 0
	for k, p := range c.Profiles {
		apart := make(map[string]bool) // profiles that judge an agent whom another one judges in the first column
		for i := range c.Agents {
			if judge := c.JudgedBy(p, &c.Agents[i]); k > 0 && profiles[columns[0].of[i]].Name != judge.Name {
				apart[judge.Name] = true
			}
		}
		index := func(p *robots.Profile) int {
			for i := range profiles {
				if profiles[i].Name == p.Name && (i >= from || !apart[p.Name]) {
					return i
				}
			}
			profiles = append(profiles, p)
			return len(profiles) - 1
		}
		col := column{name: p.Name, face: index(c.JudgedBy(p, new(schema.Agent)))}
		for i := range c.Agents {
			col.of = append(col.of, index(c.JudgedBy(p, &c.Agents[i])))
		}
		columns = append(columns, col)
		if k == 0 {
			from = len(profiles)
		}
	}
	return columns, profiles
}
