package robots

// choices are the points on which a profile leaves open how to read a file.
// Each is one choice of a crawler, which makes it for the whole file:
//
//   - whether a line without a colon counts;
//   - whether a misspelling counts, each spelling by itself as long as they
//     are few;
//   - whether a record of an unknown field ends a list of agents;
//   - whether reserved characters of a path equal their escapes.
//
// Every combination is a reading, so that the verdict is exact for up to
// maxSpellings spellings. Where there are more, those of one field are one
// choice, to keep the number of readings at 32 (64 where reserved characters
// are open too). For rules that loses nothing but the groups that they part:
// one more rule of a kind moves a verdict one way only, so all of them and
// none of them are the extremes. For user-agent lines it may lose a reading:
// where a crawler would accept one misspelling of user-agent and not another,
// in a file with more than maxSpellings, the verdict can be settled though it
// is open.
//
// That the third choice is one and not one for each field is exact where one
// of several groups is valid (several_groups: open): a list of agents that
// ends leaves its agents either the rules that follow or none, whatever ends
// the other lists. Fields that a reading drops count as unknown.
type choices struct {
	noColon   bool
	unknown   bool
	letter    bool
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

// add notes a misspelling.
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
	return len(s.key) == len(key) && equalFoldBytes(s.key, key)
}

// A reading is one way to take what a profile leaves open; the first one
// accepts every line and ends no list.
type reading struct {
	of          *choices // of the first reading
	dropNoColon bool
	unknownEnds bool
	letter      bool
	dropped     uint8 // bits: of of.spellings, or of fields where they are many
}

// readings is the number of readings that choices make.
func (c *choices) readings() int {
	n := 1 << len(c.spellings)
	if c.noColon {
		n *= 2
	}
	if c.unknown {
		n *= 2
	}
	if c.letter {
		n *= 2
	}
	return n
}

// reading is reading number i; number 0 is the first.
func (c *choices) reading(i int) reading {
	r := reading{of: c}
	if c.noColon {
		r.dropNoColon, i = i&1 != 0, i>>1
	}
	if c.unknown {
		r.unknownEnds, i = i&1 != 0, i>>1
	}
	if c.letter {
		r.letter, i = i&1 != 0, i>>1
	}
	r.dropped = uint8(i)
	return r
}

// letterReading is the number of the reading that takes reserved characters
// for their escapes, where that is a choice, and else is the first.
func (c *choices) letterReading() int {
	i := 1
	if c.noColon {
		i *= 2
	}
	if c.unknown {
		i *= 2
	}
	return i
}

// drops says whether the reading drops a misspelled line.
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

// fieldBit parts misspellings into maxSpellings choices by field. A sitemap
// does no more than end a list of agents, as a rule does too.
func fieldBit(f field) uint8 {
	switch f {
	case fieldAgent:
		return 1
	case fieldAllow:
		return 2
	}
	return 4
}

// leniencies are the kinds of lines that a profile rejects and leaves open.
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

// rejects says whether a line that is not quite right does not count in this
// reading, and notes what is left open.
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

// head is how far the head of a group has come, to know whether it matters
// that an unknown record may end it.
type head uint8

const (
	headless  head = iota // no agent line since a rule or a sitemap
	headAgent             // an agent line
	headOpen              // an agent line, and something that may end the list
)

// open notes something that may end the list.
func (h *head) open() {
	if *h == headAgent {
		*h = headOpen
	}
}
