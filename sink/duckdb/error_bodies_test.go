package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// errorBodies are answers by the number of the host: a status, and a body.
var errorBodies = []struct {
	status int
	body   string
}{
	{200, "User-agent: *\nDisallow: /a\n"}, {200, "<html><p>hello</p></html>"}, {404, "User-agent: *\nDisallow: /\n"},
	{404, "<html><p>none</p></html>"},
	{503, "User-agent: *\nDisallow: /b\n"}, {500, "<html><p>oh</p></html>"}, {429, "User-agent: *\nDisallow: /\n"},
	{403, "<html><p>no</p></html>"}, {404, ""},
}

// What a program reads out of an error is called so, and is neither a robots.txt nor a page
// in place of one: on the terminal, in the report, and by SQL.
func TestBodiesOfErrorsAreCalledSo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		answer := errorBodies[n%len(errorBodies)]
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(answer.status)
		fmt.Fprint(w, answer.body)
	}))
	defer server.Close()
	dir := t.TempDir()
	out, list := filepath.Join(dir, "out"), ""
	for i := range 45 {
		list += fmt.Sprintf("%d,h%d.example\n", 900+i*20, i)
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"), "- {name: GPTBot, category: ai-training}\n")
	for _, profile := range []string{"scrapy", "google"} {
		robocensus(t, 0, "run", "--hosts", list, "--agents", agents, "--out", out, "--run", profile, "--profile", profile,
			"--schemes", "http",
			"--connect-to", strings.TrimPrefix(server.URL, "http://"), "--retries", "0", "--progress", "none")
		db := quick(t, out)
		hosts := number(t, db, "count(*)")
		text, _ := robocensus(t, 0, "report", "--out", out, profile, "--text")
		for words, condition := range map[string]string{
			"  a robots.txt": "reason = 'success' AND NOT is_html",
			"  a page of HTML in place of a robots.txt":     "reason = 'success' AND is_html",
			"  an error whose body is read as a robots.txt": "reason = 'error_body' AND NOT (" + turnedAway + ")",
			"  no robots.txt (4xx)":                         "reason = 'client_error' AND NOT (" + turnedAway + ")",
			"  throttled (429, or 503 with Retry-After)":    "status = 429",
			"  refused (401, 403, 451)":                     "status = 403",
			"server error":                                  "reason = 'server_error' AND NOT (" + turnedAway + ")",
		} {
			n := number(t, db, "count(*) FILTER ("+condition+")")
			row := ""
			for line := range strings.SplitSeq(text, "\n") {
				if cells := printedRow.FindStringSubmatch(line); cells != nil && cells[1] == words {
					row = line
				}
			}
			if want := fmt.Sprint(n, " ", share(n, hosts)); n > 0 && !strings.Contains(strings.Join(strings.Fields(row), " "),
				want) || n == 0 && row != "" {
				t.Errorf("under %s %q, and the tables say %s\n%s", profile, row, want, text)
			}
		}
		read := number(t, db, "count(*) FILTER (status >= 300 AND content_digest IS NOT NULL)")
		if (read > 0) != (profile == "scrapy") {
			t.Errorf("under %s bodies of %d errors are read", profile, read)
		}
		f, tables := report(t, out, profile)["answers"], numbersOf["answers"]
		if profile == "scrapy" {
			tables = strings.Replace(tables, " AS file,",
				" AS file, count(*) FILTER (challenge IS NULL AND reason = 'error_body' AND NOT ("+turnedAway+")) AS error_body,",
				1)
			if !strings.Contains(f.title, "with an error whose body the crawler reads") {
				t.Errorf("the report says %q", f.title)
			}
		}
		for name, query := range map[string]string{"its SQL": f.sql, "the tables": tables} {
			head, rows, err := ask(db, query)
			if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); err != nil || diff != "" {
				t.Errorf("answers under %s: %v (-report +%s):\n%s", profile, err, name, diff)
			}
		}
		shown, _ := robocensus(t, 0, "show", "h4.example", "--out", out, "--run", profile)
		if got, want := strings.Contains(shown, ": an error whose body is read as a robots.txt"),
			profile == "scrapy"; got != want {
			t.Errorf("show under %s:\n%s", profile, shown)
		}
	}
}
