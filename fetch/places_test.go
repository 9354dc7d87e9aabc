package fetch

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// If a turn comes just as its waiter leaves, its place becomes free again.
func TestATurnThatComesTooLateIsPassedOn(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	l := newLimiter(1, 0)
	for range 100 {
		if l.join("a") != nil {
			t.Fatal("the place is lost")
		}
		turn := l.join("a")
		l.release("a") // gives the place to the waiter
		if err := l.await(gone, "a", turn); err == nil {
			l.release("a")
		}
	}
	if len(l.keys) != 0 {
		t.Errorf("%d keys are in use", len(l.keys))
	}
}

// A request that is stopped before it could use a place holds none afterwards,
// neither of its domain nor of its address.
func TestAPlaceThatIsNotUsedIsFree(t *testing.T) {
	c := newClient(t, netip.AddrPort{}, func(c *settings) { c.AddressRate = 1e-6 })
	stopped, cancel := context.WithCancel(t.Context())
	p, err := c.Enter(stopped, stopped)
	if err != nil {
		t.Fatal(err)
	}
	b := &budget{deadline: time.Now().Add(time.Hour)}
	if err := p.acquire(b, c.politeness.addresses, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	c.politeness.addresses.release("192.0.2.1")
	cancel()
	if err := p.acquire(b, c.politeness.addresses, "192.0.2.1"); !errors.Is(err, context.Canceled) {
		t.Fatalf("a pace of one in days: %v", err)
	}
	if held := c.politeness.addresses.keys["192.0.2.1"].held; held != 0 {
		t.Errorf("%d places are held under the address", held)
	}
	p.Leave()
	for name, l := range map[string]*limiter{"slots": c.politeness.slots, "entered": c.politeness.inside} {
		if len(l.keys) != 0 {
			t.Errorf("%s: a place is lost", name)
		}
	}
}

func TestAFailedConnectionReleasesTheDomain(t *testing.T) {
	c := newClient(t, netip.AddrPort{}, nil)
	for range 3 {
		if got := c.Fetch(t.Context(), origin(t, "http://10.0.0.1")); got.Error != answer.ErrorAddressBlocked {
			t.Fatalf("error %q (%v)", got.Error, got.Err)
		}
	}
	for name, l := range map[string]*limiter{
		"slots": c.politeness.slots, "entered": c.politeness.inside, "domains": c.politeness.domains, "addresses": c.politeness.addresses,
	} {
		if len(l.keys) != 0 {
			t.Errorf("%s: a place is lost", name)
		}
	}
}
