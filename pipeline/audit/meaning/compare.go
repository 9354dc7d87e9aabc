package meaning

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/summary"
)

// Result describes how two files differ in meaning under one profile.
type Result struct {
	Differences []Difference
	Proven      bool // rows has every agent whose verdict differs on any path
	More        bool // the files name more agents than were compared
}

// Difference is an agent, or a token of the files, whose policy differs.
type Difference struct {
	Agent    string
	Stranger bool            // a token, in lower case
	Classes  [2]string       // of its policy
	Relation robots.Relation // of the later policy to the earlier one
	Closing  bool            // the path shows that something was closed
	Path     string          // a path on which they differ, "" if undecided
	Lines    [2]*int32       // the lines that decide the path
}

// Bounds of comparing two files under one profile for agents that the files name
// and the registry does not.
const (
	maxStrangers  = 4096
	maxSubstrings = 1 << 21 // names times user-agent lines, if the profile compares substrings
)

// A comparer compares two files for the agents of the registry, and then for
// other agents that the files name.
type comparer struct {
	*Pairs
	agents     [2][]robots.Agent
	strangers  bool
	registered map[[2]int]bool // by SameAs on both sides: an agent of the registry has these groups
	result     *Result         // outlives the comparer
}

// Compare compares two files for agents, which are those of a registry as each
// run defines them, and, with strangers, for other agents that the files name.
func Compare(p *robots.Profile, files [2]*File, agents [2][]robots.Agent, strangers bool) *Result {
	c := comparer{Pairs: NewPairs(p, files[0], files[1]), agents: agents, strangers: strangers,
		registered: make(map[[2]int]bool), result: new(Result)}
	return c.run()
}

func (c *comparer) run() *Result {
	names, whole := []string(nil), true
	if c.strangers {
		names, whole = strangers(c.profile, c.files[0], c.files[1])
	}
	lines := max(len(c.files[0].Agents), len(c.files[1].Agents))
	if c.profile.AgentMatch == robots.MatchSubstring && len(names)*lines > maxSubstrings {
		names, whole = nil, false
	}
	c.result.Proven, c.result.More = whole, !whole
	if c.strangers && c.profile.AgentMatch == robots.MatchSubstring && c.profile.SeveralGroups == robots.MergeGroups {
		c.result.Proven = false // one name may match any set of groups
	}
	for i, f := range c.files {
		agents := slices.Clip(c.agents[i])
		for _, name := range names {
			agents = append(agents, stranger(name))
		}
		f.Ask(c.profile, agents)
	}
	for i, agent := range c.agents[0] {
		if x, _ := c.ask(i, true); x.Relation != robots.Equal {
			c.addRow(i, agent.Name, false, x)
		}
	}
	done := make(map[string]bool)
	for i, name := range names {
		i, name = i+len(c.agents[0]), strings.ToLower(name)
		if x, known := c.ask(i, false); x.Relation != robots.Equal && !known && !done[name] {
			done[name] = true
			c.addRow(i, name, true, x)
		}
	}
	return c.result
}

// ask compares the policies of agent i. known reports whether an agent of the
// registry that was asked before follows the same groups.
func (c *comparer) ask(i int, registered bool) (x robots.Comparison, known bool) {
	key := [2]int{c.files[0].Policy(i).SameAs, c.files[1].Policy(i).SameAs}
	known = c.registered[key]
	c.registered[key] = known || registered
	x = c.Of(i)
	c.result.Proven = c.result.Proven && x.Relation != robots.RelationUndecided
	return x, known
}

// addRow adds the row of agent i.
func (c *comparer) addRow(i int, agent string, isStranger bool, x robots.Comparison) {
	row := Difference{Agent: agent, Stranger: isStranger, Relation: x.Relation, Closing: x.Closes != nil}
	for k, f := range c.files {
		row.Classes[k] = summary.ClassNames[f.Policy(i).Class()]
	}
	w := x.Closes
	if w == nil {
		w = x.Opens
	}
	if w != nil {
		row.Path, row.Lines = w.Path, [2]*int32{c.files[0].LineOf(w.A), c.files[1].LineOf(w.B)}
	}
	c.result.Differences = append(c.result.Differences, row)
}

// stranger returns an agent with one name; for *, an agent that no group names.
func stranger(name string) robots.Agent {
	if name == "*" {
		return robots.Agent{Name: name}
	}
	return robots.Agent{Name: name, Tokens: []string{name}}
}

// strangers returns the names to ask about besides the registry's. An agent follows
// the groups of one token, or those for *. So if the policies of any agent differ,
// and its token is in both files, they differ for one of these names. whole is false
// if there are too many.
func strangers(p *robots.Profile, a, b *File) (names []string, whole bool) {
	before, whole := tokensIn(p, a)
	after, all := tokensIn(p, b)
	spellings := [2]map[string][]string{before, after}
	whole = whole && all
	for _, token := range slices.Sorted(maps.Keys(spellings[0])) {
		if spellings[1][token] == nil {
			continue // it has a row of kind group
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

// tokensIn returns the spellings of the tokens of a file, by token in lower case.
// whole is false if a token has too many spellings.
func tokensIn(p *robots.Profile, f *File) (out map[string][]string, whole bool) {
	out, whole = make(map[string][]string), true
	add := func(token []byte) {
		if len(token) == 0 || bytes.ContainsFunc(token, func(r rune) bool { return r >= 0x80 }) {
			return // no agent can have this name
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
	for i := range f.Agents {
		a := &f.Agents[i]
		if add(a.Token); len(a.Wide) > len(a.Token) {
			add(a.Wide)
		}
	}
	return out, whole
}

// otherSpelling returns a spelling of a token that is not listed, "" if the token
// has only one. ok is false if it finds none.
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
	return "", len(token) == 1 // both spellings are listed
}
