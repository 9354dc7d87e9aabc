package robots

import "strings"

// An AnswerKind is the part of Facts that decides what an answer means. Two
// answers of one kind mean the same under every profile.
type AnswerKind struct {
	// Class is the row of the table of answers: a profile's reason, or one of
	// the classes below, which profiles map to different reasons.
	Class AnswerReason
	// Redirects is the number of redirects on the way. Each profile follows at
	// most MaxRedirects.
	Redirects int
}

const (
	tooManyRequests AnswerReason = "too_many_requests" // 429
	otherStatus     AnswerReason = "other_status"      // neither 2xx, a redirect, 4xx nor 5xx
	canceled        AnswerReason = "canceled"          // the run was stopped
)

// Kind returns the kind of the answer. A status of 4xx or 5xx stands even if
// its body broke off; a 2xx needs its whole body.
func (f Facts) Kind() AnswerKind {
	var k AnswerKind
	last := Hop{}
	for _, last = range f.Hops {
		if isRedirect(last) {
			k.Redirects++
		}
	}
	k.Class = f.class(last)
	return k
}

func (f Facts) class(last Hop) AnswerReason {
	switch f.Error {
	case AddressBlocked:
		return AddressBlockedByGuard
	case NoRoute:
		return NoRouteFromHere
	case Canceled:
		return canceled
	case RedirectInvalid:
		return InvalidRedirect
	case RedirectUnsupported:
		return UnsupportedRedirect
	case RedirectLoop:
		return RedirectsLoop
	case RedirectLimit:
		return TooManyRedirects
	}
	class := classify(last)
	switch {
	// A revisit record may also omit the header, which repeats that of the
	// other capture.
	case f.Unstored && (class == Success || last.Status == 304 || last.Status == 0 && f.Error == ""):
		return UnresolvedRevisit
	case class == ClientError && last.Status == 429:
		return tooManyRequests
	case class == ServerError && f.Misconfigured:
		return MisconfiguredServer
	case class == ClientError || class == ServerError:
		return class
	case f.Error == TruncatedBody:
		return IncompleteBody
	case f.Error == Protocol || f.Error == HeaderTooLarge:
		return InvalidResponse
	case f.Error != "" || last.Status == 0:
		return NetworkFailed
	case isRedirect(last) && f.Unfollowed:
		return UnresolvedRedirect
	case isRedirect(last):
		return InvalidRedirect
	case class == InvalidResponse:
		return otherStatus
	case f.HTMLRedirect:
		return RedirectByHTML
	}
	return Success
}

// Settled reports whether no profile, whatever its fields, treats the origin as
// unreachable after this answer.
func (k AnswerKind) Settled() bool {
	switch k.Class {
	case tooManyRequests, ServerError, MisconfiguredServer, otherStatus, NetworkFailed, InvalidResponse, IncompleteBody:
		return false
	}
	return true
}

func isFTP(h Hop) bool {
	return len(h.URL) >= 6 && strings.EqualFold(h.URL[:6], "ftp://")
}

// isRedirect excludes 304, which answers a condition that was never sent.
func isRedirect(h Hop) bool {
	return h.Status >= 300 && h.Status < 400 && h.Status != 304 && !isFTP(h)
}

// classify maps a status to success, client_error, server_error or
// invalid_response.
//
// An FTP reply 2yz is a transfer, 550 means that the file does not exist (a
// client error), and every other reply is a server error.
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
