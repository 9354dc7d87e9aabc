package robots

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/dialect"
)

// parseDialect replaces the groups and rules of a file by those that a dialect reads.
func (f *File) parseDialect(p *Profile) {
	f.Groups, f.Agents, f.Rules, f.spans = f.Groups[:0], f.Agents[:0], f.Rules[:0], f.spans[:0]
	f.refusedAt = 0
	if f.beside != nil {
		f.Rules = slices.Grow(f.Rules, len(f.beside.Rules)) // as many, give or take a few
	}
	d := dialectParser{File: f, p: p, group: -1}
	dialect.Records(&p.Lines.Lines, f.tapeOf(), f.Truncated, p.AllowField, d.take)
	d.end()
	switch {
	case p.InvalidBytes == dialect.InvalidRefused && !f.IsUTF8:
		f.refusedAt = firstLine(f.body, func(line []byte) bool { return !utf8.Valid(line) })
	case p.InvalidBytes == dialect.NULRefused:
		f.refusedAt = firstLine(f.body, func(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 })
	}
	d.close()
	d.compile()
	of := func(line int32) (group int32) { // the last that begins before; they are in order
		n, _ := slices.BinarySearchFunc(f.Groups, line+1, func(g Group, line int32) int { return cmp.Compare(g.Line, line) })
		return int32(n) - 1
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
	reopens  bool
	repeated int // agents of reopened lists, each time
	delays   []agentDelay
	delayed  int32 // agents before have their crawl-delay
	closing  []closingDelay
}

// mostRepeated bounds the agents that reopened lists repeat: a file that reopens its list
// again and again would have the square of its names.
const mostRepeated = 1 << 16

// An agentDelay is the first crawl-delay after an agent in its list.
type agentDelay struct {
	agent, rule int32 // rule: that which may forbid everything
	seconds     float64
}

// A closingDelay is a crawl-delay that forbids everything to an agent.
type closingDelay struct{ rule, agent int32 }

// take reads a record.
func (d *dialectParser) take(r dialect.Record) {
	if r.Field > dialect.NamelessField && r.Field != dialect.AgentField {
		d.reopens = false
	}
	switch {
	case r.Blank:
		if d.p.BlankEndsGroup {
			d.end()
		}
	case r.Field == dialect.NamelessField:
		d.reopens = d.reopens || d.p.Reopens && d.group >= 0
		d.other(dialect.EndsAnyColon)
	case r.Field == dialect.AgentField:
		d.agent(r)
	case r.Field == dialect.AllowField, r.Field == dialect.DisallowField:
		d.rule(r)
	case r.Field == dialect.DelayField && d.p.Continues && !beginsWithNumber(r.Value):
		d.other(dialect.EndsAny) // no crawl-delay
	case r.Field == dialect.DelayField:
		d.delay(r)
		d.other(dialect.EndsDelay)
	case r.Field == dialect.SiteField:
	case r.Field == dialect.RateField:
		d.other(dialect.EndsDelayRate)
	default:
		d.other(dialect.EndsAny)
	}
}

// other reads a line that is neither agent nor rule.
func (d *dialectParser) other(kind dialect.ListEnds) {
	if d.group < 0 {
		return
	}
	if d.open && (kind == dialect.EndsDelay || kind == dialect.EndsDelayRate || d.p.ListEnds.Has(kind)) {
		d.Groups[d.group].Joined = true
	}
	if d.p.ListEnds.Has(kind) {
		d.open = false
	}
	if d.p.Exists != "" && d.p.Exists.Has(kind) {
		d.real = true
	}
}

func (d *dialectParser) agent(r dialect.Record) {
	if len(r.Value) == 0 && d.p.Reopens {
		d.reopens = d.group >= 0
		return // nobody's name, and no group either
	}
	if d.group < 0 || !d.open || d.p.ListEnds == dialect.EndsAgent {
		before := Span{}
		if d.reopens && d.group >= 0 {
			list := Span{d.Groups[d.group].Agents.From, int32(len(d.Agents))}
			if n := d.repeated + list.Len(); n <= mostRepeated {
				before, d.repeated = list, n
			}
		}
		d.end()
		n, k := int32(len(d.Agents)), int32(len(d.Rules))
		d.group, d.open, d.real = int32(len(d.Groups)), true, d.p.Exists == ""
		d.Groups = append(d.Groups, Group{Line: r.Line, Agents: Span{n, n}, Rules: Span{k, k}})
		d.delayed = n
		for i := before.From; i < before.To; i++ {
			a := d.Agents[i]
			a.Group = d.group
			d.Agents = append(d.Agents, a)
		}
	}
	d.reopens = false
	a := AgentLine{Line: r.Line, Group: d.group, Value: r.Value}
	a.Token, a.Wide = r.Value, r.Value
	if d.p.AgentValue == dialect.ValueBeforeSlash {
		a.Token = dialect.BeforeSlash(r.Value) // which may be *
	}
	if d.p.AgentIs == dialect.IsBeginning && bytes.HasPrefix(r.Value, []byte("*")) {
		a.Token = r.Value[:1]
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
		for n := len(d.spans); n > 0 && d.spans[n-1].group == d.group; n = len(d.spans) {
			d.spans = d.spans[:n-1]
		}
	}
	d.group, d.open = -1, false
}

func (d *dialectParser) rule(r dialect.Record) {
	if d.group < 0 && d.p.OrphansForAll {
		d.agent(dialect.Record{Line: r.Line, Value: []byte("*")})
	}
	if d.group < 0 {
		d.refuse(r.Line)
		return
	}
	d.open, d.real = false, true
	kind := Disallow
	if r.Field == dialect.AllowField {
		kind = Allow
	}
	d.Rules = append(d.Rules, Rule{Pattern: r.Value, Normalized: r.Value, Line: r.Line, Group: d.group, Kind: kind})
}

// delay reads a crawl-delay.
func (d *dialectParser) delay(r dialect.Record) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(r.Value)), 64)
	valid := err == nil && seconds >= 0 && !math.IsInf(seconds, 0)
	if d.group >= 0 && d.p.MaxCrawlDelay > 0 {
		fresh := d.delayed < int32(len(d.Agents))
		for ; d.delayed < int32(len(d.Agents)); d.delayed++ {
			if valid {
				d.delays = append(d.delays, agentDelay{d.delayed, int32(len(d.Rules)), seconds})
			}
		}
		if fresh && valid && seconds > d.p.MaxCrawlDelay {
			d.Rules = append(d.Rules, Rule{Pattern: r.Value, Normalized: []byte("/"), Line: r.Line, Group: d.group,
				Kind: Disallow, Length: 1})
		}
	}
	if d.group < 0 || !valid {
		d.refuse(r.Line)
		return
	}
	d.addDelay(d.p, d.group, seconds)
}

// refuse notes that the parser refuses a file that has such a line, if it does.
func (d *dialectParser) refuse(line int32) {
	if d.p.Strict && d.refusedAt == 0 {
		d.refusedAt = line
	}
}

// firstLine returns the number of the first line of a body that is of a kind, 0 for none.
func firstLine(body []byte, is func([]byte) bool) int32 {
	n := int32(0)
	for line := range SplitLines(body) {
		if n++; is(line) {
			return n
		}
	}
	return 0
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
		all := dialect.Named(&d.p.Groups.Groups, d.Agents[x.agent].Value)
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

// A ranked is a rule of the file that a judge compiles, with what its rank follows from.
type ranked struct{ rule, length, order int }

// compile sets what comparing the rules requires, and makes the file that a judge
// compiles: one rule for each form.
func (d *dialectParser) compile() {
	if d.compiled == nil {
		d.compiled = new(File)
	}
	out := d.compiled
	out.Agents, out.Groups = append(out.Agents[:0], d.Agents...), append(out.Groups[:0], d.Groups...)
	out.Rules, out.spans = slices.Grow(out.Rules[:0], len(d.Rules)), append(out.spans[:0], d.spans...)
	all, forms := slices.Grow(d.ranks[:0], len(d.Rules)), d.dialectForms[:0]
	patterns := dialect.PatternsOf(&d.p.Matching.Matching, d.p.Wildcards, d.p.AddSlash)
	for g := range d.Groups {
		rules := out.Groups[g].Rules
		out.Groups[g].Rules.From = int32(len(out.Rules))
		for i := rules.From; i < rules.To; i++ {
			r := &d.Rules[i]
			if r.Length > 0 {
				continue // a crawl-delay that forbids everything
			}
			if len(r.Pattern) > 0 {
				d.Groups[g].bytes += len(r.Pattern) + 1
			}
			if out.Groups[g].ends {
				continue
			}
			out.Groups[g].ends = d.p.EndsRules(r.Pattern)
			forms = patterns.Forms(forms[:0], r.Pattern, r.Kind == Allow)
			for k, form := range forms {
				if k == 0 {
					r.Normalized, r.Wildcard, r.Anchor, r.Effective = form.Text, form.Wildcard, form.Anchor, true
					r.Length = int32(min(form.Length, math.MaxInt32))
				}
				c := *r
				c.Normalized, c.Wildcard, c.Anchor, c.Effective = form.Text, form.Wildcard, form.Anchor, true
				if len(r.Pattern) == 0 {
					c.Kind = Allow // in whichever field
				}
				all = append(all, ranked{len(out.Rules), form.Length, int(i)})
				out.Rules = append(out.Rules, c)
			}
		}
		out.Groups[g].Rules.To, out.Groups[g].bytes = int32(len(out.Rules)), d.Groups[g].bytes
	}
	for _, c := range d.closing {
		n, g := int32(len(out.Rules)), int32(len(out.Groups))
		out.Groups = append(out.Groups, Group{Line: d.Groups[d.Rules[c.rule].Group].Line,
			Agents: Span{int32(len(out.Agents)), int32(len(out.Agents)) + 1}, Rules: Span{n, n + 1}})
		a := out.Agents[c.agent]
		a.Group = g
		out.Agents = append(out.Agents, a)
		d.Rules[c.rule].Effective = true
		all = append(all, ranked{int(n), math.MaxInt32, int(c.rule)})
		out.Rules = append(out.Rules, d.Rules[c.rule])
	}
	// Rules are ranked: a verdict compares nothing but ranks.
	slices.SortFunc(all, func(a, b ranked) int {
		switch {
		case d.p.Order == dialect.OrderFirst, a.length == b.length && d.p.Order == dialect.OrderLongestFirst:
			return b.order - a.order
		}
		return a.length - b.length
	})
	rank := int32(0)
	for i := range all {
		if i == 0 || all[i].length != all[i-1].length ||
			(d.p.Order == dialect.OrderFirst || d.p.Order == dialect.OrderLongestFirst) && all[i].order != all[i-1].order {
			rank++
		}
		out.Rules[all[i].rule].Length = rank
	}
	d.ranks, d.dialectForms = all, forms
}
