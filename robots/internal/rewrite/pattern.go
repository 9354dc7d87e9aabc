package rewrite

import (
	"bytes"
	"slices"
	"strings"
)

// Pattern returns a pattern as the dialect compares it. Its stars, and a $ that counts,
// stay, if the profile has wildcards.
func (r Rewriter) Pattern(b []byte, wildcards bool) []byte {
	out := r.requotePattern(b, wildcards)
	if !r.StarLetter && (!r.FoldCase || !slices.ContainsFunc(out, func(c byte) bool { return c >= 'A' && c <= 'Z' })) {
		return out
	}
	out = bytes.Clone(out)
	for i, c := range out {
		if r.StarLetter && c < ' ' {
			out[i] = neverWritten
		}
	}
	r.foldLetters(out)
	return out
}

// neverWritten stands in a pattern for a character that no rewritten URL has.
const neverWritten = 2

func (r Rewriter) requotePattern(b []byte, wildcards bool) []byte {
	switch r.Requote {
	case RequoteWhole:
		return requoteWholePattern(b)
	case RequotePath:
		return requotePathOfPattern(b, r.PatternIsURL)
	case RequoteThrough:
		return requoteThrough(b)
	case RequoteQuery:
		keep := ""
		if wildcards {
			keep = "*$"
		}
		return requoteQuery(b, keep)
	case RequoteUnreserved:
		return escapeUnfit(decodeUnreserved(b))
	case RequoteUnfit:
		return encodeURI(b)
	case RequoteValid, RequotePlain: // as URLs
		if r.Requote == RequotePlain && bytes.IndexByte(b, '%') < 0 {
			return b
		}
		as := Rewriter{Requote: r.Requote}
		return as.rewrite(b)
	}
	return b
}

// quote escapes all but unreserved characters and those in safe.
func quote(b []byte, safe string) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if IsUnreserved(c) || strings.IndexByte(safe, c) >= 0 {
			out = append(out, c)
		} else {
			out = AppendEscape(out, c)
		}
	}
	return out
}

// splitParams splits off the parameters of the last segment, then the query.
func splitParams(b []byte) (path, params, query []byte) {
	path, query, _ = bytes.Cut(b, []byte("?"))
	slash := bytes.LastIndexByte(path, '/') + 1
	if i := bytes.IndexByte(path[slash:], ';'); i >= 0 {
		return path[:slash+i], path[slash+i+1:], query
	}
	return path, nil, query
}

// pathOfURL returns what Python takes for the path and query of a URL.
func pathOfURL(b []byte) []byte {
	b = bytes.TrimLeftFunc(withoutTabs(b), isControl)
	if i := bytes.IndexByte(b, ':'); i > 0 && isScheme(b[:i]) {
		b = b[i+1:]
	}
	if !bytes.HasPrefix(b, []byte("//")) {
		return b
	}
	i := bytes.IndexAny(b[2:], "/?")
	if i < 0 {
		return nil
	}
	return b[2+i:]
}

// isScheme reports whether b can be the scheme of a URL.
func isScheme(b []byte) bool {
	for i, c := range b {
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' &&
			c != '.') {
			return false
		}
	}
	return true
}

// joinParams joins what splitParams splits. What is empty leaves no mark.
func joinParams(path, params, query []byte) []byte {
	if len(params) > 0 {
		path = append(append(path, ';'), params...)
	}
	if len(query) > 0 {
		path = append(append(path, '?'), query...)
	}
	return path
}

// requotePart decodes a part of a pattern and encodes it again; see sequence.requote.
func requotePart(b []byte, keep, safe string) (out []byte) {
	if !slices.ContainsFunc(b, func(c byte) bool {
		return c == '%' || !IsUnreserved(c) && strings.IndexByte(safe, c) < 0
	}) {
		return slices.Clip(b)
	}
	var q sequence
	for len(b) > 0 {
		var t Symbol
		t, b = Cut(b)
		if c, _ := t.Char(); c >= 0x80 && !completes(c, b) {
			t.Guess = otherwise
		}
		out, _ = q.requote(out, &t, keep, safe)
	}
	return out
}

// requotePathOfPattern does the same with a pattern, which is read as a URL unless it looks
// like one. A last ?, ; or $ ends the path, even if a query follows.
func requotePathOfPattern(b []byte, isURL bool) []byte {
	if bytes.HasPrefix(b, []byte("https://")) || bytes.HasPrefix(b, []byte("http://")) {
		b = append([]byte("/"), b...)
	}
	var last []byte
	if n := len(b); n > 0 && strings.IndexByte("?;$", b[n-1]) >= 0 {
		b, last = b[:n-1], b[n-1:]
	}
	safe := "/*%="
	if isURL {
		b, safe = pathOfURL(b), "/*%"
	} else if bytes.HasPrefix(b, []byte("//")) {
		b = withoutTabs(b)
	} else if len(b) > 0 && (b[0] != '/' || bytes.IndexByte(b, '\t') >= 0) {
		b = pathOfURL(b)
	}
	path, params, query := splitParams(b)
	return joinParams(append(requotePart(path, "/*$%", safe), last...), params, query)
}

// requoteThrough does the same with all of a pattern but a $ at its end.
func requoteThrough(b []byte) []byte {
	if bytes.HasPrefix(b, []byte("https://")) || bytes.HasPrefix(b, []byte("http://")) {
		b = append([]byte("/"), b...)
	}
	b, anchored := bytes.CutSuffix(b, []byte("$"))
	out := requotePart(b, "/%*", "/%*=")
	if anchored {
		out = append(out, '$')
	}
	return out
}

// requoteQuery decodes and encodes again the path, and each part of the query between =
// and &. Characters in keep stay.
func requoteQuery(b []byte, keep string) []byte {
	path, query, hasQuery := bytes.Cut(b, []byte("?"))
	out := requoteBetween(nil, path, keep)
	if hasQuery {
		out = requoteBetween(append(out, '?'), query, keep+"=&")
	}
	return out
}

func requoteBetween(dst, b []byte, marks string) []byte {
	for len(b) > 0 {
		n := bytes.IndexAny(b, marks)
		if n < 0 || marks == "" {
			n = len(b)
		}
		dst = append(dst, quote(decodeAll(b[:n]), "/")...)
		if n < len(b) {
			dst = append(dst, b[n])
			n++
		}
		b = b[n:]
	}
	return dst
}

// decodeAll decodes all escapes.
func decodeAll(b []byte) []byte {
	if bytes.IndexByte(b, '%') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if IsEscape(b, i) {
			out = append(out, Unhex(b[i+1])<<4|Unhex(b[i+2]))
			i += 2
		} else {
			out = append(out, b[i])
		}
	}
	return out
}

// decodeUnreserved decodes escapes of unreserved characters, and puts others in upper
// case.
func decodeUnreserved(b []byte) []byte {
	if bytes.IndexByte(b, '%') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if !IsEscape(b, i) {
			out = append(out, b[i])
			continue
		}
		if d := Unhex(b[i+1])<<4 | Unhex(b[i+2]); IsUnreserved(d) {
			out = append(out, d)
		} else {
			out = AppendEscape(out, d)
		}
		i += 2
	}
	return out
}

// escapeUnfit escapes what no URL can hold.
func escapeUnfit(b []byte) []byte {
	unfit := func(c byte) bool { return c <= ' ' || c >= 0x7F || strings.IndexByte("\"#<>[]^`{|}", c) >= 0 }
	if bytes.IndexByte(b, '%') < 0 && !slices.ContainsFunc(b, unfit) {
		return b
	}
	out := make([]byte, 0, len(b))
	for i, c := range b {
		switch {
		case unfit(c), c == '%' && !IsEscape(b, i):
			out = AppendEscape(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// encodeURI encodes as JavaScript's encodeURI does, but leaves each % as it is.
func encodeURI(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if IsUnreserved(c) || strings.IndexByte(";,/?:@&=+$!*'()#%", c) >= 0 {
			out = append(out, c)
		} else {
			out = AppendEscape(out, c)
		}
	}
	return upperEscapes(out)
}

// upperEscapes puts the hex digits of escapes in upper case.
func upperEscapes(b []byte) []byte {
	if bytes.IndexByte(b, '%') < 0 {
		return b
	}
	out := bytes.Clone(b)
	for i := 0; i+2 < len(out); i++ {
		if IsEscape(out, i) {
			out[i+1], out[i+2] = UpperHex(out[i+1]), UpperHex(out[i+2])
			i += 2
		}
	}
	return out
}

// OneStar replaces each run of stars by one star.
func OneStar(pattern []byte) []byte {
	if !bytes.Contains(pattern, []byte("**")) {
		return pattern
	}
	out := make([]byte, 0, len(pattern))
	for i, c := range pattern {
		if c != '*' || i == 0 || pattern[i-1] != '*' {
			out = append(out, c)
		}
	}
	return out
}
