package change

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Severities of changes. Critical shuts an agent out. Major closes a part, opens
// what was shut, or changes what content may be used for. Minor is any other
// change of meaning. Cosmetic changes no meaning.
const (
	Critical = "critical"
	Major    = "major"
	Minor    = "minor"
	Cosmetic = "cosmetic"
)

// Severities holds the values of the column severity, most severe first.
var Severities = []string{Critical, Major, Minor, Cosmetic}

// A kind of change without a function here is always minor.

// ClassSeverity rates the change of an agent's class.
func ClassSeverity(before, after string) string {
	switch {
	case after == summary.ClassNames[robots.DisallowAll]:
		return Critical
	case before == summary.ClassNames[robots.DisallowAll], before == summary.ClassNames[robots.AllowAll]:
		return Major
	}
	return Minor // partial to allow_all
}

// VerdictSeverity rates the change of a verdict. If a path has a row although
// the agent's class changed, the row of that change outweighs it.
func VerdictSeverity(after robots.Value, classChanged, ownURL bool) string {
	if after == robots.Disallowed && (ownURL || !classChanged) {
		return Major
	}
	return Minor
}

// RulesSeverity rates a change of meaning. closes reports whether its path shows
// that something was closed.
func RulesSeverity(closes bool) string {
	if closes {
		return Major
	}
	return Minor
}

// PreferenceSeverity rates the change of what a file or document states about a use, "" for
// nothing. That some paths are refused or priced, or no longer are, changes what content may be
// used for.
func PreferenceSeverity(before, after string) string {
	refuses := func(stance string) bool {
		return stance == robots.StanceDisallow.String() || stance == robots.StancePartial.String() || stance == priced
	}
	if after != RulesUndecided && (refuses(before) || refuses(after)) {
		return Major
	}
	return Minor
}

// OutcomeSeverity rates the change of what an answer means as a whole.
func OutcomeSeverity(before, after string) string {
	switch {
	case after == string(answer.FullDisallow):
		return Critical
	case before == string(answer.FullAllow) && after == string(answer.ConditionalAllow):
		return Minor
	}
	return Major
}

// signalSeverities rates the change of a signal by its field. Major is what content may
// be used for.
var signalSeverities = map[string]string{
	"content-signal": Major, "content-usage": Major, "license": Major,
	"request-rate": Minor, "visit-time": Minor, "clean-param": Minor, "host": Minor, "noindex": Minor,
}

// SignalSeverity rates the change of a signal. A field of another version is minor.
func SignalSeverity(field string) string { return cmp.Or(signalSeverities[field], Minor) }

// RedirectSeverity rates the change of the URL that robots.txt was found at.
func RedirectSeverity(before, after string) string {
	if siteOf(before) != siteOf(after) {
		return Major // another site now sets this one's policy
	}
	return Minor
}

// siteOf returns the authority of a URL without a leading www.
func siteOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "/")
	return strings.TrimPrefix(rest, "www.")
}

// ReachabilitySeverity rates a change between two answers, at least one of which does
// not show the host's policy, by their reasons.
func ReachabilitySeverity(before, after string) string {
	if Unreachable(after) && !Unreachable(before) {
		return Major
	}
	return Minor
}

// TextSeverity rates a change of text alone. proven reports whether the
// comparison has shown that no verdict changed.
func TextSeverity(proven bool) string {
	if proven {
		return Cosmetic
	}
	return Minor
}

// Unreachable reports whether an answer with a reason does not show what a host's
// robots.txt says now. Like all reasons, it depends on the profile.
func Unreachable(reason string) bool {
	return !answer.Reason(reason).Evidence().IsCurrent()
}

// UnreachableSince begins the text of an outage that followed another one.
const UnreachableSince = "unreachable since "

func Number(v float64) *string { return new(strconv.FormatFloat(v, 'f', -1, 64)) }

// RulesUndecided is the value of the column after if the meaning of rules, or of statements
// about use, could not be compared.
const RulesUndecided = "undecided"

// Undecided reports whether a row only says that something could not be compared: the
// meaning of rules, of statements about use, or of a file for an identity, or whether an
// identity is turned away or met an outage, also on a page. A row of kind rules with a URL shows a
// difference all the same.
func Undecided(row *schema.Change) bool {
	if row.Kind == "answer" || row.Kind == "page" {
		return answerUndecided(row)
	}
	return (row.Kind == "rules" || row.Kind == "preference") && row.After != nil && *row.After == RulesUndecided
}

// RulesAfter holds the values of the column after for a change of kind rules, by the
// relation of the later rules to the earlier ones.
var RulesAfter = map[robots.Relation]string{robots.Stricter: "closes", robots.Looser: "opens", robots.Mixed: "both",
	robots.RelationUndecided: RulesUndecided}
