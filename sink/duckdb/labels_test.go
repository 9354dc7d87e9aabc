package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The figures of labels are what their SQL gives, and what labels and policies do; summary counts
// as it does without labels. A share is of the hosts whose policies are known, so that a group of
// which an outage hides most is not more open than another.
func TestReportByLabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := "host,sector,o'wner\n"
	texts := make(map[string]string)
	for i := range 150 {
		host, text := fmt.Sprintf("h%d.%s", i, []string{"de", "com", "example"}[i%3]), "User-agent: *\nDisallow: /x\n"
		if i%7 == 0 || i%4 == 1 && i%3 == 0 {
			text = "User-agent: GPTBot\nDisallow: /\n"
		}
		if i%4 == 2 && i%5 > 0 { // hides most of gov
			text = ""
		}
		texts[host] = text
		list += fmt.Sprintf("%s,%s,o%d\n", host, []string{"news", "shop", "gov", ""}[i%4], i%2)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if texts[r.Host] == "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, texts[r.Host])
	}))
	defer server.Close()
	list = write(t, filepath.Join(dir, "list.csv"), list)
	out := filepath.Join(dir, "out")
	robocensus(t, 0, "run", "--hosts", list, "--label", "*", "--label", "tld", "--out", out, "--run", "r", "--schemes",
		"http", "--connect-to", strings.TrimPrefix(server.URL, "http://"), "--retries", "0", "--progress", "none")
	db := folder(t, out)
	figures := report(t, out, "r")
	for i, label := range []string{"o'wner", "sector", "tld"} {
		f, ok := figures[fmt.Sprintf("label-%d", i+1)]
		if !ok {
			t.Fatalf("the page has no figure of %s", label)
		}
		for name, query := range map[string]string{"its SQL": f.sql,
			"the tables": fmt.Sprintf(
				`SELECT value, count(DISTINCT seq) FILTER (category = 'ai-training' AND class = 'disallow_all') AS shut_out,
			count(DISTINCT seq) FILTER (category = 'ai-training' AND class <> 'unknown') AS known, count(DISTINCT seq) AS hosts
			FROM labels JOIN policies USING (seq) WHERE label = '%s' GROUP BY 1 ORDER BY known < 10, shut_out / known DESC, known DESC, hosts DESC, value`, strings.ReplaceAll(label, "'", "''"))} {
			head, rows, err := ask(db, query)
			must(t, err)
			if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); diff != "" {
				t.Errorf("%s by %s (-report +%[2]s):\n%s", label, name, diff)
			}
		}
		if !strings.HasPrefix(f.title, "By "+label+", AI crawlers are shut out by ") || !strings.Contains(f.title,
			f.rows[1][0]) {
			t.Errorf("%s: %q", label, f.title)
		}
	}
	// The terminal says the same, and whose policies nobody knows.
	text, _ := robocensus(t, 0, "report", "--out", out, "r", "--by", "sector")
	for _, row := range figures["label-2"].rows[1:] {
		if want := []string{row[0], row[3], row[2], row[1]}; !slices.ContainsFunc(strings.Split(text, "\n"),
			func(line string) bool {
				fields := strings.Fields(line)
				return len(fields) > 4 && slices.Equal(fields[:4], want)
			}) {
			t.Errorf("the terminal has no row %q:\n%s", want, text)
		}
	}
	if hidden := one(t, db, "SELECT count(DISTINCT seq) FROM policies JOIN labels USING (seq) WHERE label = 'sector' AND "+
		"class = 'unknown'"); hidden == "0" || !strings.Contains(text, "The policies of "+hidden+" hosts are unknown.") {
		t.Errorf("the terminal does not say that the policies of %s hosts are unknown:\n%s", hidden, text)
	}
	if n := one(t, db, "SELECT sum(count) FROM summary WHERE metric = 'targets'"); n != "150" {
		t.Errorf("summary counts %s hosts", n)
	}
	if n := one(t, db, "SELECT count(*) FROM (SELECT label, sum(count) AS n FROM label_counts WHERE metric = 'targets' "+
		"GROUP BY label) JOIN (SELECT label, count(*) AS n FROM labels GROUP BY label) USING (label, n)"); n != "3" {
		t.Errorf("%s of 3 labels count the hosts that have them", n)
	}
}
