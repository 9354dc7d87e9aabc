package change

import (
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/summary"
)

// documentStates are the outcomes that show whether a host has a document. An outage shows
// nothing, nor does a robots.txt that closes it to the census.
var documentStates = []string{string(consent.Present), string(consent.Absent), string(consent.Invalid),
	string(consent.Refused)}

// DocumentState returns what the outcome of a document shows, as the columns before and after of
// kind document have it, "" for nothing: a page that stands for everything is no document.
func DocumentState(outcome string) string {
	switch consent.Outcome(outcome) {
	case consent.Soft404:
		return string(consent.Absent)
	case consent.Unreachable, consent.NotAsked, consent.Uncaptured:
		return ""
	}
	return outcome
}

// DocumentSeverity rates the change of whether a host has a document. Another text changes
// no more than what it states.
func DocumentSeverity(after string) string {
	if after == summary.OtherText {
		return Cosmetic
	}
	return Minor
}

func documentShapes() []Shape {
	return append(eachTwo(documentStates, func(_, after string) string { return DocumentSeverity(after) }),
		Shape{Severity: DocumentSeverity(summary.OtherText), After: Word(summary.OtherText)})
}

// priced is what a licence states that lets content be used for money.
var priced = usage.Priced.String()
