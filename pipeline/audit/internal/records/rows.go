package records

import (
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// Group is a row of groups.
type Group struct {
	Index, Line int32
	Class       string
	Delay       *float64
	Tokens      []string // in lower case
	Agents      []AgentLine

	Digest   string
	Template string // "" for null
}

func (d *Decoder) Group() Group {
	g := Group{Index: int32(d.Uint()), Line: int32(d.Uint()), Class: d.Text()}
	if d.Uint() == 1 {
		g.Delay = new(d.float())
	}
	for range d.Uint() {
		g.Tokens = append(g.Tokens, d.Text())
	}
	for range d.Uint() {
		g.Agents = append(g.Agents, AgentLine{int32(d.Uint()), d.Text()})
	}
	g.Digest, g.Template = d.Text(), d.Text()
	return g
}

// Group appends a row of groups.
func (e *Encoder) Group(g *schema.Group) {
	e.Uint(uint64(uint32(g.GroupIndex)))
	e.Uint(uint64(uint32(g.Line)))
	e.Text(g.Class)
	if g.CrawlDelay == nil {
		e.Uint(0)
	} else {
		e.Uint(1)
		e.float(*g.CrawlDelay)
	}
	e.Uint(uint64(len(g.Tokens)))
	for _, t := range g.Tokens {
		e.Text(t)
	}
	n := min(len(g.Agents), len(g.AgentLines))
	e.Uint(uint64(n))
	for i := range n {
		e.Uint(uint64(uint32(g.AgentLines[i])))
		e.Text(g.Agents[i])
	}
	e.Text(g.Digest)
	e.Text(schema.OrZero(g.Template))
}

// Rule appends a row of rules.
func (e *Encoder) Rule(r *schema.Rule) {
	e.optional(r.GroupIndex)
	e.Uint(uint64(uint32(r.Line)))
	allow := uint64(0)
	if r.Kind == robots.Allow.String() {
		allow = 1
	}
	e.Uint(allow)
	e.Text(r.Pattern)
}

// Rule is a row of rules.
type Rule struct {
	Group   int32 // -1 before the first group
	Line    int32
	Allow   bool
	Pattern []byte
}

func (d *Decoder) Rule() Rule {
	r := Rule{Group: int32(d.Uint()) - 1, Line: int32(d.Uint())}
	r.Allow = d.Uint() == 1
	r.Pattern = d.bytes()
	return r
}

// AgentLine is a value on a user-agent line.
type AgentLine struct {
	Line  int32
	Value string
}

// Policy is a row of policies. It holds the numbers of its texts in names; Group,
// Template and Stances, by [usage.Use], are 0 for null, else the number plus 1.
type Policy struct {
	Profile, Agent, Category, Class, Group, Template uint64
	Stances                                          [usage.NumUses]uint64
}

func (d *Decoder) Policy() (p Policy) {
	for _, field := range []*uint64{&p.Profile, &p.Agent, &p.Category, &p.Class, &p.Group, &p.Template,
		&p.Stances[usage.AITrain], &p.Stances[usage.AIInput], &p.Stances[usage.Search]} {
		*field = d.Uint()
	}
	return p
}

// Key identifies the policy.
func (p Policy) Key() PolicyKey { return PolicyKey{Profile: p.Profile, Agent: p.Agent} }

// Optional returns the text of a number that is 0 for null.
func (n *Names) Optional(id uint64) *string {
	if id == 0 {
		return nil
	}
	return new(n.Text(id - 1))
}

// Statement is a row of preferences; a text is "" for null.
type Statement struct {
	Line                                           int32
	Scope, Mechanism, Label, Use, Preference, Path string
}

func (d *Decoder) Statement() Statement {
	return Statement{int32(d.Uint()), d.Text(), d.Text(), d.Text(), d.Text(), d.Text(), d.Text()}
}

// PolicyKey identifies a policy by the numbers of its profile and agent in
// names.
type PolicyKey struct{ Profile, Agent uint64 }

// Sitemap reads the line and the URL of a row of sitemaps.
func (d *Decoder) Sitemap() (line int32, url string) { return int32(d.Uint()), d.Text() }
