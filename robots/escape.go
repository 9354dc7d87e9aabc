package robots

import "strings"

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

// isEscape says whether a whole escape stands at b[i].
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

// side says whose text is put into normal form.
type side bool

const (
	patternSide side = false
	targetSide  side = true
)

// appendRFC appends the normal form of RFC 9309, 2.2.2 and 2.2.3: escapes of
// unreserved characters decoded, bytes from 0x80 escaped, hex digits in upper
// case, the characters * and $ of a URL escaped (in a pattern they are
// special: * everywhere, $ at the end; another $ is escaped).
//
// From the first ? on, or everywhere with query, escapes of reserved
// characters are decoded, so that they equal the characters. In the path they
// remain, but with letter only those of / and ? do. The escapes of *, $ and #
// remain everywhere.
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
		case c >= 0x80:
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

// octets is the length of a pattern in normal form, as RFC 9309, 2.2.2 counts
// it: what is reserved is escaped in the column "Path to Match", but for the /
// of a path, the first ? and the first = behind it, which is where the RFC's
// table leaves them. In the path that goes with letter only.
func octets(norm []byte, letter bool) int {
	n, query, equals := len(norm), false, false
	for _, c := range norm {
		switch {
		case c == '*' || c == '$' || !isReserved(c):
		case c == '?' && !query:
			query = true
		case c == '=' && query && !equals:
			equals = true
		case query || letter && c != '/':
			n += 2
		}
	}
	return n
}

// twoWays says whether a pattern may mean something else, or count otherwise,
// where reserved characters of the path equal their escapes. What it has
// behind a ? is in the query in any case.
func twoWays(pattern []byte) bool {
	for i, c := range pattern {
		switch {
		case c == '?':
			return false
		case isEscape(pattern, i):
			d := unhex(pattern[i+1])<<4 | unhex(pattern[i+2])
			if isReserved(d) && strings.IndexByte("/?*$#", d) < 0 {
				return true
			}
		case c == '%', isReserved(c) && c != '/' && c != '*' && c != '$':
			return true
		}
	}
	return false
}

// isUnreserved: RFC 3986, 2.3.
func isUnreserved(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '-' || c == '.' || c == '_' || c == '~'
}

// isReserved: RFC 3986, 2.2.
func isReserved(c byte) bool { return reserved[c] }

var reserved = func() (t [256]bool) {
	for _, c := range []byte(":/?#[]@!$&'()*+,;=") {
		t[c] = true
	}
	return t
}()

// appendURL appends a path and query with what a URL cannot hold escaped: all
// bytes but unreserved and reserved characters and %.
func appendURL(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; isUnreserved(c) || isReserved(c) || c == '%' {
			dst = append(dst, c)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return dst
}

// URLPath is the part of a URL that patterns are compared with, path, query
// and parameters, found as Google's parser finds it: it begins at the first
// of / ? ; after the scheme and host and ends before the fragment or a NUL.
// It always begins with a slash. Dot segments and escapes stay, the host is
// not looked at, and anything has a path, if only "/".
func URLPath(url string) string {
	start := 0
	if strings.HasPrefix(url, "//") {
		start = 2
	}
	rest := url[start:]
	begin := strings.IndexAny(rest, "/?;")
	// A scheme's :// counts only if no path has begun before it.
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
