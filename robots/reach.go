package robots

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/usage"
)

// Reach says how many agents a line about use binds: those whose groups it stands in.
type Reach uint8

const (
	ReachesNobody  Reach = iota // it stands before all groups
	ReachesOne                  // its group names one agent
	ReachesSeveral              // its group names several
	ReachesAll                  // its group is one for *
)

// String returns nobody, one, several or all.
func (r Reach) String() string { return [...]string{"nobody", "one", "several", "all"}[r] }

// SignalReach returns whom the content signals of a file bind at best, and the first of them,
// nil if there is none.
func (f *File) SignalReach() (best Reach, first *usage.Line) {
	for i := range f.Usages {
		if u := &f.Usages[i]; u.Mechanism == usage.ContentSignal {
			if first == nil {
				first = u
			}
			best = max(best, f.Reach(u))
		}
	}
	return best, first
}

// Reach returns whom a line about use binds by its place. A group that gives one name
// twice, in whatever case, names one agent.
func (f *File) Reach(u *usage.Line) Reach {
	if u.Group < 0 {
		return ReachesNobody
	}
	agents := f.Agents[f.Groups[u.Group].Agents.From:f.Groups[u.Group].Agents.To]
	reach := ReachesOne
	for i := range agents {
		if string(agents[i].Wide) == "*" {
			return ReachesAll
		}
		if !bytes.EqualFold(agents[i].Wide, agents[0].Wide) {
			reach = ReachesSeveral
		}
	}
	return reach
}
