package summary

// Treatment is what a further identity met, against the host's own answer.
type Treatment uint8

const (
	Served       Treatment = iota // a file, as we
	Absent                        // no file, as we
	OtherAnswer                   // one of both has a file
	Challenged                    // a wall
	Refused                       // a 4xx other than 404 and 410
	Failing                       // any other status, or a redirect that leads nowhere
	Unreached                     // no answer
	Incomparable                  // our own answer was neither a file nor that there is none
	treatments
)

// TreatmentNames are the treatments as the tables call them.
var TreatmentNames = [treatments]string{"served", "absent", "other", "challenged", "refused", "failing", "unreached", "incomparable"}

// Control stands before the name of an identity that is our own once more, in the keys of
// counters.
const Control = "="

// IsTurnedAway reports whether an identity was turned away where we were not.
func (t Treatment) IsTurnedAway() bool { return t >= Challenged && t <= Unreached }
