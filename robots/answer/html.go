package answer

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// htmlHead is the number of bytes in which IsHTML looks for the first tag.
const htmlHead = 1024

// IsHTML reports whether a body begins like a web page: after a BOM, white
// space and comments, with a doctype or one of the tags html, head, title,
// meta, script or body. It looks at the first kilobyte only.
func IsHTML(body []byte) bool {
	b := body[:min(len(body), htmlHead)]
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	for {
		b = bytes.TrimLeft(b, " \t\r\n\f")
		if len(b) == 0 || b[0] != '<' {
			return false
		}
		if rest, ok := bytes.CutPrefix(b, []byte("<!--")); ok {
			_, after, found := bytes.Cut(rest, []byte("-->"))
			if !found {
				return true
			}
			b = after
			continue
		}
		if rest, ok := bytes.CutPrefix(b, []byte("<?xml")); ok {
			_, after, found := bytes.Cut(rest, []byte("?>"))
			if !found {
				return false
			}
			b = after
			continue
		}
		break
	}
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<title", "<meta", "<script", "<body"} {
		if len(b) >= len(tag) && bytes.EqualFold(b[:len(tag)], []byte(tag)) {
			return true
		}
	}
	return false
}

// RedirectsByHTML reports whether a body is a web page that redirects its reader:
// by a meta element with http-equiv refresh and a url, by frames (a frame
// element with a source; an iframe is part of a page, not a redirect), or by a
// script.
func RedirectsByHTML(body []byte) bool {
	if !IsHTML(body) {
		return false
	}
	for rest := body; ; {
		i := bytes.IndexByte(rest, '<')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		if bytes.HasPrefix(rest, []byte("!--")) {
			end := bytes.Index(rest, []byte("-->"))
			if end < 0 {
				return false
			}
			rest = rest[end:]
			continue
		}
		end := bytes.IndexByte(rest, '>')
		if end < 0 {
			return false
		}
		tag := rest[:end]
		rest = rest[end:]
		switch {
		case isTag(tag, "meta"):
			low := bytes.ToLower(tag)
			_, value, _ := bytes.Cut(low, []byte("http-equiv"))
			value = bytes.TrimLeft(value, "= \t\r\n\"'")
			if bytes.HasPrefix(value, []byte("refresh")) && bytes.Contains(low, []byte("url")) {
				return true
			}
		case isTag(tag, "frame"):
			if bytes.Contains(bytes.ToLower(tag), []byte("src")) {
				return true
			}
		case isTag(tag, "script"):
			var script []byte
			script, rest = cutScript(rest[1:])
			if !isData(tag) && scriptRedirects(script) {
				return true
			}
		}
	}
}

// isTag reports whether the text after a < is a tag of that name.
func isTag(tag []byte, name string) bool {
	n := len(name)
	return len(tag) >= n && bytes.EqualFold(tag[:n], []byte(name)) &&
		(len(tag) == n || ascii.IsSpace(tag[n]) || tag[n] == '/' || tag[n] == '>')
}

// isData reports whether a script element holds data or a template: its type
// names neither JavaScript nor a module.
func isData(tag []byte) bool {
	low := bytes.ToLower(tag)
	_, kind, found := bytes.Cut(low, []byte(" type"))
	kind = bytes.TrimLeft(kind, "= \t\r\n\"'")
	return found && len(kind) > 0 && !bytes.Contains(kind, []byte("javascript")) &&
		!bytes.Contains(kind, []byte("ecmascript")) && !bytes.HasPrefix(kind, []byte("module"))
}

// cutScript splits the text after a script tag at its end tag, if there is one.
func cutScript(text []byte) (script, rest []byte) {
	for i := 0; ; {
		n := bytes.Index(text[i:], []byte("</"))
		if n < 0 {
			return text, nil
		}
		if i += n; isTag(text[i+2:], "script") {
			return text[:i], text[i:]
		}
		i += 2
	}
}
