package audit

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
)

// rulesResult is how the meaning of one file differs from that of another, in
// one profile's reading.
type rulesResult struct {
	rows   []ruleRow
	proven bool // rows tell of every agent whose verdict differs on any path
	more   bool // the files name more agents than were compared
}

// ruleRow is an agent, or a token of the files, whose policy differs.
type ruleRow struct {
	agent     string
	stranger  bool // a token, in lower case
	sameClass bool
	how       string // closes, opens, both, undecided
	closing   bool   // the path shows that something is closed
	path      string // where it differs, "" where that is undecided
	lines     [2]*int32
}

// Bounds of comparing two files under one profile, for agents of the files
// besides those of the registry.
const (
	maxStrangers  = 4096
	maxSubstrings = 1 << 21 // names compared with user-agent lines, where any part of a name counts
)

// knownRows bounds the rows that are kept of pairs of files met before.
const knownRows = 1 << 14

// of compares the files of a pair under each profile; nil is undecided. Many
// hosts have the same two files.
func (r *rulesDiff) of(p *pair) []*rulesResult {
	key := [2]string{p.sides[0].digest, p.sides[1].digest}
	if known, ok := r.known[key]; ok {
		return known
	}
	results := make([]*rulesResult, len(r.profiles))
	n := 1
	for k := range r.profiles {
		if results[k] = r.compareFiles(p, k); results[k] != nil {
			n += 1 + len(results[k].rows)
		}
	}
	if r.rows += n; r.rows > knownRows {
		clear(r.known)
		r.rows = n
	}
	r.known[key] = results
	return results
}

// compareFiles compares the files of a pair under profile k.
func (r *rulesDiff) compareFiles(p *pair, k int) *rulesResult {
	profile := r.profiles[k]
	var files [2]*policyFile
	for i := range files {
		rows := &p.rows[i]
		switch {
		case len(rows[tableBodies]) > 0:
			files[i] = newPolicyFile(profile, rows[tableBodies][1:])
		case k == 0 && r.roomy != nil && !r.bodies:
			files[i] = ofTables(profile, r.roomy, rows[tableGroups], rows[tableRules])
		}
		if files[i] == nil {
			return nil
		}
	}
	if k == 0 && r.roomy != nil && !r.bodies {
		profile = r.roomy
	}
	c := ruleComparer{policyPairs: policyPairs{profile: profile, files: files}, agents: r.agents, registered: make(map[[2]int]bool), result: new(rulesResult)}
	return c.run()
}

// ruleComparer compares two files for the agents of the registry, and then for
// those that the files name besides.
type ruleComparer struct {
	policyPairs
	agents     [2][]robots.Agent
	registered map[[2]int]bool // by the first agents with the same groups: one of the registry is among them
	result     *rulesResult    // on its own: it is kept when the rest is not
}

func (c *ruleComparer) run() *rulesResult {
	names, whole := strangers(c.profile, c.files[0], c.files[1])
	lines := max(len(c.files[0].file.Agents), len(c.files[1].file.Agents))
	if c.profile.AgentMatch == robots.MatchSubstring && len(names)*lines > maxSubstrings {
		names, whole = nil, false
	}
	c.result.proven, c.result.more = whole, !whole
	if c.profile.AgentMatch == robots.MatchSubstring && c.profile.SeveralGroups == robots.MergeGroups {
		c.result.proven = false // a name may have parts that join any groups
	}
	for i, f := range c.files {
		agents := slices.Clip(c.agents[i])
		for _, name := range names {
			agents = append(agents, stranger(name))
		}
		f.ask(c.profile, agents)
	}
	for i, agent := range c.agents[0] {
		if x, _ := c.ask(i, true); x.Relation != robots.Equal {
			c.tell(i, agent.Name, false, x)
		}
	}
	told := make(map[string]bool)
	for i, name := range names {
		i, name = i+len(c.agents[0]), strings.ToLower(name)
		if x, known := c.ask(i, false); x.Relation != robots.Equal && !known && !told[name] {
			told[name] = true
			c.tell(i, name, true, x)
		}
	}
	return c.result
}

// ask compares the policies of agent i. told says that an agent of the registry
// follows the same groups.
func (c *ruleComparer) ask(i int, registered bool) (x robots.Comparison, told bool) {
	key := [2]int{c.files[0].judge.Policy(i).SameAs, c.files[1].judge.Policy(i).SameAs}
	told = c.registered[key]
	c.registered[key] = told || registered
	x = c.compare(i)
	c.result.proven = c.result.proven && x.Relation != robots.NotDecided
	return x, told
}

// tell makes the row of agent i.
func (c *ruleComparer) tell(i int, agent string, isStranger bool, x robots.Comparison) {
	row := ruleRow{agent: agent, stranger: isStranger, closing: x.Closes != nil}
	row.sameClass = c.files[0].judge.Policy(i).Class() == c.files[1].judge.Policy(i).Class()
	row.how = map[robots.Relation]string{robots.Stricter: "closes", robots.Looser: "opens", robots.Mixed: "both", robots.NotDecided: undecided}[x.Relation]
	w := x.Closes
	if w == nil {
		w = x.Opens
	}
	if w != nil {
		row.path, row.lines = w.Path, [2]*int32{c.files[0].lineOf(w.A), c.files[1].lineOf(w.B)}
	}
	c.result.rows = append(c.result.rows, row)
}

// stranger is an agent of one name, or everybody whom no group names.
func stranger(name string) robots.Agent {
	if name == "*" {
		return robots.Agent{Name: name}
	}
	return robots.Agent{Name: name, Tokens: []string{name}}
}

// strangers are names of agents by which any two policies differ that differ at
// all, where both files name the same tokens: an agent follows the groups of
// one token, or those for all. whole is false where they are too many.
func strangers(p *robots.Profile, a, b *policyFile) (names []string, whole bool) {
	before, whole := tokensIn(p, a)
	after, all := tokensIn(p, b)
	spellings := [2]map[string][]string{before, after}
	whole = whole && all
	for _, token := range slices.Sorted(maps.Keys(spellings[0])) {
		if spellings[1][token] == nil {
			continue // of which a row of kind group tells
		}
		if len(names) >= maxStrangers {
			return names, false
		}
		switch p.AgentMatch {
		case robots.MatchToken, robots.MatchSubstring:
			names = append(names, token)
			continue
		}
		spelt := append(slices.Clone(spellings[0][token]), spellings[1][token]...)
		slices.Sort(spelt)
		spelt = slices.Compact(spelt)
		names = append(names, spelt...)
		if p.AgentMatch == robots.MatchTokenOpen {
			other, ok := otherSpelling(token, spelt)
			if !ok {
				return names, false
			}
			if other != "" {
				names = append(names, other)
			}
		}
	}
	return names, whole
}

// maxSpellings bounds the spellings of one token.
const maxSpellings = 64

// tokensIn are the tokens that a file names, in lower case, each with how it is
// spelt. whole is false where one has too many spellings.
func tokensIn(p *robots.Profile, f *policyFile) (out map[string][]string, whole bool) {
	out, whole = make(map[string][]string), true
	add := func(token []byte) {
		if len(token) == 0 || bytes.ContainsFunc(token, func(r rune) bool { return r >= 0x80 }) {
			return // no agent has such a name
		}
		lower := strings.ToLower(string(token))
		list := out[lower]
		if p.AgentMatch == robots.MatchToken || p.AgentMatch == robots.MatchSubstring {
			out[lower] = append(list[:0], lower)
		} else if len(list) > maxSpellings {
			whole = false
		} else if !slices.Contains(list, string(token)) {
			out[lower] = append(list, string(token))
		}
	}
	for i := range f.file.Agents {
		a := &f.file.Agents[i]
		if add(a.Token); len(a.Wide) > len(a.Token) {
			add(a.Wide)
		}
	}
	return out, whole
}

// otherSpelling is a token in letters of another case than those listed, ""
// where it has only one spelling. ok is false where none is found.
func otherSpelling(token string, listed []string) (other string, ok bool) {
	if token == strings.ToUpper(token) {
		return "", true
	}
	for _, from := range []string{token, strings.ToUpper(token)} {
		for i := -1; i < len(token); i++ {
			b := []byte(from)
			if i >= 0 {
				if b[i]|0x20 < 'a' || b[i]|0x20 > 'z' {
					continue
				}
				b[i] ^= 0x20
			}
			if !slices.Contains(listed, string(b)) {
				return string(b), true
			}
		}
	}
	return "", len(token) == 1 // which has two spellings
}
