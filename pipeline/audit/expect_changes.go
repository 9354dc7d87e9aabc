package audit

import (
	"slices"

	"github.com/robocensus/robocensus/sink"
)

// changed checks a change against the expectations of kind no_change.
func (c *checker) changed(row *sink.Change) {
	for _, k := range c.meant("changes") {
		x := c.expectations.list[k]
		if !x.matches(row.Host) || !slices.Contains(x.NoChange, "all") && !slices.Contains(x.NoChange, row.Kind) {
			continue
		}
		switch {
		case row.Kind == "rules" && *row.After == undecided && x.dependsOn(row):
			c.promises[k].Undecided++
		case x.forbids(row):
			c.breach(k, Breach{Host: row.Host, Agent: row.Agent, Profile: row.Profile, URL: row.URL, Found: shownFound(row), Line: row.LineAfter})
		}
	}
}

// forbids reports whether the expectation forbids a change of one of its kinds.
func (x *expectation) forbids(row *sink.Change) bool {
	if !x.Severity.has(row.Severity) || len(x.After) > 0 && (row.After == nil || !x.After.has(*row.After)) {
		return false
	}
	// A row without an agent, profile or URL passes no filter by it.
	return !((len(x.Agents) > 0 || len(x.Category) > 0) && (row.Agent == nil || !x.isOf(*row.Agent, text(row.Category))) ||
		len(x.Profile) > 0 && (row.Profile == nil || !x.Profile.has(*row.Profile)) ||
		len(x.URLs) > 0 && (row.URL == nil || !x.URLs.has(*row.URL)))
}

// dependsOn reports whether a change whose meaning is undecided could be forbidden. It
// is false if the change is certainly forbidden, because a path shows a difference and
// any difference is forbidden.
func (x *expectation) dependsOn(row *sink.Change) bool {
	if row.URL != nil && len(x.Severity)+len(x.After)+len(x.URLs) == 0 {
		return false
	}
	if row.Agent == nil {
		// The row is about all agents. It counts only if the expectation names the
		// kind rules: runs without bodies have such a row for every changed text.
		if !slices.Contains(x.NoChange, "rules") {
			return false
		}
	} else if !x.isOf(*row.Agent, text(row.Category)) {
		return false
	}
	return row.Profile == nil || x.Profile.has(*row.Profile)
}

// pair counts the host of a pair: as checked if both sides were read and its changes
// would be found, else as unknown. For what is about the outage itself, or about who is
// in the list, any pair is checked.
func (c *checker) pair(p *pair, compared bool, blind []bool) {
	for _, k := range c.meant("changes") {
		switch x := c.expectations.list[k]; {
		case !x.matches(p.last().host):
		case compared && !blind[k], !slices.ContainsFunc(x.NoChange, needsBoth):
			c.promises[k].Checked++
		default:
			c.promises[k].Unknown++
		}
	}
}

// needsBoth reports whether a change of a kind shows only where both sides were read.
func needsBoth(kind string) bool {
	return !slices.Contains([]string{"reachability", "host_new", "host_gone"}, kind)
}

// shownFound returns a change as the text of a breach.
func shownFound(c *sink.Change) string {
	side := func(s *string) string {
		if s == nil {
			return "none"
		}
		return *s
	}
	return c.Kind + ": " + side(c.Before) + " → " + side(c.After)
}
