package evaluate

import (
	"strconv"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Counters of answers to identities. The names of identities come from the user's file.

// countAnswer counts the answer of a host to an identity: by what the identity met, beside
// what the host's own answer says to its agent on paper, and by what the two files say.
func (e *Evaluator) countAnswer(a *schema.Answer, stratum string) {
	kind := a.Identity
	if a.IsControl {
		kind = summary.Control + kind
	}
	agent := e.agentNamed(schema.OrZero(a.Agent))
	add := func(metric, key string) {
		if key = kind + " " + key; agent >= 0 {
			e.counts.AddAgent(metric, stratum, 0, agent, key)
		} else {
			e.counts.AddProfile(metric, stratum, 0, key)
		}
	}
	add("answer", a.Treatment)
	if a.Class == summary.ClassNames[robots.AllowAll] || a.Class == summary.ClassNames[robots.Partial] {
		add("answer_let_in", a.Treatment)
	}
	if a.Challenge != nil {
		add("answer_challenge", *a.Challenge)
	}
	if a.Same != nil && a.Treatment == summary.TreatmentNames[summary.Served] {
		said := "other_bytes"
		if *a.Same {
			said = "same_bytes"
		}
		add("answer_policy", said+" "+a.Policy)
	}
}

// countChallenge counts a host that a wall kept us from reading, by vendor and by what the
// answer would have meant under each profile.
func (e *Evaluator) countChallenge(row *schema.Fetch, stratum string) {
	for k := range e.columns {
		e.counts.AddProfile("challenge", stratum, k, *row.Challenge+" "+string(e.face(k).answer.Reason))
		e.counts.AddProfile("challenge_outcome", stratum, k, string(e.face(k).answer.Outcome))
	}
	if e.examples.Wants("challenge", *row.Challenge) {
		text := ""
		if row.Status != nil {
			text = strconv.Itoa(int(*row.Status))
		}
		e.examples.Add("challenge", *row.Challenge, 0, text)
	}
}

// countTurnedAway counts a host by how it turns us away, whatever a profile makes of that,
// and by what each makes of it.
func (e *Evaluator) countTurnedAway(row *schema.Fetch, stratum string) {
	how := row.TurnedAway()
	if how == "" {
		e.counts.Add("turned_away", stratum, summary.NotTurnedAway)
		return
	}
	e.counts.Add("turned_away", stratum, string(how))
	for k := range e.columns {
		e.counts.AddProfile("turned_away_reason", stratum, k, string(how)+" "+string(e.face(k).answer.Reason))
	}
}
