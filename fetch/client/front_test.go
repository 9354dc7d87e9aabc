package client

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// frontWays are what a host answers to /robots.txt and to its front page, and what comes of
// it: outcome, header and the pages that were asked for.
var frontWays = []struct{ what, host, robots, page, want, asked string }{
	{"read", "read.example", "200 Disallow: /x",
		"200 X-Robots-Tag: noai|X-Robots-Tag: bot: noindex|Server: x|TDM-Reservation: 1",
		"read x-robots-tag=noai|x-robots-tag=bot: noindex|tdm-reservation=1", "/"},
	{"no robots.txt", "absent.example", "404", "200 Content-Usage: train-ai=n", "read content-usage=train-ai=n", "/"},
	{"nothing said", "mute.example", "200 Disallow:", "200 Server: x", "read", "/"},
	{"another status", "gone.example", "200 Disallow:", "404 X-Robots-Tag: noai", "status", "/"},
	{"a wall", "wall.example", "200 Disallow:", "403 Cf-Mitigated: challenge|X-Robots-Tag: noai", "challenge", "/"},
	{"no answer", "reset.example", "200 Disallow:", "", "failed reset", "/"},
	{"shut out by name", "byname.example", "200 User-agent: our-census\nDisallow: /", "200 X-Robots-Tag: noai",
		"disallowed", ""},
	{"shut out under the name of this program", "program.example", "200 User-agent: robocensus\nDisallow: /$",
		"200 X-Robots-Tag: noai", "disallowed", ""},
	{"shut out with all", "star.example", "200 User-agent: *\nDisallow: /", "200 X-Robots-Tag: noai", "disallowed", ""},
	{"another is shut out", "other.example", "200 User-agent: GPTBot\nDisallow: /", "200 X-Robots-Tag: noai",
		"read x-robots-tag=noai", "/"},
	{"robots.txt is broken", "broken.example", "503", "200 X-Robots-Tag: noai", "unread", ""},
	{"we ask too often", "often.example", "429", "200 X-Robots-Tag: noai", "unread", ""},
	{"robots.txt is a wall", "walled.example", "403 Cf-Mitigated: challenge", "200 X-Robots-Tag: noai", "unread", ""},
	{"a redirect on the host", "path.example", "200 User-agent: *\nDisallow: /private", "302 Location: /en/?a=b",
		"read x-robots-tag=noai", "/ /en/?a=b"},
	{"a redirect to what is shut", "shut.example", "200 User-agent: *\nDisallow: /en",
		"302 Location: /en/|X-Robots-Tag: noai", "disallowed", "/"},
	{"a redirect within the domain", "domain.example", "200 Disallow:", "301 Location: http://www.domain.example/en/",
		"read x-robots-tag=noai", "/ www/en/"},
	{"a redirect to a shut path of the domain", "alike.example", "200 User-agent: *\nDisallow: /en",
		"301 Location: http://www.alike.example/en/", "disallowed", "/"},
	{"a redirect to another domain", "elsewhere.example", "200 Disallow:",
		"301 Location: http://read.example/|X-Robots-Tag: noai", "elsewhere", "/"},
	{"a redirect to nowhere", "nowhere.example", "200 Disallow:", "301 X-Robots-Tag: noai", "failed redirect_invalid",
		"/"},
	{"a header too long", "long.example", "200 Disallow:", "200 X-Robots-Tag: " + strings.Repeat("a", maxFrontValue+1) +
		"|X-Robots-Tag: noai", "read x-robots-tag too long|x-robots-tag=noai", "/"},
	{"too many headers", "many.example", "200 Disallow:", "200 " + strings.Repeat("X-Robots-Tag: a|", maxFrontLines) +
		"X-Robots-Tag: noai", "read" + strings.Repeat(" x-robots-tag=a", 1) + strings.Repeat("|x-robots-tag=a",
		maxFrontLines-1), "/"},
	{"any bytes", "bytes.example", "200 Disallow:", "200 X-Robots-Tag: \xff\u20ac", "read x-robots-tag=\xff\u20ac", "/"},
	{"a long page", "large.example", "200 Disallow:", "200 X-Robots-Tag: noai|X-Large: 1", "read x-robots-tag=noai", "/"},
}

// The front page is asked for once, a second after the answer, where robots.txt lets us,
// and only its header is kept.
func TestFrontPage(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked, times := make(map[string][]string), make(map[string][]time.Time)
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		host, sub := r.Host, ""
		if rest, ok := strings.CutPrefix(host, "www."); ok {
			host, sub = rest, "www"
		}
		mu.Lock()
		times[host] = append(times[host], time.Now())
		if r.RequestURI != "/robots.txt" {
			asked[host] = append(asked[host], sub+r.RequestURI)
		}
		mu.Unlock()
		if r.UserAgent() != "our-census/1 (+https://census.example/)" {
			t.Errorf("%s%s asked as %q", r.Host, r.RequestURI, r.UserAgent())
		}
		for _, w := range frontWays {
			status, rest, _ := strings.Cut(w.page, " ")
			switch {
			case w.host != host:
			case r.RequestURI == "/robots.txt":
				status, file, _ := strings.Cut(w.robots, " ")
				if status == "403" {
					fmt.Fprintf(c, "HTTP/1.1 403 x\r\n%s\r\nContent-Length: 0\r\n\r\n", file)
				} else {
					fmt.Fprintf(c, "HTTP/1.1 %s x\r\nContent-Length: %d\r\n\r\n%s", status, len(file), file)
				}
			case r.RequestURI != "/":
				io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\nContent-Length: 4\r\n\r\npage")
			case w.page == "":
				c.SetLinger(0)
			default:
				fmt.Fprintf(c, "HTTP/1.1 %s x\r\n%s\r\n\r\nsecret page", status, strings.ReplaceAll(rest, "|", "\r\n"))
				if strings.Contains(rest, "X-Large") {
					flood(c)
				}
			}
		}
	})
	client := newClient(t, addr, func(s *settings) {
		s.UserAgent, s.FrontPage, s.Record, s.Retries = "our-census/1 (+https://census.example/)", true, true, 0
		s.Concurrency, s.PerAddress = len(frontWays), len(frontWays)
		s.Challenges = answer.Challenges{{Vendor: "cloudflare", Header: "cf-mitigated", Value: "challenge", Source: "x"}}
	})
	var running sync.WaitGroup
	for _, w := range frontWays {
		running.Go(func() {
			got, made := recordedFetch(t, client, t.Context(), fetch.Origin{Scheme: "http", Host: w.host, Port: 80})
			if got.Front == nil {
				t.Errorf("%s: nobody looked; %v", w.what, got.Err)
				return
			}
			text := string(got.Front.Outcome)
			if got.Front.Error != "" {
				text += " " + string(got.Front.Error)
			}
			for i, h := range got.Front.Header {
				text += map[bool]string{true: " ", false: "|"}[i == 0] + h.Name
				if h.Value == nil {
					text += " too long"
				} else {
					text += "=" + *h.Value
				}
			}
			if diff := cmp.Diff(w.want, text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", w.what, diff)
			}
			pages := 0
			for _, x := range made {
				if x.Kind != fetch.KindPage {
					continue
				}
				pages++
				if strings.Contains(string(x.Received), "page") || len(x.Received) > 0 && !strings.HasSuffix(string(x.Received),
					"\r\n\r\n") || x.Identity != "" {
					t.Errorf("%s: kept %.200q", w.what, x.Received)
				}
			}
			if len(got.Front.Hops) != pages {
				t.Errorf("%s: %d hops and %d exchanges", w.what, len(got.Front.Hops), pages)
			}
			if got.Status() == 0 || strings.HasPrefix(w.robots, "200") != (got.Body != nil) {
				t.Errorf("%s: the answer itself is %d %q", w.what, got.Status(), got.Body)
			}
		})
	}
	running.Wait()
	mu.Lock() // what a handler wrote before it answered is not ordered before our reading otherwise
	defer mu.Unlock()
	for _, w := range frontWays {
		if got := strings.Join(asked[w.host], " "); got != w.asked {
			t.Errorf("%s: asked for %q, want %q", w.what, got, w.asked)
		}
		if at := times[w.host]; len(at) > 1 && at[1].Sub(at[0]) < IdentityPause {
			t.Errorf("%s: asked again after %v", w.what, at[1].Sub(at[0]))
		}
	}
}

// Nobody who gave no answer is asked again, and nobody unless the client is configured to.
func TestNoFrontPage(t *testing.T) {
	t.Parallel()
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		if r.RequestURI != "/robots.txt" {
			t.Errorf("asked for %s%s", r.Host, r.RequestURI)
		}
		if r.Host == "answers.example" {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	for host, front := range map[string]bool{"answers.example": false, "silent.example": true} {
		client := newClient(t, addr, func(s *settings) { s.FrontPage, s.Retries = front, 0 })
		if got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: host, Port: 80}); got.Front != nil {
			t.Errorf("%s: %+v", host, got.Front)
		}
	}
}

// A Retry-After holds for the front page, and that of the page for what follows: who wants to be left
// alone for long is, and where only a redirect leads there, too.
func TestAFrontPageComesWhenItMay(t *testing.T) {
	t.Parallel()
	ways := []struct{ host, robots, page, want string }{
		{"soon.example", "404 x\r\nRetry-After: 2", "200 x", "read 200, read 200 /robots.txt / /own"},
		{"late.example", "404 x\r\nRetry-After: 3600", "200 x", "spared 0, spared 0 /robots.txt"},
		{"down.example", "503 x\r\nRetry-After: 3600", "200 x", "unread 0 /robots.txt"},
		{"slowly.example", "200 x", "429 x\r\nRetry-After: 2", "status 429, read 200 /robots.txt / /own"},
		{"tired.example", "200 x", "429 x\r\nRetry-After: 3600", "status 429, spared 0 /robots.txt /"},
		{"leads.example", "404 x", "302 x\r\nLocation: http://www.leads.example/", "spared 302, read 200 /robots.txt / /own"},
	}
	var mu sync.Mutex
	asked, from := make(map[string]string), make(map[string]time.Time) // when it may be asked again
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		mu.Lock()
		defer mu.Unlock()
		if asked[r.Host] += " " + r.RequestURI; time.Now().Before(from[r.Host]) {
			asked[r.Host] += " early"
		}
		status, pause := "200 x", IdentityPause
		for _, w := range ways {
			switch {
			case r.Host != w.host:
			case r.RequestURI == "/robots.txt":
				status = w.robots
			case r.RequestURI == "/":
				status = w.page
			}
		}
		if strings.Contains(status, "Retry-After") {
			pause *= 2
		}
		from[r.Host] = time.Now().Add(pause)
		fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status)
	})
	client := newClient(t, addr, func(s *settings) {
		s.FrontPage, s.Retries, s.Concurrency, s.PerAddress, s.Further = true, 0, 10, 10, []fetch.Plan{asking("./own")}
	})
	client.others.keep(&told{key: tiredKey(fetch.Origin{Scheme: "http", Host: "www.leads.example", Port: 80}),
		until: time.Now().Add(time.Hour)})
	var running sync.WaitGroup
	for _, w := range ways {
		running.Go(func() {
			got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: w.host, Port: 80})
			f := &fetch.Further{Hops: got.Front.Hops}
			text := fmt.Sprint(got.Front.Outcome, " ", f.Status())
			for _, f := range got.Further {
				text += fmt.Sprint(", ", f.Outcome, " ", f.Status())
			}
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(w.want, text+asked[w.host]); diff != "" || got.Front.Error != "" {
				t.Errorf("%s: %s (-want +got):\n%s", w.host, got.Front.Error, diff)
			}
		})
	}
	running.Wait()
}

func TestOwnTokens(t *testing.T) {
	for agent, want := range map[string]string{
		"robocensus/1":                           "robocensus",
		"RoboCensus":                             "robocensus",
		"our-census/1 (+https://x.example)":      "our-census robocensus",
		"Mozilla/5.0 (compatible; Our_Bot2.0/1)": "Our_Bot2.0 robocensus",
		"Mozilla/5.0 (X11)":                      "robocensus",
		"(strange)":                              "robocensus",
	} {
		if got := strings.Join(OwnTokens(agent), " "); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
}
