package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
)

// described returns what came of a further request in one line.
func described(f *fetch.Further) string {
	text := fmt.Sprintf("%s %s %s %d", f.Kind, f.Name, f.Outcome, f.Status())
	if f.Error != "" {
		text += " " + string(f.Error)
	}
	for _, h := range f.Header {
		text += fmt.Sprintf(" %s=%s", h.Name, *h.Value)
	}
	if f.Body != nil {
		text += fmt.Sprintf(" body %.40q", f.Body)
	}
	if f.Reading != nil {
		text += fmt.Sprintf(" reading %q", f.Reading)
	}
	if f.Truncated {
		text += " truncated"
	}
	return text
}

// A plan asks one request after the other, as its answers lead it, and each keeps to the
// host's file and to the pause. Bodies are kept, or read; recorded exchanges say which
// request they are of.
func TestAPlan(t *testing.T) {
	t.Parallel()
	const file = "User-agent: *\nDisallow: /shut\nDisallow: /also-shut\nSitemap: http://a.example/list\n"
	var mu sync.Mutex
	var asked []string
	var times []time.Time
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		mu.Lock()
		asked, times = append(asked, r.UserAgent()+" "+r.RequestURI), append(times, time.Now())
		mu.Unlock()
		body := ""
		switch r.RequestURI {
		case "/robots.txt":
			body = file
		case "/long":
			body = strings.Repeat("long ", 100_000)
		case "/list":
			body = "one two three"
		case "/moved":
			io.WriteString(c, "HTTP/1.1 301 x\r\nLocation: /also-shut\r\nContent-Length: 0\r\n\r\n")
			return
		case "/led":
			io.WriteString(c, "HTTP/1.1 301 x\r\nLocation: /list\r\nContent-Length: 0\r\n\r\n")
			return
		case "/priced":
			io.WriteString(c, "HTTP/1.1 402 x\r\nContent-Length: 8\r\n\r\n10 cents")
			return
		case "/broken":
			io.WriteString(c, "HTTP/1.1 200 x\r\nContent-Length: 100\r\n\r\nhalf")
			return
		case "/busy":
			io.WriteString(c, "HTTP/1.1 503 x\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n")
			return
		case "/also-shut":
			body = "of another agent"
		default:
			io.WriteString(c, "HTTP/1.1 404 x\r\nLink: <a>\r\nContent-Length: 4\r\n\r\nnone")
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 200 x\r\nLink: <l>\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	})
	var whole []string // bodies that were read
	plan := fetch.Plan{Keeps: 1 << 20, Most: 20, Ask: func(host *fetch.Answered,
		ask func(*fetch.Question) *fetch.Further) {
		target := ""
		google, _ := robots.ProfileNamed("google")
		if err := host.Parse(google, func(f *robots.File) {
			target = strings.TrimPrefix(string(f.Sitemaps[0].URL), "http://a.example")
		}); err != nil {
			t.Error(err)
		}
		read := func(body io.Reader, keep io.Writer) error {
			all, err := io.ReadAll(body)
			whole = append(whole, string(all))
			_, e := fmt.Fprintf(keep, "%d bytes", len(all))
			return errors.Join(err, e)
		}
		for _, q := range []fetch.Question{
			{Name: "list", Target: target, MaxBody: 100, Headers: []string{"link"}},
			{Name: "read", Target: "/long", MaxBody: 450_000, Read: read},
			{Name: "cut", Target: "/long", MaxBody: 12},
			{Name: "head", Target: "/list"},
			{Name: "shut", Target: "/shut/x", MaxBody: 100},
			{Name: "leads to what is shut", Target: "/moved", MaxBody: 100},
			{Name: "as another", Target: "/also-shut", MaxBody: 100, Permitted: true, Identity: 1},
			{Name: "led", Target: "/led", MaxBody: 100},
			{Name: "not led", Target: "/led", MaxBody: 100, Follow: func(fetch.Origin, string) bool { return false }},
			{Name: "priced", Target: "/priced", MaxBody: 100, Priced: true},
			{Name: "at any price", Target: "/priced", MaxBody: 100},
			{Name: "broken", Target: "/broken", MaxBody: 100},
			{Name: "broken and read", Target: "/broken", MaxBody: 100, Read: read},
			{Name: "none", Target: "/none", MaxBody: 100, Headers: []string{"link"}},
			{Name: "elsewhere", Target: "/list", Origin: fetch.Origin{Scheme: "http", Host: "open.test", Port: 80},
				MaxBody: 100},
			{Name: "shut elsewhere", Target: "/shut", Origin: fetch.Origin{Scheme: "http", Host: "open.test", Port: 80},
				MaxBody: 100, Elsewhere: true},
			{Name: "let in elsewhere", Target: "/list", Origin: fetch.Origin{Scheme: "http", Host: "open.test", Port: 80},
				MaxBody: 100, Elsewhere: true},
			{Name: "busy", Target: "/busy", MaxBody: 100},
		} {
			if q.Kind = fetch.KindDocument; q.Origin.Host == "" {
				q.Origin = host.Origin
			}
			f := ask(&q)
			if f == nil || f.Name != q.Name {
				t.Fatalf("%s: %+v", q.Name, f)
			}
		}
		ask(&fetch.Question{Kind: fetch.KindDocument, Name: "after that", Origin: host.Origin, Target: "/list"})
	}}
	want := []string{
		`document list read 200 link=<l> body "one two three"`, `document read read 200 reading "450000 bytes" truncated`,
		`document cut read 200 body "long long lo" truncated`,
		"document head read 200", "document shut disallowed 0", "document leads to what is shut disallowed 301",
		`document as another read 200 body "of another agent"`,
		`document led read 200 body "one two three"`, "document not led elsewhere 301",
		`document priced status 402 body "10 cents"`, "document at any price status 402",
		"document broken failed 200 truncated_body",
		`document broken and read failed 200 truncated_body reading "4 bytes"`, "document none status 404 link=<a>",
		"document elsewhere elsewhere 0",
		"document shut elsewhere disallowed 0", `document let in elsewhere read 200 body "one two three"`,
		"document busy status 503",
		"document after that spared 0",
	}
	for _, room := range []int64{0, 1 << 20} { // to disk, or not
		asked, times, whole = nil, nil, nil
		client := newClient(t, addr, func(s *settings) {
			s.Retries, s.Record, s.Further = 0, true, []fetch.Plan{plan}
			s.Identities = []fetch.Identity{{Name: "other", UserAgent: "other/1"}}
			s.Room = room
			s.Spool = func() (*os.File, error) { return os.Create(filepath.Join(t.TempDir(), "spool")) }
		})
		got, made := recordedFetch(t, client, t.Context(), fetch.Origin{Scheme: "http", Host: "a.example", Port: 80})
		var lines []string
		for i, f := range got.Further {
			lines = append(lines, described(f))
			of := 0
			for _, x := range made {
				if x.Further == i+1 && x.Kind != fetch.KindControl {
					of++
					if x.Kind != f.Kind || x.URL != f.Hops[of-1].URL || (x.Identity != "") != (f.Identity != nil) ||
						f.Identity != nil && x.Identity != f.Identity.Name {
						t.Errorf("an exchange of %s: %s %s %q", f.Name, x.Kind, x.URL, x.Identity)
					}
				}
			}
			if of != len(f.Hops) {
				t.Errorf("%s: %d exchanges, %d hops", f.Name, of, len(f.Hops))
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("with room for %d bytes (-want +got):\n%s", room, diff)
		}
		if string(got.Body) != file || len(got.Also) != 0 || len(whole) != 2 || len(whole[0]) != 450_000 ||
			whole[1] != "half" {
			t.Errorf("the answer itself: %q; %d bodies; a host that wants an hour's pause was asked %d times more", got.Body,
				len(whole), len(got.Also))
		}
		for i := 1; i < len(times); i++ {
			if d := times[i].Sub(times[i-1]); d < IdentityPause && !strings.HasSuffix(asked[i-1], "/moved") &&
				!strings.HasSuffix(asked[i-1], "/led") {
				t.Errorf("%s %v after %s", asked[i], d, asked[i-1])
			}
		}
		if strings.Contains(strings.Join(asked, "\n"), " /shut") || !strings.Contains(strings.Join(asked, "\n"),
			"other/1 /also-shut") {
			t.Errorf("asked %q", asked)
		}
	}
}

// No plan is run for a host whose answer does not say what may be fetched.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		if status := strings.TrimSuffix(r.Host, ".example"); status != "reset" {
			fmt.Fprintf(c, "HTTP/1.1 %s x\r\nContent-Length: 0\r\n\r\n", status)
		}
	})
	ran := make(map[string]bool)
	plan := fetch.Plan{Ask: func(host *fetch.Answered, _ func(*fetch.Question) *fetch.Further) {
		ran[host.Origin.Host] = true
	}}
	client := newClient(t, addr, func(s *settings) { s.Retries, s.Further = 0, []fetch.Plan{plan} })
	for _, host := range []string{"200.example", "404.example", "429.example", "503.example", "reset.example"} {
		if got := client.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: host, Port: 80}); len(got.Further) > 0 {
			t.Errorf("%s: %+v", host, got.Further)
		}
	}
	if diff := cmp.Diff(map[string]bool{"200.example": true, "404.example": true}, ran); diff != "" {
		t.Error(diff)
	}
}
