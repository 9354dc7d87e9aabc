package client

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

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/names"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/robots/answer"
)

// Config configures a Client. All fields up to PerDomain must be set.
type Config struct {
	UserAgent string
	Timeout   time.Duration // limit for one origin: all schemes, hops, retries and their waits
	Retries   int           // further attempts after a 5xx or a temporary failure; twice as many after 503
	fetch.Limits
	Concurrency int // maximum requests in flight
	PerAddress  int // maximum requests in flight to one address
	PerDomain   int // maximum requests in flight to the hosts of one registered domain

	Rate         float64 // requests a second in total; 0: no limit
	AddressRate  float64 // requests a second to one address; 0: no limit
	ConnectTo    netip.AddrPort
	Proxy        *url.URL // http://[user:password@]host:port; nil: none
	AllowPrivate bool
	RootCAs      *x509.CertPool   // nil: the system's
	Resolvers    []netip.AddrPort // none: the system's
	PerResolver  int              // maximum names asked of each resolver at once; 0: no limit

	// ProbeMisconfigured asks an origin that answers 5xx for two more pages, to
	// distinguish a broken site from one that answers 5xx for all missing
	// pages.
	ProbeMisconfigured bool

	// FrontPage asks an origin that answered for its front page too, for [fetch.Capture.Front].
	FrontPage bool
	// Further are run after that, in this order, for [fetch.Capture.Further].
	Further []fetch.Plan
	// Identities are asked under after an origin's own answer, in this order.
	Identities []fetch.Identity

	Record bool // keep the bytes of all requests and answers, for [Lease.Exchanges]

	Now func() time.Time // the time of each request; nil: time.Now

	// OutagePatience is how long this machine may be cut off before all fetches end
	// with [outage.ErrCutOff]. If it is 0, every failure counts as the host's. If
	// nothing has ever been reached, fetches end with [outage.ErrNeverReached], or,
	// with AcceptUnreachable, the failures count as the hosts'.
	OutagePatience    time.Duration
	AcceptUnreachable bool
}

// mostKept returns the bytes that the bodies of a host's answers may have.
func (c *Config) mostKept() int {
	most := c.MaxBody * (1 + len(c.Identities))
	for _, p := range c.Further {
		most += p.Keeps
	}
	return most
}

// Backing is what the run behind a Client gives it. The zero value is that of a client
// without a run.
type Backing struct {
	// Room is the memory in bytes that answers in flight may take, beyond some
	// 16 KB each. The rest goes to a file that Spool creates when needed. If
	// Spool is nil, everything stays in memory. Waiting is the number of
	// origins that may wait without a slot, in addition to Concurrency.
	Room    int64
	Spool   func() (*os.File, error)
	Waiting int
	// Others, if not nil, returns hosts of the whole list in random order: in an outage
	// they tell this machine from the hosts that it asks.
	Others func(context.Context) []fetch.Origin
	// Spare and Spared, if not nil, keep until when an origin wants to be left alone: a client
	// forgets it with its process.
	Spare  func(o fetch.Origin, until time.Time) error
	Spared func(fetch.Origin) (until time.Time, err error)
	// Outage, if not nil, is called with the time since which failures are held, and
	// with the zero time when the outage is over. It must not block.
	Outage func(since time.Time)
}

// Client fetches. It is safe for concurrent use and need not be closed.
type Client struct {
	config       Config
	backing      Backing
	requestTails []string // of our own requests, and of those under each identity
	rules        *ownRules
	proxyAuth    string
	dialer       net.Dialer
	questions    net.Dialer // for those to DNS servers
	names        *names.Names
	politeness   *politeness
	others       *others // nil if nothing but robots.txt is asked for
	uplink       *outage.Uplink
	spool        *spool
	refused      func(netip.Addr) bool // the guard
}

// New checks the configuration and returns a client.
func New(config Config, b Backing) (*Client, error) {
	switch {
	case config.Timeout <= 0:
		return nil, errors.New("the timeout must be positive")
	case config.Retries < 0 || config.MaxRedirects < 0:
		return nil, errors.New("retries and redirects cannot be negative")
	case config.MaxBody <= 0:
		return nil, errors.New("the body limit must be positive")
	case config.Concurrency <= 0 || config.PerAddress <= 0 || config.PerDomain <= 0:
		return nil, errors.New("the concurrency in total, per address and per domain must be 1 or more")
	case config.PerResolver < 0:
		return nil, errors.New("the open questions to a resolver cannot be negative")
	case config.OutagePatience < 0:
		return nil, errors.New("the outage patience cannot be negative")
	case config.Rate < 0 || config.AddressRate < 0:
		return nil, errors.New("rates cannot be negative")
	}
	if err := fetch.CheckUserAgent(config.UserAgent); err != nil {
		return nil, err
	}
	if len(config.Identities) > fetch.MaxIdentities {
		return nil, fmt.Errorf("%d identities, more than %d", len(config.Identities), fetch.MaxIdentities)
	}
	for i := range config.Identities {
		if err := config.Identities[i].Validate(); err != nil {
			return nil, err
		}
	}
	c := &Client{
		config:     config,
		backing:    b,
		dialer:     net.Dialer{Timeout: config.Timeout / 3, KeepAlive: -1},
		politeness: newPoliteness(config, b.Waiting),
		spool:      newSpool(b, config.mostKept()),
		refused:    IsSpecial,
	}
	if config.AllowPrivate {
		c.refused = func(netip.Addr) bool { return false }
	}
	if c.config.Now == nil {
		c.config.Now = time.Now
	}
	c.names = names.New(config.Resolvers, config.PerResolver, &c.questions)
	u := outage.Config{
		Patience: config.OutagePatience, AcceptUnreachable: config.AcceptUnreachable, Concurrency: config.Concurrency,
		Proxied: config.Proxy != nil, Reach: c.probeHost, Others: b.Others, Outage: b.Outage,
	}
	if to := config.ConnectTo; to.IsValid() {
		u.Target = fetch.Origin{Scheme: "http", Host: to.Addr().String(), Port: to.Port()}
	}
	c.uplink = outage.New(u)
	for _, who := range append([]fetch.Identity{{UserAgent: config.UserAgent}}, config.Identities...) {
		c.requestTails = append(c.requestTails, tail(&who))
	}
	if config.FrontPage || len(config.Further) > 0 {
		c.rules = newOwnRules(config.UserAgent)
		c.others = newOthers(config.Timeout, b)
	}
	if config.Proxy != nil {
		c.proxyAuth = proxyAuthorization(config.Proxy)
	}
	return c, nil
}

// tlsConfig makes handshakes cheap: nothing secret is transferred, so the
// cheapest curve comes first, post-quantum curves are left out, and there are
// no tickets.
func (c *Client) tlsConfig(host string) *tls.Config {
	return &tls.Config{
		ServerName: host, RootCAs: c.config.RootCAs, MinVersion: tls.VersionTLS10,
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384}, SessionTicketsDisabled: true,
		CipherSuites: allSuites,
	}
}

// allSuites includes weak cipher suites: some servers have no others, and
// robots.txt is public.
var allSuites = func() (ids []uint16) {
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		ids = append(ids, suite.ID)
	}
	return ids
}()

// Resolvers says how each of several DNS servers did; nil for one.
func (c *Client) Resolvers() []names.Use { return c.names.Resolvers() }

// Fetch is Enter, [Lease.Fetch] and Leave, for callers with few origins.
func (c *Client) Fetch(ctx context.Context, candidates ...fetch.Origin) *fetch.Capture {
	p, err := c.Enter(ctx, ctx)
	if err != nil {
		return &fetch.Capture{Origin: candidates[0], Start: time.Now(), Error: answer.ErrorCanceled, Err: err}
	}
	defer p.Leave()
	return p.Fetch(0, candidates...)
}

// Fetch asks the candidates for their robots.txt, in order. It asks a later one
// only if the earlier ones gave no HTTP answer at all. If none answers, the
// facts are those of candidate number prefer. Fetch always returns facts; if
// the context ended, their class is canceled. Then it asks the origin that answered for
// its front page, for what each plan wants, and under each further identity, as far as the client
// is configured to.
func (lease *Lease) Fetch(prefer int, candidates ...fetch.Origin) *fetch.Capture {
	began := time.Now()
	b := &budget{deadline: began.Add(lease.client.config.Timeout)}
	var start time.Time
	var fallback answer.ErrorClass
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
			return tried[last].Capture
		case answered:
			got, candidates, prefer = tried[last], candidates[last:last+1], 0 // retry this one
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
			// Another request or another address might have succeeded.
			got.Error, got.Err = answer.ErrorCanceled, fmt.Errorf("stopped: %w", err)
		}
		got.Start, got.Attempts, got.Fallback = start, attempts, fallback
		total := time.Since(began) - b.waited
		got.Times.Total = &total
		lease.home = got.Origin
		lease.askFront(got)
		lease.askFurther(got, false)
		lease.askAlso(got)
		lease.askFurther(got, true)
		return lease.land(got)
	}
}

// round asks each candidate once until one answers. That one is the last in
// tried.
func (lease *Lease) round(b *budget, prefer int, candidates []fetch.Origin) (tried []*heard, answered bool) {
	for i, o := range candidates {
		a := lease.attempt(b, len(candidates)-i, o, robotsRoute)
		tried = append(tried, a)
		if a.Local != nil {
			break // the next scheme would hide the failure
		}
		if a.Status() != 0 || len(a.Hops) > 1 {
			return tried, true
		}
		hopeless := a.Error.IsNoHost() || a.Error == answer.ErrorAddressBlocked || a.Error == answer.ErrorNoRoute
		if lease.ctx.Err() != nil || b.spent() || hopeless && i >= prefer {
			break
		}
	}
	return tried, false
}

// attempt makes one of n remaining attempts. Its share of the time is 1/n, so
// that an attempt that hangs leaves time for the others.
func (lease *Lease) attempt(b *budget, n int, o fetch.Origin, r route) (a *heard) {
	if lease.find != nil {
		return lease.chain(b, o, r)
	}
	before := len(lease.exchanges)
	err := lease.sure(b, func() answer.ErrorClass {
		lease.share(nil)
		lease.exchanges = lease.exchanges[:before]
		share := b.share(n)
		start := lease.client.config.Now()
		a = lease.chain(share, o, r)
		a.Start = start
		b.wait(share.waited)
		if a.retold {
			return "" // it was believed then
		}
		return a.Error
	})
	if err != nil {
		lease.failed = nil
	}
	lease.share(lease.failed)
	if err != nil {
		a = &heard{Capture: &fetch.Capture{Origin: o, Start: a.Start, Error: answer.ErrorCanceled,
			Err: fmt.Errorf("stopped: %w", err)}}
		if lease.ctx.Err() == nil {
			a.Local = err
		}
	}
	return a
}

// budget is the time that one origin may take. It excludes our own waits, for
// the politeness limits, memory, the disk or local ports: they move the deadline.
type budget struct {
	deadline time.Time
	waited   time.Duration
}

// share returns a budget of 1/n of the remaining time.
func (b *budget) share(n int) *budget {
	now := time.Now()
	return &budget{deadline: now.Add(b.deadline.Sub(now) / time.Duration(n))}
}

// wait moves the deadline by a wait of ours.
func (b *budget) wait(d time.Duration) {
	b.deadline = b.deadline.Add(d)
	b.waited += d
}

func (b *budget) spent() bool { return !time.Now().Before(b.deadline) }

const (
	firstWait     = 500 * time.Millisecond
	maxRetryAfter = 10 * time.Second
)

// retry decides whether another attempt follows attempt number round (from 0),
// and after what wait. The wait doubles each round and is multiplied by a
// random factor between 0.5 and 1.5, so that hosts of one server do not come
// back together.
func (c *Client) retry(got *heard, round int) (time.Duration, bool) {
	retries := c.config.Retries
	status := got.Status()
	switch {
	case status != 0 && got.overFTP():
		if !got.retriedFTP() {
			return 0, false
		}
	case status == http.StatusServiceUnavailable:
		retries *= 2 // Google's document of 2012: a 503 is retried often
	case status >= 500 && status < 600:
	default:
		switch got.Error {
		case answer.ErrorDNSFailure, answer.ErrorConnectRefused, answer.ErrorConnectFailure, answer.ErrorConnectTimeout,
			answer.ErrorReset, answer.ErrorTruncatedBody, answer.ErrorTimeout:
		default:
			return 0, false
		}
	}
	if round >= retries {
		return 0, false
	}
	wait := time.Duration(float64(firstWait<<min(round, 10)) * (0.5 + rand.Float64()))
	return got.pause(wait)
}

// pause returns the wait before the next request to the origin: at least as long as an
// error asks for with Retry-After. It returns false if that is too long.
func (got *heard) pause(wait time.Duration) (time.Duration, bool) {
	if h := got.Headers.RetryAfter; h != nil && got.Status() >= 400 {
		if after, ok := retryAfter(*h); ok {
			if after > maxRetryAfter {
				return 0, false // coming back earlier would be worse than giving up
			}
			return max(wait, after), true
		}
	}
	return wait, true
}

// longestRespite bounds what Retry-After asks for: 12 days.
const longestRespite = 1 << 20 * time.Second

func retryAfter(value string) (time.Duration, bool) {
	if digits := strings.TrimSpace(value); digits != "" && strings.Trim(digits, "0123456789") == "" {
		s, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || s > int64(longestRespite/time.Second) { // a number beyond int64 is very long, not absent
			return longestRespite, true
		}
		return time.Duration(s) * time.Second, true
	}
	if t, err := http.ParseTime(value); err == nil {
		return min(time.Until(t), longestRespite), true
	}
	return 0, false
}
