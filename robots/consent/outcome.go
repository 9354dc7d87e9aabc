package consent

import "net/http"

// An Outcome says whether a document is there.
type Outcome string

const (
	Present Outcome = "present" // a 200 that has the shape of its kind, and is not the site's page for anything
	// 404, 410, another answer that is no document, or a redirect that its kind does not allow
	Absent      Outcome = "absent"
	Soft404     Outcome = "soft_404"    // a 200, and the same page as at a path that cannot exist
	Invalid     Outcome = "invalid"     // a 200 of another shape
	Refused     Outcome = "refused"     // another 4xx, or a wall
	Unreachable Outcome = "unreachable" // a 5xx, or no answer
	// robots.txt shuts the census out of the path, or nobody knows whether it does, or the host names too many
	NotAsked   Outcome = "not_asked"
	Uncaptured Outcome = "uncaptured" // the archives hold no answer
)

// Outcomes lists the outcomes.
var Outcomes = []Outcome{Present, Absent, Soft404, Invalid, Refused, Unreachable, NotAsked, Uncaptured}

// OutcomeOf returns what a status that is no 200 means for a document. status is 0 for no
// answer. It reports false for a 200, whose body decides.
func OutcomeOf(status int) (o Outcome, decided bool) {
	switch {
	case status == http.StatusOK:
		return "", false
	case status == 0, status >= 500:
		return Unreachable, true
	case status == http.StatusNotFound, status == http.StatusGone, status < 400:
		return Absent, true
	}
	return Refused, true
}
