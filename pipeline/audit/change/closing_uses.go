package change

import (
	"github.com/robocensus/robocensus/sink/schema"
)

// OfUse identifies what hosts state about a use under a profile.
type OfUse struct {
	Use     string `json:"use"`
	Profile string `json:"profile"`
}

// UseCounts counts hosts by what their files state to some agent about a use and did not
// state before. A host may state different things to different agents.
type UseCounts struct {
	Refuses   int64 `json:"refuses"`     // everywhere
	Permits   int64 `json:"permits"`     // everywhere
	Depends   int64 `json:"depends"`     // on the path
	Withdraws int64 `json:"ends"`        // states nothing any more
	Undecided int64 `json:"undecided"`   // on the path before and after; nothing is proven
	Template  int64 `json:"by_template"` // hosts that state it in the words of templates alone
}

// useMove is what happened on the current host.
type useMove struct {
	refuses, permits, depends, withdraws, undecided bool
	own                                             bool // to some agent in the file's own words
}

// addUse adds a row of kind preference.
func (c *Counter) addUse(row *schema.Change) {
	use := OfUse{*row.Use, *row.Profile}
	m := c.uses[use]
	switch schema.OrZero(row.After) {
	case "disallow":
		m.refuses = true
	case "allow":
		m.permits = true
	case "partial":
		m.depends = true
	case "":
		m.withdraws = true
	default:
		m.undecided = true
	}
	m.own = m.own || row.Template == nil
	c.uses[use] = m
}

// endOfUses counts the current host.
func (c *Counter) endOfUses() {
	for use, m := range c.uses {
		n := moveOf(c.Uses, use)
		for _, x := range []struct {
			is bool
			n  *int64
		}{{m.refuses, &n.Refuses}, {m.permits, &n.Permits}, {m.depends, &n.Depends}, {m.withdraws, &n.Withdraws},
			{m.undecided, &n.Undecided}, {!m.own, &n.Template}} {
			if x.is {
				*x.n++
			}
		}
	}
	clear(c.uses)
}
