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
	agents []string
	from   int // where the rows of the first agent begin in Evaluator.verdicts
	rules  following
	group  *string
	said   [robots.Undefined + 1]uint32 // verdicts of one agent, by value
}

// runRows is the most rows of an agent in a run: more are written as they are made.
const runRows = 128

func (r *run) begin(agent string, rules following, group *string, from int) {
	r.agents, r.from, r.rules, r.group = append(r.agents[:0], agent), from, rules, group
}

// extend adds an agent to the run, and gives its mark the verdicts, if it belongs
// there.
func (r *run) extend(agent string, rules following, group *string, mark *summary.Mark) bool {
	if len(r.agents) == 0 || rules != r.rules || !equal(group, r.group) {
		return false
	}
	r.agents = append(r.agents, agent)
	mark.Verdicts = r.said
	return true
}

// writeRun ends the run. The rows of a single agent wait for others.
func (e *Evaluator) writeRun(out *sink.Segment) error {
	r := &e.run
	if len(r.agents) > 1 {
		waiting, rows := e.verdicts[:r.from], e.verdicts[r.from:]
		if err := out.Verdicts.Write(waiting...); err != nil {
			return err
		}
		if err := out.Verdicts.WriteEach("agent", r.agents, rows...); err != nil {
			return err
		}
		e.verdicts = e.verdicts[:0]
	}
	r.agents = r.agents[:0]
	return e.writeVerdicts(out, verdictRows)
}
