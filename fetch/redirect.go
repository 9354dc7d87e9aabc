package fetch

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
)

// maxLocation bounds the location of a redirect.
const maxLocation = 8 << 10

// Redirect returns the origin and the path and query to which an answer of the URL from
// redirects with location, as browsers read it (the URL standard, section 4.4): blanks
// around it, tabs and line ends do not count, a backslash is a slash, the number of slashes
// before a host does not matter, and what is no escape stays in the path as it is. If it
// leads nowhere, class and err say why. Any port is allowed.
func Redirect(from, location string) (to Origin, target string, class answer.ErrorClass, err error) {
	location = strings.TrimFunc(location, func(r rune) bool { return r <= ' ' })
	if location == "" {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect without location")
	}
	if len(location) > maxLocation {
		return to, "", answer.ErrorRedirectInvalid, fmt.Errorf("redirect to a location of %d bytes", len(location))
	}
	percent := stranger(from + location)
	base, err := url.Parse(keepPercent(from, percent))
	if err != nil {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect from an impossible URL")
	}
	next, err := base.Parse(keepPercent(reference(location, base.Scheme), percent))
	if err != nil || strings.Contains(next.Host, percent) {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect to an impossible URL")
	}
	if DefaultPort(next.Scheme) == 0 {
		return to, "", answer.ErrorRedirectUnsupported, fmt.Errorf("redirect to scheme %q", Clip(next.Scheme))
	}
	if next.User != nil {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect to a URL with credentials")
	}
	if to, _, err = Parse(next.Scheme+"://"+next.Host, ""); err != nil {
		return Origin{}, "", answer.ErrorRedirectInvalid, fmt.Errorf("redirect: %w", err)
	}
	return to, strings.ReplaceAll(requestTarget(next), percent, "%"), "", nil
}

// unseen leaves out what browsers leave out of a URL.
var unseen = strings.NewReplacer("\t", "", "\r", "", "\n", "")

// reference returns a location, at a URL of a scheme, as package net/url reads one, without
// its fragment.
func reference(location, scheme string) string {
	location = unseen.Replace(location)
	location, _, _ = strings.Cut(location, "#")
	path, query, hasQuery := strings.Cut(location, "?")
	name, rest, ok := strings.Cut(path, ":")
	name = strings.ToLower(name)
	switch web := ok && DefaultPort(name) != 0; {
	case ok && !web && isScheme(name):
		return location
	case web:
		rest = strings.ReplaceAll(rest, `\`, "/")
		if path = rest; name != scheme || strings.HasPrefix(rest, "//") {
			path = name + "://" + strings.TrimLeft(rest, "/")
		}
	default:
		if path = strings.ReplaceAll(path, `\`, "/"); strings.HasPrefix(path, "//") {
			path = "//" + strings.TrimLeft(path, "/")
		}
	}
	if hasQuery {
		path += "?" + query
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] < ' ' || path[i] == 0x7f {
			out = fmt.Appendf(out, "%%%02X", path[i])
		} else {
			out = append(out, path[i])
		}
	}
	return string(out)
}

func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !(c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// stranger returns a text that s does not contain, of characters that a URL has in its path
// and nowhere before.
func stranger(s string) string {
	for i := 0; ; i++ {
		if text := fmt.Sprintf("~%d~", i); !strings.Contains(s, text) {
			return text
		}
	}
}

// keepPercent replaces the signs in a URL that begin no escape, which package net/url
// refuses.
func keepPercent(url, by string) string {
	if !strings.Contains(url, "%") {
		return url
	}
	var out strings.Builder
	for i := 0; i < len(url); i++ {
		if url[i] == '%' && (i+2 >= len(url) || !isHex(strings.ToLower(url[i+1:i+3]))) {
			out.WriteString(by)
		} else {
			out.WriteByte(url[i])
		}
	}
	return out.String()
}

// requestTarget returns path and query, escaped for the request line: net/url
// permits spaces and raw bytes in a query.
func requestTarget(u *url.URL) string {
	uri := u.RequestURI()
	clean := func(c byte) bool { return c > ' ' && c < 0x7f }
	out := make([]byte, 0, len(uri))
	for i := 0; i < len(uri); i++ {
		if clean(uri[i]) {
			out = append(out, uri[i])
		} else {
			out = fmt.Appendf(out, "%%%02X", uri[i])
		}
	}
	return string(out)
}
