package diff

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/audit/meaning"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// rulesDiff compares the rules of two runs by meaning.
type rulesDiff struct {
	judges []judge                         // under profiles that both runs have, the first profile first
	roomy  *robots.Profile                 // the first without its size limit; nil if the tables do not hold its reading
	bodies bool                            // some profile needs bodies, and both runs have them
	known  map[[2]string][]*meaning.Result // by digests
	rows   int                             // size of known
}

// A judge is a profile that judges agents under a profile of the runs. Under all but own
// it is that profile, and judges all of them.
type judge struct {
	under     string
	profile   *robots.Profile
	agents    [2][]robots.Agent // agents that both runs judge, in one order
	strangers bool              // it also judges agents that the files name and the registry does not
}

// planRules decides how the meaning of rules is compared.
func (d *differ) planRules() {
	if !d.SameReading && (len(d.Others) == 0 || d.lack("bodies") != "") {
		return
	}
	if lack := d.lacking(func(m *past.Run) bool { return m.Registry.Known }); lack != "" {
		d.note("the meaning of rules is not compared: %s no table agents", lack)
		return
	}
	if d.lack("groups")+d.lack("rules") != "" {
		return // planTables has noted it
	}
	r := &rulesDiff{known: make(map[[2]string][]*meaning.Result), bodies: d.lack("bodies") == ""}
	var without []string
	for _, name := range d.Runs[1].Profiles {
		if !slices.Contains(d.Common, name) && !(slices.Contains(d.Others, name) && r.bodies) || !d.SameReading &&
			slices.Contains(d.Common, name) {
			continue
		}
		p, err := past.Profile(d.Runs[1].Manifest, name)
		first := name == d.Runs[1].FirstProfile()
		if err != nil {
			d.note("%v: the meaning of rules is not compared under it", err)
			if first {
				return
			}
			continue
		}
		judges, err := d.judgesUnder(p)
		if err != nil {
			d.note("%v: the meaning of rules is not compared under %s", err, name)
			continue
		}
		r.judges = append(r.judges, judges...)
		if first && d.SameReading && meaning.ReadsTables(p) {
			r.roomy = meaning.WithoutLimit(judges[0].profile)
		}
		if r.roomy == nil || !first || len(judges) > 1 {
			without = append(without, name)
		}
	}
	r.bodies = r.bodies && len(without) > 0
	if !r.bodies && len(without) > 0 {
		d.note("without the table bodies (--keep-bodies) the meaning of rules is undecided under %s",
			strings.Join(without, ", "))
	}
	if len(r.judges) > 0 {
		d.rules = r
	}
}

// judgesUnder returns the profiles that judge under a profile, and first the one that
// judges agents outside the registry. It does not set their agents.
func (d *differ) judgesUnder(p *robots.Profile) ([]judge, error) {
	agents := []schema.Agent{{}} // one outside the registry
	if p.ByAgent {
		agents = append(agents, d.Runs[1].Registry.Agents...)
	}
	var judges []judge
	for i := range agents {
		by, err := past.JudgedBy(d.Runs[1].Manifest, p, &agents[i])
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(judges, func(j judge) bool { return j.profile.Name == by.Name }) {
			judges = append(judges, judge{under: p.Name, profile: by, strangers: i == 0})
		}
	}
	return judges, nil
}

// ruleAgents finds the agents for which rules are compared: those that both runs have.
func (d *differ) ruleAgents() {
	if d.rules == nil {
		return
	}
	before := make(map[string]*schema.Agent)
	for i := range d.Runs[0].Registry.Agents {
		a := &d.Runs[0].Registry.Agents[i]
		before[a.Name] = a
	}
	for i := range d.Runs[1].Registry.Agents {
		after := &d.Runs[1].Registry.Agents[i]
		was := before[after.Name]
		if was == nil {
			continue
		}
		if d.Redefined[after.Name] {
			was = after
		}
		for k := range d.rules.judges {
			j := &d.rules.judges[k]
			if j.judges(after) {
				j.agents[0], j.agents[1] = append(j.agents[0], registry.Robots(was)), append(j.agents[1], registry.Robots(after))
			}
		}
	}
}

// judges reports whether a judge judges an agent.
func (j *judge) judges(agent *schema.Agent) bool {
	return j.under == j.profile.Name || registry.Reader(agent) == j.profile.Name
}

// compares reports whether the rules of a pair are compared.
func (r *rulesDiff) compares(p *pair) bool {
	a, b := p.sides[0], p.sides[1]
	return r != nil && a.Digest != "" && b.Digest != "" && a.Digest != b.Digest
}

// asks reports whether the bodies of a pair are needed.
func (r *rulesDiff) asks(p *pair) bool { return r.compares(p) && r.bodies }

// rules writes a row for each agent whose policy changed its meaning but not its
// class, and for each group of an agent outside the registry that changed its
// meaning.
func (c *comparison) rules(p *pair) error {
	r := c.d.rules
	if c.proven = r != nil; !r.compares(p) {
		return nil
	}
	undecided := "" // the profile with a row that says so
	for k, result := range r.of(p) {
		j := &r.judges[k]
		first := j.under == c.d.Runs[1].FirstProfile()
		if first && !p.ruled() {
			continue
		}
		if result == nil || result.More {
			c.proven = false
			if (result != nil || first && j.strangers || c.anyPartial(j)) && undecided != j.under {
				undecided = j.under
				if err := c.emit(schema.Change{Kind: "rules", Severity: change.Minor, Profile: &j.under,
					After: new(change.RulesUndecided)}); err != nil {
					return err
				}
			}
		}
		c.proven = c.proven && result != nil && result.Proven
	}
	return c.eachResult(p, func(profile string, result *meaning.Result) error {
		return c.ruleRows(p, profile, result)
	})
}

// eachResult calls each with how the files of a pair differ in meaning under each
// profile under which rules decide in both runs.
func (c *comparison) eachResult(p *pair, each func(string, *meaning.Result) error) error {
	r := c.d.rules
	if !r.compares(p) {
		return nil
	}
	for k, result := range r.of(p) {
		under := r.judges[k].under
		if result == nil || under == c.d.Runs[1].FirstProfile() && !p.ruled() {
			continue
		}
		if err := each(under, result); err != nil {
			return err
		}
	}
	return nil
}

// anyPartial reports whether the policy of any agent of a judge was and is partial, so
// that its class does not show a change of meaning.
func (c *comparison) anyPartial(j *judge) bool {
	id := c.d.names.ID(j.under)
	return slices.ContainsFunc(c.both, func(two policyPair) bool {
		now, partial := two.rows[1], summary.ClassNames[robots.Partial]
		return now.Profile == id && two.class == classes2{partial, partial} &&
			(j.under == j.profile.Name || slices.ContainsFunc(j.agents[1],
				func(a robots.Agent) bool { return a.Name == c.d.names.Text(now.Agent) }))
	})
}

// ruleRows writes the rows of one profile, without those that a row of another kind
// covers.
func (c *comparison) ruleRows(p *pair, profile string, result *meaning.Result) error {
	var covered map[string]*schema.Change // the rows of kind group, by token
	for i := range result.Differences {
		x := &result.Differences[i]
		row := schema.Change{Kind: "rules", Severity: change.RulesSeverity(x.Closing), Agent: &x.Agent, Profile: &profile,
			After: new(change.RulesAfter[x.Relation]), LineBefore: x.Lines[0], LineAfter: x.Lines[1]}
		if x.Path != "" {
			row.URL = &x.Path
			if strings.HasPrefix(x.Path, "//") {
				row.URL = new(c.base.Origin + x.Path) // the path alone would name a host
			}
		}
		if x.Stranger {
			if covered == nil {
				covered = c.tokensWithGroupRow(p)
			}
			if by := covered[x.Agent]; by != nil {
				if c.d.checker != nil {
					row.Host = c.base.Host
					c.d.checker.Covered(&row, by)
				}
				continue
			}
		} else {
			if !c.sameClass(profile, x) {
				continue
			}
			row.Category = c.category(x.Agent)
			c.setWords(&row)
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}

// sameClass reports whether the class of a policy is known and did not change.
func (c *comparison) sameClass(profile string, x *meaning.Difference) bool {
	if c.isAgain(profile, x) || !slices.Contains(c.d.tables, records.Policies) {
		return x.Classes[0] == x.Classes[1] && c.isKnown(profile, x)
	}
	return !c.policyOf(profile, x.Agent).class.changed() && c.isKnown(profile, x)
}

// isKnown reports whether both runs knew the class of a policy, as far as there are
// tables that say it.
func (c *comparison) isKnown(profile string, x *meaning.Difference) bool {
	class, unknown := c.policyOf(profile, x.Agent).class, summary.ClassNames[summary.ClassUnknown]
	return !slices.Contains(c.d.tables, records.Policies) || class[0] != unknown && class[1] != unknown && class[1] != ""
}

// tokensWithGroupRow returns the rows of kind group by token.
func (c *comparison) tokensWithGroupRow(p *pair) map[string]*schema.Change {
	out := make(map[string]*schema.Change)
	eachToken(p, func(token string, a, b *tokenGroups) error {
		if c.hasGroupRow(token, a, b) {
			out[token] = c.groupRow(token, a, b)
		}
		return nil
	})
	return out
}

// knownRows bounds the rows of rulesDiff.known.
const knownRows = 1 << 14

// of compares the files of a pair under each profile; a nil result is undecided.
// Results are cached, because many hosts share the same two files.
func (r *rulesDiff) of(p *pair) []*meaning.Result {
	key := [2]string{p.sides[0].Digest, p.sides[1].Digest}
	if known, ok := r.known[key]; ok {
		return known
	}
	results := make([]*meaning.Result, len(r.judges))
	n := 1
	for k := range r.judges {
		if results[k] = r.compare(p, k); results[k] != nil {
			n += 1 + len(results[k].Differences)
		}
	}
	if r.rows += n; r.rows > knownRows {
		clear(r.known)
		r.rows = n
	}
	r.known[key] = results
	return results
}

// compare compares the files of a pair for judge k; a nil result is undecided.
func (r *rulesDiff) compare(p *pair, k int) *meaning.Result {
	profile := r.judges[k].profile
	var files [2]*meaning.File
	for i := range files {
		rows := &p.rows[i]
		switch {
		case len(rows[records.Bodies]) > 0:
			files[i] = meaning.Parse(profile, rows[records.Bodies][1:])
		case k == 0 && r.roomy != nil && !r.bodies:
			files[i] = meaning.FromTables(profile, r.roomy, rows[records.Groups], rows[records.Rules])
		}
		if files[i] == nil {
			return nil
		}
	}
	if k == 0 && r.roomy != nil && !r.bodies {
		profile = r.roomy
	}
	return meaning.Compare(profile, files, r.judges[k].agents, r.judges[k].strangers)
}
