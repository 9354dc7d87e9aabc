package robots

import (
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// Answer interprets the facts as the profile does.
func (p *Profile) Answer(f answer.Facts) answer.Answer { return p.Answers.Read(f, p.MaxRedirects) }

// ClosedFor returns how long the profile takes the answer for closing the origin, at most, if
// it is an outage; see [answer.Answers.ClosedFor].
func (p *Profile) ClosedFor(f answer.Facts) time.Duration {
	return p.Answers.ClosedFor(f, p.MaxRedirects)
}

// VerdictOf returns the verdict of an answer on a target if it does not depend on rules;
// ok is false if it does. The target must have been prepared under the same profile.
func VerdictOf(a answer.Answer, t *Target) (v Verdict, ok bool) {
	switch {
	case t.isRobotsTxt:
		return Verdict{Permitted, ReasonRobotsTxt, -1}, true
	case a.Walled:
		return Verdict{Undefined, ReasonChallenge, -1}, true
	case a.AsksRules():
		return Verdict{Undefined, ReasonUndefined, -1}, false
	}
	return outcomeVerdict(a.Outcome), true
}

// Weigh applies an answer to a verdict of the rules. It returns v, or undefined if the
// document permits another outcome that differs from v.
func Weigh(a answer.Answer, v Verdict) Verdict {
	if a.Outcome == answer.Undefined && v.Reason != ReasonRobotsTxt && outcomeVerdict(a.Instead).Value != v.Value {
		return outcomeVerdict(answer.Undefined)
	}
	return v
}

// outcomeVerdict returns the verdict of an outcome that decides without rules.
func outcomeVerdict(o answer.Outcome) Verdict {
	switch o {
	case answer.FullAllow:
		return Verdict{Permitted, ReasonFullAllow, -1}
	case answer.FullDisallow:
		return Verdict{Disallowed, ReasonFullDisallow, -1}
	}
	return Verdict{Undefined, ReasonUndefined, -1}
}
