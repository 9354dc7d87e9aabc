package summary

import "github.com/robocensus/robocensus/robots"

// ClassEmpty is the class of a group without a rule.
const ClassEmpty = "empty"

// The classes of policies are those of package robots and unknown, for a
// target whose answer shows no policy.
const (
	ClassUnknown = int(robots.DisallowAll) + 1
	classes      = ClassUnknown + 1
)

// ClassNames are the classes as the tables name them.
var ClassNames = [classes]string{
	robots.Partial: robots.Partial.String(), robots.AllowAll: robots.AllowAll.String(),
	robots.DisallowAll: robots.DisallowAll.String(), ClassUnknown: "unknown",
}

const values = int(robots.Undefined) + 1

// ValueNames are the verdicts as the tables name them.
var ValueNames = [values]string{
	robots.Allowed: robots.Allowed.String(), robots.Disallowed: robots.Disallowed.String(), robots.Undefined: robots.Undefined.String(),
}

const relations = int(robots.NotDecided) + 1

// RelationNames are the relations of policies as the tables name them.
var RelationNames = [relations]string{
	robots.Equal: robots.Equal.String(), robots.Stricter: robots.Stricter.String(), robots.Looser: robots.Looser.String(),
	robots.Mixed: robots.Mixed.String(), robots.NotDecided: robots.NotDecided.String(),
}

// What two profiles may make of one file for an agent.
const (
	Agree = iota
	Part
	PartUndecided
	parts
)

// PartNames are these as the tables name them.
var PartNames = [parts]string{Agree: "equal", Part: "different", PartUndecided: "undecided"}
