package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// Config says how to ask. The zero value of a limit is no useful one: all
// fields but the addresses and CA must be set.
type Config struct {
	UserAgent    string
	Timeout      time.Duration // for one origin: all schemes, hops, retries and waits together
	Retries      int           // further attempts after a 5xx or a failure that may pass; 503 twice as many
	MaxRedirects int           // redirects followed, the largest of the profiles'
	MaxBody      int           // bytes of decoded body kept, the largest of the profiles'
	PerAddress   int           // connections at once to one address
	ConnectTo    netip.AddrPort
	AllowPrivate bool
	RootCAs      *x509.CertPool // nil: the system's
	Resolver     netip.AddrPort // invalid: the system's
}

// Client fetches. It is safe for concurrent use and holds nothing to close.
type Client struct {
	config      Config
	requestTail string
	dialer      net.Dialer
	resolver    *net.Resolver
	perAddress  *limiter
}

// New checks the configuration and makes a client of it.
func New(config Config) (*Client, error) {
	switch {
	case config.Timeout <= 0:
		return nil, errors.New("the timeout must be positive")
	case config.Retries < 0 || config.MaxRedirects < 0:
		return nil, errors.New("retries and redirects cannot be negative")
	case config.MaxBody <= 0:
		return nil, errors.New("the limit of the body must be positive")
	case config.PerAddress <= 0:
		return nil, errors.New("at least one connection per address is needed")
	}
	for i := 0; i < len(config.UserAgent); i++ {
		if c := config.UserAgent[i]; c < ' ' || c > '~' {
			return nil, fmt.Errorf("the user agent holds byte %#x; use printable ASCII", c)
		}
	}
	c := &Client{
		config:     config,
		dialer:     net.Dialer{Timeout: config.Timeout / 3, KeepAlive: -1},
		resolver:   &net.Resolver{PreferGo: true},
		perAddress: newLimiter(config.PerAddress),
	}
	if to := config.Resolver; to.IsValid() {
		c.resolver.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, to.String())
		}
	}
	c.requestTail = "\r\nUser-Agent: " + config.UserAgent +
		"\r\nAccept: text/plain, */*;q=0.5\r\nAccept-Encoding: gzip, br, zstd\r\nConnection: close\r\n\r\n"
	return c, nil
}

// tlsConfig costs a handshake as little as it may: nothing secret is asked
// for, so the cheapest curve comes first, post-quantum ones are left out, and
// there are no tickets.
func (c *Client) tlsConfig(host string) *tls.Config {
	return &tls.Config{
		ServerName: host, RootCAs: c.config.RootCAs, MinVersion: tls.VersionTLS10,
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384}, SessionTicketsDisabled: true,
	}
}

// Fetch asks the candidates for their robots.txt, in order: a later one only
// where the earlier gave no HTTP answer at all. It always returns facts; a
// canceled ctx is one of them (class canceled).
func (c *Client) Fetch(ctx context.Context, candidates ...Origin) *Capture {
	start := time.Now()
	b := &budget{deadline: start.Add(c.config.Timeout)}
	attempts := 0
	var fallback robots.ErrorClass
	for round := 0; ; round++ {
		var first *Capture
		for i, o := range candidates {
			attempts++
			// A scheme that hangs leaves the next one its share of the time.
			share := b.share(len(candidates) - i)
			got := c.chain(ctx, share, o)
			b.deadline = b.deadline.Add(share.waited)
			if first == nil {
				first = got
			}
			if got.Status() != 0 || len(got.Hops) > 1 {
				if first != got {
					fallback = first.Error
				}
				first, candidates = got, []Origin{o} // the one to retry
				break
			}
			if ctx.Err() != nil || b.spent() || got.Error == robots.DNSNotFound || got.Error == robots.AddressBlocked {
				break
			}
		}
		wait, again := c.retry(first, round)
		if again {
			again = b.pause(ctx, wait)
		}
		if !again {
			first.Start, first.Attempts, first.Fallback, first.Times.Total = start, attempts, fallback, since(start)
			return first
		}
	}
}

// budget is the time that one origin may take. Waiting for a place under the
// politeness limits is our doing and not the host's: it moves the deadline.
type budget struct {
	deadline time.Time
	waited   time.Duration
}

// share is an nth of what is left.
func (b *budget) share(n int) *budget {
	now := time.Now()
	return &budget{deadline: now.Add(b.deadline.Sub(now) / time.Duration(n))}
}

// wait moves the deadline by a wait that was ours.
func (b *budget) wait(d time.Duration) {
	b.deadline = b.deadline.Add(d)
	b.waited += d
}

func (b *budget) spent() bool { return !time.Now().Before(b.deadline) }

// pause waits, and reports whether there is time for another try after it.
func (b *budget) pause(ctx context.Context, wait time.Duration) bool {
	if time.Until(b.deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

const (
	firstWait     = 500 * time.Millisecond
	maxRetryAfter = 10 * time.Second
)

// retry decides whether attempt number round (from 0) is followed by another,
// and after what wait: doubling, with half to one and a half of it by chance
// so that hosts of one server do not come back together.
func (c *Client) retry(got *Capture, round int) (time.Duration, bool) {
	retries := c.config.Retries
	status := got.Status()
	switch {
	case status == http.StatusServiceUnavailable:
		retries *= 2 // SPEC section 2: "503 retried often"
	case status >= 500 && status < 600:
	default:
		switch got.Error {
		case robots.DNSFailure, robots.ConnectRefused, robots.ConnectFailure, robots.ConnectTimeout,
			robots.Reset, robots.TruncatedBody, robots.Timeout:
		default:
			return 0, false
		}
	}
	if round >= retries {
		return 0, false
	}
	wait := time.Duration(float64(firstWait<<min(round, 10)) * (0.5 + rand.Float64()))
	if h := got.Headers.RetryAfter; h != nil {
		if after, ok := retryAfter(*h); ok {
			wait = max(wait, min(after, maxRetryAfter))
		}
	}
	return wait, true
}

func retryAfter(value string) (time.Duration, bool) {
	if s, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && s >= 0 {
		return time.Duration(min(s, 1<<20)) * time.Second, true
	}
	if t, err := http.ParseTime(value); err == nil {
		return time.Until(t), true
	}
	return 0, false
}

// chain makes one attempt: the request and the redirects that follow from it.
func (c *Client) chain(ctx context.Context, b *budget, asked Origin) *Capture {
	got := &Capture{Origin: asked}
	at, target := asked, "/robots.txt"
	seen := make(map[string]bool, 1)
	for {
		here := at.String() + target
		seen[here] = true
		a, fail := c.get(ctx, b, at, target)
		got.Hops = append(got.Hops, robots.Hop{URL: here, Status: a.status})
		got.Remote, got.HTTPVersion, got.TLSVersion = a.remote, a.http, a.tls
		got.Headers, got.Times = a.headers, a.times
		got.Body, got.Truncated = a.body, a.truncated
		if fail == nil && isRedirect(a.status) {
			var next *url.URL
			if next, fail = redirectOf(here, a.location); fail == nil {
				if at, fail = redirectOrigin(next); fail == nil {
					target = requestTarget(next)
					switch {
					case seen[at.String()+target]:
						fail = failed(robots.RedirectLoop, "redirected to a URL of the same chain")
					case len(got.Hops) > c.config.MaxRedirects:
						fail = failed(robots.RedirectLimit, "redirected more than %d times", c.config.MaxRedirects)
					default:
						continue
					}
				}
			}
		}
		if fail != nil {
			got.Error, got.Err = fail.class, fail.err
		}
		return got
	}
}

// isRedirect tells the statuses that send a GET elsewhere. 300 and 304 to 306
// do not; they are "any other status" or, with nothing to follow, 3xx all the
// same, which package robots decides.
func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// requestTarget is path and query as the request line may hold them: net/url
// lets spaces and raw bytes stand in a query.
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

const maxLocation = 8 << 10

func redirectOf(from, location string) (*url.URL, *failure) {
	if location == "" {
		return nil, failed(robots.RedirectInvalid, "redirect without location")
	}
	if len(location) > maxLocation {
		return nil, failed(robots.RedirectInvalid, "redirect to a location of %d bytes", len(location))
	}
	base, err := url.Parse(from)
	if err != nil {
		return nil, failed(robots.RedirectInvalid, "redirect from an impossible URL")
	}
	next, err := base.Parse(location)
	if err != nil {
		return nil, failed(robots.RedirectInvalid, "redirect to an impossible URL")
	}
	return next, nil
}

func redirectOrigin(u *url.URL) (Origin, *failure) {
	if u.Scheme != "http" && u.Scheme != "https" {
		return Origin{}, failed(robots.RedirectUnsupported, "redirect to scheme %q", clip(u.Scheme))
	}
	if u.User != nil {
		return Origin{}, failed(robots.RedirectInvalid, "redirect to a URL with credentials")
	}
	o, err := originOf(u)
	if err != nil {
		return Origin{}, failed(robots.RedirectInvalid, "redirect: %w", err)
	}
	return o, nil
}
