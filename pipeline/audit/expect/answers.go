package expect

import (
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

const (
	servedAlike     = "served_alike"
	servedAsWritten = "served_as_written"
	allIdentities   = "all" // a word of both
)

// served returns the identities that the expectation is about.
func (x *expectation) served() words { return slices.Concat(x.ServedAlike, x.ServedAsWritten) }

// FitIdentities checks, before a run, that hosts will be asked as the identities that
// expectations name, and for a page if they are about that.
func (e *List) FitIdentities(names []string, asksPages bool) error {
	for _, x := range e.list {
		if x.what == servedAsWritten && !asksPages {
			return e.fail(x.line, "expectation %q is about a page, and none is asked for: add --also-as and --pages", x.Name)
		}
		if x.what == servedAlike && len(names) == 0 {
			return e.fail(x.line, "expectation %q is about answers to other identities, and none is given: add --also-as",
				x.Name)
		}
		for _, name := range slices.Concat(x.served(), x.Identity) {
			if name != allIdentities && !slices.Contains(names, name) {
				return e.fail(x.line, "expectation %q is about identity %q, under which the hosts are not asked: add it to the "+
					"file of --also-as", x.Name, name)
			}
		}
	}
	return nil
}

// metBy tells what an identity met.
func metBy(a *schema.Answer) string {
	found := a.Treatment
	if a.Challenge != nil {
		found += " (" + *a.Challenge + ")"
	}
	isPayment := a.Treatment == string(consent.PagePayment) // so it is called of robots.txt, too
	if a.Price != nil && isPayment {
		found += " of " + *a.Price
	}
	if a.Status != nil {
		found += fmt.Sprintf(" with status %d", *a.Status)
	}
	if a.Price != nil && !isPayment {
		found += ", price " + *a.Price
	}
	return found
}

// answers checks that identities get what the run itself got: a file that means the same
// to their agent, or that there is none. What has nothing to compare with is unknown, and
// what looks like an outage undecided.
func (c *Checker) answers(s *selection, meant []int, batch []schema.Answer) {
	for i := range batch {
		a := &batch[i]
		of := s.at(c, meant, a.Seq, a.Host)
		if schema.IsPage(a.Path) && a.IsControl {
			if s.control != string(consent.PageServed) { // the first of a target asks before all others
				s.control = a.Treatment
			}
			continue
		}
		for _, k := range of {
			x, p := c.expectations.list[k], c.promises[k]
			if (x.what == servedAsWritten) != schema.IsPage(a.Path) {
				continue
			}
			if names := x.served(); !slices.Contains(names, allIdentities) {
				if !slices.Contains(names, a.Identity) {
					continue
				}
				c.coverage[k].identities[a.Identity] = checked
			}
			check := c.servedAlike
			if schema.IsPage(a.Path) {
				check = c.servedAsWritten
			}
			found, how := check(s, a)
			if how == isUnknown {
				p.Unknown++
				continue
			}
			s.checked(c, k, a.Host)
			if how == isUndecided {
				p.Undecided++
			}
			if found != "" {
				b := Breach{Host: a.Host, Found: "as " + a.Identity + ": " + found, Agent: a.Agent}
				if schema.IsPage(a.Path) {
					b.URL = new(a.Path)
				}
				c.breach(k, b)
			}
		}
	}
}

// judged says how an answer was judged.
type judged uint8

const (
	isKnown judged = iota
	isUnknown
	isUndecided
)

// servedAlike returns what an identity got that the run itself did not, "" for nothing.
func (c *Checker) servedAlike(_ *selection, a *schema.Answer) (found string, how judged) {
	if a.Treatment == summary.TreatmentNames[summary.Incomparable] {
		return "", isUnknown
	}
	switch state := summary.AnswerState(a.Treatment, a.Policy); {
	case state == summary.Alike:
	case summary.IsOtherFile(state) && (summary.IsCertain(state) || a.FirstDifference != nil):
		found = "another file, " + state
		if a.FirstDifference != nil {
			found += ": " + *a.FirstDifference
		}
	case !summary.IsCertain(state):
		return "", isUndecided
	default:
		found = metBy(a)
	}
	return found, isKnown
}

// servedAsWritten returns what an identity met on a page otherwise than robots.txt says, "" for
// nothing: it lets the agent in, and the server does not give it the page of the control, or it
// shuts the agent out, and the server gives it one.
func (c *Checker) servedAsWritten(s *selection, a *schema.Answer) (found string, how judged) {
	verdict, treatment := schema.OrZero(a.Verdict), consent.Treatment(a.Treatment)
	isOpen := verdict == summary.ValueNames[robots.Permitted]
	switch {
	case treatment == consent.PageNotAsked, s.control != string(consent.PageServed),
		verdict == summary.ValueNames[robots.Undefined]:
		return "", isUnknown
	case treatment == consent.PageServerError, treatment == consent.PageNoAnswer:
		return "", isUndecided
	case isOpen && treatment == consent.PageServed, !isOpen && treatment.TurnsAway():
		return "", isKnown
	case isOpen:
		return metBy(a) + ", and robots.txt lets it in", isKnown
	}
	return metBy(a) + ", and robots.txt shuts it out", isKnown
}
