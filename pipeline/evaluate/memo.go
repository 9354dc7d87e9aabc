package evaluate

import (
	"github.com/robocensus/robocensus/robots"
)

// following is what agents have in common that have the same verdicts: a reading, and the first
// of its agents whose rules are the same. Under own, several readings judge the agents of one
// profile, and one of them may judge all agents of another.
type following struct{ reading, lead int }

func (e *Evaluator) follows(reading, agent int) following {
	return following{reading, e.readings[reading].lead(agent)}
}

// memo holds the verdicts of the current target, so that each sample is judged once for agents
// with the same rules. Without it, a hostile file of half a megabyte costs a second per agent.
type memo struct {
	from     map[following]int // where the verdicts begin in kept
	kept     []robots.Verdict
	verdicts []robots.Verdict // verdicts of an agent that shares its rules with no other
}

// memoVerdicts bounds the memo; beyond it, rules are re-evaluated.
const memoVerdicts = 1 << 20

// forget empties the memo.
func (m *memo) forget() {
	if m.from == nil {
		m.from = make(map[following]int)
	}
	clear(m.from)
	m.kept = m.kept[:0]
}

// judge returns the verdicts for an agent in reading k on the paths for all hosts,
// the samples of the origin, and the target's own URLs. They are valid until the
// next call.
func (e *Evaluator) judge(k, agent int, listed []*prepared, own *ownURLs) []robots.Verdict {
	r, m := &e.readings[k], &e.memo
	n := len(e.samples.paths) + len(listed) + len(own.paths)
	if r.answer.AsksRules() && !r.found(agent).shared {
		m.verdicts = e.judgeAll(m.verdicts[:0], k, agent, listed, own)
		return m.verdicts
	}
	rules := e.follows(k, agent)
	if at, ok := m.from[rules]; ok {
		return m.kept[at : at+n]
	}
	if len(m.kept)+n > memoVerdicts {
		m.forget()
	}
	at := len(m.kept)
	m.kept = e.judgeAll(m.kept, k, agent, listed, own)
	m.from[rules] = at
	return m.kept[at:]
}

// judgeAll appends the verdicts for an agent on all URLs of a target.
func (e *Evaluator) judgeAll(dst []robots.Verdict, k, agent int, listed []*prepared, own *ownURLs) []robots.Verdict {
	for s := range e.samples.paths {
		dst = append(dst, e.verdictOnPath(k, agent, s))
	}
	for _, s := range listed {
		dst = append(dst, e.verdictOn(k, agent, &s.targets[k]))
	}
	for from := 0; from < len(own.paths); {
		targets := own.prepared(from, e.readings[k].profile)
		for i := range targets {
			dst = append(dst, e.verdictOn(k, agent, &targets[i]))
		}
		from += len(targets)
	}
	return dst
}
