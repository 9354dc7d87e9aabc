package evaluate

import (
	"strings"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Counters of what a file says about use, and of whose words it is.

// conflict is a key of the metric preference_remark, beside orphan and the remarks.
const conflict = "conflict"

// countPreferences counts what the rows of preferences say.
func (e *Evaluator) countPreferences(stratum string) {
	for i := range e.preferences {
		p := &e.preferences[i]
		if p.Header != nil {
			break // headers come last, and are no part of the file; see countPage
		}
		if key := summary.PreferenceKey(p); key != "" {
			e.once("preference", stratum, key)
		}
		if p.Scope == summary.Orphan {
			e.preferenceRemark(p, stratum, summary.Orphan)
		}
		if p.Conflict {
			e.preferenceRemark(p, stratum, conflict)
		}
		if p.Remark != nil {
			e.preferenceRemark(p, stratum, *p.Remark)
		}
	}
}

// countSignalReach counts a file with content signals by whom they bind at best. Where that
// is nobody, or one agent, the file hardly says what its owner means: an example shows the
// first line.
func (e *Evaluator) countSignalReach(f *robots.File, stratum string) {
	best, first := f.SignalReach()
	if first == nil {
		return
	}
	e.once("signal_reach", stratum, best.String())
	if best <= robots.ReachesOne && e.examples.Wants("signal_reach", best.String()) {
		e.examples.Add("signal_reach", best.String(), first.Line, "Content-Signal: "+schema.Text(first.Value))
	}
}

func (e *Evaluator) preferenceRemark(p *schema.Preference, stratum, key string) {
	e.once("preference_remark", stratum, key)
	if e.examples.Wants("preference_remark", key) {
		e.examples.Add("preference_remark", key, *p.Line, preferenceText(p))
	}
}

// preferenceText writes the statement of a row as the file does.
func preferenceText(p *schema.Preference) string {
	if p.Mechanism == usage.PolicyToken.String() {
		return "User-agent: " + p.Value // of a token that nobody knows
	}
	text := p.Mechanism + ":"
	if p.Path != nil {
		text += " " + *p.Path
	}
	if p.Label != "" {
		return text + " " + p.Label + "=" + p.Value
	}
	return text + " " + p.Value
}

// countTraining counts a target by the set of ways in which its file refuses the training
// of models, under the first profile: it shuts out a crawler, or names a policy token and
// shuts it out, or a line in a group says so, for any agent and path. A file that does not,
// and names a licence, counts apart. e.policies holds the rows of all agents.
func (e *Evaluator) countTraining(stratum string) {
	var ways [len(summary.Refusals)]bool
	for i := range e.policies {
		agent := &e.config.Agents[i]
		if e.policies[i].Class != summary.ClassNames[robots.DisallowAll] {
			continue
		}
		if way := summary.RefusalByPolicy(agent, agent.Kind == registry.KindToken, e.policies[i].IsExplicit); way >= 0 {
			ways[way] = true
		}
	}
	names := false
	for i := range e.preferences {
		if way := summary.RefusalByStatement(&e.preferences[i]); way >= 0 {
			ways[way] = true
		}
		names = names || summary.NamesLicence(&e.preferences[i])
	}
	var key []string
	for i, has := range ways {
		if has {
			key = append(key, summary.Refusals[i])
		}
	}
	if e.pageRefuses() {
		e.counts.AddProfile("page_refusal", stratum, 0, "any")
		if key == nil {
			e.counts.AddProfile("page_refusal", stratum, 0, "alone")
		}
	}
	e.countDocumentRefusals(stratum, key != nil)
	if key == nil {
		if names {
			e.counts.AddProfile("refusal", stratum, 0, summary.ByTerms)
		}
		return
	}
	e.counts.AddProfile("refusal_set", stratum, 0, strings.Join(key, "+"))
	for _, way := range append(key, summary.AnyRefusal) {
		e.counts.AddProfile("refusal", stratum, 0, way)
	}
}

// anyName is the key of the metric dead_name for all names together.
const anyName = "any"

// deadNames returns the names that no operator sends by their lower case.
func deadNames(names []string) map[string]string {
	out := make(map[string]string, len(names))
	for _, name := range names {
		out[strings.ToLower(name)] = name
	}
	return out
}

// countDeadName counts a user-agent line that addresses nobody.
func (e *Evaluator) countDeadName(agent *robots.AgentLine, stratum string) {
	var lower [64]byte
	if len(e.deadNames) == 0 || len(agent.Wide) > len(lower) {
		return
	}
	for i, b := range agent.Wide {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	name, dead := e.deadNames[string(lower[:len(agent.Wide)])]
	if !dead {
		return
	}
	e.once("dead_name", stratum, name)
	e.once("dead_name", stratum, anyName)
	e.counts.Add("dead_name_lines", stratum, name)
	if e.examples.Wants("dead_name", name) {
		e.examples.Add("dead_name", name, agent.Line, string(agent.Wide))
	}
}

// countTemplates counts the templates of a file.
func (e *Evaluator) countTemplates(stratum string) {
	for i := range e.readings[0].content.templates {
		m := &e.readings[0].content.templates[i]
		e.once("template", stratum, m.ID)
		if e.examples.Wants("template", m.ID) {
			e.examples.Add("template", m.ID, m.First, m.Version)
		}
	}
}
