package fetch

import (
	"fmt"
	"net/url"

	"github.com/robocensus/robocensus/robots/answer"
)

// route is what a chain of requests begins with, and where redirects may lead it.
type route struct {
	target string
	may    func(o Origin, target string) bool // nil: anywhere
}

var robotsRoute = route{target: "/robots.txt"}

// chain makes one attempt: a request and the redirects that follow. A redirect that leads
// where the route may not ends it, without an error.
func (lease *Lease) chain(b *budget, asked Origin, r route) *Capture {
	got := &Capture{Origin: asked}
	at, target := asked, r.target
	seen := make(map[string]bool, 1)
	limit := lease.client.config.MaxRedirects
	for {
		here := at.String() + target
		seen[here] = true
		a, fail := lease.ask(b, at, target)
		lease.client.link.notice(at, &a, fail)
		hop := answer.Hop{URL: clipURL(here), Status: a.status}
		got.Hops = append(got.Hops, hop)
		got.at, got.Remote, got.HTTPVersion, got.TLSVersion = at, a.remote, a.http, a.tls
		got.Headers, got.Times, got.Challenge = a.headers, a.times, a.challenge
		got.text, got.Truncated, got.Err = a.body, a.truncated, a.remark
		if fail == nil && hop.IsRedirect() {
			if at, target, fail = follow(here, a.location, asked, at); fail == nil {
				switch {
				case seen[at.String()+target]:
					fail = failed(answer.ErrorRedirectLoop, "redirected to a URL of the same chain")
				case len(got.Hops) > limit:
					fail = failed(answer.ErrorRedirectLimit, "redirected more than %d times", limit)
				case r.may != nil && !r.may(at, target):
					return got
				default:
					continue
				}
			}
		}
		if fail != nil {
			got.Error, got.Err, got.Local = fail.class, fail.err, fail.local
		}
		return got
	}
}

// follow resolves location, the redirect that the URL from gives. It checks that the
// origin at, which gave it, may lead there in a chain that began at the origin asked.
func follow(from, location string, asked, at Origin) (to Origin, target string, fail *failure) {
	next, fail := redirectOf(from, location)
	if fail == nil {
		to, fail = redirectOrigin(next)
	}
	if fail == nil && isPortRefused(to, asked, at) {
		fail = failed(answer.ErrorAddressBlocked, "redirect to port %d, which is blocked", to.Port)
	}
	if fail != nil {
		return Origin{}, "", fail
	}
	return to, requestTarget(next), nil
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

const (
	maxLocation = 8 << 10
	// maxHopURL bounds the URL kept of a hop.
	maxHopURL = 2 << 10
)

func clipURL(url string) string {
	if len(url) > maxHopURL {
		return url[:maxHopURL] + "..."
	}
	return url
}

// Redirect returns the target of a stored redirect: from answered with
// location. If the target is invalid, class and err say why. Any port is
// allowed, because nothing is fetched.
func Redirect(from, location string) (next string, class answer.ErrorClass, err error) {
	to, fail := redirectOf(from, location)
	var at Origin
	if fail == nil {
		at, fail = redirectOrigin(to)
	}
	if fail != nil {
		return "", fail.class, fail.err
	}
	return at.String() + requestTarget(to), "", nil
}

func redirectOf(from, location string) (*url.URL, *failure) {
	if location == "" {
		return nil, failed(answer.ErrorRedirectInvalid, "redirect without location")
	}
	if len(location) > maxLocation {
		return nil, failed(answer.ErrorRedirectInvalid, "redirect to a location of %d bytes", len(location))
	}
	base, err := url.Parse(from)
	if err != nil {
		return nil, failed(answer.ErrorRedirectInvalid, "redirect from an impossible URL")
	}
	next, err := base.Parse(location)
	if err != nil {
		return nil, failed(answer.ErrorRedirectInvalid, "redirect to an impossible URL")
	}
	return next, nil
}

func redirectOrigin(u *url.URL) (Origin, *failure) {
	if DefaultPort(u.Scheme) == 0 {
		return Origin{}, failed(answer.ErrorRedirectUnsupported, "redirect to scheme %q", clip(u.Scheme))
	}
	if u.User != nil {
		return Origin{}, failed(answer.ErrorRedirectInvalid, "redirect to a URL with credentials")
	}
	o, err := originOf(u)
	if err != nil {
		return Origin{}, failed(answer.ErrorRedirectInvalid, "redirect: %w", err)
	}
	return o, nil
}
