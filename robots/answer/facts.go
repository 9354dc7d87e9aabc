package answer

import "time"

// A Hop is one request of a redirect chain and the status of its answer: that
// of HTTP, or the last reply of an FTP server (226 for a transfer, 550 for no
// such file). Status 0 means that no answer came.
type Hop struct {
	URL    string `json:"url" raw:""` // see package fetch for both
	Status int    `json:"status,omitempty"`
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
	// Walled reports whether a wall answered in place of the file.
	Walled bool
	// Site says whether the front page answers.
	Site Site
	// ContentType is that of the last hop, empty without one; nil if the header is not known.
	ContentType *string
	// HasPage reports whether the body of an answer other than 2xx is at hand, and whole.
	HasPage bool
}

// Site says whether the front page of a site answers.
type Site uint8

const (
	SiteUnknown Site = iota // nobody asked for it
	SiteAnswers             // it does, if only that it does not exist
	SiteFails               // with a server error or 429, or not at all
)

// SiteOf returns what the status of a front page shows: 0 for a page that was not asked for.
func SiteOf(status int) Site {
	switch {
	case status == 0:
		return SiteUnknown
	case status < 500 && status != 429:
		return SiteAnswers
	}
	return SiteFails
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
		return ErrorServerError
	case otherStatus:
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
	Undefined        Outcome = "undefined"
)

// Outcomes holds all outcomes.
var Outcomes = [...]Outcome{ConditionalAllow, FullAllow, FullDisallow, Undefined}

// Reason says why an answer has its outcome.
type Reason string

const (
	Success             Reason = "success"
	ClientError         Reason = "client_error"
	Unauthorized        Reason = "unauthorized" // 401, 403 or another 4xx, for a dialect that obeys them
	NotRead             Reason = "not_read"     // by the program for which the profile stands
	ErrorBody           Reason = "error_body"   // the body of an error or redirect, which the program reads
	ServerError         Reason = "server_error"
	MisconfiguredServer Reason = "misconfigured_server"
	RedirectLimit       Reason = "redirect_limit"
	RedirectLoop        Reason = "redirect_loop"
	RedirectInvalid     Reason = "redirect_invalid"
	RedirectUnsupported Reason = "redirect_unsupported"
	RedirectUnresolved  Reason = "redirect_unresolved"
	RevisitUnresolved   Reason = "revisit_unresolved"
	HTMLRedirect        Reason = "html_redirect"
	NetworkFailure      Reason = "network_failure"
	InvalidResponse     Reason = "invalid_response"
	IncompleteBody      Reason = "incomplete_body"
	StaleCopy           Reason = "stale_copy"
	UnreachableTooLong  Reason = "unreachable_too_long"
	AddressBlocked      Reason = "address_blocked"
	NoRoute             Reason = "no_route"

	// Challenged stands for the reason of an answer that a wall gave. No profile gives it: a
	// row keeps the reason of its status. See [Shown].
	Challenged Reason = "challenge"

	// These name an answer that turns a census away, whatever a profile makes of it. No
	// profile gives them either: see [TurnedAway].
	Throttled Reason = "throttled" // 429, or 503 that says when to come again
	Payment   Reason = "payment"   // 402
	Refused   Reason = "refused"   // 401, 403, 451
)

// TurnedAway returns how an answer turns a census away, "" if it does not. Such a site has
// not said that it has no robots.txt, even where a profile reads it so.
func TurnedAway(last Hop, retryAfter bool) Reason {
	if isFTP(last) {
		return ""
	}
	switch last.Status {
	case 429:
		return Throttled
	case 503:
		if retryAfter {
			return Throttled
		}
	case 402:
		return Payment
	case 401, 403, 451:
		return Refused
	}
	return ""
}

// Evidence is what an answer shows of a site's policy.
type Evidence uint8

const (
	ShowsNothing Evidence = iota // of an unknown reason
	ShowsFile
	ShowsErrorBody // which a program takes for a file
	ShowsNoFile
	ShowsDeadRedirect
	NotStored // the capture that would show it
	ServerFails
	NotReached
	BrokenAnswer
	OnlyMemory // an outage, which is judged by earlier answers
	SpecialAddress
	NoRouteHere
	BehindWall // whatever the status says
	TurnsAway  // whatever the profile says
)

// Shown returns the reason that says what an answer shows of its host: its own, or
// [Challenged] where a wall gave it, for then nobody has read the host. It is the one place
// that decides that; whoever asks whether a host was read asks IsCurrent of its evidence.
func Shown(own Reason, walled bool) Reason {
	if walled {
		return Challenged
	}
	return own
}

// IsCurrent reports whether the answer shows what the site's robots.txt says
// now.
func (e Evidence) IsCurrent() bool {
	return e == ShowsFile || e == ShowsErrorBody || e == ShowsNoFile || e == ShowsDeadRedirect
}

// Reasons returns the reasons with this evidence, [Challenged] among them.
func (e Evidence) Reasons() (reasons []Reason) {
	for _, row := range reasonRows {
		if row.evidence == e && row.words != "" {
			reasons = append(reasons, row.reason)
		}
	}
	return reasons
}

// reasonRows is the table of reasons and of classes of [Kind]: what
// follows from one, in any package, follows from its row.
var reasonRows = [...]struct {
	reason   Reason
	words    string // empty for a class that is not a reason
	evidence Evidence
	outage   bool // some profile treats the origin as unreachable
}{
	{Success, "a robots.txt", ShowsFile, false},
	{ClientError, "no robots.txt (4xx)", ShowsNoFile, false},
	{Unauthorized, "closed by a 4xx status", ShowsNoFile, false},
	{NotRead, "an answer that the crawler does not read", ShowsNoFile, false},
	{ErrorBody, "an error whose body is read as a robots.txt", ShowsErrorBody, false},
	{ServerError, "server error", ServerFails, true},
	{MisconfiguredServer, "no robots.txt (5xx for any missing page)", ShowsNoFile, true},
	{RedirectLimit, "too many redirects", ShowsDeadRedirect, false},
	{RedirectLoop, "redirects in a loop", ShowsDeadRedirect, false},
	{RedirectInvalid, "redirect without a usable location", ShowsDeadRedirect, false},
	{RedirectUnsupported, "redirect to what cannot be crawled", ShowsDeadRedirect, false},
	{RedirectUnresolved, "redirect that was not followed", NotStored, false},
	{RevisitUnresolved, "revisit record without its body", NotStored, false},
	{HTMLRedirect, "redirect inside an HTML page", ShowsDeadRedirect, false},
	{NetworkFailure, "could not be reached", NotReached, true},
	{InvalidResponse, "invalid answer", BrokenAnswer, true},
	{IncompleteBody, "answer that broke off", BrokenAnswer, true},
	{StaleCopy, "unreachable; an earlier copy is judged", OnlyMemory, true},
	{UnreachableTooLong, "unreachable for so long that a later rule of the profile holds", OnlyMemory, true},
	{AddressBlocked, "not asked: special address", SpecialAddress, false},
	{NoRoute, "not asked: no route from here", NoRouteHere, false},
	{Challenged, "a wall in place of the file", BehindWall, false},
	{Throttled, "throttled (429, or 503 with Retry-After)", TurnsAway, false},
	{Payment, "payment demanded (402)", TurnsAway, false},
	{Refused, "refused (401, 403, 451)", TurnsAway, false},
	{tooManyRequests, "", ShowsNothing, true},
	{otherStatus, "", ShowsNothing, true},
	{canceled, "", ShowsNothing, false},
}

// Reasons holds all reasons, and AnswerClasses all classes of
// [AnswerKind]. A reason that needs memory is not a class.
var Reasons, Classes = func() (reasons, classes []Reason) {
	for _, row := range reasonRows {
		if row.evidence == BehindWall || row.evidence == TurnsAway {
			continue // no profile gives it, and it may have any class
		}
		if row.words != "" {
			reasons = append(reasons, row.reason)
		}
		if row.evidence != OnlyMemory {
			classes = append(classes, row.reason)
		}
	}
	return reasons, classes
}()

func (r Reason) row() int {
	for i := range reasonRows {
		if reasonRows[i].reason == r {
			return i
		}
	}
	return -1
}

// Words says in a few words what the reason means.
func (r Reason) Words() string {
	if i := r.row(); i >= 0 {
		return reasonRows[i].words
	}
	return ""
}

// IsClass reports whether the reason says all that the class of an error says.
func (r Reason) IsClass(c ErrorClass) bool {
	if c.Answer() != r {
		return false
	}
	if c.Words() == r.Words() {
		return true
	}
	for i := range errorRows {
		if errorRows[i].class != c && errorRows[i].answer == r {
			return false
		}
	}
	return true
}

// Evidence returns what an answer with this reason shows of a site's policy.
func (r Reason) Evidence() Evidence {
	if i := r.row(); i >= 0 {
		return reasonRows[i].evidence
	}
	return ShowsNothing
}

// IsOutage reports whether some profile treats the origin as unreachable.
func (r Reason) IsOutage() bool {
	i := r.row()
	return i >= 0 && reasonRows[i].outage
}
