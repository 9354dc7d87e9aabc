package change

import (
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
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

// useMove is what happened on the current host: in each counter, rows.
type useMove struct {
	UseCounts
	own bool // to some agent in the file's own words
}

// addUse adds a row of kind preference.
func (c *Counter) addUse(row *schema.Change) {
	m := moveOf(c.uses, OfUse{*row.Use, *row.Profile})
	say(row, summary.Statements, &m.Refuses, &m.Permits, nil, &m.Depends, &m.Withdraws, &m.Undecided)
	m.own = m.own || row.Template == nil
}

// endOfUses counts the current host.
func (c *Counter) endOfUses() {
	for use, m := range c.uses {
		n := moveOf(c.Uses, use)
		n.Refuses += min(m.Refuses, 1)
		n.Permits += min(m.Permits, 1)
		n.Depends += min(m.Depends, 1)
		n.Withdraws += min(m.Withdraws, 1)
		n.Undecided += min(m.Undecided, 1)
		if !m.own {
			n.Template++
		}
	}
	clear(c.uses)
}
