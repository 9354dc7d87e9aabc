package records

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
)

// A Document is what a host has of a document of consent: of several licences, as of one.
type Document struct {
	Name  string
	State string // as [change.DocumentState] has it, "" if it is not known
	text  uint64 // hash of what is there
}

// SameText reports whether both are there with the same text.
func (d *Document) SameText(other *Document) bool { return d.text == other.text }

// FrontPage is the name of the front page among documents, and the scope of what it states: it is
// read for that alone.
const FrontPage = "page"

// encodeDocuments encodes the documents of a target, by name. One is there if any of a name is;
// and nothing is known of it if one of them may be hidden by an outage. Licences beyond the
// number that is asked for are so in each run.
func encodeDocuments(rows []schema.Document, _ *Names) string {
	var e Encoder
	rows = slices.SortedFunc(slices.Values(rows), func(a, b schema.Document) int {
		return cmp.Or(strings.Compare(a.Document, b.Document), strings.Compare(a.URL, b.URL))
	})
	for len(rows) > 0 {
		of := rows[:1]
		for len(of) < len(rows) && rows[len(of)].Document == of[0].Document {
			of = rows[:len(of)+1]
		}
		rows = rows[len(of):]
		best, isKnown := len(consent.Outcomes), true
		var text maphash.Hash
		text.SetSeed(askedSeed)
		for i := range of {
			d := &of[i]
			if slices.Contains(strings.Split(schema.OrZero(d.Remark), ","), documents.RemarkBeyond) {
				continue
			}
			best = min(best, max(0, slices.Index(consent.Outcomes, consent.Outcome(d.Outcome))))
			isKnown = isKnown && change.DocumentState(d.Outcome) != ""
			if d.Outcome == string(consent.Present) {
				text.WriteString(schema.OrZero(d.ContentDigest) + " ")
			}
		}
		state := ""
		if isKnown && best < len(consent.Outcomes) {
			state = change.DocumentState(string(consent.Outcomes[best]))
		}
		e.Text(of[0].Document)
		e.Text(state)
		e.Uint(text.Sum64())
	}
	return string(e)
}

// Documents returns the documents of the host, by name.
func (f *Fetched) Documents() (out []Document) {
	for d := Decoder(f.beside[OfDocuments]); len(d) > 0; {
		out = append(out, Document{d.Text(), d.Text(), d.Uint()})
	}
	return out
}

// A Stated is what a document states about a use.
type Stated struct {
	Document, Use string
	Stance        string // allow, disallow, priced, or partial where it depends
	Line          int32  // of the first statement, 0 for none
	all           uint64 // hash of the statements
}

// Same reports whether both rest on the same statements.
func (s *Stated) Same(other *Stated) bool { return s.all == other.all }

// encodeStatements encodes what the documents of a target state about uses, by document and use.
// What the header of the front page says is the page's.
func encodeStatements(rows []schema.Preference, _ *Names) string {
	type about struct{ document, use string }
	by := make(map[about][]*schema.Preference)
	var keys []about
	for i := range rows {
		p := &rows[i]
		if p.Document == nil && p.Scope != FrontPage || p.Use == nil || p.Preference == nil {
			continue
		}
		k := about{FrontPage, *p.Use}
		if p.Document != nil {
			k.document = *p.Document
		}
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], p)
	}
	slices.SortFunc(keys, func(a, b about) int {
		return cmp.Or(strings.Compare(a.document, b.document), strings.Compare(a.use, b.use))
	})
	var e Encoder
	for _, k := range keys {
		stance, whole, line, all := *by[k][0].Preference, false, int32(0), []string(nil)
		for _, p := range by[k] {
			if whole = whole || isWhole(p); stance != *p.Preference {
				stance = robots.StancePartial.String()
			}
			line = cmp.Or(line, schema.OrZero(p.Line))
			all = append(all, strings.Join([]string{schema.OrZero(p.GroupAgent), *p.Preference, schema.OrZero(p.Path)}, " "))
		}
		if !whole {
			stance = robots.StancePartial.String()
		}
		slices.Sort(all)
		e.Text(k.document)
		e.Text(k.use)
		e.Text(stance)
		e.Uint(uint64(line))
		e.Uint(maphash.String(askedSeed, strings.Join(slices.Compact(all), "\n")))
	}
	return string(e)
}

// isWhole reports whether a statement is about all that the document is about: every path for
// everyone or, of a page, the page.
func isWhole(p *schema.Preference) bool {
	path := schema.OrZero(p.Path)
	return (schema.OrZero(p.GroupAgent) == "" || *p.GroupAgent == "*") &&
		(p.Scope == FrontPage || slices.Contains([]string{"", "/", "*", "/*"}, path))
}

// Statements returns what documents of the host state, by document and use.
func (f *Fetched) Statements() (out []Stated) {
	for d := Decoder(f.beside[OfStatements]); len(d) > 0; {
		out = append(out, Stated{d.Text(), d.Text(), d.Text(), int32(d.Uint()), d.Uint()})
	}
	return out
}
