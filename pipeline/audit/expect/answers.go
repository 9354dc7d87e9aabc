package expect

import (
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/schema"
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
			return e.fail(x.line, "expectation %q is about answers to other identities, and none is given: add --also-as",
				x.Name)
		}
		for _, name := range slices.Concat(x.ServedAlike, x.Identity) {
			if name != allIdentities && !slices.Contains(names, name) {
				return e.fail(x.line, "expectation %q is about identity %q, under which the hosts are not asked: add it to the "+
					"file of --also-as", x.Name, name)
			}
		}
	}
	return nil
}

// served has the columns of answers that are checked.
type served struct {
	Seq             int64   `parquet:"seq"`
	Host            string  `parquet:"host"`
	Identity        string  `parquet:"identity"`
	Path            string  `parquet:"path" rowio:"maybe"`
	Agent           *string `parquet:"agent"`
	Status          *int32  `parquet:"status"`
	Challenge       *string `parquet:"challenge"`
	Policy          string  `parquet:"policy"`
	FirstDifference *string `parquet:"first_difference"`
	Treatment       string  `parquet:"treatment"`
}

// answers checks that identities get what the run itself got: a file that means the same
// to their agent, or that there is none. What has nothing to compare with is unknown, and
// what looks like an outage undecided.
func (c *Checker) answers(s *selection, meant []int, batch []served) {
	for i := range batch {
		a := &batch[i]
		if a.Path != "" && a.Path != schema.RobotsPath { // a page
			continue
		}
		for _, k := range s.at(c, meant, a.Seq, a.Host) {
			x, p := c.expectations.list[k], c.promises[k]
			if !slices.Contains(x.ServedAlike, allIdentities) {
				if !slices.Contains(x.ServedAlike, a.Identity) {
					continue
				}
				c.coverage[k].identities[a.Identity] = checked
			}
			if a.Treatment == summary.TreatmentNames[summary.Incomparable] {
				p.Unknown++
				continue
			}
			s.checked(c, k, a.Host)
			found := ""
			switch state := change.AnswerState(a.Treatment, a.Policy); {
			case state == change.Alike:
			case change.IsOtherFile(state) && (change.IsCertain(state) || a.FirstDifference != nil):
				found = "another file, " + state
				if a.FirstDifference != nil {
					found += ": " + *a.FirstDifference
				}
			case !change.IsCertain(state):
				p.Undecided++
			default:
				found = a.Treatment
				if a.Challenge != nil {
					found += " (" + *a.Challenge + ")"
				}
				if a.Status != nil {
					found += fmt.Sprintf(" with status %d", *a.Status)
				}
			}
			if found != "" {
				c.breach(k, Breach{Host: a.Host, Found: "as " + a.Identity + ": " + found, Agent: a.Agent})
			}
		}
	}
}
