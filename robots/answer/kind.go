package answer

import "strings"

// A Kind is the part of Facts that decides what an answer means. Two
// answers of one kind mean the same under every profile.
type Kind struct {
	// Class is the row of the table of answers: a profile's reason, or one of
	// the classes that profiles map to different reasons.
	Class Reason
	// Redirects is the number of redirects on the way. Each profile follows at
	// most MaxRedirects.
	Redirects int
}

// Classes of [Kind] that profiles map to different reasons.
const (
	tooManyRequests Reason = "too_many_requests" // 429
	otherStatus     Reason = "other_status"      // neither 2xx, a redirect, 4xx nor 5xx
	canceled        Reason = "canceled"          // the run was stopped
)

// Kind returns the kind of the answer. A status of 4xx or 5xx stands even if
// its body broke off; a 2xx needs its whole body.
func (f Facts) Kind() Kind {
	var k Kind
	last := Hop{}
	for _, last = range f.Hops {
		if last.IsRedirect() {
			k.Redirects++
		}
	}
	k.Class = f.class(last)
	return k
}

func (f Facts) class(last Hop) Reason {
	failure := Reason("")
	if f.Error != "" {
		if failure = f.Error.Answer(); !failure.IsOutage() {
			return failure
		}
	}
	class := classify(last)
	switch {
	// A revisit record may also omit the header, which repeats that of the
	// other capture.
	case f.Unstored && (class == Success || last.Status == 304 || last.Status == 0 && f.Error == ""):
		return RevisitUnresolved
	case isFTP(last) && class == ClientError && failure != "":
		return failure // its 550 is not about the file
	case class == ClientError && last.Status == 429:
		return tooManyRequests
	case class == ServerError && f.Misconfigured:
		return MisconfiguredServer
	case class == ClientError || class == ServerError:
		return class
	case failure != "":
		return failure
	case last.Status == 0:
		return NetworkFailure
	case last.IsRedirect() && f.Unfollowed:
		return RedirectUnresolved
	case last.IsRedirect():
		return RedirectInvalid
	case class == InvalidResponse:
		return otherStatus
	case f.HTMLRedirect:
		return HTMLRedirect
	}
	return Success
}

// Settled reports whether no profile, whatever its fields, treats the origin as
// unreachable after this answer.
func (k Kind) Settled() bool {
	return !k.Class.IsOutage()
}

func isFTP(h Hop) bool {
	return len(h.URL) >= 6 && strings.EqualFold(h.URL[:6], "ftp://")
}

// IsRedirect reports whether the answer sends a GET elsewhere, if it says where.
// So do 300 and statuses without a meaning of their own (RFC 9110, 15 and
// 15.4). 304 does not: it answers a condition that was never sent.
func (h Hop) IsRedirect() bool {
	return h.Status >= 300 && h.Status < 400 && h.Status != 304 && !isFTP(h)
}

// classify maps a status to success, client_error, server_error or
// invalid_response.
//
// An FTP reply 2yz is a transfer, 550 means that the file does not exist (a
// client error), and every other reply is a server error.
func classify(h Hop) Reason {
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
