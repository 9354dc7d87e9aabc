package robots

// Value is the decision of a verdict.
type Value uint8

const (
	Permitted Value = iota
	Disallowed
	Undefined
)

func (v Value) String() string {
	return [...]string{"allow", "disallow", "undefined"}[v]
}

// Reason says why a verdict has its value.
type Reason uint8

const (
	ReasonRule         Reason = iota // Verdict.Rule decides
	ReasonEmptyRule                  // no rule matches, and Verdict.Rule is empty: allow
	ReasonNoRule                     // no rule of the agent's group matches: allow
	ReasonNoGroup                    // no group applies to the agent: allow
	ReasonFullAllow                  // the answer's outcome is full_allow
	ReasonFullDisallow               // the answer's outcome is full_disallow
	ReasonUndefined                  // permitted readings differ
	ReasonRobotsTxt                  // /robots.txt itself (RFC 9309, 2.2.2): allow
	ReasonChallenge                  // a wall answered in place of the file: nobody knows
)

func (r Reason) String() string {
	return [...]string{"rule", "empty_rule", "no_rule", "no_group", "full_allow",
		"full_disallow", "undefined", "robots_txt", "challenge"}[r]
}

// A Verdict is the decision for one URL. Rule is the index in File.Rules of the
// rule that decides (ReasonRule) or is reported (ReasonEmptyRule), otherwise
// -1.
type Verdict struct {
	Value  Value
	Reason Reason
	Rule   int32
}

// Judge decides whether the agent may fetch the target, which must have been
// prepared under the same profile. It allocates nothing.
//
// If the profile leaves open which group or which reading of a misspelling is
// valid, Judge tries all. If they agree, it returns the verdict of the first.
func (p *Policy) Judge(t *Target) Verdict {
	if t.isRobotsTxt {
		return Verdict{Permitted, ReasonRobotsTxt, -1}
	}
	if len(p.sets) == 1 && t.letter == nil {
		return p.judge.decide(p.sets[0], t)
	}
	v := p.judge.decideForms(p.sets[0], t)
	for i, rs := range p.sets[1:] {
		if base := p.sets[i]; t.letter == nil && rs != nil && base != nil && base.twin == rs && base.agrees(t) {
			continue
		}
		if v.Value == Undefined || p.judge.decideForms(rs, t).Value != v.Value {
			return Verdict{Undefined, ReasonUndefined, -1}
		}
	}
	return v
}

// decideForms returns the verdict of one ruleset on a target that may have two
// forms. Rules that are the same under both readings of reserved characters are
// compiled once and compared with both forms.
func (j *Judge) decideForms(rs *ruleset, t *Target) Verdict {
	if t.letter == nil || rs == nil {
		return j.decide(rs, t)
	}
	if rs.letter {
		return j.decide(rs, t.letter)
	}
	v := j.decide(rs, t)
	if rs.twin == nil && j.decide(rs, t.letter).Value != v.Value {
		return Verdict{Undefined, ReasonUndefined, -1}
	}
	return v
}

// decide returns the verdict of one ruleset; nil means no group.
func (j *Judge) decide(rs *ruleset, t *Target) Verdict {
	if rs == nil {
		return Verdict{Permitted, ReasonNoGroup, -1}
	}
	if j.plain {
		return j.verdict(rs, rs.best(t))
	}
	if j.profile.BarePrefix == Accept {
		return j.weigh(rs, t)
	}
	if j.profile.BarePrefix == Open && j.profile.Precedence == Longest && j.profile.Ties == TiesAllow {
		// The best of all rules is the best of those that end on a border too,
		// if it is one of them.
		if m, border := rs.bestBorder(t); border {
			return j.verdict(rs, m)
		}
	}
	whole := *t
	whole.whole = true
	v := j.weigh(rs, &whole)
	if j.profile.BarePrefix == Open && j.weigh(rs, t).Value != v.Value {
		return Verdict{Undefined, ReasonUndefined, -1}
	}
	return v
}

// weigh returns the verdict of one ruleset, with BarePrefix decided by t.whole.
func (j *Judge) weigh(rs *ruleset, t *Target) Verdict {
	if j.dialect {
		return j.dialectVerdict(rs, t)
	}
	if j.profile.Precedence == Longest && j.profile.Ties == TiesAllow ||
		j.profile.Ties == TiesAllow && len(rs.wilds) == 0 {
		return j.verdict(rs, rs.best(t))
	}
	return j.weighOpen(rs, t)
}

func (j *Judge) verdict(rs *ruleset, m match) Verdict {
	switch {
	case m.key < 0 && rs.emptyAllow >= 0:
		return Verdict{Permitted, ReasonEmptyRule, j.ruleOf(rs, rs.emptyAllow)}
	case m.key < 0 && rs.emptyDisallow >= 0:
		return Verdict{Permitted, ReasonEmptyRule, j.ruleOf(rs, rs.emptyDisallow)}
	case m.key < 0:
		return Verdict{Permitted, ReasonNoRule, -1}
	case m.key&1 != 0:
		return Verdict{Permitted, ReasonRule, j.ruleOf(rs, m.rule)}
	}
	return Verdict{Disallowed, ReasonRule, j.ruleOf(rs, m.rule)}
}

// weighOpen returns the verdict if the profile leaves precedence open. The
// verdict of the longest rule stands unless a rule of the other kind may win:
//
//   - longest_open: any wildcard rule may win, and so may the best of the
//     others.
//   - longest_or_least: the longest is a wildcard disallow, and an allow is
//     among the wildcard rules or is the best of the others; or a wildcard
//     allow contradicts the best of the others. In other words: the longest
//     is a disallow, and the best of the others or a wildcard rule allows.
//     If the longest allows, it is the least restrictive too.
//   - ties: the longest allow is no longer than a disallow.
func (j *Judge) weighOpen(rs *ruleset, t *Target) Verdict {
	plain := rs.bestLiteral(t)
	best := plain
	var wilds, may [2]bool // per Kind: whether a wildcard rule matches, whether a rule may win
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
	if best.key < 0 {
		return j.verdict(rs, best)
	}
	may[best.key&1] = true
	open := j.profile.Precedence == LongestOpen
	if open || j.profile.Precedence == LongestOrLeast && best.key&1 == 0 {
		may[0], may[1] = may[0] || wilds[0], may[1] || wilds[1]
		if plain.key >= 0 {
			may[plain.key&1] = true
		}
	}
	if j.profile.Ties == TiesOpen {
		longest := best
		if open {
			longest = plain // wildcard rules have no rank there
		}
		may[0] = may[0] || rs.tied(t, longest, !open)
	}
	if may[0] && may[1] {
		return Verdict{Undefined, ReasonUndefined, -1}
	}
	return j.verdict(rs, best)
}

// tied reports whether m allows and a disallow of the same length matches.
func (rs *ruleset) tied(t *Target, m match, withWilds bool) bool {
	if m.key&1 == 0 {
		return false
	}
	for i := range rs.literals {
		l := &rs.literals[i]
		if l.key == m.key-1 && (t.head^l.head)&l.mask == 0 && l.matches(t, rs.text(l)) && l.ends(t) {
			return true
		}
	}
	for i := range rs.wilds {
		w := &rs.wilds[i]
		if withWilds && w.key == m.key-1 && (t.head^w.head)&w.mask == 0 && w.matches(t) {
			return true
		}
	}
	return false
}

// Contenders appends to dst all rules of the policy that match the target, as
// indices in File.Rules, in order of precedence: the first is the deciding
// rule, if one decides, and the second the runner-up. It is meant for
// explanations and is slower than Judge.
func (p *Policy) Contenders(dst []int32, t *Target) []int32 {
	var all []match
	for _, rs := range p.sets {
		if rs == nil {
			continue
		}
		note := func(m match, _ bool) {
			m.rule = p.judge.ruleOf(rs, m.rule)
			all = append(all, m)
		}
		if !rs.letter || t.letter == nil {
			rs.each(t, note)
		}
		if t.letter != nil && (rs.letter || rs.twin == nil) {
			rs.each(t.letter, note)
		}
	}
	sortMatches(all)
	for i, m := range all {
		if i == 0 || !containsRule(dst, m.rule) {
			dst = append(dst, m.rule)
		}
	}
	return dst
}
