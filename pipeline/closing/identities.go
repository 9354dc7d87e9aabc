package closing

import (
	"slices"

	"github.com/robocensus/robocensus/sink/schema"
)

// IdentityCounts counts hosts by how they answer an identity now, and did not before.
type IdentityCounts struct {
	TurnedAway int64 `json:"turned_away"` // refused, or met with a wall
	LetIn      int64 `json:"let_in"`      // was turned away, and is not
	Otherwise  int64 `json:"otherwise"`   // gets a file of another meaning against the host's own, or is turned away in another way
	Undecided  int64 `json:"undecided"`   // one of both answers looks like an outage, or its meaning is not known
}

// away and unclear are values of the columns before and after of kind answer: of hosts that
// turn an identity away for certain, and of those whose answer does not show it.
var (
	away    = []string{"challenged", "refused"}
	unclear = []string{"failing", "unreached", "undecided"}
)

// addIdentity counts a row of kind answer. A host has one row for an identity.
func (c *Counter) addIdentity(row *schema.Change) {
	n := c.Identities[*row.Identity]
	if n == nil {
		n = new(IdentityCounts)
		c.Identities[*row.Identity] = n
	}
	before, after := schema.OrZero(row.Before), schema.OrZero(row.After)
	switch was, is := slices.Contains(away, before), slices.Contains(away, after); {
	case slices.Contains(unclear, before), slices.Contains(unclear, after):
		n.Undecided++
	case is && !was:
		n.TurnedAway++
	case was && !is:
		n.LetIn++
	default:
		n.Otherwise++
	}
}
