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

// Keys of a host that refuses in no place: it names no licence in robots.txt but those that
// were read, or one of which nobody has read whether it permits or refuses.
const (
	NoPlace     = "none"
	UnreadTerms = "unread"
)

// Key returns the key of a set of places, of a host that names unread terms or does not.
func Key(places []string, unread bool) string {
	switch {
	case len(places) > 0:
		return strings.Join(places, "+")
	case unread:
		return UnreadTerms
	}
	return NoPlace
}

// Refusing returns the places of a key of document_refusal, nil for none.
func Refusing(key string) []string {
	if key == NoPlace || key == UnreadTerms {
		return nil
	}
	return strings.Split(key, "+")
}
