package summary

import (
	"strings"

	"github.com/robocensus/robocensus/robots/usage"
)

// InRobots is robots.txt among [Places].
const InRobots = "robots.txt"

// Places are where a host says what may be done with its content, in the order in which keys
// of document_refusal name them: robots.txt, and the mechanisms of its front page and of
// other documents.
var Places = []string{
	InRobots, usage.PageHeader.String(), usage.PageMeta.String(), usage.TDMRep.String(), usage.RSL.String(),
	usage.Spawning.String(), usage.Car.String(), usage.TrustTxt.String(),
}

// NoPlace is the key of a host that refuses in no place.
const NoPlace = "none"

// Key returns the key of a set of places.
func Key(places []string) string {
	if len(places) == 0 {
		return NoPlace
	}
	return strings.Join(places, "+")
}
