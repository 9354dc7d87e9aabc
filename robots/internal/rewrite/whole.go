package rewrite

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/internal/escape"
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
		return escape.Append(dst, c), s, true
	case s.part == afterQuery:
		return dst, s, false
	case c == '?' && (inPathNow || s.part == inParams || s.part == afterParams):
		if s.part == beforeSlash || !s.utf8.end() {
			return dst, s, false
		}
		if s.part = atQuery; t.Guess == otherwise {
			s.part = afterQuery
			return dst, s, true
		}
		return escape.Append(dst, c), s, true
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
		return escape.Append(dst, c), s, true
	}
	if c >= 0x80 {
		dst, ok = s.utf8.add(dst, c, t.Guess)
		return dst, s, ok
	}
	ok = s.utf8.end()
	return quoted(dst, c), s, ok
}

func quoted(dst []byte, c byte) []byte {
	if escape.IsUnreserved(c) || c == '/' {
		return append(dst, c)
	}
	return escape.Append(dst, c)
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
	out := requoteDecoded(withoutTabs(decodeAll(b)))
	if len(out) == 0 {
		return []byte("/")
	}
	return out
}

// requoteWholePattern returns what a pattern becomes: of a URL without host, the path.
func requoteWholePattern(b []byte) []byte {
	b = withoutTabs(bytes.TrimLeftFunc(decodeAll(b), isControl))
	if rest, ok := bytes.CutPrefix(b, []byte("//")); ok && (len(rest) == 0 || strings.IndexByte("/?#", rest[0]) >= 0) {
		b = rest
	}
	return requoteDecoded(b)
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
	var q sequence
	for len(whole) > 0 {
		c := whole[0]
		if whole = whole[1:]; c < 0x80 {
			out = quoted(out, c)
			continue
		}
		g := AsUsual
		if n := lengthOf(c); n == 0 || len(whole) < n-1 || !utf8.Valid(append([]byte{c}, whole[:n-1]...)) {
			g = otherwise
		}
		out, _ = q.add(out, c, g)
	}
	return out
}
