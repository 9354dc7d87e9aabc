package fetch

import (
	"net/netip"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// Failures that this machine's own outage may have caused are held until there
// is proof; a host's answers are not.
func TestWhatIsDoubtful(t *testing.T) {
	for class, want := range map[answer.ErrorClass]bool{
		answer.ErrorDNSFailure: true, answer.ErrorConnectFailure: true, answer.ErrorConnectTimeout: true, answer.ErrorNoRoute: true,
		answer.ErrorTimeout: true, answer.ErrorReset: true, answer.ErrorTLS: true, answer.ErrorTruncatedBody: true,
		"": false, answer.ErrorDNSNotFound: false, answer.ErrorConnectRefused: false, answer.ErrorProtocol: false, answer.ErrorHeaderTooLarge: false,
		answer.ErrorAddressBlocked: false, answer.ErrorRedirectLimit: false, answer.ErrorRedirectLoop: false, answer.ErrorCanceled: false,
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
