package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// planDocuments decides whether it is compared which documents of consent hosts have, and what
// these state. Only runs that were told to ask for documents have them.
func (d *differ) planDocuments() {
	with := func(m *past.Run) bool { return slices.Contains(m.Tables, "documents") }
	if !slices.ContainsFunc(d.Runs[:], with) {
		return
	}
	switch lack := d.lacking(with); {
	case lack != "":
		d.note("documents of consent are not compared: %s no such table", lack)
		return
	case !d.SameReading:
		d.note("documents of consent are not compared: which licences a file names is under the first profile")
		return
	}
	d.beside[records.OfDocuments] = true
	d.beside[records.OfStatements] = d.lack("preferences") == ""
}

// twoDocuments is a document in each run; nil if the run did not ask for it.
type twoDocuments [2]*records.Document

// isKnown reports whether both runs show whether the host has the document.
func (t twoDocuments) isKnown() bool {
	return t[0] != nil && t[1] != nil && t[0].State != "" && t[1].State != ""
}

// isPage reports whether it is the front page, which is no document.
func (t twoDocuments) isPage() bool { return cmp.Or(t[1], t[0]).Name == records.FrontPage }

// documentsOf returns the documents of a pair in either run, by name.
func documentsOf(p *pair) (out []twoDocuments) {
	var sides [2][]records.Document
	for i, f := range p.sides {
		if f != nil {
			sides[i] = f.Documents()
		}
	}
	byName := func(a, b *records.Document) int { return strings.Compare(a.Name, b.Name) }
	for a, b := range sideBySide(sides[0], sides[1], byName) {
		out = append(out, twoDocuments{a, b})
	}
	return out
}

// hasDocuments reports whether both runs know, of each document, whether the host of a pair has
// it, and asked for some.
func (d *differ) hasDocuments(p *pair) bool {
	if !d.beside[records.OfDocuments] {
		return false
	}
	all := slices.DeleteFunc(documentsOf(p), twoDocuments.isPage)
	return len(all) > 0 && !slices.ContainsFunc(all, func(t twoDocuments) bool { return !t.isKnown() })
}

// documents writes a row for each document that the host has now and did not have, or has no
// more, or has with another text.
func (c *comparison) documents(p *pair) error {
	if !c.d.beside[records.OfDocuments] || p.sides[0].Alike(p.sides[1], records.OfDocuments) {
		return nil
	}
	for _, t := range documentsOf(p) {
		if t.isPage() || !t.isKnown() || t[0].State == t[1].State && t[0].SameText(t[1]) {
			continue
		}
		row := schema.Change{Kind: "document", Document: &t[1].Name, Before: &t[0].State, After: &t[1].State}
		if t[0].State == t[1].State {
			row.After = new(summary.OtherText)
		}
		row.Severity = change.DocumentSeverity(*row.After)
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}

// statements writes a row for each use of which a document states something else. A document
// that refuses the census may state anything.
func (c *comparison) statements(p *pair) error {
	if !c.d.beside[records.OfStatements] || p.sides[0].Alike(p.sides[1], records.OfStatements) {
		return nil
	}
	shows := make(map[string]bool)
	for _, t := range documentsOf(p) {
		shows[cmp.Or(t[1], t[0]).Name] = t.isKnown() && t[0].State != string(consent.Refused) &&
			t[1].State != string(consent.Refused)
	}
	byUse := func(a, b *records.Stated) int {
		return cmp.Or(strings.Compare(a.Document, b.Document), strings.Compare(a.Use, b.Use))
	}
	for a, b := range sideBySide(p.sides[0].Statements(), p.sides[1].Statements(), byUse) {
		was, is := schema.OrZero(a), schema.OrZero(b)
		of := cmp.Or(is.Document, was.Document)
		row := schema.Change{Kind: "preference", Document: &of, Use: new(cmp.Or(is.Use, was.Use)),
			Before: schema.NonZero(was.Stance), After: schema.NonZero(is.Stance),
			LineBefore: schema.NonZero(was.Line), LineAfter: schema.NonZero(is.Line)}
		if was.Stance == is.Stance {
			if was.Same(&is) || is.Stance != robots.StancePartial.String() {
				continue
			}
			row.After = new(change.RulesUndecided)
		}
		row.Severity = change.PreferenceSeverity(was.Stance, schema.OrZero(row.After))
		if !shows[of] {
			continue
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}
