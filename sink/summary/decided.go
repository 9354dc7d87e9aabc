package summary

import (
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
)

// Decided says for how many hosts of a run their rules decide, and of how many the policy
// is unknown, under one profile. The counters outcome and reason tell what an answer means
// by its status. Where a wall gave it, nobody has read the host, and challenge has the
// reason of its answer, but not the outcome. Most reasons have one outcome; hosts with
// another reason are taken from those that no such reason explains.
type Decided struct {
	rules, open ofOutcome
	hidden      int64 // hosts whose policy an outage hides, or the document leaves open
}

// ofOutcome counts the hosts with an outcome.
type ofOutcome struct {
	hosts, explained int64    // explained are those whose reason has only this outcome
	walls            [2]int64 // with such a reason, and with one that may have this outcome
}

// Add adds a counter of the profile; it ignores those of other metrics.
func (d *Decided) Add(metric, key string, n int64) {
	switch metric {
	case "outcome":
		switch answer.Outcome(key) {
		case answer.ConditionalAllow:
			d.rules.hosts += n
		case answer.FullAllow:
			d.open.hosts += n
		case answer.FullDisallow, answer.Undefined:
			d.hidden += n
		}
	case "reason":
		if o, only := d.of(key); only {
			o.explained += n
		}
	case "challenge":
		if vendor, reason, _ := strings.Cut(key, " "); vendor != NoChallenge {
			o, only := d.of(reason)
			if only {
				o.walls[0] += n
			} else {
				o.walls[1] += n
			}
		}
	}
}

// of returns the hosts of the outcome that answers with a reason may have, of those that
// say something about the host, and whether they have no other.
func (d *Decided) of(reason string) (o *ofOutcome, only bool) {
	switch answer.Reason(reason) {
	case answer.Success:
		return &d.rules, true
	case answer.StaleCopy: // undefined where the profile leaves open whether the copy counts
		return &d.rules, false
	case answer.ClientError, answer.MisconfiguredServer, answer.RedirectLimit, answer.RedirectLoop, answer.RedirectInvalid:
		return &d.open, true
	}
	return &d.open, false
}

func (o *ofOutcome) read() int64 {
	return o.hosts - o.walls[0] - max(0, min(o.walls[1], o.hosts-o.explained))
}

// Rules returns the number of hosts whose rules decide.
func (d *Decided) Rules() int64 { return d.rules.read() }

// Open returns the number of hosts that allow everything without rules.
func (d *Decided) Open() int64 { return d.open.read() }

// Walled returns the number of hosts of which a wall hides what their answers would say:
// they are in the counters of the outcomes, and neither in Rules nor in Open.
func (d *Decided) Walled() int64 { return d.rules.hosts - d.Rules() + d.open.hosts - d.Open() }

// Unknown returns the number of hosts whose policy is not known.
func (d *Decided) Unknown() int64 { return d.hidden + d.Walled() }
