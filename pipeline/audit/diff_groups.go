package audit

import (
	"maps"
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// tokenGroups are all groups of one token taken together.
type tokenGroups struct {
	line  int32 // of the first
	class string
	delay *float64 // the first
}

// groupsOf reads the groups of a target by token.
func groupsOf(d decoder) map[string]*tokenGroups {
	out := make(map[string]*tokenGroups)
	for len(d) > 0 {
		g := d.group()
		for _, token := range g.tokens {
			t := out[token]
			if t == nil {
				out[token] = &tokenGroups{line: g.line, class: g.class, delay: g.delay}
				continue
			}
			t.class = joined(t.class, g.class)
			if t.delay == nil {
				t.delay = g.delay
			}
		}
	}
	return out
}

// joined is the class of two groups as far as their classes tell it.
func joined(a, b string) string {
	switch {
	case a == b, b == summary.ClassEmpty:
		return a
	case a == summary.ClassEmpty:
		return b
	}
	return summary.ClassNames[robots.Partial]
}

type groupRow struct {
	index, line int32
	class       string
	delay       *float64
	tokens      []string // in lower case
	agents      []agentLine
}

func (d *decoder) group() groupRow {
	g := groupRow{index: int32(d.uint()), line: int32(d.uint()), class: d.text()}
	if d.uint() == 1 {
		g.delay = sink.Some(d.float())
	}
	for range d.uint() {
		g.tokens = append(g.tokens, d.text())
	}
	for range d.uint() {
		g.agents = append(g.agents, agentLine{int32(d.uint()), d.text()})
	}
	return g
}

// eachToken goes through the tokens of both sides in order; a side that has no
// group for it is nil.
func eachToken(p *pair, f func(token string, a, b *tokenGroups) error) error {
	before, after := groupsOf(p.rows[0][tableGroups]), groupsOf(p.rows[1][tableGroups])
	all := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(all)
	for _, token := range slices.Compact(all) {
		if err := f(token, before[token], after[token]); err != nil {
			return err
		}
	}
	return nil
}

// groups tells tokens that got a group or lost it, and a class that changed
// where no agent of the registry follows that group and so tells it.
func (c *comparison) groups(p *pair) error {
	return eachToken(p, func(token string, a, b *tokenGroups) error {
		row := sink.Change{Kind: "group", Severity: minor}
		if a != nil {
			row.Before, row.LineBefore = &a.class, &a.line
		}
		if b != nil {
			row.After, row.LineAfter = &b.class, &b.line
		}
		if !c.tellsGroup(token, a, b) {
			return nil
		}
		row.Agent, row.Category = c.named(token)
		return c.emit(row)
	})
}

func (c *comparison) tellsGroup(token string, a, b *tokenGroups) bool {
	return a == nil || b == nil || !c.groupsFor[token] && meaning(a.class) != meaning(b.class)
}

// meaning of a group's class: one without rules allows all.
func meaning(class string) string {
	if class == summary.ClassEmpty {
		return summary.ClassNames[robots.AllowAll]
	}
	return class
}

func (c *comparison) crawlDelays(p *pair) error {
	return eachToken(p, func(token string, a, b *tokenGroups) error {
		if a == nil || b == nil || (a.delay == nil) == (b.delay == nil) && (a.delay == nil || *a.delay == *b.delay) {
			return nil
		}
		row := sink.Change{Kind: "crawl_delay", Severity: minor, LineBefore: &a.line, LineAfter: &b.line}
		row.Agent, row.Category = c.named(token)
		if a.delay != nil {
			row.Before = number(*a.delay)
		}
		if b.delay != nil {
			row.After = number(*b.delay)
		}
		return c.emit(row)
	})
}
