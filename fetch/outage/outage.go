// Package outage distinguishes failures of hosts from failures of this machine's
// connection.
package outage

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// ErrNeverReached ends the fetches of a client that never had proof that this
// machine is connected. ErrCutOff ends those of a client that no longer gets
// proof.
var (
	ErrNeverReached = errors.New("no host could be reached")
	ErrCutOff       = errors.New("this machine is cut off from the network")
)

// FirstPatience is how long a client waits for its first proof that this
// machine is connected, unless Config.Patience is shorter.
const FirstPatience = 30 * time.Second

// Uplink distinguishes failures of hosts from failures of this machine's
// connection.
//
// The rule. This machine is proved to be connected by an HTTP status (or an FTP
// reply), by a connection that a host refuses, and by a name that the resolver
// reports as not existing. An accepted connection proves nothing, and neither
// does a resolver that fails. An attempt that ends without an answer is held,
// with its slot, until there is proof whose look-up and connection began after
// the attempt ended; only then does it count as the host's failure. A failed
// look-up needs proof that began with a look-up, because hosts with cached
// names answer without the resolver.
//
// If attempts wait for the network and no proof comes for a second, or if all
// attempts are held, the link probes: it looks up and connects to up to eight
// hosts that answered last, of different registered domains and address blocks.
// It sends no request, so no host is asked twice. A host that accepts or
// refuses the connection is proof. If all fail within four seconds, that is an
// outage. Probes are repeated after 1 s, 2 s and so on up to 15 s, and the next
// proof ends the outage. After an outage, or four seconds without proof, every
// attempt that began before that moment and fails is made again: its failure
// says nothing about the host. The same holds for attempts during which the
// clock jumped, because the process was stopped or the machine slept. An outage
// that outlasts the patience ends all fetches with ErrCutOff.
//
// A client without any proof so far probes hosts drawn at random from the whole
// list, 8 and then 64 at a time. It gives up 30 s after the first failure with
// ErrNeverReached, unless it is configured to accept failures.
//
// False alarms. Let q be the chance that a host which answered a while ago
// cannot be connected to within four seconds. Then dead hosts are taken for an
// outage once in 1/q^8 probes: for q = 5 % once in 25 thousand million. Such an
// alarm costs time but no row: the hosts are asked again. A list in which fewer
// than one host in a hundred is alive, and whose first hosts in flight are all
// dead, is refused by mistake once in 600 times; a list without a living host
// is always refused.
//
// If the configuration names one Target, all hosts share its address, and a probe connects to
// it. If it accepts connections and never answers, that counts as the hosts'
// failure. Through a proxy, a probe is a CONNECT that the proxy answers with
// any status but 5xx, and no 5xx is proof: it may be the proxy's own.
type Uplink struct {
	Times Times // to be changed only before use

	config Config

	mu       sync.Mutex
	wake     chan struct{} // makes the watch look before its next tick
	watched  bool
	underWay int // attempts, including those held
	active   int // attempts that wait for the network
	held     [2][]*heldFailure

	named, reached time.Time // when the latest proof began: one with a look-up, and any
	clean          time.Time // failures of attempts that began earlier do not count
	beaten, wall   time.Time // when the clock was last read, and its wall time
	heard          time.Time // when the latest proof came, or the first wait after a rest began
	since          time.Time // start of the time without proof in which failures are held
	out            bool      // an outage
	accepted       bool
	failed         error

	probing bool
	stop    context.CancelFunc // ends the probe in flight
	next    time.Time          // the earliest time of the next probe
	pause   time.Duration

	recent  []host         // that have proved that this machine is connected, the latest last
	unknown []fetch.Origin // the latest name that does not exist
	sample  []fetch.Origin
	sampled bool
}

// Times are those of the rule.
type Times struct {
	Patience, AtFirst   time.Duration
	Tick, Jump          time.Duration
	Quiet, Silence      time.Duration // without proof: until a probe, and until attempts are repeated
	Probe, Stagger, Gap time.Duration
	Pause, MaxPause     time.Duration
}

// Config configures an Uplink.
type Config struct {
	// Patience is how long this machine may be cut off before all attempts end with
	// ErrCutOff. If it is 0, every failure counts as the host's. If nothing has ever been
	// reached, attempts end with ErrNeverReached, or, with AcceptUnreachable, the failures
	// count as the hosts'.
	Patience          time.Duration
	AcceptUnreachable bool
	Concurrency       int          // attempts that may be under way
	Target            fetch.Origin // the one to probe; its zero value: those that answered last
	Proxied           bool         // all go through a proxy

	// Reach resolves and connects to a host, and sends no request.
	Reach func(context.Context, fetch.Origin) Proof
	// Others and Outage are those of client.Backing; nil for none.
	Others func(context.Context) []fetch.Origin
	Outage func(since time.Time)
}

// New returns an Uplink.
func New(c Config) *Uplink {
	return &Uplink{config: c, wake: make(chan struct{}, 1), Times: Times{
		Patience: c.Patience, AtFirst: FirstPatience,
		Tick: 250 * time.Millisecond, Jump: time.Second, Quiet: time.Second, Silence: 4 * time.Second,
		Probe: 4 * time.Second, Stagger: 200 * time.Millisecond, Gap: 250 * time.Millisecond,
		Pause: time.Second, MaxPause: 15 * time.Second,
	}}
}

// heldFailure is a failed attempt that waits for proof.
type heldFailure struct {
	began, ended time.Time
	settled      chan struct{} // closed when believed and err are set
	believed     bool
	err          error
}

// Indices of link.held: failed connections and failed look-ups.
const (
	ofNetwork = iota
	ofNames
)

// Begin counts an attempt and starts watching the clock if necessary.
func (l *Uplink) Begin() {
	if l.Times.Patience == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.underWay++; !l.watched {
		now := time.Now()
		l.watched, l.beaten, l.wall = true, now, now.Round(0)
		go l.watch()
	}
}

// Waiting adds by to the number of attempts that wait for the network.
func (l *Uplink) Waiting(by int) {
	if l.Times.Patience == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == 0 && !l.isHolding() {
		l.heard = time.Now()
	}
	l.active += by
}

// Believe ends an attempt that began at a time. It blocks until it is known whether a
// failure is the host's. The error is that of an ended context, or that this machine is
// cut off.
func (l *Uplink) Believe(ctx context.Context, began time.Time, class answer.ErrorClass) (bool, error) {
	if l.Times.Patience == 0 {
		return true, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		l.underWay--
		l.hurry()
	}()
	l.beat()
	kind := ofNetwork
	if class == answer.ErrorDNSFailure {
		kind = ofNames
	}
	if !class.MayBeOurs() {
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

func (l *Uplink) isHolding() bool { return len(l.held[ofNetwork])+len(l.held[ofNames]) > 0 }

// settle releases the held failures whose cause is known.
func (l *Uplink) settle() {
	for kind, proof := range [2]time.Time{ofNetwork: l.reached, ofNames: l.named} {
		l.held[kind] = slices.DeleteFunc(l.held[kind], func(h *heldFailure) bool {
			switch {
			case l.failed != nil:
				h.err = l.failed
			case h.began.Before(l.clean):
				if l.out {
					return false // asking again during an outage would be useless
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

// hurry wakes the watch if only a probe can help.
func (l *Uplink) hurry() {
	if !l.isStuck() {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// isStuck reports whether all attempts are held, or no further one can begin.
func (l *Uplink) isStuck() bool {
	n := len(l.held[ofNetwork]) + len(l.held[ofNames])
	return n > 0 && n == l.underWay || n >= l.config.Concurrency
}

// beat reads the clock. If it has jumped, because this process was stopped, the
// machine slept or the time was set, failures since the last reading do not
// count.
func (l *Uplink) beat() time.Time {
	now := time.Now()
	elapsed := now.Sub(l.beaten)
	byWall := now.Round(0).Sub(l.wall)
	l.beaten, l.wall = now, now.Round(0)
	if elapsed > l.Times.Jump || (byWall-elapsed).Abs() > l.Times.Jump {
		l.clean = now
		l.settle()
	}
	return now
}

// watch runs as long as there are attempts.
func (l *Uplink) watch() {
	ticker := time.NewTicker(l.Times.Tick)
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

func (l *Uplink) look() bool {
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
	limit := l.Times.Patience
	never := l.reached.IsZero() || len(l.held[ofNames]) > 0 && l.named.IsZero()
	if never {
		limit = min(limit, l.Times.AtFirst)
	}
	if l.out && l.isHolding() && now.Sub(l.since) >= limit {
		switch {
		case never && l.config.AcceptUnreachable:
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
		(l.out || l.isStuck() || now.Sub(l.heard) >= l.Times.Quiet || l.isHolding() && now.Sub(l.since) >= l.Times.Quiet) {
		var ctx context.Context
		ctx, l.stop = context.WithTimeout(context.Background(), l.Times.Probe)
		l.probing = true
		go l.probe(ctx, l.stop)
	}
	return true
}

// proof records a proof that this machine is connected: when its look-up began,
// zero without one, and when its connection did.
func (l *Uplink) proof(named, reached time.Time) {
	now := time.Now()
	if now.Sub(l.heard) > l.Times.Silence {
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
func (l *Uplink) declare() {
	if l.out {
		return
	}
	l.out = true
	if !l.isHolding() {
		l.since = l.heard
	}
	if l.config.Outage != nil {
		l.config.Outage(l.since)
	}
}

// end ends an outage.
func (l *Uplink) end() {
	l.out = false
	if l.config.Outage != nil {
		l.config.Outage(time.Time{})
	}
}
