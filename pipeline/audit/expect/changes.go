package expect

import (
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Changed checks a change against the expectations of kind no_change.
func (c *Checker) Changed(row *schema.Change) {
	for _, k := range c.meant("changes") {
		x, p := c.expectations.list[k], c.promises[k]
		switch {
		case !x.matches(row.Host):
		case x.dependsOn(row):
			p.Undecided++
		case !x.forbids(row):
		case c.choice != "" && (row.Kind == "host_new" || row.Kind == "host_gone"):
			p.Undecided++
			p.passing++
			p.choice = c.choice
		default:
			c.forbidden(k, row)
		}
	}
}

// Covered checks a change that has no row, because the row by says it already. It
// breaks the expectations that the other row does not break.
func (c *Checker) Covered(row, by *schema.Change) {
	for _, k := range c.meant("changes") {
		switch x := c.expectations.list[k]; {
		case !x.matches(row.Host), x.forbids(by):
		case x.dependsOn(row):
			c.promises[k].Undecided++
		case x.forbids(row):
			c.forbidden(k, row)
		}
	}
}

func (c *Checker) forbidden(k int, row *schema.Change) {
	c.breach(k, Breach{Host: row.Host, Agent: row.Agent, Profile: row.Profile, URL: row.URL, Found: shownFound(row),
		Line: row.LineAfter})
}

// isAbout reports whether the expectation is about changes of a kind.
func (x *expectation) isAbout(kind string) bool { return slices.Contains(x.kinds, kind) }

// forbids reports whether the expectation forbids a change. One of rules also forbids
// that an agent's class changes: the policy then means something else too.
func (x *expectation) forbids(row *schema.Change) bool {
	if x.isAbout(row.Kind) && x.names(row) {
		return true
	}
	move, ok := summary.MoveOf(row)
	if !ok || row.Kind != "policy_class" || !x.isAbout("rules") {
		return false
	}
	as := *row
	as.Kind, as.Severity, as.After = "rules", change.RulesSeverity(move.Closes), new(change.RulesAfter[robots.Looser])
	if move.Closes {
		as.After = new(change.RulesAfter[robots.Stricter])
	}
	return x.names(&as)
}

// names reports whether a change has what the expectation names.
func (x *expectation) names(row *schema.Change) bool {
	if !x.Severity.has(row.Severity) || len(x.After) > 0 && (row.After == nil || !x.After.has(*row.After)) {
		return false
	}
	// A row without an agent, profile or URL passes no filter by it.
	return !((len(x.Agents) > 0 || len(x.Category) > 0) &&
		(row.Agent == nil || !x.isOf(*row.Agent, schema.OrZero(row.Category))) ||
		len(x.Profile) > 0 && (row.Profile == nil || !x.Profile.has(*row.Profile)) ||
		len(x.Identity) > 0 && (row.Identity == nil || !x.Identity.has(*row.Identity)) ||
		len(x.Use) > 0 && (row.Use == nil || !x.Use.has(*row.Use)) ||
		len(x.URLs) > 0 && (row.URL == nil || !x.URLs.has(*row.URL)))
}

// dependsOn reports whether a change whose meaning is undecided could be forbidden. It
// is false if the change is certainly forbidden, because a path shows a difference and
// any difference is forbidden.
func (x *expectation) dependsOn(row *schema.Change) bool {
	if !change.Undecided(row) || !x.isAbout(row.Kind) || row.URL != nil && len(x.Severity)+len(x.After) == 0 ||
		row.Use != nil && !x.Use.has(*row.Use) || row.Identity != nil && !x.Identity.has(*row.Identity) {
		return false
	}
	if row.Identity != nil {
		return x.isOf(schema.OrZero(row.Agent), schema.OrZero(row.Category))
	}
	if row.Document != nil { // which states it to nobody of the registry
		return len(x.Agents)+len(x.Category)+len(x.Profile) == 0
	}
	if row.Agent == nil {
		// The row is about all agents. It counts only if the expectation names the
		// kind rules: runs without bodies have such a row for every changed text.
		if !slices.Contains(x.NoChange, "rules") {
			return false
		}
	} else if !x.isOf(*row.Agent, schema.OrZero(row.Category)) {
		return false
	}
	return row.Profile == nil || x.Profile.has(*row.Profile)
}

// A Pair is what is known of an origin in two runs.
type Pair struct {
	Host          string
	Before, After bool     // whether the earlier and the later run have it
	Compared      bool     // its policies are compared
	Unknown       []string // profiles under which a policy of it is not known in both runs
	Asked         []Asked  // identities under which it was asked in either run
	Documents     bool     // both runs know which documents of consent it has
	Listed        bool     // both runs know what it lists
}

// Asked says of an identity whether both runs show how a host answers it.
type Asked struct {
	IsPage                    bool // for a page, not for robots.txt
	Identity, Agent, Category string
	Known                     bool
}

// Pair counts the host of a pair: as checked if the comparison would have found each
// change that an expectation is about, else as unknown.
func (c *Checker) Pair(p *Pair, by *Comparison) {
	for _, k := range c.meant("changes") {
		x := c.expectations.list[k]
		switch {
		case !c.saw(k, p.Host, covered):
		case x.sees(p, p.Compared && !by.blind[k]):
			c.promises[k].Hosts++
			c.promises[k].Checked++
			c.saw(k, p.Host, checked)
		case !x.isOfHosts():
			c.promises[k].Hosts++
			c.promises[k].Unknown++
		}
	}
}

// isOfHosts reports whether the expectation is only about which hosts there are.
func (x *expectation) isOfHosts() bool {
	return !slices.ContainsFunc(x.kinds, func(kind string) bool { return kind != "host_new" && kind != "host_gone" })
}

// sees reports whether each change that the expectation is about would have been found
// of a host. compared reports whether its policies are compared.
func (x *expectation) sees(p *Pair, compared bool) bool {
	for _, name := range x.kinds {
		k := change.Named(name)
		switch {
		case name == "host_new" && p.After, name == "host_gone" && p.Before:
		case name == "reachability" && p.Before && p.After:
		case name == "host_new", name == "host_gone", name == "reachability", !compared,
			k.OfIdentities() && !x.seesAnswers(name, p),
			name == "document" && x.isNamed(name) && !p.Documents,
			name == "coverage" && x.isNamed(name) && !p.Listed:
			return false
		case k.Policy && slices.ContainsFunc(p.Unknown, x.Profile.has):
			return false
		}
	}
	return true
}

// isNamed reports whether the expectation is about changes of a kind by its words, and not by all
// alone. Who names an identity means what it gets for robots.txt, or what it meets on pages if the
// other words leave only that.
func (x *expectation) isNamed(kind string) bool {
	return slices.Contains(x.NoChange, kind) || len(x.Identity) > 0 &&
		(kind == "answer" || kind == "page" && !slices.Contains(x.kinds, "answer"))
}

// seesAnswers reports whether both runs show how a host answers each identity that the
// expectation is about, for robots.txt or for a page by the kind of changes, and there is one if it
// names such changes.
func (x *expectation) seesAnswers(kind string, p *Pair) bool {
	found := !x.isNamed(kind)
	for _, a := range p.Asked {
		if a.IsPage == (kind == "page") && x.Identity.has(a.Identity) && x.isOf(a.Agent, a.Category) {
			if !a.Known {
				return false
			}
			found = true
		}
	}
	return found
}

// shownFound returns a change as the text of a breach.
func shownFound(c *schema.Change) string {
	side := func(s *string) string {
		if s == nil {
			return "none"
		}
		return *s
	}
	what := c.Kind
	if c.Identity != nil {
		what += " to " + *c.Identity
	}
	if c.Document != nil {
		what += " of " + *c.Document
	}
	return what + ": " + side(c.Before) + " → " + side(c.After)
}
