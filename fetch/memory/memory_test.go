package memory

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

func openMemory(t testing.TB, dir string) *Memory {
	t.Helper()
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func closeMemory(t testing.TB, m *Memory) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

func keepIn(t testing.TB, m *Memory, c *fetch.Capture) {
	t.Helper()
	if err := m.keep("r", c); err != nil {
		t.Fatal(err)
	}
}

func recall(t testing.TB, m *Memory, o fetch.Origin) history {
	t.Helper()
	p, err := m.recall(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var day = time.Date(2026, 11, 20, 10, 15, 0, 123456000, time.UTC)

func whole(o fetch.Origin, at time.Time, body string) *fetch.Capture {
	return &fetch.Capture{Origin: o, Start: at, Attempts: 1, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 200}},
		Body: []byte(body)}
}

func status(o fetch.Origin, at time.Time, status int) *fetch.Capture {
	return &fetch.Capture{Origin: o, Start: at, Attempts: 1, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: status}}}
}

func broken(o fetch.Origin, at time.Time, class answer.ErrorClass) *fetch.Capture {
	return &fetch.Capture{Origin: o, Start: at, Attempts: 1, Hops: []answer.Hop{{URL: o.RobotsURL()}}, Error: class,
		Err: errors.New("connect: failed")}
}

func host(i int) fetch.Origin {
	return fetch.Origin{Scheme: "https", Host: fmt.Sprintf("host-%d.example", i), Port: 443}
}

// notOfTheAnswer are the fields of a capture that keep does not store.
var notOfTheAnswer = []string{"Local", "Remembered", "Memory", "Copy", "Front", "Further", "Also", "Location",
	"Unstored", "Digest", "at", "text"}

// sameAnswer compares two captures without their bodies, and errors by text.
var sameAnswer = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Body" || slices.Contains(notOfTheAnswer, p.String()) },
		cmp.Ignore()),
	cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
	cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }),
}

func checkLast(t rapid.TB, m *Memory, run string, c *fetch.Capture) {
	t.Helper()
	p, err := m.recall(c.Origin)
	if err != nil {
		t.Fatal(err)
	}
	if p.Run != run {
		t.Errorf("%s: kept by run %q, want %q", c.Origin, p.Run, run)
	}
	if diff := cmp.Diff(c, p.Last, sameAnswer); diff != "" {
		t.Errorf("%s: kept - recalled +:\n%s", c.Origin, diff)
	}
	if p.Last.Body != nil || (p.LastBody == nil) != (c.Body == nil) {
		t.Fatalf("%s: body %v and digest %v for a body that is nil: %v", c.Origin, p.Last.Body, p.LastBody, c.Body == nil)
	}
	if p.LastBody != nil {
		body, err := m.body(*p.LastBody)
		if err != nil || body == nil || !bytes.Equal(body, c.Body) {
			t.Errorf("%s: body %q, %v, want %q", c.Origin, body, err, c.Body)
		}
	}
}

func TestAnswersComeBackAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	m := openMemory(t, dir)
	var kept []*fetch.Capture
	rapid.Check(t, func(t *rapid.T) {
		c := fetchtest.Captures(host(len(kept))).Draw(t, "capture")
		run := string(rapid.SliceOf(rapid.Byte()).Draw(t, "run"))
		if err := m.keep(run, c); err != nil {
			t.Fatal(err)
		}
		checkLast(t, m, run, c)
		if err := m.keep("r", c); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, c)
	})
	closeMemory(t, m)
	m = openMemory(t, dir)
	for _, c := range kept {
		checkLast(t, m, "r", c)
	}
	closeMemory(t, m)
}

// A new field of Capture must be kept too.
func TestEveryFieldOfAnAnswerIsKept(t *testing.T) {
	text, d, n := "\x00\xff<&>\u2028", time.Duration(1), 1
	c := &fetch.Capture{
		Origin: host(1), Start: day, Hops: []answer.Hop{{URL: text, Status: 200}}, Attempts: 1,
		Error: answer.ErrorTruncatedBody, Err: errors.New(text), Fallback: answer.ErrorTLS,
		Remote: netip.MustParseAddrPort("[fe80::1%eth0]:443"), HTTPVersion: text, TLSVersion: text,
		Times: fetch.Times{DNS: &d, Connect: &d, TLS: &d, FirstByte: &d, Total: &d}, Body: []byte(text), Truncated: true,
		Cut: &n, Probe: fetch.Probe{Front: 200, Missing: 503}, Challenge: "generic", CDN: "fastly",
	}
	fetchtest.EachHeader(&c.Headers, func(string) *string { return &text })
	for _, v := range []any{*c, c.Times, c.Hops[0]} {
		for i := range reflect.ValueOf(v).NumField() {
			name := reflect.TypeOf(v).Field(i).Name
			if reflect.ValueOf(v).Field(i).IsZero() && !slices.Contains(notOfTheAnswer, name) {
				t.Errorf("this test does not set field %s of %T", name, v)
			}
		}
	}
	m := openMemory(t, t.TempDir())
	defer closeMemory(t, m)
	keepIn(t, m, c)
	checkLast(t, m, "r", c)
}

// The page of a wall is not the file: the last whole copy stays, and so does what is known
// of the origin.
func TestAWallIsNoCopy(t *testing.T) {
	o := host(1)
	at := func(n int) time.Time { return day.AddDate(0, 0, n) }
	wall := whole(o, at(1), "<title>Just a moment...</title>")
	wall.Challenge = "generic"
	m := openMemory(t, t.TempDir())
	defer closeMemory(t, m)
	keepIn(t, m, wall)
	p, err := m.recall(o)
	if err != nil || p.Copy != nil || len(p.Memory.Seen) != 0 {
		t.Errorf("a wall alone leaves %+v, %v", p, err)
	}
	for _, c := range []*fetch.Capture{whole(o, at(2), "User-agent: *\n"), broken(o, at(3), answer.ErrorConnectTimeout),
		wall, broken(o, at(4), answer.ErrorConnectTimeout)} {
		keepIn(t, m, c)
	}
	if p, err = m.recall(o); err != nil || p.Copy == nil || !p.Copy.Fetched.Equal(at(2)) || len(p.Memory.Seen) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if body, err := m.body(p.Copy.Digest); err != nil || string(body) != "User-agent: *\n" {
		t.Errorf("the copy is %q, %v", body, err)
	}
}

func TestUnreachableSinceAndTheGoodCopy(t *testing.T) {
	o := host(1)
	at := func(n int) time.Time { return day.AddDate(0, 0, n) }
	good := func(n int, body string) *fetch.Capture { return whole(o, at(n), body) }
	down := func(n int) *fetch.Capture { return broken(o, at(n), answer.ErrorConnectTimeout) }
	cut := broken(o, at(2), answer.ErrorTruncatedBody)
	cut.Body = []byte("User-agent: *\nDisa")
	long := whole(o, at(1), "long")
	long.Truncated = true
	copied := func(n int, body string, truncated bool) *goodCopy {
		return &goodCopy{at(n), digestOf([]byte(body)), truncated}
	}
	for _, row := range []struct {
		clause string
		steps  []*fetch.Capture
		since  time.Time
		copy   *goodCopy
	}{
		{"SPEC 2, 2xx with a whole body: the good copy", []*fetch.Capture{good(1, "a")}, time.Time{}, copied(1, "a", false)},
		{"SPEC 2, 2xx: a newer one replaces it", []*fetch.Capture{good(1, "a"), good(2, "b")}, time.Time{},
			copied(2, "b", false)},
		{"SPEC 2, 2xx: the same again is a fresh copy", []*fetch.Capture{good(1, "a"), good(2, "a")}, time.Time{},
			copied(2, "a", false)},
		{"SPEC 2, 2xx: an empty body is a body", []*fetch.Capture{good(1, "a"), good(2, "")}, time.Time{},
			copied(2, "", false)},
		{"SPEC 2, size: beyond the limit is no error", []*fetch.Capture{long}, time.Time{}, copied(1, "long", true)},
		{"memory: an outage begins with its first answer", []*fetch.Capture{down(1)}, at(1), nil},
		{"memory: it goes on since then", []*fetch.Capture{down(1), down(20), down(40)}, at(1), nil},
		{"memory: the last good copy stands", []*fetch.Capture{good(1, "a"), down(2), down(40)}, at(2),
			copied(1, "a", false)},
		{"memory: 5xx and network failures are one outage", []*fetch.Capture{good(1, "a"), status(o, at(2), 503), down(3)},
			at(2), copied(1, "a", false)},
		{"body shorter than declared: an outage; the half is no copy", []*fetch.Capture{good(1, "a"), cut}, at(2),
			copied(1, "a", false)},
		{"a good answer ends it", []*fetch.Capture{down(1), good(2, "a")}, time.Time{}, copied(2, "a", false)},
		{"the next one begins anew", []*fetch.Capture{down(1), good(2, "a"), down(3)}, at(3), copied(2, "a", false)},
		{"4xx ends it", []*fetch.Capture{down(1), status(o, at(2), 403)}, time.Time{}, nil},
		{"4xx: the site says that it has no file: no copy", []*fetch.Capture{good(1, "a"), status(o, at(2), 404)},
			time.Time{}, nil},
		{"RFC 9309 2.3.1.4 after 2.3.1.3: rules withdrawn stay withdrawn", []*fetch.Capture{good(1, "a"),
			status(o, at(2), 404), down(3)}, at(3), nil},
		{"redirect loop, as 404: no copy", []*fetch.Capture{good(1, "a"), broken(o, at(2), answer.ErrorRedirectLoop)},
			time.Time{}, nil},
		{"429, an outage to some: the copy stands for them", []*fetch.Capture{good(1, "a"), status(o, at(2), 429)},
			time.Time{}, copied(1, "a", false)},
		{"429, and later a 5xx", []*fetch.Capture{good(1, "a"), status(o, at(2), 429), status(o, at(3), 500)}, at(3),
			copied(1, "a", false)},
		{"a 2xx without a body is no copy", []*fetch.Capture{good(1, "a"), status(o, at(2), 204)}, time.Time{}, nil},
		{"a stopped run says nothing", []*fetch.Capture{good(1, "a"), down(2), broken(o, at(3), answer.ErrorCanceled),
			broken(o, at(3), answer.ErrorCanceled)}, at(2), copied(1, "a", false)},
		{"our own refusal to dial says nothing", []*fetch.Capture{good(1, "a"),
			broken(o, at(3), answer.ErrorAddressBlocked)}, time.Time{}, copied(1, "a", false)},
		{"a clock that went back: the beginning is not in the future", []*fetch.Capture{down(5), down(1)}, at(1), nil},
	} {
		t.Run(row.clause, func(t *testing.T) {
			dir := t.TempDir()
			m := openMemory(t, dir)
			for _, s := range row.steps {
				keepIn(t, m, s)
				closeMemory(t, m) // every step is another run
				m = openMemory(t, dir)
			}
			defer closeMemory(t, m)
			p := recall(t, m, o)
			facts := p.Last.Facts()
			facts.Memory = &p.Memory
			google, _ := robots.ProfileNamed("google-2019")
			if since := google.Answer(facts).UnreachableSince; !since.Equal(row.since) {
				t.Errorf("unreachable since %v, want %v", since, row.since)
			}
			if diff := cmp.Diff(row.copy, p.Copy); diff != "" {
				t.Errorf("copy: want - got +:\n%s", diff)
			}
			if p.Copy != nil {
				if _, err := m.body(p.Copy.Digest); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestNothingIsKnownOfAnotherOrigin(t *testing.T) {
	m := openMemory(t, t.TempDir())
	defer closeMemory(t, m)
	o := fetch.Origin{Scheme: "https", Host: "example.com", Port: 443}
	keepIn(t, m, whole(o, day, "a"))
	for _, other := range []fetch.Origin{{Scheme: "http", Host: "example.com", Port: 80},
		{Scheme: "https", Host: "example.com", Port: 8443}, {Scheme: "https", Host: "example.co", Port: 443},
		{Scheme: "https", Host: "example.com.au", Port: 443}} {
		if p := recall(t, m, other); p.Last != nil || len(p.Memory.Seen) > 0 || p.Copy != nil {
			t.Errorf("%s: %+v", other, p)
		}
	}
	if _, err := m.body(digest{1}); err == nil || !strings.Contains(err.Error(), m.dir) {
		t.Errorf("a missing body: %v", err)
	}
}

func TestMemoryLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	m := openMemory(t, t.TempDir())
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if err := m.keep("r", broken(host(i/4), day, answer.ErrorReset)); err != nil {
				t.Error(err)
			}
			if _, err := m.recall(host(i / 4)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	closeMemory(t, m)
	goleak.VerifyNone(t, before)
}
