package robots

import "time"

// ErrorClass says why a request got no usable answer. It is empty if it got
// one.
type ErrorClass string

const (
	DNSNotFound         ErrorClass = "dns_not_found"
	DNSFailure          ErrorClass = "dns_failure"
	AddressBlocked      ErrorClass = "address_blocked" // we refused to dial the address
	NoRoute             ErrorClass = "no_route"        // this machine cannot reach the host's address family
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

	// Facts.Failure returns these classes for a final status that gives no answer.
	FinalServerError ErrorClass = "server_error"
	UnexpectedStatus ErrorClass = "unexpected_status"
)

// A Hop is one request of a redirect chain and the status of its answer: that
// of HTTP, or the last reply of an FTP server (226 for a transfer, 550 for no
// such file). Status 0 means that no answer came.
type Hop struct {
	URL    string
	Status int
}

// Facts are what an answer's meaning depends on. With several profiles they
// hold the longest chain that any of them asks for; each profile reads its own
// part.
type Facts struct {
	Hops []Hop
	// Error is the failure that ended the chain, if any.
	Error ErrorClass
	// HTMLRedirect reports whether func HTMLRedirect holds for the last body.
	HTMLRedirect bool
	// Misconfigured reports whether the site answers missing pages with 5xx.
	Misconfigured bool
	// Unstored reports whether the body is that of another capture, which is
	// not available.
	Unstored bool
	// Unfollowed reports whether the last hop is a redirect in a stored capture
	// whose target was not stored.
	Unfollowed bool
	// Time is when the request was made. Memory is the history of earlier
	// requests, nil if none is kept.
	Time   time.Time
	Memory *Memory
}

// Failure returns why the request got no answer: Error, or the class of the
// final status. A 5xx is a failure whatever a profile makes of it, and so is a
// status that does not answer a GET. Failure is empty if an answer came.
func (f Facts) Failure() ErrorClass {
	if f.Error != "" {
		return f.Error
	}
	switch f.Kind().Class {
	case ServerError, MisconfiguredServer:
		return FinalServerError
	case otherStatus:
		return UnexpectedStatus
	}
	return ""
}

// Outcome is what an answer means for the URLs of its origin.
type Outcome string

const (
	ConditionalAllow Outcome = "conditional_allow" // the rules decide
	FullAllow        Outcome = "full_allow"
	FullDisallow     Outcome = "full_disallow"
	Undecided        Outcome = "undefined"
)

// AnswerReason says why an answer has its outcome.
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
	NoRouteFromHere       AnswerReason = "no_route"
)
