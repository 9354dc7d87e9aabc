package evaluate

import (
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// run is agents that stand together in the list, follow the same group by the same reading and
// so have the same verdicts on the current target. Their rows differ in the agent alone:
// they are made once, and written once for each agent.
type run struct {
	agent  int // the first one
	agents int // how many
	from   int // where the rows of the first agent begin in Evaluator.verdicts
	rules  following
	group  *string
	said   [robots.Undefined + 1]uint32 // verdicts of one agent, by value
}

// runRows is the most rows of an agent in a run: more are written as they are made.
const runRows = 128

func (r *run) begin(agent int, rules following, group *string, from int) {
	r.agent, r.agents, r.from, r.rules, r.group = agent, 1, from, rules, group
}

// extend adds the next agent to the run, and gives its mark the verdicts, if it belongs
// there.
func (r *run) extend(rules following, group *string, mark *summary.Mark) bool {
	if r.agents == 0 || rules != r.rules || !equal(group, r.group) {
		return false
	}
	r.agents++
	mark.Verdicts = r.said
	return true
}

// writeRun ends the run. The rows of a single agent wait for others.
func (e *Evaluator) writeRun(out *sink.Segment) error {
	r := &e.run
	if r.agents > 1 {
		waiting, rows := e.verdicts[:r.from], e.verdicts[r.from:]
		if err := out.Verdicts.Write(waiting...); err != nil {
			return err
		}
		if err := out.Verdicts.WriteEach(rows,
			sink.Column{Name: "agent", List: e.agentNames, From: r.agent, To: r.agent + r.agents}); err != nil {
			return err
		}
		e.verdicts = e.verdicts[:0]
	}
	r.agents = 0
	return e.writeVerdicts(out, verdictRows)
}

// statement is what the row of a policy says beside the agent and its category.
type statement struct {
	by                  *reading
	found               *policy
	parity, versusFirst *string
}

// fewPolicies is the most rows that say the same and are written one by one.
const fewPolicies = 3

// writePolicies writes the policies of the agents, and those that say the same at once.
func (e *Evaluator) writePolicies(out *sink.Segment) error {
	if !out.Policies.Wanted() {
		return nil
	}
	waiting := 0 // the first row that is not written
	for from, to := 0, 0; from < len(e.policies); from = to {
		for to++; to < len(e.policies) && e.statements[to] == e.statements[from]; to++ {
		}
		if to-from <= fewPolicies {
			continue
		}
		if err := out.Policies.Write(e.policies[waiting:from]...); err != nil {
			return err
		}
		waiting = to
		if err := out.Policies.WriteEach(e.policies[from:from+1],
			sink.Column{Name: "agent", List: e.agentNames, From: from, To: to},
			sink.Column{Name: "category", List: e.agentCategories, From: from, To: to}); err != nil {
			return err
		}
	}
	return out.Policies.Write(e.policies[waiting:]...)
}
