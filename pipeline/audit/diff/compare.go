package diff

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/audit/meaning"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// A comparison writes the rows of changes, pair by pair.
type comparison struct {
	d      *differ
	rows   []schema.Change          // to be written
	agents map[string]*schema.Agent // by name in lower case
	listed map[uint64]uint64        // the categories of those that the table policies has shown, by numbers of texts
	whole  bool                     // every table is compared

	// State of the current pair.
	base    schema.Change // holds host and origin, and the run of the state before
	rank    *int64
	emitted int // rows
	// rows that show no difference of files: what is undecided, an outage that is over, what is beside the file
	unsettled int
	both      []policyPair              // policies that both runs have, as the later run lists them
	at        map[records.PolicyKey]int // their indices in both; negative for those of the earlier run alone
	earlier   []records.Policy          // those of the earlier run
	files     filePair
	groupsFor map[string]bool // tokens, in lower case, whose groups agents of the registry follow
	coarse    bool            // signals are compared for whole files
	proven    bool            // the rows cover every agent and path whose verdict may differ
	gone      bool            // the whole file is: then nothing is in the words of what stood in it
	unknown   []string        // profiles under which a policy is not known in both runs
}

// A policyPair is a policy in both runs.
type policyPair struct {
	rows  [2]records.Policy
	class classes2
}

// classes2 holds the classes of a policy before and after.
type classes2 [2]string

// changed reports whether the class differs.
func (c classes2) changed() bool { return c[0] != c[1] }

func newComparison(d *differ) *comparison {
	c := &comparison{
		d: d, agents: make(map[string]*schema.Agent), listed: make(map[uint64]uint64), at: make(map[records.PolicyKey]int),
		groupsFor: make(map[string]bool), whole: d.rules != nil,
	}
	for i := range records.DetailTables {
		c.whole = c.whole && (i == records.Preferences || slices.Contains(d.tables, i)) // whose lines are signals
	}
	for i := range d.Runs[1].Registry.Agents {
		a := &d.Runs[1].Registry.Agents[i]
		c.agents[strings.ToLower(a.Name)] = a
	}
	return c
}

// emit completes a row with host, origin, rank and the run of its state before, counts
// it and queues it.
func (c *comparison) emit(row schema.Change) error {
	row.Host, row.Origin, row.Rank = c.base.Host, c.base.Origin, c.rank
	if row.BeforeRun == nil && row.Kind != "host_new" {
		row.BeforeRun = c.base.BeforeRun
	}
	if c.gone {
		row.Template = nil
	}
	c.emitted++
	if slices.Contains(change.BesideKinds, row.Kind) || row.Document != nil ||
		change.Undecided(&row) && row.URL == nil {
		c.unsettled++
	}
	c.d.result.add(&row)
	if c.d.checker != nil {
		c.d.checker.Changed(&row)
	}
	if c.rows = append(c.rows, row); len(c.rows) >= 1024 {
		return c.flush()
	}
	return nil
}

func (c *comparison) flush() error {
	err := c.d.write(c.rows...)
	c.rows = c.rows[:0]
	return err
}

// pair writes the rows of one pair, in the order of [Kinds].
func (c *comparison) pair(p *pair) error {
	a, b, last := p.sides[0], p.sides[1], p.last()
	c.base.Host, c.base.Origin, c.rank, c.emitted, c.unsettled = last.Host, last.Origin, last.Rank, 0, 0
	c.base.BeforeRun = &c.d.Before
	c.unknown = c.d.unknown(p)
	c.gone = a != nil && b != nil && a.Digest != "" && b.Digest == ""
	c.files = newFilePair(&p.rows, c.d.names, c.d.Runs[0].Registry, c.d.Runs[1].Registry)
	defer c.endOfPair(p)
	switch {
	case a == nil:
		return c.emit(schema.Change{Kind: "host_new", Severity: change.Minor, After: &b.Outcome})
	case b == nil:
		return c.emit(schema.Change{Kind: "host_gone", Severity: change.Minor, Before: &a.Outcome})
	case !p.seen():
		if !c.d.SameReading || !c.d.SameAnswers {
			return nil // two readings of one answer may have two reasons
		}
		return c.reachability(a, b)
	case c.d.SameReading && !c.d.SameAnswers && !p.plain():
		return c.redirect(p)
	}
	for _, step := range []func(*pair) error{
		c.policies, c.verdicts, c.rules, c.preferences, c.statements, c.outcome, c.groups, c.signals, c.sitemaps,
		c.crawlDelays, c.redirect, c.answers, c.documents, c.coverage, c.outage, c.text,
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
func (c *comparison) reachability(a, b *records.Fetched) error {
	row := schema.Change{Kind: "reachability", Severity: change.ReachabilitySeverity(a.Reason, b.Reason),
		Before: &a.Reason, After: &b.Reason, BeforeRun: &c.d.result.Before}
	switch {
	case a.Origin != b.Origin && !change.Unreachable(a.Reason) && !change.Unreachable(b.Reason):
		row.Before, row.After = &a.Origin, &b.Origin
	case change.Unreachable(a.Reason) != change.Unreachable(b.Reason):
	case a.Since != 0 && b.Since != 0 && a.Since != b.Since:
		// The host was reachable in between.
		since := func(f *records.Fetched) *string {
			return new(change.UnreachableSince + time.UnixMicro(f.Since).UTC().Format(time.RFC3339))
		}
		row.Before, row.After = since(a), since(b)
	case a.Outcome == b.Outcome:
		return nil // unreachable as before
	}
	return c.emit(row)
}

// policies writes a row for each policy whose class changed, unless one of the
// two is unknown.
func (c *comparison) policies(p *pair) error {
	c.pairPolicies(p)
	texts, unknown := c.d.names.Texts(), summary.ClassNames[summary.ClassUnknown]
	for i := range c.both {
		two := &c.both[i]
		now := &two.rows[1]
		if two.class[0] == unknown || two.class[1] == unknown {
			if profile := texts[now.Profile]; !slices.Contains(c.unknown, profile) {
				c.unknown = append(c.unknown, profile)
			}
			continue
		}
		if !two.class.changed() || !c.d.compares(now.Key(), p) {
			continue
		}
		row := classRow(texts[now.Agent], &texts[now.Category], texts[now.Profile], two.class)
		c.setWords(row)
		if err := c.emit(*row); err != nil {
			return err
		}
	}
	return c.policiesAgain(p)
}

// pairPolicies finds the policies that both runs have, and the groups that agents follow.
func (c *comparison) pairPolicies(p *pair) {
	texts := c.d.names.Texts()
	follow := uint64(0) // the group of the policy before
	follows := func(r *records.Policy) {
		if r.Group > 0 && r.Group != follow {
			follow = r.Group
			c.groupsFor[strings.ToLower(texts[r.Group-1])] = true
		}
	}
	c.both, c.earlier = c.both[:0], c.earlier[:0]
	clear(c.at)
	clear(c.groupsFor)
	for d := p.rows[0][records.Policies]; len(d) > 0; {
		r := d.Policy()
		follows(&r)
		c.at[r.Key()] = -1 - len(c.earlier) // not in both so far
		c.earlier = append(c.earlier, r)
	}
	for d := p.rows[1][records.Policies]; len(d) > 0; {
		r := d.Policy()
		follows(&r)
		if category, ok := c.listed[r.Agent]; !ok || category != r.Category { // the table's spelling counts
			c.listed[r.Agent] = r.Category
			c.agents[strings.ToLower(texts[r.Agent])] = &schema.Agent{Name: texts[r.Agent], Category: texts[r.Category]}
		}
		if i := c.at[r.Key()]; i < 0 {
			was := c.earlier[-1-i]
			c.at[r.Key()] = len(c.both)
			c.both = append(c.both, policyPair{[2]records.Policy{was, r}, classes2{texts[was.Class], texts[r.Class]}})
		}
	}
}

// policy returns a policy that both runs have; a zero one if they do not.
func (c *comparison) policy(key records.PolicyKey) policyPair {
	if i, ok := c.at[key]; ok && i >= 0 {
		return c.both[i]
	}
	return policyPair{}
}

// policyOf returns the policy of an agent under a profile, as policy does.
func (c *comparison) policyOf(profile, agent string) policyPair {
	return c.policy(records.PolicyKey{Profile: c.d.names.ID(profile), Agent: c.d.names.ID(agent)})
}

// policiesAgain writes the rows of policies whose class changed, as the later run
// defines the profile and the agent, where the runs define them differently.
func (c *comparison) policiesAgain(p *pair) error {
	if len(c.d.Redefined)+len(c.d.Others) == 0 {
		return nil
	}
	return c.eachResult(p, func(profile string, result *meaning.Result) error {
		for i := range result.Differences {
			x := &result.Differences[i]
			if !c.isAgain(profile, x) || x.Classes[0] == x.Classes[1] || !c.isKnown(profile, x) {
				continue
			}
			row := classRow(x.Agent, c.category(x.Agent), profile, x.Classes)
			c.setWords(row)
			if err := c.emit(*row); err != nil {
				return err
			}
		}
		return nil
	})
}

// isAgain reports whether the changes of a policy are those of the files, judged by
// the later definition, and not those of the tables.
func (c *comparison) isAgain(profile string, x *meaning.Difference) bool {
	return !x.Stranger && (c.d.Redefined[x.Agent] || slices.Contains(c.d.Others, profile))
}

// classRow returns the row of a policy whose class changed.
func classRow(agent string, category *string, profile string, class classes2) *schema.Change {
	return &schema.Change{
		Kind: "policy_class", Severity: change.ClassSeverity(class[0], class[1]), Agent: &agent, Category: category,
		Profile: &profile, Before: &class[0], After: &class[1],
	}
}

// outcome writes a row if the rules as a whole appeared or disappeared, or the
// status of the answer closed or opened the host.
func (c *comparison) outcome(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if !c.d.SameReading || a.Outcome == b.Outcome {
		return nil
	}
	return c.emit(schema.Change{Kind: "outcome", Severity: change.OutcomeSeverity(a.Outcome, b.Outcome),
		Before: &a.Outcome, After: &b.Outcome})
}

// redirect writes a row if robots.txt was found at another URL.
func (c *comparison) redirect(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if a.Final == b.Final || a.Final == "" || b.Final == "" {
		return nil
	}
	return c.emit(schema.Change{Kind: "redirect", Severity: change.RedirectSeverity(a.Final, b.Final), Before: &a.Final,
		After: &b.Final})
}

// text writes a row if the texts differ and no other row shows a difference. The
// change is cosmetic only if it is proven that no verdict on any path differs,
// for any agent.
func (c *comparison) text(p *pair) error {
	a, b := p.sides[0], p.sides[1]
	if !c.d.SameReading || c.emitted > c.unsettled || a.Digest == b.Digest || a.Digest == "" || b.Digest == "" {
		return nil
	}
	return c.emit(schema.Change{Kind: "text", Severity: change.TextSeverity(c.whole && !c.coarse && c.proven),
		Before: &a.Digest, After: &b.Digest})
}

// sitemaps writes a row for each sitemap that appeared or disappeared.
func (c *comparison) sitemaps(p *pair) error {
	type sitemap struct {
		url  string
		line int32
	}
	byURL := func(a, b *sitemap) int { return cmp.Compare(a.url, b.url) }
	read := func(d records.Decoder) (all []sitemap) {
		for len(d) > 0 {
			line, url := d.Sitemap()
			all = append(all, sitemap{url, line})
		}
		slices.SortStableFunc(all, func(a, b sitemap) int { return byURL(&a, &b) })
		return slices.CompactFunc(all, func(a, b sitemap) bool { return a.url == b.url }) // the first line
	}
	for a, b := range sideBySide(read(p.rows[0][records.Sitemaps]), read(p.rows[1][records.Sitemaps]), byURL) {
		row := schema.Change{Kind: "sitemap", Severity: change.Minor}
		switch {
		case a == nil:
			row.After, row.LineAfter, row.URL = &b.url, &b.line, &b.url
		case b == nil:
			row.Before, row.LineBefore, row.URL = &a.url, &a.line, &a.url
		default:
			continue
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}
