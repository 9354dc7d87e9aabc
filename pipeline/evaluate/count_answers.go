package evaluate

import (
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// Counters of answers to identities. The names of identities come from the user's file.

// countAnswer counts the answer of a host to an identity: by what the identity met, beside
// what the host's own answer says to its agent on paper, and by what the two files say.
func (e *Evaluator) countAnswer(a *sink.Answer, stratum string) {
	n := e.counts
	kind := a.Identity
	if a.IsControl {
		kind = summary.Control + kind
	}
	key := kind + " " + a.Treatment
	n.Add("answer", stratum, key)
	if a.Class == summary.ClassNames[0] || a.Class == summary.ClassNames[1] {
		n.Add("answer_let_in", stratum, key)
	}
	if a.Challenge != nil {
		n.Add("answer_challenge", stratum, kind+" "+*a.Challenge)
	}
	if a.Same != nil {
		said := "other_bytes"
		if *a.Same {
			said = "same_bytes"
		}
		n.Add("answer_policy", stratum, strings.Join([]string{kind, said, a.Policy}, " "))
	}
}

// countChallenge counts a host that a wall kept us from reading, by vendor and by what the
// answer would have meant under each profile.
func (e *Evaluator) countChallenge(row *sink.Fetch, stratum string) {
	for k := range e.columns {
		e.counts.AddProfile("challenge", stratum, k, *row.Challenge+" "+string(e.face(k).answer.Reason))
	}
	if e.examples.Wants("challenge", *row.Challenge, row.Host) {
		text := ""
		if row.Status != nil {
			text = strconv.Itoa(int(*row.Status))
		}
		e.examples.Add("challenge", *row.Challenge, row.Host, 0, text)
	}
}
