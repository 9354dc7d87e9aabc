package robots

import "time"

// ErrorClass says why a request got no usable answer. Empty means it did.
type ErrorClass string

const (
	DNSNotFound         ErrorClass = "dns_not_found"
	DNSFailure          ErrorClass = "dns_failure"
	AddressBlocked      ErrorClass = "address_blocked" // our own refusal to dial
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

	// Of a final status that gives no answer; see Facts.Failure.
	FinalServerError ErrorClass = "server_error"
	UnexpectedStatus ErrorClass = "unexpected_status"
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
	// Time is when the request was made. Memory is what is known of earlier
	// ones, nil where nobody keeps that.
	Time   time.Time
	Memory *Memory
}

// Failure is the class of what kept the request from an answer: Error, or that
// of the final status. A 5xx is a failure whatever a profile makes of it, and
// so is a status that answers no GET. The empty class says that an answer came.
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
	NoRouteFromHere       AnswerReason = "no_route"
)
