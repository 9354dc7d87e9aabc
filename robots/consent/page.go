package consent

import (
	"bytes"
	"mime"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/robocensus/robocensus/robots/usage"
)

// HeadBytes is the beginning of a page that is read.
const HeadBytes = 64 << 10

// Bounds of what is kept of a page.
const (
	maxMeta  = 64
	maxLinks = 16
	maxValue = 2 << 10
)

// rslType is the media type of licences in XML.
const rslType = "application/rsl+xml"

// A Head is what the beginning of a page says in its HTML.
type Head struct {
	Meta     []usage.HeaderField // meta elements with a name: the name in lower case, and the content
	Licenses []string            // links to licences in XML, as written
	RSL      [][]byte            // scripts that are licences in XML
}

// ReadHead reads the beginning of a page. It needs no head element: real pages put these
// elements anywhere.
func ReadHead(page []byte) (h Head) {
	in := html.NewTokenizer(bytes.NewReader(page[:min(len(page), HeadBytes)]))
	isRSL := false
	for {
		switch in.Next() {
		case html.ErrorToken:
			return h
		case html.TextToken:
			if isRSL && len(h.RSL) < maxLinks {
				h.RSL = append(h.RSL, bytes.Clone(bytes.TrimSpace(in.Raw())))
			}
			isRSL = false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := in.TagName()
			isRSL = false
			if !more {
				continue
			}
			switch atom.Lookup(name) {
			case atom.Meta:
				h.meta(attributesOf(in))
			case atom.Link:
				h.link(attributesOf(in))
			case atom.Script:
				isRSL = isRSLType(attributesOf(in)["type"])
			}
		default:
			isRSL = false
		}
	}
}

// attributesOf returns the attributes of a tag: of several of a name, the first.
func attributesOf(in *html.Tokenizer) map[string]string {
	all := make(map[string]string)
	for more := true; more; {
		var name, value []byte
		name, value, more = in.TagAttr()
		if _, known := all[string(name)]; !known && len(all) < 32 {
			all[string(name)] = string(value)
		}
	}
	return all
}

func (h *Head) meta(a map[string]string) {
	name, content := strings.ToLower(strings.TrimSpace(a["name"])), a["content"]
	if name == "" || len(name) > 64 || len(content) > maxValue || len(h.Meta) >= maxMeta {
		return
	}
	h.Meta = append(h.Meta, usage.HeaderField{Name: name, Value: &content})
}

func (h *Head) link(a map[string]string) {
	if href := strings.TrimSpace(a["href"]); href != "" && len(href) <= maxValue && hasRel(a["rel"], "license") &&
		isRSLType(a["type"]) && len(h.Licenses) < maxLinks {
		h.Licenses = append(h.Licenses, href)
	}
}

// hasRel reports whether a list of relations has one.
func hasRel(list, rel string) bool {
	return slices.Contains(strings.Fields(strings.ToLower(list)), rel)
}

func isRSLType(text string) bool {
	media, _, err := mime.ParseMediaType(text)
	return err == nil && media == rslType
}

// LinkedLicenses returns the targets of the links to licences in XML in the values of the
// header Link (RFC 8288), as written.
func LinkedLicenses(values []string) (all []string) {
	for _, value := range values {
		for len(value) > 0 && len(all) < maxLinks {
			open := strings.IndexByte(value, '<')
			if open < 0 {
				break
			}
			target, rest, ok := strings.Cut(value[open+1:], ">")
			if !ok {
				break
			}
			var rel, kind string
			rel, kind, value = linkParameters(rest)
			if target = strings.TrimSpace(target); target != "" && hasRel(rel, "license") && isRSLType(kind) {
				all = append(all, target)
			}
		}
	}
	return all
}

// linkParameters reads the parameters of a link, and returns what follows its comma.
func linkParameters(text string) (rel, kind, rest string) {
	for {
		text = strings.TrimLeft(text, " \t")
		if text == "" || text[0] != ';' {
			_, rest, _ = strings.Cut(text, ",")
			return rel, kind, rest
		}
		text = text[1:]
		end := strings.IndexAny(text, "=;,")
		if end < 0 {
			return rel, kind, ""
		}
		name, value := strings.ToLower(strings.TrimSpace(text[:end])), ""
		if text[end] != '=' {
			text = text[end:]
			continue
		}
		text = strings.TrimLeft(text[end+1:], " \t")
		if strings.HasPrefix(text, `"`) {
			value, text, _ = strings.Cut(text[1:], `"`)
		} else if end = strings.IndexAny(text, ";,"); end >= 0 {
			value, text = text[:end], text[end:]
		} else {
			value, text = text, ""
		}
		switch {
		case name == "rel" && rel == "":
			rel = value
		case name == "type" && kind == "":
			kind = strings.TrimSpace(value)
		}
	}
}

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
func (p *Page) Means(q Question, file *Document) (a Answer) {
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
func (p *Page) tdm(q Question, file *Document) (a Answer) {
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
