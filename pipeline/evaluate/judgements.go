package evaluate

import (
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// judgements writes the policies and verdicts of a target under every profile. It
// judges the paths for all hosts, the samples of the target's origin, and its own
// URLs.
func (e *Evaluator) judgements(row *schema.Fetch, listed []*prepared, paths []string, stratum string,
	out *sink.Segment) error {
	own := newOwn(row.Origin, paths, listed)
	for k := range e.columns {
		tallies := e.counts.Of(stratum, k)
		e.policies, e.statements, e.verdicts = e.policies[:0], e.statements[:0], e.verdicts[:0]
		e.memo.forget()
		e.run.agents = 0
		for i := range e.config.Agents {
			mark, err := e.agent(row, listed, own, k, i, stratum, out)
			if err != nil {
				return err
			}
			tallies[i].Add(&mark)
			e.counts.Mark(k, i, &mark)
		}
		if err := e.writeRun(out); err != nil {
			return err
		}
		if err := e.writeVerdicts(out, 1); err != nil {
			return err
		}
		e.countCategories(stratum, k)
		if k == 0 {
			e.countTraining(stratum)
			e.countClosed(stratum)
		}
		e.countVersusFirst(k, stratum)
		if err := e.writePolicies(out); err != nil {
			return err
		}
	}
	return nil
}

// agent makes the policy and the verdicts of one agent under profile k, and writes verdicts
// that are many. It returns what they add to the agent's tally.
func (e *Evaluator) agent(row *schema.Fetch, listed []*prepared, own *ownURLs, k, i int, stratum string,
	out *sink.Segment) (mark summary.Mark, err error) {
	r := e.under(k, i)
	e.policies = append(e.policies, schema.Policy{})
	policy := &e.policies[len(e.policies)-1] // filled in place: it is a large row
	says, class := e.policy(policy, row, k, i)
	mark.Class, mark.Match = uint8(class), robots.NoGroup
	if says != nil {
		mark.Match = says.match
	}
	if e.hasVersusFirst(k, i) {
		relation := r.content.versusFirst[i]
		policy.VersusFirst = &summary.VersusFirstNames[relation]
		mark.VersusFirst = uint8(relation) + 1
	}
	e.statements = append(e.statements, statement{r, says, policy.Parity, policy.VersusFirst})
	if policy.Template != nil && class == int(robots.DisallowAll) {
		e.counts.AddAgent("policy_template", stratum, k, i, *policy.Template)
	}
	if mark.Match == robots.OwnGroup {
		mark.Versus = uint8(r.found(i).versusStar) + 1
	}
	group, rules := r.group(i), e.follows(e.columns[k].of[i], i)
	if e.run.extend(rules, group, &mark) {
		return mark, nil
	}
	if err := e.writeRun(out); err != nil {
		return mark, err
	}
	from := len(e.verdicts)
	got := e.judge(e.columns[k].of[i], i, listed, own)
	for s := range e.samples.paths {
		e.verdict(row, r, policy, group, e.samples.paths[s].shown, got[s], &mark)
	}
	n := len(got)
	got = got[len(e.samples.paths):]
	for s := range listed {
		e.verdict(row, r, policy, group, listed[s].shown, got[s], &mark)
	}
	got = got[len(listed):]
	for len(got) > 0 {
		shown := own.texts(len(own.paths) - len(got))
		for s := range shown {
			e.verdict(row, r, policy, group, shown[s], got[s], &mark)
		}
		got = got[len(shown):]
		if err := e.writeVerdicts(out, verdictRows); err != nil {
			return mark, err
		}
	}
	if n <= runRows && len(e.verdicts) == from+n { // none is written yet
		e.run.begin(i, rules, group, from)
		e.run.said = mark.Verdicts
	}
	return mark, nil
}

// verdictRows is the number of verdicts to write at once: the writer goes through
// them column by column.
const verdictRows = 1024

// writeVerdicts writes the waiting verdicts if there are at least many.
func (e *Evaluator) writeVerdicts(out *sink.Segment, many int) error {
	if len(e.verdicts) < many {
		return nil
	}
	err := out.Verdicts.Write(e.verdicts...)
	e.verdicts = e.verdicts[:0]
	return err
}

// policy writes the row of one agent under profile k, and returns what a file that decides
// says, nil for none, and the index of its class.
func (e *Evaluator) policy(p *schema.Policy, row *schema.Fetch, k, agent int) (found *policy, class int) {
	r := e.under(k, agent)
	p.Seq, p.Host, p.Rank, p.Origin = row.Seq, row.Host, row.Rank, row.Origin
	p.Agent, p.Category = e.config.Agents[agent].Name, e.config.Agents[agent].Category
	p.Profile, p.JudgedBy, p.Outcome = e.columns[k].name, r.profile.Name, string(r.answer.Outcome)
	p.Parity = e.parityOf(agent)
	class = r.classIn(agent)
	if !r.answer.Walled && r.answer.Outcome == answer.ConditionalAllow {
		found = r.found(agent)
		p.GroupAgent, p.GroupLine, p.CrawlDelay = found.group, found.line, found.crawlDelay
		p.Template = found.template
		p.Match, p.IsExplicit = &matchNames[found.match], found.match == robots.OwnGroup
		if p.IsExplicit {
			p.VersusStar = &summary.RelationNames[found.versusStar]
		}
		for use, cell := range [usage.NumUses]**string{usage.AITrain: &p.AITrain, usage.AIInput: &p.AIInput,
			usage.Search: &p.Search} {
			if s := found.stances[use]; s != robots.NoStance {
				*cell = &stanceNames[s]
			}
		}
	}
	p.Class = summary.ClassNames[class]
	return found, class
}

// classIn returns the index of the class of an agent's policy.
func (r *reading) classIn(agent int) int {
	switch {
	case r.answer.Walled: // is no policy; neither is an outage
	case r.answer.Outcome == answer.ConditionalAllow:
		return r.found(agent).class
	case r.answer.Outcome == answer.FullAllow:
		return int(robots.AllowAll)
	}
	return summary.ClassUnknown
}

// group returns the token whose group decides an agent's verdicts, nil for none.
// Rules may decide even if the profile leaves open whether the last copy of an
// unreachable origin applies.
func (r *reading) group(agent int) *string {
	if !r.answer.AsksRules() {
		return nil
	}
	return r.found(agent).group
}

// lead returns the first agent whose verdicts are those of the given one. Without
// rules, all agents of the reading have the same.
func (r *reading) lead(agent int) int {
	if !r.answer.AsksRules() {
		return r.agents[0]
	}
	return r.found(agent).lead
}

// verdictOn judges a URL, prepared for reading k, for an agent.
func (e *Evaluator) verdictOn(k, agent int, target *robots.Target) robots.Verdict {
	r := &e.readings[k]
	if got, decided := robots.VerdictOf(r.answer, target); decided {
		return got
	}
	r.load()
	return robots.Weigh(r.answer, r.policy(agent).Judge(target))
}

// verdictOnPath judges one of the samples that apply to every host.
func (e *Evaluator) verdictOnPath(k, agent, path int) robots.Verdict {
	r := &e.readings[k]
	if known := r.content.verdicts; len(known) > 0 && r.answer.AsksRules() {
		return robots.Weigh(r.answer, known[int(r.found(agent).judged)*len(e.samples.paths)+path])
	}
	return e.verdictOn(k, agent, &e.samples.paths[path].targets[k])
}

func (e *Evaluator) verdict(row *schema.Fetch, r *reading, policy *schema.Policy, group *string, url string,
	got robots.Verdict, mark *summary.Mark) {
	v := schema.Verdict{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, Agent: policy.Agent, Profile: policy.Profile,
		JudgedBy: policy.JudgedBy,
		URL:      url, Verdict: got.Value.String(), Reason: got.Reason.String(), GroupAgent: group,
	}
	if got.Rule >= 0 {
		v.RuleKind, v.RulePattern, v.RuleLine = r.cells(got.Rule)
	}
	mark.Verdicts[got.Value]++
	e.verdicts = append(e.verdicts, v)
}

// kindNames, matchNames and stanceNames are cells that rows point at.
var (
	kindNames   = [...]string{robots.Disallow: robots.Disallow.String(), robots.Allow: robots.Allow.String()}
	stanceNames = [...]string{
		robots.StanceAllow: robots.StanceAllow.String(), robots.StanceDisallow: robots.StanceDisallow.String(),
		robots.StancePartial: robots.StancePartial.String(),
	}
	matchNames = [...]string{
		robots.NoGroup: robots.NoGroup.String(), robots.StarGroup: robots.StarGroup.String(),
		robots.FallbackGroup: robots.FallbackGroup.String(), robots.OwnGroup: robots.OwnGroup.String(),
	}
)
