package show

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// groupLines adds to changes of a policy the line of the group that decides now, which
// the table changes does not have.
func (h *historian) groupLines(ctx context.Context, r *lookup.Run, t *lookup.Target, events []event) error {
	isPolicy := func(e event) bool { return e.change.Kind == "policy_class" && *e.Origin == t.Origin }
	if !slices.ContainsFunc(events, isPolicy) {
		return nil
	}
	policies, err := lookup.Rows[schema.Policy](ctx, r, "policies", t)
	for i := range events {
		for _, p := range policies {
			if isPolicy(events[i]) && p.Profile == h.profile && p.Agent == *events[i].change.Agent {
				events[i].GroupLine, events[i].change.LineAfter = p.GroupLine, p.GroupLine
			}
		}
	}
	return err
}

// answers adds what an origin answered to identities of which no answer is told yet. An
// answer where our own could not be compared is not known. An identity that a run does not
// ask is told anew once it is asked again, for nothing compares the answers before and after.
func (h *historian) answers(ctx context.Context, r *lookup.Run, t *lookup.Target) error {
	var v hostView
	if err := v.addAnswers(ctx, r, t); err != nil {
		return err
	}
	told := h.answered[t.Origin]
	if len(v.Answers.rows) > 0 || !slices.Contains(r.Tables, "answers") { // otherwise an outage
		maps.DeleteFunc(told, func(identity string, _ bool) bool {
			return !slices.ContainsFunc(v.Answers.rows, func(a schema.Answer) bool { return a.Identity == identity })
		})
	}
	first := slices.DeleteFunc(v.Answers.rows, func(a schema.Answer) bool {
		return told[a.Identity] || a.Treatment == summary.TreatmentNames[summary.Incomparable]
	})
	if len(first) == 0 {
		return nil
	}
	if told == nil {
		told = make(map[string]bool)
		h.answered[t.Origin] = told
	}
	for _, a := range first {
		told[a.Identity] = true
	}
	h.events = append(h.events,
		event{Event: "answers", Origin: &t.Origin, Answers: shown[schema.Answer]{answerColumns, first}})
	return nil
}

// isRead reports whether a run read a host.
func isRead(t *lookup.Target) bool { return t.Shown().Evidence().IsCurrent() }

// unread returns the event of a run that could not read a host.
func unread(t *lookup.Target) event {
	e := event{Event: "outage", Origin: &t.Origin, Outcome: &t.Outcome, Reason: new(string(t.Shown())), Status: t.Status,
		Challenge: t.Challenge, target: t}
	if t.Challenge != nil {
		e.Event, e.Outcome = "wall", new(string(answer.Undefined))
	}
	return e
}

// judged reports whether a run says what agents may do under the profile.
func (h *historian) judged(m *journal.Manifest) bool {
	return slices.Contains(m.Tables, "policies") && slices.Contains(m.Profiles, h.profile)
}

// state adds the state of an origin that is not told yet, or was told before a run that
// does not say what agents may do: nothing compares the policies before and after it. A
// run that could not read it has none.
func (h *historian) state(ctx context.Context, r *lookup.Run, t *lookup.Target) error {
	if whole, told := h.seen[t.Origin]; whole || told && !h.judged(r.Manifest) {
		return nil
	}
	if !isRead(t) {
		return nil
	}
	e := event{Event: "state", Origin: &t.Origin, Outcome: &t.Outcome, Reason: &t.Reason, Status: t.Status, target: t}
	v, err := viewOf(ctx, r, t, h.profile, nil)
	if err != nil {
		return err
	}
	for _, name := range h.agents {
		// An agent may be younger than the run.
		if slices.ContainsFunc(v.policies, func(p schema.Policy) bool { return strings.EqualFold(p.Agent, name) }) {
			if err := v.addAgents([]string{name}); err != nil {
				return err
			}
		}
	}
	e.view, e.Agents, e.Closed = v, v.Agents, []string{}
	if e.lacks = lacking(r.Manifest, "policies"); e.lacks == "" && len(v.policies) == 0 {
		e.lacks = "the run did not judge by this profile"
	}
	if e.lacks != "" {
		e.Closed = nil
	}
	for _, c := range v.Categories {
		e.Closed = append(e.Closed, c.Closed...)
	}
	slices.Sort(e.Closed)
	h.seen[t.Origin] = h.judged(r.Manifest)
	h.events = append(h.events, e)
	return nil
}
