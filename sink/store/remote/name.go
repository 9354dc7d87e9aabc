package remote

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// Name returns the name under which what a user gives as a file is shown and stored: a
// path as it is, the URL of an object in a store without a user, and any other URL without
// its query, its fragment and its user. The query of a signed URL is a key to the object for
// whoever reads it, in a plan, a table or a log. A number after "#" stays: by it, names
// are told apart that differ in the query only.
func Name(given string) string {
	scheme, rest, ok := strings.Cut(given, "://")
	if !ok || !isScheme(scheme) {
		return given
	}
	rest = rest[userEnd(rest):]
	if IsBucket(given) {
		return scheme + "://" + rest
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 && (rest[end] == '?' || !isNumber(rest[end+1:])) {
		rest = rest[:end]
	}
	host, file, hasPath := strings.Cut(rest, "/")
	if hasPath {
		host += "/"
	}
	return scheme + "://" + host + file
}

// HasUser reports whether a name is a URL with a user, and perhaps a password. It need not
// be a URL that can be parsed: what is wrong with it may be its password.
func HasUser(name string) bool {
	scheme, rest, ok := strings.Cut(name, "://")
	return ok && isScheme(scheme) && userEnd(rest) > 0
}

// userEnd returns where the host begins in what follows the scheme of a URL. A password may
// hold a slash, a question mark or a number sign that its user did not escape: what follows
// the colon is then no port, and the host is behind the last @.
func userEnd(rest string) int {
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	if _, port, ok := strings.Cut(authority, ":"); ok && authority[0] != '[' && !strings.Contains(authority, "@") &&
		port != "" && !isNumber(port) {
		authority = rest
	}
	return strings.LastIndexByte(authority, '@') + 1
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func isScheme(text string) bool {
	return text != "" && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// Canonical returns one spelling of the https URL of an object for all (RFC 3986,
// section 6.2), with its query: the scheme and the host are in lower case, no escape is
// needless, and the port is not the default one. Other names are returned as they are:
// in an object store a name is taken byte for byte.
func Canonical(given string) string {
	u, err := url.Parse(given)
	if schemeOf(given) != "https" || err != nil {
		return given
	}
	file := path.Clean("/" + escaped(u.EscapedPath()))
	if strings.HasSuffix(u.EscapedPath(), "/") && file != "/" {
		file += "/"
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if port := u.Port(); port != "" && port != "443" {
		host += ":" + port
	}
	if u.RawQuery != "" {
		file += "?" + escaped(u.RawQuery)
	}
	return "https://" + host + file
}

// SameServer reports whether two URLs are of one server or bucket. Other names are of none.
func SameServer(a, b string) bool { return IsURL(a) && IsURL(b) && serverOf(a) == serverOf(b) }

func serverOf(url string) string {
	root, _ := split(Canonical(url))
	return root
}

// IsBelow reports whether the URL of an object is below that of a folder.
func IsBelow(folder, url string) bool {
	if !SameServer(folder, url) {
		return false
	}
	_, above := split(Canonical(folder))
	_, name := split(Canonical(url))
	if above = strings.TrimRight(above, "/"); above != "" {
		above += "/"
	}
	rest, ok := strings.CutPrefix(name, above)
	return ok && StaysBelow(rest)
}

// StaysBelow reports whether a path that is appended to the URL of a folder stays below it,
// however often a server takes its escapes away, and if it takes \ for /.
func StaysBelow(name string) bool {
	for range 8 {
		plain, err := url.PathUnescape(name)
		if err != nil || plain == name {
			name = strings.ReplaceAll(name, `\`, "/")
			return !strings.HasPrefix(name, "/") && !slices.Contains(strings.Split(name, "/"), "..")
		}
		name = plain
	}
	return false
}

// escaped returns a text with its escapes in capitals, and none of the characters that
// need no escape anywhere.
func escaped(text string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := strings.IndexByte(hex, upper(text[i+1])), strings.IndexByte(hex, upper(text[i+2]))
			if high >= 0 && low >= 0 {
				if b := byte(high<<4 | low); isUnreserved(b) {
					out.WriteByte(b)
				} else {
					out.Write([]byte{'%', hex[high], hex[low]})
				}
				i += 2
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'f' {
		return b - 'a' + 'A'
	}
	return b
}

func isUnreserved(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("-._~", b) >= 0
}
