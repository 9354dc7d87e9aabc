package evaluate

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// preferenceRows makes the rows of preferences: the labels of all lines about use, and the
// rules of policy tokens.
func (e *Evaluator) preferenceRows(row *schema.Fetch, f *robots.File) {
	var of contradictions
	for i := range f.Usages {
		u := &f.Usages[i]
		r := schema.Preference{
			Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin,
			GroupAgent: groupAgent(f, u.Group), Scope: scopeOf(f, u), Mechanism: u.Mechanism.String(), Line: &u.Line,
		}
		path, _ := u.Path()
		r.Path = optional(path)
		for _, s := range e.config.Labels.Statements(u) {
			state(&r, &s)
			e.preferences = append(e.preferences, r)
			if r.GroupAgent != nil {
				of.add(&r, len(e.preferences)-1, u.Group)
			}
		}
	}
	of.mark(e.preferences, f)
	for i := range e.config.Agents {
		if token := &e.config.Agents[i]; token.Kind == registry.KindToken {
			e.tokenRows(row, f, token)
		}
	}
	e.unknownTokenRows(row, f)
	if len(e.preferences) == 0 {
		return
	}
	slices.SortStableFunc(e.preferences, func(a, b schema.Preference) int { return int(*a.Line) - int(*b.Line) })
}

// state sets the cells of a statement.
func state(r *schema.Preference, s *usage.Statement) {
	r.Label, r.Value, r.Remark = schema.TextString(s.Label), schema.TextString(s.Value), schema.NonZero(s.Remark)
	r.Use, r.Preference, r.Level = nil, nil, schema.NonZero(s.Level.String())
	if s.Use != usage.NoUse {
		r.Use = &registry.UseNames[s.Use]
	}
	if s.Preference != usage.Unknown {
		r.Preference = new(s.Preference.String())
	}
}

// tokenRows adds a row for each disallow rule in the groups of a policy token and each use
// that it refuses.
func (e *Evaluator) tokenRows(row *schema.Fetch, f *robots.File, token *schema.Agent) {
	last := int32(-1)
	for i := range f.Agents {
		a := &f.Agents[i]
		if a.Group == last || !slices.ContainsFunc(token.Tokens, func(t string) bool {
			return len(t) == len(a.Token) &&
				strings.EqualFold(t, string(a.Token))
		}) {
			continue
		}
		last = a.Group
		g := &f.Groups[a.Group]
		for k := g.Rules.From; k < g.Rules.To; k++ {
			rule := &f.Rules[k]
			if rule.Kind != robots.Disallow || !rule.Effective {
				continue
			}
			pattern := &e.readings[0].texts()[k]
			for _, use := range token.Uses {
				e.preferences = append(e.preferences, schema.Preference{
					Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, GroupAgent: &token.Name, Scope: "group",
					Mechanism: usage.PolicyToken.String(),
					Label:     token.Name, Use: &registry.UseNames[registry.UseNamed(use)], Preference: new(usage.Refuses.String()),
					Path: pattern, Value: *pattern, Line: &rule.Line,
				})
			}
		}
	}
}

// purpose begins the tokens of purpose (draft-kelley-aipref-training-preference-signal-00).
const purpose = "__usage_"

// tokenNames returns the tokens of the registry's policy tokens, in lower case.
func tokenNames(agents []schema.Agent) map[string]bool {
	out := make(map[string]bool)
	for i := range agents {
		if agents[i].Kind == registry.KindToken {
			for _, token := range agents[i].Tokens {
				out[strings.ToLower(token)] = true
			}
		}
	}
	return out
}

// unknownTokenRows adds a row for each line that names a token of purpose that the registry
// lacks. It states nothing, for nobody here knows which use the token names. (A row for each
// rule of its group, as of a known token, could be a billion: many such names may share a
// group of many rules.)
func (e *Evaluator) unknownTokenRows(row *schema.Fetch, f *robots.File) {
	for i := range f.Agents {
		name := f.Agents[i].Wide
		if len(name) <= len(purpose) || !strings.EqualFold(string(name[:len(purpose)]), purpose) {
			continue
		}
		token := strings.ToLower(schema.Text(name))
		if e.tokenNames[token] {
			continue
		}
		e.preferences = append(e.preferences, schema.Preference{
			Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, GroupAgent: groupAgent(f, f.Agents[i].Group),
			Scope: "group", Mechanism: usage.PolicyToken.String(),
			Label: token, Value: schema.Text(name), Line: &f.Agents[i].Line, Remark: new(usage.RemarkUnknownToken),
		})
	}
}

// groupAgent returns the cell that says for whom a group is, null for no group.
func groupAgent(f *robots.File, group int32) *string {
	if group < 0 {
		return nil
	}
	agents := f.Agents[f.Groups[group].Agents.From:f.Groups[group].Agents.To]
	if len(agents) == 0 {
		return nil // a dialect's group may have lost them
	}
	first := agents[0].Wide
	for i := range agents {
		if string(agents[i].Wide) == "*" {
			first = agents[i].Wide
			break
		}
	}
	return new(strings.ToLower(schema.Text(first)))
}

// scopeOf returns where a line about use stands.
func scopeOf(f *robots.File, u *usage.Line) string {
	license := u.Mechanism == usage.License
	switch {
	case u.Group < 0 && license:
		return "file"
	case u.Group < 0:
		return summary.Orphan
	}
	rules := f.Groups[u.Group].Rules
	if license && int(u.Group) == len(f.Groups)-1 && rules.Len() > 0 && f.Rules[rules.To-1].Line < u.Line {
		return "trailing"
	}
	return "group"
}
