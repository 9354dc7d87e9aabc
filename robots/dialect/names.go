package dialect

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// An Agent is an agent of a group. Those of one group stand together.
type Agent struct {
	Line, Group int32
	Value       []byte
	ForAll      bool // it is all crawlers
}

// Names are the names of a file in the order of their first lines, each with its groups,
// and the groups for all crawlers.
type Names struct {
	*Groups
	agents []Agent
	heads  [][]Agent // of each group, if what stands in it together matters
	names  []string
	groups [][]int32
	common commonNames // if AgentIs is IsEqualOrPart
	at     map[string]int
	star   []int32 // the groups for all crawlers
	before int     // names that stand before the first *
}

// NamesOf returns the names of a file that has these agents.
func NamesOf(g *Groups, agents []Agent) *Names {
	n := &Names{Groups: g, agents: agents, at: make(map[string]int)}
	together := n.FurtherOnce || n.FurtherLast || n.Continues || n.AgentIs == IsEqualOrPart
	for i, a := range agents {
		if together {
			if int(a.Group) == len(n.heads) {
				n.heads = append(n.heads, agents[i:i])
			}
			n.heads[a.Group] = n.heads[a.Group][:len(n.heads[a.Group])+1]
		}
		if a.ForAll {
			n.star = AddGroup(n.star, a.Group)
		}
	}
	switch {
	case n.FurtherOnce, n.FurtherLast:
		n.further()
		return n
	case n.Continues:
		n.continued()
		return n
	}
	starred := int32(-1) // the last group that names *
	for _, a := range agents {
		if a.ForAll {
			if starred < 0 {
				n.before = len(n.names)
			}
			starred = a.Group
		}
		if n.StarHides && starred == a.Group {
			continue
		}
		if a.ForAll && n.AgentIs != IsEqualOrPart || n.FirstGroup && slices.Contains(n.star, a.Group) {
			continue
		}
		for _, name := range Named(n.Groups, a.Value) {
			k := n.add(name)
			if n.AgentIs == IsEqualOrPart {
				n.common.add(k, len(n.groups[k]) == 0, n.heads[a.Group], a.Group)
			}
			n.groups[k] = AddGroup(n.groups[k], a.Group)
		}
	}
	if n.FirstGroup && len(n.star) > 1 {
		n.star = n.star[:1]
	}
	return n
}

// add returns the number of a name.
func (n *Names) add(name string) int {
	k, ok := n.at[name]
	if !ok {
		k = len(n.names)
		n.at[name] = k
		n.names, n.groups = append(n.names, name), append(n.groups, nil)
	}
	return k
}

// continued finds the groups of names if an agent that has rules takes up the list that
// has them.
func (n *Names) continued() {
	n.star = nil
	var lists [][]int32 // groups of each list
	of := make(map[string]int)
	var names []string
	now := -1
	for g, agents := range n.heads {
		for i := range agents {
			name := Named(n.Groups, agents[i].Value)[0]
			before, known := of[name]
			switch {
			case known && len(lists[before]) > 0:
				now = before
			case now < 0 || len(lists[now]) > 0:
				now = len(lists)
				lists = append(lists, nil)
			}
			if of[name] = now; !known {
				names = append(names, name)
			}
		}
		lists[now] = append(lists[now], int32(g))
	}
	for _, name := range names {
		groups := lists[of[name]]
		if name == "*" {
			n.star = groups
			continue
		}
		n.groups[n.add(name)] = append([]int32{}, groups...) // not nil: the name is there
	}
}

// further finds the groups of names if those that are not the first of a list count
// once, or get what the first has. The names of a list whose first is empty join the next list.
func (n *Names) further() {
	n.star = n.star[:0]
	var further []string
	for g, agents := range n.heads {
		lead := &n.star
		if !agents[0].ForAll {
			lead = &n.groups[n.add(Named(n.Groups, agents[0].Value)[0])]
		}
		*lead = AddGroup(*lead, int32(g))
		for i := range agents[1:] {
			further = append(further, Named(n.Groups, agents[1+i].Value)[0])
		}
		if len(agents[0].Value) == 0 {
			continue
		}
		groups := slices.Clone(*lead)
		for _, name := range further {
			switch _, known := n.at[name]; {
			case name == "*" && n.FurtherLast:
				n.star = slices.Clip(groups)
			case name != "*" && (n.FurtherLast || !known):
				n.groups[n.add(name)] = slices.Clip(groups)
			}
		}
		further = further[:0]
	}
}

// BeforeSlash returns what of a value of user-agent is before a slash.
func BeforeSlash(value []byte) []byte {
	before, _, _ := bytes.Cut(value, []byte("/"))
	return trimmed(before, isECMASpace)
}

// Named returns the names that a value of user-agent stands for, in lower case.
func Named(g *Groups, value []byte) []string {
	name := foldName(value)
	switch g.AgentValue {
	case ValueBeforeSlash:
		return []string{string(BeforeSlash([]byte(name)))}
	case ValueWholeOrToken:
		if token, _ := ascii.Tokens([]byte(name)); len(token) > 0 && len(token) < len(name) {
			return []string{name, string(token)}
		}
	case ValueUnstarred:
		if bare := strings.ReplaceAll(name, "*", ""); bare != name && bare != "" {
			return []string{name, bare}
		}
	}
	return []string{name}
}

// isPart reports whether a name is part of a token, from the start of a word on if only
// that counts: behind what is no letter, digit, - or _.
func (n *Names) isPart(name, token string) bool {
	if n.AgentIs == IsLongestPart {
		return strings.Contains(token, name)
	}
	for at := 0; ; {
		i := strings.Index(token[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(token[:at+i])
		if at+i == 0 || !unicode.IsLetter(before) && !unicode.IsNumber(before) && before != '-' && before != '_' {
			return true
		}
		_, n := utf8.DecodeRuneInString(token[at+i:])
		at += i + max(n, 1)
	}
}

// find returns the number of the name that an agent with a token follows, or -1.
func (n *Names) find(token string) int {
	if k, ok := n.at[token]; ok && (n.AgentIs == "" || n.AgentIs == IsEqualOrPart) {
		return k
	}
	if n.AgentIs == IsEqualOrPart {
		return n.common.find(token)
	}
	best, longest := -1, 0
	for k, name := range n.names {
		switch n.AgentIs {
		case IsFirstPart:
			if strings.Contains(token, name) {
				return k
			}
		case IsLongestPart, IsLongestWord:
			// a * is a letter
			if len(name) > longest && n.isPart(name, token) && (len(name) > 1 || len(n.star) == 0 || k < n.before) {
				best, longest = k, len(name)
			}
		case IsBeginning:
			if strings.HasPrefix(name, token) {
				return k
			}
		case IsLongestPrefix:
			if len(name) > longest && strings.HasPrefix(token, name) && (len(name) > 1 || len(n.star) == 0) {
				best, longest = k, len(name)
			}
		}
	}
	return best
}

// LineOf returns the first line of the name that an agent with a token follows.
func (n *Names) LineOf(token string) int32 {
	name := n.names[n.find(n.asked(token))]
	for _, a := range n.agents {
		if foldName(a.Value) == name {
			return a.Line
		}
	}
	return 0
}

// ForAll returns the groups for all crawlers.
func (n *Names) ForAll() []int32 { return n.star }

// GroupsFor returns the groups of the name that an agent with a token follows; nil if it
// follows none.
func (n *Names) GroupsFor(token string) []int32 {
	groups := n.groupsOf(n.asked(token))
	if len(groups) == 0 {
		return groups
	}
	if n.LastGroup {
		groups = groups[len(groups)-1:]
	}
	if n.StarBelow {
		groups = slices.Clone(groups)
		for _, g := range n.star {
			if g > groups[0] {
				groups = append(groups, g)
			}
		}
		slices.Sort(groups)
		groups = slices.Compact(groups)
	}
	return groups
}

// asked returns what of an agent's token is asked for.
func (n *Names) asked(token string) string {
	if n.NameBeforeSlash {
		token, _, _ = strings.Cut(token, "/")
	}
	return token
}

func (n *Names) groupsOf(token string) []int32 {
	if n.AgentIs == IsBeginning {
		var all []int32
		for k, name := range n.names {
			if strings.HasPrefix(name, token) {
				all = append(all, n.groups[k]...)
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if !n.FirstGroup {
		if k := n.find(token); k >= 0 {
			return n.groups[k]
		}
		return nil
	}
	var first []int32
	for k, name := range n.names {
		if g := n.groups[k][0]; strings.Contains(token, name) && (first == nil || g < first[0]) {
			first = []int32{g}
		}
	}
	return first
}

// AddGroup adds a group to an ascending list, once.
func AddGroup(list []int32, g int32) []int32 {
	if n := len(list); n > 0 && list[n-1] == g {
		return list
	}
	return append(list, g)
}
