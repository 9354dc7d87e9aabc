// Package ascii has what the readers of lines and values share: white space, case, words.
package ascii

import "bytes"

func IsBlank(c byte) bool { return c == ' ' || c == '\t' }

// IsSpace reports white space as C defines it: space, \t, \n, \v, \f, \r.
func IsSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

// Trim removes white space of either kind. Remarks use it, so that they are the
// same under every profile.
func Trim(b []byte) []byte {
	for len(b) > 0 && IsSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && IsSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func TrimBlank(b []byte) []byte {
	for len(b) > 0 && IsBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && IsBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// EqualFold ignores ASCII case; s must be in lower case.
func EqualFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		c := b[i]
		if c-'A' < 26 {
			c |= 0x20
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

func EqualFoldBytes(a, b []byte) bool {
	for i, c := range a {
		d := b[i]
		if c != d && (c^d != 0x20 || c|0x20-'a' >= 26) {
			return false
		}
	}
	return true
}

// HasPrefixFold ignores ASCII case; s must be in lower case.
func HasPrefixFold(b []byte, s string) bool {
	return len(b) >= len(s) && EqualFold(b[:len(s)], s)
}

// IsAbsolute reports whether b is a URL with scheme and host.
func IsAbsolute(b []byte) bool {
	i := bytes.IndexByte(b, ':') // no scheme has one
	if i <= 0 || len(b) <= i+3 || b[i+1] != '/' || b[i+2] != '/' || bytes.IndexByte([]byte("/?#"), b[i+3]) >= 0 {
		return false
	}
	for j, c := range b[:i] {
		letter := c|0x20-'a' < 26
		if !letter && (j == 0 || c-'0' >= 10 && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return true
}

// CutWord splits off the first word; b must not begin with a blank.
func CutWord(b []byte) (word, rest []byte) {
	i := IndexBlank(b)
	if i < 0 {
		return b, nil
	}
	return b[:i], TrimBlank(b[i:])
}

// IndexBlank returns the index of the first space or tab, or -1.
func IndexBlank(b []byte) int {
	for i, c := range b {
		if IsBlank(c) {
			return i
		}
	}
	return -1
}

// Tokens returns the longest leading runs of product token characters: narrow
// without digits and dots, wide with them.
func Tokens(value []byte) (narrow, wide []byte) {
	n := 0
	for n < len(value) && tokenChar[value[n]] == 1 {
		n++
	}
	w := n
	for w < len(value) && tokenChar[value[w]] != 0 {
		w++
	}
	return value[:n], value[:w]
}

// tokenChar is 1 for a character of a product token, 2 for a digit or dot.
var tokenChar = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case b|0x20-'a' < 26, b == '-', b == '_':
			t[c] = 1
		case b-'0' < 10, b == '.':
			t[c] = 2
		}
	}
	return t
}()
