package robots

import "time"

// Memory is what earlier requests told of an origin, as facts: which kinds of
// answers came in which order. Each profile derives from it since when the
// origin is unreachable, and whether the last whole copy of the file still
// stands. The zero value remembers nothing.
//
// Only the last answer of each kind matters to a profile: the outage that it
// sees begins with the answer after the latest one that it does not count as
// unreachable. So the memory holds each kind once, however many the answers.
type Memory struct {
	// First is the date of the oldest answer that is remembered.
	First time.Time
	// Seen are the kinds of answers, each where it was last seen, the latest
	// at the end.
	Seen []Seen
	// HasCopy says that the last whole copy is at hand.
	HasCopy bool
}

// Seen is the last answer of its kind.
type Seen struct {
	Kind AnswerKind
	// Next is the date of the answer that followed, zero where none has.
	Next time.Time
}

// maxSeen bounds what a host can have us remember. Beyond it the kind that was
// seen longest ago is forgotten, and with it when an outage began that is
// older, and the copy if it was that answer's.
const maxSeen = 32

// After is the memory after one more answer. An answer that no profile counts
// as unreachable makes all earlier ones needless.
func (m Memory) After(k AnswerKind, at time.Time) Memory {
	if k.Settled() {
		return Memory{First: at, Seen: []Seen{{Kind: k}}}
	}
	// What lies ahead of this answer was dated by a clock that was wrong.
	next := Memory{First: earlier(m.First, at), Seen: make([]Seen, 0, len(m.Seen)+1)}
	for _, s := range m.Seen {
		if s.Kind == k {
			continue
		}
		s.Next = earlier(s.Next, at)
		next.Seen = append(next.Seen, s)
	}
	next.Seen = append(next.Seen, Seen{Kind: k})
	if len(next.Seen) > maxSeen {
		next.First, next.Seen = next.Seen[0].Next, next.Seen[1:]
	}
	return next
}

// earlier is the earlier of a date, if there is one, and another.
func earlier(date, other time.Time) time.Time {
	if date.IsZero() || date.After(other) {
		return other
	}
	return date
}

// Settled says that the latest answer is one that no profile counts as
// unreachable.
func (m Memory) Settled() bool {
	return len(m.Seen) > 0 && m.Seen[len(m.Seen)-1].Kind.Settled()
}

// WholeCopy says that an answer is remembered whose body came whole. Its body
// is the last whole copy.
func (m Memory) WholeCopy() bool {
	return len(m.Seen) > 0 && m.Seen[0].Kind.whole()
}

func (k AnswerKind) whole() bool { return k.Class == Success || k.Class == RedirectByHTML }

// recall is what a profile makes of the memory of an origin that it counts as
// unreachable at a time: when that began, and whether the copy stands. A copy
// has been superseded where a later answer was neither another whole copy nor
// an outage: to fall back to it would bring back rules that were withdrawn.
func (p *Profile) recall(m *Memory, at time.Time) (since time.Time, stands bool) {
	for i := len(m.Seen) - 1; i >= 0; i-- {
		s := &m.Seen[i]
		r := p.read(s.Kind)
		if r.unreachable {
			continue
		}
		return earlier(s.Next, at), m.HasCopy && r.Outcome == ConditionalAllow
	}
	return earlier(m.First, at), false
}
