package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/evaluate"
)

// expect begins to hold the comparison against what is expected of it.
func (d *differ) expect(ctx context.Context) error {
	if d.Expect == nil {
		return nil
	}
	var judged [2]firstTarget
	for i, m := range d.runs {
		var err error
		if judged[i], err = readFirst(ctx, d.Dir, m); err != nil {
			return err
		}
	}
	agents := judged[1].agents
	if m := d.runs[1]; slices.Contains(m.Tables, "agents") {
		// With their tokens.
		var err error
		if agents, err = readAgents(ctx, d.Dir, m); err != nil {
			return err
		}
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
	for i, x := range d.Expect.list {
		if x.what != "no_change" {
			continue
		}
		if why := d.unseen(x, judged); why != "" {
			d.checker.promises[i].unchecked(why, true)
		}
	}
	return nil
}

// kindNeeds are the tables that both runs must have for changes of a kind to
// be found, and whether these are of the first profile's reading.
var kindNeeds = map[string]struct {
	tables  []string
	reading bool
}{
	"policy_class": {[]string{"policies"}, false},
	"verdict":      {[]string{"verdicts"}, false},
	"outcome":      {nil, true},
	"group":        {[]string{"groups"}, true},
	"signal":       {[]string{"signals"}, true},
	"sitemap":      {[]string{"sitemaps"}, true},
	"crawl_delay":  {[]string{"groups"}, true},
	"reachability": {nil, true},
	"rules":        {[]string{"groups", "rules", "agents"}, true},
	"text":         {nil, true},
}

// unseen says why changes that an expectation forbids would not be found, ""
// where they would.
func (d *differ) unseen(x *expectation, judged [2]firstTarget) string {
	kinds := []string(x.NoChange)
	if slices.Contains(kinds, "all") {
		kinds = Kinds
	}
	ofAgents := len(x.Agents)+len(x.Category) > 0
	for _, kind := range kinds {
		tables := kindNeeds[kind].tables
		if ofAgents {
			// They tell who is in the registry, and of what category.
			tables = append(slices.Clip(tables), "policies")
			if kind == "signal" {
				tables = append(tables, "groups") // tell whose it is
			}
		}
		for _, table := range tables {
			for _, m := range d.runs {
				if !slices.Contains(m.Tables, table) {
					return fmt.Sprintf("run %s has no table %s", m.Run, table)
				}
			}
		}
		if kindNeeds[kind].reading && !d.reading {
			return fmt.Sprintf("the first profiles of the runs differ, so that no change of kind %s is told", kind)
		}
		if kind == "rules" && d.rules == nil {
			return "the profile of the runs is not known, so that no change of kind rules is told"
		}
		if (kind == "policy_class" || kind == "verdict") && len(x.Profile) == 0 && !slices.ContainsFunc(d.runs[0].Profiles, func(p string) bool { return slices.Contains(d.runs[1].Profiles, p) }) {
			return "the runs have no profile in common"
		}
	}
	for i, m := range d.runs {
		for _, profile := range x.Profile {
			if !slices.Contains(m.Profiles, profile) {
				return fmt.Sprintf("run %s does not judge by profile %s", m.Run, profile)
			}
		}
		for _, name := range x.Agents {
			if len(judged[i].agents) > 0 && !slices.ContainsFunc(judged[i].agents, func(a evaluate.Agent) bool { return strings.EqualFold(a.Name, name) }) {
				return fmt.Sprintf("run %s does not judge agent %s", m.Run, name)
			}
		}
		if len(judged[i].agents) > 0 && !slices.ContainsFunc(judged[i].agents, func(a evaluate.Agent) bool { return x.isOf(a.Name, a.Category) }) {
			return fmt.Sprintf("run %s judges no such agent", m.Run)
		}
		if !slices.Equal(kinds, []string{"verdict"}) {
			continue // the URL of a sitemap may be meant
		}
		for _, url := range x.URLs {
			if len(judged[i].paths) > 0 && strings.HasPrefix(url, "/") && !slices.Contains(judged[i].paths, url) {
				return fmt.Sprintf("run %s does not judge the URL %s", m.Run, url)
			}
		}
	}
	return ""
}

// expected checks what is expected of the later run itself, and ends.
func (d *differ) expected(ctx context.Context) (err error) {
	if d.checker == nil {
		return nil
	}
	if err := d.checker.run(ctx, d.Dir, d.runs[1]); err != nil {
		return err
	}
	d.result.Expectations, err = d.checker.finish()
	return err
}
