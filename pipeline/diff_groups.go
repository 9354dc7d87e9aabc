package pipeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// tokenGroups are all groups of one token taken together.
type tokenGroups struct {
	token string // as the first of them has it
	line  int32  // of the first
	class string
	delay *float64 // the first
}

// groupsOf reads the groups of a target by token in lower case.
func groupsOf(d decoder) map[string]*tokenGroups {
	out := make(map[string]*tokenGroups)
	for len(d) > 0 {
		g := d.group()
		for _, token := range g.tokens {
			name := strings.ToLower(token)
			t := out[name]
			if t == nil {
				out[name] = &tokenGroups{token: token, line: g.line, class: g.class, delay: g.delay}
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
	case a == b, b == classEmpty:
		return a
	case a == classEmpty:
		return b
	}
	return classNames[robots.Partial]
}

type groupRow struct {
	index, line int32
	class       string
	delay       *float64
	tokens      []string
}

func (d *decoder) group() groupRow {
	g := groupRow{index: int32(d.uint()), line: int32(d.uint()), class: d.text()}
	if d.uint() == 1 {
		g.delay = sink.Some(d.float())
	}
	for range d.uint() {
		g.tokens = append(g.tokens, d.text())
	}
	return g
}

// eachToken goes through the tokens of both sides in order; a side that has no
// group for it is nil.
func eachToken(p *pair, f func(name string, a, b *tokenGroups) error) error {
	before, after := groupsOf(p.rows[0][tableGroups]), groupsOf(p.rows[1][tableGroups])
	all := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		if err := f(name, before[name], after[name]); err != nil {
			return err
		}
	}
	return nil
}

// groups tells tokens that got a group or lost it, and a class that changed
// where no agent of the registry follows that group and so tells it.
func (c *comparison) groups(p *pair) error {
	return eachToken(p, func(name string, a, b *tokenGroups) error {
		row := sink.Change{Kind: "group", Severity: minor}
		if a != nil {
			row.Agent, row.Before, row.LineBefore = &a.token, &a.class, &a.line
		}
		if b != nil {
			row.Agent, row.After, row.LineAfter = &b.token, &b.class, &b.line
		}
		if a != nil && b != nil && (c.groupsFor[name] || meaning(a.class) == meaning(b.class)) {
			return nil
		}
		row.Category = c.category(*row.Agent)
		return c.emit(row)
	})
}

// meaning of a group's class: one without rules allows all.
func meaning(class string) string {
	if class == classEmpty {
		return classNames[robots.AllowAll]
	}
	return class
}

func (c *comparison) crawlDelays(p *pair) error {
	return eachToken(p, func(_ string, a, b *tokenGroups) error {
		if a == nil || b == nil || (a.delay == nil) == (b.delay == nil) && (a.delay == nil || *a.delay == *b.delay) {
			return nil
		}
		row := sink.Change{Kind: "crawl_delay", Severity: minor, Agent: &b.token, Category: c.category(b.token), LineBefore: &a.line, LineAfter: &b.line}
		if a.delay != nil {
			row.Before = number(*a.delay)
		}
		if b.delay != nil {
			row.After = number(*b.delay)
		}
		return c.emit(row)
	})
}

// signalTokens bounds the agents of one group for each of which its signals
// are told: a file may hold thousands of both.
const signalTokens = 16

// signal is one value of what key identifies.
type signal struct {
	agent      string // "" before the first group
	key, value string
	line       int32
}

func signalsOf(rows [5]decoder) map[[2]string][]signal {
	tokens := make(map[int32][]string)
	for d := rows[tableGroups]; len(d) > 0; {
		g := d.group()
		tokens[g.index] = g.tokens[:min(len(g.tokens), signalTokens)]
	}
	out := make(map[[2]string][]signal)
	for d := rows[tableSignals]; len(d) > 0; {
		group, line, field := d.uint(), int32(d.uint()), d.text()
		key := field + ": "
		for _, end := range []string{" ", "="} { // path, key
			if d.uint() == 1 {
				key += d.text() + end
			}
		}
		s := signal{key: key, value: d.text(), line: line}
		agents := []string{""}
		if group > 0 && len(tokens[int32(group-1)]) > 0 {
			agents = tokens[int32(group-1)]
		}
		for _, agent := range agents {
			s.agent = agent
			id := [2]string{strings.ToLower(agent), key}
			out[id] = append(out[id], s)
		}
	}
	return out
}

// signals tells those that appeared, vanished, or have another value: each as
// the line of robots.txt that would say it alone.
func (c *comparison) signals(p *pair) error {
	before, after := signalsOf(p.rows[0]), signalsOf(p.rows[1])
	ids := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.SortFunc(ids, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, id := range slices.Compact(ids) {
		gone, come := without(before[id], after[id]), without(after[id], before[id])
		for i := range max(len(gone), len(come)) {
			row := sink.Change{Kind: "signal", Severity: minor}
			for _, field := range []string{"content-signal", "content-usage", "license"} {
				if strings.HasPrefix(id[1], field+":") {
					row.Severity = major // what content may be used for
				}
			}
			var agent string
			if i < len(gone) {
				agent, row.Before, row.LineBefore = gone[i].agent, sink.Some(gone[i].key+gone[i].value), &gone[i].line
			}
			if i < len(come) {
				agent, row.After, row.LineAfter = come[i].agent, sink.Some(come[i].key+come[i].value), &come[i].line
			}
			row.Agent, row.Category = sink.NonZero(agent), c.category(agent)
			if err := c.emit(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// without are the signals of list whose values others has not, each once, in
// the order of the file.
func without(list, others []signal) (out []signal) {
	known := make(map[string]bool)
	for _, s := range others {
		known[s.value] = true
	}
	for _, s := range list {
		if !known[s.value] {
			known[s.value] = true
			out = append(out, s)
		}
	}
	return out
}
