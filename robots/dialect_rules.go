package robots

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/internal/ascii"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// A dialectForm is one way in which a rule matches: several for a rule that also covers
// a directory, or whose $ is also a letter.
type dialectForm struct {
	text     []byte // with its anchor
	length   int
	wildcard bool
	anchor   bool
}

// compile sets what comparing the rules requires, and makes the file that a judge
// compiles: one rule for each form.
func (d *dialectParser) compile() {
	out := &File{Agents: slices.Clone(d.Agents), Groups: slices.Clone(d.Groups)}
	type ranked struct{ rule, length, order int }
	var all []ranked
	for g := range d.Groups {
		rules := out.Groups[g].Rules
		out.Groups[g].Rules.From = int32(len(out.Rules))
		for i := rules.From; i < rules.To; i++ {
			r := &d.Rules[i]
			if r.Length > 0 {
				continue // a crawl-delay that forbids everything
			}
			forms := d.p.forms(r)
			for k, form := range forms {
				if k == 0 {
					r.Normalized, r.Wildcard, r.Anchor, r.Effective = form.text, form.wildcard, form.anchor, true
					r.Length = int32(min(form.length, math.MaxInt32))
				}
				c := *r
				c.Normalized, c.Wildcard, c.Anchor, c.Effective = form.text, form.wildcard, form.anchor, true
				if len(r.Pattern) == 0 {
					c.Kind = Allow // in whichever field
				}
				all = append(all, ranked{len(out.Rules), form.length, int(i)})
				out.Rules = append(out.Rules, c)
			}
		}
		out.Groups[g].Rules.To = int32(len(out.Rules))
	}
	for _, c := range d.closing {
		n, g := int32(len(out.Rules)), int32(len(out.Groups))
		out.Groups = append(out.Groups, Group{Line: d.Groups[d.Rules[c.rule].Group].Line, Agents: Span{int32(len(out.Agents)), int32(len(out.Agents)) + 1}, Rules: Span{n, n + 1}})
		a := out.Agents[c.agent]
		a.Group = g
		out.Agents = append(out.Agents, a)
		d.Rules[c.rule].Effective = true
		all = append(all, ranked{int(n), math.MaxInt32, int(c.rule)})
		out.Rules = append(out.Rules, d.Rules[c.rule])
	}
	// Rules are ranked: a verdict compares nothing but ranks.
	slices.SortFunc(all, func(a, b ranked) int {
		switch {
		case d.p.Order == OrderFirst, a.length == b.length && d.p.Order == OrderLongestFirst:
			return b.order - a.order
		}
		return a.length - b.length
	})
	rank := int32(0)
	for i := range all {
		if i == 0 || all[i].length != all[i-1].length || (d.p.Order == OrderFirst || d.p.Order == OrderLongestFirst) && all[i].order != all[i-1].order {
			rank++
		}
		out.Rules[all[i].rule].Length = rank
	}
	d.compiled = out
}

// forms returns the ways in which a rule matches; none if it never does.
func (p *Profile) forms(r *Rule) (forms []dialectForm) {
	pattern := r.Pattern
	if string(pattern) == "\n" {
		return nil // see pairs
	}
	if p.LeadingStar {
		return p.formsOfURL(r)
	}
	if len(pattern) == 0 {
		if p.EmptyAllows {
			return []dialectForm{{}}
		}
		return nil
	}
	if p.StripStar && pattern[len(pattern)-1] == '*' {
		if pattern = pattern[:len(pattern)-1]; len(pattern) == 0 {
			return nil
		}
	}
	if p.AddSlash && pattern[0] != '/' && (pattern[0] != '*' || p.Length != LengthExpression) {
		pattern = append([]byte("/"), pattern...)
	}
	if p.Length == LengthExpression {
		return p.formOfExpression(pattern)
	}
	if p.Dollar == DollarVoids {
		pattern = collapsed(pattern)
	}
	text := p.rewriter().Pattern(pattern, p.Wildcards)
	if len(text) == 0 {
		return nil
	}
	if !p.Wildcards {
		if text[0] != '/' {
			return nil
		}
		return []dialectForm{{text: text, length: len(text)}}
	}
	form := p.formOf(text)
	if form.text == nil {
		return nil
	}
	forms = append(forms, form)
	if p.Dollar == DollarLetterToo && bytes.IndexByte(pattern, '$') >= 0 {
		forms = append(forms, p.formOf(p.rewriter().Pattern(bytes.ReplaceAll(pattern, []byte("$"), []byte("%24")), p.Wildcards)))
	}
	if dir, ok := p.directoryOf(text, r.Kind); ok {
		forms = append(forms, p.formOf(append(slices.Clip(dir), '$')))
		if p.Dollar == DollarLetterToo {
			forms = append(forms, p.formOf(append(slices.Clip(dir), "%24"...)))
		}
	}
	return slices.DeleteFunc(forms, func(f dialectForm) bool { return f.text == nil })
}

// formsOfURL returns the ways in which a rule matches whose pattern is read as a URL, if
// it begins with stars also without them.
func (p *Profile) formsOfURL(r *Rule) (forms []dialectForm) {
	pattern := r.Pattern
	if len(pattern) == 0 && r.Kind == Disallow {
		return []dialectForm{never(0)} // all but the other rules
	}
	add := func(path []byte) {
		f := p.formOf(p.rewriter().Pattern(path, p.Wildcards))
		if f.text == nil {
			f = never(f.length)
		}
		forms = append(forms, f)
	}
	path, elsewhere := pathOfURL(pattern)
	if elsewhere {
		return nil
	}
	if bytes.HasPrefix(pattern, []byte("*")) {
		bare, _ := pathOfURL(bytes.TrimLeft(pattern, "*"))
		add(bare)
	}
	add(path)
	return forms
}

// never is a form that matches no path. It has a place among the others all the same,
// which introsort sees.
func never(length int) dialectForm { return dialectForm{text: []byte("\n"), length: length} }

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
func (p *Profile) formOf(text []byte) (f dialectForm) {
	f.length = len(text)
	switch p.Dollar {
	case DollarVoids:
		core := bytes.TrimRight(text, "$")
		if bytes.IndexByte(core, '$') >= 0 {
			return dialectForm{}
		}
		f.length = len(core)
	case DollarCuts:
		if i := bytes.IndexByte(text, '$'); i >= 0 {
			text = text[:i+1]
		}
		if bytes.IndexByte(text, '*') >= 0 {
			f.length = len(bytes.TrimRight(rewrite.OneStar(text), "*"))
		}
		if bytes.HasSuffix(text, []byte("*$")) {
			return dialectForm{length: f.length} // nothing is left for the star
		}
	}
	if len(text) == 0 || text[0] != '/' && text[0] != '*' {
		return dialectForm{}
	}
	f.text, f.wildcard = text, bytes.IndexByte(text, '*') >= 0
	f.anchor = text[len(text)-1] == '$'
	return f
}

// formOfExpression returns the form of a pattern that becomes a regular expression if it
// has a * or $, and is as long as that. It is then not bound to the start of the path,
// and matches nothing if something follows a $.
func (p *Profile) formOfExpression(pattern []byte) []dialectForm {
	pattern = bytes.TrimRight(pattern, "*")
	if len(pattern) == 0 {
		return nil
	}
	if !bytes.ContainsAny(pattern, "*$") {
		return []dialectForm{{text: pattern, length: len(pattern)}}
	}
	length := len(strings.NewReplacer(`\*`, `.*`, `\$`, `$`).Replace(regexp.QuoteMeta(string(pattern))))
	core := bytes.TrimRight(pattern, "$")
	if bytes.IndexByte(core, '$') >= 0 {
		return nil
	}
	text := append([]byte("*"), core...)
	anchor := len(core) < len(pattern)
	if anchor {
		text = append(text, '$')
	}
	return []dialectForm{{text: text, length: length, wildcard: true, anchor: anchor}}
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
func (p *Profile) directoryOf(text []byte, k Kind) (dir []byte, ok bool) {
	switch {
	case p.Index == IndexAllow && k == Allow && bytes.HasSuffix(text, []byte("/index.html")):
		return text[:len(text)-len("index.html")], true
	case p.Index == IndexBoth && (bytes.HasSuffix(text, []byte("index.htm")) || bytes.HasSuffix(text, []byte("index.html"))):
		return text[:bytes.Index(text, []byte("index.htm"))], true
	}
	return nil, false
}
