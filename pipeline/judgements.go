package pipeline

import (
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// own prepares the target's own samples, as URLs of the origin that answered.
func (a *analyst) own(origin string, paths []string) []prepared {
	out := make([]prepared, len(paths))
	for i, path := range paths {
		url := origin + path
		out[i] = prepared{sample: Sample{URL: sink.TextString(url)}, targets: targetsOf(url, a.config.Profiles)}
	}
	return out
}

// judgements makes the policies and verdicts of a target under every profile.
func (a *analyst) judgements(row *sink.Fetch, paths []string, stratum string, out *sink.Segment) error {
	if !out.Policies.Wanted() && !out.Verdicts.Wanted() && !out.Summary.Wanted() {
		return nil
	}
	var origin fetch.Origin
	if len(a.samples.absolute) > 0 {
		origin, _, _ = fetch.Parse(row.Origin, "")
	}
	own := a.own(row.Origin, paths)
	for k := range a.readings {
		r := &a.readings[k]
		tallies := a.counts.of(stratum, k)
		a.policies, a.verdicts = a.policies[:0], a.verdicts[:0]
		for i := range a.config.Agents {
			policy := a.policy(row, r, i)
			tally := &tallies[i]
			class := classIndex(policy.Class)
			tally.policies[class]++
			if policy.IsExplicit {
				tally.explicit[class]++
			}
			a.policies = append(a.policies, policy)
			for s := range a.samples.paths {
				a.verdict(row, r, &policy, i, &a.samples.paths[s], k, tally)
			}
			for _, s := range a.samples.absolute[origin] {
				s.used.Store(true)
				a.verdict(row, r, &policy, i, s, k, tally)
			}
			for s := range own {
				a.verdict(row, r, &policy, i, &own[s], k, tally)
			}
			if err := out.Verdicts.Write(a.verdicts...); err != nil {
				return err
			}
			a.verdicts = a.verdicts[:0]
		}
		if err := out.Policies.Write(a.policies...); err != nil {
			return err
		}
	}
	return nil
}

func (a *analyst) policy(row *sink.Fetch, r *reading, agent int) sink.Policy {
	p := sink.Policy{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank,
		Agent: a.config.Agents[agent].Name, Category: a.config.Agents[agent].Category,
		Profile: r.profile.Name, Outcome: string(r.answer.Outcome),
	}
	switch r.answer.Outcome {
	case robots.ConditionalAllow:
		policy := r.judge.Policy(agent)
		p.GroupAgent, p.IsExplicit, p.Class = sink.NonZero(policy.GroupAgent), policy.Explicit, policy.Class().String()
		if policy.HasCrawlDelay {
			p.CrawlDelay = sink.Some(policy.CrawlDelay)
		}
	case robots.FullAllow:
		p.Class = robots.AllowAll.String()
	default:
		// From content alone: an outage is no policy.
		p.Class = classUnknown
	}
	return p
}

func (a *analyst) verdict(row *sink.Fetch, r *reading, policy *sink.Policy, agent int, sample *prepared, profile int, tally *tally) {
	got, decided := r.answer.Verdict()
	if !decided {
		got = r.judge.Policy(agent).Judge(&sample.targets[profile])
	}
	v := sink.Verdict{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, Agent: policy.Agent, Profile: policy.Profile,
		URL: sample.sample.URL, Verdict: got.Value.String(), Reason: got.Reason.String(), GroupAgent: policy.GroupAgent,
	}
	if got.Rule >= 0 {
		rule := &r.file.Rules[got.Rule]
		v.RuleKind, v.RulePattern, v.RuleLine = &kindNames[rule.Kind], &r.patterns[got.Rule], &rule.Line
	}
	tally.verdicts[got.Value]++
	a.verdicts = append(a.verdicts, v)
}

// kindNames are the cells that rows point at, by kind.
var kindNames = [...]string{robots.Disallow: robots.Disallow.String(), robots.Allow: robots.Allow.String()}

const (
	classUnknown = "unknown" // of a policy that the fetch did not show
	classEmpty   = "empty"   // of a group without a rule
)

var (
	classNames = [classes]string{robots.AllowAll.String(), robots.DisallowAll.String(), robots.Partial.String(), classUnknown}
	valueNames = [values]string{robots.Allowed.String(), robots.Disallowed.String(), robots.Undefined.String()}
)

func classIndex(name string) int {
	for i, n := range classNames {
		if n == name {
			return i
		}
	}
	return classes - 1
}
