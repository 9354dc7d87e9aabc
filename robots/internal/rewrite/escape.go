package rewrite

import (
	"bytes"
	"strings"
)

// HexDigits are the digits of an escape as [AppendEscape] writes them.
const HexDigits = "0123456789ABCDEF"

func IsHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

func Unhex(c byte) byte {
	if c-'0' < 10 {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func UpperHex(c byte) byte {
	if c-'a' < 26 {
		c -= 0x20
	}
	return c
}

// AppendEscape appends the escape of c.
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', HexDigits[c>>4], HexDigits[c&15])
}

// IsEscape reports whether a whole escape begins at b[i].
func IsEscape(b []byte, i int) bool {
	return b[i] == '%' && i+2 < len(b) && IsHex(b[i+1]) && IsHex(b[i+2])
}

// AppendUpperHex appends a pattern as Google's parser compares it: bytes from
// 0x80 escaped, hex digits of escapes in upper case, nothing decoded.
func AppendUpperHex(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case IsEscape(b, i):
			dst = append(dst, '%', UpperHex(b[i+1]), UpperHex(b[i+2]))
			i += 2
		case c >= 0x80:
			dst = AppendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// A Side is the origin of a text to normalize: a pattern or a URL.
type Side bool

const (
	OfPattern Side = false
	OfURL     Side = true
)

// AppendRFC appends the normal form of RFC 9309, 2.2.2 and 2.2.3: escapes of
// unreserved characters decoded, bytes that no URL can hold escaped, hex digits
// in upper case, and the characters * and $ of a URL escaped. In a pattern these
// two are special, * everywhere and $ at the end; another $ is escaped.
//
// From the first ? on, or everywhere if query, escapes of reserved characters
// are decoded, so that they equal the characters. In the path they remain; if
// letter, only those of / and ? remain. The escapes of *, $ and # remain
// everywhere.
func AppendRFC(dst, b []byte, whose Side, query, letter bool) []byte {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case IsEscape(b, i):
			d := Unhex(b[i+1])<<4 | Unhex(b[i+2])
			if IsUnreserved(d) || IsReserved(d) && d != '*' && d != '$' && d != '#' &&
				(query || letter && d != '/' && d != '?') {
				dst = append(dst, d)
			} else {
				dst = AppendEscape(dst, d)
			}
			i += 2
		case unfit[c]:
			dst = AppendEscape(dst, c)
		case c == '*' && whose == OfURL,
			c == '$' && (whose == OfURL || i < len(b)-1):
			dst = AppendEscape(dst, c)
		default:
			if c == '?' {
				query = true
			}
			dst = append(dst, c)
		}
	}
	return dst
}

// Octets returns the length of a normalized pattern as RFC 9309, 2.2.2 counts
// it in the column "Path to Match": reserved characters are escaped, except the
// / of a path, the first ? and the first = after it, which the RFC's table
// leaves alone. In the path this applies only if letter.
func Octets(norm []byte, letter bool) int {
	n := len(norm)
	query := bytes.IndexByte(norm, '?')
	if query < 0 {
		query = n
	}
	if letter {
		for _, c := range norm[:query] {
			if c != '/' {
				n += int(escaping[c])
			}
		}
	}
	if query == len(norm) {
		return n
	}
	equals := false
	for _, c := range norm[query+1:] {
		if c == '=' && !equals {
			equals = true
			continue
		}
		n += int(escaping[c])
	}
	return n
}

// TwoPaths reports whether the pattern may match other paths if reserved
// characters in a path equal their escapes. What follows a ? is in the query
// and does not matter.
func TwoPaths(pattern []byte) bool {
	for i, c := range pattern {
		if c == '?' {
			return false
		}
		if c != '%' {
			continue
		}
		if !IsEscape(pattern, i) {
			return true
		}
		d := Unhex(pattern[i+1])<<4 | Unhex(pattern[i+2])
		if IsReserved(d) && strings.IndexByte("/?*$#", d) < 0 {
			return true
		}
	}
	return false
}

// TwoLengths reports the same of its length.
func TwoLengths(pattern []byte) bool {
	for _, c := range pattern {
		if c == '?' {
			return false
		}
		if escaping[c] > 0 && c != '/' {
			return true
		}
	}
	return false
}

// IsUnreserved implements RFC 3986, 2.3.
func IsUnreserved(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '-' || c == '.' || c == '_' || c == '~'
}

// IsReserved implements RFC 3986, 2.2.
func IsReserved(c byte) bool { return reserved[c] }

var reserved = func() (t [256]bool) {
	for _, c := range []byte(":/?#[]@!$&'()*+,;=") {
		t[c] = true
	}
	return t
}()

// escaping holds the Octets by which a character of a pattern grows in the
// column "Path to Match" of RFC 9309, 2.2.2, where that escapes it. The stars
// and the anchor of a pattern are not characters.
var escaping = func() (t [256]uint8) {
	for c := range t {
		if IsReserved(byte(c)) && c != '*' && c != '$' {
			t[c] = 2
		}
	}
	return t
}()

// IsUnfit reports whether no URL can hold a byte: it is neither an unreserved nor a
// reserved character, nor %.
func IsUnfit(c byte) bool { return unfit[c] }

var unfit = func() (t [256]bool) {
	for c := range t {
		t[c] = !IsUnreserved(byte(c)) && !IsReserved(byte(c)) && c != '%'
	}
	return t
}()

// AppendURL appends a path and query and escapes every byte that a URL cannot
// hold.
func AppendURL(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; unfit[c] {
			dst = AppendEscape(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
