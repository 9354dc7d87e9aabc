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

// errorRows is the table of error classes: what follows from a class, in any
// package, follows from its row.
var errorRows = [...]struct {
	class     ErrorClass
	words     string
	answer    AnswerReason // class of an answer that ends so
	mayBeOurs bool         // an outage of the asking machine looks the same
}{
	{ErrorDNSNotFound, "DNS: no such name", AnswerNetworkFailure, false},
	{ErrorDNSFailure, "DNS failure", AnswerNetworkFailure, true},
	{ErrorAddressBlocked, "special address, not asked", AnswerAddressBlocked, false},
	{ErrorNoRoute, "no route from this machine", AnswerNoRoute, true},
	{ErrorConnectRefused, "connection refused", AnswerNetworkFailure, false},
	{ErrorConnectTimeout, "timeout while connecting", AnswerNetworkFailure, true},
	{ErrorConnectFailure, "connection failed", AnswerNetworkFailure, true},
	{ErrorTLS, "TLS failure", AnswerNetworkFailure, true},
	{ErrorTimeout, "timeout", AnswerNetworkFailure, true},
	{ErrorReset, "connection reset", AnswerNetworkFailure, true},
	{ErrorProtocol, "not valid HTTP", AnswerInvalidResponse, false},
	{ErrorTruncatedBody, "answer broke off", AnswerIncompleteBody, true},
	{ErrorHeaderTooLarge, "header too large", AnswerInvalidResponse, false},
	{ErrorCanceled, "run was stopped", answerCanceled, false},
	{ErrorRedirectInvalid, "redirect without a usable location", AnswerRedirectInvalid, false},
	{ErrorRedirectUnsupported, "redirect to what cannot be crawled", AnswerRedirectUnsupported, false},
	{ErrorRedirectLoop, "redirects in a loop", AnswerRedirectLoop, false},
	{ErrorRedirectLimit, "too many redirects", AnswerRedirectLimit, false},
	{ErrorServerError, "server error", AnswerServerError, false},
	{ErrorUnexpectedStatus, "unexpected status", answerOtherStatus, false},
}

// ErrorClasses holds all error classes.
var ErrorClasses = func() (classes []ErrorClass) {
	for _, row := range errorRows {
		classes = append(classes, row.class)
	}
	return classes
}()

func (c ErrorClass) row() int {
	for i := range errorRows {
		if errorRows[i].class == c {
			return i
		}
	}
	return -1
}

// Words says in a few words what went wrong.
func (c ErrorClass) Words() string {
	if i := c.row(); i >= 0 {
		return errorRows[i].words
	}
	return ""
}

// Answer returns the class of an answer that ends with such an error. If that is
// an outage, a status of 4xx or 5xx stands nonetheless.
func (c ErrorClass) Answer() AnswerReason {
	if i := c.row(); i >= 0 {
		return errorRows[i].answer
	}
	return AnswerNetworkFailure
}

// MayBeOurs reports whether an outage of the asking machine looks the same.
func (c ErrorClass) MayBeOurs() bool {
	i := c.row()
	return i >= 0 && errorRows[i].mayBeOurs
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
	AnswerUnauthorized        AnswerReason = "unauthorized" // 401 or 403, for a dialect that obeys them
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

// Evidence is what an answer shows of a site's policy.
type Evidence uint8

const (
	ShowsNothing Evidence = iota // of an unknown reason
	ShowsFile
	ShowsNoFile
	ShowsDeadRedirect
	NotStored // the capture that would show it
	ServerFails
	NotReached
	BrokenAnswer
	OnlyMemory // an outage, which is judged by earlier answers
	AddressBlocked
	NoRoute
)

// IsCurrent reports whether the answer shows what the site's robots.txt says
// now.
func (e Evidence) IsCurrent() bool {
	return e == ShowsFile || e == ShowsNoFile || e == ShowsDeadRedirect
}

// Reasons returns the reasons with this evidence.
func (e Evidence) Reasons() (reasons []AnswerReason) {
	for _, r := range AnswerReasons {
		if r.Evidence() == e {
			reasons = append(reasons, r)
		}
	}
	return reasons
}

// answerRows is the table of reasons and of classes of [AnswerKind]: what
// follows from one, in any package, follows from its row.
var answerRows = [...]struct {
	reason   AnswerReason
	words    string // empty for a class that is not a reason
	evidence Evidence
	outage   bool // some profile treats the origin as unreachable
}{
	{AnswerSuccess, "a robots.txt", ShowsFile, false},
	{AnswerClientError, "no robots.txt (4xx)", ShowsNoFile, false},
	{AnswerUnauthorized, "closed by status 401 or 403", ShowsNoFile, false},
	{AnswerServerError, "server error", ServerFails, true},
	{AnswerMisconfiguredServer, "no robots.txt (5xx for any missing page)", ShowsNoFile, true},
	{AnswerRedirectLimit, "too many redirects", ShowsDeadRedirect, false},
	{AnswerRedirectLoop, "redirects in a loop", ShowsDeadRedirect, false},
	{AnswerRedirectInvalid, "redirect without a usable location", ShowsDeadRedirect, false},
	{AnswerRedirectUnsupported, "redirect to what cannot be crawled", ShowsDeadRedirect, false},
	{AnswerRedirectUnresolved, "redirect that was not followed", NotStored, false},
	{AnswerRevisitUnresolved, "revisit record without its body", NotStored, false},
	{AnswerHTMLRedirect, "redirect inside an HTML page", ShowsDeadRedirect, false},
	{AnswerNetworkFailure, "could not be reached", NotReached, true},
	{AnswerInvalidResponse, "invalid answer", BrokenAnswer, true},
	{AnswerIncompleteBody, "answer that broke off", BrokenAnswer, true},
	{AnswerStaleCopy, "unreachable; an earlier copy is judged", OnlyMemory, true},
	{AnswerUnreachableTooLong, "unreachable for more than 30 days", OnlyMemory, true},
	{AnswerAddressBlocked, "not asked: special address", AddressBlocked, false},
	{AnswerNoRoute, "not asked: no route from here", NoRoute, false},
	{answerTooManyRequests, "", ShowsNothing, true},
	{answerOtherStatus, "", ShowsNothing, true},
	{answerCanceled, "", ShowsNothing, false},
}

// AnswerReasons holds all reasons, and AnswerClasses all classes of
// [AnswerKind]. A reason that needs memory is not a class.
var AnswerReasons, AnswerClasses = func() (reasons, classes []AnswerReason) {
	for _, row := range answerRows {
		if row.words != "" {
			reasons = append(reasons, row.reason)
		}
		if row.evidence != OnlyMemory {
			classes = append(classes, row.reason)
		}
	}
	return reasons, classes
}()

func (r AnswerReason) row() int {
	for i := range answerRows {
		if answerRows[i].reason == r {
			return i
		}
	}
	return -1
}

// Words says in a few words what the reason means.
func (r AnswerReason) Words() string {
	if i := r.row(); i >= 0 {
		return answerRows[i].words
	}
	return ""
}

// Evidence returns what an answer with this reason shows of a site's policy.
func (r AnswerReason) Evidence() Evidence {
	if i := r.row(); i >= 0 {
		return answerRows[i].evidence
	}
	return ShowsNothing
}

// IsOutage reports whether some profile treats the origin as unreachable.
func (r AnswerReason) IsOutage() bool {
	i := r.row()
	return i >= 0 && answerRows[i].outage
}
