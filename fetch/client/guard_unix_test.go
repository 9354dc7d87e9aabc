//go:build unix

package client

import (
	"context"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots/answer"
)

// refuseAll refuses every connection before it is made. dialled lists the
// addresses.
func refuseAll(c *Client) (dialed func() []string) {
	var mu sync.Mutex
	var list []string
	c.dialer.Control = func(_, address string, _ syscall.RawConn) error {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, address)
		return syscall.ECONNREFUSED
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return list
	}
}

// The guard checks each address right before it is dialled, whether its name
// was just looked up or cached, and however many were dialled before.
func TestTheGuardJudgesEveryAddress(t *testing.T) {
	server := fetchtest.Serve(t, fetchtest.Zone{
		"inside.example": fetchtest.At("127.0.0.1", "10.0.0.1", "::1"),
		"mixed.example":  fetchtest.At("1.2.3.4", "127.0.0.1", "10.0.0.1"),
	}, true)
	c := newClient(t, netip.AddrPort{}, func(c *settings) { c.Resolvers = []netip.AddrPort{server} })
	dialed := refuseAll(c)
	for try, wasLookedUp := range []bool{true, false} {
		got := c.Fetch(t.Context(), origin(t, "http://inside.example"))
		if got.Error != answer.ErrorAddressBlocked || (got.Times.DNS != nil) != wasLookedUp {
			t.Errorf("fetch %d: error %q (%v), looked up %v", try+1, got.Error, got.Err, got.Times.DNS != nil)
		}
	}
	if list := dialed(); len(list) != 0 {
		t.Errorf("dialled %v", list)
	}
	for range 2 {
		if got := c.Fetch(t.Context(), origin(t, "http://mixed.example")); got.Error != answer.ErrorConnectRefused {
			t.Errorf("error %q (%v)", got.Error, got.Err)
		}
	}
	if list := dialed(); len(list) != 2 || list[0] != "1.2.3.4:80" || list[1] != "1.2.3.4:80" {
		t.Errorf("dialled %v", list)
	}
}

// A probe dials only what the guard allows: hosts of the list not asked yet,
// and names that moved to special addresses after they answered.
func TestTheGuardJudgesTheAddressesOfProbes(t *testing.T) {
	server := fetchtest.Serve(t, fetchtest.Zone{
		"inside.example": fetchtest.At("127.0.0.1", "10.0.0.1", "::1"),
		"mixed.example":  fetchtest.At("127.0.0.1", "1.2.3.4", "10.0.0.1"),
	}, false)
	c := newClient(t, netip.AddrPort{}, func(c *settings) { c.Resolvers = []netip.AddrPort{server} })
	dialed := refuseAll(c) // a refusal would prove that this machine is connected
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, host := range []string{"inside.example", "127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]",
		"localhost"} {
		if p := c.probeHost(ctx, origin(t, "http://"+host)); p.Proved {
			t.Errorf("%s counts as proof", host)
		}
	}
	if list := dialed(); len(list) != 0 {
		t.Errorf("dialled %v", list)
	}
	p := c.probeHost(ctx, origin(t, "http://mixed.example"))
	if list := dialed(); len(list) != 1 || list[0] != "1.2.3.4:80" || !p.Proved {
		t.Errorf("dialled %v, proof %+v", list, p)
	}
}

// RFC 9110 section 10.2.3: a client that asks again waits at least as long as
// Retry-After says.
func TestRetryAfterIsKept(t *testing.T) {
	c := newClient(t, netip.AddrPort{}, func(c *settings) { c.Retries = 2 })
	for _, status := range []int{500, 503} {
		for _, row := range []struct {
			value   string
			least   time.Duration
			another bool
		}{
			{"", 0, true}, {"soon", 0, true}, {"0", 0, true}, {"3", 3 * time.Second, true}, {"10", 10 * time.Second, true},
			{"11", 0, false}, {"86400", 0, false},
			{time.Now().Add(time.Hour).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), 0, false},
			{time.Now().Add(-time.Hour).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), 0, true},
		} {
			got := &heard{Capture: &fetch.Capture{Origin: origin(t, "http://a.example"), Hops: []answer.Hop{{Status: status}}}}
			if row.value != "" {
				got.Headers.RetryAfter = &row.value
			}
			wait, again := c.retry(got, 0)
			if again != row.another || wait < row.least || wait > max(row.least, firstWait*3/2) {
				t.Errorf("%d with Retry-After %q: retry %v, after %v", status, row.value, again, wait)
			}
		}
	}
}
