package robots

import "github.com/robocensus/robocensus/robots/internal/ascii"

// choices records which of the profile's open points a file touches. A crawler
// makes each choice once for the whole file:
//
//   - whether a line without a colon counts;
//   - whether a misspelling counts, decided for each spelling, up to maxSpellings;
//   - whether a record of an unknown field ends a list of agents.
//
// Every combination is a reading, so the verdict is exact for up to
// maxSpellings spellings. With more, all spellings of one field are one choice.
// That limits the readings to 32.
// For rules this is still exact, except for the groups that they separate: one
// more rule of a kind can move a verdict in one direction only, so the extremes
// are all of them and none of them. For user-agent lines it may miss a reading:
// in a file with more than maxSpellings spellings, a verdict can come out as
// settled that depends on accepting one misspelling of user-agent and rejecting
// another. Whether reserved characters equal their escapes (ReservedOpen)
// changes no line, so that is a matter of each set of rules; see ruleset.twin.
//
// The third choice covers all unknown fields at once. That is exact if one of
// several groups is valid (several_groups: open): a list that ends leaves its
// agents either the rules that follow or none, whatever ends the other lists. A
// field that a reading drops counts as unknown.
type choices struct {
	noColon   bool
	unknown   bool
	many      bool // more spellings than maxSpellings
	spellings []spelling
}

type spelling struct {
	field field
	key   []byte
}

const maxSpellings = 3

func (c *choices) reset() {
	*c = choices{spellings: c.spellings[:0]}
}

func (c *choices) add(f field, key []byte) {
	for i := range c.spellings {
		if c.spellings[i].is(key) {
			return
		}
	}
	if len(c.spellings) == maxSpellings {
		c.many = true
		return
	}
	c.spellings = append(c.spellings, spelling{f, key})
}

func (s *spelling) is(key []byte) bool {
	return len(s.key) == len(key) && ascii.EqualFoldBytes(s.key, key)
}

// A reading is one combination of choices. The first reading accepts every line
// and ends no list.
type reading struct {
	of          *choices // the choices that the first reading found
	dropNoColon bool
	unknownEnds bool
	dropped     uint8 // bits: indices of of.spellings, or fieldBit if of.many
}

// readings returns the number of readings.
func (c *choices) readings() int {
	n := 1 << len(c.spellings)
	if c.noColon {
		n *= 2
	}
	if c.unknown {
		n *= 2
	}
	return n
}

// Readings returns in how many ways the profile lets the file be read, each of which a Judge
// reads: the cost of loading it.
func (f *File) Readings() int { return f.choices.readings() }

// reading returns reading number i; number 0 is the first.
func (c *choices) reading(i int) reading {
	r := reading{of: c}
	if c.noColon {
		r.dropNoColon, i = i&1 != 0, i>>1
	}
	if c.unknown {
		r.unknownEnds, i = i&1 != 0, i>>1
	}
	r.dropped = uint8(i)
	return r
}

// drops reports whether the reading drops a misspelled line.
func (r *reading) drops(f field, key []byte) bool {
	if r.of.many {
		return r.dropped&fieldBit(f) != 0
	}
	for i := range r.of.spellings {
		if r.of.spellings[i].is(key) {
			return r.dropped&(1<<i) != 0
		}
	}
	return false
}

// fieldBit maps misspellings to maxSpellings choices by field. A sitemap line
// needs no choice: it only ends a list of agents, which a rule does too.
func fieldBit(f field) uint8 {
	switch f {
	case fieldAgent:
		return 1
	case fieldAllow:
		return 2
	}
	return 4
}

// leniencies returns the oddities that the profile rejects and those it leaves
// open.
func (p *Profile) leniencies() (reject, open oddity) {
	for _, k := range [...]struct {
		l    Leniency
		kind oddity
	}{{p.Typos, oddTypo}, {p.NearTypos, oddNear}, {p.KeyPrefixes, oddPrefix}, {p.MissingColon, oddNoColon}} {
		switch k.l {
		case Reject:
			reject |= k.kind
		case Open:
			open |= k.kind
		}
	}
	return reject, open
}

// rejects reports whether this reading drops an odd line. In the first reading
// it records the choices that the profile leaves open.
func (s *parser) rejects(f field, key []byte, odd oddity) bool {
	if odd&s.reject != 0 {
		return true
	}
	if odd &= s.leave; odd == 0 {
		return false
	}
	if s.reading == nil {
		if odd&oddNoColon != 0 {
			s.choices.noColon = true
		}
		if odd&^oddNoColon != 0 {
			s.choices.add(f, key)
		}
		return false
	}
	return odd&oddNoColon != 0 && s.reading.dropNoColon || odd&^oddNoColon != 0 && s.reading.drops(f, key)
}

// head is the state of the list of agents at the head of a group. It decides
// whether an unknown record that may end the list makes a difference.
type head uint8

const (
	headless  head = iota // no agent line since a rule or a sitemap
	headAgent             // an agent line
	headOpen              // an agent line, and something that may end the list
)

// open records a line that may end the list.
func (h *head) open() {
	if *h == headAgent {
		*h = headOpen
	}
}
