package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Whatever redirects hosts give, for robots.txt and all else, and to whatever origins, the requests for
// each are no more than a dry run says, and more than it says of them without redirects.
func TestADryRunPromisesTheMost(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := make(map[string]int) // by the digit of the host for whose sake it is
	digit := regexp.MustCompile(`\d`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		way := digit.FindString(host)
		mu.Lock()
		asked[way]++
		mu.Unlock()
		labels := strings.Split(host, ".")
		// One origin leads to the next, a.h1.example to b.h1.example.
		on := func(domain string) {
			next := "a"
			if len(labels) == 3 {
				next = string(labels[0][0] + 1)
			}
			http.Redirect(w, r, "http://"+next+"."+domain+r.URL.RequestURI(), http.StatusFound)
		}
		isOwn := len(labels) == 2 && strings.HasPrefix(host, "h")
		switch {
		case r.URL.Path == "/robots.txt" && isOwn:
			for i := range 8 {
				fmt.Fprintf(w, "License: http://l%c.h%s.example/licence\nSitemap: http://s%c.h%s.example/sitemap.xml\n", 'a'+i,
					way, 'a'+i, way)
			}
		case r.URL.Path == "/robots.txt" && way == "1", way == "4":
			http.NotFound(w, r)
		case r.URL.Path == "/robots.txt" && !strings.HasPrefix(r.URL.RawQuery, "c"):
			http.Redirect(w, r, "/robots.txt?"+"c"[:len(r.URL.RawQuery)/2]+r.URL.RawQuery+"x", http.StatusFound)
		case r.Method == http.MethodHead && way == "3":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case way == "2":
			on("elsewhere2.example")
		default:
			on("h" + way + ".example")
		}
	}))
	defer server.Close()
	folder := t.TempDir()
	hosts := filepath.Join(folder, "hosts.txt")
	if err := os.WriteFile(hosts, []byte("h1.example\nh2.example\nh3.example\nh4.example\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) string {
		var stdout, stderr strings.Builder
		if code := mainCode(append([]string{"run", "--hosts", hosts, "--out", filepath.Join(folder, "out"), "--run", "r",
			"--schemes", "http", "--retries", "0", "--progress", "none", "--max-redirects", "3",
			"--connect-to", strings.TrimPrefix(server.URL, "http://"), "--front-page", "--sitemaps", "2",
			"--documents=rsl,llms-full.txt"}, more...), nil, &stdout, &stderr); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		return stdout.String()
	}
	said := regexp.MustCompile(`(?m)^at most +([\d,]+) requests for a host, ([\d,]+) in all: `).FindStringSubmatch(
		run("--dry-run"))
	if said == nil {
		t.Fatal("it does not say how many at most")
	}
	var most [2]int
	for i := range most {
		most[i], _ = strconv.Atoi(strings.ReplaceAll(said[1+i], ",", ""))
	}
	if len(asked) > 0 {
		t.Errorf("a dry run asks: %v", asked)
	}
	run()
	all := 0
	for way, n := range asked {
		if all += n; n > most[0] {
			t.Errorf("way %s: %d requests, at most %d", way, n, most[0])
		}
		t.Logf("way %s: %d of %d requests", way, n, most[0])
	}
	// robots.txt, the front page, sitemaps, a document by HEAD with a control, licences
	const plain = 1 + 1 + 2*2 + (1 + 1 + 1) + 2*6
	if all > most[1] || asked["1"] <= plain || asked["3"] <= plain || most[1] != 4*most[0] {
		t.Errorf("%v, at most %d in all", asked, most[1])
	}
}
