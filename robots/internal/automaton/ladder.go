package automaton

// A label is the kind of a rule, or none.
type label uint8

const (
	noLabel label = iota
	labelAllow
	labelDisallow
)

// The kinds of rules, by the last bit of a key.
const (
	disallow = 0
	allow    = 1
)

func labelOf(key int32) label {
	if key&1 == allow {
		return labelAllow
	}
	return labelDisallow
}

func (l label) kind() int {
	if l == labelAllow {
		return allow
	}
	return disallow
}

// A ladder answers one question about the patterns that match: what is the
// label of the one with the highest key? Each way to settle conflicts needs a
// few ladders. They differ in their rules and in the label that wins a tie; see
// verdictOf.
type ladder struct {
	view    int32
	initial label // if nothing matches
	stars   []rung
	// before counts, for each plain of the view and by Kind, the plains before
	// it that are on the ladder.
	before [][2]int32
	// recent makes it ask another question: the label of the pattern whose match ended
	// last (LastToEnd). Of those that ended at one byte, an allow wins. The key in
	// its state is then one of the flags below, or settled.
	recent bool
	// resets lets it forget the label where the path parts from a pattern of it that is
	// less: that hides those that match (Highest). keyed makes keys count beyond it.
	resets, keyed bool
}

const (
	fresh   = 1 << iota // the match ended at the last byte
	forever             // a disallow matches from here on to the end
	// recentKey is the key of a disallow on such a ladder, that of an allow is one more.
	recentKey = 1 << 3
)

// A rung is a starred pattern on a ladder. Rungs ascend by key.
type rung struct {
	key   int32
	star  int32
	label label
}

// An effect is the change that a matching pattern makes to a ladder.
type effect struct {
	ladder int32
	key    int32
	label  label
	when   Moment
}

// A Moment says when a pattern matches, once all of it is read.
type Moment uint8

const (
	AtOnce   Moment = iota
	AtEnd           // if the path ends there
	AtBorder        // if the path ends there, or a ? or / follows
	// FromThenOn is AtOnce for a pattern with a star at its end, whose match ends where
	// the path does; it matters to LastToEnd.
	FromThenOn
)

// age changes the state of a recent ladder before the next byte.
func age(x *int32) {
	switch key := *x >> 2; {
	case key == settled:
	case key&forever != 0:
		*x = forever<<2 | int32(labelDisallow)
	default:
		*x &^= fresh << 2
	}
}

// raiseRecent returns the state of a recent ladder after an effect on it.
func raiseRecent(x int32, e effect) int32 {
	key, says := x>>2, label(x&3)
	switch {
	case key == settled:
	case e.label == labelAllow && e.when == FromThenOn:
		return settled<<2 | int32(labelAllow)
	case e.label == labelAllow:
		return (key|fresh)<<2 | int32(labelAllow)
	default:
		if e.when == FromThenOn {
			key |= forever
		}
		if says != labelAllow || key&fresh == 0 {
			says = labelDisallow
		}
		return key<<2 | int32(says)
	}
	return x
}

// canonicalRecent does for a recent ladder what canonical does: nothing matters any more
// if all that may still match has the label that the ladder has.
func (m *automaton) canonicalRecent(st []int32, i int32) {
	d := &m.Language.ladders[i]
	x := &st[m.ladders+i]
	key, says := *x>>2, label(*x&3)
	if key == settled {
		return
	}
	plains := m.left(st, i)
	may := [...]bool{labelAllow: plains[allow], labelDisallow: plains[disallow] || key&forever != 0}
	for _, r := range d.stars {
		may[r.label] = may[r.label] || !m.dead(st, r.star)
	}
	if may[labelAllow] && says != labelAllow || may[labelDisallow] && says != labelDisallow {
		for _, r := range d.stars {
			m.wanted[r.star] = m.wanted[r.star] || !m.dead(st, r.star)
		}
		return
	}
	*x = settled<<2 | int32(says)
}
