package fetch

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/robocensus/robocensus/fetch/internal/failure"
	"github.com/robocensus/robocensus/robots/answer"
)

// maxLocation bounds the location of a redirect.
const maxLocation = 8 << 10

// Redirect returns the origin and the path and query to which an answer of the URL from
// redirects with location. If it leads nowhere, class and err say why. Any port is
// allowed.
func Redirect(from, location string) (to Origin, target string, class answer.ErrorClass, err error) {
	if location == "" {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect without location")
	}
	if len(location) > maxLocation {
		return to, "", answer.ErrorRedirectInvalid, fmt.Errorf("redirect to a location of %d bytes", len(location))
	}
	base, err := url.Parse(from)
	if err != nil {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect from an impossible URL")
	}
	next, err := base.Parse(location)
	if err != nil {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect to an impossible URL")
	}
	if DefaultPort(next.Scheme) == 0 {
		return to, "", answer.ErrorRedirectUnsupported, fmt.Errorf("redirect to scheme %q", failure.Clip(next.Scheme))
	}
	if next.User != nil {
		return to, "", answer.ErrorRedirectInvalid, errors.New("redirect to a URL with credentials")
	}
	if to, _, err = Parse(next.Scheme+"://"+next.Host, ""); err != nil {
		return Origin{}, "", answer.ErrorRedirectInvalid, fmt.Errorf("redirect: %w", err)
	}
	return to, requestTarget(next), "", nil
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
