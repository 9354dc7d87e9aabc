package fetch

import (
	"net/netip"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// Failures that this machine's own outage may have caused are held until there
// is proof; a host's answers are not.
func TestWhatIsDoubtful(t *testing.T) {
	for class, want := range map[robots.ErrorClass]bool{
		robots.ErrorDNSFailure: true, robots.ErrorConnectFailure: true, robots.ErrorConnectTimeout: true, robots.ErrorNoRoute: true,
		robots.ErrorTimeout: true, robots.ErrorReset: true, robots.ErrorTLS: true, robots.ErrorTruncatedBody: true,
		"": false, robots.ErrorDNSNotFound: false, robots.ErrorConnectRefused: false, robots.ErrorProtocol: false, robots.ErrorHeaderTooLarge: false,
		robots.ErrorAddressBlocked: false, robots.ErrorRedirectLimit: false, robots.ErrorRedirectLoop: false, robots.ErrorCanceled: false,
	} {
		if class.MayBeOurs() != want {
			t.Errorf("%q is held: %v", class, !want)
		}
	}
}

// A proof after a silence says nothing about the failures during it: those
// attempts are repeated. A proof that follows soon settles the failures before
// it.
func TestASilenceIsAskedAgain(t *testing.T) {
	for _, row := range []struct {
		name    string
		quiet   time.Duration // since the previous proof
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
			t.Fatalf("%s: the failure is still held", row.name)
		}
		if h.believed != row.believe {
			t.Errorf("%s: the failure is believed: %v", row.name, h.believed)
		}
	}
}
