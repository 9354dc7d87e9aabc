package pipeline

import (
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// judgements makes the policies and verdicts of a target under every profile,
// on the paths for all, the samples listed for its origin, and its own.
func (a *evaluator) judgements(row *sink.Fetch, listed []*evaluate.Prepared, paths []string, stratum string, out *sink.Segment) error {
	own := newOwn(row.Origin, paths, listed)
	for k := range a.readings {
		r := &a.readings[k]
		tallies := a.counts.Of(stratum, k)
		a.policies, a.verdicts = a.policies[:0], a.verdicts[:0]
		a.memo.forget(len(a.config.Agents))
		for i := range a.config.Agents {
			policy, match, class := a.policy(row, r, i)
			tally := &tallies[i]
			if a.parted(k) {
				standing := r.content.partings[i].standing
				policy.VersusFirst = &summary.PartNames[standing]
				tally.Parted[standing]++
			}
			tally.Policies[class]++
			switch match {
			case robots.OwnGroup:
				tally.Explicit[class]++
				tally.Versus[r.content.policies[i].versusStar]++
			case robots.FallbackGroup:
				tally.Fallback[class]++
			}
			a.policies = append(a.policies, policy)
			group := r.group(i)
			got := a.judge(k, i, listed, own)
			for s := range a.samples.Paths {
				a.verdict(row, r, &policy, group, a.samples.Paths[s].Sample.Shown, got[s], tally)
			}
			got = got[len(a.samples.Paths):]
			for s := range listed {
				a.verdict(row, r, &policy, group, listed[s].Sample.Shown, got[s], tally)
			}
			got = got[len(listed):]
			for len(got) > 0 {
				shown := own.texts(len(own.paths) - len(got))
				for s := range shown {
					a.verdict(row, r, &policy, group, shown[s], got[s], tally)
				}
				got = got[len(shown):]
				if err := a.writeVerdicts(out, verdictRows); err != nil {
					return err
				}
			}
			if err := a.writeVerdicts(out, verdictRows); err != nil {
				return err
			}
		}
		if err := a.writeVerdicts(out, 1); err != nil {
			return err
		}
		a.countCategories(stratum, k)
		a.countPartings(row, k, stratum)
		if err := out.Policies.Write(a.policies...); err != nil {
			return err
		}
	}
	return nil
}

// verdictRows is how many verdicts are written together, if one target has as
// many: the writer goes through them column by column.
const verdictRows = 1024

// writeVerdicts writes the verdicts that wait if there are so many.
func (a *evaluator) writeVerdicts(out *sink.Segment, many int) error {
	if len(a.verdicts) < many {
		return nil
	}
	err := out.Verdicts.Write(a.verdicts...)
	a.verdicts = a.verdicts[:0]
	return err
}

// policy makes the row of one agent, with its match and the index of its class.
func (a *evaluator) policy(row *sink.Fetch, r *reading, agent int) (sink.Policy, robots.Match, int) {
	p := sink.Policy{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin,
		Agent: a.config.Agents[agent].Name, Category: a.config.Agents[agent].Category,
		Profile: r.profile.Name, Outcome: string(r.answer.Outcome),
	}
	match, class := robots.NoGroup, summary.ClassUnknown // from content alone: an outage is no policy
	switch r.answer.Outcome {
	case robots.ConditionalAllow:
		told := &r.content.policies[agent]
		match, class = told.match, told.class
		p.GroupAgent, p.GroupLine, p.CrawlDelay = told.group, told.line, told.crawlDelay
		p.Match, p.IsExplicit = &matchNames[match], match == robots.OwnGroup
		if p.IsExplicit {
			p.VersusStar = &summary.RelationNames[told.versusStar]
		}
	case robots.FullAllow:
		class = int(robots.AllowAll)
	}
	p.Class = summary.ClassNames[class]
	return p, match, class
}

// group is the token whose group in the file an agent's verdicts come from, nil
// for none. While a profile leaves open whether the copy of an unreachable
// origin serves, its rules may still decide.
func (r *reading) group(agent int) *string {
	if !r.answer.AsksRules() {
		return nil
	}
	return r.content.policies[agent].group
}

// of judges a URL in reading k, for whose profile it is prepared.
func (a *evaluator) of(k, agent int, target *robots.Target) robots.Verdict {
	r := &a.readings[k]
	if got, decided := r.answer.Verdict(target); decided {
		return got
	}
	r.load()
	return r.answer.Weigh(r.judge.Policy(agent).Judge(target))
}

// ofPath judges one of the paths for all.
func (a *evaluator) ofPath(k, agent, path int) robots.Verdict {
	r := &a.readings[k]
	if known := r.content.verdicts; known != nil && r.answer.AsksRules() {
		return r.answer.Weigh(known[agent*len(a.samples.Paths)+path])
	}
	return a.of(k, agent, &a.samples.Paths[path].Targets[k])
}

func (a *evaluator) verdict(row *sink.Fetch, r *reading, policy *sink.Policy, group *string, url string, got robots.Verdict, tally *summary.Tally) {
	v := sink.Verdict{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, Agent: policy.Agent, Profile: policy.Profile,
		URL: url, Verdict: got.Value.String(), Reason: got.Reason.String(), GroupAgent: group,
	}
	if got.Rule >= 0 {
		rule := &r.content.file.Rules[got.Rule]
		v.RuleKind, v.RulePattern, v.RuleLine = &kindNames[rule.Kind], &r.content.patterns[got.Rule], &rule.Line
	}
	tally.Verdicts[got.Value]++
	a.verdicts = append(a.verdicts, v)
}

// kindNames and matchNames are the cells that rows point at.
var (
	kindNames  = [...]string{robots.Disallow: robots.Disallow.String(), robots.Allow: robots.Allow.String()}
	matchNames = [...]string{
		robots.NoGroup: robots.NoGroup.String(), robots.StarGroup: robots.StarGroup.String(),
		robots.FallbackGroup: robots.FallbackGroup.String(), robots.OwnGroup: robots.OwnGroup.String(),
	}
)
