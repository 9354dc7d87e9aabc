package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The figures of labels are what their SQL gives, and what labels and policies do; summary counts
// as it does without labels.
func TestReportByLabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := "host,sector,o'wner\n"
	must(t, os.Mkdir(filepath.Join(dir, "files"), 0o777))
	for i := range 120 {
		host, text := fmt.Sprintf("h%d.%s", i, []string{"de", "com", "example"}[i%3]), "User-agent: *\nDisallow: /x\n"
		if i%7 == 0 || i%4 == 1 && i%3 == 0 {
			text = "User-agent: GPTBot\nDisallow: /\n"
		}
		must(t, os.WriteFile(filepath.Join(dir, "files", host), []byte(text), 0o666))
		list += fmt.Sprintf("%s,%s,o%d\n", host, []string{"news", "shop", "gov", ""}[i%4], i%2)
	}
	must(t, os.WriteFile(filepath.Join(dir, "list.csv"), []byte(list), 0o666))
	out := filepath.Join(dir, "out")
	robocensus(t, 0, "run", "--bodies", filepath.Join(dir, "files"), "--labels", filepath.Join(dir, "list.csv"),
		"--label", "tld", "--out", out, "--run", "r", "--progress", "none")
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
			count(DISTINCT seq) AS hosts FROM labels JOIN policies USING (seq) WHERE label = '%s' GROUP BY 1 ORDER BY hosts < 10, shut_out / hosts DESC, hosts DESC, value`, strings.ReplaceAll(label, "'", "''"))} {
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
	if n := one(t, db, "SELECT sum(count) FROM summary WHERE metric = 'targets'"); n != "120" {
		t.Errorf("summary counts %s hosts", n)
	}
	if n := one(t, db, "SELECT count(*) FROM (SELECT label, sum(count) AS n FROM label_counts WHERE metric = 'targets' "+
		"GROUP BY label) JOIN (SELECT label, count(*) AS n FROM labels GROUP BY label) USING (label, n)"); n != "3" {
		t.Errorf("%s of 3 labels count the hosts that have them", n)
	}
}
