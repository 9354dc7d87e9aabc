package summary

import (
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
)

// Decided says of how many hosts of a run what is known, under one profile. The counters
// outcome and reason tell what an answer means by its status. Where a wall gave it, nobody
// has read the host (see [answer.Shown]); challenge and challenge_outcome count these hosts
// under the reason and the outcome that must not count.
type Decided struct {
	outcomes map[answer.Outcome]int64
	reasons  map[answer.Reason]int64
	walls    struct {
		all      int64
		outcomes map[answer.Outcome]int64
		reasons  map[answer.Reason]int64
	}
	turned map[answer.Reason]map[answer.Reason]int64 // hosts that turn us away, by how and by reason
}

// NotTurnedAway is the key of the metric turned_away of a host that does not turn us away.
const NotTurnedAway = "none"

// DecidedMetrics are the metrics that [Decided.Add] takes.
var DecidedMetrics = []string{"outcome", "reason", "challenge", "challenge_outcome", "turned_away_reason"}

// Add adds a counter of the profile; it ignores those of other metrics.
func (d *Decided) Add(metric, key string, n int64) {
	if d.outcomes == nil {
		d.outcomes, d.reasons = make(map[answer.Outcome]int64), make(map[answer.Reason]int64)
		d.walls.outcomes, d.walls.reasons = make(map[answer.Outcome]int64), make(map[answer.Reason]int64)
	}
	switch metric {
	case "outcome":
		d.outcomes[answer.Outcome(key)] += n
	case "reason":
		d.reasons[answer.Reason(key)] += n
	case "challenge":
		if vendor, reason, _ := strings.Cut(key, " "); vendor != NoChallenge {
			d.walls.reasons[answer.Reason(reason)] += n
			d.walls.all += n
		}
	case "challenge_outcome":
		d.walls.outcomes[answer.Outcome(key)] += n
	case "turned_away_reason":
		how, reason, _ := strings.Cut(key, " ")
		if d.turned == nil {
			d.turned = make(map[answer.Reason]map[answer.Reason]int64)
		}
		if d.turned[answer.Reason(how)] == nil {
			d.turned[answer.Reason(how)] = make(map[answer.Reason]int64)
		}
		d.turned[answer.Reason(how)][answer.Reason(reason)] += n
	}
}

// Outcome returns the number of hosts that were read, or that an outage hides, with an
// outcome. A run of an earlier version does not count walls by outcome: there, those count
// whose reason has one outcome under every profile.
func (d *Decided) Outcome(o answer.Outcome) int64 {
	n := d.outcomes[o]
	if len(d.walls.outcomes) > 0 {
		return n - d.walls.outcomes[o]
	}
	for reason, walls := range d.walls.reasons {
		if only, ok := onlyOutcome[reason]; ok && only == o {
			n -= walls
		}
	}
	return n
}

// onlyOutcome has the outcome of reasons that have no other.
var onlyOutcome = map[answer.Reason]answer.Outcome{
	answer.Success: answer.ConditionalAllow, answer.ClientError: answer.FullAllow,
	answer.MisconfiguredServer: answer.FullAllow,
	answer.RedirectLimit:       answer.FullAllow, answer.RedirectLoop: answer.FullAllow,
	answer.RedirectInvalid: answer.FullAllow,
}

// Outcomes returns the numbers of [Decided.Outcome], without zeros.
func (d *Decided) Outcomes() map[string]int64 {
	out := make(map[string]int64)
	for o := range d.outcomes {
		if n := d.Outcome(o); n > 0 {
			out[string(o)] = n
		}
	}
	return out
}

// Reasons returns the number of hosts by the reason that says what they show, without
// zeros; those behind a wall are under [answer.Challenged].
func (d *Decided) Reasons() map[string]int64 {
	out := make(map[string]int64)
	for r, n := range d.reasons {
		if n -= d.walls.reasons[r]; n > 0 {
			out[string(r)] = n
		}
	}
	if d.walls.all > 0 {
		out[string(answer.Challenged)] = d.walls.all
	}
	return out
}

// Named returns the numbers of [Decided.Reasons], but hosts that turn us away are under the
// way in which they do (see [answer.TurnedAway]). A run of an earlier version does not count
// them.
func (d *Decided) Named() map[string]int64 {
	out := d.Reasons()
	for how, reasons := range d.turned {
		for reason, n := range reasons {
			out[string(how)] += n
			if out[string(reason)] -= n; out[string(reason)] <= 0 {
				delete(out, string(reason))
			}
		}
	}
	return out
}

// Read returns the number of hosts that were read (see [answer.IsRead]).
func (d *Decided) Read() (n int64) {
	for r, hosts := range d.Reasons() {
		if answer.Reason(r).Evidence().IsCurrent() {
			n += hosts
		}
	}
	return n
}

// Rules returns the number of hosts whose rules decide.
func (d *Decided) Rules() int64 { return d.Outcome(answer.ConditionalAllow) }

// Walled returns the number of hosts that a wall kept from being read.
func (d *Decided) Walled() int64 { return d.walls.all }

// Unknown returns the number of hosts whose policy is not known: an outage or a wall hides
// it, or the document leaves it open.
func (d *Decided) Unknown() (n int64) {
	for _, hosts := range d.outcomes {
		n += hosts
	}
	return n - d.Rules() - d.Outcome(answer.FullAllow)
}
