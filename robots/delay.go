package robots

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// A delay is a crawl-delay with the agents that were listed last before it: indices in
// File.Agents. Those of a group do not overlap.
type delay struct {
	group   int32
	agents  Span
	seconds float64
}

// delay returns the crawl-delay of an agent that follows groups, which ascend, by a name.
func (j *Judge) delay(r *File, groups []int32, name string, how Match, m *merged) (seconds float64, has bool) {
	x := &m.delay
	if x.known {
		return x.seconds, x.has
	}
	name = strings.ToLower(name)
	for i := range r.spans {
		d := &r.spans[i]
		if _, follows := slices.BinarySearch(groups, d.group); !follows || !j.isFor(r, d, name, how) {
			continue
		}
		if !x.has || j.profile.DelayScope == DelayListedLast || j.profile.DelayScope == DelayListedLeast &&
			d.seconds < x.seconds {
			x.seconds, x.has = d.seconds, true
		}
	}
	x.known = true
	return x.seconds, x.has
}

// isFor reports whether a crawl-delay is for an agent that follows its group by a name in
// lower case.
func (j *Judge) isFor(r *File, d *delay, name string, how Match) bool {
	if j.profile.DelayScope == DelayOfGroup || d.agents == r.Groups[d.group].Agents ||
		j.profile.AgentMatch == MatchSubstring {
		return true
	}
	for i := d.agents.From; i < d.agents.To; i++ {
		a := &r.Agents[i]
		switch {
		case how == StarGroup:
			if isForAll(a) {
				return true
			}
		case j.dialect:
			if ascii.HasPrefixFold(a.Value, name) && slices.Contains(dialect.Named(&j.profile.Groups.Groups, a.Value), name) {
				return true
			}
		case ascii.EqualFold(a.Token, name), ascii.EqualFold(a.Wide, name):
			return true
		}
	}
	return false
}
