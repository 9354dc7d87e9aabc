package expect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/summary"
)

const (
	servedAlike   = "served_alike"
	allIdentities = "all" // a word of served_alike
)

// FitIdentities checks, before a run, that hosts will be asked as the identities that
// expectations name.
func (e *List) FitIdentities(names []string) error {
	for _, x := range e.list {
		if x.what == servedAlike && len(names) == 0 {
			return e.fail(x.line, "expectation %q is about answers to other identities, and none is given: add --also-as", x.Name)
		}
		for _, name := range slices.Concat(x.ServedAlike, x.Identity) {
			if name != allIdentities && !slices.Contains(names, name) {
				return e.fail(x.line, "expectation %q is about identity %q, under which the hosts are not asked: add it to the file of --also-as", x.Name, name)
			}
		}
	}
	return nil
}

// answers checks that identities get what the run itself got: a file that means the same
// to their agent, or that there is none. What has nothing to compare with is unknown, and
// what looks like an outage undecided.
func (c *Checker) answers(s *selection, meant []int, batch arrow.RecordBatch) {
	text := func(name string) *array.String { return scan.Column[*array.String](batch, name) }
	seq, status := scan.Column[*array.Int64](batch, "seq"), scan.Column[*array.Int32](batch, "status")
	host, identity, agent, challenge := text("host"), text("identity"), text("agent"), text("challenge")
	policy, difference, treatment := text("policy"), text("first_difference"), text("treatment")
	for i := range int(batch.NumRows()) {
		for _, k := range s.at(c, meant, seq.Value(i), host.Value(i)) {
			x, p := c.expectations.list[k], c.promises[k]
			if !slices.Contains(x.ServedAlike, allIdentities) {
				if !slices.Contains(x.ServedAlike, identity.Value(i)) {
					continue
				}
				c.coverage[k].identities[strings.Clone(identity.Value(i))] = checked
			}
			met := treatment.Value(i)
			if met == summary.TreatmentNames[summary.Incomparable] {
				p.Unknown++
				continue
			}
			s.checked(c, k, host.Value(i))
			found := ""
			switch state := change.AnswerState(met, policy.Value(i)); {
			case state == change.Alike:
			case change.IsOtherFile(state) && (change.IsCertain(state) || !difference.IsNull(i)):
				found = "another file, " + state
				if !difference.IsNull(i) {
					found += ": " + difference.Value(i)
				}
			case !change.IsCertain(state):
				p.Undecided++
			default:
				found = met
				if !challenge.IsNull(i) {
					found += " (" + challenge.Value(i) + ")"
				}
				if !status.IsNull(i) {
					found += fmt.Sprintf(" with status %d", status.Value(i))
				}
			}
			if found == "" {
				continue
			}
			b := Breach{Host: strings.Clone(host.Value(i)), Found: "as " + identity.Value(i) + ": " + found}
			if !agent.IsNull(i) {
				b.Agent = new(strings.Clone(agent.Value(i)))
			}
			c.breach(k, b)
		}
	}
}
