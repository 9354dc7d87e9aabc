package robots

import "time"

// An Answer is a profile's reading of Facts.
type Answer struct {
	Outcome Outcome
	Reason  AnswerReason
	// UseCopy reports whether verdicts use the rules of the last whole copy
	// instead of the body just received. If Outcome is undefined, the document
	// permits both the copy and Instead.
	UseCopy bool
	Instead Outcome
	// UnreachableSince is the start of the outage. It is zero if the origin was
	// reached or Facts has no Memory.
	UnreachableSince time.Time
}

// AsksRules reports whether verdicts depend on the rules of a file.
func (a Answer) AsksRules() bool { return a.Outcome == ConditionalAllow || a.UseCopy }

// Verdict returns the verdict on a target if it does not depend on rules; ok is
// false if it does. The target must have been prepared under the same profile.
func (a Answer) Verdict(t *Target) (v Verdict, ok bool) {
	switch {
	case t.isRobotsTxt:
		return Verdict{Allowed, ReasonRobotsTxt, -1}, true
	case a.AsksRules():
		return Verdict{Undefined, ReasonUndefined, -1}, false
	}
	return a.Outcome.verdict(), true
}

// Weigh applies the answer to a verdict of the rules. It returns v, or
// undefined if the document permits another outcome that differs from v.
func (a Answer) Weigh(v Verdict) Verdict {
	if a.Outcome == OutcomeUndefined && v.Reason != ReasonRobotsTxt && a.Instead.verdict().Value != v.Value {
		return OutcomeUndefined.verdict()
	}
	return v
}

// verdict returns the verdict of an outcome that decides without rules.
func (o Outcome) verdict() Verdict {
	switch o {
	case FullAllow:
		return Verdict{Allowed, ReasonFullAllow, -1}
	case FullDisallow:
		return Verdict{Disallowed, ReasonFullDisallow, -1}
	}
	return Verdict{Undefined, ReasonUndefined, -1}
}

// Answer interprets the facts (RFC 9309, 2.3.1).
func (p *Profile) Answer(f Facts) Answer {
	r := p.read(f.Kind())
	if n := len(f.Hops); p.Unauthorized != "" && r.Reason == AnswerClientError && n > 0 && (f.Hops[n-1].Status == 401 || f.Hops[n-1].Status == 403) {
		r.Outcome, r.Reason = p.Unauthorized, AnswerUnauthorized
	}
	if !r.unreachable {
		return r.Answer
	}
	a := r.Answer
	if f.Memory == nil {
		return a
	}
	since, stands := p.recall(f.Memory, f.Time)
	a.UnreachableSince = since
	if f.Time.Sub(since) > p.UnreachableLimit {
		a.Outcome, a.Reason, r.copy = p.Unreachable, AnswerUnreachableTooLong, p.UnreachableCopy
	}
	if !stands {
		return a
	}
	switch r.copy {
	case TakeCopy:
		a.Outcome, a.Reason, a.UseCopy = ConditionalAllow, AnswerStaleCopy, true
	case EitherCopy:
		a.Outcome, a.Reason, a.UseCopy, a.Instead = OutcomeUndefined, AnswerStaleCopy, true, a.Outcome
	}
	return a
}

// rowReading is a profile's reading of a kind of answer. If the origin is
// unreachable, copy says whether the last whole copy may be used.
type rowReading struct {
	Answer
	unreachable bool
	copy        CopyUse
}

// read implements the table of answers. More than MaxRedirects redirects count
// as a 404. A blocked address, a missing route, a stopped run, a capture that
// the archive lacks, and a chain that was given up before MaxRedirects say
// nothing about the site: undefined.
func (p *Profile) read(k AnswerKind) rowReading {
	answered := func(o Outcome, why AnswerReason) rowReading {
		return rowReading{Answer: Answer{Outcome: o, Reason: why}}
	}
	failed := func(o Outcome, why AnswerReason, copy CopyUse) rowReading {
		return rowReading{Answer{Outcome: o, Reason: why}, true, copy}
	}
	if k.Redirects > p.MaxRedirects {
		return answered(FullAllow, AnswerRedirectLimit)
	}
	switch k.Class {
	case AnswerHTMLRedirect:
		if p.HTMLRedirect == OutcomeUndefined {
			return answered(OutcomeUndefined, AnswerHTMLRedirect)
		}
		return answered(ConditionalAllow, AnswerSuccess)
	case AnswerClientError, AnswerRedirectLoop, AnswerRedirectInvalid:
		return answered(FullAllow, k.Class)
	case AnswerRedirectLimit: // that of another run, whose profiles follow fewer
		return answered(OutcomeUndefined, AnswerRedirectUnresolved)
	case AnswerRedirectUnsupported:
		return answered(p.RedirectUnsupported, AnswerRedirectUnsupported)
	case AnswerAddressBlocked, AnswerNoRoute, AnswerRedirectUnresolved, AnswerRevisitUnresolved:
		return answered(OutcomeUndefined, k.Class)
	case answerCanceled:
		return answered(OutcomeUndefined, AnswerNetworkFailure)
	case answerTooManyRequests:
		if p.TooManyRequests != AnswerServerError {
			return answered(FullAllow, AnswerClientError)
		}
		return failed(p.ServerError, AnswerServerError, p.ServerErrorCopy)
	case AnswerMisconfiguredServer:
		if p.MisconfiguredAs404 {
			return answered(FullAllow, AnswerMisconfiguredServer)
		}
		return failed(p.ServerError, AnswerServerError, p.ServerErrorCopy)
	case AnswerServerError:
		return failed(p.ServerError, AnswerServerError, p.ServerErrorCopy)
	case answerOtherStatus:
		if p.OtherStatus == AnswerServerError {
			return failed(p.ServerError, AnswerInvalidResponse, p.ServerErrorCopy)
		}
		return failed(OutcomeUndefined, AnswerInvalidResponse, p.NetworkCopy)
	case AnswerNetworkFailure, AnswerInvalidResponse, AnswerIncompleteBody:
		return failed(p.NetworkFailure, k.Class, p.NetworkCopy)
	}
	return answered(ConditionalAllow, AnswerSuccess)
}
