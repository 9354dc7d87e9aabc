package evaluate

import (
	"net/http"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// What a host says elsewhere than in robots.txt (--documents). Its statements are rows of
// preferences too, but no counter about robots.txt counts them.

// documents writes the documents that a host was asked for, and adds what they say to stated.
func (e *Evaluator) documents(c *fetch.Capture, row *schema.Fetch, file *robots.File, out *sink.Segment) error {
	e.found, e.stated = nil, e.stated[:0]
	if len(c.Further) == 0 {
		return nil
	}
	e.found = e.config.Documents.Find(c.Origin, file, c.Further)
	for i := range e.found {
		x := &e.found[i]
		if err := out.Documents.Write(documentRow(row, x)); err != nil {
			return err
		}
		switch {
		case x.Outcome != consent.Present:
		case x.Kind == documents.KindPage:
			e.pageStatements(row, x, c.Front != nil)
		default:
			e.documentStatements(row, x.Name, x.Read)
		}
	}
	return nil
}

// documentRow makes the row of a document.
func documentRow(row *schema.Fetch, x *documents.Found) schema.Document {
	f := x.Answer
	d := schema.Document{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, Document: x.Name, URL: schema.TextString(x.URL),
		Status: schema.NonZero(int32(f.Status())), Outcome: string(x.Outcome),
		Price:  schema.NonZero(schema.TextString(x.Price.Text)),
		Remark: schema.NonZero(strings.Join(x.Remarks, ",")),
	}
	for _, line := range f.Header {
		if line.Name == "content-type" && line.Value != nil {
			d.ContentType = header(line.Value)
			break
		}
	}
	if body := x.Body(); body != nil && f.Status() == http.StatusOK {
		d.Bytes, d.ContentDigest = new(int64(len(body))), new(schema.ContentDigest(body))
	}
	if final := f.FinalURL(); final != x.URL && len(f.Hops) > 0 {
		d.FinalURL = new(schema.TextString(final))
	}
	return d
}

// documentStatements adds what a document says.
func (e *Evaluator) documentStatements(row *schema.Fetch, name string, d *consent.Document) {
	var of contradictions
	agents := make(map[string]int32)
	for i := range d.Statements {
		s := &d.Statements[i]
		r := schema.Preference{
			Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, GroupAgent: new(schema.TextString(s.Agent)),
			Scope:     scopeDocument,
			Mechanism: s.Mechanism.String(), Document: &name, Path: schema.NonZero(schema.TextString(s.Path)),
		}
		if s.Line > 0 {
			r.Line = new(int32(s.Line))
		}
		state(&r, &s.Statement)
		e.stated = append(e.stated, r)
		if s.Mechanism == usage.RSL {
			continue // which says different things to different users
		}
		if _, known := agents[s.Agent]; !known {
			agents[s.Agent] = int32(len(agents))
		}
		of.add(&r, len(e.stated)-1, agents[s.Agent])
	}
	of.mark(e.stated, nil)
}

const (
	scopeDocument = "document"
	scopePage     = "page"
)

// pageStatements adds what the front page says in its HTML and, unless --front-page has
// looked, in its header.
func (e *Evaluator) pageStatements(row *schema.Fetch, x *documents.Found, hasHeader bool) {
	path := new(schema.TextString(robots.URLPath(x.Answer.FinalURL())))
	add := func(m usage.Mechanism, all []usage.PageStatement) {
		for _, s := range all {
			r := schema.Preference{
				Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, GroupAgent: new(schema.TextString(s.Agent)),
				Scope:     scopePage,
				Mechanism: m.String(), Document: &x.Name, Header: new(s.Header), Path: path,
			}
			state(&r, &s.Statement)
			e.stated = append(e.stated, r)
		}
	}
	if !hasHeader {
		add(usage.PageHeader, e.config.Labels.OfPage(x.Header))
	}
	add(usage.PageMeta, e.config.Labels.OfMeta(x.Head.Meta))
	if d := x.FromPage(); d != nil {
		e.documentStatements(row, x.Name, d)
	}
}

// countDocuments counts the documents of a host, each name once by the best of its
// outcomes, and what they say.
func (e *Evaluator) countDocuments(stratum string) {
	best := make(map[string]int)
	var names []string
	for i := range e.found {
		x := &e.found[i]
		rank := slices.Index(consent.Outcomes, x.Outcome)
		if at, known := best[x.Name]; !known {
			names = append(names, x.Name)
			best[x.Name] = rank
		} else if rank < at {
			best[x.Name] = rank
		}
		if x.Outcome == consent.Present && x.Kind != documents.KindPage && e.examples.Wants("document", x.Name) {
			e.examples.Add("document", x.Name, 0, schema.TextString(x.URL))
		}
	}
	for _, name := range names {
		e.counts.Add("document", stratum, name+" "+string(consent.Outcomes[best[name]]))
	}
	for i := range e.stated {
		if p := &e.stated[i]; p.Use != nil && p.Preference != nil {
			e.once("document_preference", stratum, p.Mechanism+" "+*p.Use+" "+*p.Preference)
		}
	}
}

// countDocumentRefusals counts a host that was asked for documents by the set of places
// that refuse the training of models, of which robots.txt is one, and by the pairs of
// places of which one refuses it and the other permits it, whatever the path. inFile reports
// whether robots.txt refuses it. Terms that it names count where they were read, and refuse
// nothing where they were not.
func (e *Evaluator) countDocumentRefusals(stratum string, inFile bool) {
	if len(e.found) == 0 {
		return
	}
	refuse, permit := make(map[string]bool), make(map[string]bool)
	refuse[summary.InRobots] = inFile
	note := func(rows []schema.Preference, place func(*schema.Preference) string) {
		for i := range rows {
			p := &rows[i]
			if p.Use == nil || *p.Use != usage.AITrain.String() || p.Preference == nil || p.Scope == summary.Orphan {
				continue
			}
			if *p.Preference == usage.Refuses.String() {
				refuse[place(p)] = true
			} else {
				permit[place(p)] = true
			}
		}
	}
	note(e.preferences, func(p *schema.Preference) string {
		if p.Header != nil {
			return p.Mechanism // of --front-page
		}
		return summary.InRobots
	})
	note(e.stated, func(p *schema.Preference) string { return p.Mechanism })
	var set []string
	for _, place := range summary.Places {
		if refuse[place] {
			set = append(set, place)
		}
		for _, other := range summary.Places {
			if place == other || !refuse[place] || !permit[other] {
				continue
			}
			key := place + " " + other
			e.counts.AddProfile("document_contrary", stratum, 0, key)
			if e.examples.Wants("document_contrary", key) {
				e.examples.Add("document_contrary", key, 0, e.wordsOf(place)+"; "+e.wordsOf(other))
			}
		}
	}
	e.counts.AddProfile("document_refusal", stratum, 0, summary.Key(set, e.namesUnread()))
}

// namesUnread reports whether a License line of robots.txt names terms that nobody has read.
func (e *Evaluator) namesUnread() bool {
	return slices.ContainsFunc(e.preferences, func(p schema.Preference) bool {
		return summary.NamesLicence(&p) && !documents.HasRead(e.found, p.Value)
	})
}

// wordsOf quotes what a place says of the training of models.
func (e *Evaluator) wordsOf(place string) string {
	for _, rows := range [][]schema.Preference{e.stated, e.preferences} {
		for i := range rows {
			p := &rows[i]
			if p.Use == nil || *p.Use != usage.AITrain.String() || p.Preference == nil ||
				(p.Mechanism != place && (place != summary.InRobots || p.Document != nil || p.Header != nil)) {
				continue
			}
			return place + ": " + schema.OrZero(p.Path) + " " + p.Label + " " + *p.Preference
		}
	}
	return place + ": rules"
}
