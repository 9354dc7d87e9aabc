package client

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

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
	if err := p.acquire(p.ctx, b, c.politeness.addresses, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	c.politeness.addresses.release("192.0.2.1")
	cancel()
	if err := p.acquire(p.ctx, b, c.politeness.addresses, "192.0.2.1"); !errors.Is(err, context.Canceled) {
		t.Fatalf("a pace of one in days: %v", err)
	}
	p.Leave()
	allFree(t, c, "192.0.2.1")
}

func TestAFailedConnectionReleasesTheDomain(t *testing.T) {
	c := newClient(t, netip.AddrPort{}, nil)
	for range 3 {
		if got := c.Fetch(t.Context(), origin(t, "http://10.0.0.1")); got.Error != answer.ErrorAddressBlocked {
			t.Fatalf("error %q (%v)", got.Error, got.Err)
		}
	}
	allFree(t, c, "10.0.0.1")
}

// allFree takes every place of a client under an address, which is a domain too.
func allFree(t *testing.T, c *Client, address string) {
	t.Helper()
	for _, row := range []struct {
		name, key string
		limiter   *limiter
		places    int
	}{
		{"slots", "", c.politeness.slots, c.config.Concurrency},
		{"entered", "", c.politeness.inside, 2*c.config.Concurrency + c.backing.Waiting},
		{"domain", address, c.politeness.domains, c.config.PerDomain},
		{"address", address, c.politeness.addresses, c.config.PerAddress},
	} {
		for range row.places {
			if row.limiter.join(row.key) != nil {
				t.Errorf("%s: a place is lost", row.name)
				break
			}
		}
	}
}
