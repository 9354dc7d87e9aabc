package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/check"
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/schema"
)

// decidingView is what the file says to agents of one mind: the groups for the same lines of
// the file, or none.
type decidingView struct {
	// of the groups, as written, that agents were found by; none where no group decides
	Tokens     []string     `json:"tokens"`
	Lines      []int32      `json:"lines"` // of their user-agent lines
	Class      string       `json:"class"`
	Template   *string      `json:"template"` // in whose words they are
	Rules      []ruleView   `json:"rules"`    // that can decide
	Binds      []*boundView `json:"binds"`    // by category
	hasNoMatch bool         // no file decides
}

// boundView is the agents of a category that follow the groups.
type boundView struct {
	Category string   `json:"category"`
	Agents   []string `json:"agents"`
	Others   []string `json:"others"` // of the category that do not
}

// addDeciding adds the groups that decide, in the order of the file, then what holds without
// one.
func (v *hostView) addDeciding() {
	type mind struct {
		class              string
		hasNoMatch, hasOne bool
		groups             string
	}
	of := make(map[mind]*decidingView)
	found := make(map[string]string) // what names the groups of a token
	inCategory := make(map[string][]string)
	v.Deciding = []*decidingView{}
	for i := range v.policies {
		p := &v.policies[i]
		inCategory[p.Category] = append(inCategory[p.Category], p.Agent)
		key := mind{p.Class, p.Match == nil, p.GroupAgent != nil, ""}
		if p.GroupAgent != nil {
			name, known := found[*p.GroupAgent]
			if !known {
				name = v.nameOfGroups(*p.GroupAgent)
				found[*p.GroupAgent] = name
			}
			key.groups = name
		}
		d := of[key]
		if d == nil {
			d = &decidingView{Class: p.Class, Template: p.Template, Tokens: []string{}, Lines: []int32{}, Rules: []ruleView{},
				hasNoMatch: p.Match == nil}
			if p.GroupAgent != nil {
				d.Rules = v.rulesOf(*p.GroupAgent)
			}
			of[key], v.Deciding = d, append(v.Deciding, d)
		}
		if p.GroupAgent != nil {
			d.foundBy(p, v.groupsOf(*p.GroupAgent))
		}
		d.bind(p)
	}
	for _, d := range v.Deciding {
		slices.Sort(d.Lines)
		d.Lines = slices.Compact(d.Lines)
		for _, b := range d.Binds {
			bound := make(map[string]bool, len(b.Agents))
			for _, name := range b.Agents {
				bound[name] = true
			}
			for _, name := range inCategory[b.Category] {
				if !bound[name] {
					b.Others = append(b.Others, name)
				}
			}
		}
		slices.SortFunc(d.Binds, func(a, b *boundView) int { return strings.Compare(a.Category, b.Category) })
	}
	slices.SortStableFunc(v.Deciding, func(a, b *decidingView) int { return int(a.line()) - int(b.line()) })
}

// groupsOf returns the groups that are found by a token.
func (v *hostView) groupsOf(token string) []*schema.Group {
	if v.byToken == nil {
		v.byToken = make(map[string][]*schema.Group)
		for i := range v.groups {
			g := &v.groups[i]
			for _, t := range g.Tokens {
				t = strings.ToLower(t)
				if of := v.byToken[t]; len(of) == 0 || of[len(of)-1] != g {
					v.byToken[t] = append(of, g)
				}
			}
		}
	}
	return v.byToken[strings.ToLower(token)]
}

// nameOfGroups names the groups that are found by a token, equally for all that find them.
func (v *hostView) nameOfGroups(token string) string {
	groups := v.groupsOf(token)
	if len(groups) == 0 { // the run has no table groups
		return token
	}
	var name strings.Builder
	for _, g := range groups {
		fmt.Fprint(&name, " ", g.GroupIndex)
	}
	return name.String()
}

// rulesOf returns the rules that can decide of the groups that are found by a token.
func (v *hostView) rulesOf(token string) []ruleView {
	rules, isOf := []ruleView{}, make(map[int32]bool)
	for _, g := range v.groupsOf(token) {
		isOf[g.GroupIndex] = true
	}
	for _, r := range v.rules {
		if r.Effective && r.GroupIndex != nil && isOf[*r.GroupIndex] {
			rules = append(rules, ruleView(r))
		}
	}
	return rules
}

// foundBy adds the token that an agent was found by, and its lines.
func (d *decidingView) foundBy(p *schema.Policy, groups []*schema.Group) {
	isToken := func(t string) bool { return strings.EqualFold(t, *p.GroupAgent) }
	if !slices.ContainsFunc(d.Tokens, isToken) {
		d.Tokens = append(d.Tokens, *p.GroupAgent)
	} else if len(groups) > 0 {
		return // the lines are there
	}
	if len(groups) == 0 && p.GroupLine != nil {
		d.Lines = append(d.Lines, *p.GroupLine)
	}
	for _, g := range groups {
		for i, t := range g.Tokens {
			if i < len(g.AgentLines) && isToken(t) {
				d.Lines = append(d.Lines, g.AgentLines[i])
			}
		}
	}
}

func (d *decidingView) bind(p *schema.Policy) {
	i := slices.IndexFunc(d.Binds, func(b *boundView) bool { return b.Category == p.Category })
	if i < 0 {
		i, d.Binds = len(d.Binds), append(d.Binds, &boundView{Category: p.Category, Others: []string{}})
	}
	d.Binds[i].Agents = append(d.Binds[i].Agents, p.Agent)
}

// line returns where the groups begin, beyond every line if there are none.
func (d *decidingView) line() int32 {
	if len(d.Lines) == 0 {
		return 1<<31 - 1
	}
	return d.Lines[0]
}

// agents returns how many follow the groups.
func (d *decidingView) agents() (n int64) {
	for _, b := range d.Binds {
		n += int64(len(b.Agents))
	}
	return n
}

const (
	// mostGroupsShown and mostRulesOfGroup are what the terminal shows of a file, and
	// mostBound how many names stand for a number.
	mostGroupsShown  = 20
	mostRulesOfGroup = 6
	mostBound        = 3
)

// printDeciding prints what the file says, by the groups that decide; names only says whom
// it says it to.
func (v *hostView) printDeciding(p *cli.Text, names bool) {
	for i, d := range v.Deciding {
		if i == mostGroupsShown {
			p.Line(fmt.Sprintf("and %s more groups, all in --json", words.Number(int64(len(v.Deciding)-i))))
			return
		}
		p.Line(p.Foreign(d.title()))
		d.printRules(p)
		p.Line(p.Foreign("  " + words.Count(d.agents(), "agent") + d.whom(int64(len(v.policies)))))
		for _, b := range d.Binds {
			if names {
				p.Line("  " + words.Category.Of(b.Category) + ":")
				p.List(b.Agents)
			}
		}
	}
}

// title names the groups, their lines, and what they mean.
func (d *decidingView) title() string {
	what := words.Class.Of(d.Class)
	switch {
	case d.hasNoMatch:
		return "no file decides: " + what
	case len(d.Tokens) == 0:
		return "no group: " + what
	}
	shown := d.Tokens
	if len(shown) > mostBound+1 {
		shown = append(slices.Clone(shown[:mostBound]), fmt.Sprintf("%d more", len(d.Tokens)-mostBound))
	}
	text := words.And(shown)
	switch n := len(d.Lines); {
	case n == 1:
		text += fmt.Sprintf(", line %d", d.Lines[0])
	case n > 1 && int(d.Lines[n-1]-d.Lines[0]) == n-1:
		text += fmt.Sprintf(", lines %d to %d", d.Lines[0], d.Lines[n-1])
	case n > 1:
		text += fmt.Sprintf(", from line %d", d.Lines[0])
	}
	text += ": " + what
	if d.Template != nil {
		text += ", in the words of " + *d.Template
	}
	return text
}

// printRules prints the rule that shuts out, or the rules that close a part.
func (d *decidingView) printRules(p *cli.Text) {
	rules, i := d.Rules, slices.IndexFunc(d.Rules, shutsOut)
	switch {
	case d.Class == "allow_all", d.Class == "unknown":
		return
	case d.Class == "disallow_all" && i >= 0:
		rules = rules[i : i+1]
	case i < 0: // else the allows are what is left
		rules = slices.DeleteFunc(slices.Clone(rules), func(r ruleView) bool { return r.Kind != "disallow" })
	}
	for i, r := range rules {
		if i == mostRulesOfGroup {
			more := int64(len(rules) - i)
			p.Line(fmt.Sprintf("  and %s more %s, which --agent NAME and --json show", words.Number(more),
				words.Agree(more, "rule", "rules")))
			return
		}
		p.Line("  " + p.Foreign(check.Shortened(fmt.Sprintf("line %d: %s", r.Line, check.RuleText(r.Kind, r.Pattern)))))
	}
}

// shutsOut reports whether a rule closes every path by itself.
func shutsOut(r ruleView) bool {
	return r.Kind == "disallow" && strings.HasPrefix(r.Pattern, "/") && strings.Trim(r.Pattern, "*") == "/" ||
		r.Kind == "disallow" && r.Pattern != "" && strings.Trim(r.Pattern, "*") == ""
}

// whom says which agents of each category follow the groups: ": all for AI training and SEO;
// all for search but Googlebot; 5 of 24 for archives", "" for all of the run's.
func (d *decidingView) whom(ofRun int64) string {
	var all, parts []string
	for _, b := range d.Binds {
		of, n, others := " for "+words.Category.Of(b.Category), len(b.Agents), len(b.Others)
		switch {
		case others == 0 && n > mostBound:
			all = append(all, words.Category.Of(b.Category))
		case n <= mostBound:
			parts = append(parts, words.And(b.Agents)+of)
		case others <= mostBound:
			parts = append(parts, fmt.Sprintf("all%s but %s", of, words.And(b.Others)))
		default:
			parts = append(parts, fmt.Sprintf("%d of %d%s", n, n+others, of))
		}
	}
	switch {
	case d.agents() == ofRun:
		return ", all of the run"
	case all != nil:
		parts = slices.Insert(parts, 0, "all for "+words.And(all))
	}
	return ": " + strings.Join(parts, "; ")
}
