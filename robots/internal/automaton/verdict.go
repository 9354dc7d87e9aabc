package automaton

import "slices"

// A Verdict is what a policy says of a path. Verdicts ascend.
type Verdict uint8

const (
	Allowed Verdict = iota
	Undefined
	Disallowed
)

// A Mode says how conflicts of rules are settled, by how the labels of ladders give a
// verdict.
type Mode uint8

const (
	alwaysAllow    Mode = iota // allow
	TheLongest                 // best
	TheLongestTies             // best, best with ties to disallow
	AnyWild                    // best plain, any wild disallow, any wild allow
	AnyWildTies                // best plain, the same with ties to disallow, any wild disallow, any wild allow
	OrTheLeast                 // best, best plain, any wild allow
	OrTheLeastTies             // best, best plain, any wild allow, best with ties to disallow
	// greatest bare allow, greatest bare disallow, best of the others: that with the highest key
	Highest
	LastToEnd // that whose match ends last
)

// A voice is the verdict of one permitted reading.
type voice struct {
	mode    Mode
	ladders [4]int32
	negated bool // it forbids what the rules do not, and allows what they forbid
}

var laddersOf = [...]int{alwaysAllow: 0, TheLongest: 1, TheLongestTies: 2, AnyWild: 3, AnyWildTies: 4, OrTheLeast: 3,
	OrTheLeastTies: 4, Highest: 3, LastToEnd: 1}

// verdictOf returns the verdict that follows from the labels of a voice's ladders.
func verdictOf(m Mode, labels [4]label) Verdict {
	may := [2]bool{}
	switch m {
	case alwaysAllow:
		return Allowed
	case TheLongest, LastToEnd:
		may[disallow] = labels[0] == labelDisallow
	case TheLongestTies:
		may[disallow] = labels[0] == labelDisallow || labels[1] == labelDisallow
		may[allow] = labels[0] == labelAllow
	case AnyWild:
		may[disallow] = labels[0] == labelDisallow || labels[1] == labelDisallow
		may[allow] = labels[0] == labelAllow || labels[2] == labelAllow
	case AnyWildTies:
		may[disallow] = labels[0] == labelDisallow || labels[1] == labelDisallow || labels[2] == labelDisallow
		may[allow] = labels[0] == labelAllow || labels[3] == labelAllow
	case OrTheLeast:
		may[disallow] = labels[0] == labelDisallow
		may[allow] = labels[0] == labelAllow || labels[1] == labelAllow || labels[2] == labelAllow
	case OrTheLeastTies:
		may[disallow] = labels[0] == labelDisallow || labels[3] == labelDisallow
		may[allow] = labels[0] == labelAllow || labels[1] == labelAllow || labels[2] == labelAllow
	}
	switch {
	case !may[disallow]:
		return Allowed
	case may[allow]:
		return Undefined
	}
	return Disallowed
}

// verdicts returns the verdicts of both policies on a path that ends here.
func (m *automaton) verdicts(st []int32) (a, b Verdict) {
	copy(m.flushed, st)
	st = m.flushed
	if m.symbols == nil {
		m.flush(st)
	}
	for i := range m.views {
		v := &m.views[i]
		if from := st[v.slot]; from != gone && len(v.plains[from].text) == int(st[v.slot+2]) {
			for _, e := range v.plains[from].effects {
				m.raise(st, e)
			}
		}
	}
	for _, k := range m.anchors {
		if s := &m.stars[k]; s.done(st) {
			for _, e := range s.effects {
				m.raise(st, e)
			}
		}
	}
	return m.verdict(st, &m.of[0]), m.verdict(st, &m.of[1])
}

func (m *automaton) says(st []int32, ladder int32) label {
	return label(st[m.ladders+ladder] & 3)
}

func (m *automaton) verdict(st []int32, s *policy) Verdict {
	if s.exempt >= 0 && m.says(st, s.exempt) == labelAllow {
		return Allowed
	}
	value := Allowed
	for i, v := range s.voices {
		x := m.verdictOf(st, v)
		if i > 0 && x != value {
			return Undefined
		}
		value = x
	}
	return value
}

func (m *automaton) verdictOf(st []int32, v voice) (x Verdict) {
	if v.mode == Highest {
		best := slices.MaxFunc(v.ladders[:3], func(a, b int32) int { return int(st[m.ladders+a]>>2 - st[m.ladders+b]>>2) })
		if m.says(st, best) == labelDisallow {
			x = Disallowed
		}
	} else {
		var labels [4]label
		for k := range laddersOf[v.mode] {
			labels[k] = m.says(st, v.ladders[k])
		}
		x = verdictOf(v.mode, labels)
	}
	if v.negated {
		return x.negated()
	}
	return x
}

func (v Verdict) negated() Verdict {
	if v == Disallowed {
		return Allowed
	}
	return Disallowed
}
