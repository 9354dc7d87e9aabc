package diff

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// What two files of a host state to an agent, beside the paths that they close: about use,
// in which lines, and in whose words. A statement is for an agent if its group names the
// agent, or if a policy token binds the agent. What two files state about a use may differ
// in its lines although the words of the tables are the same, and thousands of agents may
// follow the same groups: each question is answered once for all of them.

// A filePair holds the files of a host in two runs, before and after.
type filePair struct {
	names *records.Names
	of    [2]file
	alike map[aboutUse]bool // once asked for
}

// newFilePair returns the files that rows of two runs show. names has the texts of these rows.
func newFilePair(rows *[2]records.Rows, names *records.Names, before, after *past.Registry) filePair {
	return filePair{names: names, of: [2]file{{rows: &rows[0], registry: before}, {rows: &rows[1], registry: after}}}
}

// aboutUse asks both files what they state about a use. It is one question for all agents
// that follow the same groups and that the same policy tokens bind.
type aboutUse [2]asked

// about returns the question what the files state about a use to the agent of two rows of
// policies.
func (f *filePair) about(two [2]records.Policy, use usage.Use) (q aboutUse) {
	agent := f.names.Text(two[1].Agent)
	for i := range f.of {
		of := &f.of[i]
		q[i] = asked{of.set(f.names.Optional(two[i].Group)), of.tokensBinding(agent), use.String()}
	}
	return q
}

// sameBasis reports whether what both files state rests on the same.
func (f *filePair) sameBasis(q aboutUse) bool {
	alike, known := f.alike[q]
	if !known {
		if f.alike == nil {
			f.alike = make(map[aboutUse]bool)
		}
		alike = maps.Equal(f.of[0].basis(q[0]), f.of[1].basis(q[1]))
		f.alike[q] = alike
	}
	return alike
}

// lines returns the first line of each file that says what a stance before and after is:
// of one that depends on the path, the first that says anything. It is nil if none does.
func (f *filePair) lines(q aboutUse, stanceBefore, stanceAfter string) (before, after *int32) {
	return f.of[0].line(q[0], stanceBefore), f.of[1].line(q[1], stanceAfter)
}

// words returns the template in whose words the answers differ, nil for the files' own.
// known is false if no line shows it: none states what a policy token says by the rules
// for *.
func (f *filePair) words(q aboutUse) (template *string, known bool) {
	return changedIn(f.of[0].stated(q[0], &f.of[1]), f.of[1].stated(q[1], &f.of[0]))
}

// groupWords does the same for the groups that decide by two rows of policies.
func (f *filePair) groupWords(two [2]records.Policy) (template *string, known bool) {
	return changedIn(f.of[0].changed(f.names, two[0], &f.of[1]), f.of[1].changed(f.names, two[1], &f.of[0]))
}

// A file is what the tables of a run show of a file.
type file struct {
	rows     *records.Rows
	registry *past.Registry

	groupsRead bool
	list       []records.Group
	naming     map[string][]int // by token in lower case: the places of the groups that name it
	digests    map[string]bool
	words      map[decision]words // once asked for

	complete   bool // the rest is read
	statements []records.Statement
	pieces     []piece                  // the statements, once asked for
	keys       map[string]bool          // theirs
	said       map[asked]words          // once asked for
	rules      map[int32][]records.Rule // by group
	lines      map[lineKey]*int32
	sets       [][]int           // the groups that agents follow together
	numbers    map[string]int    // by token: the number of its groups in sets
	tokens     map[string]string // by agent: the policy tokens that bind it
}

// asked is a question to one file: for the agents that follow groups, by their number in
// sets, and whom policy tokens bind, separated by spaces, about a use.
type asked struct {
	groups      int
	tokens, use string
}

type lineKey struct {
	asked
	stance string
}

// readGroups reads the groups once.
func (f *file) readGroups() {
	if f.groupsRead {
		return
	}
	f.groupsRead, f.naming, f.digests = true, make(map[string][]int), make(map[string]bool)
	for d := f.rows[records.Groups]; len(d) > 0; {
		g := d.Group()
		for _, t := range g.Tokens {
			if at := f.naming[t]; len(at) == 0 || at[len(at)-1] != len(f.list) {
				f.naming[t] = append(at, len(f.list))
			}
		}
		f.list, f.digests[g.Digest] = append(f.list, g), true
	}
}

// at returns the place of the group that a line stands in, -1 before the first.
func (f *file) at(line int32) int {
	i, begins := slices.BinarySearchFunc(f.list, line, func(g records.Group, line int32) int { return int(g.Line - line) })
	if !begins {
		i--
	}
	return i
}

// tokensBinding returns the policy tokens that bind an agent, separated by spaces.
func (f *file) tokensBinding(agent string) string {
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

// set returns the number in sets of the groups that name a token, of none for nil.
func (f *file) set(name *string) int {
	f.readAll()
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

// readAll reads the rows once.
func (f *file) readAll() {
	if f.complete {
		return
	}
	f.readGroups()
	f.complete, f.rules, f.lines, f.numbers = true, make(map[int32][]records.Rule), make(map[lineKey]*int32),
		make(map[string]int)
	for d := f.rows[records.Rules]; len(d) > 0; {
		r := d.Rule()
		f.rules[r.Group] = append(f.rules[r.Group], r)
	}
	for d := f.rows[records.Preferences]; len(d) > 0; {
		f.statements = append(f.statements, d.Statement())
	}
}

// readPieces makes pieces of the statements once. Their keys have the digest of the tokens of
// their group, of which a group may have as many as statements.
func (f *file) readPieces() {
	f.readAll()
	if f.keys != nil {
		return
	}
	f.pieces, f.keys, f.said = make([]piece, len(f.statements)), make(map[string]bool, len(f.statements)),
		make(map[asked]words)
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
func (f *file) stated(of asked, other *file) words {
	f.readPieces()
	other.readPieces()
	w, told := f.said[of]
	if told {
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
func (f *file) states(s *records.Statement, of asked) bool {
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
func (f *file) line(of asked, stance string) *int32 {
	if stance == "" {
		return nil
	}
	f.readAll()
	key := lineKey{of, stance}
	if line, known := f.lines[key]; known {
		return line
	}
	f.lines[key] = nil
	for i := range f.statements {
		s := &f.statements[i]
		if s.Use == of.use && (s.Preference == stance || stance == robots.StancePartial.String() && s.Preference != "") &&
			f.states(s, of) {
			f.lines[key] = &s.Line
			break
		}
	}
	return f.lines[key]
}

// basis returns all that decides what the file states about a use, path by path: labels and
// paths of lines, also of Content-Usage lines without a label for the use, and the rules of
// policy tokens. On a path that may be fetched before and after, equal bases state the same.
func (f *file) basis(of asked) map[string]bool {
	f.readAll()
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
		if !f.states(s, of) || s.Mechanism == usage.PolicyToken.String() || !says &&
			(s.Mechanism != usage.ContentUsage.String() || about[s.Line]) {
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
func (f *file) addToken(to map[string]bool, name string) {
	for i := range f.registry.Agents {
		token := &f.registry.Agents[i]
		if token.Name != name {
			continue
		}
		own := slices.ContainsFunc(f.list, func(g records.Group) bool { return isFor(g, token.Tokens) })
		for _, g := range f.list {
			if own && !isFor(g, token.Tokens) || !own &&
				!(slices.Contains(token.FallsBackTo, "*") && slices.Contains(g.Tokens, "*")) {
				continue
			}
			for _, r := range f.rules[g.Index] {
				to[strings.Join([]string{name, map[bool]string{true: "allow", false: "disallow"}[r.Allow], string(r.Pattern)},
					" ")] = true
			}
		}
	}
}

// isFor reports whether a group is for one of some tokens.
func isFor(g records.Group, tokens []string) bool {
	return slices.ContainsFunc(tokens, func(t string) bool { return slices.Contains(g.Tokens, strings.ToLower(t)) })
}
