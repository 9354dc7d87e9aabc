package diff

import (
	"cmp"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/schema"
)

// planAnswers decides whether answers to identities are compared. Only runs that were told
// to ask under identities have them.
func (d *differ) planAnswers() {
	with := func(m *past.Run) bool { return slices.Contains(m.Tables, "answers") }
	if !slices.ContainsFunc(d.Runs[:], with) {
		return
	}
	switch lack := d.lacking(with); {
	case lack != "":
		d.note("answers to identities are not compared: %s no such table", lack)
		return
	case !d.SameReading:
		d.note("answers to identities are not compared: whether a file means the same is under the first profile")
		return
	}
	d.beside[records.OfAnswers] = true
	if why := d.Between.Identities(); why != "" {
		d.note("%s: those of one name, user agent and agent are compared", why)
	}
	if lack := d.lacking(controlled); lack != "" {
		d.note("%s no control: whether a host turns away the identity, or any second request, is not known there", lack)
	}
}

// controlled reports whether a run asked hosts under our own user agent once more, or has
// no answers.
func controlled(m *past.Run) bool {
	if len(m.Identities) == 0 {
		return len(m.PartsOf("summary")) > 0
	}
	for _, i := range m.Identities {
		if i.IsControl {
			return true
		}
	}
	return false
}

// question is what a host answered to one identity in each run; nil if it was not asked,
// or for an agent that the runs define differently.
type question [2]*records.Answer

// isKnown reports whether both runs show how the host answers.
func (q question) isKnown() bool {
	return q[0] != nil && q[1] != nil && q[0].SameQuestion(q[1]) && q[0].State != "" && q[1].State != ""
}

// questions returns what the host of a pair was asked in either run: for its robots.txt, then for
// a page, in the order of identities.
func (d *differ) questions(p *pair) (out []question) {
	var sides [2][]records.Answer
	for i, f := range p.sides {
		if f != nil {
			sides[i] = f.Answers()
		}
	}
	for a, b := range sideBySide(sides[0], sides[1], (*records.Answer).Compare) {
		out = append(out, question{a, b})
	}
	return out
}

// besideDiffers reports whether a host may differ in a table beside its file.
func (d *differ) besideDiffers(p *pair) bool {
	for table, compared := range d.beside {
		if compared && !p.sides[0].Alike(p.sides[1], records.Beside(table)) {
			return true
		}
	}
	return false
}

// askedAs returns what expectations need to know of the identities of a pair.
func (d *differ) askedAs(p *pair) (out []expect.Asked) {
	if !d.beside[records.OfAnswers] {
		return nil
	}
	for _, q := range d.questions(p) {
		a := cmp.Or(q[1], q[0])
		out = append(out, expect.Asked{IsPage: a.IsPage, Identity: a.Identity, Agent: a.Agent,
			Category: d.Runs[1].Category[a.Agent], Known: q.isKnown() && !d.Redefined[a.Agent]})
	}
	return out
}

// kindOf returns the kind of the changes of an answer.
func kindOf(a *records.Answer) string {
	if a.IsPage {
		return "page"
	}
	return "answer"
}

// answers writes a row for each identity that the host answers otherwise than before, for its
// robots.txt and then for a page.
func (c *comparison) answers(p *pair) error {
	if !c.d.beside[records.OfAnswers] || p.sides[0].Alike(p.sides[1], records.OfAnswers) {
		return nil
	}
	for _, q := range c.d.questions(p) {
		if !q.isKnown() || c.d.Redefined[q[1].Agent] {
			continue
		}
		row := schema.Change{Kind: kindOf(q[1]), Identity: &q[1].Identity, Before: &q[0].State, After: &q[1].State}
		if *row.Before == *row.After {
			if q[0].SameFile(q[1]) { // of a page, always
				continue
			}
			row.After = new(change.RulesUndecided) // another file, of the same relation to the host's own
		}
		row.Severity = change.AnswerSeverity(*row.Before, *row.After)
		if q[1].Agent != "" {
			row.Agent, row.Category = &q[1].Agent, schema.NonZero(c.d.Runs[1].Category[q[1].Agent])
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}
