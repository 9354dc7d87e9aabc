package robots

import (
	"bytes"
	"slices"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// A Judge finds the policies of one file after another for a fixed list of
// agents. It reuses its memory: policies are valid until the next Load and as
// long as the File is not parsed again. A Judge must not be used concurrently.
type Judge struct {
	profile  *Profile
	agents   []Agent
	names    []*names   // one, or two if the profile leaves the case of agents open
	products [][]byte   // per agent: the name that it sends, in lower case (MatchSubstring)
	policies []Policy   // per agent
	readings []*File    // further readings of the file, if the profile leaves choices
	letters  []*File    // readings with reserved characters in a path equal to their escapes
	sets     []*ruleset // rulesets; the first `used` are in use
	used     int
	known    map[uint64]*ruleset // rulesets in use by linesOf, if several
	leads    map[uint64]int      // by hash of sets: the first agent with these several sets

	file    *File                 // the file last loaded
	usages  *usages               // its lines about use, once asked for
	stances map[stanceKey]Stances // of policies, once asked for
	inUse   int                   // the letters in use
	several bool                  // the file has several readings
	plain   bool                  // the longest rule decides, and the profile leaves no choice open
	dialect bool                  // the profile is one
	path    []byte                // memory of Policy.Class

	// For the reading that is being added:
	star    []int32         // groups for all crawlers
	found   []int32         // groups of one agent (MatchSubstring)
	named   []dialect.Agent // agents of a file that a dialect reads
	byGroup []*ruleset      // per group: its rules, once compiled
	starSet merged
	pool    []int32 // memory of Policy.groups
}

// NewJudge prepares a list of agents, which should have passed Agent.Validate.
// An invalid token matches nothing ([Allowed] refuses it), except the empty one, which equals the
// empty token of a line without one, as in Google's parser. The profile must
// not change afterwards.
func NewJudge(p *Profile, agents []Agent) *Judge {
	j := &Judge{
		profile:  p,
		agents:   agents,
		products: make([][]byte, len(agents)),
		policies: make([]Policy, len(agents)),
		known:    make(map[uint64]*ruleset),
		leads:    make(map[uint64]int),
	}
	j.plain = p.Precedence == Longest && p.Ties == TiesAllow && p.BarePrefix == Accept && !p.isDialect()
	j.dialect = p.isDialect()
	if p.AgentMatch != MatchTokenCase {
		j.names = append(j.names, newNames(agents, true))
	}
	if p.AgentMatch == MatchTokenCase || p.AgentMatch == MatchTokenOpen {
		j.names = append(j.names, newNames(agents, false))
	}
	for i, a := range agents {
		name := a.UserAgent
		if name == "" {
			name = a.Name
		}
		if name == "" && len(a.Tokens) > 0 {
			name = a.Tokens[0]
		}
		j.products[i] = bytes.ToLower([]byte(name))
		j.policies[i].judge = j
	}
	return j
}

// Load finds the policies of a file, which must have been parsed under the
// judge's profile.
func (j *Judge) Load(f *File) {
	j.used, j.inUse = 0, 0
	for i := range j.policies {
		p := &j.policies[i]
		p.GroupAgent, p.Match, p.GroupLine = "", NoGroup, 0
		p.CrawlDelay, p.HasCrawlDelay = 0, false
		p.sets, p.groups = p.sets[:0], nil
	}
	j.file, j.usages = f, nil
	clear(j.stances)
	j.pool = j.pool[:0]
	if j.dialect {
		j.several, j.starSet = false, merged{}
		j.loadDialect(f)
		return
	}
	readings := f.choices.readings()
	j.several = readings > 1 || len(j.names) > 1
	if j.several {
		clear(j.known)
	}
	j.read(f)
	for n := 1; n < readings; n++ {
		if n > len(j.readings) {
			j.readings = append(j.readings, new(File))
		}
		r, choice := j.readings[n-1], f.choices.reading(n)
		r.parse(f.body, j.profile, &choice)
		j.read(r)
	}
	j.share()
}

// share sets SameAs.
func (j *Judge) share() {
	clear(j.leads)
	none := -1
	for i := range j.policies {
		p := &j.policies[i]
		p.SameAs = i
		if len(p.sets) > 1 {
			sum := uint64(fnvOffset)
			for _, rs := range p.sets {
				sum = fnv(sum, rs.number())
			}
			if k, ok := j.leads[sum]; !ok {
				j.leads[sum] = i
			} else if slices.Equal(j.policies[k].sets, p.sets) {
				p.SameAs = k
			}
			continue
		}
		first := &none
		if rs := p.sets[0]; rs != nil {
			first = &rs.lead
		}
		if *first < 0 {
			*first = i
		}
		p.SameAs = *first
	}
}

const fnvOffset = 14695981039346656037

func fnv(sum, x uint64) uint64 { return (sum ^ x) * 1099511628211 }

// Policy returns the policy of agent i of the list.
func (j *Judge) Policy(i int) *Policy { return &j.policies[i] }

// read adds one reading of the file to each policy.
func (j *Judge) read(r *File) {
	j.star, j.starSet = j.star[:0], merged{}
	j.byGroup = append(j.byGroup[:0], make([]*ruleset, len(r.Groups))...)
	for _, n := range j.names {
		n.reset()
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		switch {
		case !j.recognises(r, a.Group):
		case isForAll(a):
			j.star = dialect.AddGroup(j.star, a.Group)
		case j.profile.AgentMatch != MatchSubstring:
			for _, n := range j.names {
				n.note(a)
			}
		}
	}
	for _, n := range j.names {
		for i := range j.policies {
			j.choose(r, n, i)
		}
	}
}

func isForAll(a *AgentLine) bool { return len(a.Token) == 1 && a.Token[0] == '*' }

// recognises reports whether the profile takes a group for one.
func (j *Judge) recognises(r *File, group int32) bool {
	return !j.profile.NeedsRule || r.Groups[group].Rules.Len() > 0
}

// choose adds the groups of a reading that apply to agent i.
func (j *Judge) choose(r *File, n *names, i int) {
	a, p := &j.agents[i], &j.policies[i]
	if j.profile.AgentMatch == MatchSubstring {
		j.found = j.found[:0]
		for k := range r.Agents {
			if l := &r.Agents[k]; len(l.Token) > 0 && !isForAll(l) && j.recognises(r, l.Group) &&
				containsFold(j.products[i], l.Token) {
				j.found = dialect.AddGroup(j.found, l.Group)
			}
		}
		if len(j.found) > 0 {
			name := a.Name
			if len(a.Tokens) > 0 {
				name = a.Tokens[0]
			}
			j.follow(r, p, j.found, name, OwnGroup, nil)
			return
		}
	} else {
		for k, t := range n.wanted[i] {
			if len(n.groupsOf[t]) == 0 {
				continue
			}
			if own := len(a.Tokens); k < own {
				j.follow(r, p, n.groupsOf[t], a.Tokens[k], OwnGroup, &n.byToken[t])
			} else {
				j.follow(r, p, n.groupsOf[t], a.FallsBackTo[k-own], FallbackGroup, &n.byToken[t])
			}
			return
		}
	}
	if len(j.star) > 0 && !(a.IgnoresStar && j.profile.IgnoresStar) {
		j.follow(r, p, j.star, "*", StarGroup, &j.starSet)
		return
	}
	j.addSet(p, nil)
}

// addSet adds a set of rules to a policy, unless it is among the first 32. The
// search is bounded so that a file that names an agent in ten thousand groups
// is not slow; a duplicate set is harmless.
func (j *Judge) addSet(p *Policy, rs *ruleset) {
	if j.several && slices.Contains(p.sets[:min(len(p.sets), 32)], rs) {
		return
	}
	p.sets = append(p.sets, rs)
	if rs != nil && rs.twin != nil {
		p.sets = append(p.sets, rs.twin)
	}
}

// merged is what agents share that follow the same groups of a reading, once one does.
type merged struct {
	rules  *ruleset
	groups []int32
	delay  struct {
		seconds float64
		has     bool
		known   bool
	}
}

// follow adds groups to a policy: merged into one set of rules or, if the
// profile leaves that open, each as a set. m is nil for groups that no other agent
// follows by the same name.
func (j *Judge) follow(r *File, p *Policy, groups []int32, name string, how Match, m *merged) {
	if m == nil {
		m = new(merged)
	}
	if len(p.sets) == 0 {
		p.GroupAgent, p.Match, p.GroupLine = name, how, r.Groups[groups[0]].Line
		if m.groups == nil {
			from := len(j.pool)
			for _, g := range groups {
				if int(g) >= len(j.file.Groups) { // a dialect's, for a crawl-delay that forbids everything
					g = r.Rules[r.Groups[g].Rules.From].Group
				}
				j.pool = append(j.pool, g)
			}
			m.groups = j.pool[from:len(j.pool):len(j.pool)]
			if j.dialect {
				slices.Sort(m.groups)
				m.groups = slices.Compact(m.groups)
			}
		}
		p.groups = m.groups
		if len(r.spans) > 0 {
			p.CrawlDelay, p.HasCrawlDelay = j.delay(r, groups, name, how, m)
		}
	}
	if len(groups) == 1 || j.profile.SeveralGroups == AnyGroup {
		for _, g := range groups {
			if j.byGroup[g] == nil {
				j.byGroup[g] = j.compile(r, g)
			}
			j.addSet(p, j.byGroup[g])
		}
		return
	}
	if m.rules == nil {
		m.rules = j.compile(r, groups...)
	}
	j.addSet(p, m.rules)
}

// compile compiles the rules of groups, reusing memory. With several readings,
// it compiles the same rules only once.
func (j *Judge) compile(r *File, groups ...int32) *ruleset {
	var sum uint64
	if j.several {
		sum = linesOf(r, groups)
		if rs := j.known[sum]; rs != nil && rs.holds(r, groups) {
			return rs
		}
	}
	rs := j.compileOne(r, groups)
	if rs.hasTwin(r) {
		rs.setTwin(j.compileOne(j.letterOf(r), groups))
	}
	if j.several {
		j.known[sum] = rs
	}
	return rs
}

func (j *Judge) compileOne(r *File, groups []int32) *ruleset {
	if j.used == len(j.sets) {
		j.sets = append(j.sets, &ruleset{id: uint64(j.used) + 1})
	}
	rs := j.sets[j.used]
	j.used++
	rs.reset(r, groups)
	if !j.overflows(r, groups) {
		for _, g := range groups {
			if rs.add(j.profile, &r.Groups[g]); r.Groups[g].ends {
				break
			}
		}
	}
	if j.profile.Order == dialect.OrderIntrosort {
		rs.introsort()
	}
	rs.hides = j.profile.GreatestOnly && rs.findHidden()
	rs.odd = j.dialect && (rs.hides || rs.findOdd(j.profile))
	return rs
}

// overflows reports whether groups have so many rules that a dialect counts none of them.
func (j *Judge) overflows(r *File, groups []int32) bool {
	if j.profile.RuleBytes == 0 {
		return false
	}
	bytes := 0
	for _, g := range groups {
		bytes += r.Groups[g].bytes
	}
	return bytes >= j.profile.RuleBytes
}

// letterOf returns the reading r with reserved characters in a path equal to
// their escapes.
func (j *Judge) letterOf(r *File) *File {
	for _, f := range j.letters[:j.inUse] {
		if f.base == r {
			return f
		}
	}
	if j.inUse == len(j.letters) {
		j.letters = append(j.letters, new(File))
	}
	f := j.letters[j.inUse]
	j.inUse++
	f.setLetter(r, j.profile)
	return f
}

// ruleOf returns the index of a ruleset's rule in the file as loaded. A rule of
// another reading may have another index there; it is found by its line.
func (j *Judge) ruleOf(rs *ruleset, rule int32) int32 {
	if rs.file == j.file {
		return rule
	}
	r := &rs.file.Rules[rule]
	rules := j.file.Rules
	i, _ := slices.BinarySearchFunc(rules, r.Line, func(x Rule, line int32) int { return int(x.Line - line) })
	for ; i < len(rules) && rules[i].Line == r.Line; i++ {
		if bytes.Equal(rules[i].Pattern, r.Pattern) {
			return int32(i)
		}
	}
	return -1
}

// containsFold reports whether s, which is in lower case, contains part in any
// case.
func containsFold(s, part []byte) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if ascii.EqualFoldBytes(s[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

func sortMatches(all []match) {
	slices.SortFunc(all, func(a, b match) int {
		if a.key != b.key {
			return int(b.key - a.key)
		}
		return int(a.rule - b.rule)
	})
}

func containsRule(list []int32, rule int32) bool { return slices.Contains(list, rule) }
