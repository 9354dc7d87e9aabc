package consent

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/usage"
)

// What a page means for a use, as the examples ask: the census keeps its statements, and does not
// weigh them.

// A Page is what an answer says of its own content.
type Page struct {
	// Header and Meta are the statements of header and HTML.
	Header, Meta []usage.PageStatement
	Licenses     []string // links to licences in XML, as written
	// isConverted is a page that a product has made of another: what it permits is the
	// product's default.
	isConverted bool
}

// ReadPage reads an answer: its header, and the beginning of its body.
func ReadPage(v usage.Vocabulary, header http.Header, body []byte) Page {
	var fields []usage.HeaderField
	for _, name := range usage.PageHeaders {
		for _, value := range header.Values(name) {
			fields = append(fields, usage.HeaderField{Name: name, Value: &value})
		}
	}
	p := Page{Header: v.OfPage(fields), Licenses: LinkedLicenses(header.Values("Link"))}
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	p.isConverted = media == "text/markdown"
	if media == "" || media == "text/html" || media == "application/xhtml+xml" {
		head := ReadHead(body)
		p.Meta = v.OfMeta(head.Meta)
		p.Licenses = append(p.Licenses, head.Licenses...)
	}
	return p
}

// Means returns what an answer says of a use, beside the site's tdmrep.json, nil for none:
// its header supersedes that, and its HTML the header, also where they are less strict.
// Other statements add up, and the stricter counts.
func (p *Page) Means(q Question, file *meantDocument) (a Answer) {
	agent := strings.ToLower(q.Agent)
	if q.Use == usage.AITrain.String() {
		a = p.tdm(q, file)
	}
	labels := make(map[string]string)
	for _, s := range slices.Concat(p.Header, p.Meta) {
		if s.Agent != "*" && s.Agent != agent || strings.HasPrefix(s.Header, "tdm-") {
			continue
		}
		labels[s.Label] = s.Value
		if s.Header == "content-signal" && p.isConverted && s.Preference == usage.Allows {
			a.Remarks = append(a.Remarks, remarkDefault)
			continue
		}
		if s.Use != usage.NoUse && s.Use.String() == q.Use && s.Preference != usage.Unknown &&
			!(agent == "bingbot" && s.Label == "noarchive") {
			a.add(s.Preference, s.Value)
		}
	}
	for label, value := range labels {
		use, ok := usage.Honoured(agent, label, value)
		if !ok || use.String() != q.Use && !(label == "noarchive" && q.Use == usage.AIInput.String()) {
			continue
		}
		if _, weaker := labels["nocache"]; label == "noarchive" && weaker {
			if a.Means == usage.Unknown {
				a.Raw = "nocache"
			}
			continue
		}
		a.add(usage.Refuses, value)
	}
	return a
}

// add adds what a statement says. The stricter counts.
func (a *Answer) add(p usage.Preference, raw string) {
	if rank(p) > rank(a.Means) {
		a.Means, a.Raw = p, raw
	}
}

// tdm returns what TDMRep says of an answer in its three places. What a place does not say
// resets nothing.
func (p *Page) tdm(q Question, file *meantDocument) (a Answer) {
	if file != nil {
		a = file.Means(q)
	}
	policy := a.Policy
	for _, place := range [][]usage.PageStatement{p.Header, p.Meta} {
		var values []usage.PageStatement
		for _, s := range place {
			switch s.Header {
			case tdmReservation:
				values = append(values, s)
			case tdmPolicy:
				if s.Remark == "" {
					policy = s.Value
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		first := values[0]
		if slices.ContainsFunc(values, func(s usage.PageStatement) bool { return s.Value != first.Value }) {
			a.Remarks = append(a.Remarks, remarkConflict)
			continue // unset
		}
		if first.Remark != "" {
			a.Remarks = append(a.Remarks, remarkValue)
			continue
		}
		a.Means, a.Raw = first.Preference, first.Value
	}
	if a.Policy = ""; a.Means == usage.Refuses {
		a.Policy = policy
	}
	return a
}
