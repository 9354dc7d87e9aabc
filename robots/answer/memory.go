package answer

import "time"

// Memory is the history of an origin as facts: which kinds of answers came in
// which order. Each profile derives from it since when the origin is
// unreachable, and whether the last whole copy of the file is still valid. The
// zero value is an empty history.
//
// Only the last answer of each kind matters to a profile: the outage that it
// sees begins with the answer after the latest one that it does not count as
// unreachable. So the memory holds each kind once, however many answers there
// were.
type Memory struct {
	// First is the date of the oldest answer in the history.
	First time.Time
	// Seen holds the kinds of answers in the order in which each was last seen,
	// the latest at the end.
	Seen []Seen
	// HasCopy reports whether the last whole copy is at hand.
	HasCopy bool
}

// Seen is the last answer of its kind.
type Seen struct {
	Kind Kind
	// Next is the date of the answer that followed; zero if none has.
	Next time.Time
}

// MaxSeen bounds the memory that a host can make us keep. Beyond it, the kind
// seen longest ago is dropped. With it goes the start of an older outage, and
// the copy if that answer carried it.
const MaxSeen = 32

// After returns the memory after one more answer. If no profile counts the
// answer as unreachable, all earlier answers are dropped.
func (m Memory) After(k Kind, at time.Time) Memory {
	if k.Settled() {
		return Memory{First: at, Seen: []Seen{{Kind: k}}}
	}
	// A date later than this answer came from a wrong clock.
	next := Memory{First: earlier(m.First, at), Seen: make([]Seen, 0, len(m.Seen)+1)}
	for _, s := range m.Seen {
		if s.Kind == k {
			continue
		}
		s.Next = earlier(s.Next, at)
		next.Seen = append(next.Seen, s)
	}
	next.Seen = append(next.Seen, Seen{Kind: k})
	if len(next.Seen) > MaxSeen {
		next.First, next.Seen = next.Seen[0].Next, next.Seen[1:]
	}
	return next
}

// earlier returns the earlier of two dates; date may be zero, for none.
func earlier(date, other time.Time) time.Time {
	if date.IsZero() || date.After(other) {
		return other
	}
	return date
}

// Settled reports whether no profile counts the latest answer as unreachable.
func (m Memory) Settled() bool {
	return len(m.Seen) > 0 && m.Seen[len(m.Seen)-1].Kind.Settled()
}

// WholeCopy reports whether the history has an answer whose body was complete.
// That body is the last whole copy.
func (m Memory) WholeCopy() bool {
	return len(m.Seen) > 0 && m.Seen[0].Kind.whole()
}

func (k Kind) whole() bool { return k.Class == Success || k.Class == HTMLRedirect }

// recall returns when an origin became unreachable for the profile, and whether
// the copy is still valid. A later answer that was neither another whole copy
// nor an outage invalidates the copy: using it would restore rules that were
// withdrawn.
func (p *Answers) recall(m *Memory, at time.Time, maxRedirects int) (since time.Time, stands bool) {
	for i := len(m.Seen) - 1; i >= 0; i-- {
		s := &m.Seen[i]
		r := p.read(s.Kind, maxRedirects)
		if r.Unreachable {
			continue
		}
		return earlier(s.Next, at), m.HasCopy && r.Outcome == ConditionalAllow
	}
	return earlier(m.First, at), false
}
