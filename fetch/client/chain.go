package client

import (
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// route is what a chain of requests begins with, and where redirects may lead it.
type route struct {
	target string
	may    func(o fetch.Origin, target string) bool // nil: anywhere
	pages  bool                                     // keep the bodies of errors, if the client is configured to
	// the chain whose rest this is, which goes on at an origin; nil at its beginning
	after *heard
	at    fetch.Origin
}

var robotsRoute = route{target: "/robots.txt", pages: true}

// heard is a capture whose body is not in memory yet.
type heard struct {
	*fetch.Capture
	at      fetch.Origin // of the last hop
	missing bool         // the answer of the next hop is not stored; see [Archive]
	spared  bool         // the next hop was not asked for; see [received]
	retold  bool         // the last answer was one to another host
	seen    []string     // URLs of the chain
	text    *text        // the body, until [Lease.land]
	also    []*heard     // the answers to further identities

	// respite is the pause before the next request to the host, once it was asked for more than its
	// robots.txt: negative if it wants to be left alone for long.
	respite time.Duration

	header []usage.HeaderField // those lines of the last hop that the question wants
}

// overFTP reports whether the last hop used FTP. FTP replies look like HTTP
// statuses but have other meanings.
func (got *heard) overFTP() bool {
	return len(got.Hops) > 0 && strings.HasPrefix(got.Hops[len(got.Hops)-1].URL, "ftp:")
}

// chain makes one attempt: a request and the redirects that follow. A redirect that leads
// where the route may not ends it, without an error.
func (lease *Lease) chain(b *budget, asked fetch.Origin, r route) *heard {
	got := &heard{Capture: &fetch.Capture{Origin: asked}}
	at, target := asked, r.target
	if r.after != nil {
		at, got.Hops, got.seen = r.at, slices.Clone(r.after.Hops), slices.Clone(r.after.seen)
	}
	limit := lease.client.config.MaxRedirects
	lease.pages = r.pages && lease.identity == 0 && lease.client.config.ErrorBodies
	defer func() { lease.pages = false }()
	turn := &turn{lease: lease, last: got}
	defer turn.end()
	for {
		here := at.String() + target
		got.seen = append(got.seen, here)
		a, fail := lease.askInTurn(turn, b, at, target)
		if a.missing || a.spared {
			got.missing, got.spared = a.missing, a.spared
			return got
		}
		if got.retold = a.retold; a.retold {
			// It proves nothing of this machine.
		} else if lease.find == nil {
			lease.client.uplink.Notice(at, a.asProof(fail))
		} else if len(got.Hops) == 0 {
			got.Start = a.date
		}
		hop := answer.Hop{URL: clipURL(here), Status: a.status}
		got.Hops = append(got.Hops, hop)
		got.at, got.Remote, got.HTTPVersion, got.TLSVersion = at, a.remote, a.http, a.tls
		got.Headers, got.Times, got.Challenge, got.CDN = a.headers, a.times, a.challenge, a.cdn
		got.text, got.Truncated, got.Err, got.header = a.body, a.truncated, a.remark, a.kept
		if a.body != nil {
			a.body.paused = nil // it holds the connection
		}
		if fail == nil && hop.IsRedirect() {
			if at, target, fail = follow(here, a.location, asked, at); fail == nil {
				switch {
				case slices.Contains(got.seen, at.String()+target):
					fail = fetch.NewFailure(answer.ErrorRedirectLoop, "redirected to a URL of the same chain")
				case len(got.Hops) > limit:
					fail = fetch.NewFailure(answer.ErrorRedirectLimit, "redirected more than %d times", limit)
				case r.may != nil && !r.may(at, target):
					return got
				default:
					continue
				}
			}
		}
		if fail != nil {
			got.Error, got.Err, got.Local = fail.Class, fail.Err, fail.Local
		}
		return got
	}
}

// follow resolves location, the redirect that the URL from gives. It checks that the
// origin at, which gave it, may lead there in a chain that began at the origin asked.
func follow(from, location string, asked, at fetch.Origin) (to fetch.Origin, target string, fail *fetch.Failure) {
	to, target, class, err := fetch.Redirect(from, location)
	switch {
	case err != nil:
		fail = &fetch.Failure{Class: class, Err: err}
	case isPortRefused(to, asked, at):
		fail = fetch.NewFailure(answer.ErrorAddressBlocked, "redirect to port %d, which is blocked", to.Port)
	}
	return to, target, fail
}

// maxHopURL bounds the URL kept of a hop.
const maxHopURL = 2 << 10

func clipURL(url string) string {
	if len(url) > maxHopURL {
		return url[:maxHopURL] + "..."
	}
	return url
}
