package evaluate

import (
	"bytes"
	"fmt"

	"github.com/robocensus/robocensus/pipeline/internal/pairs"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// A versusFirst says whether a profile's reading of a file differs from the first
// profile's, for one agent: an index into summary.VersusFirstNames.
type versusFirst int

// Bounds on the work of comparing two profiles, for one agent and for one file, in
// the unit of [robots.Relate]: about 1 and 10 ms. Most differences show on a short
// path. Proving that two profiles agree can take long, and little is lost by
// leaving that undecided.
const (
	versusFirstWork     = 1 << 17
	fileVersusFirstWork = 1 << 21
)

// compareWithFirst compares reading k with the first reading, for each agent.
func (e *Evaluator) compareWithFirst(dst []versusFirst, k int) []versusFirst {
	first, r := &e.readings[0], &e.readings[k]
	first.load()
	r.load()
	readings := pairs.Memo[versusFirst]{Compare: differ, Most: fileVersusFirstWork, Each: versusFirstWork}
	for i := range e.config.Agents {
		dst = append(dst, readings.Of(first.judge.Policy(i), r.judge.Policy(i)))
	}
	return dst
}

// differ says whether two readings differ for an agent.
func differ(a, b *robots.Policy, most int) (versusFirst, int) {
	differ, decided, work := robots.Differ(a, b, most)
	switch {
	case differ:
		return summary.FirstDifferent, work
	case !decided:
		return summary.FirstUndecided, work
	}
	return summary.FirstEqual, work
}

// lineOf returns the line that decides, 0 for none.
func (r *reading) lineOf(v robots.Verdict) int32 {
	if v.Rule < 0 {
		return 0
	}
	return r.content.file.Rules[v.Rule].Line
}

// sameBody reports whether two readings judge the same body by its rules.
func sameBody(first, r *reading) bool {
	return first.answer.AsksRules() && r.answer.AsksRules() && bytes.Equal(first.body, r.body)
}

// hasVersusFirst reports whether the rules decide under the first profile and under profile
// k, and both read the same body.
func (e *Evaluator) hasVersusFirst(k int) bool {
	first, r := &e.readings[0], &e.readings[k]
	return k > 0 && len(r.content.versusFirst) > 0 && first.answer.Outcome == robots.ConditionalAllow && r.answer.Outcome == robots.ConditionalAllow
}

// countVersusFirst counts a host by whether two profiles differ on it for any agent.
func (e *Evaluator) countVersusFirst(row *sink.Fetch, k int, stratum string) {
	if !e.hasVersusFirst(k) {
		return
	}
	r := &e.readings[k]
	worst := versusFirst(summary.FirstEqual)
	for i, p := range r.content.versusFirst {
		if p == summary.FirstDifferent && worst != summary.FirstDifferent && e.examples.Wants("versus_first", r.profile.Name, row.Host) {
			if text := e.versusFirstText(k, i); text != "" {
				e.examples.Add("versus_first", r.profile.Name, row.Host, 0, text)
			}
		}
		if p == summary.FirstDifferent || worst == summary.FirstEqual {
			worst = p
		}
	}
	e.counts.AddProfile("versus_first_hosts", stratum, k, summary.VersusFirstNames[worst])
}

// versusFirstText describes the shortest path on which profile k and the first differ for an
// agent, with both verdicts and the lines that decide.
func (e *Evaluator) versusFirstText(k, agent int) string {
	first, r := &e.readings[0], &e.readings[k]
	first.load()
	r.load()
	w, _, _ := robots.Distinguish(first.judge.Policy(agent), r.judge.Policy(agent), versusFirstWork)
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
	return fmt.Sprintf("%s, %s; %s; %s", e.config.Agents[agent].Name, summary.Clip([]byte(w.Path)), side(first, w.A), side(r, w.B))
}
