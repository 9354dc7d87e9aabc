package change

import (
	"iter"

	"github.com/robocensus/robocensus/sink/schema"
)

// Move is what happened to the policy of an agent.
type Move struct {
	Closes    bool // a path that was open
	Opens     bool // a path that was closed
	Undecided bool // whether it does either
	ShutOut   bool // closes the last open path
	LetsIn    bool // opens the first path
}

// MoveOf returns what a row of changes says of a policy. ok is false for a row that is not
// about the policy of an agent of the registry on all paths.
func MoveOf(row *schema.Change) (m Move, ok bool) {
	if row.Agent == nil || row.Category == nil || row.Profile == nil || row.After == nil {
		return m, false
	}
	switch row.Kind {
	case "rules":
		switch *row.After {
		case "closes":
			m.Closes = true
		case "opens":
			m.Opens = true
		case "both":
			m.Closes, m.Opens = true, true
		default:
			m.Undecided = true
		}
		return m, true
	case "policy_class":
		if row.Before == nil {
			return m, false
		}
		before, after := openness[*row.Before], openness[*row.After]
		if before == 0 || after == 0 {
			return m, false
		}
		return Move{Closes: after < before, Opens: after > before, ShutOut: after < before && after == shut,
			LetsIn: after > before && before == shut}, true
	}
	return m, false
}

// openness orders the classes of policies. A class that is not known has none.
var openness = map[string]int{"disallow_all": shut, "partial": shut + 1, "allow_all": shut + 2}

const shut = 1

// Counts counts hosts. A host that closed a path to an agent and opened another counts
// as closed, as opened and as both.
type Counts struct {
	Closed    int64 `json:"closed"`    // on some path
	ShutOut   int64 `json:"shut_out"`  // of these, those that shut an agent out entirely
	Opened    int64 `json:"opened"`    // on some path
	LetIn     int64 `json:"let_in"`    // of these, those that let in an agent that was shut out
	Both      int64 `json:"both"`      // closed and opened
	Undecided int64 `json:"undecided"` // the rules differ, and neither is proven
}

// counts are the counts by their names in JSON, and when a move adds to them.
var counts = []struct {
	name string
	of   func(*Counts) *int64
	has  func(Move) bool
}{
	{"closed", func(c *Counts) *int64 { return &c.Closed }, func(m Move) bool { return m.Closes }},
	{"shut_out", func(c *Counts) *int64 { return &c.ShutOut }, func(m Move) bool { return m.ShutOut }},
	{"opened", func(c *Counts) *int64 { return &c.Opened }, func(m Move) bool { return m.Opens }},
	{"let_in", func(c *Counts) *int64 { return &c.LetIn }, func(m Move) bool { return m.LetsIn }},
	{"both", func(c *Counts) *int64 { return &c.Both }, func(m Move) bool { return m.Closes && m.Opens }},
	{"undecided", func(c *Counts) *int64 { return &c.Undecided }, func(m Move) bool {
		return m.Undecided && !m.Closes &&
			!m.Opens
	}},
}

func (c *Counts) add(m Move) {
	for _, one := range counts {
		if one.has(m) {
			*one.of(c)++
		}
	}
}

// Each yields the counts with their names in JSON.
func (c *Counts) Each() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, one := range counts {
			if !yield(one.name, *one.of(c)) {
				return
			}
		}
	}
}
