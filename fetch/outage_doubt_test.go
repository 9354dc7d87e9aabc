package fetch

import (
	"net/netip"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// What may come of this machine's own outage is held until there is proof; what a
// host has said is not.
func TestWhatIsDoubtful(t *testing.T) {
	for class, want := range map[robots.ErrorClass]bool{
		robots.DNSFailure: true, robots.ConnectFailure: true, robots.ConnectTimeout: true, robots.NoRoute: true,
		robots.Timeout: true, robots.Reset: true, robots.TLSFailure: true, robots.TruncatedBody: true,
		"": false, robots.DNSNotFound: false, robots.ConnectRefused: false, robots.Protocol: false, robots.HeaderTooLarge: false,
		robots.AddressBlocked: false, robots.RedirectLimit: false, robots.RedirectLoop: false, robots.Canceled: false,
	} {
		if isDoubtful(class) != want {
			t.Errorf("%q is held: %v", class, !want)
		}
	}
}

// A proof after a silence says nothing about what failed within it: that is asked
// again. A proof that follows soon settles what had failed before.
func TestASilenceIsAskedAgain(t *testing.T) {
	for _, row := range []struct {
		name    string
		quiet   time.Duration // since the proof before
		believe bool
	}{{"soon", 0, true}, {"after a silence", time.Minute, false}} {
		l := newLink(newClient(t, netip.AddrPort{}, nil))
		now := time.Now()
		h := &heldFailure{began: now.Add(-3 * time.Second), ended: now.Add(-2 * time.Second), settled: make(chan struct{})}
		l.mu.Lock()
		l.heard, l.since = now.Add(-row.quiet), h.ended
		l.held[ofNetwork] = append(l.held[ofNetwork], h)
		l.proof(now.Add(-time.Second), now.Add(-time.Second))
		l.mu.Unlock()
		select {
		case <-h.settled:
		default:
			t.Fatalf("%s: the failure is held on", row.name)
		}
		if h.believed != row.believe {
			t.Errorf("%s: the failure is believed: %v", row.name, h.believed)
		}
	}
}
