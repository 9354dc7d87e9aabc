package evaluate

import (
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// templateRows returns the rows of templates.
func (e *Evaluator) templateRows(row *schema.Fetch) []schema.Template {
	e.templates = e.templates[:0]
	for i := range e.readings[0].content.templates {
		m := &e.readings[0].content.templates[i]
		e.templates = append(e.templates, schema.Template{
			Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, Template: m.ID, Kind: m.Kind,
			Version:   schema.NonZero(m.Version),
			FirstLine: m.First, LastLine: m.Last, Groups: m.Groups, Rules: m.Rules,
		})
	}
	return e.templates
}

// template returns the cell of a group's template.
func (c *content) template(group int) *string {
	if group >= len(c.wordsOf) || c.wordsOf[group] < 0 {
		return nil
	}
	return &c.templates[c.wordsOf[group]].ID
}

// templateOf returns the template of all groups of a policy, nil if they have none or
// several. Of a dialect's group that has no rules only the line is known.
func (c *content) templateOf(p *robots.Policy) (same *string) {
	if len(c.templates) == 0 {
		return nil
	}
	groups := p.Groups()
	for i, g := range groups {
		t := c.template(int(g))
		if t == nil || i > 0 && *t != *same {
			return nil
		}
		same = t
	}
	for i := range c.templates {
		if m := &c.templates[i]; len(groups) == 0 && m.Claims && m.First <= p.GroupLine && p.GroupLine <= m.Last {
			return &m.ID
		}
	}
	return same
}
