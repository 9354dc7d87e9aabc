package answer

import (
	"cmp"
	"slices"
	"time"
)

// An Answer is a profile's reading of Facts.
type Answer struct {
	Outcome Outcome
	Reason  Reason
	// UseCopy reports whether verdicts use the rules of the last whole copy
	// instead of the body just received. If Outcome is undefined, the document
	// permits both the copy and Instead.
	UseCopy bool
	Instead Outcome
	// UnreachableSince is the start of the outage. It is zero if the origin was
	// reached or Facts has no Memory.
	UnreachableSince time.Time
	// Walled reports whether a wall gave the answer: Outcome and Reason are those of its
	// status, and nothing is known of the site's policy.
	Walled bool
}

// AsksRules reports whether verdicts depend on the rules of a file.
func (a Answer) AsksRules() bool { return !a.Walled && (a.Outcome == ConditionalAllow || a.UseCopy) }

// Shown returns the reason that says what the answer shows of its host, as [Shown] does.
func (a Answer) Shown() Reason { return Shown(a.Reason, a.Walled) }

// Read interprets the facts (RFC 9309, 2.3.1) for a profile that follows at most
// maxRedirects redirects.
func (p *Answers) Read(f Facts, maxRedirects int) Answer {
	a := p.meaning(f, maxRedirects)
	a.Walled = f.Walled
	return a
}

// meaning is Read, by the status and the history alone.
func (p *Answers) meaning(f Facts, maxRedirects int) Answer {
	r := p.reading(&f, maxRedirects)
	a := r.Answer
	if !r.Unreachable || f.Memory == nil {
		return a
	}
	since, stands := p.recall(f.Memory, f.Time, maxRedirects)
	a.UnreachableSince = since
	if s, ok := p.stage(f.Time.Sub(since)); ok {
		a.Outcome, a.Reason, r.copy = f.Site.outcome(s.Outcome), UnreachableTooLong, s.Copy
	}
	if !stands {
		return a
	}
	switch r.copy {
	case TakeCopy:
		a.Outcome, a.Reason, a.UseCopy = ConditionalAllow, StaleCopy, true
	case EitherCopy:
		a.Outcome, a.Reason, a.UseCopy, a.Instead = Undefined, StaleCopy, true, a.Outcome
	}
	return a
}

// reading is that of the answer alone, whatever came before it.
func (p *Answers) reading(f *Facts, maxRedirects int) rowReading {
	r := p.read(f.Kind(), maxRedirects)
	if n := len(f.Hops); p.Unauthorized != "" && r.Reason == ClientError && n > 0 &&
		(f.Hops[n-1].Status == 401 || f.Hops[n-1].Status == 403) {
		r.Outcome, r.Reason = p.Unauthorized, Unauthorized
	}
	if p.Unreachable == Unchanged {
		r = p.asProgram(f, r, maxRedirects)
		r.Unreachable = false
	} else if r.Reason != Unauthorized && p.isProgram() {
		r = p.asProgram(f, r, maxRedirects)
	}
	return r
}

// ClosedFor returns the time after which an outage that closes an origin may no longer do so:
// another outcome holds, or the last copy. It is 0 if the answer is no outage, does not close
// the origin, or does so as long as it lasts.
func (p *Answers) ClosedFor(f Facts, maxRedirects int) time.Duration {
	if r := p.reading(&f, maxRedirects); !r.Unreachable || r.Outcome != FullDisallow {
		return 0
	}
	later := Stage{p.UnreachableLimit, p.Unreachable, p.UnreachableCopy}
	for _, s := range append(slices.Clone(p.ServerErrorStages), later) {
		if s.After <= later.After && (s.Outcome != FullDisallow || s.Copy != IgnoreCopy) {
			return s.After
		}
	}
	return 0
}

// stage returns the last stage that has begun of an outage of that age, if any has.
func (p *Answers) stage(age time.Duration) (last Stage, begun bool) {
	if age > p.UnreachableLimit {
		return Stage{p.UnreachableLimit, p.Unreachable, p.UnreachableCopy}, true
	}
	for _, s := range p.ServerErrorStages {
		if age > s.After {
			last, begun = s, true
		}
	}
	return last, begun
}

// outcome returns an outcome, or what ByFrontPage stands for.
func (s Site) outcome(o Outcome) Outcome {
	switch {
	case o != ByFrontPage:
		return o
	case s == SiteAnswers:
		return FullAllow
	case s == SiteFails:
		return FullDisallow
	}
	return Undefined
}

// rowReading is a profile's reading of a kind of answer. If the origin is
// unreachable, copy says whether the last whole copy may be used.
type rowReading struct {
	Answer
	Unreachable bool
	copy        CopyUse
}

// read implements the table of answers. More than maxRedirects redirects count
// as a 404. A blocked address, a missing route, a stopped run, a capture that
// the archive lacks, and a chain that was given up before maxRedirects say
// nothing about the site: undefined.
func (p *Answers) read(k Kind, maxRedirects int) rowReading {
	answered := func(o Outcome, why Reason) rowReading {
		return rowReading{Answer: Answer{Outcome: o, Reason: why}}
	}
	failed := func(o Outcome, why Reason, copy CopyUse) rowReading {
		return rowReading{Answer{Outcome: o, Reason: why}, true, copy}
	}
	if k.Redirects > maxRedirects {
		return answered(cmp.Or(p.RedirectFailed, FullAllow), RedirectLimit)
	}
	switch k.Class {
	case HTMLRedirect:
		if p.HTMLRedirect == Undefined {
			return answered(Undefined, HTMLRedirect)
		}
		return answered(ConditionalAllow, Success)
	case ClientError:
		return answered(FullAllow, k.Class)
	case RedirectLoop, RedirectInvalid:
		return answered(cmp.Or(p.RedirectFailed, FullAllow), k.Class)
	case RedirectLimit: // that of another run, whose profiles follow fewer
		return answered(Undefined, RedirectUnresolved)
	case RedirectUnsupported:
		return answered(p.RedirectUnsupported, RedirectUnsupported)
	case AddressBlocked, NoRoute, RedirectUnresolved, RevisitUnresolved:
		return answered(Undefined, k.Class)
	case canceled:
		return answered(Undefined, NetworkFailure)
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
		switch p.OtherStatus {
		case ServerError:
			return failed(p.ServerError, InvalidResponse, p.ServerErrorCopy)
		case NetworkFailure:
			return failed(p.NetworkFailure, InvalidResponse, p.NetworkCopy)
		case ClientError:
			return answered(FullAllow, InvalidResponse)
		}
		return failed(Undefined, InvalidResponse, p.NetworkCopy)
	case NetworkFailure, InvalidResponse, IncompleteBody:
		return failed(p.NetworkFailure, k.Class, p.NetworkCopy)
	}
	return answered(ConditionalAllow, Success)
}
