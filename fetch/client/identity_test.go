package client

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

// Headers of an identity follow ours, but for Accept, which replaces ours.
func TestHeadersOfAnIdentity(t *testing.T) {
	who := fetch.Identity{UserAgent: "x/1", Headers: []fetch.Header{{Name: "accept", Value: "text/html"},
		{Name: "From", Value: "a@b.example"}}}
	if got, want := tail(&who), "\r\nUser-Agent: x/1\r\nAccept: text/html\r\nAccept-Encoding: gzip, br, zstd\r\n"+
		"Connection: close\r\nFrom: a@b.example\r\n"; got != want {
		t.Errorf("the headers are %q, want %q", got, want)
	}
}

// An origin that answers is asked once under each identity, in order, one at a time and a
// second after the last answer ended; redirects are followed, and nothing is tried again. One
// that does not answer is asked by nobody else.
func TestIdentitiesAreAskedPolitely(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open, asked, ended := 0, make(map[string][]string), time.Time{}
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		if r.Host == "silent.example" {
			mu.Lock()
			asked[r.Host] = append(asked[r.Host], r.UserAgent())
			mu.Unlock()
			return
		}
		mu.Lock()
		if open++; open > 1 {
			t.Error("two requests at once")
		}
		redirected := r.URL.RawQuery != ""
		if asked[r.Host] = append(asked[r.Host], r.UserAgent()); !ended.IsZero() && !redirected &&
			time.Since(ended) < IdentityPause {
			t.Errorf("%s asks %v after the last answer", r.UserAgent(), time.Since(ended))
		}
		mu.Unlock()
		answer := "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n"
		switch {
		case r.UserAgent() == "b/1" && !redirected:
			answer = "HTTP/1.1 302 x\r\nLocation: /robots.txt?x\r\nContent-Length: 0\r\n\r\n"
		case r.UserAgent() != "a/1":
			answer = "HTTP/1.1 200 x\r\nContent-Length: 4\r\n\r\n# ok"
		}
		mu.Lock()
		open, ended = open-1, time.Now()
		mu.Unlock()
		io.WriteString(c, answer)
	})
	client := newClient(t, addr, func(s *settings) {
		s.Retries = 1
		s.Identities = []fetch.Identity{{Name: "a", UserAgent: "a/1"}, {Name: "b", UserAgent: "b/1"}}
	})
	askedOf := func(host string) []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked[host])
	}
	got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: "answers.example", Port: 80})
	if text := strings.Join(askedOf("answers.example"), " "); text != "robocensus-test a/1 b/1 b/1" {
		t.Errorf("asked as %s", text)
	}
	if len(got.Also) != 2 || got.Also[0].Capture.Status() != 503 || got.Also[1].Capture.Status() != 200 ||
		len(got.Also[1].Capture.Hops) != 2 || &got.Also[1].Capture.Body[0] != &got.Body[0] {
		t.Errorf("%+v", got.Also)
	}
	if got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: "silent.example", Port: 80}); len(
		got.Also) != 0 || len(askedOf("silent.example")) != 2 {
		t.Errorf("a host that does not answer was asked as %v", askedOf("silent.example"))
	}
}

// An error that says when to come back holds for the next identity too. After one that
// says to come back late, no identity asks, also not for a page.
func TestIdentitiesComeBackWhenTheyMay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked, ended := make(map[string]string), time.Time{}
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		mu.Lock()
		defer mu.Unlock()
		if r.Host == "soon.example" && !ended.IsZero() && time.Since(ended) < 2*time.Second {
			t.Errorf("%s asks %v after the last answer", r.UserAgent(), time.Since(ended))
		}
		asked[r.Host] += " " + r.UserAgent()
		answer := "HTTP/1.1 200 x\r\nRetry-After: 3600\r\nContent-Length: 4\r\n\r\n# ok"
		switch {
		case r.Host == "soon.example":
			answer = "HTTP/1.1 429 x\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n"
		case r.Host == "late.example", r.UserAgent() == "a/1":
			answer = "HTTP/1.1 429 x\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"
		}
		ended = time.Now()
		io.WriteString(c, answer)
	})
	client := newClient(t, addr, func(s *settings) {
		s.Identities = []fetch.Identity{{Name: "a", UserAgent: "a/1"}, {Name: "b", UserAgent: "b/1"}}
		plan := asking("./page")
		plan.AsOthers = true
		s.Further = []fetch.Plan{plan}
	})
	for host, want := range map[string]string{
		"soon.example": " robocensus-test a/1 b/1", "late.example": " robocensus-test",
		"stops.example": " robocensus-test a/1",
	} {
		mu.Lock()
		ended = time.Time{}
		mu.Unlock()
		got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: host, Port: 80})
		mu.Lock()
		if asked[host] != want || len(got.Also) != strings.Count(want, " ")-1 {
			t.Errorf("%s was asked as%s, want%s; %d answers", host, asked[host], want, len(got.Also))
		}
		mu.Unlock()
	}
}
