package change

import (
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// say adds a row to counters of what it may mean; nil is none.
func say(row *schema.Change, means []summary.Meaning, counts ...*int64) {
	for i, n := range counts {
		if n != nil && means[i].Is(row) {
			*n++
		}
	}
}

// IdentityCounts counts hosts by how they answer an identity now, and did not before, for robots.txt
// or for a page. A host has one row of each for an identity.
type IdentityCounts struct {
	TurnedAway int64 `json:"turned_away"` // refused, met with a wall, and the like
	LetIn      int64 `json:"let_in"`      // was turned away, and is not
	// what it is served compares otherwise with the host's own answer, or it is turned away in another way
	Otherwise int64 `json:"otherwise"`
	Undecided int64 `json:"undecided"` // one of both answers looks like an outage, or its meaning is not known
}

func (n *IdentityCounts) add(row *schema.Change) {
	say(row, summary.Turns, &n.TurnedAway, &n.LetIn, &n.Otherwise, &n.Undecided)
}

// DocumentCounts counts hosts by whether they have a document of consent now, and did before. A
// host has one row for a document.
type DocumentCounts struct {
	Came      int64 `json:"came"`
	Gone      int64 `json:"gone"`
	Reworded  int64 `json:"reworded"`  // there before and now, with another text
	Otherwise int64 `json:"otherwise"` // not there, for another reason than before
}

func (n *DocumentCounts) add(row *schema.Change) {
	say(row, summary.Comings, &n.Came, &n.Gone, &n.Reworded, &n.Otherwise)
}

// OfDocument identifies what a document states about a use.
type OfDocument struct {
	Document string `json:"document"`
	Use      string `json:"use"`
}

// StatedCounts counts hosts by what a document states about a use and did not state before. A host
// has one row for a document and a use.
type StatedCounts struct {
	Refuses   int64 `json:"refuses"`   // everywhere, to everyone
	Permits   int64 `json:"permits"`   // likewise
	Prices    int64 `json:"prices"`    // likewise
	Depends   int64 `json:"depends"`   // on the path, or on who asks
	Withdraws int64 `json:"ends"`      // states nothing any more
	Undecided int64 `json:"undecided"` // it depended and still does, by other statements
}

func (n *StatedCounts) add(row *schema.Change) {
	say(row, summary.Statements, &n.Refuses, &n.Permits, &n.Prices, &n.Depends, &n.Withdraws, &n.Undecided)
}
