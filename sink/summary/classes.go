package summary

import "github.com/robocensus/robocensus/robots"

// ClassEmpty is the class of a group without a rule.
const ClassEmpty = "empty"

// The classes of policies are those of package robots, and unknown for a target
// whose policy is unknown.
const (
	ClassUnknown = int(robots.DisallowAll) + 1
	classes      = ClassUnknown + 1
)

// ClassNames holds the names of the classes in the tables.
var ClassNames = [classes]string{
	robots.Partial: robots.Partial.String(), robots.AllowAll: robots.AllowAll.String(),
	robots.DisallowAll: robots.DisallowAll.String(), ClassUnknown: "unknown",
}

const values = int(robots.Undefined) + 1

// ValueNames holds the names of the verdicts in the tables.
var ValueNames = [values]string{
	robots.Permitted: robots.Permitted.String(), robots.Disallowed: robots.Disallowed.String(),
	robots.Undefined: robots.Undefined.String(),
}

const relations = int(robots.RelationUndecided) + 1

// RelationNames holds the names of the relations of policies in the tables.
var RelationNames = [relations]string{
	robots.Equal: robots.Equal.String(), robots.Stricter: robots.Stricter.String(), robots.Looser: robots.Looser.String(),
	robots.Mixed: robots.Mixed.String(), robots.RelationUndecided: robots.RelationUndecided.String(),
}

const firstRelations = int(robots.Differs) + 1

// VersusFirstNames holds the names of the differences of two profiles in the tables:
// whether the rules of a file mean the same to an agent under both.
var VersusFirstNames = func() (names [firstRelations]string) {
	for d := range names {
		names[d] = robots.Difference(d).String()
	}
	return names
}()

// Keys of the counters about parity: what a file means to an agent as google reads it,
// and as the agent's own parser does.
const (
	LetIn         = "let_in"   // shut out as google reads it, and not by its parser
	KeptOut       = "kept_out" // the other way round
	SeveralCauses = "several"
)

// ParityNames holds the keys of parity. They ascend: a host counts under the last that one
// of its agents has.
var ParityNames = append(VersusFirstNames[:len(VersusFirstNames):len(VersusFirstNames)], KeptOut, LetIn)
