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
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// Config says how to ask. All fields up to PerDomain must be set.
type Config struct {
	UserAgent    string
	Timeout      time.Duration // for one origin: all schemes, hops, retries and waits together
	Retries      int           // further attempts after a 5xx or a failure that may pass; 503 twice as many
	MaxRedirects int           // redirects followed, the largest of the profiles'
	MaxBody      int           // bytes of decoded body kept, the largest of the profiles'
	Concurrency  int           // requests in flight
	PerAddress   int           // of these, to one address
	PerDomain    int           // of these, to hosts of one registered domain

	// Room is how many bytes answers under way may take in memory, besides some
	// 16 KB each; what is more goes to the file that Spool creates when there is
	// need. Where Spool is nil, all stay in memory. Waiting is how many origins
	// may wait without a slot, besides as many as Concurrency.
	Room    int64
	Spool   func() (*os.File, error)
	Waiting int

	Rate         float64 // requests a second in all, 0 for any
	AddressRate  float64 // and to one address, 0 for any
	ConnectTo    netip.AddrPort
	Proxy        *url.URL // http://[user:password@]host:port; nil: none
	AllowPrivate bool
	RootCAs      *x509.CertPool // nil: the system's
	Resolver     netip.AddrPort // invalid: the system's

	// ProbeMisconfigured asks an origin that answers 5xx for two more pages,
	// to tell a broken site from one that answers all missing pages so.
	ProbeMisconfigured bool

	Now func() time.Time // for the time of each request; nil: time.Now

	// OutagePatience is how long this machine may be cut off before all fetches
	// end with ErrCutOff; 0: every failure is believed to be the host's. Where
	// nothing has ever been reached AcceptUnreachable has that believed too,
	// which else ends all fetches with ErrNeverReached. Others, if not nil, gives
	// hosts of the whole list in random order. Outage, if not nil, is told since
	// when failures are held, and the zero time when that is over; it must not
	// wait for anything.
	OutagePatience    time.Duration
	AcceptUnreachable bool
	Others            func(context.Context) []Origin
	Outage            func(since time.Time)
}

// Client fetches. It is safe for concurrent use and holds nothing to close.
type Client struct {
	config      Config
	requestTail string
	proxyAuth   string
	dialer      net.Dialer
	names       *names
	politeness  *politeness
	link        *link
	spool       *spool
	refused     func(netip.Addr) bool // the guard
}

// New checks the configuration and makes a client of it.
func New(config Config) (*Client, error) {
	switch {
	case config.Timeout <= 0:
		return nil, errors.New("the timeout must be positive")
	case config.Retries < 0 || config.MaxRedirects < 0:
		return nil, errors.New("retries and redirects cannot be negative")
	case config.MaxBody <= 0:
		return nil, errors.New("the body limit must be positive")
	case config.Concurrency <= 0 || config.PerAddress <= 0 || config.PerDomain <= 0:
		return nil, errors.New("the concurrency in total, per address and per domain must be 1 or more")
	case config.OutagePatience < 0:
		return nil, errors.New("the outage patience cannot be negative")
	case config.Rate < 0 || config.AddressRate < 0:
		return nil, errors.New("rates cannot be negative")
	}
	for i := 0; i < len(config.UserAgent); i++ {
		if c := config.UserAgent[i]; c < ' ' || c > '~' {
			return nil, fmt.Errorf("the user agent holds byte %#x; use printable ASCII", c)
		}
	}
	c := &Client{
		config:     config,
		dialer:     net.Dialer{Timeout: config.Timeout / 3, KeepAlive: -1},
		names:      newNames(config.Resolver),
		politeness: newPoliteness(config),
		spool:      newSpool(&config),
		refused:    isSpecial,
	}
	if config.AllowPrivate {
		c.refused = func(netip.Addr) bool { return false }
	}
	if c.config.Now == nil {
		c.config.Now = time.Now
	}
	c.link = newLink(c)
	c.requestTail = "\r\nUser-Agent: " + config.UserAgent +
		"\r\nAccept: text/plain, */*;q=0.5\r\nAccept-Encoding: gzip, br, zstd\r\nConnection: close\r\n"
	if config.Proxy != nil {
		c.proxyAuth = proxyAuthorization(config.Proxy)
	}
	return c, nil
}

// tlsConfig costs a handshake as little as it may: nothing secret is asked
// for, so the cheapest curve comes first, post-quantum ones are left out, and
// there are no tickets.
func (c *Client) tlsConfig(host string) *tls.Config {
	return &tls.Config{
		ServerName: host, RootCAs: c.config.RootCAs, MinVersion: tls.VersionTLS10,
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384}, SessionTicketsDisabled: true,
		CipherSuites: allSuites,
	}
}

// allSuites has the weak ones too: some servers speak nothing else, and what
// is asked of them is public.
var allSuites = func() (ids []uint16) {
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		ids = append(ids, suite.ID)
	}
	return ids
}()

// Fetch enters and fetches: for callers that ask few origins.
func (c *Client) Fetch(ctx context.Context, candidates ...Origin) *Capture {
	p, err := c.Enter(ctx, ctx)
	if err != nil {
		return &Capture{Origin: candidates[0], Start: time.Now(), Error: robots.Canceled, Err: err}
	}
	defer p.Leave()
	return p.Fetch(0, candidates...)
}

// Fetch asks the candidates for their robots.txt, in order: a later one only
// where the earlier gave no HTTP answer at all. Where none does, the facts are
// those of candidate number prefer. It always returns facts; a context that ended
// is one of them (class canceled).
func (lease *Lease) Fetch(prefer int, candidates ...Origin) *Capture {
	began := time.Now()
	b := &budget{deadline: began.Add(lease.client.config.Timeout)}
	var start time.Time
	var fallback robots.ErrorClass
	attempts := 0
	for round := 0; ; round++ {
		tried, answered := lease.round(b, prefer, candidates)
		if attempts == 0 {
			start = tried[0].Start
		}
		attempts += len(tried)
		last := len(tried) - 1
		got := tried[min(prefer, last)]
		switch {
		case tried[last].Local != nil:
			return tried[last]
		case answered:
			got, candidates, prefer = tried[last], candidates[last:last+1], 0 // the one to retry
		}
		if got != tried[0] {
			fallback = tried[0].Error
		}
		wait, again := lease.client.retry(got, round)
		if again && lease.pause(b, wait) {
			continue
		}
		if lease.client.config.ProbeMisconfigured && lease.ctx.Err() == nil {
			again = lease.probe(b, got) || again
		}
		if err := lease.ctx.Err(); err != nil && (again || got.Error != "") {
			// Another request, or another address, might have come to something else.
			got.Error, got.Err = robots.Canceled, fmt.Errorf("stopped: %w", err)
		}
		got.Start, got.Attempts, got.Fallback = start, attempts, fallback
		total := time.Since(began) - b.waited
		got.Times.Total = &total
		return lease.land(got)
	}
}

// round asks each candidate once, until one gives an answer, which is then the
// last that was tried.
func (lease *Lease) round(b *budget, prefer int, candidates []Origin) (tried []*Capture, answered bool) {
	for i, o := range candidates {
		a := lease.attempt(b, len(candidates)-i, o)
		tried = append(tried, a)
		if a.Local != nil {
			break // the next scheme would hide it
		}
		if a.Status() != 0 || len(a.Hops) > 1 {
			return tried, true
		}
		hopeless := a.Error == robots.DNSNotFound || a.Error == robots.AddressBlocked || a.Error == robots.NoRoute
		if lease.ctx.Err() != nil || b.spent() || hopeless && i >= prefer {
			break
		}
	}
	return tried, false
}

// attempt makes one attempt, of n that are left to be made: one that hangs leaves
// the others their share of the time.
func (lease *Lease) attempt(b *budget, n int, o Origin) (a *Capture) {
	err := lease.sure(b, func() robots.ErrorClass {
		share := b.share(n)
		start := lease.client.config.Now()
		a = lease.chain(share, o)
		a.Start = start
		b.wait(share.waited)
		return a.Error
	})
	if err != nil {
		a = &Capture{Origin: o, Start: a.Start, Error: robots.Canceled, Err: fmt.Errorf("stopped: %w", err)}
		if lease.ctx.Err() == nil {
			a.Local = err
		}
	}
	return a
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
	case status != 0 && got.overFTP():
		if !retriedFTP(status) {
			return 0, false
		}
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
			if after > maxRetryAfter {
				return 0, false // to come back earlier would be worse than not to
			}
			wait = max(wait, after)
		}
	}
	return wait, true
}

func retryAfter(value string) (time.Duration, bool) {
	if digits := strings.TrimSpace(value); digits != "" && strings.Trim(digits, "0123456789") == "" {
		s, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			s = 1 << 20 // more than an int64 holds is very long, and not absent
		}
		return time.Duration(min(s, 1<<20)) * time.Second, true
	}
	if t, err := http.ParseTime(value); err == nil {
		return time.Until(t), true
	}
	return 0, false
}
