package diff

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// planPreferences finds the agents to which files may state other things although no host
// changed: the runs know other labels, or bind the agents by other policy tokens.
func (d *differ) planPreferences() {
	d.unstated = make(map[string]string)
	if !slices.Contains(d.tables, records.Policies) {
		return
	}
	labels := d.between.Labels()
	if labels != "" {
		d.note("%s: what files state about use is not compared", labels)
	}
	var bound []string
	for _, name := range slices.Sorted(maps.Keys(d.runs[1].Category)) {
		if _, both := d.runs[0].Category[name]; !both {
			continue
		}
		why := d.between.States(name)
		if why == "" {
			continue
		}
		d.unstated[name] = why
		if labels == "" && !d.redefined[name] { // planAgents has noted it
			bound = append(bound, name)
		}
	}
	if len(bound) > 0 {
		d.note("other policy tokens bind %s, or mean something else: what files state to them about use is not compared", past.Some(bound, 5))
	}
}

// preferences writes a row for each use of which a file states something else to an agent,
// unless the agent is shut out in one of the runs: there nothing is stated, as the row of
// its class says.
func (c *comparison) preferences(p *pair) error {
	names := c.d.names
	unknown, shut := summary.ClassNames[summary.ClassUnknown], summary.ClassNames[robots.DisallowAll]
	files := statedFiles{of: [2]*statedFile{{registry: c.d.runs[0].Registry, fileGroups: &c.files[0]}, {registry: c.d.runs[1].Registry, fileGroups: &c.files[1]}}}
	for d := p.rows[1][records.Policies]; len(d) > 0; {
		now := d.Policy()
		two, both := c.both[now.Key()]
		if !both || two[0].Stances == two[1].Stances && now.Stances == [usage.NumUses]uint64{} {
			continue // as of nearly all files
		}
		agent, class := names.Text(now.Agent), c.classes[now.Key()]
		if c.d.unstated[agent] != "" || !c.d.compares(now.Key(), p) || class[0] == unknown || class[1] == unknown {
			continue
		}
		for use := range usage.Use(usage.NumUses) {
			row := c.preferenceRow(&files, two, use)
			switch {
			case row == nil:
			case class[0] != shut && class[1] != shut:
				if err := c.emit(*row); err != nil {
					return err
				}
			case c.d.checker != nil:
				row.Host = c.base.Host
				c.d.checker.Covered(row, classRow(agent, row.Category, *row.Profile, class))
			}
		}
	}
	return nil
}

// preferenceRow returns the row of a use, nil if the file states the same about it. If
// that depends on the path before and after, the row is undecided where the statements
// differ on which it rests.
func (c *comparison) preferenceRow(files *statedFiles, two [2]records.Policy, use usage.Use) *schema.Change {
	names := c.d.names
	agent, profile := names.Text(two[1].Agent), names.Text(two[1].Profile)
	row := &schema.Change{
		Kind: "preference", Agent: &agent, Category: c.category(agent), Profile: &profile, Use: schema.Some(use.String()),
		Before: names.Optional(two[0].Stances[use]), After: names.Optional(two[1].Stances[use]),
	}
	before, after := schema.OrZero(row.Before), schema.OrZero(row.After)
	same := before == after
	// The tables show the first profile's reading of statements and groups.
	if same && (after != robots.StancePartial.String() || !slices.Contains(c.d.tables, records.Preferences)) {
		return nil
	}
	of := [2]stating{}
	for i, f := range files.of {
		of[i] = stating{f.groupsOf(names.Optional(two[i].Group)), f.tokensOf(agent), use.String()}
	}
	if same {
		if files.restAlike(of) {
			return nil
		}
		row.After = schema.Some(change.RulesUndecided)
	}
	row.Severity = change.PreferenceSeverity(schema.OrZero(row.Before), schema.OrZero(row.After))
	row.LineBefore, row.LineAfter = files.of[0].line(of[0], before), files.of[1].line(of[1], after)
	c.setWords(row)
	// No line states what a policy token says by the rules for *.
	if template, known := changedIn(files.of[0].stated(of[0], files.of[1]), files.of[1].stated(of[1], files.of[0])); known {
		row.Template = template
	}
	return row
}

// statedFiles are what the files of both runs state about use.
type statedFiles struct {
	of    [2]*statedFile
	alike map[[2]stating]bool // once asked for
}

// restAlike reports whether what both files state rests on the same.
func (f *statedFiles) restAlike(of [2]stating) bool {
	alike, known := f.alike[of]
	if !known {
		if f.alike == nil {
			f.alike = make(map[[2]stating]bool)
		}
		alike = maps.Equal(f.of[0].basis(of[0]), f.of[1].basis(of[1]))
		f.alike[of] = alike
	}
	return alike
}

// A statedFile is what a file of one run states about use.
type statedFile struct {
	*fileGroups
	registry *past.Registry

	complete   bool // the rest is read
	statements []records.Statement
	pieces     []piece                  // the statements, once asked for
	keys       map[string]bool          // theirs
	said       map[stating]words        // once asked for
	rules      map[int32][]records.Rule // by group
	lines      map[lineKey]*int32
	sets       [][]int           // the groups that agents follow together
	numbers    map[string]int    // by token: the number of its groups in sets
	tokens     map[string]string // by agent: the policy tokens that bind it
}

// stating is a question to a file: for the agents that follow groups, by their number in
// sets, and whom policy tokens bind, separated by spaces, about a use. It is one question
// for all agents that follow the same groups.
type stating struct {
	groups      int
	tokens, use string
}

type lineKey struct {
	stating
	stance string
}

// tokensOf returns the policy tokens that bind an agent, separated by spaces.
func (f *statedFile) tokensOf(agent string) string {
	if f.tokens == nil {
		f.tokens = make(map[string]string)
		for i := range f.registry.Agents {
			if a := &f.registry.Agents[i]; len(a.PolicyTokens) > 0 {
				f.tokens[a.Name] = strings.Join(a.PolicyTokens, " ")
			}
		}
	}
	return f.tokens[agent]
}

// unnamed is the number of groups that the tables do not show: the token finds them by
// another profile's reading than the first's.
const unnamed = -1

// groupsOf returns the number in sets of the groups that name a token, of none for nil.
func (f *statedFile) groupsOf(name *string) int {
	f.loadAll()
	token := strings.ToLower(schema.OrZero(name))
	if n, known := f.numbers[token]; known {
		return n
	}
	var groups []int
	if name != nil {
		if groups = f.naming[token]; groups == nil {
			return unnamed
		}
	}
	n := slices.IndexFunc(f.sets, func(set []int) bool { return slices.Equal(set, groups) })
	if n < 0 {
		n = len(f.sets)
		f.sets = append(f.sets, groups)
	}
	f.numbers[token] = n
	return n
}

// loadAll reads the rows once.
func (f *statedFile) loadAll() {
	if f.complete {
		return
	}
	f.load()
	f.complete, f.rules, f.lines, f.numbers = true, make(map[int32][]records.Rule), make(map[lineKey]*int32), make(map[string]int)
	for d := f.rows[records.Rules]; len(d) > 0; {
		r := d.Rule()
		f.rules[r.Group] = append(f.rules[r.Group], r)
	}
	for d := f.rows[records.Preferences]; len(d) > 0; {
		f.statements = append(f.statements, d.Statement())
	}
}

// loadPieces makes pieces of the statements once. Their keys have the digest of the tokens of
// their group, of which a group may have as many as statements.
func (f *statedFile) loadPieces() {
	f.loadAll()
	if f.keys != nil {
		return
	}
	f.pieces, f.keys, f.said = make([]piece, len(f.statements)), make(map[string]bool, len(f.statements)), make(map[stating]words)
	group, head := -1, ""
	for k := range f.statements {
		s, p := &f.statements[k], &f.pieces[k]
		if i := f.at(s.Line); i >= 0 {
			if i != group {
				sum := sha256.Sum256([]byte(strings.Join(f.list[i].Tokens, "\n")))
				group, head = i, string(sum[:])
			}
			p.template = f.list[i].Template
		} else {
			head = ""
		}
		p.key = strings.Join([]string{s.Mechanism, s.Label, s.Use, s.Path, s.Preference, head}, "\n")
		f.keys[p.key] = true
	}
}

// stated returns whose words those statements are that a question is about, and that another
// file has not.
func (f *statedFile) stated(of stating, other *statedFile) words {
	f.loadPieces()
	other.loadPieces()
	w, asked := f.said[of]
	if asked {
		return w
	}
	var about []piece
	for i := range f.statements {
		if s := &f.statements[i]; s.Use == of.use && s.Preference != "" && f.states(s, of) {
			about = append(about, f.pieces[i])
		}
	}
	if w = wordsOf(about, other.keys); w.none && of.groups == unnamed {
		w = words{unknown: true}
	}
	f.said[of] = w
	return w
}

// states reports whether a statement of the file is one that a question is about: a line
// in a group of the token, or a rule of a policy token.
func (f *statedFile) states(s *records.Statement, of stating) bool {
	if s.Mechanism == usage.PolicyToken.String() {
		return slices.Contains(strings.Fields(of.tokens), s.Label)
	}
	i := f.at(s.Line)
	if i < 0 || of.groups == unnamed {
		return false
	}
	_, follows := slices.BinarySearch(f.sets[of.groups], i)
	return follows
}

// line returns the first line that says of a use what a stance is: of one that depends on
// the path, the first that says anything. It returns nil if no line does.
func (f *statedFile) line(of stating, stance string) *int32 {
	if stance == "" {
		return nil
	}
	f.loadAll()
	key := lineKey{of, stance}
	if line, known := f.lines[key]; known {
		return line
	}
	f.lines[key] = nil
	for i := range f.statements {
		s := &f.statements[i]
		if s.Use == of.use && (s.Preference == stance || stance == robots.StancePartial.String() && s.Preference != "") && f.states(s, of) {
			f.lines[key] = &s.Line
			break
		}
	}
	return f.lines[key]
}

// basis returns all on which it rests what the file states about a use, path by path: the
// labels of lines, with a line that says nothing on its path, and the rules of policy
// tokens. On a path that may be fetched before and after, equal bases state the same.
func (f *statedFile) basis(of stating) map[string]bool {
	f.loadAll()
	out := make(map[string]bool)
	about := make(map[int32]bool) // lines of Content-Usage with a label for the use
	for i := range f.statements {
		if s := &f.statements[i]; s.Use == of.use && s.Preference != "" {
			about[s.Line] = true
		}
	}
	for i := range f.statements {
		s := &f.statements[i]
		says := s.Use == of.use && s.Preference != ""
		if !f.states(s, of) || s.Mechanism == usage.PolicyToken.String() || !says && (s.Mechanism != usage.ContentUsage.String() || about[s.Line]) {
			continue
		}
		text := strings.Join([]string{s.Mechanism, s.Path}, " ")
		if says {
			text += " " + s.Preference
		}
		out[text] = true
	}
	for _, name := range strings.Fields(of.tokens) {
		f.addToken(out, name)
	}
	return out
}

// addToken adds the rules of a policy token to a basis: those of its own groups, else of
// those for * if it falls back to them.
func (f *statedFile) addToken(to map[string]bool, name string) {
	for i := range f.registry.Agents {
		token := &f.registry.Agents[i]
		if token.Name != name {
			continue
		}
		own := slices.ContainsFunc(f.list, func(g records.Group) bool { return named(g, token.Tokens) })
		for _, g := range f.list {
			if own && !named(g, token.Tokens) || !own && !(slices.Contains(token.FallsBackTo, "*") && slices.Contains(g.Tokens, "*")) {
				continue
			}
			for _, r := range f.rules[g.Index] {
				to[strings.Join([]string{name, map[bool]string{true: "allow", false: "disallow"}[r.Allow], string(r.Pattern)}, " ")] = true
			}
		}
	}
}

// named reports whether a group is for one of some tokens.
func named(g records.Group, tokens []string) bool {
	return slices.ContainsFunc(tokens, func(t string) bool { return slices.Contains(g.Tokens, strings.ToLower(t)) })
}
