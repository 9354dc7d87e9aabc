package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// expect prepares the checker, and finds the expectations of changes that these runs
// cannot decide.
func (d *differ) expect(ctx context.Context) error {
	if d.Expect == nil {
		return nil
	}
	var judged [2]firstTarget
	for i, m := range d.runs {
		var err error
		if judged[i], err = readFirst(ctx, d.Dir, m.Manifest); err != nil {
			return err
		}
	}
	agents := judged[1].agents
	if r := d.runs[1].Registry; r.Known { // it has their tokens too
		agents = agentsOf(r)
	}
	for _, x := range d.Expect.list {
		if len(agents) > 0 {
			if err := d.Expect.knownAgents(x, agents); err != nil {
				return err
			}
		}
	}
	file, err := d.out.Expectations()
	if err != nil {
		return fmt.Errorf("write expectations.csv: %w", err)
	}
	d.checker = newChecker(d.Expect, agents, file, d.out.Scratch)
	d.checker.choice = d.between.MayMiss()
	for i, why := range d.unseenAll(judged) {
		if why != "" {
			d.checker.promises[i].unchecked(why, true)
		}
	}
	return d.checker.urls(ctx, d.Dir, [2]*sink.Manifest{d.runs[0].Manifest, d.runs[1].Manifest}, [2][]string{judged[0].paths, judged[1].paths})
}

// unseenAll returns, by expectation, why changes that it forbids would not be found, ""
// if they would or if it is not about changes.
func (d *differ) unseenAll(judged [2]firstTarget) (why []string) {
	d.judged, d.blind, why = judged, make([]bool, len(d.Expect.list)), make([]string, len(d.Expect.list))
	for i, x := range d.Expect.list {
		if x.what == "no_change" {
			why[i] = d.unseen(x, judged)
			d.blind[i] = why[i] != ""
		}
	}
	return why
}

// unseen returns why changes that an expectation forbids would not be found, "" if
// they would.
func (d *differ) unseen(x *expectation, judged [2]firstTarget) string {
	for _, kind := range x.kinds {
		if why := d.unseenKind(x, kindNamed(kind)); why != "" {
			return why
		}
	}
	onlyVerdicts := slices.Equal(x.kinds, []string{"verdict"}) // else a URL may be that of a sitemap
	for i, m := range d.runs {
		why := unseenProfile(x, m.Manifest)
		if why == "" {
			why = unseenAgent(x, m.Run, judged[i].agents)
		}
		if why == "" && onlyVerdicts {
			why = unseenURL(x, m.Run, judged[i].paths)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// unseenKind returns why changes of one kind would not be found.
func (d *differ) unseenKind(x *expectation, k *changeKind) string {
	tables := k.tables
	if len(x.Agents)+len(x.Category) > 0 {
		tables = append(slices.Clip(tables), "policies") // the registry and its categories
		if k.someAgents {
			tables = append(tables, "groups") // the agents of a signal
		}
	}
	for _, table := range tables {
		for _, m := range d.runs {
			if !slices.Contains(m.Tables, table) {
				return fmt.Sprintf("run %s has no table %s", m.Run, table)
			}
		}
	}
	if why := d.unseenDefinition(x, k); why != "" {
		return why
	}
	switch {
	case k.reading && !d.reading:
		return fmt.Sprintf("the first profiles of the runs differ, so no change of kind %s is found", k.name)
	case (k.name == "outcome" || k.name == "reachability") && !d.answers:
		return fmt.Sprintf("the runs define their first profile differently, so no change of kind %s is found", k.name)
	case k.name == "rules" && d.rules == nil:
		return "the profile of the runs is not known, so no change of kind rules is found"
	case k.policy && !k.reading && len(x.Profile) == 0 && len(d.common)+len(d.others) == 0:
		return "the runs have no profile in common"
	}
	return ""
}

// unseenDefinition returns which agent or profile the runs define differently, so that
// changes of one kind would not be found. Files show changes of class and of meaning
// by one definition; there are no rows of single verdicts.
func (d *differ) unseenDefinition(x *expectation, k *changeKind) string {
	if !k.policy {
		return ""
	}
	byFiles := d.rules != nil && (k.name != "verdict" || x.isAbout("rules"))
	for _, name := range slices.Sorted(maps.Keys(d.redefined)) {
		if !byFiles && x.isOf(name, d.runs[1].Category[name]) {
			return fmt.Sprintf("the runs define the agent %s differently", name)
		}
	}
	for _, name := range d.others {
		judged := byFiles && slices.ContainsFunc(d.rules.profiles, func(p *robots.Profile) bool { return p.Name == name })
		if !judged && x.Profile.has(name) && (len(x.Profile) > 0 || len(d.common) == 0) {
			return fmt.Sprintf("the runs define the profile %s differently", name)
		}
	}
	return ""
}

// unseenProfile returns which profile of the expectation a run lacks.
func unseenProfile(x *expectation, m *sink.Manifest) string {
	for _, profile := range x.Profile {
		if !slices.Contains(m.Profiles, profile) {
			return fmt.Sprintf("run %s does not judge by profile %s", m.Run, profile)
		}
	}
	return ""
}

// unseenAgent returns which agent of the expectation a run does not judge. judged is
// empty if that is not known.
func unseenAgent(x *expectation, run string, judged []evaluate.Agent) string {
	if len(judged) == 0 {
		return ""
	}
	for _, name := range x.Agents {
		if !slices.ContainsFunc(judged, func(a evaluate.Agent) bool { return strings.EqualFold(a.Name, name) }) {
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

// expected checks the expectations of the later run itself, and judges all of them.
func (d *differ) expected(ctx context.Context) (err error) {
	if d.checker == nil {
		return nil
	}
	if err := d.checker.run(ctx, d.Dir, d.runs[1].Manifest); err != nil {
		return err
	}
	d.result.Expectations, err = d.checker.finish()
	return err
}
