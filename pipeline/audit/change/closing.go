package change

import (
	"iter"

	"github.com/robocensus/robocensus/sink/summary"
)

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
	has  func(summary.Move) bool
}{
	{"closed", func(c *Counts) *int64 { return &c.Closed }, func(m summary.Move) bool { return m.Closes }},
	{"shut_out", func(c *Counts) *int64 { return &c.ShutOut }, func(m summary.Move) bool { return m.ShutOut }},
	{"opened", func(c *Counts) *int64 { return &c.Opened }, func(m summary.Move) bool { return m.Opens }},
	{"let_in", func(c *Counts) *int64 { return &c.LetIn }, func(m summary.Move) bool { return m.LetsIn }},
	{"both", func(c *Counts) *int64 { return &c.Both }, func(m summary.Move) bool { return m.Closes && m.Opens }},
	{"undecided", func(c *Counts) *int64 { return &c.Undecided },
		func(m summary.Move) bool { return m.Undecided && !m.Closes && !m.Opens }},
}

func (c *Counts) add(m summary.Move) {
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
