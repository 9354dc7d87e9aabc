package consent

import "github.com/robocensus/robocensus/robots/usage"

// A Treatment is what an identity met when it asked for a page.
type Treatment string

const (
	PageServed         Treatment = "served"
	PageServedOther    Treatment = "served_other" // a page that differs more from the control's than this does from itself
	PageRefused        Treatment = "refused"      // a 4xx that is none of those below
	PageChallenged     Treatment = "challenge"    // a wall
	PageRateLimited    Treatment = "rate_limited" // a 429
	PagePayment        Treatment = "payment"      // a 402 that names a price or a licence
	PageRedirectedAway Treatment = "redirected_away"
	PageServerError    Treatment = "server_error"
	PageNoAnswer       Treatment = "no_answer"
	PageNotAsked       Treatment = "not_asked"
)

// Treatments lists the treatments.
var Treatments = []Treatment{PageServed, PageServedOther, PageRefused, PageChallenged, PageRateLimited, PagePayment,
	PageRedirectedAway, PageServerError, PageNoAnswer, PageNotAsked}

// TurnsAway reports whether an identity was asked for the page and got none.
func (t Treatment) TurnsAway() bool {
	return t != PageServed && t != PageServedOther && t != PageNotAsked
}

// Why a page was not asked for, and remarks about other treatments.
const (
	WhyDisallowed = string(usage.PageDisallowed)
	WhyUnread     = string(usage.PageUnread)
	WhySpared     = string(usage.PageSpared)
	WhyElsewhere  = string(usage.PageElsewhere)
	WhyOnce       = "once"     // the control was served, and was not when it asked again
	WhyNoPrice    = "no_price" // a 402 that names none: an unpaid account of the host looks the same
)

// TreatmentReasons lists them.
var TreatmentReasons = []string{WhyDisallowed, WhyUnread, WhySpared, WhyElsewhere, WhyOnce, WhyNoPrice}
