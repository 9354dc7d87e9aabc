package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// shop is a site that others name, and their own sites besides.
type shop struct {
	addr  netip.AddrPort
	mu    sync.Mutex
	asked map[string]int
	ended time.Time     // of the last request to shop.example
	pause time.Duration // that it wants after that
	early []string
	come  chan string // paths of requests that hang
}

func newShop(t *testing.T) *shop {
	s := &shop{asked: make(map[string]int), pause: IdentityPause, come: make(chan string, 100)}
	s.addr = serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		s.mu.Lock()
		s.asked[r.Host+r.RequestURI]++
		n := s.asked[r.Host+r.RequestURI]
		if r.Host == "shop.example" {
			if pause := time.Since(s.ended); pause < s.pause {
				s.early = append(s.early, fmt.Sprint(r.RequestURI, " ", pause))
			}
			s.ended = time.Now().Add(time.Hour) // while it is answered
		}
		s.mu.Unlock()
		status, body := "200 OK", "a licence, compressed or not"
		length := -1
		switch {
		case r.RequestURI == "/robots.txt":
			body = "User-agent: *\nDisallow: /shut\n"
		case r.RequestURI == "/to" && r.Host != "shop.example":
			status, body = "302 Found\r\nLocation: http://shop.example/licence", ""
		case r.RequestURI == "/long":
			body = strings.Repeat("long", 10_000)
		case r.RequestURI == "/soon":
			status = "503 Busy\r\nRetry-After: 2"
		case r.RequestURI == "/tired":
			status, body = "429 Enough\r\nRetry-After: 3600", ""
		case r.RequestURI == "/broken":
			body, length = "half", 1000
		case r.RequestURI == "/slow" && n == 1, r.RequestURI == "/hang":
			s.come <- r.RequestURI
			io.ReadAll(c) // until the asker leaves
			body = ""
		}
		if length < 0 {
			length = len(body)
		}
		// Before the last byte, after which the asker may be anywhere.
		if r.Host == "shop.example" {
			s.mu.Lock()
			if s.ended, s.pause = time.Now(), IdentityPause; r.RequestURI == "/soon" {
				s.pause *= 2
			}
			s.mu.Unlock()
		}
		fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: %d\r\nLink: <l>\r\n\r\n%s", status, length, body)
	})
	return s
}

var shopOrigin = fetch.Origin{Scheme: "http", Host: "shop.example", Port: 80}

// asking returns a plan that asks for paths of the shop, or of the host itself after a dot. % in
// one is the name of the host. One after + is read as it comes, and one after @ asked for under an identity.
func asking(paths ...string) fetch.Plan {
	return fetch.Plan{Keeps: 1 << 20, Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
		for _, path := range paths {
			target, isOwn := strings.CutPrefix(path, ".")
			q := &fetch.Question{Kind: fetch.KindDocument, Name: path, Origin: shopOrigin, Target: strings.ReplaceAll(target,
				"%", host.Origin.Host), Elsewhere: !isOwn, MaxBody: 12, Headers: []string{"link"}}
			if isOwn {
				q.Origin = host.Origin
			}
			switch q.Target[0] {
			case '+':
				q.Target, q.Read = q.Target[1:], func(body io.Reader, keep io.Writer) error {
					_, err := io.Copy(keep, body)
					return err
				}
			case '@':
				q.Target, q.Identity = q.Target[1:], 1
			}
			if ask(q) == nil {
				return
			}
		}
	}}
}

// told returns what came of further requests.
func toldOf(c *fetch.Capture) (lines []string) {
	for _, f := range c.Further {
		lines = append(lines, strings.TrimPrefix(described(f), "document "))
	}
	return lines
}

// A URL that many hosts name is asked for once: all of them have its answer, or its failure, and its
// recording. Hosts and the site itself keep the pause between its requests, with a single slot too.
func TestOthers(t *testing.T) {
	t.Parallel()
	for _, isRecorded := range []bool{true, false} {
		t.Run(fmt.Sprint("recorded ", isRecorded), func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			client := newClient(t, s.addr, func(c *settings) {
				c.Retries, c.Record, c.Concurrency, c.PerAddress, c.PerDomain, c.Timeout = 0, isRecorded, 1, 1, 1, 15*time.Second
				c.Further = []fetch.Plan{asking("/licence", "./to", "/broken", "/shut", "/of-%", "/licence")}
			})
			var group sync.WaitGroup
			var mu sync.Mutex
			received := make(map[string][]byte) // from the shop, by URL
			for _, host := range []string{"a.example", "b.example", "c.example", "d.example", "shop.example"} {
				group.Go(func() {
					got, made := recordedFetch(t, client, t.Context(), fetch.Origin{Scheme: "http", Host: host, Port: 80})
					if host == "shop.example" {
						return
					}
					const text = ` 200 link=<l> body "a licence, c" truncated`
					if diff := cmp.Diff([]string{"/licence read" + text, "./to elsewhere 302 link=<l>",
						"/broken failed 200 truncated_body link=<l>", "/shut disallowed 0", "/of-% read" + text, "/licence read" + text},
						toldOf(got)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", host, diff)
					}
					mu.Lock()
					defer mu.Unlock()
					n := 0
					for _, x := range made {
						if !strings.HasPrefix(x.URL, shopOrigin.String()) || strings.Contains(x.URL, "/of-") {
							continue
						}
						n++
						if first := received[x.URL]; first == nil {
							received[x.URL] = x.Received
						} else if !bytes.Equal(first, x.Received) || len(x.Sent) == 0 || x.Header == 0 ||
							!bytes.HasSuffix(x.Received[:x.Header], []byte("\r\n\r\n")) {
							t.Errorf("%s: the recording of %s is %q, and that of another host %q", host, x.URL, x.Received, first)
						}
					}
					if isRecorded && n != 4 || !isRecorded && made != nil {
						t.Errorf("%s: %d recordings of the shop", host, n)
					}
				})
			}
			group.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, path := range []string{"/licence", "/broken", "/robots.txt"} {
				want := 2 // one by the site's own lease, which the plan lets ask for the licence twice
				if path == "/licence" {
					want = 3
				}
				if n := s.asked["shop.example"+path]; n != want {
					t.Errorf("%d requests for %s, want %d", n, path, want)
				}
			}
			if s.asked["shop.example/of-a.example"] != 1 || s.asked["shop.example/shut"] > 0 || s.early != nil {
				t.Errorf("asked %v, early: %q", s.asked, s.early)
			}
			allFree(t, client, "127.0.0.1")
		})
	}
}

// What is read as it comes, as sitemaps are, and pages under identities are asked for by each host anew, and no less
// politely: one request at a time to the origin, a second apart. A host that leads to it counts too.
func TestOthersThatAreNotShared(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	client := newClient(t, s.addr, func(c *settings) {
		c.Retries, c.Timeout, c.Identities = 0, 20*time.Second, []fetch.Identity{{Name: "bot", UserAgent: "bot/1"}}
		c.Further = []fetch.Plan{asking("+/map", "@/page", ".@/to", "/soon", "+/map")}
	})
	var group sync.WaitGroup
	for i := range 3 {
		group.Go(func() {
			got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i), Port: 80})
			if n := len(got.Further); n != 5 || got.Further[0].Outcome != "read" || got.Further[1].Outcome != "read" ||
				got.Further[2].Outcome != "elsewhere" {
				t.Errorf("h%d: %q", i, toldOf(got))
			}
		})
	}
	group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked["shop.example/map"] != 6 || s.asked["shop.example/soon"] != 1 || s.asked["shop.example/page"] != 3 ||
		s.asked["shop.example/robots.txt"] != 1 || s.early != nil {
		t.Errorf("asked %v, early: %q", s.asked, s.early)
	}
}

// A host that does not get its turn at a busy origin goes on without it, and what it wanted is spared.
func TestOthersOfABusyOrigin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	client := newClient(t, s.addr, func(c *settings) {
		c.Retries, c.Timeout, c.Further = 0, 20*time.Second, []fetch.Plan{asking("+/map", "/licence", "./own")}
	})
	client.others.wait = IdentityPause / 2
	client.others.turns.join(shopOrigin.String())
	got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: "a.example", Port: 80})
	if diff := cmp.Diff([]string{"+/map spared 0", "/licence spared 0",
		`./own read 200 link=<l> body "a licence, c" truncated`}, toldOf(got)); diff != "" || len(s.asked) != 2 {
		t.Errorf("asked %v (-want +got):\n%s", s.asked, diff)
	}
}

// Of an origin that hangs nobody waits longer than for its own request, and it is asked once.
func TestOthersOfAnOriginThatHangs(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	client := newClient(t, s.addr, func(c *settings) {
		c.Retries, c.Timeout, c.Concurrency, c.Further = 0, 3*time.Second, 2, []fetch.Plan{asking("/hang", "./own")}
	})
	var group sync.WaitGroup
	began := time.Now()
	for i := range 20 {
		group.Go(func() {
			got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i), Port: 80})
			if diff := cmp.Diff([]string{"/hang failed 0 timeout", `./own read 200 link=<l> body "a licence, c" truncated`},
				toldOf(got)); diff != "" {
				t.Errorf("h%d (-want +got):\n%s", i, diff)
			}
		})
	}
	group.Wait()
	if d := time.Since(began); d > 15*time.Second {
		t.Errorf("it took %v", d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.asked["shop.example/hang"]; n != 1 {
		t.Errorf("%d requests for what hangs", n)
	}
}

// If the host that asks is stopped, the next one asks, and a host that waits can be stopped.
func TestOthersOfAHostThatIsStopped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	client := newClient(t, s.addr, func(c *settings) {
		c.Retries, c.Timeout, c.Further = 0, time.Minute, []fetch.Plan{asking("/slow")}
	})
	fetching := func(ctx context.Context, host string) <-chan *fetch.Capture {
		done := make(chan *fetch.Capture, 1)
		go func() { done <- client.Fetch(ctx, fetch.Origin{Scheme: "http", Host: host, Port: 80}) }()
		return done
	}
	asks, stopAsker := context.WithCancel(t.Context())
	waits, stopWaiter := context.WithCancel(t.Context())
	asker := fetching(asks, "a.example")
	<-s.come
	waiter, next := fetching(waits, "b.example"), fetching(t.Context(), "c.example")
	stopWaiter()
	if got := <-waiter; got.Error != answer.ErrorCanceled {
		t.Errorf("the host that waits: %q", got.Error)
	}
	stopAsker()
	if got := <-asker; got.Error != answer.ErrorCanceled {
		t.Errorf("the host that asks: %q", got.Error)
	}
	if diff := cmp.Diff([]string{`/slow read 200 link=<l> body "a licence, c" truncated`}, toldOf(<-next)); diff != "" {
		t.Errorf("the next (-want +got):\n%s", diff)
	}
	allFree(t, client, "127.0.0.1")
}

// An origin of others that wants to be left alone is, by all of them; they go on at their own.
func TestOthersOfATiredOrigin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	client := newClient(t, s.addr, func(c *settings) {
		c.Retries, c.Further = 0, []fetch.Plan{asking("/tired", "/more", "./to", "./own")}
	})
	for _, host := range []string{"a.example", "b.example"} {
		got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: host, Port: 80})
		if diff := cmp.Diff([]string{"/tired status 429 link=<l>", "/more spared 0", "./to elsewhere 302 link=<l>",
			`./own read 200 link=<l> body "a licence, c" truncated`}, toldOf(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", host, diff)
		}
	}
	if s.asked["shop.example/tired"] != 1 || s.asked["shop.example/more"] > 0 {
		t.Errorf("asked %v", s.asked)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*IdentityPause)
	defer cancel()
	if client.others.turns.acquire(ctx, shopOrigin.String()) != nil {
		t.Error("the place at the origin is lost")
	}
	client.others.keep(&told{key: tiredKey(shopOrigin), until: time.Now()})
	if isTired, err := client.others.isTired(shopOrigin, false); isTired || err != nil {
		t.Error("it is left alone for longer than it asks")
	}
}

// A host that wants to be left alone is, whatever else the plan asks for, and whichever origin of its registered
// domain wants it.
func TestATiredHost(t *testing.T) {
	t.Parallel()
	for host, first := range map[string]string{"a.example": "./tired", "www.shop.example": "/tired"} {
		s := newShop(t)
		client := newClient(t, s.addr, func(c *settings) {
			c.Retries, c.Further = 0, []fetch.Plan{asking(first, "./own", "/licence")}
		})
		got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: host, Port: 80})
		if diff := cmp.Diff([]string{first + " status 429 link=<l>", "./own spared 0", "/licence spared 0"},
			toldOf(got)); diff != "" || s.asked[host+"/own"]+s.asked["shop.example/licence"] > 0 {
			t.Errorf("%s: asked %v (-want +got):\n%s", host, s.asked, diff)
		}
	}
}

// A host has its own origin however long that takes, nothing of it is shared, and of another it has
// as much as it asks for.
func TestOwnTurnAndOwnLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var client *Client
	plan := fetch.Plan{Keeps: 1 << 20, Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
		own := host.Origin.String()
		if client.others.turns.acquire(t.Context(), own) == nil {
			time.AfterFunc(4*client.others.wait, func() { client.others.turns.release(own) })
		}
		ask(&fetch.Question{Kind: fetch.KindDocument, Name: "own", Origin: host.Origin, Target: "/own", MaxBody: 3})
		for range 2 { // another name of its own: all that a host has may lead there
			ask(&fetch.Question{Kind: fetch.KindDocument, Name: "www", Origin: fetch.Origin{Scheme: "http",
				Host: "www.a.example", Port: 80}, Target: "/licence", MaxBody: 1})
		}
		for _, most := range []int{2, 20_000} { // the first leaves most of it unread
			ask(&fetch.Question{Kind: fetch.KindDocument, Name: fmt.Sprint(most), Origin: shopOrigin, Target: "/long",
				Elsewhere: true, MaxBody: most})
		}
	}}
	client = newClient(t, s.addr, func(c *settings) {
		c.Retries, c.Timeout, c.Further = 0, 20*time.Second,
			[]fetch.Plan{plan}
	})
	client.others.wait = IdentityPause + IdentityPause/2
	got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: "a.example", Port: 80})
	if diff := cmp.Diff([]string{`own read 200 body "a l" truncated`, `www read 200 body "a" truncated`,
		`www read 200 body "a" truncated`, `2 read 200 body "lo" truncated`,
		`20000 read 200 body "longlonglonglonglonglonglonglonglonglong" truncated`}, toldOf(got)); diff != "" ||
		s.asked["www.a.example/licence"] != 2 {
		t.Errorf("asked %v (-want +got):\n%s", s.asked, diff)
	}
}

// What is kept is bounded in number and bytes, and the last used stays.
func TestOthersAreBounded(t *testing.T) {
	s := newOthers(time.Second, Backing{})
	if long := newOthers(time.Minute, Backing{}); s.wait != maxRetryAfter || long.wait != time.Minute {
		t.Errorf("a host waits for %v and %v", s.wait, long.wait)
	}
	for _, size := range []int{0, 10_000, maxToldBytes / 4} {
		s.keep(&told{key: "first"})
		body := fetch.Exchange{Received: make([]byte, size)}
		for i := range 2 * maxTold {
			s.keep(&told{key: fmt.Sprint(size, i), Exchange: body})
			s.keep(&told{key: fmt.Sprint(size, i), Exchange: body})
			if s.find("first") == nil {
				t.Fatal("the last used was dropped")
			}
		}
		if isKept := s.find(fmt.Sprint(size, 2*maxTold-1)) != nil; isKept == (size > maxToldBytes/8) {
			t.Errorf("an answer of %d bytes is kept: %v", size, isKept)
		}
		bytes := 0
		for e := s.recent.Front(); e != nil; e = e.Next() {
			bytes += e.Value.(*told).size()
		}
		if len(s.kept) > maxTold || len(s.kept) != s.recent.Len() || s.bytes != bytes || bytes > maxToldBytes ||
			len(s.kept) < maxToldBytes/(3*(size+1000)) && size < 20_000 {
			t.Errorf("%d kept, %d bytes, said %d", len(s.kept), bytes, s.bytes)
		}
	}
}
