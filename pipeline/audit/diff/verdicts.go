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
	texts := c.d.names.Texts()
	was := earlierBlocks{Blocks: records.Blocks{Rest: p.rows[0][records.Verdicts], Texts: texts}}
	now := records.Blocks{Rest: p.rows[1][records.Verdicts], Texts: texts}
	for now.Next() {
		if !was.find(now.Key) || !c.d.compares(now.Key, p) {
			continue
		}
		if err := c.blockRows(was.List, &now); err != nil {
			return err
		}
	}
	return nil
}

// earlierBlocks finds the verdicts of a target in the earlier run, by policy. Runs mostly
// list policies in one order.
type earlierBlocks struct {
	records.Blocks
	passed map[records.PolicyKey]records.Decoder // blocks that were read to find others
}

// find reads the block of a policy.
func (e *earlierBlocks) find(key records.PolicyKey) bool {
	if block, ok := e.passed[key]; ok {
		rest := e.Rest
		e.Rest = block
		e.Next()
		e.Rest = rest
		return true
	}
	for {
		at := e.Rest
		if !e.Next() {
			return false
		}
		if e.Key == key {
			return true
		}
		if e.passed == nil {
			e.passed = make(map[records.PolicyKey]records.Decoder)
		}
		e.passed[e.Key] = at
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
		if was := before[k]; was.Value != after.Value && was.Value != robots.Undefined && after.Value != robots.Undefined {
			if err := c.flip(now.Key, was, after); err != nil {
				return err
			}
		}
	}
	return nil
}

// flip writes the row of one URL whose verdict changed.
func (c *comparison) flip(key records.PolicyKey, before, after records.Verdict) error {
	class, own := c.policy(key).class, !strings.HasPrefix(after.URL, "/")
	covered := class.changed() && !own && class[1] != summary.ClassNames[robots.Partial] // by the row of the class
	if covered && c.d.checker == nil {
		return nil
	}
	agent, profile := c.d.names.Text(key.Agent), c.d.names.Text(key.Profile)
	row := schema.Change{
		Kind: "verdict", Severity: change.VerdictSeverity(after.Value, class.changed(), own), Agent: &agent,
		Category: c.category(agent), Profile: &profile,
		URL: &after.URL, Before: &summary.ValueNames[before.Value], After: &summary.ValueNames[after.Value],
		LineBefore: schema.NonZero(before.Line), LineAfter: schema.NonZero(after.Line),
	}
	if covered {
		row.Host, row.Severity = c.base.Host, change.VerdictSeverity(after.Value, false, own)
		c.d.checker.Covered(&row, classRow(agent, row.Category, profile, class))
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
