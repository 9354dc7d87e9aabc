package client

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// The body of an error is kept where the client is told to, whole and decoded; that of a
// redirect, one that breaks off, and those of probes and other identities are not.
func TestErrorBodies(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /\n"
	scrapy, _ := robots.ProfileNamed("scrapy")
	google, _ := robots.ProfileNamed("google")
	for _, c := range []struct {
		name, head, body string
		want             string // "none" for no body
		outcome          answer.Outcome
	}{
		{"404", "404 Not Found\r\nContent-Length: 26", rules, rules, answer.ConditionalAllow},
		{"503", "503 Busy", rules, rules, answer.ConditionalAllow},
		{"chunks", "418 Teapot\r\nTransfer-Encoding: chunked", "1a\r\n" + rules + "\r\n0\r\n\r\n", rules,
			answer.ConditionalAllow},
		{"empty", "404 Not Found\r\nContent-Length: 0", "", "", answer.ConditionalAllow},
		{"not modified", "304 Not Modified", "", "", answer.ConditionalAllow},
		{"redirect without location", "302 Found\r\nContent-Length: 26", rules, rules, answer.ConditionalAllow},
		{"redirect in a loop", "302 Found\r\nLocation: /robots.txt\r\nContent-Length: 26", rules, "none", answer.FullAllow},
		{"broken off", "404 Not Found\r\nContent-Length: 99", rules, "none", answer.Undefined},
		{"long", "404 Not Found", strings.Repeat("x", 2000), strings.Repeat("x", 1000), answer.ConditionalAllow},
	} {
		answers := write("HTTP/1.1 " + c.head + "\r\nConnection: close\r\n\r\n" + c.body)
		for _, keep := range []bool{true, false} {
			client := newClient(t, serve(t, answers), func(s *settings) { s.ErrorBodies, s.MaxBody, s.Retries = keep, 1000, 0 })
			got := client.Fetch(t.Context(), origin(t, "a.example"))
			want := c.want
			if !keep {
				want = "none"
			}
			if text := pageText(got); text != want || got.Whole() != nil {
				t.Errorf("%s, kept: %v: page %.60q, want %.60q", c.name, keep, text, want)
			}
			a := scrapy.Answer(got.Facts())
			if keep && a.Outcome != c.outcome {
				t.Errorf("%s: scrapy takes it for %s, want %s", c.name, a.Outcome, c.outcome)
			}
			if body, _ := got.Read(google.Answer(got.Facts())); body != nil {
				t.Errorf("%s: google reads %q", c.name, body)
			}
		}
	}
}

func pageText(c *fetch.Capture) string {
	if c.Page() == nil {
		return "none"
	}
	return string(c.Page())
}

// Only the answer to the request for robots.txt under our own name is kept.
func TestErrorBodiesOfOtherRequests(t *testing.T) {
	at := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		status, body := 500, "broken"
		if r.URL.Path == "/" {
			status, body = 200, "front"
		}
		fmt.Fprintf(c, "HTTP/1.1 %d Said\r\nConnection: close\r\n\r\n%s", status, body)
	})
	c := newClient(t, at, func(s *settings) {
		s.ErrorBodies, s.ProbeMisconfigured, s.Retries, s.Timeout = true, true, 0, 10*time.Second
		s.Identities = []fetch.Identity{{Name: "other", UserAgent: "Other/1.0"}}
	})
	got := c.Fetch(t.Context(), origin(t, "a.example"))
	if pageText(got) != "broken" || got.Probe.Missing != 500 || len(got.Also) != 1 || got.Also[0].Capture.Body != nil {
		t.Errorf("page %q, %+v", pageText(got), got.Also)
	}
}
