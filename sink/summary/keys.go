package summary

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// The keys of counters about what files state: made of a file when it is counted, and of
// the rows of its tables by whoever counts hosts again.

// Other is the key of everything outside a closed set.
const Other = "other"

// SignalKey returns the key of the metric signal: the field, in lower case, and for the
// two fields with a vocabulary also the label and what it says, as a file writes it.
func SignalKey(field, key, value string, isKnown func(usage.Label) bool) string {
	label, yes, no := usage.Label{Mechanism: usage.ContentUsage, Name: key}, "y", "n"
	switch field {
	case usage.ContentUsage.String():
		value, _, _ = strings.Cut(value, ";") // parameters do not count
	case usage.ContentSignal.String():
		label = usage.Label{Mechanism: usage.ContentSignal, Name: strings.ToLower(key)}
		value, yes, no = strings.ToLower(value), "yes", "no"
	default:
		return field
	}
	if !isKnown(label) {
		return field + " " + Other
	}
	if value != yes && value != no {
		value = Other
	}
	return field + " " + label.Name + "=" + value
}

// Orphan is the scope of a statement that no agent reads.
const Orphan = "orphan"

// PreferenceKey returns the key of the metric preference, "" for a row that states
// nothing, or is of a page or another document and not of the file.
func PreferenceKey(p *schema.Preference) string {
	if p.Scope == Orphan || !slices.Contains(ofFile, p.Mechanism) || p.Use == nil || p.Preference == nil {
		return ""
	}
	return p.Mechanism + " " + *p.Use + " " + *p.Preference
}

// ofFile are the mechanisms of robots.txt that state preferences.
var ofFile = []string{usage.ContentUsage.String(), usage.ContentSignal.String(), usage.PolicyToken.String()}

// Refusals are the ways in which a host refuses the training of models: the keys of the
// metric refusal, but for those below, in the order in which those of refusal_set name them.
var Refusals = [...]string{"crawler", usage.PolicyToken.String(), usage.ContentSignal.String(),
	usage.ContentUsage.String()}

// Further keys of the metric refusal: hosts that refuse in any way, and hosts that refuse in
// none and name a licence, whose terms decide.
const (
	AnyRefusal = "any"
	ByTerms    = "terms"
)

// AITraining is the category of the crawlers that fetch to train models.
const AITraining = "ai-training"

// RefusalByPolicy returns the way of a host that shuts out an agent, -1 for none: a policy
// token for the training of models, or a crawler of its category. A group for * closes the
// site to crawlers, but states nothing for a token, unless the registry says that the token
// falls back to it; named reports whether the group is the agent's own.
func RefusalByPolicy(a *schema.Agent, isToken, named bool) int {
	switch {
	case isToken && slices.Contains(a.Uses, usage.AITrain.String()) && (named || slices.Contains(a.FallsBackTo, "*")):
		return 1
	case !isToken && a.Category == AITraining:
		return 0
	}
	return -1
}

// RefusalByStatement returns the way of a statement that refuses the training of models,
// -1 for another one.
func RefusalByStatement(p *schema.Preference) int {
	way := slices.Index(Refusals[2:], p.Mechanism) + 2
	if way < 2 || p.Scope == Orphan || p.Use == nil || *p.Use != usage.AITrain.String() ||
		p.Preference == nil || *p.Preference != usage.Refuses.String() {
		return -1
	}
	return way
}

// NamesLicence reports whether a statement names a licence. The line refuses nothing: the
// terms of the licence permit or refuse.
func NamesLicence(p *schema.Preference) bool {
	return p.Mechanism == usage.License.String() && p.Remark == nil
}
