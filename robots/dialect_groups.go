package robots

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// parseDialect replaces the groups and rules of a file by those that a dialect reads.
func (f *File) parseDialect(p *Profile) {
	f.Groups, f.Agents, f.Rules = f.Groups[:0], f.Agents[:0], f.Rules[:0]
	f.refused = false
	d := dialectParser{File: f, p: p, group: -1}
	p.eachRecord(f.body, f.Truncated, d.take)
	d.end()
	d.close()
	d.compile()
	of := func(line int32) (group int32) {
		group = -1
		for i := range f.Groups {
			if f.Groups[i].Line <= line {
				group = int32(i)
			}
		}
		return group
	}
	for i := range f.Remarks {
		f.Remarks[i].Group = of(f.Remarks[i].Line)
	}
	for i := range f.Signals {
		f.Signals[i].Group = of(f.Signals[i].Line)
	}
	for i := range f.Usages {
		f.Usages[i].Group = of(f.Usages[i].Line)
	}
}

// A dialectParser reads the groups of a file.
type dialectParser struct {
	*File
	p     *Profile
	group int32 // the current one, -1 for none
	open  bool  // its list of agents continues
	real  bool  // it exists

	// reopens is set after a user-agent line without value that reopens the list.
	reopens bool
	delays  []agentDelay
	delayed int32 // agents before have their crawl-delay
	closing []closingDelay
}

// An agentDelay is the first crawl-delay after an agent in its list.
type agentDelay struct {
	agent, rule int32 // rule: that which may forbid everything
	seconds     float64
}

// A closingDelay is a crawl-delay that forbids everything to an agent.
type closingDelay struct{ rule, agent int32 }

// take reads a record.
func (d *dialectParser) take(r dialectRecord) {
	if r.field != dialectAgent && !r.blank {
		d.reopens = false
	}
	switch {
	case r.blank:
		if d.p.BlankEndsGroup {
			d.end()
		}
	case r.field == dialectAgent:
		d.agent(r)
	case r.field == dialectAllow, r.field == dialectDisallow:
		d.rule(r)
	case r.field == dialectDelay && d.p.Continues && !beginsWithNumber(r.value):
		d.other(EndsAny) // no crawl-delay
	case r.field == dialectDelay:
		d.delay(r)
		d.other(EndsDelay)
	case r.field == dialectRate:
		d.other(EndsDelayRate)
	default:
		d.other(EndsAny)
	}
}

// ends reports whether a line of a kind ends the list of agents, or makes a group.
func (e ListEnds) has(kind ListEnds) bool {
	rank := map[ListEnds]int{"": 0, EndsDelay: 1, EndsDelayRate: 2, EndsAny: 3}
	return rank[e] >= rank[kind]
}

// other reads a line that is neither agent nor rule.
func (d *dialectParser) other(kind ListEnds) {
	if d.group < 0 {
		return
	}
	if d.open && kind != EndsAny || d.open && d.p.ListEnds == EndsAny {
		d.Groups[d.group].Joined = true
	}
	if d.p.ListEnds.has(kind) {
		d.open = false
	}
	if d.p.Exists != "" && d.p.Exists.has(kind) {
		d.real = true
	}
}

func (d *dialectParser) agent(r dialectRecord) {
	if len(r.value) == 0 && d.p.Reopens {
		d.reopens = d.group >= 0
		return // nobody's name, and no group either
	}
	if d.group < 0 || !d.open {
		before := Span{}
		if d.reopens && d.group >= 0 {
			before = Span{d.Groups[d.group].Agents.From, int32(len(d.Agents))}
		}
		d.end()
		n, k := int32(len(d.Agents)), int32(len(d.Rules))
		d.group, d.open, d.real = int32(len(d.Groups)), true, d.p.Exists == ""
		d.Groups = append(d.Groups, Group{Line: r.line, Agents: Span{n, n}, Rules: Span{k, k}})
		d.delayed = n
		for i := before.From; i < before.To; i++ {
			a := d.Agents[i]
			a.Group = d.group
			d.Agents = append(d.Agents, a)
		}
	}
	d.reopens = false
	a := AgentLine{Line: r.line, Group: d.group, Value: r.value}
	a.Token, a.Wide = r.value, r.value
	if d.p.AgentValue == ValueBeforeSlash {
		before, _, _ := bytes.Cut(r.value, []byte("/"))
		a.Token = bytes.TrimSpace(before) // which may be *
	}
	d.Agents = append(d.Agents, a)
}

// end ends the current group. One that does not exist is dropped.
func (d *dialectParser) end() {
	if d.group < 0 {
		return
	}
	g := &d.Groups[d.group]
	g.Agents.To, g.Rules.To = int32(len(d.Agents)), int32(len(d.Rules))
	if !d.real {
		d.Agents, d.Rules, d.Groups = d.Agents[:g.Agents.From], d.Rules[:g.Rules.From], d.Groups[:d.group]
	}
	d.group, d.open = -1, false
}

func (d *dialectParser) rule(r dialectRecord) {
	if d.group < 0 && d.p.OrphansForAll {
		d.agent(dialectRecord{line: r.line, value: []byte("*")})
	}
	if d.group < 0 {
		d.refused = d.refused || d.p.Strict
		return
	}
	d.open, d.real = false, true
	kind := Disallow
	if r.field == dialectAllow {
		kind = Allow
	}
	d.Rules = append(d.Rules, Rule{Pattern: r.value, Normalized: r.value, Line: r.line, Group: d.group, Kind: kind})
}

// delay reads a crawl-delay.
func (d *dialectParser) delay(r dialectRecord) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(r.value)), 64)
	valid := err == nil && seconds >= 0 && !math.IsInf(seconds, 0)
	if d.group >= 0 && d.p.MaxCrawlDelay > 0 {
		fresh := d.delayed < int32(len(d.Agents))
		for ; d.delayed < int32(len(d.Agents)); d.delayed++ {
			if valid {
				d.delays = append(d.delays, agentDelay{d.delayed, int32(len(d.Rules)), seconds})
			}
		}
		if fresh && valid && seconds > d.p.MaxCrawlDelay {
			d.Rules = append(d.Rules, Rule{Pattern: r.value, Normalized: []byte("/"), Line: r.line, Group: d.group, Kind: Disallow, Length: 1})
		}
	}
	if d.group < 0 || !valid {
		d.refused = d.refused || d.p.Strict
		return
	}
	g := &d.Groups[d.group]
	if !g.HasCrawlDelay {
		g.CrawlDelay, g.HasCrawlDelay = seconds, true
	}
}

// beginsWithNumber reports whether the digits and dots that a value begins with are a
// number.
func beginsWithNumber(value []byte) bool {
	digits := value[:len(value)-len(bytes.TrimLeft(value, "0123456789."))]
	_, err := strconv.ParseFloat(string(digits), 32)
	return err == nil
}

// close finds the agents to which their crawl-delay forbids everything: the least of those
// that stand behind an agent's name counts.
func (d *dialectParser) close() {
	if len(d.delays) == 0 {
		return
	}
	least := make(map[string]agentDelay)
	var names []string
	for _, x := range d.delays {
		all := d.p.agentNames(d.Agents[x.agent].Value)
		name := all[len(all)-1]
		y, ok := least[name]
		if !ok {
			names = append(names, name)
		}
		if !ok || x.seconds < y.seconds {
			least[name] = x
		}
	}
	for _, name := range names {
		if x := least[name]; x.seconds > d.p.MaxCrawlDelay {
			d.closing = append(d.closing, closingDelay{x.rule, x.agent})
		}
	}
}
