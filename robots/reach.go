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
