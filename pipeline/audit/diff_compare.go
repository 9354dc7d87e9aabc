package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// Severities of changes. Critical is what shuts an agent out; major is what
// closes a part, opens what was shut, or says otherwise what content may be
// used for; minor is the rest of what has a meaning; cosmetic has none.
const (
	critical = "critical"
	major    = "major"
	minor    = "minor"
	cosmetic = "cosmetic"
)

// Severities and Kinds are the values of these columns, in the order in which
// they are told.
var (
	Severities = []string{critical, major, minor, cosmetic}
	Kinds      = []string{
		"policy_class", "verdict", "rules", "outcome", "group", "signal", "sitemap", "crawl_delay", "redirect",
		"reachability", "host_new", "host_gone", "text",
	}
)

// comparison makes the rows of changes, pair by pair. Its memory is reused
// from pair to pair.
type comparison struct {
	d         *differ
	base      sink.Change // host and origin of the pair under way
	rank      *int64
	emitted   int // rows of the pair
	rows      []sink.Change
	agents    map[string]registered // by name in lower case
	classes   map[agentProfile]classes2
	groupsFor map[string]bool // tokens whose groups agents of the registry follow, in lower case
	before    map[agentProfile]int
	whole     bool // every table is compared
	coarse    bool // of the pair: its signals for the files as a whole
	proven    bool // of the pair: the meaning of all rules is compared, and where it differs, told
	unsettled int  // rows of the pair that show no difference, and say that one is undecided
}

// registered is an agent of the registry, as policies has it.
type registered struct{ name, category string }

// agentProfile names a policy by the numbers of both.
type agentProfile struct{ profile, agent uint64 }

// classes2 are the classes of a policy before and after.
type classes2 [2]string

func newComparison(d *differ) *comparison {
	return &comparison{
		d: d, agents: make(map[string]registered), classes: make(map[agentProfile]classes2),
		groupsFor: make(map[string]bool), before: make(map[agentProfile]int), whole: len(d.tables) == len(detailTables) && d.rules != nil,
	}
}

// emit takes a row, which lacks host, origin and rank.
func (c *comparison) emit(row sink.Change) error {
	row.Host, row.Origin, row.Rank = c.base.Host, c.base.Origin, c.rank
	c.emitted++
	if row.Kind == "rules" && *row.After == undecided && row.URL == nil {
		c.unsettled++
	}
	c.d.result.add(&row, c.rank)
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

// pair makes the rows of one pair, in the order of [Kinds].
func (c *comparison) pair(p *pair) error {
	a, b, last := p.sides[0], p.sides[1], p.last()
	c.base.Host, c.base.Origin, c.rank, c.emitted, c.unsettled = last.host, last.origin, last.rank, 0, 0
	defer c.d.result.endOfPair()
	switch {
	case a == nil:
		return c.emit(sink.Change{Kind: "host_new", Severity: minor, After: &b.outcome})
	case b == nil:
		return c.emit(sink.Change{Kind: "host_gone", Severity: minor, Before: &a.outcome})
	case !p.seen():
		if !c.d.reading {
			return nil // two readings of one answer may have two reasons
		}
		return c.reachability(a, b)
	}
	for _, step := range []func(*pair) error{
		c.policies, c.verdicts, c.rules, c.outcome, c.groups, c.signals, c.sitemaps, c.crawlDelays, c.redirect, c.text,
	} {
		if err := step(p); err != nil {
			return err
		}
	}
	return nil
}

// reachability makes the one row of a host that one of the runs did not see:
// what it says meanwhile is not known, or not from this run.
func (c *comparison) reachability(a, b *fetched) error {
	row := sink.Change{Kind: "reachability", Severity: minor, Before: &a.reason, After: &b.reason}
	switch {
	case a.origin != b.origin && !unreachable[a.reason] && !unreachable[b.reason]:
		row.Before, row.After = &a.origin, &b.origin
	case unreachable[a.reason] != unreachable[b.reason]:
		if unreachable[b.reason] {
			row.Severity = major
		}
	case a.since != 0 && b.since != 0 && a.since != b.since:
		// It was back in the meantime.
		since := func(f *fetched) *string {
			return sink.Some("unreachable since " + time.UnixMicro(f.since).UTC().Format(time.RFC3339))
		}
		row.Before, row.After = since(a), since(b)
	case a.outcome == b.outcome:
		return nil // unreachable as before
	}
	return c.emit(row)
}

// classSeverity is that of a policy that went from one class to another.
func classSeverity(before, after string) string {
	switch {
	case after == summary.ClassNames[robots.DisallowAll]:
		return critical
	case before == summary.ClassNames[robots.DisallowAll], before == summary.ClassNames[robots.AllowAll]:
		return major
	}
	return minor // partial → allow_all
}

// policyRow is a row of policies, texts by their numbers; group is one more
// than its number.
type policyRow struct{ profile, agent, category, class, group uint64 }

func (d *decoder) policy() policyRow {
	return policyRow{d.uint(), d.uint(), d.uint(), d.uint(), d.uint()}
}

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
		if before == after || before == summary.ClassNames[summary.ClassUnknown] || after == summary.ClassNames[summary.ClassUnknown] {
			continue
		}
		err := c.emit(sink.Change{
			Kind: "policy_class", Severity: classSeverity(before, after), Agent: &agent, Category: &category,
			Profile: sink.Some(names.text(r.profile)), Before: &before, After: &after,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// outcome tells when the rules came or went as a whole, or the host is closed
// or open by its status.
func (c *comparison) outcome(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if !c.d.reading || a.outcome == b.outcome {
		return nil
	}
	severity := major
	switch b.outcome {
	case string(robots.FullDisallow):
		severity = critical
	case string(robots.ConditionalAllow):
		if a.outcome == string(robots.FullAllow) {
			severity = minor
		}
	}
	return c.emit(sink.Change{Kind: "outcome", Severity: severity, Before: &a.outcome, After: &b.outcome})
}

func (c *comparison) redirect(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if a.final == b.final || a.final == "" || b.final == "" {
		return nil
	}
	severity := minor
	if siteOf(a.final) != siteOf(b.final) {
		severity = major // another site says what this one's policy is
	}
	return c.emit(sink.Change{Kind: "redirect", Severity: severity, Before: &a.final, After: &b.final})
}

// siteOf is the authority of a URL without its leading www.
func siteOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "/")
	return strings.TrimPrefix(rest, "www.")
}

// text tells that only the text differs: no verdict on any path does, for any
// agent, and nothing else. That is proven where the change is cosmetic.
func (c *comparison) text(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if !c.d.reading || c.emitted > c.unsettled || a.digest == b.digest || a.digest == "" || b.digest == "" {
		return nil
	}
	severity := cosmetic
	if !c.whole || c.coarse || !c.proven {
		severity = minor // what it means is undecided
	}
	return c.emit(sink.Change{Kind: "text", Severity: severity, Before: &a.digest, After: &b.digest})
}

func (c *comparison) sitemaps(p *pair) error {
	read := func(d decoder) (urls []string, lines map[string]int32) {
		lines = make(map[string]int32)
		for len(d) > 0 {
			line, url := int32(d.uint()), d.text()
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

func number(v float64) *string { return sink.Some(strconv.FormatFloat(v, 'f', -1, 64)) }
