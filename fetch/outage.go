package fetch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// ErrNeverReached ends a fetch of a client that has never had proof that this
// machine is connected, and ErrCutOff one of a client whose proofs have ceased.
var (
	ErrNeverReached = errors.New("no host could be reached")
	ErrCutOff       = errors.New("this machine is cut off from the network")
)

// FirstPatience is how long a client waits for its first proof that this
// machine is connected, if Config.OutagePatience is not shorter.
const FirstPatience = 30 * time.Second

// link tells the failures of hosts from those of this machine's own connection.
//
// The rule. What proves that this machine is connected is an HTTP status (or a
// reply of FTP), a connection that a host refuses, and a name that the resolver
// says does not exist. A connection that is merely accepted proves nothing, nor
// does a resolver that fails. An attempt that ends without an answer is held,
// with its slot, until there is a proof whose look-up and connection began after
// the attempt had ended; only then it is the host's failure. Failures of look-ups
// want a proof that began with a look-up, since hosts whose names are known
// already answer without the resolver.
//
// Where the network is waited for and no proof comes for a second, or all attempts
// under way are held, up to eight hosts that answered last, of different
// registered domains and address blocks, are looked up anew and connected to. No
// request is sent, so that no host is asked twice. One that can be connected to,
// or refuses, is proof. If all fail within four seconds, that is an outage; they
// are tried again after 1 s, 2 s and so on up to 15 s. The next proof ends it.
// After an outage, or four seconds without proof, each attempt that has failed or
// will, and had begun before that moment, is made again: it says nothing about the
// host. So it is with attempts during which the clock has jumped, because the
// process was stopped or the machine slept. An outage that outlasts the patience
// ends all fetches with ErrCutOff.
//
// A client that has had no proof yet tries hosts drawn at random from the whole
// list, 8 and then 64 at a time, and gives up 30 s after the first failure with
// ErrNeverReached, unless it is told to accept failures.
//
// False alarms. If q is the chance that a host which answered a while ago cannot
// be connected to within four seconds, dead hosts are taken for an outage once in
// 1/q^8 probes: for q = 5 % once in 25 thousand million. Such an alarm costs time
// and no row: the hosts are asked again. A list of which not one host in a hundred
// lives, and whose first hosts in flight are all dead, is refused by mistake once
// in 600 times, a list without a living host always.
//
// With Config.ConnectTo all hosts are one address, whose probe is a connection to
// it: an address that accepts connections and never answers is the hosts' doing.
// Through a proxy, a probe is a CONNECT that the proxy answers with other than
// 5xx, and no 5xx is proof: it may be the proxy's own.
type link struct {
	client *Client
	times  linkTimes

	mu       sync.Mutex
	wake     chan struct{} // the watch looks before its next tick
	watched  bool
	underWay int // attempts, those that are held included
	active   int // of these, those that wait for the network
	held     [2][]*heldFailure

	named, reached time.Time // when the latest proof began: with a look-up, or of any kind
	clean          time.Time // failures of attempts that began before it do not count
	beaten, wall   time.Time // when the clock was last looked at, and what it showed
	heard          time.Time // when the latest proof came, or the network was first waited for after a rest
	since          time.Time // since when failures are held without proof
	out            bool      // an outage
	outages        int
	accepted       bool
	failed         error

	probing bool
	stop    context.CancelFunc // of the probe under way
	next    time.Time          // no probe before
	pause   time.Duration

	witnesses []witness
	unknown   []Origin // the latest name that does not exist
	sample    []Origin
	sampled   bool
}

// linkTimes are those of the rule; tests shorten them.
type linkTimes struct {
	patience, atFirst   time.Duration
	tick, jump          time.Duration
	quiet, silence      time.Duration // without proof: to probe, and to ask again
	probe, stagger, gap time.Duration
	pause, maxPause     time.Duration
}

func newLink(c *Client) *link {
	return &link{client: c, wake: make(chan struct{}, 1), times: linkTimes{
		patience: c.config.OutagePatience, atFirst: FirstPatience,
		tick: 250 * time.Millisecond, jump: time.Second, quiet: time.Second, silence: 4 * time.Second,
		probe: 4 * time.Second, stagger: 200 * time.Millisecond, gap: 250 * time.Millisecond,
		pause: time.Second, maxPause: 15 * time.Second,
	}}
}

// heldFailure is an attempt that has failed and waits for proof.
type heldFailure struct {
	began, ended time.Time
	settled      chan struct{} // closed when the next two are known
	believed     bool
	err          error
}

// The two kinds of failures that are held.
const (
	ofNetwork = iota
	ofNames
)

// maxAgain bounds how often an attempt is made for our own sake: on a machine
// whose clock jumps all the time a dead host must have its end too.
const maxAgain = 10

// sure makes an attempt, again for as long as it fails and its failure is not
// believed. All but the last one is our time and not the host's. The error is
// that of a context that ended, or that this machine is cut off.
func (lease *Lease) sure(b *budget, attempt func() robots.ErrorClass) error {
	l := lease.client.link
	if l.times.patience == 0 {
		attempt()
		return nil
	}
	for n := 1; ; n++ {
		began, waited := time.Now(), b.waited
		l.begin()
		class := attempt()
		ended := time.Now()
		believed, err := l.believe(lease.ctx, began, class)
		if err != nil || believed || n == maxAgain {
			b.wait(time.Since(ended))
			return err
		}
		b.wait(time.Since(began) - (b.waited - waited))
	}
}

// begin counts an attempt, and sees to it that the clock is watched meanwhile.
func (l *link) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.underWay++; !l.watched {
		now := time.Now()
		l.watched, l.beaten, l.wall = true, now, now.Round(0)
		go l.watch()
	}
}

// await counts what waits for the network, by one up or down.
func (l *link) await(by int) {
	if l.times.patience == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == 0 && !l.isHolding() {
		l.heard = time.Now()
	}
	l.active += by
}

// believe ends an attempt. It waits until it is known whether a failure is the
// host's.
func (l *link) believe(ctx context.Context, began time.Time, class robots.ErrorClass) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		l.underWay--
		l.hurry()
	}()
	l.beat()
	kind := ofNetwork
	if class == robots.DNSFailure {
		kind = ofNames
	}
	if !isDoubtful(class) {
		return true, nil
	}
	h := &heldFailure{began: began, ended: time.Now(), settled: make(chan struct{})}
	if !l.isHolding() && !l.out {
		l.since = h.ended
	}
	l.held[kind] = append(l.held[kind], h)
	l.settle()
	l.hurry()
	l.mu.Unlock()
	select {
	case <-h.settled:
	case <-ctx.Done():
	}
	l.mu.Lock()
	select {
	case <-h.settled:
		return h.believed, h.err
	default:
	}
	l.held[kind] = slices.DeleteFunc(l.held[kind], func(other *heldFailure) bool { return other == h })
	l.settle()
	return false, ctx.Err()
}

// isDoubtful tells the failures that may be this machine's.
func isDoubtful(class robots.ErrorClass) bool {
	switch class {
	case robots.DNSFailure, robots.ConnectFailure, robots.ConnectTimeout, robots.NoRoute, robots.Timeout, robots.Reset, robots.TLSFailure, robots.TruncatedBody:
		return true
	}
	return false
}

func (l *link) isHolding() bool { return len(l.held[ofNetwork])+len(l.held[ofNames]) > 0 }

// settle lets those failures go about which it is known what they are.
func (l *link) settle() {
	for kind, proof := range [2]time.Time{ofNetwork: l.reached, ofNames: l.named} {
		l.held[kind] = slices.DeleteFunc(l.held[kind], func(h *heldFailure) bool {
			switch {
			case l.failed != nil:
				h.err = l.failed
			case h.began.Before(l.clean):
				if l.out {
					return false // to ask again now would be for nothing
				}
			case l.accepted || proof.After(h.ended):
				h.believed = true
			default:
				return false
			}
			close(h.settled)
			return true
		})
	}
	if !l.isHolding() && l.active == 0 && l.probing {
		l.stop()
	}
}

// hurry has the watch look now where nothing but a probe can help.
func (l *link) hurry() {
	if !l.isStuck() {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// isStuck says that no attempt goes on, or none can be begun.
func (l *link) isStuck() bool {
	n := len(l.held[ofNetwork]) + len(l.held[ofNames])
	return n > 0 && n == l.underWay || n >= l.client.config.Concurrency
}

// beat looks at the clock. Where it has jumped, because this process was stopped,
// the machine slept or the time was set, what failed since the last look counts
// for nothing.
func (l *link) beat() time.Time {
	now := time.Now()
	elapsed := now.Sub(l.beaten)
	byWall := now.Round(0).Sub(l.wall)
	l.beaten, l.wall = now, now.Round(0)
	if elapsed > l.times.jump || (byWall-elapsed).Abs() > l.times.jump {
		l.clean = now
		l.settle()
	}
	return now
}

// watch goes on as long as attempts do.
func (l *link) watch() {
	ticker := time.NewTicker(l.times.tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-l.wake:
		}
		if !l.look() {
			return
		}
	}
}

func (l *link) look() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.beat()
	if l.underWay == 0 {
		l.watched = false
		return false
	}
	if !l.isHolding() && l.active == 0 {
		return true
	}
	limit := l.times.patience
	never := l.reached.IsZero() || len(l.held[ofNames]) > 0 && l.named.IsZero()
	if never {
		limit = min(limit, l.times.atFirst)
	}
	if l.out && l.isHolding() && now.Sub(l.since) >= limit {
		switch {
		case never && l.client.config.AcceptUnreachable:
			l.accepted = true
			l.end()
		case never:
			l.failed = ErrNeverReached
		default:
			l.failed = ErrCutOff
		}
		l.settle()
		return true
	}
	if !l.probing && !now.Before(l.next) &&
		(l.out || l.isStuck() || now.Sub(l.heard) >= l.times.quiet || l.isHolding() && now.Sub(l.since) >= l.times.quiet) {
		var ctx context.Context
		ctx, l.stop = context.WithTimeout(context.Background(), l.times.probe)
		l.probing = true
		go l.probe(ctx, l.stop)
	}
	return true
}

// proof records what proves that this machine is connected: when the look-up
// began, if one was made, and when what gave the proof did.
func (l *link) proof(named, reached time.Time) {
	now := time.Now()
	if now.Sub(l.heard) > l.times.silence {
		l.clean = now
	}
	l.heard = now
	if named.After(l.named) {
		l.named = named
	}
	if reached.After(l.reached) {
		l.reached = reached
	}
	if !named.IsZero() || len(l.held[ofNames]) == 0 {
		if l.out {
			l.clean = now
			l.end()
		}
		l.accepted = l.accepted && named.IsZero()
		l.since = now
	}
	l.settle()
}

// declare begins an outage.
func (l *link) declare() {
	if l.out {
		return
	}
	l.out = true
	l.outages++
	if !l.isHolding() {
		l.since = l.heard
	}
	if l.client.config.Outage != nil {
		l.client.config.Outage(l.since)
	}
}

// end ends an outage.
func (l *link) end() {
	l.out = false
	if l.client.config.Outage != nil {
		l.client.config.Outage(time.Time{})
	}
}
