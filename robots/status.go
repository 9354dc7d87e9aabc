package robots

import "time"

// ErrorClass says why a request got no usable answer. It is empty if it got
// one.
type ErrorClass string

const (
	ErrorDNSNotFound         ErrorClass = "dns_not_found"
	ErrorDNSFailure          ErrorClass = "dns_failure"
	ErrorAddressBlocked      ErrorClass = "address_blocked" // we refused to dial the address
	ErrorNoRoute             ErrorClass = "no_route"        // this machine cannot reach the host's address family
	ErrorConnectRefused      ErrorClass = "connect_refused"
	ErrorConnectTimeout      ErrorClass = "connect_timeout"
	ErrorConnectFailure      ErrorClass = "connect_failure"
	ErrorTLS                 ErrorClass = "tls"
	ErrorTimeout             ErrorClass = "timeout"
	ErrorReset               ErrorClass = "reset"
	ErrorProtocol            ErrorClass = "protocol" // not HTTP, bad chunking, bad content coding
	ErrorTruncatedBody       ErrorClass = "truncated_body"
	ErrorHeaderTooLarge      ErrorClass = "header_too_large"
	ErrorCanceled            ErrorClass = "canceled" // the run was stopped
	ErrorRedirectInvalid     ErrorClass = "redirect_invalid"
	ErrorRedirectUnsupported ErrorClass = "redirect_unsupported"
	ErrorRedirectLoop        ErrorClass = "redirect_loop"
	ErrorRedirectLimit       ErrorClass = "redirect_limit"

	// Facts.Failure returns these classes for a final status that gives no answer.
	ErrorServerError      ErrorClass = "server_error"
	ErrorUnexpectedStatus ErrorClass = "unexpected_status"
)

// ErrorClasses holds all error classes.
var ErrorClasses = [...]ErrorClass{
	ErrorDNSNotFound, ErrorDNSFailure, ErrorAddressBlocked, ErrorNoRoute, ErrorConnectRefused, ErrorConnectTimeout, ErrorConnectFailure,
	ErrorTLS, ErrorTimeout, ErrorReset, ErrorProtocol, ErrorTruncatedBody, ErrorHeaderTooLarge, ErrorCanceled,
	ErrorRedirectInvalid, ErrorRedirectUnsupported, ErrorRedirectLoop, ErrorRedirectLimit, ErrorServerError, ErrorUnexpectedStatus,
}

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
	case AnswerServerError, AnswerMisconfiguredServer:
		return ErrorServerError
	case answerOtherStatus:
		return ErrorUnexpectedStatus
	}
	return ""
}

// Outcome is what an answer means for the URLs of its origin.
type Outcome string

const (
	ConditionalAllow Outcome = "conditional_allow" // the rules decide
	FullAllow        Outcome = "full_allow"
	FullDisallow     Outcome = "full_disallow"
	OutcomeUndefined Outcome = "undefined"
)

// Outcomes holds all outcomes.
var Outcomes = [...]Outcome{ConditionalAllow, FullAllow, FullDisallow, OutcomeUndefined}

// AnswerReason says why an answer has its outcome.
type AnswerReason string

const (
	AnswerSuccess             AnswerReason = "success"
	AnswerClientError         AnswerReason = "client_error"
	AnswerServerError         AnswerReason = "server_error"
	AnswerMisconfiguredServer AnswerReason = "misconfigured_server"
	AnswerRedirectLimit       AnswerReason = "redirect_limit"
	AnswerRedirectLoop        AnswerReason = "redirect_loop"
	AnswerRedirectInvalid     AnswerReason = "redirect_invalid"
	AnswerRedirectUnsupported AnswerReason = "redirect_unsupported"
	AnswerRedirectUnresolved  AnswerReason = "redirect_unresolved"
	AnswerRevisitUnresolved   AnswerReason = "revisit_unresolved"
	AnswerHTMLRedirect        AnswerReason = "html_redirect"
	AnswerNetworkFailure      AnswerReason = "network_failure"
	AnswerInvalidResponse     AnswerReason = "invalid_response"
	AnswerIncompleteBody      AnswerReason = "incomplete_body"
	AnswerStaleCopy           AnswerReason = "stale_copy"
	AnswerUnreachableTooLong  AnswerReason = "unreachable_too_long"
	AnswerAddressBlocked      AnswerReason = "address_blocked"
	AnswerNoRoute             AnswerReason = "no_route"
)

// AnswerReasons holds all reasons.
var AnswerReasons = [...]AnswerReason{
	AnswerSuccess, AnswerClientError, AnswerServerError, AnswerMisconfiguredServer, AnswerRedirectLimit, AnswerRedirectLoop,
	AnswerRedirectInvalid, AnswerRedirectUnsupported, AnswerRedirectUnresolved, AnswerRevisitUnresolved, AnswerHTMLRedirect,
	AnswerNetworkFailure, AnswerInvalidResponse, AnswerIncompleteBody, AnswerStaleCopy, AnswerUnreachableTooLong, AnswerAddressBlocked,
	AnswerNoRoute,
}
