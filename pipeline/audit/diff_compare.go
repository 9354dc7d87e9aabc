package audit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// A comparison writes the rows of changes, pair by pair.
type comparison struct {
	d      *differ
	rows   []sink.Change         // to be written
	agents map[string]registered // by name in lower case
	whole  bool                  // every table is compared

	// State of the current pair.
	base      sink.Change // holds host and origin, and the run of the state before
	rank      *int64
	emitted   int // rows
	unsettled int // rows that show no difference: what is undecided, and an outage that is over
	classes   map[agentProfile]classes2
	groupsFor map[string]bool      // tokens, in lower case, whose groups agents of the registry follow
	before    map[agentProfile]int // where the verdicts of a policy begin in the earlier run
	coarse    bool                 // signals are compared for whole files
	proven    bool                 // the rows cover every agent and path whose verdict may differ
	unknown   []string             // profiles under which a policy is not known in both runs
}

// registered is an agent of the registry, as the table policies spells it.
type registered struct{ name, category string }

// classes2 holds the classes of a policy before and after.
type classes2 [2]string

// changed reports whether the class differs.
func (c classes2) changed() bool { return c[0] != c[1] }

func newComparison(d *differ) *comparison {
	c := &comparison{
		d: d, agents: make(map[string]registered), classes: make(map[agentProfile]classes2),
		groupsFor: make(map[string]bool), before: make(map[agentProfile]int), whole: len(d.tables) == len(detailNames) && d.rules != nil,
	}
	for _, a := range d.runs[1].Registry.Agents {
		c.agents[strings.ToLower(a.Agent)] = registered{a.Agent, a.Category}
	}
	return c
}

// emit completes a row with host, origin, rank and the run of its state before, counts
// it and queues it.
func (c *comparison) emit(row sink.Change) error {
	row.Host, row.Origin, row.Rank = c.base.Host, c.base.Origin, c.rank
	if row.BeforeRun == nil && row.Kind != "host_new" {
		row.BeforeRun = c.base.BeforeRun
	}
	c.emitted++
	if row.Kind == "reachability" || row.Kind == "rules" && *row.After == rulesUndecided && row.URL == nil {
		c.unsettled++
	}
	c.d.result.add(&row)
	if c.d.checker != nil {
		c.d.checker.changed(&row)
	}
	if c.rows = append(c.rows, row); len(c.rows) >= 1024 {
		return c.flush()
	}
	return nil
}

func (c *comparison) flush() error {
	err := c.d.out.Write(c.rows...)
	c.rows = c.rows[:0]
	return err
}

// pair writes the rows of one pair, in the order of [Kinds].
func (c *comparison) pair(p *pair) error {
	a, b, last := p.sides[0], p.sides[1], p.last()
	c.base.Host, c.base.Origin, c.rank, c.emitted, c.unsettled = last.host, last.origin, last.rank, 0, 0
	c.base.BeforeRun = &c.d.Before
	c.unknown = c.d.unknown(p)
	defer c.endOfPair(p)
	switch {
	case a == nil:
		return c.emit(sink.Change{Kind: "host_new", Severity: minor, After: &b.outcome})
	case b == nil:
		return c.emit(sink.Change{Kind: "host_gone", Severity: minor, Before: &a.outcome})
	case !p.seen():
		if !c.d.reading || !c.d.answers {
			return nil // two readings of one answer may have two reasons
		}
		return c.reachability(a, b)
	case c.d.reading && !c.d.answers && !p.plain():
		return c.redirect(p)
	}
	for _, step := range []func(*pair) error{
		c.policies, c.verdicts, c.rules, c.outcome, c.groups, c.signals, c.sitemaps, c.crawlDelays, c.redirect, c.outage, c.text,
	} {
		if err := step(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) endOfPair(p *pair) {
	c.d.check(p, c.unknown)
	c.d.result.endOfPair()
}

// outage writes the row of a host that the first run did not see, if the state before is
// that of an earlier run.
func (c *comparison) outage(p *pair) error {
	if p.outage == nil {
		return nil
	}
	return c.reachability(p.outage, p.sides[1])
}

// reachability writes the row of a host that one of the runs did not see.
func (c *comparison) reachability(a, b *fetched) error {
	row := sink.Change{Kind: "reachability", Severity: reachabilitySeverity(a.reason, b.reason), Before: &a.reason, After: &b.reason, BeforeRun: &c.d.result.Before}
	switch {
	case a.origin != b.origin && !unreachable[a.reason] && !unreachable[b.reason]:
		row.Before, row.After = &a.origin, &b.origin
	case unreachable[a.reason] != unreachable[b.reason]:
	case a.since != 0 && b.since != 0 && a.since != b.since:
		// The host was reachable in between.
		since := func(f *fetched) *string {
			return sink.Some(unreachableSince + time.UnixMicro(f.since).UTC().Format(time.RFC3339))
		}
		row.Before, row.After = since(a), since(b)
	case a.outcome == b.outcome:
		return nil // unreachable as before
	}
	return c.emit(row)
}

// policies writes a row for each policy whose class changed, unless one of the
// two is unknown.
func (c *comparison) policies(p *pair) error {
	clear(c.classes)
	clear(c.groupsFor)
	names := c.d.names
	class := func(r policyRow) string {
		if r.group > 0 {
			c.groupsFor[strings.ToLower(names.text(r.group-1))] = true
		}
		return names.text(r.class)
	}
	for d := p.rows[0][tablePolicies]; len(d) > 0; {
		r := d.policy()
		c.classes[agentProfile{r.profile, r.agent}] = classes2{class(r), ""}
	}
	for d := p.rows[1][tablePolicies]; len(d) > 0; {
		r := d.policy()
		key, after := agentProfile{r.profile, r.agent}, class(r)
		agent, category := names.text(r.agent), names.text(r.category)
		c.agents[strings.ToLower(agent)] = registered{agent, category}
		was, ok := c.classes[key]
		if !ok {
			continue
		}
		before := was[0]
		c.classes[key] = classes2{before, after}
		if unknown := summary.ClassNames[summary.ClassUnknown]; before == unknown || after == unknown {
			if profile := names.text(r.profile); !slices.Contains(c.unknown, profile) {
				c.unknown = append(c.unknown, profile)
			}
			continue
		}
		if before == after || !c.d.compares(key, p) {
			continue
		}
		if err := c.emit(*classRow(agent, &category, names.text(r.profile), c.classes[key])); err != nil {
			return err
		}
	}
	return c.policiesAgain(p)
}

// policiesAgain writes the rows of policies whose class changed, as the later run
// defines the profile and the agent, where the runs define them differently.
func (c *comparison) policiesAgain(p *pair) error {
	if len(c.d.redefined)+len(c.d.others) == 0 {
		return nil
	}
	return c.eachResult(p, func(profile *robots.Profile, result *rulesResult) error {
		for i := range result.rows {
			x := &result.rows[i]
			if !c.isAgain(profile.Name, x) || x.classes[0] == x.classes[1] || !c.isKnown(profile.Name, x) {
				continue
			}
			if err := c.emit(*classRow(x.agent, c.category(x.agent), profile.Name, x.classes)); err != nil {
				return err
			}
		}
		return nil
	})
}

// isAgain reports whether the changes of a policy are those of the files, judged by
// the later definition, and not those of the tables.
func (c *comparison) isAgain(profile string, x *ruleRow) bool {
	return !x.stranger && (c.d.redefined[x.agent] || slices.Contains(c.d.others, profile))
}

// classRow returns the row of a policy whose class changed.
func classRow(agent string, category *string, profile string, class classes2) *sink.Change {
	return &sink.Change{
		Kind: "policy_class", Severity: classSeverity(class[0], class[1]), Agent: &agent, Category: category, Profile: &profile, Before: &class[0], After: &class[1],
	}
}

// outcome writes a row if the rules as a whole appeared or disappeared, or the
// status of the answer closed or opened the host.
func (c *comparison) outcome(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if !c.d.reading || a.outcome == b.outcome {
		return nil
	}
	return c.emit(sink.Change{Kind: "outcome", Severity: outcomeSeverity(a.outcome, b.outcome), Before: &a.outcome, After: &b.outcome})
}

// redirect writes a row if robots.txt was found at another URL.
func (c *comparison) redirect(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if a.final == b.final || a.final == "" || b.final == "" {
		return nil
	}
	return c.emit(sink.Change{Kind: "redirect", Severity: redirectSeverity(a.final, b.final), Before: &a.final, After: &b.final})
}

// text writes a row if the texts differ and no other row shows a difference. The
// change is cosmetic only if it is proven that no verdict on any path differs,
// for any agent.
func (c *comparison) text(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if !c.d.reading || c.emitted > c.unsettled || a.digest == b.digest || a.digest == "" || b.digest == "" {
		return nil
	}
	return c.emit(sink.Change{Kind: "text", Severity: textSeverity(c.whole && !c.coarse && c.proven), Before: &a.digest, After: &b.digest})
}

// sitemaps writes a row for each sitemap that appeared or disappeared.
func (c *comparison) sitemaps(p *pair) error {
	read := func(d decoder) (urls []string, lines map[string]int32) {
		lines = make(map[string]int32)
		for len(d) > 0 {
			line, url := d.sitemap()
			if _, ok := lines[url]; !ok {
				lines[url], urls = line, append(urls, url)
			}
		}
		slices.Sort(urls)
		return urls, lines
	}
	before, linesBefore := read(p.rows[0][tableSitemaps])
	after, linesAfter := read(p.rows[1][tableSitemaps])
	for len(before)+len(after) > 0 {
		order := compareHeads(before, after, cmp.Compare[string])
		row := sink.Change{Kind: "sitemap", Severity: minor}
		if order <= 0 {
			row.Before, row.LineBefore = &before[0], sink.Some(linesBefore[before[0]])
			row.URL, before = row.Before, before[1:]
		}
		if order >= 0 {
			row.After, row.LineAfter = &after[0], sink.Some(linesAfter[after[0]])
			row.URL, after = row.After, after[1:]
		}
		if order != 0 {
			if err := c.emit(row); err != nil {
				return err
			}
		}
	}
	return nil
}
