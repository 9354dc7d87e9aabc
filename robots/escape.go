package robots

import (
	"bytes"
	"strings"
)

const upperHex = "0123456789ABCDEF"

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

func unhex(c byte) byte {
	if c-'0' < 10 {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func upper(c byte) byte {
	if c-'a' < 26 {
		c -= 0x20
	}
	return c
}

func appendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

// isEscape reports whether a whole escape begins at b[i].
func isEscape(b []byte, i int) bool {
	return b[i] == '%' && i+2 < len(b) && isHex(b[i+1]) && isHex(b[i+2])
}

// appendEscaped appends a pattern as Google's parser compares it: bytes from
// 0x80 escaped, hex digits of escapes in upper case, nothing decoded.
func appendEscaped(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case isEscape(b, i):
			dst = append(dst, '%', upper(b[i+1]), upper(b[i+2]))
			i += 2
		case c >= 0x80:
			dst = appendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// side is the origin of a text to normalize: a pattern or a URL.
type side bool

const (
	patternSide side = false
	targetSide  side = true
)

// appendRFC appends the normal form of RFC 9309, 2.2.2 and 2.2.3: escapes of
// unreserved characters decoded, bytes that no URL can hold escaped, hex digits
// in upper case, and the characters * and $ of a URL escaped. In a pattern these
// two are special, * everywhere and $ at the end; another $ is escaped.
//
// From the first ? on, or everywhere if query, escapes of reserved characters
// are decoded, so that they equal the characters. In the path they remain; if
// letter, only those of / and ? remain. The escapes of *, $ and # remain
// everywhere.
func appendRFC(dst, b []byte, whose side, query, letter bool) []byte {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case isEscape(b, i):
			d := unhex(b[i+1])<<4 | unhex(b[i+2])
			if isUnreserved(d) || isReserved(d) && d != '*' && d != '$' && d != '#' &&
				(query || letter && d != '/' && d != '?') {
				dst = append(dst, d)
			} else {
				dst = appendEscape(dst, d)
			}
			i += 2
		case unfit[c]:
			dst = appendEscape(dst, c)
		case c == '*' && whose == targetSide,
			c == '$' && (whose == targetSide || i < len(b)-1):
			dst = appendEscape(dst, c)
		default:
			if c == '?' {
				query = true
			}
			dst = append(dst, c)
		}
	}
	return dst
}

// octets returns the length of a normalized pattern as RFC 9309, 2.2.2 counts
// it in the column "Path to Match": reserved characters are escaped, except the
// / of a path, the first ? and the first = after it, which the RFC's table
// leaves alone. In the path this applies only if letter.
func octets(norm []byte, letter bool) int {
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

// twoPaths reports whether the pattern may match other paths if reserved
// characters in a path equal their escapes. What follows a ? is in the query
// and does not matter.
func twoPaths(pattern []byte) bool {
	for i, c := range pattern {
		if c == '?' {
			return false
		}
		if c != '%' {
			continue
		}
		if !isEscape(pattern, i) {
			return true
		}
		d := unhex(pattern[i+1])<<4 | unhex(pattern[i+2])
		if isReserved(d) && strings.IndexByte("/?*$#", d) < 0 {
			return true
		}
	}
	return false
}

// twoLengths reports the same of its length.
func twoLengths(pattern []byte) bool {
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

// isUnreserved implements RFC 3986, 2.3.
func isUnreserved(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '-' || c == '.' || c == '_' || c == '~'
}

// isReserved implements RFC 3986, 2.2.
func isReserved(c byte) bool { return reserved[c] }

var reserved = func() (t [256]bool) {
	for _, c := range []byte(":/?#[]@!$&'()*+,;=") {
		t[c] = true
	}
	return t
}()

// escaping holds the octets by which a character of a pattern grows in the
// column "Path to Match" of RFC 9309, 2.2.2, where that escapes it. The stars
// and the anchor of a pattern are not characters.
var escaping = func() (t [256]uint8) {
	for c := range t {
		if isReserved(byte(c)) && c != '*' && c != '$' {
			t[c] = 2
		}
	}
	return t
}()

// unfit holds the bytes that no URL can hold: all but unreserved and reserved
// characters and %.
var unfit = func() (t [256]bool) {
	for c := range t {
		t[c] = !isUnreserved(byte(c)) && !isReserved(byte(c)) && c != '%'
	}
	return t
}()

// appendURL appends a path and query and escapes every byte that a URL cannot
// hold.
func appendURL(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; unfit[c] {
			dst = appendEscape(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// URLPath returns the part of a URL that patterns are compared with: path,
// parameters and query, found as Google's parser finds it. It begins at the
// first of / ? ; after the scheme and host and ends before the fragment or a
// NUL. The result always begins with a slash; for a URL without a path it is
// "/". URLPath neither checks the host nor resolves dot segments or escapes.
func URLPath(url string) string {
	start := 0
	if strings.HasPrefix(url, "//") {
		start = 2
	}
	rest := url[start:]
	begin := strings.IndexAny(rest, "/?;")
	// A :// separates a scheme only if no path has begun before it.
	if i := strings.Index(rest, "://"); i >= 0 && begin > i {
		begin = strings.IndexAny(rest[i+3:], "/?;")
		if begin >= 0 {
			begin += i + 3
		}
	}
	hash := strings.IndexByte(rest, '#')
	if begin < 0 || hash >= 0 && hash < begin {
		return "/"
	}
	if hash < 0 {
		hash = len(rest)
	}
	path := rest[begin:hash]
	if path[0] != '/' {
		path = "/" + path
	}
	if i := strings.IndexByte(path, 0); i >= 0 {
		path = path[:i]
	}
	return path
}
