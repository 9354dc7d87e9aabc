package summary

import (
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
)

// A Meaning is what a row of changes may say: a column of a view of single changes, and a
// counter of hosts.
type Meaning struct {
	Name string
	Is   func(c *schema.Change) bool
}

// Turns is what a change says of an identity, for robots.txt or for a page.
var Turns = []Meaning{{"turned_away", turned(NewlyAway)}, {"let_in", turned(NewlyLetIn)},
	{"otherwise", turned(Otherwise)}, {"undecided", turned(TurnUndecided)}}

func turned(turn Turn) func(*schema.Change) bool {
	return func(c *schema.Change) bool { return TurnOf(schema.OrZero(c.Before), schema.OrZero(c.After)) == turn }
}

// OtherText is the value of the column after of a document that is there before and after,
// with other words. What it states has rows of kind preference.
const OtherText = "other_text"

// Comings is what a change says of a document of consent: otherwise, it is not there for
// another reason than before.
var Comings = []Meaning{{"came", is(there)},
	{"gone", func(c *schema.Change) bool { return was(there)(c) && !is(there)(c) && !is(OtherText)(c) }},
	{"reworded", is(OtherText)},
	{"otherwise", func(c *schema.Change) bool { return !was(there)(c) && !is(there)(c) }}}

const there = string(consent.Present)

// Statements is what a change of a preference says of a use.
var Statements = []Meaning{{"refuses", is("disallow")}, {"permits", is("allow")}, {"prices", is("priced")},
	{"depends", is("partial")}, {"ends", func(c *schema.Change) bool { return c.After == nil }},
	{"undecided", is("undecided")}}

func is(after string) func(*schema.Change) bool {
	return func(c *schema.Change) bool { return schema.OrZero(c.After) == after }
}

func was(before string) func(*schema.Change) bool {
	return func(c *schema.Change) bool { return schema.OrZero(c.Before) == before }
}
