package consent

import (
	"bytes"
	"mime"
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
