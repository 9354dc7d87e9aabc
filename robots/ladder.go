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
}

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
)

// A voice is the verdict of one permitted reading. The verdict of a policy is
// that of all its voices, or undefined if they differ.
type voice struct {
	mode    mode
	ladders [4]int32
}

var laddersOf = [...]int{alwaysAllow: 0, theLongest: 1, theLongestTies: 2, anyWild: 3, anyWildTies: 4, orTheLeast: 3, orTheLeastTies: 4}

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
