package robots

import (
	"bytes"
	"slices"
)

// A Judge finds the policies of one file after another for a fixed list of
// agents, and reuses its memory. It is for one goroutine; its policies hold
// until the next Load, and as long as the File is not parsed again.
type Judge struct {
	profile  *Profile
	agents   []Agent
	tokens   *tokenTable
	wanted   [][]int     // per agent: numbers of its tokens and its fallbacks, in order of preference
	products [][]byte    // per agent: what it sends, in lower case (MatchSubstring)
	policies []Policy    // per agent
	readings []*File     // further readings of the file, where oddities are open,
	rejects  [8]*Profile // under the profile with those rejected
	sets     []*ruleset  // memory for rulesets; the first used are in use
	used     int

	file *File  // as loaded
	path []byte // of Policy.Class

	// For the reading at hand:
	groupsOf [][]int32  // per token: the groups that name it
	touched  []int      // tokens with groups
	star     []int32    // the groups for all
	found    []int32    // groups of one agent (MatchSubstring)
	byGroup  []*ruleset // compiled, per group
	byToken  []*ruleset // compiled and merged, per token
	starSet  *ruleset
}

// A Policy is what a file says to one agent.
type Policy struct {
	// GroupAgent is the token whose group the agent follows, "*", or empty for
	// no group. Where names are compared by substring, it is the agent's first.
	GroupAgent string
	// Match says how that group came to be the agent's.
	Match Match
	// GroupLine is the line of the first group that the agent follows, which
	// is its first user-agent line; 0 for no group.
	GroupLine int32
	// CrawlDelay is in seconds: the first among its groups.
	CrawlDelay    float64
	HasCrawlDelay bool

	judge *Judge
	// sets holds the rules; more than one where the profile leaves open which
	// are valid. A nil entry is no group.
	sets []*ruleset
}

// Match is how an agent came to its group.
type Match uint8

const (
	NoGroup       Match = iota // no group is the agent's
	StarGroup                  // the group for all crawlers
	FallbackGroup              // a group that names a crawler that the agent falls back to
	OwnGroup                   // a group that names the agent
)

func (m Match) String() string { return [...]string{"none", "star", "fallback", "own"}[m] }

// NewJudge prepares a list of agents, which should have passed
// Agent.Validate: a token that fails it matches nothing, but for the empty
// one, which equals the empty token of a line that has none, as in Google's
// parser. The profile must not change afterwards.
func NewJudge(p *Profile, agents []Agent) *Judge {
	j := &Judge{
		profile:  p,
		agents:   agents,
		tokens:   newTokenTable(p.AgentMatch != MatchTokenCase),
		wanted:   make([][]int, len(agents)),
		products: make([][]byte, len(agents)),
		policies: make([]Policy, len(agents)),
	}
	for i, a := range agents {
		for _, t := range a.allTokens() {
			j.wanted[i] = append(j.wanted[i], j.tokens.add(t))
		}
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
	j.groupsOf = make([][]int32, len(j.tokens.tokens))
	j.byToken = make([]*ruleset, len(j.tokens.tokens))
	return j
}

// Load finds the policies of a file, which must have been parsed under the
// judge's profile.
func (j *Judge) Load(f *File) {
	j.used = 0
	for i := range j.policies {
		p := &j.policies[i]
		p.GroupAgent, p.Match, p.GroupLine = "", NoGroup, 0
		p.CrawlDelay, p.HasCrawlDelay = 0, false
		p.sets = p.sets[:0]
	}
	j.file = f
	j.read(f)
	if open := openOddities(j.profile) & f.odd; open != 0 {
		j.readOthers(f, open)
	}
}

// Policy is the policy of agent i of the list.
func (j *Judge) Policy(i int) *Policy { return &j.policies[i] }

// openOddities is the set of oddities that may or may not keep a line from
// counting.
func openOddities(p *Profile) oddity {
	var open oddity
	if p.Typos == Open {
		open |= oddTypo
	}
	if p.KeyPrefixes == Open {
		open |= oddPrefix
	}
	if p.MissingColon == Open {
		open |= oddNoColon
	}
	return open
}

// readOthers reads the file again with each choice of the oddities that it has
// and that are open: at most seven more readings.
func (j *Judge) readOthers(f *File, open oddity) {
	n := 0
	for reject := open; reject != 0; reject = (reject - 1) & open {
		if n == len(j.readings) {
			j.readings = append(j.readings, new(File))
		}
		r := j.readings[n]
		n++
		r.Parse(f.body, j.rejecting(reject))
		j.read(r)
	}
}

// rejecting is the profile with some oddities rejected.
func (j *Judge) rejecting(odd oddity) *Profile {
	if j.rejects[odd] == nil {
		p := *j.profile
		if odd&oddTypo != 0 {
			p.Typos = Reject
		}
		if odd&oddPrefix != 0 {
			p.KeyPrefixes = Reject
		}
		if odd&oddNoColon != 0 {
			p.MissingColon = Reject
		}
		j.rejects[odd] = &p
	}
	return j.rejects[odd]
}

// read adds to each policy what one reading of the file says.
func (j *Judge) read(r *File) {
	for _, t := range j.touched {
		j.groupsOf[t], j.byToken[t] = j.groupsOf[t][:0], nil
	}
	j.touched, j.star, j.starSet = j.touched[:0], j.star[:0], nil
	j.byGroup = append(j.byGroup[:0], make([]*ruleset, len(r.Groups))...)
	for i := range r.Agents {
		j.note(r, &r.Agents[i])
	}
	for i := range j.policies {
		j.choose(r, i)
	}
}

// note files a user-agent line under the token that it names.
func (j *Judge) note(r *File, a *AgentLine) {
	if j.profile.NeedsRule && r.Groups[a.Group].Rules.Len() == 0 {
		return
	}
	if len(a.Token) == 1 && a.Token[0] == '*' {
		j.star = appendGroup(j.star, a.Group)
		return
	}
	if j.profile.AgentMatch == MatchSubstring {
		return
	}
	j.noteToken(a.Token, false, a.Group)
	if len(a.Wide) > len(a.Token) {
		j.noteToken(a.Wide, true, a.Group)
	}
}

func (j *Judge) noteToken(token []byte, wide bool, group int32) {
	t := j.tokens.find(token, wide)
	if t < 0 {
		return
	}
	if len(j.groupsOf[t]) == 0 {
		j.touched = append(j.touched, t)
	}
	j.groupsOf[t] = appendGroup(j.groupsOf[t], group)
}

// appendGroup adds a group to an ascending list, once.
func appendGroup(list []int32, g int32) []int32 {
	if n := len(list); n > 0 && list[n-1] == g {
		return list
	}
	return append(list, g)
}

// choose adds the groups of a reading that are agent i's.
func (j *Judge) choose(r *File, i int) {
	a, p := &j.agents[i], &j.policies[i]
	if j.profile.AgentMatch == MatchSubstring {
		j.found = j.found[:0]
		for k := range r.Agents {
			if l := &r.Agents[k]; !j.skips(r, l) && containsFold(j.products[i], l.Token) {
				j.found = appendGroup(j.found, l.Group)
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
		for k, t := range j.wanted[i] {
			if len(j.groupsOf[t]) == 0 {
				continue
			}
			if own := len(a.Tokens); k < own {
				j.follow(r, p, j.groupsOf[t], a.Tokens[k], OwnGroup, &j.byToken[t])
			} else {
				j.follow(r, p, j.groupsOf[t], a.FallsBackTo[k-own], FallbackGroup, &j.byToken[t])
			}
			return
		}
	}
	if len(j.star) > 0 && !(a.IgnoresStar && j.profile.IgnoresStar) {
		j.follow(r, p, j.star, "*", StarGroup, &j.starSet)
		return
	}
	p.sets = append(p.sets, nil)
}

// skips says that a user-agent line names nobody in particular.
func (j *Judge) skips(r *File, l *AgentLine) bool {
	return len(l.Token) == 0 || len(l.Token) == 1 && l.Token[0] == '*' ||
		j.profile.NeedsRule && r.Groups[l.Group].Rules.Len() == 0
}

// follow makes a policy out of groups. Several groups are one or, where that
// is open, as many choices; merged keeps the one for other agents.
func (j *Judge) follow(r *File, p *Policy, groups []int32, name string, how Match, merged **ruleset) {
	if len(p.sets) == 0 {
		p.GroupAgent, p.Match, p.GroupLine = name, how, r.Groups[groups[0]].Line
		for _, g := range groups {
			if r.Groups[g].HasCrawlDelay {
				p.CrawlDelay, p.HasCrawlDelay = r.Groups[g].CrawlDelay, true
				break
			}
		}
	}
	if len(groups) == 1 || j.profile.SeveralGroups == AnyGroup {
		for _, g := range groups {
			if j.byGroup[g] == nil {
				j.byGroup[g] = j.compile(r, g)
			}
			p.sets = append(p.sets, j.byGroup[g])
		}
		return
	}
	var rs *ruleset
	if merged != nil {
		rs = *merged
	}
	if rs == nil {
		rs = j.compile(r, groups...)
		if merged != nil {
			*merged = rs
		}
	}
	p.sets = append(p.sets, rs)
}

// compile makes the rules of groups ready, in memory used before.
func (j *Judge) compile(r *File, groups ...int32) *ruleset {
	if j.used == len(j.sets) {
		j.sets = append(j.sets, new(ruleset))
	}
	rs := j.sets[j.used]
	j.used++
	rs.reset(r)
	for _, g := range groups {
		rs.add(j.profile, &r.Groups[g])
	}
	return rs
}

// ruleOf is the index of a ruleset's rule in the file as loaded. In another
// reading it may have another index, and is found by its line.
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

// containsFold says whether part, in any case, is in s, which is lower case.
func containsFold(s, part []byte) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if equalFoldBytes(s[i:i+len(part)], part) {
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
