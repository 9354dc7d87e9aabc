package robots

import (
	"bytes"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
)

// loadDialect finds the policies of a file under a dialect.
func (j *Judge) loadDialect(f *File) {
	r := f.compiled
	if f.refused {
		r = refusedFile()
	}
	j.byGroup = append(j.byGroup[:0], make([]*ruleset, len(r.Groups))...)
	if f.refused {
		for i := range j.policies {
			j.refuse(r, &j.policies[i])
		}
		j.share()
		return
	}
	names := namesOf(j.profile, r)
	for i := range j.policies {
		j.chooseDialect(r, names, i)
	}
	j.share()
}

// refusedFile is a file that forbids everything to everybody.
func refusedFile() *File {
	slash := []byte("/")
	return &File{
		refused: true,
		Groups:  []Group{{Line: 1, Rules: Span{0, 1}}},
		Rules:   []Rule{{Pattern: slash, Normalized: slash, Line: 1, Length: 1, Kind: Disallow, Effective: true}},
	}
}

// refuse gives a policy what a file means that the parser refuses.
func (j *Judge) refuse(r *File, p *Policy) {
	if j.profile.Refused != answer.FullDisallow {
		j.addSet(p, nil)
	}
	if j.profile.Refused != answer.FullAllow {
		if j.byGroup[0] == nil {
			j.byGroup[0] = j.compile(r, 0)
		}
		j.addSet(p, j.byGroup[0])
	}
}

// dialectNames are the names of a file in the order of their first lines, each with its
// groups, and the groups for all crawlers.
type dialectNames struct {
	names  []string
	groups [][]int32
	common commonNames // if AgentIs is IsEqualOrPart
	at     map[string]int
	star   []int32
	before int // names that stand before the first *
}

func namesOf(p *Profile, f *File) *dialectNames {
	n := &dialectNames{at: make(map[string]int)}
	for i := range f.Agents {
		if a := &f.Agents[i]; isForAll(a) {
			n.star = appendGroup(n.star, a.Group)
		}
	}
	switch {
	case p.FurtherOnce:
		n.furtherOnce(p, f)
		return n
	case p.Continues:
		n.continued(p, f)
		return n
	}
	starred := int32(-1) // the last group that names *
	for i := range f.Agents {
		a := &f.Agents[i]
		if isForAll(a) {
			if starred < 0 {
				n.before = len(n.names)
			}
			starred = a.Group
		}
		if p.StarHides && starred == a.Group {
			continue
		}
		if isForAll(a) && p.AgentIs != IsEqualOrPart || p.FirstGroup && slices.Contains(n.star, a.Group) {
			continue
		}
		for _, name := range p.agentNames(a.Value) {
			k := n.add(name)
			if p.AgentIs == IsEqualOrPart {
				n.common.add(k, len(n.groups[k]) == 0, f, a.Group)
			}
			n.groups[k] = appendGroup(n.groups[k], a.Group)
		}
	}
	if p.FirstGroup && len(n.star) > 1 {
		n.star = n.star[:1]
	}
	return n
}

// add returns the number of a name.
func (n *dialectNames) add(name string) int {
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
func (n *dialectNames) continued(p *Profile, f *File) {
	n.star = nil
	var lists [][]int32 // groups of each list
	of := make(map[string]int)
	var names []string
	now := -1
	for g := range f.Groups {
		agents := f.Agents[f.Groups[g].Agents.From:f.Groups[g].Agents.To]
		for i := range agents {
			name := p.agentNames(agents[i].Value)[0]
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

// furtherOnce finds the groups of names if those that are not the first of a list count
// once. The names of a list whose first is empty join the next list.
func (n *dialectNames) furtherOnce(p *Profile, f *File) {
	n.star = n.star[:0]
	var further []string
	for g := range f.Groups {
		agents := f.Agents[f.Groups[g].Agents.From:f.Groups[g].Agents.To]
		if len(agents) == 0 {
			continue
		}
		lead := &n.star
		if !isForAll(&agents[0]) {
			lead = &n.groups[n.add(p.agentNames(agents[0].Value)[0])]
		}
		*lead = appendGroup(*lead, int32(g))
		for i := range agents[1:] {
			further = append(further, p.agentNames(agents[1+i].Value)[0])
		}
		if len(agents[0].Value) == 0 {
			continue
		}
		groups := slices.Clone(*lead)
		for _, name := range further {
			if _, known := n.at[name]; !known && name != "*" {
				n.groups[n.add(name)] = groups
			}
		}
		further = further[:0]
	}
}

// agentNames returns the names that a value of user-agent stands for, in lower case.
func (p *Profile) agentNames(value []byte) []string {
	name := foldName(value)
	switch p.AgentValue {
	case ValueBeforeSlash:
		name, _, _ = strings.Cut(name, "/")
		return []string{strings.TrimSpace(name)}
	case ValueWholeOrToken:
		if token, _ := tokens([]byte(name)); len(token) > 0 && len(token) < len(name) {
			return []string{name, string(token)}
		}
	case ValueUnstarred:
		if bare := strings.ReplaceAll(name, "*", ""); bare != name && bare != "" {
			return []string{name, bare}
		}
	}
	return []string{name}
}

// find returns the number of the name that an agent with a token follows, or -1.
func (n *dialectNames) find(p *Profile, token string) int {
	if k, ok := n.at[token]; ok && (p.AgentIs == "" || p.AgentIs == IsEqualOrPart) {
		return k
	}
	if p.AgentIs == IsEqualOrPart {
		return n.common.find(token)
	}
	best, longest := -1, 0
	for k, name := range n.names {
		switch p.AgentIs {
		case IsFirstPart:
			if strings.Contains(token, name) {
				return k
			}
		case IsLongestPart:
			if len(name) > longest && strings.Contains(token, name) && (len(name) > 1 || len(n.star) == 0 || k < n.before) { // a * is a letter
				best, longest = k, len(name)
			}
		case IsLongestPrefix:
			if len(name) > longest && strings.HasPrefix(token, name) && (len(name) > 1 || len(n.star) == 0) {
				best, longest = k, len(name)
			}
		}
	}
	return best
}

// lineOf returns the first line of the name that an agent with a token follows.
func (n *dialectNames) lineOf(p *Profile, f *File, token string) int32 {
	name := n.names[n.find(p, token)]
	for i := range f.Agents {
		if foldName(f.Agents[i].Value) == name {
			return f.Agents[i].Line
		}
	}
	return 0
}

// groupsFor returns the groups of the name that an agent with a token follows.
func (n *dialectNames) groupsFor(p *Profile, token string) []int32 {
	if !p.FirstGroup {
		if k := n.find(p, token); k >= 0 {
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

func (j *Judge) chooseDialect(r *File, n *dialectNames, i int) {
	a, p := &j.agents[i], &j.policies[i]
	for k, token := range a.allTokens() {
		groups := n.groupsFor(j.profile, strings.ToLower(token))
		if groups == nil {
			continue
		}
		how := OwnGroup
		if k >= len(a.Tokens) {
			how = FallbackGroup
		}
		if len(groups) == 0 { // named, and without rules
			p.GroupAgent, p.Match, p.GroupLine = token, how, n.lineOf(j.profile, r, strings.ToLower(token))
			j.addSet(p, j.compile(r))
			return
		}
		j.follow(r, p, groups, token, how, nil)
		return
	}
	if len(n.star) > 0 && !(a.IgnoresStar && j.profile.IgnoresStar) {
		j.follow(r, p, n.star, "*", StarGroup, &j.starSet)
		return
	}
	j.addSet(p, nil)
}

// findOdd reports whether a ruleset matches in a way that reasoning about single patterns
// does not cover: so classes need other means.
func (rs *ruleset) findOdd(p *Profile) bool {
	if p.Length == LengthMatchEnd && (len(rs.wilds) > 0 || slices.ContainsFunc(rs.literals, func(l literal) bool { return rs.file.Rules[l.rule].Wildcard })) {
		return true
	}
	return slices.ContainsFunc(rs.wilds, func(w wild) bool { return w.once })
}

// findHidden reports whether a plain pattern is tried in place of another of its kind that
// it begins with.
func (rs *ruleset) findHidden() bool {
	texts := [2][]string{}
	for i := range rs.literals {
		l := &rs.literals[i]
		if rs.isPlain(l) {
			texts[l.key&1] = append(texts[l.key&1], string(rs.text(l)[:l.n]))
		}
	}
	for _, of := range texts {
		slices.Sort(of)
		for i := 1; i < len(of); i++ {
			if of[i] != of[i-1] && strings.HasPrefix(of[i], of[i-1]) {
				return true // sorted, a text that another one begins with stands right before one
			}
		}
	}
	return false
}

// setOnce makes the last literal of anchored patterns count at its first place only.
func (rs *ruleset) setOnce() {
	for i := range rs.wilds {
		rs.wilds[i].once = rs.wilds[i].anchor
	}
}

// dialectVerdict returns the verdict of a ruleset.
func (j *Judge) dialectVerdict(rs *ruleset, t *Target) Verdict {
	switch {
	case rs.file.refused:
		return outcomeVerdict(answer.FullDisallow)
	case j.profile.GreatestOnly || j.profile.Length == LengthMatchEnd:
		return j.verdict(rs, j.bestOdd(rs, t))
	}
	return j.verdict(rs, rs.best(t))
}

// bestOdd returns the rule that decides, if length depends on the URL or not every plain
// pattern is tried.
func (j *Judge) bestOdd(rs *ruleset, t *Target) match {
	if j.profile.GreatestOnly {
		return rs.bestWild(t, rs.greatest(t))
	}
	best, m := int64(-1), match{-1, -1}
	offer := func(length int, key, rule int32) {
		if k := int64(length)<<1 | int64(key&1); k > best || k == best && rule < m.rule {
			best, m = k, match{key, rule}
		}
	}
	for i := range rs.literals {
		if l := &rs.literals[i]; (t.head^l.head)&l.mask == 0 && l.matches(t, rs.text(l)) {
			n := int(l.n)
			if rs.file.Rules[l.rule].Wildcard {
				n = len(t.path) // stars at the end
			}
			offer(n, l.key, l.rule)
		}
	}
	for i := range rs.wilds {
		if w := &rs.wilds[i]; (t.head^w.head)&w.mask == 0 && w.matches(t) {
			n := len(t.path)
			if !rs.endsWithStar(w) {
				n = w.matchEnd(t)
			}
			offer(n, w.key, w.rule)
		}
	}
	return m
}

// endsWithStar reports whether a pattern has a star at its end, so that its match ends
// where the path does.
func (rs *ruleset) endsWithStar(w *wild) bool {
	return bytes.HasSuffix(bytes.TrimSuffix(rs.file.Rules[w.rule].Normalized, []byte("$")), []byte("*"))
}

// matchEnd returns where the longest match of a pattern ends that matches, and has no
// star at its end.
func (w *wild) matchEnd(t *Target) int {
	last := w.pattern[bytes.LastIndexByte(w.pattern, '*')+1:]
	return bytes.LastIndex(t.path, last) + len(last)
}

// isPlain reports whether a compiled pattern has neither star nor anchor.
func (rs *ruleset) isPlain(l *literal) bool { return !l.anchor && !rs.file.Rules[l.rule].Wildcard }

// greatest returns the best of the literals: of the plain ones of each kind, only the
// greatest that is not above the path is tried.
func (rs *ruleset) greatest(t *Target) match {
	m := match{-1, -1}
	var top [2][]byte
	var at [2]*literal
	for i := range rs.literals {
		l := &rs.literals[i]
		text := rs.text(l)[:l.n]
		if !rs.isPlain(l) {
			if l.matches(t, text) && (t.head^l.head)&l.mask == 0 {
				m.offer(l.key, l.rule)
			}
			continue
		}
		if k := l.key & 1; bytes.Compare(text, t.path) <= 0 && (at[k] == nil || bytes.Compare(text, top[k]) > 0) {
			top[k], at[k] = text, l
		}
	}
	for k, l := range at {
		if l != nil && bytes.HasPrefix(t.path, top[k]) {
			m.offer(l.key, l.rule)
		}
	}
	return m
}
