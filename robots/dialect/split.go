package dialect

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// split splits a line into field and value; key is nil if it has no field. colon
// reports whether there is a colon between them.
func (p *reader) split(b []byte) (key, value []byte, colon bool) {
	i := bytes.IndexByte(b, ':')
	switch p.Colon {
	case ColonOrSpace:
		if key, value = p.splitKnown(b); key != nil {
			return key, value, true
		}
	case ColonOrSpaceLower:
		if i < 0 {
			key, value = p.splitLower(b)
			return key, value, key != nil
		}
	case ColonOrWords:
		if key, value = p.splitWords(b, i); key != nil {
			return key, value, true
		}
	case ColonTight, ColonExact:
		if i > 0 && ascii.IsSpace(b[i-1]) {
			return nil, nil, false
		}
	}
	if i < 0 {
		return nil, nil, false
	}
	key = p.trim(b[:i])
	if len(key) == 0 {
		return nil, nil, false
	}
	return key, p.trim(b[i+1:]), true
}

// pairs takes each pair of words of a line: a field and its value. The first colon
// of a line that stands in a word ends it. A last field without value has the end of the
// line, which matches nothing; it has none at the end of the file.
func (p *reader) pairs(b []byte, number int32, last bool) {
	var words [2][]byte
	n, colon := 0, false
	for len(b) > 0 {
		if isBlankOrVT(b[0]) {
			b = b[1:]
			continue
		}
		if b[0] == '#' {
			break
		}
		end := 1
		for end < len(b) && !isBlankOrVT(b[end]) && (b[end] != ':' || colon) {
			end++
		}
		words[n], n = b[:end], n+1
		if b = b[end:]; len(b) > 0 && b[0] == ':' {
			b, colon = b[1:], true
		}
		if n == 2 {
			p.pair(words[0], words[1], number)
			n = 0
		}
	}
	if n == 1 && !last {
		p.pair(words[0], []byte("\n"), number)
	}
}

func (p *reader) pair(key, value []byte, number int32) {
	p.take(Record{Line: number, Field: max(p.fieldOf(key), UnknownField), Value: value})
}

func isBlankOrVT(c byte) bool { return c == ' ' || c == '\t' || c == '\v' }

// splitKnown splits a line after the shortest field that it begins with, if a colon or
// white space follows.
func (p *reader) splitKnown(b []byte) (key, value []byte) {
	for n := 1; n < len(b) && n <= longestField; n++ {
		if c := b[n]; c != ':' && !ascii.IsBlank(c) || p.fieldOf(b[:n]) == noField {
			continue
		}
		rest := bytes.TrimLeft(b[n:], " \t")
		switch {
		case len(rest) > 0 && rest[0] == ':':
			return b[:n], p.trim(rest[1:])
		case len(rest) < len(b)-n:
			return b[:n], p.trim(rest)
		}
	}
	return nil, nil
}

const longestField = 16

// splitLower splits a line after the known field in lower case that its first words
// are.
func (p *reader) splitLower(b []byte) (key, value []byte) {
	for i, c := range b[:min(len(b), 2*longestField+1)] {
		if c == ' ' && bytes.Equal(b[:i], bytes.ToLower(b[:i])) && p.fieldOf(b[:i]) != noField {
			return b[:i], p.trim(b[i+1:])
		}
	}
	return nil, nil
}

// splitWords splits a line after the known field that its first words are, unless its colon
// at i follows a known field, or is followed by white space or nothing. The words of the
// value come with one space between them.
func (p *reader) splitWords(b []byte, i int) (key, value []byte) {
	if i >= 0 && (p.fieldOf(p.trim(b[:i])) != noField || i+1 == len(b) || len(p.trim(b[i+1:i+2])) == 0) {
		return nil, nil
	}
	words := bytes.FieldsFunc(b, isPythonSpace)
	for n := 1; n <= 2 && n <= len(words); n++ {
		if key = bytes.Join(words[:n], []byte(" ")); p.fieldOf(key) != noField {
			return key, bytes.Join(words[n:], []byte(" "))
		}
	}
	return nil, nil
}

// fieldOf returns the field of a key in any case.
func (p *reader) fieldOf(key []byte) Field {
	if len(key) > 2*longestField {
		return noField
	}
	var lower [2 * longestField]byte
	isASCII := true
	for i, c := range key {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i], isASCII = c, isASCII && c < utf8.RuneSelf
	}
	k := string(lower[:len(key)])
	if !isASCII {
		k = strings.ToLower(string(key))
	}
	switch {
	case len(k) != len(key): // a letter outside of ASCII became one of ASCII; see foldName
		return noField
	case k == "user-agent" || slices.Contains(p.AgentFields, k):
		return AgentField
	case k == "allow" && p.allow || slices.Contains(p.AllowFields, k):
		return AllowField
	case k == "disallow" || slices.Contains(p.DisallowFields, k):
		return DisallowField
	case k == "crawl-delay" || (k == "crawl delay" || k == "crawldelay") && len(p.AgentFields) > 0:
		return DelayField
	case k == "request-rate":
		return RateField
	case slices.Contains(p.SiteFields, k):
		return SiteField
	case p.Colon == ColonOrWords && (k == "visit-time" || k == "visit time"),
		(p.Colon == ColonOrSpaceLower || p.Colon == ColonOrWords) && slices.Contains(protegoFields, k):
		return UnknownField
	}
	return noField
}

// protegoFields are further fields that protego knows.
var protegoFields = []string{"sitemap", "sitemaps", "site-map", "host", "request rate"}
