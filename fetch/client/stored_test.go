package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// capturedRobots returns the capture of a robots.txt that another program made.
func capturedRobots(status int, file string) *fetch.Capture {
	o := fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}
	c := &fetch.Capture{Origin: o, Start: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Hops: []answer.Hop{
		{URL: o.RobotsURL(), Status: status}}}
	if status == 200 {
		c.Body = []byte(file)
	}
	return c
}

// wants returns a plan that asks for documents by their URLs, and reads each.
func wants(urls ...string) fetch.Plan {
	return fetch.Plan{Keeps: 1 << 20, Most: len(urls), Ask: func(_ *fetch.Answered,
		ask func(*fetch.Question) *fetch.Further) {
		for _, url := range urls {
			o, target, _ := fetch.Parse(url, "")
			ask(&fetch.Question{Kind: fetch.KindDocument, Name: strings.TrimPrefix(url, "http://"), Origin: o, Target: target,
				MaxBody: 100, Elsewhere: true, Read: func(body io.Reader, keep io.Writer) error {
					_, err := io.Copy(keep, body)
					return err
				}})
		}
	}}
}

// A plan is run over stored answers as over those of the network: with redirects, the rules
// of the host and of others, and bodies. What is not stored is uncaptured.
func TestAPlanOverStoredAnswers(t *testing.T) {
	t.Parallel()
	const ok, moved = "HTTP/1.1 200\r\ncontent-length: 3\r\n\r\n",
		"HTTP/1.1 301\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n"
	stored := map[string]string{
		"http://a.example/one": ok + "one", "http://a.example/shut/x": ok + "not",
		"http://a.example/cut":     "HTTP/1.1 200\r\ncontent-length: 9\r\n\r\ncut",
		"http://a.example/error":   "HTTP/1.1 503\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n",
		"http://a.example/to-one":  fmt.Sprintf(moved, "/one"),
		"http://a.example/to-shut": fmt.Sprintf(moved, "/shut/x"), "http://a.example/to-nothing": fmt.Sprintf(moved,
			"/nothing"), "http://a.example/loop": fmt.Sprintf(moved, "/loop"),
		"http://a.example/to-b": fmt.Sprintf(moved, "http://b.example/one"), "http://a.example/none": "nothing like HTTP",
		"http://b.example/robots.txt": "HTTP/1.1 200\r\ncontent-length: 28\r\n\r\nUser-agent: *\nDisallow: /sh\n",
		"http://b.example/one":        ok + "two", "http://b.example/shut": ok + "not",
		"http://c.example/one": ok + "new", "http://shut.example/robots.txt": "HTTP/1.1 200\r\ncontent-length: 26\r\n\r\n" +
			"User-agent: *\nDisallow: /\n", "http://shut.example/": ok + "not",
		"http://down.example/robots.txt": "HTTP/1.1 503\r\ncontent-length: 0\r\n\r\n", "http://down.example/": ok + "not",
	}
	var asked []string
	find := func(_ context.Context, url string, near time.Time, use func(time.Time, io.Reader)) (bool, error) {
		asked = append(asked, strings.TrimPrefix(url, "http://"))
		text, found := stored[url]
		if found {
			use(near.Add(time.Hour), strings.NewReader(text))
		}
		return found, nil
	}
	urls := []string{"http://a.example/one", "http://a.example/shut/x", "http://a.example/cut", "http://a.example/error",
		"http://a.example/none", "http://a.example/nothing", "http://a.example/to-one",
		"http://a.example/to-shut", "http://a.example/to-nothing", "http://a.example/loop", "http://a.example/to-b",
		"http://b.example/one", "http://b.example/shut", "http://c.example/one",
		"http://shut.example/", "http://down.example/"}
	archive := NewArchive(Config{UserAgent: "robocensus/1", Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 1000},
		Further: []fetch.Plan{wants(urls...)}}, Backing{})
	c := capturedRobots(200, "User-agent: *\nDisallow: /shut\n")
	if err := archive.Complete(t.Context(), c, find); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range c.Further {
		got = append(got, strings.TrimPrefix(described(f), "document "))
		if asked := len(f.Hops) > 0; asked != f.Start.Equal(c.Start.Add(time.Hour)) || !asked && !f.Start.IsZero() {
			t.Errorf("%s: %d hops at %v", f.Name, len(f.Hops), f.Start)
		}
	}
	want := []string{
		`a.example/one read 200 reading "one"`, "a.example/shut/x disallowed 0",
		`a.example/cut failed 200 truncated_body reading "cut"`, "a.example/error status 503",
		"a.example/none failed 0 protocol",
		"a.example/nothing uncaptured 0", `a.example/to-one read 200 reading "one"`, "a.example/to-shut disallowed 301",
		"a.example/to-nothing uncaptured 301", "a.example/loop failed 301 redirect_loop",
		"a.example/to-b elsewhere 301", `b.example/one read 200 reading "two"`, "b.example/shut disallowed 0",
		`c.example/one read 200 reading "new"`, "shut.example/ disallowed 0", "down.example/ unread 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(asked, " "), "shut/x") || string(c.Body) != "User-agent: *\nDisallow: /shut\n" ||
		c.Error != "" {
		t.Errorf("looked for %q; the capture has %q and %q", asked, c.Body, c.Error)
	}
}

// Nothing is looked for where nobody knows what the host allows. An error of this machine
// ends it.
func TestNoStoredAnswers(t *testing.T) {
	t.Parallel()
	archive := NewArchive(Config{UserAgent: "robocensus/1", Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 1000},
		Further: []fetch.Plan{wants("http://a.example/one")}}, Backing{})
	broken := errors.New("the disk is broken")
	for name, change := range map[string]func(*fetch.Capture){
		"a failure":           func(c *fetch.Capture) { c.Error = answer.ErrorTruncatedBody },
		"a redirect":          func(c *fetch.Capture) { c.Hops[0].Status, c.Location = 301, "http://a.example/x" },
		"a revisit":           func(c *fetch.Capture) { c.Body, c.Unstored = nil, true },
		"a server error":      func(c *fetch.Capture) { c.Hops[0].Status = 503 },
		"a wall":              func(c *fetch.Capture) { c.Challenge = "cloudflare" },
		"":                    func(*fetch.Capture) {},
		"no file":             func(c *fetch.Capture) { c.Hops[0].Status, c.Body = 404, nil },
		"a revisit of none":   func(c *fetch.Capture) { c.Hops[0].Status, c.Body, c.Unstored = 404, nil, true },
		"another agent's":     func(c *fetch.Capture) { c.Body = []byte("User-agent: x\nDisallow: /\n") },
		"an empty file":       func(c *fetch.Capture) { c.Body = []byte{} },
		"closed to everybody": func(c *fetch.Capture) { c.Body = []byte("User-agent: *\nDisallow: /\n") },
	} {
		c, looked := capturedRobots(200, ""), false
		change(c)
		err := archive.Complete(t.Context(), c, func(context.Context, string, time.Time, func(time.Time, io.Reader)) (bool,
			error) {
			looked = true
			return false, broken
		})
		want := name == "" || name == "no file" || name == "a revisit of none" || name == "another agent's" ||
			name == "an empty file"
		if looked != want || errors.Is(err, broken) != want {
			t.Errorf("%s: looked %v, %v", name, looked, err)
		}
	}
}
