package change

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// How a host answers an identity, as the columns before and after of kind answer have it:
// a file that means the same to the identity's agent as the host's own answer, or that
// there is none, is [Alike]; of another file, it is what the file does against the host's
// own; else it is the treatment.
const Alike = "alike"

// relations are the words for files that differ in meaning.
var relations = []string{summary.RelationNames[robots.Stricter], summary.RelationNames[robots.Looser],
	summary.RelationNames[robots.Mixed]}

// answerStates are the answers that show how a host answers an identity. An outage does
// not, nor does a file whose meaning is undecided.
var answerStates = slices.Concat([]string{Alike}, relations, []string{
	summary.TreatmentNames[summary.OtherAnswer],
}, turnsAway)

// turnsAway are the answers that turn an identity away for certain.
var turnsAway = []string{summary.TreatmentNames[summary.Challenged], summary.TreatmentNames[summary.RateLimited],
	summary.TreatmentNames[summary.Payment], summary.TreatmentNames[summary.Refused]}

// pagesAway and pageStates are the same of what an identity meets on a page, as the columns
// before and after of kind page have it: its treatment.
var (
	pagesAway = []string{string(consent.PageRefused), string(consent.PageChallenged), string(consent.PageRateLimited),
		string(consent.PagePayment), string(consent.PageRedirectedAway)}
	pageStates = append([]string{string(consent.PageServed), string(consent.PageServedOther)}, pagesAway...)
)

// PageState returns what an identity met on a page, by the column treatment of answers; "" if
// that is not known.
func PageState(treatment string) string {
	if treatment == string(consent.PageNotAsked) {
		return ""
	}
	return treatment
}

// AnswerState returns how a host answered an identity, by the columns treatment and policy
// of answers; "" if that is not known.
func AnswerState(treatment, policy string) string {
	switch treatment {
	case summary.TreatmentNames[summary.Absent]:
		return Alike
	case summary.TreatmentNames[summary.Incomparable]:
		return ""
	case summary.TreatmentNames[summary.Served]:
		switch policy {
		case summary.RelationNames[robots.Equal]:
			return Alike
		case summary.ClassNames[summary.ClassUnknown]:
			return ""
		}
		return policy
	}
	return treatment
}

// IsOtherFile reports whether an answer is a file that is not that of the host's own
// answer.
func IsOtherFile(state string) bool {
	return slices.Contains(relations, state) || state == summary.RelationNames[robots.RelationUndecided]
}

// TurnsAway reports whether an answer, or what a page gave, turns an identity away for certain:
// what looks like an outage may be one.
func TurnsAway(state string) bool {
	return slices.Contains(turnsAway, state) || slices.Contains(pagesAway, state)
}

// IsCertain reports whether a state shows how a host answers an identity, for robots.txt or for
// a page.
func IsCertain(state string) bool {
	return slices.Contains(answerStates, state) || slices.Contains(pageStates, state)
}

// AnswerSeverity rates the change of how a host answers an identity, for robots.txt or for a page.
func AnswerSeverity(before, after string) string {
	closes := after == summary.RelationNames[robots.Stricter] || after == summary.RelationNames[robots.Mixed]
	if IsCertain(before) && IsCertain(after) && (closes || TurnsAway(before) != TurnsAway(after)) {
		return Major
	}
	return Minor
}

// answerUndecided reports whether a change of an answer may be none: one of the two looks
// like an outage, or is a file whose meaning is undecided.
func answerUndecided(row *schema.Change) bool {
	return !IsCertain(schema.OrZero(row.Before)) || !IsCertain(schema.OrZero(row.After))
}

// answerShapes returns the shapes of changes between answers that are certain.
func answerShapes() []Shape { return eachTwo(answerStates, AnswerSeverity) }

// pageShapes does the same for pages.
func pageShapes() []Shape { return eachTwo(pageStates, AnswerSeverity) }
