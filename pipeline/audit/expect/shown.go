package expect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// A Comparison says what of two runs is compared. By what it does not show, a promise of changes
// that would not be found is not kept.
type Comparison struct {
	Runs      [2]*past.Run // the earlier and the later
	Between   *past.Differences
	Common    []string          // profiles that both runs judge by, and that read files in the same way
	Others    []string          // profiles that both runs judge by, and define differently
	Redefined map[string]bool   // agents that the runs define differently
	Unstated  map[string]string // agents to whom statements about use are not compared, with the reason
	Files     []string          // profiles under which files are compared by meaning

	// SameReading reports whether both runs' first profile is the same, SameAnswers whether it
	// takes the same answers for an outage.
	SameReading, SameAnswers bool
	Unlisted                 string // why coverage is not compared, "" if it is

	judged [2]firstTarget
	blind  []bool // by expectation: whether changes that it forbids would not be found
}

// Changes returns a checker of the expectations of the changes that out will hold, and
// of those of the later run. It finds the expectations of changes that these runs cannot
// decide.
func (e *List) Changes(ctx context.Context, in store.Store, out *sink.Changes, by *Comparison) (*Checker, error) {
	if err := e.readWhere(ctx, in, by.Runs[1].Manifest, by.Runs[0].Manifest); err != nil {
		return nil, err
	}
	for i, m := range by.Runs {
		var err error
		if by.judged[i], err = readFirst(ctx, in, m.Manifest); err != nil {
			return nil, err
		}
	}
	agents := by.judged[1].agents
	if r := by.Runs[1].Registry; r.Known { // it has their tokens too
		agents = r.Agents
	}
	var profiles []*robots.Profile
	for _, name := range by.Runs[1].Profiles {
		p, err := past.Profile(by.Runs[1].Manifest, name)
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, p)
	}
	for _, x := range e.list {
		if err := e.checkFixed(x, profiles); err != nil {
			return nil, err
		}
		if len(agents) > 0 {
			if err := e.knownAgents(x, agents); err != nil {
				return nil, err
			}
		}
	}
	file, err := out.Expectations()
	if err != nil {
		return nil, fmt.Errorf("write expectations.csv: %w", err)
	}
	c := newChecker(e, agents, file, out.Scratch)
	c.choice = by.Between.MayMiss()
	for i, why := range c.unseenBy(by) {
		if why = cmp.Or(why, e.list[i].unlabelled(by.Runs[1].Manifest)); why != "" {
			c.promises[i].unchecked(why, true)
		}
	}
	return c, c.urls(ctx, in, by)
}

// StandIn prepares to check pairs that another comparison compares: that of an earlier
// run, which stands in for the first one, with the same later run.
func (c *Checker) StandIn(ctx context.Context, in store.Store, by, first *Comparison) (err error) {
	if by.judged[0], err = readFirst(ctx, in, by.Runs[0].Manifest); err != nil {
		return err
	}
	by.judged[1] = first.judged[1]
	c.unseenBy(by)
	return nil
}

// unseenBy returns, by expectation, why a comparison would not find changes that it
// forbids, "" if it would or if the expectation is not about changes.
func (c *Checker) unseenBy(by *Comparison) (why []string) {
	list := c.expectations.list
	by.blind, why = make([]bool, len(list)), make([]string, len(list))
	for i, x := range list {
		if x.what == "no_change" {
			why[i] = by.unseen(x)
			by.blind[i] = why[i] != ""
		}
	}
	return why
}

// unseen returns why changes that an expectation forbids would not be found, "" if
// they would.
func (by *Comparison) unseen(x *expectation) string {
	for _, kind := range x.kinds {
		if table := besideTables[kind]; table != "" && !x.isNamed(kind) && !by.have(table) {
			continue // by all it is about answers only where there are any, and the like
		}
		if why := by.unseenKind(x, change.Named(kind)); why != "" {
			return why
		}
	}
	onlyVerdicts := slices.Equal(x.kinds, []string{"verdict"}) // else a URL may be that of a sitemap
	for i, m := range by.Runs {
		why := unseenProfile(x, m.Manifest)
		if why == "" {
			why = unseenAgent(x, m.Run, by.judged[i].agents)
		}
		if why == "" && onlyVerdicts {
			why = unseenURL(x, m.Run, by.judged[i].paths)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// unseenKind returns why changes of one kind would not be found.
func (by *Comparison) unseenKind(x *expectation, k *change.Kind) string {
	tables := k.Tables
	if len(x.Agents)+len(x.Category) > 0 {
		tables = append(slices.Clip(tables), "policies") // the registry and its categories
		if k.SomeAgents {
			tables = append(tables, "groups") // the agents of a signal
		}
	}
	for _, table := range tables {
		for _, m := range by.Runs {
			if !slices.Contains(m.Tables, table) {
				return fmt.Sprintf("run %s has no table %s", m.Run, table)
			}
		}
	}
	if why := by.unseenDefinition(x, k); why != "" {
		return why
	}
	if k.OfIdentities() {
		for _, m := range by.Runs {
			if why := unasked(x, k.Name, m); why != "" {
				return why
			}
		}
	}
	switch {
	case k.Reading && !by.SameReading:
		return fmt.Sprintf("the first profiles of the runs differ, so no change of kind %s is found", k.Name)
	case (k.Name == "outcome" || k.Name == "reachability") && !by.SameAnswers:
		return fmt.Sprintf("the runs define their first profile differently, so no change of kind %s is found", k.Name)
	case k.Name == "coverage" && by.Unlisted != "":
		return "coverage is not compared: " + by.Unlisted
	case k.Name == "rules" && len(by.Files) == 0:
		return "the profile of the runs is not known, so no change of kind rules is found"
	case k.Policy && !k.Reading && len(x.Profile) == 0 && len(by.Common)+len(by.Others) == 0:
		return "the runs have no profile in common"
	}
	return ""
}

// besideTables are the tables of what a run may have beside robots.txt, by kind of change.
var besideTables = map[string]string{"answer": "answers", "page": "answers", "document": "documents",
	"coverage": "coverage"}

// have reports whether both runs have a table.
func (by *Comparison) have(table string) bool {
	return !slices.ContainsFunc(by.Runs[:], func(m *past.Run) bool { return !slices.Contains(m.Tables, table) })
}

// unasked says that a run did not ask under an identity that an expectation is about, by the kind
// of its changes. A run without counters does not say as whom it asked.
func unasked(x *expectation, kind string, m *past.Run) string {
	if len(m.PartsOf("summary")) == 0 {
		return ""
	}
	for _, name := range x.Identity {
		i, ok := m.Identities[name]
		switch {
		case !ok:
			return fmt.Sprintf("run %s did not ask as %s", m.Run, name)
		case i.IsControl:
			return fmt.Sprintf("%s is a control in run %s, with which the others are compared", name, m.Run)
		}
	}
	for name, i := range m.Identities {
		if !i.IsControl && x.Identity.has(name) && x.isOf(i.Agent, m.Category[i.Agent]) {
			return ""
		}
	}
	if !x.isNamed(kind) {
		return ""
	}
	return fmt.Sprintf("run %s did not ask under any identity that it is about", m.Run)
}

// unseenDefinition returns which agent or profile the runs define differently, so that
// changes of one kind would not be found. Files show changes of class and of meaning
// by one definition; there are no rows of single verdicts.
func (by *Comparison) unseenDefinition(x *expectation, k *change.Kind) string {
	if !k.Policy {
		return ""
	}
	if k.Name == "preference" {
		for _, name := range slices.Sorted(maps.Keys(by.Unstated)) {
			if x.isOf(name, by.Runs[1].Category[name]) {
				return fmt.Sprintf("what files state to %s about use is not compared: %s", name, by.Unstated[name])
			}
		}
	}
	byFiles := len(by.Files) > 0 && k.Name != "preference" && k.Name != "coverage" &&
		(k.Name != "verdict" || x.isAbout("rules"))
	for _, name := range slices.Sorted(maps.Keys(by.Redefined)) {
		if !byFiles && x.isOf(name, by.Runs[1].Category[name]) {
			return fmt.Sprintf("the runs define the agent %s differently", name)
		}
	}
	for _, name := range by.Others {
		judged := byFiles && slices.Contains(by.Files, name)
		if !judged && x.Profile.has(name) && (len(x.Profile) > 0 || len(by.Common) == 0) {
			return fmt.Sprintf("the runs define the profile %s differently", name)
		}
	}
	return ""
}

// unseenProfile returns which profile of the expectation a run lacks.
func unseenProfile(x *expectation, m *journal.Manifest) string {
	for _, profile := range x.Profile {
		if !slices.Contains(m.Profiles, profile) {
			return fmt.Sprintf("run %s does not judge by profile %s", m.Run, profile)
		}
	}
	return ""
}

// unseenAgent returns which agent of the expectation a run does not judge. judged is
// empty if that is not known.
func unseenAgent(x *expectation, run string, judged []schema.Agent) string {
	if len(judged) == 0 {
		return ""
	}
	for _, name := range x.Agents {
		if !slices.ContainsFunc(judged, func(a schema.Agent) bool { return strings.EqualFold(a.Name, name) }) {
			return fmt.Sprintf("run %s does not judge agent %s", run, name)
		}
	}
	if why := unmeant(x, judged); why != "" {
		return fmt.Sprintf("run %s has %s", run, why)
	}
	return ""
}

// unseenURL returns which path of the expectation a run does not judge. judged is
// empty if that is not known.
func unseenURL(x *expectation, run string, judged []string) string {
	for _, url := range x.URLs {
		if len(judged) > 0 && strings.HasPrefix(url, "/") && !slices.Contains(judged, url) {
			return fmt.Sprintf("run %s does not judge the URL %s", run, url)
		}
	}
	return ""
}
