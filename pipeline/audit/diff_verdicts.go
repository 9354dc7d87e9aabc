package audit

import (
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// judged is one verdict of a block: those of one agent under one profile.
type judged struct {
	url   string
	value robots.Value
	line  *int32
}

// blocks are the verdicts of a target, in the order of the table.
type blocks struct {
	d     decoder
	names *names
	own   []string     // URLs of the target, as far as they were met
	key   agentProfile // of the block to come
	list  []judged
}

// next fills the list with the verdicts of the next block.
func (b *blocks) next() bool {
	if len(b.d) == 0 {
		return false
	}
	b.list = b.list[:0]
	for i := 0; len(b.d) > 0; i++ {
		head := b.d[0]
		if head&newAgent != 0 {
			if i > 0 {
				return true
			}
			b.d = b.d[1:]
			b.key = agentProfile{b.d.uint(), b.d.uint()}
		} else {
			b.d = b.d[1:]
		}
		j := judged{value: robots.Value(head & verdictBits)}
		number := b.d.uint()
		if head&newURL != 0 {
			if url := b.d.bytes(); int(number) == len(b.own) { // else this block is read again
				b.own = append(b.own, string(url))
			}
		}
		if head&ownURL != 0 {
			j.url = b.own[number]
		} else {
			j.url = b.names.text(number)
		}
		if head&hasLine != 0 {
			j.line = sink.Some(int32(b.d.uint()))
		}
		b.list = append(b.list, j)
	}
	return true
}

// verdicts tells single verdicts that flipped, where nothing before says so:
// a policy that became disallow_all or allow_all says it of every path. The
// verdicts of an outage are undefined here, and none flips to or from them. The URLs that
// are a host's own are told all the same, for these somebody asked by name.
func (c *comparison) verdicts(p *pair) error {
	clear(c.before)
	old := p.rows[0][tableVerdicts]
	was := blocks{d: old, names: c.d.names}
	for {
		at := len(old) - len(was.d)
		if !was.next() {
			break
		}
		c.before[was.key] = at
	}
	now := blocks{d: p.rows[1][tableVerdicts], names: c.d.names}
	byURL := make(map[string]int)
	for now.next() {
		at, ok := c.before[now.key]
		if !ok {
			continue
		}
		was.d = old[at:]
		was.next()
		mapped := false
		for i, after := range now.list {
			k := i
			if k >= len(was.list) || was.list[k].url != after.url {
				if !mapped {
					clear(byURL)
					for n, j := range was.list {
						byURL[j.url] = n
					}
					mapped = true
				}
				if k, ok = byURL[after.url]; !ok {
					continue
				}
			}
			if err := c.flip(now.key, c.classes[now.key], was.list[k], after); err != nil {
				return err
			}
		}
	}
	return nil
}

// flip makes the row of a verdict that flipped. To close a URL is major; of a
// path of all hosts it is minor where the agent's class became partial, which is
// told as such. A URL that somebody asked for by name has no other row.
func (c *comparison) flip(key agentProfile, class classes2, before, after judged) error {
	if before.value == after.value || before.value == robots.Undefined || after.value == robots.Undefined {
		return nil
	}
	own := !strings.HasPrefix(after.url, "/")
	severity := minor
	if class[0] != class[1] && !own {
		if class[1] != summary.ClassNames[robots.Partial] {
			return nil
		}
	} else if after.value == robots.Disallowed {
		severity = major
	}
	agent := c.d.names.text(key.agent)
	return c.emit(sink.Change{
		Kind: "verdict", Severity: severity, Agent: &agent, Category: c.category(agent), Profile: sink.Some(c.d.names.text(key.profile)),
		URL: &after.url, Before: &summary.ValueNames[before.value], After: &summary.ValueNames[after.value], LineBefore: before.line, LineAfter: after.line,
	})
}

// category is that of an agent of the registry, nil for others.
func (c *comparison) category(agent string) *string {
	return sink.NonZero(c.agents[strings.ToLower(agent)].category)
}

// named is the agent that a token in lower case names, as the registry spells
// it, and its category: the token itself and nil where there is none.
func (c *comparison) named(token string) (agent, category *string) {
	if a, ok := c.agents[token]; ok {
		return &a.name, &a.category
	}
	return &token, nil
}
