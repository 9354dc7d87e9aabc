package audit

import (
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// verdicts writes a row for each single verdict that changed, unless the row of
// the policy's class covers it: disallow_all and allow_all hold for every path. A
// host's own URLs always have a row, because the user asked for them by name.
//
// [detailReader.verdicts] makes the verdicts of an outage undefined, and no row
// goes from or to undefined.
func (c *comparison) verdicts(p *pair) error {
	old := p.rows[0][tableVerdicts]
	was := blocks{d: old, names: c.d.names}
	c.findBlocks(&was)
	now := blocks{d: p.rows[1][tableVerdicts], names: c.d.names}
	for now.next() {
		at, ok := c.before[now.key]
		if !ok || !c.d.compares(now.key, p) {
			continue
		}
		was.d = old[at:]
		was.next()
		if err := c.blockRows(was.list, &now); err != nil {
			return err
		}
	}
	return nil
}

// findBlocks records where each block of the earlier run begins.
func (c *comparison) findBlocks(was *blocks) {
	clear(c.before)
	size := len(was.d)
	for {
		at := size - len(was.d)
		if !was.next() {
			return
		}
		c.before[was.key] = at
	}
}

// blockRows compares two blocks of one agent and profile, URL by URL.
func (c *comparison) blockRows(before []judged, now *blocks) error {
	var byURL map[string]int // indices of before, made once the orders differ
	for i, after := range now.list {
		k := i
		if k >= len(before) || before[k].url != after.url {
			if byURL == nil {
				byURL = make(map[string]int, len(before))
				for n, j := range before {
					byURL[j.url] = n
				}
			}
			var ok bool
			if k, ok = byURL[after.url]; !ok {
				continue
			}
		}
		if err := c.flip(now.key, before[k], after); err != nil {
			return err
		}
	}
	return nil
}

// flip writes the row of one URL if its verdict changed.
func (c *comparison) flip(key agentProfile, before, after judged) error {
	if before.value == after.value || before.value == robots.Undefined || after.value == robots.Undefined {
		return nil
	}
	class, own := c.classes[key], !strings.HasPrefix(after.url, "/")
	agent, profile := c.d.names.text(key.agent), c.d.names.text(key.profile)
	row := sink.Change{
		Kind: "verdict", Severity: verdictSeverity(after.value, class.changed(), own), Agent: &agent, Category: c.category(agent), Profile: &profile,
		URL: &after.url, Before: &summary.ValueNames[before.value], After: &summary.ValueNames[after.value], LineBefore: before.line, LineAfter: after.line,
	}
	if class.changed() && !own && class[1] != summary.ClassNames[robots.Partial] {
		// The row of the class covers it.
		if c.d.checker != nil {
			row.Host, row.Severity = c.base.Host, verdictSeverity(after.value, false, own)
			c.d.checker.covered(&row, classRow(agent, row.Category, profile, class))
		}
		return nil
	}
	return c.emit(row)
}

// category returns the category of an agent of the registry, nil for any other.
func (c *comparison) category(agent string) *string {
	return sink.NonZero(c.agents[strings.ToLower(agent)].category)
}

// named returns the name and category of the registry's agent that a token in
// lower case names; the token itself and nil if there is no such agent.
func (c *comparison) named(token string) (agent, category *string) {
	if a, ok := c.agents[token]; ok {
		return &a.name, &a.category
	}
	return &token, nil
}
