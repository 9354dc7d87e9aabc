package robots

import "time"

// An Answer is a profile's reading of Facts.
type Answer struct {
	Outcome Outcome
	Reason  AnswerReason
	// UseCopy says that the rules to ask are those of the last whole copy, not
	// of the body just received. Where Outcome is undefined, the document lets
	// a crawler take the copy or Instead.
	UseCopy bool
	Instead Outcome
	// UnreachableSince is when the outage began, zero where the origin is
	// reached or nobody keeps a memory.
	UnreachableSince time.Time
}

// AsksRules says that verdicts depend on the rules of a file.
func (a Answer) AsksRules() bool { return a.Outcome == ConditionalAllow || a.UseCopy }

// Verdict is the verdict on a target where the rules are not asked, and ok says
// that it is so. The target must have been prepared under the same profile.
func (a Answer) Verdict(t *Target) (v Verdict, ok bool) {
	switch {
	case t.isRobotsTxt:
		return Verdict{Allowed, ReasonRobotsTxt, -1}, true
	case a.AsksRules():
		return Verdict{Undefined, ReasonUndefined, -1}, false
	}
	return a.Outcome.verdict(), true
}

// Weigh is what the answer makes of a verdict of the rules: itself, but
// undefined where the document permits another choice that differs.
func (a Answer) Weigh(v Verdict) Verdict {
	if a.Outcome == Undecided && v.Reason != ReasonRobotsTxt && a.Instead.verdict().Value != v.Value {
		return Undecided.verdict()
	}
	return v
}

// verdict is that of an outcome which decides alone.
func (o Outcome) verdict() Verdict {
	switch o {
	case FullAllow:
		return Verdict{Allowed, ReasonFullAllow, -1}
	case FullDisallow:
		return Verdict{Disallowed, ReasonFullDisallow, -1}
	}
	return Verdict{Undefined, ReasonUndefined, -1}
}

// Answer reads the facts (RFC 9309, 2.3.1).
func (p *Profile) Answer(f Facts) Answer {
	r := p.read(f.Kind())
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
		a.Outcome, a.Reason, r.copy = p.Unreachable, UnreachableTooLong, p.UnreachableCopy
	}
	if !stands {
		return a
	}
	switch r.copy {
	case TakeCopy:
		a.Outcome, a.Reason, a.UseCopy = ConditionalAllow, StaleCopy, true
	case EitherCopy:
		a.Outcome, a.Reason, a.UseCopy, a.Instead = Undecided, StaleCopy, true, a.Outcome
	}
	return a
}

// rowReading is what a profile makes of a kind of answer by itself. Where the
// origin is unreachable, copy says whether the last whole copy may serve.
type rowReading struct {
	Answer
	unreachable bool
	copy        CopyUse
}

// read is the table of answers. Redirects count up to MaxRedirects: the answer
// to one more is as a 404. Our own refusal to dial, a stopped run and what a
// store does not hold say nothing about the site: undefined.
func (p *Profile) read(k AnswerKind) rowReading {
	answered := func(o Outcome, why AnswerReason) rowReading {
		return rowReading{Answer: Answer{Outcome: o, Reason: why}}
	}
	failed := func(o Outcome, why AnswerReason, copy CopyUse) rowReading {
		return rowReading{Answer{Outcome: o, Reason: why}, true, copy}
	}
	if k.Redirects > p.MaxRedirects {
		return answered(FullAllow, TooManyRedirects)
	}
	switch k.Class {
	case RedirectByHTML:
		if p.HTMLRedirect == Undecided {
			return answered(Undecided, RedirectByHTML)
		}
		return answered(ConditionalAllow, Success)
	case ClientError, TooManyRedirects, RedirectsLoop, InvalidRedirect:
		return answered(FullAllow, k.Class)
	case UnsupportedRedirect:
		return answered(p.RedirectUnsupported, UnsupportedRedirect)
	case AddressBlockedByGuard, NoRouteFromHere, UnresolvedRedirect, UnresolvedRevisit:
		return answered(Undecided, k.Class)
	case canceled:
		return answered(Undecided, NetworkFailed)
	case tooManyRequests:
		if p.TooManyRequests != ServerError {
			return answered(FullAllow, ClientError)
		}
		return failed(p.ServerError, ServerError, p.ServerErrorCopy)
	case MisconfiguredServer:
		if p.MisconfiguredAs404 {
			return answered(FullAllow, MisconfiguredServer)
		}
		return failed(p.ServerError, ServerError, p.ServerErrorCopy)
	case ServerError:
		return failed(p.ServerError, ServerError, p.ServerErrorCopy)
	case otherStatus:
		if p.OtherStatus == ServerError {
			return failed(p.ServerError, InvalidResponse, p.ServerErrorCopy)
		}
		return failed(Undecided, InvalidResponse, p.NetworkCopy)
	case NetworkFailed, InvalidResponse, IncompleteBody:
		return failed(p.NetworkFailure, k.Class, p.NetworkCopy)
	}
	return answered(ConditionalAllow, Success)
}
