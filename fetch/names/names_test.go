package names

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots/answer"
)

func lookUp(t *testing.T, n *Names, host string, wait time.Duration) (addrs int, asked bool, class answer.ErrorClass) {
	t.Helper()
	list, took, _, fail := n.Addresses(context.Background(), host, time.Now().Add(wait))
	if fail != nil {
		class = fail.Class
	}
	return len(list), took != nil, class
}

func TestNamesAreLookedUpOnce(t *testing.T) {
	there := fetchtest.At("192.0.2.1", "192.0.2.2", "2001:db8::1")
	n := New([]netip.AddrPort{fetchtest.Serve(t, fetchtest.Zone{"a.example": there}, true)}, 0, new(net.Dialer))
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if addrs, _, class := lookUp(t, n, "a.example", 10*time.Second); addrs != 3 || class != "" {
				t.Errorf("%d addresses, %q", addrs, class)
			}
		})
	}
	all.Wait()
	if there.Asked() != 1 {
		t.Errorf("asked %d times for one name", there.Asked())
	}
	list, _, _, _ := n.Addresses(context.Background(), "a.example", time.Now().Add(time.Second))
	if len(list) != 3 || !list[0].Is4() || !list[1].Is6() || !list[2].Is4() {
		t.Errorf("%v: IPv4 and IPv6 do not alternate", list)
	}
}

func TestNamesAreCached(t *testing.T) {
	failing := &fetchtest.Script{RCode: dnsmessage.RCodeServerFailure}
	n := New([]netip.AddrPort{fetchtest.Serve(t, fetchtest.Zone{"failing.example": failing}, true)}, 0, new(net.Dialer))
	for range 2 {
		if _, asked, class := lookUp(t, n, "failing.example", 5*time.Second); class != answer.ErrorDNSFailure || !asked {
			t.Errorf("a temporary failure: %q, asked again %v", class, asked)
		}
	}
	if _, asked, class := lookUp(t, n, "none.example", 5*time.Second); class != answer.ErrorDNSNotFound || !asked {
		t.Errorf("an unknown name: %q, asked %v", class, asked)
	}
	if _, asked, class := lookUp(t, n, "none.example", 5*time.Second); class != answer.ErrorDNSNotFound || asked {
		t.Errorf("the same again: %q, asked again %v", class, asked)
	}
	// An entry survives one turn of the generations, but not two.
	for turn, again := range []bool{false, true} {
		n.turned = n.turned.Add(-namesAge - time.Second)
		n.find(fmt.Sprint("turn", turn))
		if _, asked, _ := lookUp(t, n, "none.example", 5*time.Second); asked != again {
			t.Errorf("after turn %d: asked again %v", turn+1, asked)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	n := New([]netip.AddrPort{fetchtest.Serve(t, fetchtest.Zone{}, true)}, 0, new(net.Dialer))
	for i := range 3*namesMost + 1 {
		n.find(fmt.Sprint(i))
	}
	if len(n.young)+len(n.old) > 2*namesMost {
		t.Errorf("%d names are cached", len(n.young)+len(n.old))
	}
}

// A caller that waits for another's look-up waits no longer than its own time,
// and takes the look-up over if the other gives up.
func TestWaitingForAnothersLookUp(t *testing.T) {
	n := New([]netip.AddrPort{fetchtest.Serve(t, fetchtest.Zone{"a.example": {Silent: true}}, true)}, 0, new(net.Dialer))
	l, ours := n.find("a.example")
	if !ours {
		t.Fatal("known already")
	}
	close(l.asked)
	began := time.Now()
	if _, _, class := lookUp(t, n, "a.example", 50*time.Millisecond); class != answer.ErrorDNSFailure {
		t.Errorf("class %q", class)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("waited %v", took)
	}
}

// No resolver has reported that such a name does not exist.
func TestNamesThatAreNotLookedUp(t *testing.T) {
	n := New(nil, 0, new(net.Dialer))
	for host, want := range map[string]bool{"-a.test": false, "a-.test": false, "a.b-": false, "a.-b.test": false,
		"a-b.test": true, "a_.test": true} {
		if fetch.IsAsked(host) != want {
			t.Errorf("%s is asked for: %v", host, !want)
		}
		if want {
			continue
		}
		if _, _, fail := n.look(t.Context(), host, time.Now().Add(time.Second), false, func() {}); fail == nil ||
			fail.Class != answer.ErrorDNSFailure {
			t.Errorf("%s: %v", host, fail)
		}
	}
}

// A cached answer expires even if so few names are looked up that no generation
// turns.
func TestANameIsLookedUpAgain(t *testing.T) {
	n := New(nil, 0, new(net.Dialer))
	old, _ := n.find("a.example")
	if l, ours := n.find("a.example"); ours || l != old {
		t.Error("a name is looked up twice at once")
	}
	old.begun = old.begun.Add(-2 * namesAge)
	if l, ours := n.find("a.example"); !ours || l == old {
		t.Error("an expired answer is used")
	}
}
