package rewrite

import (
	"bytes"
	"unicode/utf8"
)

// This file decodes URL and pattern as one before it splits them, and encodes them again, as
// Python did before 2025: an escaped ? begins a query, and an escaped # a fragment. Of
// parameters, query and fragment, those that are empty leave no mark.

// nextOfWhole is Next for a URL that is decoded as one.
func (r *Rewriter) nextOfWhole(dst []byte, s State, t Symbol) (out []byte, after State, ok bool) {
	c, _ := t.Char()
	if c == '\t' || c == '\n' || c == '\r' {
		ok = s.utf8.end()
		return dst, s, ok
	}
	inPathNow := s.part == atStart || s.part == inPath || s.part == beforeSlash
	switch {
	case s.part == ended:
		return dst, s, false
	case c == '#' && s.part != atFragment && s.part != inFragment:
		if s.part == beforeSlash || s.part == atParams || s.part == atQuery || !s.utf8.end() {
			return dst, s, false
		}
		if s.part = atFragment; t.Guess == otherwise {
			s.part = ended
			return dst, s, true
		}
		return AppendEscape(dst, c), s, true
	case s.part == afterQuery, s.part == atParams && c == '?':
		return dst, s, false
	case c == '?' && (inPathNow || s.part == inParams || s.part == afterParams):
		if s.part == beforeSlash || !s.utf8.end() {
			return dst, s, false
		}
		if s.part = atQuery; t.Guess == otherwise {
			s.part = afterQuery
			return dst, s, true
		}
		return AppendEscape(dst, c), s, true
	case s.part == afterParams:
		return dst, s, false
	case s.part == atParams, s.part == inParams:
		if s.part = inParams; c == '/' {
			return dst, s, false
		}
	case s.part == atQuery:
		s.part = inQuery
	case s.part == atFragment:
		s.part = inFragment
	case c == '/' && inPathNow:
		s.part = inPath
	case c == ';' && inPathNow:
		if !s.utf8.end() {
			return dst, s, false
		}
		switch {
		case t.Guess == otherwise:
			s.part = beforeSlash
		case s.part == beforeSlash:
			return dst, s, false
		case t.Guess == nothing:
			s.part = afterParams
			return dst, s, true
		default:
			s.part = atParams
		}
		return AppendEscape(dst, c), s, true
	}
	if c >= 0x80 {
		dst, ok = s.utf8.add(dst, c, t.Guess)
		return dst, s, ok
	}
	ok = s.utf8.end()
	return quoted(dst, c), s, ok
}

func quoted(dst []byte, c byte) []byte {
	if IsUnreserved(c) || c == '/' {
		return append(dst, c)
	}
	return AppendEscape(dst, c)
}

// guessesOfWhole lists the guesses that come with a character.
func (s *State) guessesOfWhole(c byte) []Guess {
	inPathNow := s.part == atStart || s.part == inPath || s.part == beforeSlash
	switch {
	case c == ';' && inPathNow:
		return []Guess{AsUsual, otherwise, nothing}
	case c == '?' && (inPathNow || s.part == inParams || s.part == afterParams),
		c == '#' && s.part != atFragment && s.part != inFragment,
		c >= 0x80 && lengthOf(c) > 0:
		return []Guess{AsUsual, otherwise}
	}
	return nil
}

// requoteWholeURL returns what a path becomes.
func requoteWholeURL(b []byte) []byte {
	out := requoteDecoded(withoutTabs(decodedText(b)))
	if len(out) == 0 {
		return []byte("/")
	}
	return out
}

// requoteWholePattern returns what a pattern becomes: of a URL without host, the path. Behind
// two slashes stands a host, in which a semicolon begins no parameters.
func requoteWholePattern(b []byte) (out []byte) {
	b = withoutTabs(bytes.TrimLeftFunc(decodedText(b), isControl))
	if rest, ok := bytes.CutPrefix(b, []byte("//")); ok {
		n := bytes.IndexAny(rest, "/?#")
		if n < 0 {
			n = len(rest)
		}
		if n > 0 {
			out = append(out, "//"...)
		}
		for _, c := range rest[:n] {
			out = quoted(out, c)
		}
		b = rest[n:]
	}
	return append(out, requoteDecoded(b)...)
}

// requoteDecoded encodes a decoded URL, without the marks of what is empty.
func requoteDecoded(b []byte) []byte {
	b, fragment, _ := bytes.Cut(b, []byte("#"))
	path, params, query := splitParams(b)
	whole := joinParams(bytes.Clone(path), params, query)
	if len(fragment) > 0 {
		whole = append(append(whole, '#'), fragment...)
	}
	var out []byte
	for _, c := range whole {
		out = quoted(out, c)
	}
	return out
}

// decodedText decodes all escapes. Of bytes that are not UTF-8, each longest beginning of a
// character becomes U+FFFD.
func decodedText(b []byte) (out []byte) {
	var q sequence
	for b = decodeAll(b); len(b) > 0; {
		c := b[0]
		if b = b[1:]; c < 0x80 {
			q.end()
			out = append(out, c)
			continue
		}
		g := AsUsual
		if n := lengthOf(c); n == 0 || len(b) < n-1 || !utf8.Valid(append([]byte{c}, b[:n-1]...)) {
			g = otherwise
		}
		switch whole, begins, _ := q.take(c, g); {
		case whole:
			out = append(out, c)
		case begins:
			out = append(out, "\uFFFD"...)
		}
	}
	return out
}
