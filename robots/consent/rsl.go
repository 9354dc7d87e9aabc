package consent

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// rslNamespace decides whether a document is one, whatever its media type (2.2).
const rslNamespace = "https://rslstandard.org/rsl"

// maxDepth bounds the elements that are open at once.
const maxDepth = 64

// Remarks about licences.
const (
	remarkAlias         = "alias"              // a label of AIPREF for a token of RSL
	remarkOld           = "0.9"                // commas, URLs, and names of the version before
	remarkUnknownToken  = "token_unknown"      // a token of no version
	remarkToken         = "token"              // a server demands a token, of free licences too
	remarkPrefix        = "prefix"             // names have a prefix
	remarkPayment       = "payment_type"       // a type of payment that nobody defines
	remarkSelf          = "self_contradiction" // what is permitted is prohibited
	remarkNotAssociated = "not_associated"     // nobody names the document: it is about nothing
	remarkOtherOrigin   = "other_origin"       // a content of another origin
	remarkEncrypted     = "encrypted"          // encrypted without a server, or no Boolean
	remarkClosed        = "closed_list"        // refused since a list of permits lacks it
)

// An rslContent is an element content: what a path may be used for.
type rslContent struct {
	path     string
	line     int
	server   bool
	licenses []rslLicense
	foreign  bool // of another origin: it binds nothing here
}

// An rslLicense is an offer, and what it withholds.
type rslLicense struct {
	permits, prohibits map[string][]string // by type: usage, user, geo
	payment            *rslPayment
}

type rslPayment struct {
	kind             string
	amount, currency string
	isShared         bool // names a licence of its own: standard or custom
}

// terms are the elements of each element, and how many of each there may be: 0 for any
// number, -1 for one of each type.
var rslElements = map[string]map[string]int{
	"rsl":       {"content": 0},
	"content":   {"license": 0, "alternate": 0, "schema": 1, "copyright": 1, "terms": 1},
	"license":   {"permits": -1, "prohibits": -1, "payment": 1, "reporting": 0, "legal": -1},
	"payment":   {"standard": 1, "custom": 1, "amount": 1, "accepts": 1},
	"permits":   nil,
	"prohibits": nil, "reporting": nil, "legal": nil, "alternate": nil, "schema": nil, "copyright": nil, "terms": nil,
	"standard": nil, "custom": nil, "amount": nil, "accepts": nil,
}

// errInvalid is a document that does not conform.
type errInvalid string

func (e errInvalid) Error() string { return string(e) }

// readRSL reads the licences of a document, of a page's scripts or of a feed.
func readRSL(d *Document, body []byte, s *Served) any {
	m := &rslTerms{isAssociated: s.By != AtPath}
	texts := [][]byte{body}
	if s.By == Embedded && answer.IsHTML(body) {
		if texts = ReadHead(body).RSL; len(texts) == 0 {
			d.Invalid = "page"
			return nil
		}
	}
	for _, text := range texts {
		r := &rslReader{document: d, served: s, text: text}
		if err := r.read(); err != nil {
			if d.Invalid = "not_xml"; errors.As(err, new(errInvalid)) {
				d.Invalid = err.Error()
			}
			return nil
		}
		m.contents = append(m.contents, r.contents...)
	}
	if !m.isAssociated {
		d.remark(remarkNotAssociated)
	}
	m.stateAll(d)
	return m
}

// rslReader reads the elements of a text.
type rslReader struct {
	document *Document
	served   *Served
	text     []byte
	in       *xml.Decoder
	contents []rslContent
	isFeed   bool
}

func (r *rslReader) read() error {
	r.in = xml.NewDecoder(bytes.NewReader(r.text))
	r.in.CharsetReader = charset.NewReaderLabel
	depth, isRead := 0, false
	for {
		token, err := r.in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errInvalid("too_deep")
			}
			isOurs := t.Name.Space == rslNamespace
			switch {
			case depth == 1 && isOurs && t.Name.Local == "rsl":
				isRead = true
				if _, err := r.children("rsl", t, 1); err != nil {
					return err
				}
				depth--
			case depth == 1 && (t.Name.Local == "rss" || t.Name.Local == "feed" || t.Name.Local == "RDF"):
				r.isFeed = true
			case depth == 1:
				return errInvalid("namespace")
			case isOurs && t.Name.Local == "content":
				isRead = true
				if err := r.content(t, depth); err != nil {
					return err
				}
				depth--
			case isOurs:
				return errInvalid("unknown_element")
			}
		case xml.EndElement:
			depth--
		}
	}
	switch {
	case !isRead:
		return errInvalid("namespace")
	case len(r.contents) == 0:
		return errInvalid("no_content")
	}
	return nil
}

// children reads what an element holds, to its end: its own text, and each element by its
// kind. Elements of other namespaces are passed over with all that they hold.
func (r *rslReader) children(of string, start xml.StartElement, depth int) (element, error) {
	e := element{start: start}
	if depth > maxDepth {
		return e, errInvalid("too_deep")
	}
	if r.hasPrefix(start) && !r.isFeed {
		r.document.remark(remarkPrefix)
	}
	counts := make(map[string]int)
	for {
		token, err := r.in.Token()
		if err != nil {
			return e, err
		}
		switch t := token.(type) {
		case xml.EndElement:
			e.text = strings.TrimSpace(e.text)
			return e, nil
		case xml.CharData:
			if len(e.text) < 4<<10 {
				e.text += string(t)
			}
		case xml.StartElement:
			if t.Name.Space != rslNamespace {
				if err := r.skip(depth + 1); err != nil {
					return e, err
				}
				continue
			}
			most, known := rslElements[of][t.Name.Local]
			if !known {
				return e, errInvalid("unknown_element")
			}
			key := t.Name.Local
			if most < 0 {
				key += " " + attribute(t, "type")
			}
			if counts[key]++; most != 0 && counts[key] > 1 {
				return e, errInvalid("repeated_element")
			}
			if of == "rsl" {
				if err := r.content(t, depth+1); err != nil {
					return e, err
				}
				continue
			}
			child, err := r.children(t.Name.Local, t, depth+1)
			if err != nil {
				return e, err
			}
			e.children = append(e.children, child)
		}
	}
}

// skip passes over an element with all that it holds.
func (r *rslReader) skip(depth int) error {
	for open := 1; open > 0; {
		token, err := r.in.Token()
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			if open++; depth+open > maxDepth {
				return errInvalid("too_deep")
			}
		case xml.EndElement:
			open--
		}
	}
	return nil
}

// An element is one of RSL, with those of RSL that it holds.
type element struct {
	start    xml.StartElement
	text     string
	children []element
}

func (e *element) name() string { return e.start.Name.Local }

func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// hasPrefix reports whether the name of an element has a prefix as written: the tokenizer
// gives the namespace alone.
func (r *rslReader) hasPrefix(start xml.StartElement) bool {
	at := r.in.InputOffset()
	open := bytes.LastIndexByte(r.text[:min(at, int64(len(r.text)))], '<')
	if open < 0 {
		return false
	}
	name := r.text[open+1:]
	end := bytes.IndexAny(name, " \t\r\n/>:")
	return end >= 0 && name[end] == ':' && !bytes.HasPrefix(name, []byte(start.Name.Local+":"))
}

// content reads an element content. It must have a URL and a licence (3.3).
func (r *rslReader) content(start xml.StartElement, depth int) error {
	c := rslContent{}
	c.line, _ = r.in.InputPos()
	if r.served.By == Embedded {
		c.line = 0 // of a script or a feed's element, whose lines nobody counts
	}
	e, err := r.children("content", start, depth)
	if err != nil {
		return err
	}
	if len(r.contents) >= maxStatements {
		r.document.remark(remarkLimit)
		return nil
	}
	hasURL := slices.ContainsFunc(start.Attr, func(a xml.Attr) bool { return a.Name.Space == "" && a.Name.Local == "url" })
	if c.path = strings.TrimSpace(attribute(start, "url")); !hasURL || c.path == "" && r.served.By != Embedded {
		return errInvalid("no_url")
	}
	if isURL(c.path) {
		path, ok := originPath(c.path, r.served.URL)
		if c.foreign = !ok; ok {
			c.path = path
		}
		switch {
		case c.foreign:
			r.document.remark(remarkOtherOrigin)
		case !r.isFeed:
			r.document.remark(remarkOld)
		}
	}
	c.server = strings.TrimSpace(attribute(start, "server")) != ""
	if encrypted := attribute(start, "encrypted"); encrypted != "" && encrypted != "false" &&
		(encrypted != "true" || !c.server) {
		r.document.remark(remarkEncrypted)
	}
	for i := range e.children {
		if e.children[i].name() == "license" {
			c.licenses = append(c.licenses, r.license(&e.children[i]))
		}
	}
	if len(c.licenses) == 0 {
		return errInvalid("no_license")
	}
	r.contents = append(r.contents, c)
	return nil
}

// license reads an element license.
func (r *rslReader) license(e *element) rslLicense {
	l := rslLicense{permits: make(map[string][]string), prohibits: make(map[string][]string)}
	for i := range e.children {
		switch c := &e.children[i]; c.name() {
		case "permits":
			l.permits[attribute(c.start, "type")] = r.tokens(c)
		case "prohibits":
			l.prohibits[attribute(c.start, "type")] = r.tokens(c)
		case "payment":
			l.payment = r.payment(c)
		}
	}
	return l
}

// tokens returns the tokens of a list. They stand between spaces; in version 0.9, between
// commas.
func (r *rslReader) tokens(e *element) []string {
	if strings.Contains(e.text, ",") {
		r.document.remark(remarkOld)
	}
	all := strings.FieldsFunc(e.text, func(c rune) bool { return c == ',' || c <= ' ' })
	all = all[:min(len(all), 100)]
	kind := attribute(e.start, "type")
	for i, token := range all {
		if kind == "usage" && token == "train-ai" {
			r.document.remark(remarkAlias)
			all[i] = usage.AITrain.String()
		}
		if known, ok := rslTokens[kind]; !ok || known != nil && !slices.Contains(known, all[i]) {
			r.document.remark(remarkUnknownToken)
		}
	}
	if all == nil {
		all = []string{} // a closed list of nothing
	}
	return all
}

// payment reads an element payment.
func (r *rslReader) payment(e *element) *rslPayment {
	p := &rslPayment{kind: attribute(e.start, "type")}
	for i := range e.children {
		switch c := &e.children[i]; c.name() {
		case "standard", "custom":
			p.isShared = true
		case "amount":
			p.amount, p.currency = short(c.text), attribute(c.start, "currency")
		}
	}
	if p.kind == "inference" {
		p.kind = "use"
		r.document.remark(remarkOld)
	}
	if p.currency == "XBT" {
		r.document.remark(remarkOld)
	}
	if p.kind != "" && !slices.Contains(paymentTypes, p.kind) {
		r.document.remark(remarkPayment)
	}
	return p
}
