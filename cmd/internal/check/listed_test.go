package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch"
)

// checked returns what check prints and its exit code.
func checked(t *testing.T, args ...string) (stdout string, code int, err error) {
	t.Helper()
	var out, notes strings.Builder
	c := Command()
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&notes)
	err = c.ExecuteContext(t.Context())
	var is cli.ExitCode
	switch {
	case errors.As(err, &is):
		return out.String(), int(is), nil
	case err != nil:
		code = cli.ExitCodeOf(err)
	}
	return out.String(), code, err
}

// site serves documents of hosts by URL, and notes what is asked for.
func site(t *testing.T, documents map[string]string) (addr string, asked func() []string) {
	var mu sync.Mutex
	var urls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url := "http://" + r.Host + r.RequestURI
		mu.Lock()
		urls = append(urls, url)
		mu.Unlock()
		if text, ok := documents[url]; strings.HasPrefix(text, "/") {
			http.Redirect(w, r, text, http.StatusFound)
		} else if ok {
			fmt.Fprint(w, text)
		} else {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(urls)
	}
}

// The sitemaps of an index are read as far as the robots.txt of the host lets us, and what
// they list is judged by the host's file or by another one.
func TestWhatASiteLists(t *testing.T) {
	t.Parallel()
	addr, asked := site(t, map[string]string{
		"http://a.example/robots.txt": "User-agent: *\nDisallow: /maps/shut\nDisallow: /shop\nUser-agent: bingbot\n" +
			"Disallow: /new\n",
		"http://a.example/maps/index": "<sitemapindex><sitemap><loc>http://a.example/maps/one</loc></" +
			"sitemap><sitemap><loc>http://a.example/maps/shut</loc></sitemap><sitemap><loc>http://a.example/maps/gone</loc></" +
			"sitemap><sitemap><loc>http://a.example/maps/moved</loc></sitemap></sitemapindex>",
		"http://a.example/maps/moved": "/maps/shut",
		"http://a.example/maps/one": "http://a.example/maps/\nhttp://a.example/shop/\x1b[31m\n" +
			"http://a.example/shop/\x1b[31m\nhttp://b.example/\n",
	})
	args := []string{"--sitemap", "http://a.example/maps/index", "--agent", "GPTBot", "--agent", "bingbot", "--agent",
		"CCBot", "--connect-to", addr, "--retries", "0"}
	text, code, err := checked(t, append([]string{"http://a.example"}, args...)...)
	want := `3 URLs listed of http://a.example; 2 judged, each once
  1 URL of other origins, not judged
  2 URLs beyond the folder of the sitemap
  4 sitemaps listed by indexes, 3 asked for
  http://a.example/maps/shut: not asked, because robots.txt shuts this census out
  http://a.example/maps/gone: answers with status 404
  http://a.example/maps/moved: redirects to a URL that robots.txt closes to this census

agent    open  closed  undefined
GPTBot      1       1          0
bingbot     2       0          0
CCBot       1       1          0

What closes listed URLs
  line 3: Disallow: /shop
      1 URL to GPTBot and CCBot, such as http://a.example/shop/\u001b[31m
`
	sorted := func(text string) []string { return slices.Sorted(strings.Lines(text)) } // sitemaps come by hash
	if diff := cmp.Diff(sorted(want), sorted(text)); diff != "" || code != 1 || err != nil {
		t.Errorf("code %d, %v (-want +got):\n%s", code, err, diff)
	}
	if slices.Contains(asked(), "http://a.example/maps/shut") || len(asked()) != 5 {
		t.Errorf("asked for %q", asked())
	}

	file := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(file, []byte("User-agent: *\nDisallow: /maps/$\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, code, err = checked(t, append([]string{file, "--json"}, args...)...)
	var got siteList
	if e := json.Unmarshal([]byte(text), &got); e != nil || code != 1 || err != nil {
		t.Fatalf("code %d, %v, %v: %s", code, err, e, text)
	}
	closing := []siteClosing{{Reason: "rule", Line: 2, Pattern: "/maps/$", Agents: []string{"GPTBot", "bingbot", "CCBot"},
		URLs: 1, Example: "http://a.example/maps/"}}
	if diff := cmp.Diff(closing, got.Closing, cmp.AllowUnexported(siteClosing{})); diff != "" || got.Listed != 3 ||
		got.Judged != 2 || got.Outside != 1 || got.Indexed != 4 || len(got.Sitemaps) != 5 {
		t.Errorf("%s (-want +got):\n%s", text, diff)
	}
}

// A sitemap that we may not ask for, or that lists nothing of the host, is an error: of
// nothing, nothing is closed.
func TestNothingListed(t *testing.T) {
	t.Parallel()
	addr, asked := site(t, map[string]string{
		"http://shut.example/robots.txt":   "User-agent: *\nDisallow: /map\n",
		"http://other.example/map":         "http://a.example/\n",
		"http://empty.example/map":         "<urlset/>",
		"http://page.example/map":          "<!DOCTYPE html><p>",
		"http://children.example/map":      "<sitemapindex><sitemap><loc>/none</loc></sitemap></sitemapindex>",
		"http://closed.example/robots.txt": "User-agent: *\nDisallow: /\n",
	})
	for host, why := range map[string]string{
		"shut":     "not asked, because robots.txt shuts this census out",
		"other":    "lists no URL of http://other.example, but 1 URL of other origins",
		"empty":    "lists no page",
		"page":     "is a web page and no sitemap",
		"children": "is an index of 1 sitemap and lists no page that could be read",
		"none":     "answers with status 404",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			url := "http://" + host + ".example/map"
			text, code, err := checked(t, "http://"+host+".example", "GPTBot", "--sitemap", url, "--connect-to", addr,
				"--retries", "0")
			if code != cli.ExitInput || err == nil || err.Error() != url+": "+why || text != "" {
				t.Errorf("code %d, %v: %s", code, err, text)
			}
			if host == "shut" && slices.Contains(asked(), url) {
				t.Errorf("asked for %q", asked())
			}
		})
	}
}

// The examples that the protocol and its readers gave rise to, from files: as many URLs as
// they say.
func TestExamplesOfSitemaps(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "sitemaps", "examples")
	index, err := os.ReadFile(filepath.Join(root, "index.jsonl"))
	if err != nil {
		t.Skip("no examples of sitemaps beside the repository")
	}
	shut := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(shut, []byte("User-agent: *\nDisallow: /\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(index)) {
		var c struct {
			Name     string
			URLs     []string
			Children []string
			Files    []struct {
				File    string
				Status  int
				Headers map[string]string
			}
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if len(c.Children) > 0 || len(c.Files) != 1 || c.Files[0].Status != 200 ||
			c.Files[0].Headers["Content-Encoding"] != "" {
			continue
		}
		different := make(map[string]bool) // those of the host
		for _, u := range c.URLs {
			if o, target, err := fetch.Parse(u, ""); err == nil && o.String() == "http://shop.example" {
				different[target] = true
			}
		}
		want := len(different)
		text, code, err := checked(t, shut, "GPTBot", "--json", "--sitemap", filepath.Join(root, c.Files[0].File))
		var got siteList
		switch {
		case want == 0:
			if code != cli.ExitInput {
				t.Errorf("%s: code %d: %s", c.Name, code, text)
			}
		case code != 1 || err != nil || json.Unmarshal([]byte(text), &got) != nil || got.Judged != want ||
			got.Agents[0].Disallowed != want || got.Closing[0].Line != 2:
			t.Errorf("%s: code %d, %v, want %d URLs: %s", c.Name, code, err, want, text)
		}
		n++
	}
	if n < 25 {
		t.Errorf("only %d examples", n)
	}
}
