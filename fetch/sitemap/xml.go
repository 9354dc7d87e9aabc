package sitemap

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/orisano/gosax"
)

// A root is a kind of document, and where its pages stand in it: in elements of these names.
type root struct {
	kind    Kind
	entries []string
}

var roots = map[string]root{
	"urlset": {URLSet, []string{"url", "sitemap"}}, "sitemapindex": {Index, []string{"sitemap", "url"}},
	"rss": {RSS, []string{"item"}}, "RDF": {RSS, []string{"item"}}, "feed": {Atom, []string{"entry"}},
}

// reader holds the place in a document. The tokenizer checks no nesting, so that an element
// that is not closed is found out where the next entry begins or the entry ends.
type reader struct {
	*document
	root      root
	prefix    string // of the names of entries
	depth     int    // of open elements
	entryAt   int    // depth of the open entry, 0 for none
	isOver    bool   // the root is closed
	hasEntity bool   // the document defines entities

	now    Entry
	guid   string // of an item without a link
	field  string // whose text is read, "" for none
	text   []byte
	isLost bool // the field has an entity of the document's own
	noGUID bool // the guid is no link
}

func (d *document) readXML(in io.Reader) error {
	r := &reader{document: d}
	x := gosax.NewReaderSize(in, 1<<16)
	x.EmitSelfClosingTag = true
	for {
		event, err := x.Event()
		switch {
		case err == nil && event.Type() != gosax.EventEOF:
			done, err := r.take(event)
			if done || err != nil {
				return err
			}
		case err == nil, isEnd(err):
			return r.end()
		case errors.Is(err, errLimit), errors.Is(err, errPacked):
			r.lastEntry()
			return err
		case isOfReading(err):
			return err
		default:
			d.result.remark(Tags)
			return r.lastEntry()
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// isOfReading tells an error of the reader below from the tokenizer's own, which are texts.
func isOfReading(err error) bool {
	return !strings.HasPrefix(err.Error(), "unknown bang type")
}

// end ends a document that has no more tokens.
func (r *reader) end() error {
	switch {
	case r.result.Kind == None && len(r.result.Remarks) == 0:
		r.result.remark(Other)
	case r.result.Kind != None && !r.isOver:
		r.result.remark(Cut)
	}
	return r.lastEntry()
}

// lastEntry ends an entry that is not closed. It has a URL only if the element of that is.
func (r *reader) lastEntry() error {
	if r.entryAt > 0 {
		return r.endEntry()
	}
	return nil
}

// take reads a token. It reports whether the rest of the document does not matter.
func (r *reader) take(event gosax.Event) (done bool, err error) {
	switch event.Type() {
	case gosax.EventStart:
		return r.start(event.Bytes)
	case gosax.EventEnd:
		return false, r.close(event.Bytes)
	case gosax.EventText:
		if r.field != "" {
			bare, entity := false, false
			r.text, bare, entity = unescape(r.text, event.Bytes)
			if entity && r.hasEntity {
				r.isLost = true
				r.result.remark(Entity)
			} else if bare {
				r.result.remark(Ampersand)
			}
		}
	case gosax.EventCData:
		if r.field != "" {
			r.text = append(r.text, bytes.TrimSuffix(bytes.TrimPrefix(event.Bytes, []byte("<![CDATA[")), []byte("]]>"))...)
		}
	case gosax.EventDocType:
		r.hasEntity = r.hasEntity || bytes.Contains(event.Bytes, []byte("<!ENTITY"))
		if strings.Contains(strings.ToLower(string(event.Bytes[:min(len(event.Bytes), 20)])), "html") {
			r.result.remark(HTML)
			return true, nil
		}
	}
	return false, nil
}

// nameOf returns the parts of the name of a tag, the local one in lower case if the root is
// in capitals.
func (r *reader) nameOf(tag []byte) (prefix []byte, local string) {
	name, _ := gosax.Name(tag)
	if last := len(name) - 1; last >= 0 && name[last] == '/' {
		name = name[:last]
	}
	if local = known(name); local != "" {
		return nil, local
	}
	if at := bytes.IndexByte(name, ':'); at >= 0 {
		prefix, name = name[:at], name[at+1:]
		if r.result.Kind != None && string(prefix) != r.prefix && r.depth > max(1, r.entryAt) {
			return prefix, "" // of an extension: what it is called does not matter
		}
		if local = known(name); local != "" {
			return prefix, local
		}
	}
	if local = string(name); r.result.Is(Case) {
		local = strings.ToLower(local)
	}
	return prefix, local
}

// known returns a name of an element that matters, or that is frequent, without a copy; "" for
// another.
func known(name []byte) string {
	switch string(name) {
	case "url":
		return "url"
	case "loc":
		return "loc"
	case "lastmod":
		return "lastmod"
	case "changefreq":
		return "changefreq"
	case "priority":
		return "priority"
	case "sitemap":
		return "sitemap"
	case "urlset":
		return "urlset"
	case "sitemapindex":
		return "sitemapindex"
	case "link":
		return "link"
	case "item":
		return "item"
	case "entry":
		return "entry"
	case "guid":
		return "guid"
	case "title":
		return "title"
	case "pubDate":
		return "pubDate"
	case "updated":
		return "updated"
	case "id":
		return "id"
	case "summary":
		return "summary"
	case "description":
		return "description"
	}
	return ""
}

func (r *reader) start(tag []byte) (done bool, err error) {
	prefix, name := r.nameOf(tag)
	if r.isOver {
		r.result.remark(Trailing)
		return true, nil
	}
	if r.result.Kind == None {
		return r.begin(string(prefix), name), nil
	}
	r.depth++
	if string(prefix) == r.prefix {
		if i := slices.Index(r.root.entries, name); i >= 0 {
			return false, r.startEntry(i)
		}
	}
	if r.entryAt > 0 && r.depth == r.entryAt+1 && string(prefix) == r.prefix {
		r.startField(name, tag)
	}
	return false, nil
}

// begin takes the root. It reports whether the document is none.
func (r *reader) begin(prefix, name string) (done bool) {
	root, ok := roots[name]
	if !ok {
		if root, ok = roots[strings.ToLower(name)]; ok {
			r.result.remark(Case)
		}
	}
	if !ok {
		remark := Other
		if strings.EqualFold(name, "html") || strings.EqualFold(name, "head") || strings.EqualFold(name, "body") {
			remark = HTML
		}
		r.result.remark(remark)
		return true
	}
	if r.prefix = prefix; root.kind == RSS {
		r.prefix = ""
	}
	r.root, r.depth, r.result.Kind = root, 1, root.kind
	return false
}

// startEntry begins an entry: the first of the names of the root is what it lists.
func (r *reader) startEntry(which int) error {
	if at := r.entryAt; at > 0 {
		r.result.remark(Tags)
		if err := r.lastEntry(); err != nil {
			return err
		}
		r.depth = at
	}
	if which > 0 {
		r.result.remark(Mixed)
	}
	r.entryAt, r.field = r.depth, ""
	r.now, r.guid, r.noGUID = Entry{IsSitemap: (r.root.kind == Index) == (which == 0) && r.root.kind != RSS &&
		r.root.kind != Atom}, "", false
	return nil
}

// startField begins an element of an entry. An entry of Atom has its URL in an attribute.
func (r *reader) startField(name string, tag []byte) {
	switch {
	case r.root.kind == Atom && name == "link":
		attributes := attributesOf(tag)
		if rel := attributes["rel"]; r.now.URL == "" && (rel == "" || rel == "alternate") {
			r.now.URL = strings.TrimSpace(attributes["href"])
		}
		return
	case r.root.kind == RSS && name == "guid":
		r.noGUID = strings.EqualFold(attributesOf(tag)["isPermaLink"], "false")
	case r.root.kind == RSS && (name == "link" || name == "pubDate"), r.root.kind == Atom && name == "updated":
	case r.root.kind != RSS && r.root.kind != Atom && (name == "loc" || name == "lastmod"):
	default:
		return
	}
	r.field, r.text, r.isLost = name, r.text[:0], false
}

func attributesOf(tag []byte) map[string]string {
	_, rest := gosax.Name(tag)
	out := make(map[string]string)
	for len(rest) > 0 && len(out) < 16 {
		a, after, err := gosax.NextAttribute(rest)
		if err != nil || len(a.Key) == 0 {
			break
		}
		value, _, _ := unescape(nil, bytes.Trim(a.Value, `"'`))
		out[string(a.Key)], rest = string(value), after
	}
	return out
}

// close closes an element.
func (r *reader) close(tag []byte) error {
	if r.result.Kind == None || r.isOver {
		return nil
	}
	prefix, name := r.nameOf(tag)
	isOurs := string(prefix) == r.prefix
	switch {
	case isOurs && r.entryAt > 0 && slices.Contains(r.root.entries, name):
		if r.depth != r.entryAt {
			r.result.remark(Tags)
		}
		r.depth = r.entryAt - 1
		return r.endEntry()
	case r.field != "" && isOurs && name == r.field:
		r.endField()
		r.depth = r.entryAt
		return nil
	case r.depth <= max(1, r.entryAt) && roots[name].kind == r.root.kind:
		r.isOver, r.depth = true, 0
		if r.entryAt > 0 {
			r.result.remark(Tags)
		}
		return r.lastEntry()
	}
	if r.depth > 1 {
		r.depth--
	}
	return nil
}

// endField takes the text of an element. The first of several counts.
func (r *reader) endField() {
	text := string(bytes.TrimSpace(r.text))
	switch r.field {
	case "loc", "link":
		if r.now.URL == "" && !r.isLost {
			r.now.URL = text
		}
	case "guid":
		if !r.noGUID && !r.isLost {
			r.guid = text
		}
	default:
		r.now.LastMod = text
	}
	r.field = ""
}

func (r *reader) endEntry() error {
	r.entryAt, r.field = 0, ""
	if r.now.URL == "" && r.guid != "" {
		r.now.URL = r.guid
	}
	return r.entry(r.now)
}
