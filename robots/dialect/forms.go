package dialect

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/internal/ascii"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// A Form is one way in which a rule matches: several for a rule that also covers
// a directory, or whose $ is also a letter.
type Form struct {
	Text     []byte // with its anchor
	Length   int
	Wildcard bool
	Anchor   bool
}

// Patterns are read by the fields of a dialect, and by two that every profile has.
type Patterns struct {
	*Matching
	rewriter            rewrite.Rewriter
	wildcards, addSlash bool
}

// PatternsOf returns how a profile reads patterns that has these fields.
func PatternsOf(m *Matching, wildcards, addSlash bool) *Patterns {
	return &Patterns{m, RewriterOf(m), wildcards, addSlash}
}

// Forms appends the ways in which a rule matches; none if it never does.
func (p *Patterns) Forms(dst []Form, pattern []byte, allow bool) []Form {
	if p.keeps(pattern) {
		return append(dst, Form{Text: pattern, Length: len(pattern)})
	}
	for p.MaxPattern > 0 && len(pattern) > p.MaxPattern {
		dst = p.formsOf(dst, pattern[:p.MaxPattern], allow)
		if pattern = pattern[p.MaxPattern+1:]; len(pattern) == 0 {
			return dst
		}
	}
	return p.formsOf(dst, pattern, allow)
}

// keeps reports whether a pattern is so plain that it has one form in every dialect, and that
// is the pattern.
func (m *Matching) keeps(pattern []byte) bool {
	n := len(pattern)
	if n == 0 || pattern[0] != '/' || n > 1 && pattern[1] == '/' || m.MaxPattern > 0 && n > m.MaxPattern ||
		m.Index != "" && (pattern[n-1] == 'm' || pattern[n-1] == 'l') {
		return false
	}
	for _, c := range pattern {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '/', c == '-', c == '_', c == '.':
		case c >= 'A' && c <= 'Z' && !m.FoldCase:
		default:
			return false
		}
	}
	return true
}

func (p *Patterns) formsOf(dst []Form, pattern []byte, allow bool) []Form {
	if string(pattern) == "\n" {
		return dst // see pairs
	}
	if p.LeadingStar || p.AbsolutePath {
		return p.formsOfURL(dst, pattern, allow)
	}
	if len(pattern) == 0 {
		if p.EmptyAllows {
			return append(dst, Form{})
		}
		return dst
	}
	if p.StripStar && pattern[len(pattern)-1] == '*' {
		if pattern = pattern[:len(pattern)-1]; len(pattern) == 0 {
			return dst
		}
	}
	if p.addSlash && pattern[0] != '/' && (pattern[0] != '*' || p.Length != LengthExpression) {
		pattern = append([]byte("/"), pattern...)
	}
	if p.Length == LengthExpression {
		return p.formOfExpression(dst, rewrite.Rewriter{FoldCase: p.FoldCase}.Pattern(pattern, p.wildcards))
	}
	if p.Dollar == DollarVoids {
		pattern = collapsed(pattern)
	}
	text := p.rewriter.Pattern(pattern, p.wildcards)
	switch {
	case len(text) == 0 && p.Requote == rewrite.RequoteWhole:
		return append(dst, Form{}) // a URL of nothing but marks that are lost
	case len(text) == 0:
		return dst
	}
	if !p.wildcards {
		switch {
		case text[0] == '/':
		case p.Anywhere:
			return append(dst, Form{Text: append([]byte("*"), text...), Length: len(text), Wildcard: true})
		default:
			return dst
		}
		return append(dst, Form{Text: text, Length: len(text)})
	}
	form := p.formOf(text)
	if form.Text == nil {
		return dst
	}
	dst = append(dst, form)
	add := func(text []byte) {
		if form := p.formOf(text); form.Text != nil {
			dst = append(dst, form)
		}
	}
	if p.Dollar == DollarLetterToo && bytes.IndexByte(pattern, '$') >= 0 {
		add(p.rewriter.Pattern(bytes.ReplaceAll(pattern, []byte("$"), []byte("%24")), p.wildcards))
	}
	if dir, ok := p.directoryOf(text, allow); ok {
		add(append(slices.Clip(dir), '$'))
		if p.Dollar == DollarLetterToo && p.Index == IndexAllow {
			add(append(slices.Clip(dir), "%24"...))
		}
	}
	return dst
}

// formsOfURL appends the ways in which a rule matches whose pattern is read as a URL, if
// it begins with stars also without them.
func (p *Patterns) formsOfURL(dst []Form, pattern []byte, allow bool) []Form {
	if len(pattern) == 0 && !allow {
		return append(dst, never(0)) // all but the other rules
	}
	add := func(path []byte) {
		f := p.formOf(p.rewriter.Pattern(path, p.wildcards))
		if f.Text == nil {
			f = never(f.Length)
		}
		dst = append(dst, f)
	}
	path, elsewhere := pathOfURL(pattern)
	if elsewhere && !p.AbsolutePath {
		return dst
	}
	if p.LeadingStar && bytes.HasPrefix(pattern, []byte("*")) {
		bare, _ := pathOfURL(bytes.TrimLeft(pattern, "*"))
		add(bare)
	}
	add(path)
	return dst
}

// never is a form that matches no path. It has a place among the others all the same,
// which introsort sees.
func never(length int) Form { return Form{Text: []byte("\n"), Length: length} }

// pathOfURL returns the path of a pattern that is read as a URL, and reports whether that
// has a host.
func pathOfURL(b []byte) (path []byte, host bool) {
	if i := bytes.IndexByte(b, ':'); i >= 0 && !bytes.ContainsFunc(b[:i], func(r rune) bool {
		return r != '+' && r != '-' && r != '.' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) && (i+1 == len(b) || len(bytes.Trim(b[i+1:], "0123456789")) > 0) {
		b = b[i+1:]
	}
	if bytes.HasPrefix(b, []byte("//")) {
		i := bytes.IndexAny(b[2:], "/?")
		if i < 0 {
			i = len(b) - 2
		}
		b, host = b[2+i:], i > 0
	}
	if len(b) == 0 || b[0] != '/' && !ascii.HasPrefixFold(b, "%2f") { // which is decoded to one
		b = append([]byte("/"), b...)
	}
	return b, host
}

// formOf returns the form of a pattern as it is compared; without text if it matches
// nothing.
func (p *Patterns) formOf(text []byte) (f Form) {
	f.Length = len(text)
	switch p.Dollar {
	case DollarVoids:
		core := bytes.TrimRight(text, "$")
		if bytes.IndexByte(core, '$') >= 0 {
			return Form{}
		}
		f.Length = len(core)
	case DollarCuts:
		if i := bytes.IndexByte(text, '$'); i >= 0 {
			text = text[:i+1]
		}
		if bytes.IndexByte(text, '*') >= 0 {
			f.Length = len(bytes.TrimRight(rewrite.OneStar(text), "*"))
		}
		if bytes.HasSuffix(text, []byte("*$")) {
			return Form{Length: f.Length} // nothing is left for the star
		}
	}
	if len(text) == 0 || text[0] != '/' && text[0] != '*' {
		return Form{}
	}
	f.Text, f.Wildcard = text, bytes.IndexByte(text, '*') >= 0
	f.Anchor = text[len(text)-1] == '$'
	return f
}

// expression makes a regular expression of a quoted pattern.
var expression = strings.NewReplacer(`\*`, `.*`, `\$`, `$`)

// formOfExpression appends the form of a pattern that becomes a regular expression if it
// has a * or $, and is as long as that. It is then not bound to the start of the path,
// and matches nothing if something follows a $.
func (p *Patterns) formOfExpression(dst []Form, pattern []byte) []Form {
	pattern = bytes.TrimRight(pattern, "*")
	if len(pattern) == 0 {
		return dst
	}
	if !bytes.ContainsAny(pattern, "*$") {
		return append(dst, Form{Text: pattern, Length: len(pattern)})
	}
	length := len(expression.Replace(regexp.QuoteMeta(string(pattern))))
	core := bytes.TrimRight(pattern, "$")
	if bytes.IndexByte(core, '$') >= 0 {
		return dst
	}
	text := append([]byte("*"), core...)
	anchor := len(core) < len(pattern)
	if anchor {
		text = append(text, '$')
	}
	return append(dst, Form{Text: text, Length: length, Wildcard: true, Anchor: anchor})
}

// collapsed replaces runs of stars by one, and a $ with $ and * after it by one.
func collapsed(pattern []byte) []byte {
	out := bytes.Clone(rewrite.OneStar(pattern))
	for i := 0; i < len(out); i++ {
		if out[i] != '$' {
			continue
		}
		n := i + 1
		for n < len(out) && (out[n] == '$' || out[n] == '*') {
			n++
		}
		out = append(out[:i+1], out[n:]...)
	}
	return out
}

// directoryOf returns the directory that a rule for its index covers too.
func (p *Patterns) directoryOf(text []byte, allow bool) (dir []byte, ok bool) {
	switch {
	case (p.Index == IndexAllow || p.Index == IndexAllowOnly) && allow && bytes.HasSuffix(text, []byte("/index.html")):
		return text[:len(text)-len("index.html")], true
	case p.Index == IndexBoth && (bytes.HasSuffix(text, []byte("index.htm")) ||
		bytes.HasSuffix(text, []byte("index.html"))):
		return text[:bytes.Index(text, []byte("index.htm"))], true
	}
	return nil, false
}
