package main

import (
	"bufio"
	"encoding/json"
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
)

// sitemapExample is a case of the shared examples of sitemaps.
type sitemapExample struct {
	Name, Entry, Kind, Outcome, Remark string
	URLs                               []string
	Files                              []struct {
		File, URL string
		Status    int
		Headers   map[string]string
	}
}

const sitemapExamples = "../../../shared/sitemaps/examples"

func readSitemapExamples(t *testing.T) (all []sitemapExample) {
	t.Helper()
	f, err := os.Open(filepath.Join(sitemapExamples, "index.jsonl"))
	if err != nil {
		t.Skip("the shared examples are not here: ", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var x sitemapExample
		must(t, json.Unmarshal(lines.Bytes(), &x))
		all = append(all, x)
	}
	return all
}

// ServeHTTP answers as the host of the case.
func (x *sitemapExample) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := "http://" + r.Host + r.URL.RequestURI()
	if r.URL.Path == "/robots.txt" {
		fmt.Fprintf(w, "User-agent: *\nDisallow:\nSitemap: %s\n", x.Entry)
		return
	}
	for _, f := range x.Files {
		if f.URL != at {
			continue
		}
		var body []byte
		if f.File != "" {
			body, _ = os.ReadFile(filepath.Join(sitemapExamples, f.File))
		}
		for name, value := range f.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(f.Status)
		w.Write(body)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

// Each of the shared examples gives its pages, its kind and its outcome in the tables of a run
// that asks a host for it.
func TestRunsOfTheExamplesOfSitemaps(t *testing.T) {
	t.Parallel()
	all := readSitemapExamples(t)
	if len(all) < 40 {
		t.Errorf("%d examples", len(all))
	}
	if testing.Short() { // the package of the reader reads all of them
		var some []sitemapExample
		for i := 0; i < len(all); i += 6 {
			some = append(some, all[i])
		}
		all = some
	}
	dir := t.TempDir()
	agents := write(t, filepath.Join(dir, "agents.yaml"), "- {name: Googlebot, category: search}\n")
	out := filepath.Join(dir, "out")
	var atOnce sync.WaitGroup
	room := make(chan bool, 4)
	for i := range all {
		x := &all[i]
		atOnce.Go(func() {
			room <- true
			defer func() { <-room }()
			server := httptest.NewServer(x)
			defer server.Close()
			robocensus(t, 0, "run", "shop.example", "--agents", agents, "--progress", "none", "--schemes", "http",
				"--connect-to", server.Listener.Addr().String(), "--retries", "0",
				"--sitemaps", "5", "--sitemap-sample", "10000", "--keep-urls", "--out", out, "--run", "case-"+x.Name)
		})
	}
	atOnce.Wait()
	db := quick(t, out)
	for _, x := range all {
		_, rows, err := ask(db,
			fmt.Sprintf("SELECT kind, outcome, coalesce(remark, '') FROM history.sitemap_files WHERE run = "+
				"'case-%s' AND line = 3", x.Name))
		must(t, err)
		if len(rows) != 1 || rows[0][0] != x.Kind || rows[0][1] != x.Outcome {
			t.Errorf("%s: %v, want %s, %s", x.Name, rows, x.Kind, x.Outcome)
			continue
		}
		_, remarks, err := ask(db, fmt.Sprintf("SELECT unnest(string_split(remark, ' ')) FROM history.sitemap_files WHERE "+
			"run = 'case-%s' AND remark IS NOT NULL", x.Name))
		must(t, err)
		if x.Remark != "" && !slices.ContainsFunc(remarks, func(r []string) bool { return r[0] == x.Remark }) {
			t.Errorf("%s: remarks %v, want %s", x.Name, remarks, x.Remark)
		}
		var want []string // those of the host
		for _, u := range x.URLs {
			u = strings.Replace(u, "http://SHOP.EXAMPLE/", "http://shop.example/", 1) // a sample writes the host in one way
			if u, _, _ = strings.Cut(u, "#"); strings.HasPrefix(u, "http://shop.example/") && !slices.Contains(want, u) {
				want = append(want, u)
			}
		}
		slices.Sort(want)
		_, pages, err := ask(db, fmt.Sprintf("SELECT url FROM history.urls WHERE run = 'case-%s' ORDER BY url", x.Name))
		must(t, err)
		var got []string
		for _, p := range pages {
			got = append(got, p[0])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: pages (-want +got)\n%s", x.Name, diff)
		}
	}
}
