package show

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/diffs"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/schema"
)

// changeView is a row of the table changes as JSON.
type changeView schema.Change

func (c changeView) MarshalJSON() ([]byte, error) {
	return schema.JSON(c, "severity, kind, agent, profile, url, before, after, line_before, line_after, before_run, use, "+
		"template_before, template_after, template, identity, document")
}

// isAsked reports whether a change is one under a profile, and about one of the agents,
// if there are any, or about the whole host.
func isAsked(c *schema.Change, profile string, agents []string) bool {
	if c.Profile != nil && *c.Profile != profile {
		return false
	}
	return len(agents) == 0 || c.Agent == nil ||
		slices.ContainsFunc(agents, func(a string) bool { return strings.EqualFold(a, *c.Agent) })
}

// mostNamed is how many agents of one change are named.
const mostNamed = 4

// toldChanges tells the changes of a host, one line for those that are alike. A state before
// that is not from the run before is told with its run.
func toldChanges(p cli.Page, rows []changeView, before string) (lines []string) {
	type folded struct {
		*diff.Example
		agents []string
	}
	var all []*folded
	for i := range rows {
		e := &diff.Example{Change: schema.Change(rows[i])}
		at := slices.IndexFunc(all, func(f *folded) bool { return e.Agent != nil && f.Agent != nil && isAlike(f.Example, e) })
		switch {
		case at < 0:
			at = len(all)
			all = append(all, &folded{Example: e})
		case e.Kind == "verdict":
			all[at].More++
			continue
		}
		if e.Agent != nil {
			all[at].agents = append(all[at].agents, *e.Agent)
		}
	}
	for _, f := range all {
		if len(f.agents) > 1 {
			f.Agent = new(past.Some(f.agents, mostNamed))
		}
		line := f.Severity + ", " + diffs.ToldOfHost(p, f.Example)
		if f.BeforeRun != nil && *f.BeforeRun != before {
			line += " (since " + p.Foreign(*f.BeforeRun) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// isAlike reports whether two changes differ only in the agent; verdicts, also in the URL
// and the lines.
func isAlike(a, b *diff.Example) bool {
	if a.Kind == "verdict" && b.Kind == "verdict" {
		return schema.OrZero(a.Before) == schema.OrZero(b.Before) && schema.OrZero(a.After) == schema.OrZero(b.After) &&
			schema.OrZero(a.BeforeRun) == schema.OrZero(b.BeforeRun)
	}
	if a.Kind != b.Kind || a.Severity != b.Severity || schema.OrZero(a.LineBefore) != schema.OrZero(b.LineBefore) ||
		schema.OrZero(a.LineAfter) != schema.OrZero(b.LineAfter) {
		return false
	}
	for _, cells := range [][2]*string{{a.Profile, b.Profile}, {a.URL, b.URL}, {a.Before, b.Before}, {a.After, b.After},
		{a.BeforeRun, b.BeforeRun}, {a.Use, b.Use}, {a.Identity, b.Identity}, {a.Document, b.Document},
		{a.Template, b.Template}} {
		if schema.OrZero(cells[0]) != schema.OrZero(cells[1]) {
			return false
		}
	}
	return true
}
