package change

import (
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// AnswerSeverity rates the change of how a host answers an identity, for robots.txt or for a page.
func AnswerSeverity(before, after string) string {
	closes := after == summary.RelationNames[robots.Stricter] || after == summary.RelationNames[robots.Mixed]
	turn := summary.TurnOf(before, after)
	if turn == summary.NewlyAway || turn == summary.NewlyLetIn || turn == summary.Otherwise && closes {
		return Major
	}
	return Minor
}

// answerUndecided reports whether a change of an answer may be none: one of the two looks
// like an outage, or is a file whose meaning is undecided.
func answerUndecided(row *schema.Change) bool {
	return summary.TurnOf(schema.OrZero(row.Before), schema.OrZero(row.After)) == summary.TurnUndecided
}

// answerShapes returns the shapes of changes between answers that are certain.
func answerShapes() []Shape { return eachTwo(summary.AnswerStates, AnswerSeverity) }

// pageShapes does the same for pages.
func pageShapes() []Shape { return eachTwo(summary.PageStates, AnswerSeverity) }
