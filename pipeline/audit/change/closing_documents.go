package change

import (
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
)

// DocumentCounts counts hosts by whether they have a document of consent now, and did before.
type DocumentCounts struct {
	Came      int64 `json:"came"`
	Gone      int64 `json:"gone"`
	Reworded  int64 `json:"reworded"`  // there before and now, with another text
	Otherwise int64 `json:"otherwise"` // not there, for another reason than before
}

// add counts a row of kind document. A host has one for a document.
func (n *DocumentCounts) add(row *schema.Change) {
	const there = string(consent.Present)
	switch before, after := schema.OrZero(row.Before), schema.OrZero(row.After); {
	case after == OtherText:
		n.Reworded++
	case after == there:
		n.Came++
	case before == there:
		n.Gone++
	default:
		n.Otherwise++
	}
}

// OfDocument identifies what a document states about a use.
type OfDocument struct {
	Document string `json:"document"`
	Use      string `json:"use"`
}

// StatedCounts counts hosts by what a document states about a use and did not state before.
type StatedCounts struct {
	Refuses   int64 `json:"refuses"`   // everywhere, to everyone
	Permits   int64 `json:"permits"`   // likewise
	Prices    int64 `json:"prices"`    // likewise
	Depends   int64 `json:"depends"`   // on the path, or on who asks
	Withdraws int64 `json:"ends"`      // states nothing any more
	Undecided int64 `json:"undecided"` // it depended and still does, by other statements
}

// add counts a row of kind preference. A host has one for a document and a use.
func (n *StatedCounts) add(row *schema.Change) {
	switch schema.OrZero(row.After) {
	case "disallow":
		n.Refuses++
	case "allow":
		n.Permits++
	case "priced":
		n.Prices++
	case "partial":
		n.Depends++
	case "":
		n.Withdraws++
	default:
		n.Undecided++
	}
}
