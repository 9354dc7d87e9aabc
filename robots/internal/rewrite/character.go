package rewrite

import (
	"strings"
	"unicode/utf8"
)

// A sequence is a character in UTF-8 that has begun. Of bytes that are not UTF-8, each
// longest beginning of a character becomes U+FFFD, as Python's decoder replaces them.
type sequence struct {
	need      uint8 // bytes that are to follow
	low, high byte  // the range of the next
	broken    bool  // they do not all follow
}

const replacement = "%EF%BF%BD"

// requote appends a symbol decoded and encoded again: escapes of the characters in keep
// stay escapes, unreserved characters and those in safe stand as themselves. It is not ok
// if an earlier guess proves wrong.
func (q *sequence) requote(dst []byte, t *Symbol, keep, safe string) (out []byte, ok bool) {
	c, escaped := t.Char()
	if c >= 0x80 {
		return q.add(dst, c, t.Guess)
	}
	kept := escaped && strings.IndexByte(keep, c) >= 0
	if !kept && (IsUnreserved(c) || strings.IndexByte(safe, c) >= 0) {
		return append(dst, c), q.end()
	}
	return AppendEscape(dst, c), q.end()
}

// add appends what a byte from 0x80 becomes.
func (q *sequence) add(dst []byte, c byte, g Guess) (out []byte, ok bool) {
	whole, begins, ok := q.take(c, g)
	switch {
	case whole:
		dst = AppendEscape(dst, c)
	case begins:
		dst = append(dst, replacement...)
	}
	return dst, ok
}

// decode appends a byte from 0x80: as itself if its character is whole, else as it is
// written.
func (q *sequence) decode(dst []byte, t *Symbol) (out []byte, ok bool) {
	c, _ := t.Char()
	whole, _, ok := q.take(c, t.Guess)
	if whole {
		return append(dst, c), ok
	}
	return t.AppendTo(dst), ok
}

// take reads a byte from 0x80, and reports whether its character is whole, and whether the
// byte begins one, or what is none.
func (q *sequence) take(c byte, g Guess) (whole, begins, ok bool) {
	if q.need > 0 && q.low <= c && c <= q.high {
		q.need, q.low, q.high = q.need-1, 0x80, 0xBF
		return !q.broken, false, !q.broken || q.need > 0
	}
	ok = q.end()
	n := lengthOf(c)
	if n == 0 {
		return false, true, ok
	}
	*q = sequence{need: uint8(n - 1), low: 0x80, high: 0xBF, broken: g == otherwise}
	switch c {
	case 0xE0:
		q.low = 0xA0
	case 0xED:
		q.high = 0x9F
	case 0xF0:
		q.low = 0x90
	case 0xF4:
		q.high = 0x8F
	}
	return !q.broken, true, ok
}

// end ends a sequence, and reports whether the guess about it was right.
func (q *sequence) end() (ok bool) {
	ok = q.need == 0 || q.broken
	*q = sequence{}
	return ok
}

// lengthOf returns the length of a character by its first byte from 0x80; 0 if none begins
// so.
func lengthOf(c byte) int {
	switch {
	case c >= 0xC2 && c < 0xE0:
		return 2
	case c >= 0xE0 && c < 0xF0:
		return 3
	case c >= 0xF0 && c < 0xF5:
		return 4
	}
	return 0
}

// completes reports whether the character that c begins is whole in what follows.
func completes(c byte, rest []byte) bool {
	text := []byte{c}
	for n := lengthOf(c); len(text) < n && len(rest) > 0; {
		t, after := Cut(rest)
		next, _ := t.Char()
		text, rest = append(text, next), after
	}
	return utf8.Valid(text) && len(text) == lengthOf(c)
}
