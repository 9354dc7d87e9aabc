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
	"github.com/robocensus/robocensus/robots/answer"
)

const (
	shop   = `<!doctype html><html><head><title>Shop</title></head><body><p>All that we sell stands here, hats and gloves and shoes and scarves, and nothing else at all is to be found in the whole of this town. Token %d</p></body></html>`
	teaser = `<!doctype html><html><body><p>Dear robot, this is what we have for the likes of you: a summary.</p></body></html>`
)

var served = 0

// lively counts those of a page that has other words each time.
var lively = 0

func page(w http.ResponseWriter) {
	served++
	fmt.Fprintf(w, shop, served)
}

// sites answer for a page by the name of who asks.
var pageSites = map[string]struct {
	file string
	page func(w http.ResponseWriter, r *http.Request, who string)
	want string
}{
	"all.example": {"User-agent: *\nDisallow:\n", func(w http.ResponseWriter, r *http.Request, who string) {
		switch who {
		case "gptbot":
			w.Header().Set("Crawler-Price", "USD 0.01")
			w.WriteHeader(http.StatusPaymentRequired)
		case "ccbot":
			fmt.Fprint(w, teaser)
		case "browser":
			w.Header().Set("Server", "cloudflare")
			w.Header().Set("Cf-Mitigated", "challenge")
			w.WriteHeader(http.StatusForbidden)
		default:
			page(w)
		}
	}, "us served same | gptbot payment USD 0.01 | ccbot served_other other | browser challenge"},
	"x402.example": {"", func(w http.ResponseWriter, r *http.Request, who string) {
		switch who {
		case "gptbot":
			w.WriteHeader(http.StatusPaymentRequired)
			fmt.Fprint(w, `{"x402Version":1,"accepts":[{"maxAmountRequired":"5","asset":"A","network":"n"}]}`)
		case "ccbot":
			w.WriteHeader(http.StatusPaymentRequired)
			fmt.Fprint(w, "your account is unpaid")
		case "browser":
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		default:
			page(w)
		}
	}, "us served same | gptbot payment 5 A n | ccbot refused no_price | browser redirected_away elsewhere"},
	// The file names agents; a redirect leads where one of them may not go.
	"shut.example": {"User-agent: GPTBot\nDisallow: /\n\nUser-agent: CCBot\nDisallow: /new\n\nUser-agent: *\nDisallow:\n",
		func(w http.ResponseWriter, r *http.Request, who string) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/new", http.StatusFound)
				return
			}
			page(w)
		}, "us served same | gptbot not_asked disallowed | ccbot redirected_away disallowed | browser served same"},
	// The control may not ask, so nothing is compared.
	"own.example": {"User-agent: robocensus\nDisallow: /\n", func(w http.ResponseWriter, r *http.Request, who string) {
		page(w)
	},
		"us not_asked disallowed | gptbot served | ccbot served | browser served"},
	// It changes by itself, as much as it differs for anybody.
	"lively.example": {"", func(w http.ResponseWriter, r *http.Request, who string) {
		lively++
		fmt.Fprintf(w, shop, lively)
		for i := range 20 {
			fmt.Fprintf(w, "w%s ", strings.Repeat(string(rune('a'+lively)), 1+i))
		}
	}, "us served other | gptbot served same | ccbot served same | browser served same"},
	"ill.example": {"", func(w http.ResponseWriter, r *http.Request, who string) {
		switch who {
		case "gptbot":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "ccbot":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
		case "browser":
			w.WriteHeader(http.StatusUnavailableForLegalReasons)
		default:
			page(w)
		}
	}, "us served same | gptbot server_error | ccbot no_answer | browser refused"},
	// It wants to be left alone.
	"busy.example": {"", func(w http.ResponseWriter, r *http.Request, who string) {
		if who == "gptbot" {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		page(w)
	}, "us served | gptbot rate_limited | ccbot not_asked spared | browser not_asked spared"},
	"down.example": {"503", nil, "us not_asked unread | gptbot not_asked unread | ccbot not_asked unread | browser " +
		"not_asked unread"},
	"reset.example": {"reset", nil, ""},
}

func identities() ([]fetch.Identity, []robots.Agent) {
	return []fetch.Identity{{Name: "gptbot", UserAgent: "gptbot/1", Agent: "GPTBot"},
			{Name: "us", UserAgent: "robocensus/test", IsControl: true}, {Name: "ccbot", UserAgent: "ccbot/1", Agent: "CCBot"},
			{Name: "browser", UserAgent: "browser/1"}},
		[]robots.Agent{{Name: "GPTBot", Tokens: []string{"GPTBot"}},
			{Name: "own", Tokens: client.OwnTokens("robocensus/test")}, {Name: "CCBot", Tokens: []string{"CCBot"}}, {Name: "*"}}
}

func toldPages(x *PageFound) string {
	text := x.Answer.Identity.Name + " " + string(x.Treatment)
	if x.Same != nil {
		text += map[bool]string{true: " same", false: " other"}[*x.Same]
	}
	return strings.TrimRight(text+" "+x.Reason+x.Price.Text, " ")
}

// What each identity meets is told, with as many requests as are said beforehand, a second
// apart, and none that the file closes.
func TestPages(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked, last := make(map[string][]string), make(map[string]time.Time)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		who, _, _ := strings.Cut(r.UserAgent(), "/")
		site := pageSites[r.Host]
		if r.URL.Path == "/robots.txt" {
			switch site.file {
			case "503":
				w.WriteHeader(http.StatusServiceUnavailable)
			case "reset":
				panic(http.ErrAbortHandler)
			case "":
				http.NotFound(w, r)
			default:
				fmt.Fprint(w, site.file)
			}
			return
		}
		if gap := time.Since(last[r.Host]); gap < client.IdentityPause*95/100 && r.URL.Path == "/" {
			t.Errorf("%s was asked %v after the request before", r.Host, gap)
		}
		asked[r.Host] = append(asked[r.Host], who+" "+r.URL.Path)
		site.page(w, r, who)
		last[r.Host] = time.Now()
	}))
	defer server.Close()
	for _, all := range []bool{false, true} {
		who, agents := identities()
		w := &WantedPage{Path: "/", All: all, Identities: who, Agents: agents}
		c, err := client.New(client.Config{
			UserAgent: "robocensus/test", Timeout: 10 * time.Second, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 500 << 10,
				Challenges: marks}, Concurrency: 20, PerAddress: 20, PerDomain: 20,
			ConnectTo: netip.MustParseAddrPort(server.Listener.Addr().String()), AllowPrivate: true, Identities: who,
			Further: []fetch.Plan{w.Plan()},
		}, client.Backing{})
		if err != nil {
			t.Fatal(err)
		}
		clear(asked)
		got := make(map[string]string)
		var group sync.WaitGroup
		for host := range pageSites {
			group.Go(func() {
				capture := c.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: host, Port: 80})
				text, err := capture.MarshalBinary()
				again := new(fetch.Capture)
				if err == nil {
					err = again.UnmarshalBinary(text)
				}
				if err != nil {
					t.Error(err)
				}
				var lines []string
				for _, x := range FindPages(again.Further) {
					lines = append(lines, toldPages(&x))
				}
				mu.Lock()
				defer mu.Unlock()
				got[host] = strings.Join(lines, " | ")
			})
		}
		group.Wait()
		want := make(map[string]string)
		for host, site := range pageSites {
			want[host] = site.want
		}
		if all {
			want["shut.example"] = "us served same | gptbot served same | ccbot served same | browser served same"
			want["own.example"] = "us served same | gptbot served same | ccbot served same | browser served same"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("all %t (-want +got):\n%s", all, diff)
		}
		shut := strings.Join(asked["shut.example"], ", ")
		if !all && (strings.Contains(shut, "gptbot") || strings.Contains(shut, "ccbot /new") ||
			len(asked["own.example"]) != 3) {
			t.Errorf("asked %q, and %q", shut, asked["own.example"])
		}
		if n := len(asked["all.example"]); n != w.Requests() || asked["all.example"][0] != "robocensus /" ||
			asked["all.example"][n-1] != "robocensus /" {
			t.Errorf("all.example was asked %q, %d requests are said beforehand", asked["all.example"], w.Requests())
		}
		if len(asked["down.example"])+len(asked["reset.example"]) > 0 || len(asked["busy.example"]) != 2 {
			t.Errorf("asked %q", asked)
		}
	}
}

var marks = answer.Challenges{{Vendor: "cloudflare", Header: "cf-mitigated", Value: "challenge"}}
