package expect

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// matches reports whether the expectation covers a host.
func (x *expectation) matches(host string) bool {
	return (x.labelled == nil || x.labelled[host]) && x.named(host)
}

// named reports whether the expectation names a host, whatever its labels are.
func (x *expectation) named(host string) bool {
	if len(x.Hosts) == 0 || x.literals[host] {
		return true
	}
	return slices.ContainsFunc(x.globs, func(glob string) bool { return matchesGlob(glob, host) })
}

func matchesGlob(glob, host string) bool {
	ok, _ := path.Match(glob, host)
	return ok
}

// isOf reports whether the expectation covers an agent.
func (x *expectation) isOf(agent, category string) bool {
	return x.Category.has(category) &&
		(len(x.Agents) == 0 || slices.ContainsFunc(x.Agents,
			func(name string) bool { return strings.EqualFold(name, agent) }))
}

// table returns the table that the expectation is checked on.
func (x *expectation) table() string { return expectKeys[x.what].table }

// tables returns the tables that it takes to check the expectation: what a host lists is not all in
// its own.
func (x *expectation) tables() []string {
	if x.what == ofCoverage {
		return []string{ofCoverage, "policies", "sitemap_files"}
	}
	return []string{x.table()}
}

// Fit checks, before a run, that the run will show what is expected. An expectation
// about an agent, URL, profile or table that the run does not have is an error with
// its line.
func (e *List) Fit(c evaluate.Config, tables []string) error {
	profiles := c.ProfileNames()
	for _, x := range e.list {
		needs := x.tables()
		switch {
		case x.what == "no_change":
			needs = nil
		case x.isOfModel() && len(c.Profiles) > 0:
			needs = modelTables(c.Profiles[0])
		}
		for _, table := range needs {
			if table == "coverage" && !slices.Contains(tables, table) {
				return e.fail(x.line,
					"expectation %q is about pages that hosts list, and the run reads no sitemaps: add --sitemaps",
					x.Name)
			}
			if !slices.Contains(tables, table) {
				return e.fail(x.line, "expectation %q looks at table %s, which the run does not write: add it to --tables",
					x.Name, table)
			}
		}
		if len(x.Where) > 0 && !slices.Contains(tables, "labels") {
			return e.fail(x.lines["where"],
				"expectation %q is about labels, and the run has no table labels: give --label or --labels", x.Name)
		}
		for _, p := range x.Profile {
			if !slices.Contains(profiles, p) {
				return e.fail(x.line, "expectation %q is about profile %q: add it to --profile", x.Name, p)
			}
		}
		if err := e.knownAgents(x, c.Agents); err != nil {
			return err
		}
		if why := unmeant(x, c.Agents); why != "" {
			return e.fail(x.line, "expectation %q: the registry has %s", x.Name, why)
		}
		if err := e.checkFixed(x, c.Profiles); err != nil {
			return err
		}
		if x.isOfModel() && len(c.Profiles) > 0 {
			if why := noModels(c.Profiles[0]); why != "" {
				return e.fail(x.lines[x.what], "expectation %q: %s", x.Name, why)
			}
			m := newModelCheck(c.Profiles[0], c.Agents)
			if why := m.cannotBreak(x, x.bound(m.read(x.model), c.Agents)); why != "" {
				return e.fail(x.lines[x.what], "expectation %q cannot be broken: %s", x.Name, why)
			}
		}
		for _, url := range x.URLs {
			if x.what == "verdict" && !slices.ContainsFunc(c.Samples, func(s registry.Sample) bool { return s.URL == url }) {
				return e.fail(x.line, "expectation %q is about a URL that the run does not judge: add the line %s to the file "+
					"of --urls", x.Name, url)
			}
		}
	}
	return nil
}

// checkFixed refuses a URL whose verdict is the same whatever a host says: /robots.txt
// itself, where all profiles that the expectation is about always allow it.
func (e *List) checkFixed(x *expectation, profiles []*robots.Profile) error {
	if x.what != "verdict" && !slices.Equal(x.kinds, []string{"verdict"}) ||
		x.Verdict == summary.ValueNames[robots.Disallowed] {
		return nil
	}
	meant := slices.DeleteFunc(slices.Clone(profiles), func(p *robots.Profile) bool { return !x.Profile.has(p.Name) })
	var names []string
	for _, p := range meant {
		names = append(names, p.Name)
	}
	for _, url := range x.URLs {
		isFree := func(p *robots.Profile) bool { t := p.Target(url); return !t.IsRobotsTxt() }
		if len(meant) > 0 && !slices.ContainsFunc(meant, isFree) {
			return e.fail(x.lines["urls"], "expectation %q cannot be broken at %s: under %s it may always be fetched", x.Name,
				url, strings.Join(names, ", "))
		}
	}
	return nil
}

// knownAgents checks that a registry has the agents of an expectation.
func (e *List) knownAgents(x *expectation, agents []schema.Agent) error {
	for _, name := range x.Agents {
		if !slices.ContainsFunc(agents, func(a schema.Agent) bool { return strings.EqualFold(a.Name, name) }) {
			return e.fail(x.line, "expectation %q is about agent %q, which the registry does not have: add it to --agents",
				x.Name, name)
		}
	}
	return nil
}

// unmeant says which agent or category that an expectation names is not among the agents
// that it is about, "" if all are. Each agent has to be in one of the categories, and each
// category to have one of the agents.
func unmeant(x *expectation, agents []schema.Agent) string {
	of := func(name, category string) bool {
		return slices.ContainsFunc(agents, func(a schema.Agent) bool {
			return x.isOf(a.Name, a.Category) && (name == "" || strings.EqualFold(a.Name, name)) &&
				(category == "" || a.Category == category)
		})
	}
	for _, name := range x.Agents {
		if !of(name, "") {
			return fmt.Sprintf("%s in none of these categories", name)
		}
	}
	for _, category := range x.Category {
		if !of("", category) {
			if len(x.Agents) > 0 {
				return fmt.Sprintf("none of these agents in category %s", category)
			}
			return fmt.Sprintf("no agent of category %s", category)
		}
	}
	return ""
}
