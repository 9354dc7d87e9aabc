package evaluate

import (
	"bytes"
	"fmt"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
)

// Bounds on the work of comparing two profiles, for one agent and for one file, in
// the unit of [robots.Relate]: about 15 and 60 ms. Rules show nearly every answer at once;
// searching for the others leaves about one pair in a thousand undecided.
const (
	versusFirstWork     = 1 << 21
	fileVersusFirstWork = 1 << 23
)

// compareWithFirst compares reading k with those of the first profile, for each agent
// that it judges, on all paths but /robots.txt: a crawler asks for that anyway.
func (e *Evaluator) compareWithFirst(dst []robots.Difference, k int) []robots.Difference {
	r := &e.readings[k]
	dst = append(dst, make([]robots.Difference, len(e.config.Agents))...)
	for _, f := range r.firsts {
		first := &e.readings[f]
		if first.profile == r.profile {
			continue // equal, as a zero is
		}
		readings := robots.PairMemo[robots.Difference]{Compare: robots.Differ, Most: fileVersusFirstWork,
			Each:  versusFirstWork,
			Store: e.pairs}
		for _, i := range r.agents {
			if e.columns[0].of[i] == f {
				dst[i] = readings.Of(first.against(r, i), r.against(first, i))
			}
		}
	}
	return dst
}

// against returns the policy of an agent in a comparison with another reading: that of the
// judge, unless only the other reading lets everybody have /robots.txt.
func (r *reading) against(other *reading, agent int) *robots.Policy {
	if r.profile.RobotsTxtAllowed || !other.profile.RobotsTxtAllowed {
		r.load()
		return r.policy(agent)
	}
	if !r.aside {
		r.parse()
		r.beside.Load(&r.file)
		r.aside = true
	}
	return r.beside.Policy(r.slots[agent])
}

// policy returns the policy of an agent that the reading judges. The file must be
// loaded.
func (r *reading) policy(agent int) *robots.Policy { return r.judge.Policy(r.slots[agent]) }

// lineOf returns the line that decides, 0 for none.
func (r *reading) lineOf(v robots.Verdict) int32 {
	if v.Rule < 0 {
		return 0
	}
	return r.file.Rules[v.Rule].Line
}

// sameBody reports whether a reading and those of its agents under the first profile
// judge the same body by its rules. A reading of the first profile alone has none to compare
// with.
func (e *Evaluator) sameBody(r *reading) bool {
	for _, k := range r.firsts {
		first := &e.readings[k]
		if !first.answer.AsksRules() || !r.answer.AsksRules() || !bytes.Equal(first.body, r.body) {
			return false
		}
	}
	return len(r.firsts) > 0
}

// hasVersusFirst reports whether the rules decide about an agent under the first profile
// and under profile k, and both read the same body.
func (e *Evaluator) hasVersusFirst(k, agent int) bool {
	first, r := e.under(0, agent), e.under(k, agent)
	return k > 0 && len(r.content.versusFirst) > 0 && first.answer.Outcome == answer.ConditionalAllow &&
		r.answer.Outcome == answer.ConditionalAllow
}

// countVersusFirst counts a host by whether two profiles differ on it for any agent that
// is bound by * under both or neither.
func (e *Evaluator) countVersusFirst(k int, stratum string) {
	worst, known := robots.Same, false
	for i := range e.config.Agents {
		if !e.hasVersusFirst(k, i) {
			continue
		}
		if e.config.Agents[i].IgnoresStar && e.under(0, i).profile.IgnoresStar != e.under(k, i).profile.IgnoresStar {
			continue // the profiles differ about the agent, on nearly every file
		}
		d, name := e.under(k, i).content.versusFirst[i], e.columns[k].name
		if d == robots.Differs && worst != d && e.examples.Wants("versus_first", name) {
			if text := e.versusFirstText(k, i); text != "" {
				e.examples.Add("versus_first", name, 0, text)
			}
		}
		worst, known = max(worst, d), true
	}
	if known {
		e.counts.AddProfile("versus_first_hosts", stratum, k, summary.VersusFirstNames[worst])
	}
}

// versusFirstText describes the shortest path on which profile k and the first differ for an
// agent, with both verdicts and the lines that decide.
func (e *Evaluator) versusFirstText(k, agent int) string {
	first, r := e.under(0, agent), e.under(k, agent)
	w, _, _ := robots.Distinguish(first.against(r, agent), r.against(first, agent), versusFirstWork, robots.PlainPaths)
	if w == nil {
		return ""
	}
	side := func(r *reading, v robots.Verdict) string {
		text := fmt.Sprintf("%s: %s", r.profile.Name, v.Value)
		if line := r.lineOf(v); line > 0 {
			text += fmt.Sprintf(" (line %d)", line)
		}
		return text
	}
	return fmt.Sprintf("%s, %s; %s; %s", e.config.Agents[agent].Name, summary.Clip([]byte(w.Path)), side(first, w.A),
		side(r, w.B))
}
