package check

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
)

// request is a line of an access log in the combined format, as Apache and nginx write it.
type request struct {
	url       string // as it was asked for: a path, or an absolute URL
	host      string // that was asked, "" if the line does not begin with one
	proxied   string // host of an absolute URL, as a proxy is asked for it; "" for a path
	status    int    // 0 for none
	userAgent string
	isCommon  bool   // the line is of the common format, without a User-Agent
	agent     string // of the registry, that sends it
	line      int64
}

// combined is a line of an access log. Quotes within fields are escaped, and other bytes too.
var combined = sync.OnceValue(func() *regexp.Regexp {
	const quoted = `(?:[^"\\]|\\.)*`
	return regexp.MustCompile(`^(\S+) (\S+) .{1,256}? ?\[\d{1,2}/[A-Za-z]{3}/\d{4}:[^\]]{1,64}\] ` +
		`"(` + quoted + `)" (\d{3}|-) (?:\d+|-)( "` + quoted + `" "(` + quoted + `)")?`)
})

// requestOf reads a line. ok is false for a line that is none of the format; url is "" for
// what is no request of HTTP, as of a scanner that speaks TLS.
func requestOf(line string) (r request, ok bool) {
	m := combined().FindStringSubmatch(line)
	if m == nil {
		return r, false
	}
	r.host = virtualHost(m[1], m[2])
	r.status, _ = strconv.Atoi(m[4])
	r.userAgent, r.isCommon = m[6], m[5] == ""
	words := strings.Split(m[3], " ")
	if len(words) == 3 && strings.HasPrefix(words[2], "HTTP/") &&
		(strings.HasPrefix(words[1], "/") || strings.Contains(words[1], "://")) {
		r.url = unescaped(words[1])
	}
	if o, _, err := fetch.Parse(r.url, ""); err == nil && strings.Contains(r.url, "://") {
		r.proxied = o.Host
	}
	return r, true
}

// unescaped undoes the escapes of a log in a request target: \xHH of nginx and Apache, and \" and
// the like of Apache. Bytes that no URL has are percent-encoded.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	const names, values = `"\bnrtv`, "\"\\\b\n\r\t\v"
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b == '\\' && i+1 < len(s) {
			code := s[min(i+2, len(s)):min(i+4, len(s))]
			if n, err := strconv.ParseUint(code, 16, 8); s[i+1] == 'x' && len(code) == 2 && err == nil {
				b, i = byte(n), i+3
			} else if at := strings.IndexByte(names, s[i+1]); at >= 0 {
				b, i = values[at], i+1
			}
		}
		if b <= ' ' || b >= 0x7f {
			out = fmt.Appendf(out, "%%%02X", b)
		} else {
			out = append(out, b)
		}
	}
	return string(out)
}

// virtualHost returns the host of a log of several, "" for one that begins with the client: a
// host stands before the address of the client, or has a port.
func virtualHost(first, second string) string {
	name, _, _ := strings.Cut(first, ":")
	if isAddress(first) || name == "-" || name == "_" {
		return "" // a client, perhaps with a proxy after it, or the host that has no name
	}
	o, _, err := fetch.Parse(first, "")
	if err != nil || o.Port == 0 && !isAddress(strings.TrimSuffix(second, ",")) {
		return ""
	}
	return o.Host
}

// isAddress reports whether a field is an address, perhaps in brackets or with a port.
func isAddress(field string) bool {
	if _, err := netip.ParseAddrPort(field); err == nil {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(field, "[]"))
	return err == nil
}

// judgeRequest judges a request of an access log, all of which are of one host, as far as it
// says.
func (l *urlList) judgeRequest(r request) error {
	fail := func(format string, args ...any) error {
		return &userfile.Error{Path: l.name, Line: r.line, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case r.host == "":
	case l.origin != nil && r.host != l.origin.Host:
		return fail("asks %s, and the robots.txt of %s decides; give the requests of that host alone", r.host, l.origin)
	case l.asked.host == "":
		l.asked = r
	case r.host != l.asked.host:
		return fail("asks %s, and line %d %s: each has a robots.txt of its own; give the requests of one host alone",
			r.host, l.asked.line, l.asked.host)
	}
	l.request = &r
	return l.judge(registry.Sample{URL: r.url})
}

// isElsewhere reports whether a request is for another host than that which the log is of, as
// those who look for open proxies send it.
func (l *urlList) isElsewhere(r request) bool {
	of := cmp.Or(r.host, l.asked.host)
	if l.origin != nil {
		of = l.origin.Host
	}
	return r.proxied != "" && of != "" && r.proxied != of
}
