package diff

import (
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// verdicts writes a row for each single verdict that changed, unless the row of
// the policy's class covers it: disallow_all and allow_all hold for every path. A
// host's own URLs always have a row, because the user asked for them by name.
//
// [records.Read] makes the verdicts of an outage undefined, and no row
// goes from or to undefined.
func (c *comparison) verdicts(p *pair) error {
	old := p.rows[0][records.Verdicts]
	was := records.Blocks{Rest: old, Names: c.d.names}
	c.findBlocks(&was)
	now := records.Blocks{Rest: p.rows[1][records.Verdicts], Names: c.d.names}
	for now.Next() {
		at, ok := c.before[now.Key]
		if !ok || !c.d.compares(now.Key, p) {
			continue
		}
		was.Rest = old[at:]
		was.Next()
		if err := c.blockRows(was.List, &now); err != nil {
			return err
		}
	}
	return nil
}

// findBlocks records where each block of the earlier run begins.
func (c *comparison) findBlocks(was *records.Blocks) {
	clear(c.before)
	size := len(was.Rest)
	for {
		at := size - len(was.Rest)
		if !was.Next() {
			return
		}
		c.before[was.Key] = at
	}
}

// blockRows compares two blocks of one agent and profile, URL by URL.
func (c *comparison) blockRows(before []records.Verdict, now *records.Blocks) error {
	var byURL map[string]int // indices of before, made once the orders differ
	for i, after := range now.List {
		k := i
		if k >= len(before) || before[k].URL != after.URL {
			if byURL == nil {
				byURL = make(map[string]int, len(before))
				for n, j := range before {
					byURL[j.URL] = n
				}
			}
			var ok bool
			if k, ok = byURL[after.URL]; !ok {
				continue
			}
		}
		if err := c.flip(now.Key, before[k], after); err != nil {
			return err
		}
	}
	return nil
}

// flip writes the row of one URL if its verdict changed.
func (c *comparison) flip(key records.PolicyKey, before, after records.Verdict) error {
	if before.Value == after.Value || before.Value == robots.Undefined || after.Value == robots.Undefined {
		return nil
	}
	class, own := c.classes[key], !strings.HasPrefix(after.URL, "/")
	agent, profile := c.d.names.Text(key.Agent), c.d.names.Text(key.Profile)
	row := schema.Change{
		Kind: "verdict", Severity: change.VerdictSeverity(after.Value, class.changed(), own), Agent: &agent, Category: c.category(agent), Profile: &profile,
		URL: &after.URL, Before: &summary.ValueNames[before.Value], After: &summary.ValueNames[after.Value], LineBefore: before.Line, LineAfter: after.Line,
	}
	if class.changed() && !own && class[1] != summary.ClassNames[robots.Partial] {
		// The row of the class covers it.
		if c.d.checker != nil {
			row.Host, row.Severity = c.base.Host, change.VerdictSeverity(after.Value, false, own)
			c.d.checker.Covered(&row, classRow(agent, row.Category, profile, class))
		}
		return nil
	}
	return c.emit(row)
}

// category returns the category of an agent of the registry, nil for any other.
func (c *comparison) category(agent string) *string {
	if a := c.agents[strings.ToLower(agent)]; a != nil {
		return schema.NonZero(a.Category)
	}
	return nil
}

// named returns the name and category of the registry's agent that a token in
// lower case names; the token itself and nil if there is no such agent.
func (c *comparison) named(token string) (agent, category *string) {
	if a, ok := c.agents[token]; ok {
		return &a.Name, &a.Category
	}
	return &token, nil
}
