package check

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// request is a line of an access log in the combined format, as Apache and nginx write it.
type request struct {
	url       string // as it was asked for: a path, or an absolute URL
	status    int    // 0 for none
	userAgent string
	agent     string // of the registry, that sends it
}

// combined is a line of an access log. Quotes within fields are escaped, and other bytes too.
var combined = sync.OnceValue(func() *regexp.Regexp {
	const quoted = `(?:[^"\\]|\\.)*`
	return regexp.MustCompile(`^\S+ \S+ .{1,256}? ?\[\d{1,2}/[A-Za-z]{3}/\d{4}:[^\]]{1,64}\] ` +
		`"(` + quoted + `)" (\d{3}|-) (?:\d+|-)(?: "` + quoted + `" "(` + quoted + `)")?`)
})

// requestOf reads a line. ok is false for a line that is none of the format; url is "" for
// what is no request of HTTP, as of a scanner that speaks TLS.
func requestOf(line string) (r request, ok bool) {
	m := combined().FindStringSubmatch(line)
	if m == nil {
		return r, false
	}
	r.status, _ = strconv.Atoi(m[2])
	r.userAgent = m[3]
	words := strings.Split(m[1], " ")
	if len(words) == 3 && strings.HasPrefix(words[2], "HTTP/") &&
		(strings.HasPrefix(words[1], "/") || strings.Contains(words[1], "://")) {
		r.url = words[1]
	}
	return r, true
}
