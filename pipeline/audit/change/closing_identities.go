package change

import (
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// IdentityCounts counts hosts by how they answer an identity now, and did not before, for robots.txt
// or for a page.
type IdentityCounts struct {
	TurnedAway int64 `json:"turned_away"` // refused, met with a wall, and the like
	LetIn      int64 `json:"let_in"`      // was turned away, and is not
	// what it is served compares otherwise with the host's own answer, or it is turned away in another way
	Otherwise int64 `json:"otherwise"`
	Undecided int64 `json:"undecided"` // one of both answers looks like an outage, or its meaning is not known
}

// add counts a row of kind answer or page. A host has one row of each for an identity.
func (n *IdentityCounts) add(row *schema.Change) {
	switch summary.TurnOf(schema.OrZero(row.Before), schema.OrZero(row.After)) {
	case summary.TurnUndecided:
		n.Undecided++
	case summary.NewlyAway:
		n.TurnedAway++
	case summary.NewlyLetIn:
		n.LetIn++
	default:
		n.Otherwise++
	}
}
