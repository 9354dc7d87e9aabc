package summary

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Treatment is what a further identity met, against the host's own answer.
type Treatment uint8

const (
	Served       Treatment = iota // a file, as we
	Absent                        // no file, as we
	OtherAnswer                   // one of both has a file
	Challenged                    // a wall
	RateLimited                   // a 429
	Payment                       // a 402
	Refused                       // another 4xx than 404 and 410
	Failing                       // any other status, or a redirect that leads nowhere
	Unreached                     // no answer
	Incomparable                  // our own answer was neither a file nor that there is none
	treatments
)

// TreatmentNames are the treatments as the tables call them.
var TreatmentNames = [treatments]string{"served", "absent", "other", "challenged", "rate_limited", "payment",
	"refused", "failing", "unreached", "incomparable"}

// Control stands before the name of an identity that is our own once more, in the keys of
// counters.
const Control = "!"

// NoChallenge is the key of the metric challenge for hosts without a wall: a run that lacks
// it knew of none.
const NoChallenge = "none"

// IsTurnedAway reports whether an identity was turned away where we were not.
func (t Treatment) IsTurnedAway() bool { return t >= Challenged && t <= Unreached }

// TreatmentOf returns the treatment that the tables call so, and none of them for another text.
func TreatmentOf(name string) Treatment {
	if i := slices.Index(TreatmentNames[:], name); i >= 0 {
		return Treatment(i)
	}
	return treatments
}

// Met is what an identity met, in hosts by the name of the treatment.
type Met struct {
	Name    string
	Control bool
	By      map[string]int64
}

// Add counts hosts of a treatment.
func (m *Met) Add(treatment string, n int64) {
	if TreatmentOf(treatment) == treatments {
		return
	}
	if m.By == nil {
		m.By = make(map[string]int64)
	}
	m.By[treatment] += n
}

// Compared returns the hosts whose own answer there is to compare with, and those of them
// that turned the identity away.
func (m *Met) Compared() (hosts, away int64) {
	for name, n := range m.By {
		if t := TreatmentOf(name); t != Incomparable {
			if hosts += n; t.IsTurnedAway() {
				away += n
			}
		}
	}
	return hosts, away
}

// MetOf returns what identities met, by the counters of the metrics answer and
// answer_let_in by key: controls first, then by name.
func MetOf(counts map[string]int64) []*Met {
	by := make(map[string]*Met)
	for key, n := range counts {
		name, treatment, _ := strings.Cut(key, " ")
		m := by[name]
		if m == nil {
			m = &Met{Name: strings.TrimPrefix(name, Control), Control: strings.HasPrefix(name, Control)}
			by[name] = m
		}
		m.Add(treatment, n)
	}
	return slices.SortedFunc(maps.Values(by), func(a, b *Met) int {
		if a.Control != b.Control {
			return map[bool]int{true: -1, false: 1}[a.Control]
		}
		return cmp.Compare(a.Name, b.Name)
	})
}
