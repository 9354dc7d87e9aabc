package main

import (
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The interval that a broken expectation tells of a host's sample holds the share of all pages that
// it lists, counted one by one, in 95 % of 500 hosts that list up to 4,000 pages and close any
// share of them; where all are judged, the share is exact. Pages that stand there twice count once.
func TestCoverageAgainstAllListedPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("500 hosts")
	}
	const hosts = 500
	pagesOf := func(n int) (pages []string, closed int) {
		h := fnv.New64a()
		fmt.Fprint(h, "host", n)
		seed := h.Sum64()
		total, share := int(50+seed%4000), seed/4000%101
		for i := range total {
			below := "open"
			if uint64(i)*7919%101 < share {
				below, closed = "closed", closed+1
			}
			pages = append(pages, fmt.Sprintf("http://h%d.example/%s/%d", n, below, i))
		}
		return pages, closed
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		switch pages, _ := pagesOf(n); r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /closed/\n")
		case "/sitemap.xml":
			fmt.Fprintln(w, strings.Join(pages, "\n"))
			fmt.Fprintln(w, strings.Join(pages[:len(pages)/3], "\n"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	dir, list := t.TempDir(), ""
	for i := range hosts {
		list += fmt.Sprintf("h%d.example\n", i)
	}
	list = write(t, filepath.Join(dir, "hosts.txt"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"), "- {name: GPTBot, category: ai-training}\n")
	out := filepath.Join(dir, "out")
	promises := write(t, filepath.Join(dir, "promises.yaml"), "- {name: all, coverage: {agent: GPTBot, at_least: 100%}}\n")
	robocensus(t, 1, "run", "--expect", promises, "--agents", agents, "--progress", "none", "--hosts", list, "--schemes",
		"http", "--connect-to", server.Listener.Addr().String(), "--per-address", "200", "--retries", "0", "--sitemaps", "1",
		"--out", out, "--run", "r")
	_, rows, err := ask(quick(t, out), "SELECT host, listed, sampled, allowed FROM coverage")
	must(t, err)
	if len(rows) != hosts {
		t.Fatalf("%d hosts", len(rows))
	}
	told := make(map[string][2]float64) // intervals by host, in percent
	f, err := os.Open(filepath.Join(out, "_runs", "r", "expectations.csv"))
	must(t, err)
	defer f.Close()
	breaches, err := csv.NewReader(f).ReadAll()
	must(t, err)
	for _, row := range breaches[1:] {
		var a, b, listed int
		var low, high float64
		if n, _ := fmt.Sscanf(row[5], "coverage: %d/%d, %f%% to %f%% of the %d that", &a, &b, &low, &high, &listed); n == 5 {
			told[row[1]] = [2]float64{low, high}
		}
	}
	held, sampled := 0, 0
	for _, row := range rows {
		n, _ := strconv.Atoi(strings.TrimSuffix(row[0][1:], ".example"))
		pages, closed := pagesOf(n)
		var of [3]int64
		for i := range of {
			of[i], _ = strconv.ParseInt(row[1+i], 10, 64)
		}
		if of[0] != int64(len(pages)) || of[1] != min(of[0], 200) {
			t.Errorf("%s: %d listed, %d judged; %d pages", row[0], of[0], of[1], len(pages))
		}
		truth, interval := 100*float64(len(pages)-closed)/float64(len(pages)), told[row[0]]
		if of[1] == of[0] {
			if of[2] != int64(len(pages)-closed) || interval[1] > 0 {
				t.Errorf("%s: all are judged, and %d are open: %v", row[0], len(pages)-closed, row)
			}
			continue
		}
		if of[2] == of[1] {
			continue // nothing closed was found, and nothing is told
		}
		sampled++
		if interval[0]-0.05 <= truth && truth <= interval[1]+0.05 {
			held++
		}
	}
	t.Logf("the interval holds on %d of %d hosts whose pages are a sample", held, sampled)
	if share := float64(held) / float64(sampled); sampled < 400 || share < 0.92 || share > 0.985 {
		t.Errorf("on %d of %d hosts", held, sampled)
	}
}
