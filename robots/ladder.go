package robots

// A label is the kind of a rule, or none.
type label uint8

const (
	noLabel label = iota
	labelAllow
	labelDisallow
)

func labelOf(k Kind) label {
	if k == Allow {
		return labelAllow
	}
	return labelDisallow
}

func (l label) kind() Kind {
	if l == labelAllow {
		return Allow
	}
	return Disallow
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
	// last (LengthMatchEnd). Of those that ended at one byte, an allow wins. The key in
	// its state is then one of the flags below, or settled.
	recent bool
	// resets lets it forget the label where the path parts from a pattern of it that is
	// less: that hides those that match (GreatestOnly). keyed makes keys count beyond it.
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
	when   moment
}

// A moment says when a pattern without a star matches, once all of it is read.
type moment uint8

const (
	atOnce   moment = iota
	atEnd           // if the path ends there
	atBorder        // if the path ends there, or a ? or / follows
	// fromThenOn is atOnce for a pattern with a star at its end, whose match ends where
	// the path does; it matters to a ladder that is recent.
	fromThenOn
)

// A mode says how the labels of ladders give a verdict.
type mode uint8

const (
	alwaysAllow    mode = iota // allow
	theLongest                 // best
	theLongestTies             // best, best with ties to disallow
	anyWild                    // best plain, any wild disallow, any wild allow
	anyWildTies                // best plain, the same with ties to disallow, any wild disallow, any wild allow
	orTheLeast                 // best, best plain, any wild allow
	orTheLeastTies             // best, best plain, any wild allow, best with ties to disallow
	highest                    // greatest plain allow, greatest plain disallow, best of the others: that with the highest key
)

// A voice is the verdict of one permitted reading. The verdict of a policy is
// that of all its voices, or undefined if they differ.
type voice struct {
	mode    mode
	ladders [4]int32
}

var laddersOf = [...]int{alwaysAllow: 0, theLongest: 1, theLongestTies: 2, anyWild: 3, anyWildTies: 4, orTheLeast: 3, orTheLeastTies: 4, highest: 3}

// verdictOf returns the verdict that follows from the labels of a voice's
// ladders; see weighOpen.
func verdictOf(m mode, labels [4]label) Value {
	may := [2]bool{}
	switch m {
	case alwaysAllow:
		return Allowed
	case theLongest:
		may[Disallow] = labels[0] == labelDisallow
	case theLongestTies:
		may[Disallow] = labels[0] == labelDisallow || labels[1] == labelDisallow
		may[Allow] = labels[0] == labelAllow
	case anyWild:
		may[Disallow] = labels[0] == labelDisallow || labels[1] == labelDisallow
		may[Allow] = labels[0] == labelAllow || labels[2] == labelAllow
	case anyWildTies:
		may[Disallow] = labels[0] == labelDisallow || labels[1] == labelDisallow || labels[2] == labelDisallow
		may[Allow] = labels[0] == labelAllow || labels[3] == labelAllow
	case orTheLeast:
		may[Disallow] = labels[0] == labelDisallow
		may[Allow] = labels[0] == labelAllow || labels[1] == labelAllow || labels[2] == labelAllow
	case orTheLeastTies:
		may[Disallow] = labels[0] == labelDisallow || labels[3] == labelDisallow
		may[Allow] = labels[0] == labelAllow || labels[1] == labelAllow || labels[2] == labelAllow
	}
	switch {
	case !may[Disallow]:
		return Allowed
	case may[Allow]:
		return Undefined
	}
	return Disallowed
}

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
	case e.label == labelAllow && e.when == fromThenOn:
		return settled<<2 | int32(labelAllow)
	case e.label == labelAllow:
		return (key|fresh)<<2 | int32(labelAllow)
	default:
		if e.when == fromThenOn {
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
	d := &m.language.ladders[i]
	x := &st[m.ladders+i]
	key, says := *x>>2, label(*x&3)
	if key == settled {
		return
	}
	plains := m.left(st, i)
	may := [...]bool{labelAllow: plains[Allow], labelDisallow: plains[Disallow] || key&forever != 0}
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
