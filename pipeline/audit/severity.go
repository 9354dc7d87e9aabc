package audit

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// Severities of changes. Critical shuts an agent out. Major closes a part, opens
// what was shut, or changes what content may be used for. Minor is any other
// change of meaning. Cosmetic changes no meaning.
const (
	critical = "critical"
	major    = "major"
	minor    = "minor"
	cosmetic = "cosmetic"
)

// Severities holds the values of the column severity, gravest first.
var Severities = []string{critical, major, minor, cosmetic}

// A kind of change without a function here is always minor.

// classSeverity rates the change of an agent's class.
func classSeverity(before, after string) string {
	switch {
	case after == summary.ClassNames[robots.DisallowAll]:
		return critical
	case before == summary.ClassNames[robots.DisallowAll], before == summary.ClassNames[robots.AllowAll]:
		return major
	}
	return minor // partial to allow_all
}

// verdictSeverity rates the change of a verdict. If a path has a row although
// the agent's class changed, the row of that change outweighs it.
func verdictSeverity(after robots.Value, classChanged, ownURL bool) string {
	if after == robots.Disallowed && (ownURL || !classChanged) {
		return major
	}
	return minor
}

// rulesSeverity rates a change of meaning. closes reports whether its path shows
// that something was closed.
func rulesSeverity(closes bool) string {
	if closes {
		return major
	}
	return minor
}

// outcomeSeverity rates the change of what an answer means as a whole.
func outcomeSeverity(before, after string) string {
	switch {
	case after == string(robots.FullDisallow):
		return critical
	case before == string(robots.FullAllow) && after == string(robots.ConditionalAllow):
		return minor
	}
	return major
}

// signalSeverities rates the change of a signal by its field. Major is what content may
// be used for.
var signalSeverities = map[string]string{
	"content-signal": major, "content-usage": major, "license": major,
	"request-rate": minor, "visit-time": minor, "clean-param": minor, "host": minor, "noindex": minor,
}

// signalSeverity rates the change of a signal. A field of another version is minor.
func signalSeverity(field string) string { return cmp.Or(signalSeverities[field], minor) }

// redirectSeverity rates the change of the URL that robots.txt was found at.
func redirectSeverity(before, after string) string {
	if siteOf(before) != siteOf(after) {
		return major // another site now sets this one's policy
	}
	return minor
}

// siteOf returns the authority of a URL without a leading www.
func siteOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "/")
	return strings.TrimPrefix(rest, "www.")
}

// reachabilitySeverity rates a change between two answers, at least one of which does
// not show the host's policy, by their reasons.
func reachabilitySeverity(before, after string) string {
	if unreachable[after] && !unreachable[before] {
		return major
	}
	return minor
}

// textSeverity rates a change of text alone. proven reports whether the
// comparison has shown that no verdict changed.
func textSeverity(proven bool) string {
	if proven {
		return cosmetic
	}
	return minor
}

// unreachable holds all reasons of answers, and whether they do not show what a host's
// robots.txt says now. Like all reasons, they depend on the profile.
var unreachable = map[string]bool{
	"success": false, "client_error": false, "misconfigured_server": false, "html_redirect": false,
	"redirect_limit": false, "redirect_loop": false, "redirect_invalid": false, "redirect_unsupported": false,
	"server_error": true, "network_failure": true, "invalid_response": true, "incomplete_body": true,
	"unreachable_too_long": true, "stale_copy": true, "address_blocked": true, "no_route": true,
	"redirect_unresolved": true, "revisit_unresolved": true,
}

// unreachableSince begins the text of an outage that followed another one.
const unreachableSince = "unreachable since "

func number(v float64) *string { return sink.Some(strconv.FormatFloat(v, 'f', -1, 64)) }

// rulesUndecided is the value of the column after if the meaning of rules could not be
// compared.
const rulesUndecided = "undecided"

// rulesAfter holds the values of the column after for a change of kind rules, by the
// relation of the later rules to the earlier ones.
var rulesAfter = map[robots.Relation]string{robots.Stricter: "closes", robots.Looser: "opens", robots.Mixed: "both", robots.RelationUndecided: rulesUndecided}
