package robots

// Value is what a verdict says.
type Value uint8

const (
	Allowed Value = iota
	Disallowed
	Undefined
)

func (v Value) String() string {
	return [...]string{"allow", "disallow", "undefined"}[v]
}

// Reason is why.
type Reason uint8

const (
	ReasonRule         Reason = iota // the rule named decides
	ReasonEmptyRule                  // only an empty rule stands there: allow
	ReasonNoRule                     // the agent's group has no rule that matches: allow
	ReasonNoGroup                    // no group is the agent's: allow
	ReasonFullAllow                  // the outcome says so
	ReasonFullDisallow               // the outcome says so
	ReasonUndefined                  // permitted readings differ
	ReasonRobotsTxt                  // /robots.txt itself (RFC 9309, 2.2.2): allow
)

func (r Reason) String() string {
	return [...]string{"rule", "empty_rule", "no_rule", "no_group", "full_allow",
		"full_disallow", "undefined", "robots_txt"}[r]
}

// A Verdict is the answer for one URL. Rule is the index in File.Rules of the
// rule that decides (rule) or is reported (empty_rule), otherwise -1.
type Verdict struct {
	Value  Value
	Reason Reason
	Rule   int32
}

// Judge says whether the agent may fetch the target, which must have been
// prepared under the same profile. It allocates nothing.
//
// Where the profile leaves open which group or which reading of a misspelling
// is valid, all are asked: if they agree, the answer is that of the first.
func (p *Policy) Judge(t *Target) Verdict {
	if t.isRobotsTxt {
		return Verdict{Allowed, ReasonRobotsTxt, -1}
	}
	v := p.judge.decide(p.sets[0], t)
	for _, rs := range p.sets[1:] {
		if v.Value == Undefined || p.judge.decide(rs, t).Value != v.Value {
			return Verdict{Undefined, ReasonUndefined, -1}
		}
	}
	return v
}

// decide is the verdict of one ruleset, nil for no group.
func (j *Judge) decide(rs *ruleset, t *Target) Verdict {
	if rs == nil {
		return Verdict{Allowed, ReasonNoGroup, -1}
	}
	if j.profile.Precedence != Longest && len(rs.wilds) > 0 {
		return j.decideOpen(rs, t)
	}
	return j.verdict(rs, rs.best(t))
}

// verdict is what a deciding rule makes of it.
func (j *Judge) verdict(rs *ruleset, m match) Verdict {
	switch {
	case m.key < 0 && rs.emptyAllow >= 0:
		return Verdict{Allowed, ReasonEmptyRule, j.ruleOf(rs, rs.emptyAllow)}
	case m.key < 0 && rs.emptyDisallow >= 0:
		return Verdict{Allowed, ReasonEmptyRule, j.ruleOf(rs, rs.emptyDisallow)}
	case m.key < 0:
		return Verdict{Allowed, ReasonNoRule, -1}
	case m.key&1 != 0:
		return Verdict{Allowed, ReasonRule, j.ruleOf(rs, m.rule)}
	}
	return Verdict{Disallowed, ReasonRule, j.ruleOf(rs, m.rule)}
}

// decideOpen weighs the readings of a profile that leaves the precedence of
// wildcard rules open.
//
// longest_open: any wildcard rule that matches may win, and so may the best of
// the others. longest_or_least: if rules of both kinds match, a wildcard rule
// among them, the longest and an allow may win.
func (j *Judge) decideOpen(rs *ruleset, t *Target) Verdict {
	plain := rs.bestLiteral(t)
	best := plain
	var wilds [2]bool // a wildcard disallow, allow matches
	for i := range rs.wilds {
		w := &rs.wilds[i]
		if (t.head^w.head)&w.mask != 0 || wilds[w.key&1] && best.worse(w.key, w.rule) {
			continue
		}
		if w.matches(t) {
			wilds[w.key&1] = true
			best.offer(w.key, w.rule)
		}
	}
	v := j.verdict(rs, best)
	if !wilds[0] && !wilds[1] {
		return v
	}
	open := false
	if j.profile.Precedence == LongestOpen {
		plainIs := [2]bool{plain.key >= 0 && plain.key&1 == 0, plain.key >= 0 && plain.key&1 == 1}
		open = (wilds[0] || plainIs[0]) && (wilds[1] || plainIs[1])
	} else {
		open = v.Value == Disallowed && (wilds[1] || rs.anyAllow(t))
	}
	if open {
		return Verdict{Undefined, ReasonUndefined, -1}
	}
	return v
}

// anyAllow says whether an allow rule without wildcard matches.
func (rs *ruleset) anyAllow(t *Target) bool {
	for i := range rs.literals {
		l := &rs.literals[i]
		if l.key&1 != 0 && (t.head^l.head)&l.mask == 0 && l.matches(t, rs.text(l)) {
			return true
		}
	}
	return false
}

// Contenders appends to dst all rules of the policy that match the target, as
// indices in File.Rules, the most decisive first: the first is the rule that
// decides, where one does, and the second the runner-up. It is for
// explanations, and slower than Judge.
func (p *Policy) Contenders(dst []int32, t *Target) []int32 {
	var all []match
	for _, rs := range p.sets {
		if rs == nil {
			continue
		}
		rs.each(t, func(m match, _ bool) {
			m.rule = p.judge.ruleOf(rs, m.rule)
			all = append(all, m)
		})
	}
	sortMatches(all)
	for i, m := range all {
		if i == 0 || !containsRule(dst, m.rule) {
			dst = append(dst, m.rule)
		}
	}
	return dst
}
