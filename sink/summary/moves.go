package summary

import "github.com/robocensus/robocensus/sink/schema"

// Move is what happened to the policy of an agent.
type Move struct {
	Closes    bool // a path that was open
	Opens     bool // a path that was closed
	Undecided bool // whether it does either
	ShutOut   bool // closes the last open path
	LetsIn    bool // opens the first path
}

// MoveOf returns what a row of changes says of a policy. ok is false for a row that is not
// about the policy of an agent of the registry on all paths.
func MoveOf(row *schema.Change) (m Move, ok bool) {
	if row.Agent == nil || row.Category == nil || row.Profile == nil || row.After == nil {
		return m, false
	}
	switch row.Kind {
	case "rules":
		switch *row.After {
		case "closes":
			m.Closes = true
		case "opens":
			m.Opens = true
		case "both":
			m.Closes, m.Opens = true, true
		default:
			m.Undecided = true
		}
		return m, true
	case "policy_class":
		if row.Before == nil {
			return m, false
		}
		before, after := openness[*row.Before], openness[*row.After]
		if before == 0 || after == 0 {
			return m, false
		}
		return Move{Closes: after < before, Opens: after > before, ShutOut: after < before && after == shut,
			LetsIn: after > before && before == shut}, true
	}
	return m, false
}

// openness orders the classes of policies. A class that is not known has none.
var openness = map[string]int{"disallow_all": shut, "partial": shut + 1, "allow_all": shut + 2}

const shut = 1

// And returns what happened if both did.
func (m Move) And(n Move) Move {
	return Move{m.Closes || n.Closes, m.Opens || n.Opens, m.Undecided || n.Undecided, m.ShutOut || n.ShutOut,
		m.LetsIn || n.LetsIn}
}
