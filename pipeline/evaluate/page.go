package evaluate

import (
	"net/url"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// What the header of the front page says about use (--front-page).

// pageRows adds the statements of a front page's header to the rows of preferences.
func (e *Evaluator) pageRows(row *schema.Fetch, front *fetch.Front) {
	if front == nil || len(front.Header) == 0 {
		return
	}
	path := new("/")
	if u, err := url.Parse(front.Hops[len(front.Hops)-1].URL); err == nil {
		path = new(schema.TextString(u.RequestURI()))
	}
	var of contradictions
	names := make(map[string]int32)
	for _, s := range e.config.Labels.OfPage(front.Header) {
		r := schema.Preference{
			Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, GroupAgent: new(s.Agent), Scope: "page",
			Mechanism: usage.PageHeader.String(), Header: new(s.Header), Path: path,
		}
		state(&r, &s.Statement)
		e.preferences = append(e.preferences, r)
		if _, known := names[s.Agent]; !known {
			names[s.Agent] = int32(len(names))
		}
		of.add(&r, len(e.preferences)-1, names[s.Agent])
	}
	of.mark(e.preferences, nil)
}

// addFront adds what came of the request for the front page.
func addFront(row *schema.Fetch, front *fetch.Front) {
	if front == nil {
		return
	}
	row.FrontPage, row.FrontErrorClass = new(string(front.Outcome)), schema.NonZero(string(front.Error))
	row.FrontHops = hopsOf(front.Hops)
	for _, h := range front.Header {
		value := header(h.Value)
		row.FrontHeaders = append(row.FrontHeaders, schema.HeaderLine{Name: h.Name, Value: value})
		if value != nil && *value != *h.Value {
			row.FrontHeaders = append(row.FrontHeaders, schema.HeaderLine{Name: schema.EscapedLine})
		}
	}
}

// countPage counts what came of the request for the front page, and what its header says.
func (e *Evaluator) countPage(row *schema.Fetch, stratum string) {
	if row.FrontPage == nil {
		return
	}
	e.counts.Add("front_page", stratum, *row.FrontPage)
	for i := range e.preferences {
		p := &e.preferences[i]
		if p.Header == nil {
			continue
		}
		if p.Use != nil && p.Preference != nil {
			e.once("page_preference", stratum, *p.Header+" "+*p.Use+" "+*p.Preference)
		}
		if e.examples.Wants("page_preference", *p.Header) {
			text := p.OfHeader()
			if *p.GroupAgent != "*" {
				text = *p.GroupAgent + ": " + text
			}
			e.examples.Add("page_preference", *p.Header, 0, text)
		}
	}
}

// pageRefuses reports whether the header of the front page refuses the training of models,
// to any agent.
func (e *Evaluator) pageRefuses() bool {
	for i := range e.preferences {
		if p := &e.preferences[i]; p.Header != nil && p.Use != nil && *p.Use == usage.AITrain.String() &&
			p.Preference != nil && *p.Preference == usage.Refuses.String() {
			return true
		}
	}
	return false
}
