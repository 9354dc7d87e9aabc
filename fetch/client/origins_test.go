package client

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
)

// Each origin has a robots.txt of its own (RFC 9309, section 2.3), also those of one registered
// domain: it is asked once, before anything else of the origin, whether a question or a redirect
// leads there, unless the host's own robots.txt lies there.
func TestOrigins(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	var times []time.Time
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		host := strings.TrimSuffix(strings.TrimSuffix(r.Host, "a.example"), ".") // "" for the host itself
		mu.Lock()
		asked, times = append(asked, host+r.RequestURI), append(times, time.Now())
		mu.Unlock()
		status, location, body := "200 OK", "", "one two three"
		lead := func(to string) { status, location = "301 Moved", "Location: "+to+"\r\n" }
		switch r.RequestURI {
		case "/robots.txt":
			switch host {
			case "":
				lead("http://www.a.example/robots.txt")
			case "www":
				body = "User-agent: *\nDisallow: /own\n"
			case "shut":
				body = "User-agent: *\nDisallow: /list\n\nUser-agent: other\nDisallow:\n"
			case "down":
				status = "503 Busy"
			default:
				body = ""
			}
		case "/to-www":
			lead("http://www.a.example/list")
		case "/to-own":
			lead("http://www.a.example/own")
		case "/to-open", "/to-shut", "/to-down":
			lead("http://" + r.RequestURI[4:] + ".a.example/list")
		case "/chain": // one origin after another
			n, _ := strconv.Atoi(strings.TrimPrefix(host, "n"))
			lead("http://n" + strconv.Itoa(n+1) + ".a.example/chain")
		}
		fmt.Fprintf(c, "HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n", status, location, len(body))
		io.WriteString(c, body)
	})
	sister := func(name string) fetch.Origin {
		return fetch.Origin{Scheme: "http", Host: name + ".a.example", Port: 80}
	}
	other := &robots.Agent{Name: "other", Tokens: []string{"other"}}
	plan := fetch.Plan{Keeps: 1 << 20, Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
		for _, q := range []fetch.Question{
			{Name: "led to where robots.txt lies", Target: "/to-www"},
			{Name: "led to what that closes", Target: "/to-own"},
			{Name: "a sister", Origin: sister("open"), Target: "/own"},
			{Name: "a shut sister", Origin: sister("shut"), Target: "/list"},
			{Name: "led to a sister", Target: "/to-open"},
			{Name: "led to a shut sister", Target: "/to-shut"},
			{Name: "another agent", Target: "/to-shut", Agent: other},
			{Name: "led to one that is down", Target: "/to-down"},
			{Name: "not led", Target: "/to-open", Follow: func(fetch.Origin, string) bool { return false }},
			{Name: "permitted", Target: "/to-shut", Permitted: true},
			{Name: "on and on", Target: "/chain"},
		} {
			q.Kind, q.MaxBody = fetch.KindDocument, 100
			if q.Origin.Host == "" {
				q.Origin = host.Origin
			}
			if ask(&q) == nil {
				t.Fatal(q.Name)
			}
		}
	}}
	client := newClient(t, addr, func(s *settings) {
		s.Retries, s.MaxRedirects, s.Record, s.Further = 0, 20, true, []fetch.Plan{plan}
	})
	got, made := recordedFetch(t, client, t.Context(), fetch.Origin{Scheme: "http", Host: "a.example", Port: 80})
	var lines []string
	for i, f := range got.Further {
		lines = append(lines, strings.TrimPrefix(described(f), "document "))
		var urls, hops []string
		for _, x := range made {
			if x.Further == i+1 && x.Kind != fetch.KindControl {
				urls = append(urls, x.URL)
			}
		}
		for _, h := range f.Hops {
			hops = append(hops, h.URL)
		}
		if !slices.Equal(urls, hops) {
			t.Errorf("%s: exchanges of %q, hops %q", f.Name, urls, hops)
		}
	}
	const text = ` 200 body "one two three"`
	if diff := cmp.Diff([]string{
		"led to where robots.txt lies read" + text, "led to what that closes disallowed 301", "a sister read" + text,
		"a shut sister disallowed 0", "led to a sister read" + text, "led to a shut sister disallowed 301",
		"another agent read" + text,
		"led to one that is down unread 301", "not led elsewhere 301", "permitted read" + text, "on and on unread 301",
	}, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := strings.Fields(`/robots.txt www/robots.txt /to-www www/list /to-own open/robots.txt open/own shut/robots.txt
		/to-open open/list /to-shut /to-shut shut/list /to-down down/robots.txt /to-open /to-shut /chain`) // what was asked for before is not asked for again
	for n := range MaxLed - 1 { // and down
		at := fmt.Sprintf("n%d/", n+1)
		want = append(want, at+"robots.txt", at+"chain")
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	for i := 1; i < len(times); i++ {
		before := asked[i-1]
		isRest := strings.Contains(before, "/to-") || asked[i] == "www/robots.txt" || strings.HasSuffix(before, "/chain")
		if d := times[i].Sub(times[i-1]); d < IdentityPause && !isRest {
			t.Errorf("%s %v after %s", asked[i], d, before)
		}
	}
}

// A front page on another origin leaves the host's own robots.txt the only one of the fetch.
func TestAFrontPageOnAnotherOrigin(t *testing.T) {
	t.Parallel()
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		switch {
		case r.Host == "a.example" && r.RequestURI == "/":
			io.WriteString(c, "HTTP/1.1 301 Moved\r\nLocation: http://www.a.example/\r\nContent-Length: 0\r\n\r\n")
		case r.Host != "a.example" && r.RequestURI == "/robots.txt":
			io.WriteString(c, "HTTP/1.1 404 None\r\nContent-Length: 7\r\n\r\nnothing")
		default:
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n#")
		}
	})
	client := newClient(t, addr, func(s *settings) { s.Record, s.FrontPage = true, true })
	got, made := recordedFetch(t, client, t.Context(), fetch.Origin{Scheme: "http", Host: "a.example", Port: 80})
	var lines []string
	for _, x := range made {
		lines = append(lines, fmt.Sprint(x.URL, " ", x.Kind, x.Further))
	}
	want := []string{"http://a.example/robots.txt 0", "http://a.example/ page0",
		"http://www.a.example/robots.txt control0", "http://www.a.example/ page0"}
	if diff := cmp.Diff(want, lines); diff != "" || got.Front.Outcome != usage.PageRead {
		t.Errorf("%s (-want +got):\n%s", got.Front.Outcome, diff)
	}
}
