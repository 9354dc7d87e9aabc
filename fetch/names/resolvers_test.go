package names

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots/answer"
)

// everyName is a name server that knows every name. Before each answer it calls
// answer, which returns the code; it may block. Negative codes are no answer.
func everyName(t *testing.T, answer func(name string) int) (addr netip.AddrPort, stop func()) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	stop = sync.OnceFunc(func() { conn.Close() })
	running.Go(func() {
		for {
			packet := make([]byte, 1500)
			n, from, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			running.Go(func() {
				var q dnsmessage.Message
				if q.Unpack(packet[:n]) != nil || len(q.Questions) != 1 {
					return
				}
				name := q.Questions[0].Name
				code := answer(name.String())
				if code < 0 {
					return
				}
				q.Response, q.RecursionAvailable, q.RCode, q.Additionals = true, true, dnsmessage.RCode(code), nil
				if code == 0 && q.Questions[0].Type == dnsmessage.TypeA {
					q.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET},
						Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}}}}
				}
				reply, err := q.Pack()
				if err == nil {
					conn.WriteToUDPAddrPort(reply, from)
				}
			})
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return netip.MustParseAddrPort(conn.LocalAddr().String()), stop
}

const (
	noError  = 0
	servFail = int(dnsmessage.RCodeServerFailure)
	refused5 = int(dnsmessage.RCodeRefused)
	noAnswer = -1
)

func always(code int) func(string) int { return func(string) int { return code } }

// lookUpAll looks up n names, some at a time, and returns how many have addresses.
func lookUpAll(t *testing.T, n *Names, count int, wait time.Duration, each func(i int)) (found int64) {
	t.Helper()
	var all sync.WaitGroup
	var ok atomic.Int64
	places := make(chan struct{}, 50)
	for i := range count {
		places <- struct{}{}
		if each != nil {
			each(i)
		}
		all.Go(func() {
			defer func() { <-places }()
			addrs, _, _, fail := n.Addresses(t.Context(), fmt.Sprintf("h%d.example", i), time.Now().Add(wait))
			if fail == nil && len(addrs) == 1 {
				ok.Add(1)
			} else {
				t.Logf("h%d: %v", i, fail)
			}
		})
	}
	all.Wait()
	return ok.Load()
}

// One server answers; the others do not, each in its own way. No name is lost.
func TestOneResolverOfSeveralAnswers(t *testing.T) {
	good, _ := everyName(t, always(noError))
	for name, bad := range map[string]func(string) int{
		"SERVFAIL to all": always(servFail), "REFUSED to all": always(refused5), "silent": always(noAnswer),
	} {
		t.Run(name, func(t *testing.T) {
			one, _ := everyName(t, bad)
			two, _ := everyName(t, bad)
			for _, order := range [][]netip.AddrPort{{one, good, two}, {good, one}} {
				if found := lookUpAll(t, New(order, 0, new(net.Dialer)), 200, 20*time.Second, nil); found != 200 {
					t.Errorf("%d of 200 names were found", found)
				}
			}
		})
	}
	t.Run("no server there", func(t *testing.T) {
		if found := lookUpAll(t, New([]netip.AddrPort{fetchtest.NoServer(t), good}, 0, new(net.Dialer)), 200, 20*time.Second,
			nil); found != 200 {
			t.Errorf("%d of 200 names were found", found)
		}
	})
}

// A server dies in the middle and costs no name; a slow one is asked less.
func TestAResolverThatDies(t *testing.T) {
	dying, stop := everyName(t, always(noError))
	good, _ := everyName(t, always(noError))
	n := New([]netip.AddrPort{dying, good}, 0, new(net.Dialer))
	found := lookUpAll(t, n, 400, 20*time.Second, func(i int) {
		if i == 200 {
			stop()
		}
	})
	if found != 400 {
		t.Errorf("%d of 400 names were found", found)
	}
}

func TestASlowResolverIsAskedLess(t *testing.T) {
	var slow, fast atomic.Int32
	release := make(chan struct{})
	defer close(release)
	one, _ := everyName(t, func(string) int {
		slow.Add(1)
		<-release
		return noError
	})
	two, _ := everyName(t, func(string) int { fast.Add(1); return noError })
	if found := lookUpAll(t, New([]netip.AddrPort{one, two}, 0, new(net.Dialer)), 500, 20*time.Second, nil); found != 500 {
		t.Errorf("%d of 500 names were found", found)
	}
	if slow.Load() == 0 || slow.Load() > 150 || fast.Load() < 1000 {
		t.Errorf("%d questions to the slow server, %d to the fast one", slow.Load(), fast.Load())
	}
}

// Each server that fails is asked once for a name, and the failure is the name's
// only if all fail; three that answer other names suffice.
func TestAllResolversFailForAName(t *testing.T) {
	var asked [5]atomic.Int32
	var servers []netip.AddrPort
	bad := func(name string) int {
		if name == "bad.example." {
			return servFail
		}
		return noError
	}
	for i := range asked {
		addr, _ := everyName(t, func(name string) int {
			if name == "bad.example." {
				asked[i].Add(1)
			}
			return bad(name)
		})
		servers = append(servers, addr)
	}
	_, _, class := lookUp(t, New(servers[:2], 0, new(net.Dialer)), "bad.example", 10*time.Second)
	if class != answer.ErrorDNSFailure || asked[0].Load() != 2 || asked[1].Load() != 2 {
		t.Errorf("%q after %d and %d questions; want a failure after 2 each, for IPv4 and IPv6", class, asked[0].Load(),
			asked[1].Load())
	}
	// Nobody knows that the servers answer others.
	if _, _, class := lookUp(t, New(servers, 0, new(net.Dialer)), "bad.example",
		10*time.Second); class != answer.ErrorDNSFailure {
		t.Errorf("%q", class)
	}
	for i := range asked {
		if got := asked[i].Load(); got != 2 && i >= 2 || got != 4 && i < 2 {
			t.Errorf("server %d: %d questions", i, got)
		}
	}
	rs := newResolvers(servers, 0, new(net.Dialer))
	for _, r := range rs.all {
		r.answered = time.Now().Add(time.Hour)
	}
	before := asked[0].Load() + asked[1].Load() + asked[2].Load() + asked[3].Load() + asked[4].Load()
	rs.look(t.Context(), "bad.example", time.Now().Add(10*time.Second), false, func() {})
	after := asked[0].Load() + asked[1].Load() + asked[2].Load() + asked[3].Load() + asked[4].Load()
	if after-before != 2*enough {
		t.Errorf("%d questions, want %d", after-before, 2*enough)
	}
	// A name that does not exist is an answer: nobody else is asked.
	var count atomic.Int32
	none, _ := everyName(t, func(string) int { count.Add(1); return int(dnsmessage.RCodeNameError) })
	other, _ := everyName(t, func(string) int { count.Add(1); return int(dnsmessage.RCodeNameError) })
	if _, _, class := lookUp(t, New([]netip.AddrPort{none, other}, 0, new(net.Dialer)), "none.example",
		10*time.Second); class != answer.ErrorDNSNotFound || count.Load() != 2 {
		t.Errorf("%q after %d questions", class, count.Load())
	}
}

// A server never has more names open than PerResolver, the wait for a place does not
// count against the host, and a probe needs no place.
func TestPerResolver(t *testing.T) {
	var open, most [2]atomic.Int32
	var servers []netip.AddrPort
	for i := range open {
		addr, _ := everyName(t, func(string) int {
			now := open[i].Add(1)
			for {
				if was := most[i].Load(); now <= was || most[i].CompareAndSwap(was, now) {
					break
				}
			}
			<-time.After(5 * time.Millisecond)
			open[i].Add(-1)
			return noError
		})
		servers = append(servers, addr)
	}
	if found := lookUpAll(t, New(servers, 2, new(net.Dialer)), 200, 10*time.Second, nil); found != 200 {
		t.Errorf("%d of 200 names were found", found)
	}
	for i := range most {
		if got := most[i].Load(); got < 3 || got > 4 {
			t.Errorf("server %d had %d questions open, want at most 2 for each of 2 names", i, got)
		}
	}

	release := make(chan struct{})
	addr, _ := everyName(t, func(name string) int {
		if name == "first.example." {
			<-release
		}
		return noError
	})
	n := New([]netip.AddrPort{addr}, 1, new(net.Dialer))
	var both sync.WaitGroup
	both.Go(func() { lookUp(t, n, "first.example", 20*time.Second) })
	for n.resolvers.taken() == 0 {
		<-time.After(time.Millisecond)
	}
	const brief = 100 * time.Millisecond
	for range 2 { // one looks it up, the other waits for that
		both.Go(func() {
			_, _, waited, fail := n.Addresses(context.Background(), "second.example", time.Now().Add(brief))
			if fail != nil || waited < brief {
				t.Errorf("waited %v for a place: %v", waited, fail)
			}
		})
	}
	if _, _, fail := n.look(t.Context(), "probe.example", time.Now().Add(10*time.Second), true, func() {}); fail != nil {
		t.Errorf("a probe: %v", fail)
	}
	<-time.After(2 * brief)
	ctx, cancel := context.WithCancel(t.Context())
	both.Go(func() {
		if _, _, _, fail := n.Addresses(ctx, "third.example", time.Now().Add(time.Minute)); fail == nil ||
			fail.Class != answer.ErrorCanceled {
			t.Errorf("canceled while it waits for a place: %v", fail)
		}
	})
	cancel()
	close(release)
	both.Wait()
	if got := n.resolvers.taken(); got != 0 || n.resolvers.all[0].open != 0 || len(n.resolvers.waiting) != 0 {
		t.Errorf("%d places are taken in the end, %d wait", got, len(n.resolvers.waiting))
	}
}

// taken returns the number of open questions.
func (rs *resolvers) taken() int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.open
}

// A server that failed is tried again, and then takes its share.
func TestAResolverComesBack(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	var asked atomic.Int32
	back, _ := everyName(t, func(string) int {
		asked.Add(1)
		if down.Load() {
			return servFail
		}
		return noError
	})
	good, _ := everyName(t, always(noError))
	n := New([]netip.AddrPort{back, good}, 0, new(net.Dialer))
	lookUpAll(t, n, 100, 20*time.Second, nil)
	r := n.resolvers.all[0]
	if r.failures < failsInRow {
		t.Fatalf("%d failures in a row", r.failures)
	}
	before := asked.Load()
	for i := range 20 {
		lookUp(t, n, fmt.Sprintf("away%d.example", i), 10*time.Second)
	}
	if got := asked.Load() - before; got > 2 {
		t.Errorf("a server that is down was asked %d questions", got)
	}
	down.Store(false)
	r.tried = r.tried.Add(-tryAgain)
	lookUp(t, n, "back.example", 10*time.Second)
	if r.failures != 0 {
		t.Errorf("after an answer: %d failures in a row", r.failures)
	}
	before = asked.Load()
	for i := range 20 {
		lookUp(t, n, fmt.Sprintf("again%d.example", i), 10*time.Second)
	}
	if got := asked.Load() - before; got < 16 {
		t.Errorf("a server that is back was asked %d questions of 40", got)
	}
}
