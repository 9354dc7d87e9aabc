package diff

import (
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// tokenGroups merges all groups of one token.
type tokenGroups struct {
	line  int32 // where the first group begins
	class string
	delay *float64 // the first crawl delay
}

// groupsOf reads the groups of a target, by token.
func groupsOf(d records.Decoder) map[string]*tokenGroups {
	out := make(map[string]*tokenGroups)
	for len(d) > 0 {
		g := d.Group()
		for _, token := range g.Tokens {
			t := out[token]
			if t == nil {
				out[token] = &tokenGroups{line: g.Line, class: g.Class, delay: g.Delay}
				continue
			}
			t.class = mergedClass(t.class, g.Class)
			if t.delay == nil {
				t.delay = g.Delay
			}
		}
	}
	return out
}

// mergedClass returns the class of two groups together, as far as their classes
// show it.
func mergedClass(a, b string) string {
	switch {
	case a == b, b == summary.ClassEmpty:
		return a
	case a == summary.ClassEmpty:
		return b
	}
	return summary.ClassNames[robots.Partial]
}

// eachToken calls f for each token of either side, in order. A side without a group
// for the token is nil.
func eachToken(p *pair, f func(token string, a, b *tokenGroups) error) error {
	before, after := groupsOf(p.rows[0][records.Groups]), groupsOf(p.rows[1][records.Groups])
	all := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(all)
	for _, token := range slices.Compact(all) {
		if err := f(token, before[token], after[token]); err != nil {
			return err
		}
	}
	return nil
}

// groups writes a row for each token that gained or lost a group, and for each
// whose class changed if no agent of the registry follows it.
func (c *comparison) groups(p *pair) error {
	return eachToken(p, func(token string, a, b *tokenGroups) error {
		if !c.hasGroupRow(token, a, b) {
			return nil
		}
		return c.emit(*c.groupRow(token, a, b))
	})
}

// groupRow returns the row of a token whose group changed.
func (c *comparison) groupRow(token string, a, b *tokenGroups) *schema.Change {
	row := &schema.Change{Kind: "group", Severity: change.Minor}
	if a != nil {
		row.Before, row.LineBefore = &a.class, &a.line
	}
	if b != nil {
		row.After, row.LineAfter = &b.class, &b.line
	}
	row.Agent, row.Category = c.named(token)
	return row
}

// hasGroupRow reports whether a token has a row of kind group.
func (c *comparison) hasGroupRow(token string, a, b *tokenGroups) bool {
	return a == nil || b == nil || !c.groupsFor[token] && meaningOf(a.class) != meaningOf(b.class)
}

// meaningOf returns the class of a group, in which an empty group allows all.
func meaningOf(class string) string {
	if class == summary.ClassEmpty {
		return summary.ClassNames[robots.AllowAll]
	}
	return class
}

// crawlDelays writes a row for each token with a group in both runs whose crawl
// delay changed.
func (c *comparison) crawlDelays(p *pair) error {
	return eachToken(p, func(token string, a, b *tokenGroups) error {
		if a == nil || b == nil || (a.delay == nil) == (b.delay == nil) && (a.delay == nil || *a.delay == *b.delay) {
			return nil
		}
		row := schema.Change{Kind: "crawl_delay", Severity: change.Minor, LineBefore: &a.line, LineAfter: &b.line}
		row.Agent, row.Category = c.named(token)
		if a.delay != nil {
			row.Before = change.Number(*a.delay)
		}
		if b.delay != nil {
			row.After = change.Number(*b.delay)
		}
		return c.emit(row)
	})
}
