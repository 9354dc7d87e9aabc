package documents

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/robots"
)

var list = List{
	{"page", "/", KindPage, WithinDomain, false},
	{"tdmrep", "/.well-known/tdmrep.json", "tdmrep", Anywhere, false},
	{"rsl", "", "rsl", Anywhere, false},
	{"license.xml", "/license.xml", "rsl", WithinDomain, false},
	{"llms.txt", "/llms.txt", "llms.txt", WithinDomain, false},
	{"llms-full.txt", "/llms-full.txt", "llms-full.txt", WithinDomain, true},
	{"signatures", "/.well-known/http-message-signatures-directory", "signatures-directory", Nowhere, false},
}

const (
	reserved = `[{"location":"/","tdm-reservation":1}]`
	license  = `<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><prohibits type="usage">ai-train</prohibits></license></content></rsl>`
	shell    = `<!doctype html><html><head><title>Shop</title></head><body>All that we sell stands here, %s, and nothing else at all is to be found</body></html>`
)

// sites are hosts, each of which behaves in a way.
var sites = map[string]http.HandlerFunc{
	// Everything is there.
	"all.example": func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow:\nLicense: http://all.example/licences/mine.xml\nLicense: relative.xml\n"+
				"License: http://guests.example/shared.xml\nLicense: http://guests.example/shut.xml\n"+
				"License: http://third.example/")
		case "/":
			w.Header().Set("Link", `</linked.xml>; rel="license"; type="application/rsl+xml"`)
			w.Header().Set("Content-Signal", "ai-train=no")
			fmt.Fprint(w,
				`<!doctype html><meta name=robots content=noai><link rel=license type="application/rsl+xml" href=in-page.xml>`)
		case "/.well-known/tdmrep.json":
			http.Redirect(w, r, "http://guests.example/tdm.json", http.StatusFound)
		case "/licences/mine.xml", "/license.xml", "/linked.xml", "/in-page.xml":
			fmt.Fprint(w, license)
		case "/llms.txt":
			fmt.Fprint(w, "# All\n")
		case "/llms-full.txt":
			if r.Method != http.MethodHead {
				http.Error(w, "too long", http.StatusInternalServerError)
			}
			w.Header().Set("Content-Length", "5000000")
		case "/.well-known/http-message-signatures-directory":
			http.Redirect(w, r, "/keys", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	},
	// It names licences on other origins of its registered domain, of which each has a robots.txt
	// of its own, and leads to them.
	"family.example": func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /licence\nLicense: http://open.family.example/licence.xml\n"+
				"License: http://closed.family.example/licence.xml\n")
		case "/license.xml":
			http.Redirect(w, r, "http://open.family.example/licence.xml", http.StatusFound)
		case "/llms.txt":
			http.Redirect(w, r, "http://closed.family.example/llms.txt", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	},
	// It names more licences than it is asked for, and more than have a row.
	"many.example": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		for i := range 70 {
			at := "many.example/mine.xml"
			if i%2 == 1 {
				at = "guests.example/shut.xml"
			}
			fmt.Fprintf(w, "License: http://%s?%d\n", at, i)
		}
	},
	"open.family.example": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, license)
	},
	"closed.family.example": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
	},
	"guests.example": func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /shut.xml\n")
		case "/shared.xml", "/shut.xml", "/moved.xml":
			fmt.Fprint(w, license)
		case "/tdm.json":
			fmt.Fprint(w, reserved)
		}
	},
	// It gives its home page for everything, but for one document that is there.
	"soft.example": func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow:\n")
		case "/.well-known/tdmrep.json":
			fmt.Fprint(w, reserved)
		default:
			fmt.Fprintf(w, shell, r.URL.Path)
		}
	},
	// Nothing is as it should be.
	"odd.example": func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: robocensus\nDisallow: /llms.txt\nDisallow: /shut\n"+
				"License: http://guests.example/shut.xml\n")
		case "/":
			w.Header().Set("Crawler-Price", "USD 2")
			w.WriteHeader(http.StatusForbidden)
		case "/.well-known/tdmrep.json":
			fmt.Fprint(w, `{"location":"/","tdm-reservation":1}`)
		case "/license.xml":
			http.Redirect(w, r, "/shut/license.xml", http.StatusMovedPermanently)
		case "/llms-full.txt":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		case "/.well-known/http-message-signatures-directory":
			w.Header().Set("Crawler-Price", "USD 0.01")
			w.WriteHeader(http.StatusPaymentRequired)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	},
	// A licence that nobody names, which is nowhere cut short.
	"guessed.example": func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/license.xml":
			fmt.Fprint(w, license)
		case "/llms.txt":
			fmt.Fprint(w, "# Long\n"+strings.Repeat("word ", 200_000))
		case "/llms-full.txt":
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
			} else {
				fmt.Fprint(w, "all of it")
			}
		default:
			http.NotFound(w, r)
		}
	},
	// It says the same to whatever is asked, and that is a document.
	"same.example": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "# Same\n\nYou have asked, and this is what you get.\n")
	},
	// It names its licences more than once, each in some way.
	"named.example": naming(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://guests.example/moved.xml", http.StatusFound)
	}, "named.example/license.xml", "named.example:80/license.xml", "named.example/llms.txt",
		"named.example/llms-full.txt", "named.example/"),
	// Redirects lead to more sites than are asked, to one again, and to what is shut.
	"led.example": naming(led, "led.example/1", "guests.example/shared.xml", "led.example/1?again", "led.example/closed",
		"led.example/2", "guests.example/shut.xml", "led.example/closed?again"),
	// It wants to be left alone in the midst, for a licence, by HEAD, and from the beginning.
	"tired.example": naming(tired("/llms.txt", http.StatusTooManyRequests), "tired.example/a",
		"guests.example/shared.xml", "tired.example/license.xml"),
	"sated.example": naming(tired("/b", http.StatusServiceUnavailable), "sated.example/a", "sated.example/b",
		"sated.example/c", "sated.example/license.xml"),
	"headed.example": naming(tired("/llms-full.txt", http.StatusMethodNotAllowed), "headed.example/a"),
	"never.example":  tired("/robots.txt", http.StatusNotFound),
	"away.example": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	},
}

// naming serves a robots.txt that names licences, and else what another handler does.
func naming(besides http.HandlerFunc, licences ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			besides(w, r)
			return
		}
		for _, l := range licences {
			fmt.Fprintf(w, "License: http://%s\n", l)
		}
	}
}

// led leads on to another site.
func led(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/1":
		http.Redirect(w, r, "http://guests.example/shared.xml", http.StatusFound)
	case "/2":
		http.Redirect(w, r, "http://third.example/2", http.StatusFound)
	case "/closed":
		http.Redirect(w, r, "http://guests.example/shut.xml", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

// tired wants to be left alone once it is asked for a path.
func tired(path string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(status)
			return
		}
		http.NotFound(w, r)
	}
}

func told(x *Found) string {
	statements := 0
	if x.Read != nil {
		statements = len(x.Read.Statements)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %d %d %s", x.Name, x.Outcome, x.Answer.Status(), statements,
		strings.Join(x.Remarks, ",")))
}

// spared has a row for each document that a host is not asked for any more.
func spared(names string) string {
	return strings.ReplaceAll(names, " ", " not_asked 0 0 spared\n") + " not_asked 0 0 spared"
}

// What hosts have is found out, with as many requests as are said beforehand, and none that
// a robots.txt disallows.
func TestDocuments(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := make(map[string][]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Host] = append(asked[r.Host], r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/plain")
		if site := sites[r.Host]; site != nil {
			site(w, r)
		}
	}))
	defer server.Close()
	c, err := client.New(client.Config{
		UserAgent: "test/1", Timeout: 10 * time.Second, Limits: fetch.Limits{MaxBody: 500 << 10, MaxRedirects: 5},
		Concurrency: 20, PerAddress: 20, PerDomain: 20,
		ConnectTo: netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://")), Further: []fetch.Plan{list.Plan()},
	}, client.Backing{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"all.example": `page present 200 0
tdmrep present 200 1 no_control
license.xml present 200 1 type,not_associated
llms.txt present 200 0
llms-full.txt present 200 0
signatures absent 302 0 redirect
rsl present 200 1 type
rsl present 200 1 type,no_control
rsl present 200 1 type
rsl present 200 1 type
rsl not_asked 0 0 beyond
rsl not_asked 0 0 beyond`,
		"family.example": `page absent 404 0
tdmrep absent 404 0
license.xml present 200 1 type,not_associated
llms.txt absent 302 0 disallowed
llms-full.txt absent 404 0
signatures absent 404 0
rsl present 200 1 type,no_control
rsl not_asked 0 0 disallowed`,
		"many.example": `page absent 404 0
tdmrep absent 404 0
license.xml absent 404 0
llms.txt absent 404 0
llms-full.txt absent 404 0
signatures absent 404 0
` + strings.Repeat("rsl absent 404 0\nrsl not_asked 0 0 disallowed\n", 2) + strings.Repeat("rsl absent 404 0\n", 2) +
			strings.Repeat("rsl not_asked 0 0 beyond\n", 57) + "rsl not_asked 0 0 beyond,more",
		"soft.example": `page present 200 0
tdmrep present 200 1
license.xml soft_404 200 0
llms.txt soft_404 200 0
llms-full.txt soft_404 200 0
signatures soft_404 200 0`,
		"odd.example": `page refused 403 0 price
tdmrep invalid 200 0 no_array
license.xml absent 301 0 disallowed
llms.txt not_asked 0 0 disallowed
llms-full.txt invalid 200 0 page,type
signatures refused 402 0 price
rsl not_asked 0 0 disallowed`,
		"guessed.example": `page absent 404 0
tdmrep absent 404 0
license.xml present 200 1 type,not_associated
llms.txt present 200 0 truncated
llms-full.txt present 200 0
signatures absent 404 0`,
		"same.example": `page present 200 0
tdmrep soft_404 200 0
license.xml soft_404 200 0
llms.txt soft_404 200 0
llms-full.txt soft_404 200 0
signatures soft_404 200 0`,
		"away.example": "page unreachable 503 0\n" + spared("tdmrep license.xml llms.txt llms-full.txt signatures"),
		"named.example": `page absent 302 0 elsewhere
tdmrep invalid 200 0 not_json,no_control
license.xml absent 302 0 elsewhere
llms.txt absent 302 0 elsewhere
llms-full.txt absent 302 0 elsewhere
signatures absent 302 0 redirect
` + strings.Repeat("rsl present 200 1 type,no_control\n", 3) + "rsl present 200 1 type,no_control",
		"led.example": `page absent 404 0
tdmrep absent 404 0
license.xml absent 404 0
llms.txt absent 404 0
llms-full.txt absent 404 0
signatures absent 404 0
` + strings.Repeat("rsl present 200 1 type,no_control\n", 3) + `rsl absent 302 0 elsewhere,disallowed
rsl not_asked 302 0 elsewhere,beyond
rsl not_asked 0 0 disallowed
rsl not_asked 0 0 beyond`,
		"tired.example": `page absent 404 0
tdmrep absent 404 0
license.xml absent 404 0
llms.txt refused 429 0
` + spared("llms-full.txt signatures rsl rsl") + "\nrsl absent 404 0",
		"sated.example": `page absent 404 0
tdmrep absent 404 0
license.xml absent 404 0
llms.txt absent 404 0
llms-full.txt absent 404 0
signatures absent 404 0
rsl absent 404 0
rsl unreachable 503 0
rsl not_asked 0 0 spared
rsl absent 404 0`,
		"headed.example": `page absent 404 0
tdmrep absent 404 0
license.xml absent 404 0
llms.txt absent 404 0
llms-full.txt not_asked 405 0 spared
` + spared("signatures rsl"),
		"never.example": spared("page tdmrep license.xml llms.txt llms-full.txt signatures"),
	}
	var group sync.WaitGroup
	for host, want := range want {
		group.Go(func() {
			o, _, err := fetch.Parse("http://"+host, "")
			if err != nil {
				t.Error(err)
				return
			}
			capture := c.Fetch(t.Context(), o)
			var file robots.File
			file.Parse(capture.Body, readingProfile)
			var got []string
			for _, x := range list.Find(capture.Origin, &file, capture.Further) {
				got = append(got, told(&x))
			}
			if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", host, diff)
			}
			n := 0
			for _, f := range capture.Further {
				if len(f.Hops) > 0 {
					n++
				}
			}
			if host == "soft.example" && n != list.Requests() {
				t.Errorf("%s: %d requests, said %d", host, n, list.Requests())
			} else if n > list.most() {
				t.Errorf("%s: %d requests, at most %d", host, n, list.most())
			}
		})
	}
	group.Wait()
	mu.Lock()
	defer mu.Unlock()
	for host, paths := range asked {
		for _, path := range paths {
			if strings.HasPrefix(path, "/shut") || host == "odd.example" && path == "/llms.txt" ||
				host == "closed.family.example" && path != "/robots.txt" {
				t.Errorf("%s was asked for %s, which it disallows", host, path)
			}
			if strings.HasSuffix(host, ".family.example") && paths[0] != "/robots.txt" {
				t.Errorf("%s was asked for %s before its robots.txt", host, paths[0])
			}
			if host == "third.example" {
				t.Errorf("a third site was asked for %s", path)
			}
		}
	}
}
