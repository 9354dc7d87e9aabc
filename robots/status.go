package robots

import (
	"strings"
	"time"
)

// ErrorClass says why a request got no usable answer. Empty means it did.
type ErrorClass string

const (
	DNSNotFound         ErrorClass = "dns_not_found"
	DNSFailure          ErrorClass = "dns_failure"
	AddressBlocked      ErrorClass = "address_blocked" // our own refusal to dial
	ConnectRefused      ErrorClass = "connect_refused"
	ConnectTimeout      ErrorClass = "connect_timeout"
	ConnectFailure      ErrorClass = "connect_failure"
	TLSFailure          ErrorClass = "tls"
	Timeout             ErrorClass = "timeout"
	Reset               ErrorClass = "reset"
	Protocol            ErrorClass = "protocol" // not HTTP, bad chunking, bad content coding
	TruncatedBody       ErrorClass = "truncated_body"
	HeaderTooLarge      ErrorClass = "header_too_large"
	Canceled            ErrorClass = "canceled" // the run was stopped
	RedirectInvalid     ErrorClass = "redirect_invalid"
	RedirectUnsupported ErrorClass = "redirect_unsupported"
	RedirectLoop        ErrorClass = "redirect_loop"
	RedirectLimit       ErrorClass = "redirect_limit"
)

// A Hop is one request of a chain and the status of its answer: HTTP's, or
// the last reply of an FTP server (226 for a transfer, 550 for no such file).
// Status 0 says that no answer came.
type Hop struct {
	URL    string
	Status int
}

// Facts are what is known about the request for a robots.txt, as far as its
// meaning depends on them. With several profiles they hold the longest chain
// that any of them asks for; each profile reads its own part.
type Facts struct {
	Hops []Hop
	// Error is what ended the chain, if not an answer.
	Error ErrorClass
	// HTMLRedirect says that the last body satisfies func HTMLRedirect.
	HTMLRedirect bool
	// Misconfigured says that the site answers missing pages with 5xx.
	Misconfigured bool
	// Unstored says that the body is that of another capture, which is not at
	// hand.
	Unstored bool
	// Unfollowed says that the last hop is a redirect of a stored capture,
	// whose target was not stored.
	Unfollowed bool
	Memory     Memory
}

// Unreachable reports whether the facts say that the origin could not be
// reached, a 5xx or no valid answer, which is what memory is kept for. It is
// the same for all profiles, although they make different things of it.
func (f Facts) Unreachable() bool {
	if f.Error == Canceled {
		return false
	}
	f.Memory = Memory{}
	p, _ := ProfileNamed("google")
	p.MaxRedirects = len(f.Hops) // however many were asked for
	switch p.Answer(f).Reason {
	case ServerError, NetworkFailed, InvalidResponse, IncompleteBody:
		return true
	}
	return false
}

// Memory is what earlier runs know of an origin.
type Memory struct {
	// Unreachable is how long the origin has been so, 0 for the first time.
	Unreachable time.Duration
	// HasCopy says that a good copy of the file is kept.
	HasCopy bool
}

// Outcome is what an answer means for the URLs of its origin.
type Outcome string

const (
	ConditionalAllow Outcome = "conditional_allow" // the rules decide
	FullAllow        Outcome = "full_allow"
	FullDisallow     Outcome = "full_disallow"
	Undecided        Outcome = "undefined"
)

// AnswerReason says what led to an outcome.
type AnswerReason string

const (
	Success               AnswerReason = "success"
	ClientError           AnswerReason = "client_error"
	ServerError           AnswerReason = "server_error"
	MisconfiguredServer   AnswerReason = "misconfigured_server"
	TooManyRedirects      AnswerReason = "redirect_limit"
	RedirectsLoop         AnswerReason = "redirect_loop"
	InvalidRedirect       AnswerReason = "redirect_invalid"
	UnsupportedRedirect   AnswerReason = "redirect_unsupported"
	UnresolvedRedirect    AnswerReason = "redirect_unresolved"
	UnresolvedRevisit     AnswerReason = "revisit_unresolved"
	RedirectByHTML        AnswerReason = "html_redirect"
	NetworkFailed         AnswerReason = "network_failure"
	InvalidResponse       AnswerReason = "invalid_response"
	IncompleteBody        AnswerReason = "incomplete_body"
	StaleCopy             AnswerReason = "stale_copy"
	UnreachableTooLong    AnswerReason = "unreachable_too_long"
	AddressBlockedByGuard AnswerReason = "address_blocked"
)

// An Answer is a profile's reading of Facts. With UseCopy the rules are those
// of the last good copy, not of the body just received.
type Answer struct {
	Outcome Outcome
	Reason  AnswerReason
	UseCopy bool
}

// Verdict is the verdict on every URL where the outcome alone decides; ok is
// false for conditional_allow, where the rules do.
func (a Answer) Verdict() (v Verdict, ok bool) {
	switch a.Outcome {
	case FullAllow:
		return Verdict{Allowed, ReasonFullAllow, -1}, true
	case FullDisallow:
		return Verdict{Disallowed, ReasonFullDisallow, -1}, true
	case Undecided:
		return Verdict{Undefined, ReasonUndefined, -1}, true
	}
	return Verdict{Undefined, ReasonUndefined, -1}, false
}

// Answer reads the facts (RFC 9309, 2.3.1). Redirects count up to
// MaxRedirects: the answer to one more is as a 404. A status of 4xx or 5xx
// stands even where its body broke off; a 2xx needs its whole body. Our own
// refusal to dial, a stopped run and a stored redirect that leads out of the
// store say nothing about the site: undefined.
//
// FTP has no status like HTTP's: any reply 2yz is a transfer, 550 is the file
// that does not exist (a client error), and every other reply is a server
// error.
func (p *Profile) Answer(f Facts) Answer {
	last := Hop{}
	for i, h := range f.Hops {
		last = h
		if isRedirect(h) && i >= p.MaxRedirects {
			return Answer{Outcome: FullAllow, Reason: TooManyRedirects}
		}
	}
	switch f.Error {
	case AddressBlocked:
		return Answer{Outcome: Undecided, Reason: AddressBlockedByGuard}
	case Canceled:
		return Answer{Outcome: Undecided, Reason: NetworkFailed}
	case RedirectInvalid:
		return Answer{Outcome: FullAllow, Reason: InvalidRedirect}
	case RedirectUnsupported:
		return Answer{Outcome: FullAllow, Reason: UnsupportedRedirect}
	case RedirectLoop:
		return Answer{Outcome: FullAllow, Reason: RedirectsLoop}
	case RedirectLimit:
		return Answer{Outcome: FullAllow, Reason: TooManyRedirects}
	}
	class := classify(last)
	// A revisit may leave the header out too, being that of the other capture.
	if f.Unstored && (class == Success || last.Status == 304 || last.Status == 0 && f.Error == "") {
		return Answer{Outcome: Undecided, Reason: UnresolvedRevisit}
	}
	if last.Status == 429 && class == ClientError {
		class = p.TooManyRequests
	}
	switch {
	case class == ClientError:
		return Answer{Outcome: FullAllow, Reason: ClientError}
	case class == ServerError && f.Misconfigured && p.MisconfiguredAs404 && last.Status != 429:
		return Answer{Outcome: FullAllow, Reason: MisconfiguredServer}
	case class == ServerError:
		return p.unreachable(ServerError, p.ServerError, p.ServerErrorCopy, f.Memory)
	case f.Error == TruncatedBody:
		return p.unreachable(IncompleteBody, p.NetworkFailure, p.NetworkCopy, f.Memory)
	case f.Error == Protocol || f.Error == HeaderTooLarge:
		return p.unreachable(InvalidResponse, p.NetworkFailure, p.NetworkCopy, f.Memory)
	case f.Error != "" || last.Status == 0:
		return p.unreachable(NetworkFailed, p.NetworkFailure, p.NetworkCopy, f.Memory)
	case isRedirect(last) && f.Unfollowed:
		return Answer{Outcome: Undecided, Reason: UnresolvedRedirect}
	case isRedirect(last):
		return Answer{Outcome: FullAllow, Reason: InvalidRedirect}
	case class == InvalidResponse && p.OtherStatus == ServerError:
		return p.unreachable(InvalidResponse, p.ServerError, p.ServerErrorCopy, f.Memory)
	case class == InvalidResponse:
		return Answer{Outcome: Undecided, Reason: InvalidResponse}
	case f.HTMLRedirect && p.HTMLRedirect == Undecided:
		return Answer{Outcome: Undecided, Reason: RedirectByHTML}
	}
	return Answer{Outcome: ConditionalAllow, Reason: Success}
}

// unreachable reads an outage in the light of the memory: why and o say what
// a fresh one means, and copyFirst whether a good copy goes before o.
func (p *Profile) unreachable(why AnswerReason, o Outcome, copyFirst bool, m Memory) Answer {
	if m.Unreachable > p.UnreachableLimit {
		why, o, copyFirst = UnreachableTooLong, p.Unreachable, p.UnreachableCopy
	}
	if copyFirst && m.HasCopy {
		return Answer{Outcome: ConditionalAllow, Reason: StaleCopy, UseCopy: true}
	}
	return Answer{Outcome: o, Reason: why}
}

func isFTP(h Hop) bool {
	return len(h.URL) >= 6 && strings.EqualFold(h.URL[:6], "ftp://")
}

// isRedirect: 304 answers a condition that was never asked, so it is none.
func isRedirect(h Hop) bool {
	return h.Status >= 300 && h.Status < 400 && h.Status != 304 && !isFTP(h)
}

// classify names what a status is: success, client_error, server_error or
// invalid_response.
func classify(h Hop) AnswerReason {
	switch s := h.Status; {
	case s >= 200 && s < 300:
		return Success
	case isFTP(h) && s == 550:
		return ClientError
	case isFTP(h) && s != 0:
		return ServerError
	case s >= 400 && s < 500:
		return ClientError
	case s >= 500 && s < 600:
		return ServerError
	}
	return InvalidResponse
}
