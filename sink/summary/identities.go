package summary

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
)

// How a host answers an identity, as the columns before and after of kind answer have it:
// a file that means the same to the identity's agent as the host's own answer, or that
// there is none, is [Alike]; of another file, it is what the file does against the host's
// own; else it is the treatment.
const Alike = "alike"

// otherFiles are the words for files that differ in meaning.
var otherFiles = []string{RelationNames[robots.Stricter], RelationNames[robots.Looser], RelationNames[robots.Mixed]}

// AnswerStates are the answers that show how a host answers an identity. An outage does
// not, nor does a file whose meaning is undecided.
var AnswerStates = slices.Concat([]string{Alike}, otherFiles, []string{TreatmentNames[OtherAnswer]}, answersAway)

// answersAway are the answers that turn an identity away for certain.
var answersAway = []string{TreatmentNames[Challenged], TreatmentNames[RateLimited], TreatmentNames[Payment],
	TreatmentNames[Refused]}

// PageStates and pagesAway are the same of what an identity meets on a page, as the columns
// before and after of kind page have it: its treatment.
var (
	PageStates = append([]string{string(consent.PageServed), string(consent.PageServedOther)}, pagesAway...)
	pagesAway  = []string{string(consent.PageRefused), string(consent.PageChallenged), string(consent.PageRateLimited),
		string(consent.PagePayment), string(consent.PageRedirectedAway)}
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
	case TreatmentNames[Absent]:
		return Alike
	case TreatmentNames[Incomparable]:
		return ""
	case TreatmentNames[Served]:
		switch policy {
		case RelationNames[robots.Equal]:
			return Alike
		case ClassNames[ClassUnknown]:
			return ""
		}
		return policy
	}
	return treatment
}

// IsOtherFile reports whether an answer is a file that is not that of the host's own
// answer.
func IsOtherFile(state string) bool {
	return slices.Contains(otherFiles, state) || state == RelationNames[robots.RelationUndecided]
}

// turnsAway reports whether an answer, or what a page gave, turns an identity away for certain:
// what looks like an outage may be one.
func turnsAway(state string) bool {
	return slices.Contains(answersAway, state) || slices.Contains(pagesAway, state)
}

// IsCertain reports whether a state shows how a host answers an identity, for robots.txt or for
// a page.
func IsCertain(state string) bool {
	return slices.Contains(AnswerStates, state) || slices.Contains(PageStates, state)
}

// A Turn is what the change from one state to another means for an identity.
type Turn uint8

const (
	TurnUndecided Turn = iota // one of both looks like an outage, or its meaning is not known
	NewlyAway
	NewlyLetIn
	Otherwise // another file, or turned away in another way
)

// TurnOf returns what a change means.
func TurnOf(before, after string) Turn {
	switch was, is := turnsAway(before), turnsAway(after); {
	case !IsCertain(before), !IsCertain(after):
		return TurnUndecided
	case is && !was:
		return NewlyAway
	case was && !is:
		return NewlyLetIn
	}
	return Otherwise
}
