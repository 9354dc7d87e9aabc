package main

import (
	"database/sql"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	figurePattern = regexp.MustCompile(`(?s)<figure id="([^"]*)".*?</figure>`)
	numbers       = regexp.MustCompile(`(?s)<table class="numbers">(.*?)</table>`)
	cellPattern   = regexp.MustCompile(`(?s)<t[hd]>(?:<bdi>)?(.*?)(?:</bdi>)?</t[hd]>`)
	sqlPattern    = regexp.MustCompile(`(?s)<pre class="sql">(.*?)</pre>`)
	bigNumber     = regexp.MustCompile(`^\d{1,3}(,\d{3})+$`)
)

// The SQL below each figure of the report gives the numbers above it.
func TestReportSQL(t *testing.T) {
	db := database(t)
	compare(t, db, "outcomes reasons agents classes categories sizes lines features delays sitemaps fields signals lint bodies times errors tld server", "first")
}

// Rows of the columns that diff writes, and as many again that the report does
// not ask for.
func TestReportSQLOfChanges(t *testing.T) {
	db := database(t)
	folder := filepath.Join(out, "changes", "run=first", "against=20261120T101500Z")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Join(out, "changes", "run=first"))
	for _, query := range []string{
		`COPY (SELECT 'h' || i || '.example' AS host, 'http://h' AS origin, kind, severity, CASE WHEN kind = 'policy_class' THEN 'agent ' || i % 4 END AS agent,
			NULL::VARCHAR AS category, CASE WHEN kind = 'policy_class' THEN ['google', 'google-2012'][1 + i // 16 % 2] END AS profile, NULL::VARCHAR AS url,
			CASE WHEN kind = 'policy_class' THEN classes[1 + i % 3] END AS before, CASE WHEN kind = 'policy_class' THEN classes[1 + i // 3 % 3] END AS after,
			NULL::INTEGER AS line_before, 7::INTEGER AS line_after
			FROM (SELECT i, ['policy_class', 'policy_class', 'text', 'sitemap'][1 + i % 4] AS kind, ['critical', 'major', 'minor', 'cosmetic'][1 + i // 2 % 4] AS severity,
				['disallow_all', 'partial', 'allow_all'] AS classes FROM range(5000) t(i)))
			TO '` + folder + `/part-000000.parquet' (FORMAT parquet)`,
		"CREATE OR REPLACE VIEW changes AS SELECT * FROM read_parquet('changes/*/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'against': VARCHAR})",
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, db, "changes change-agents outcomes", "first", "--against", "20261120T101500Z")
}

// compare makes a report, and holds its tables against what their SQL gives.
func compare(t *testing.T, db *sql.DB, figures string, args ...string) {
	t.Helper()
	binary := filepath.Join(bin, "robocensus")
	page, err := exec.Command(binary, append([]string{"report", "--out", out}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, figure := range figurePattern.FindAllStringSubmatch(string(page), -1) {
		id := figure[1]
		ids = append(ids, id)
		table, code := numbers.FindStringSubmatch(figure[0]), sqlPattern.FindStringSubmatch(figure[0])
		if table == nil || code == nil {
			t.Errorf("%s has no table or no SQL", id)
			continue
		}
		var want [][]string
		for row := range strings.SplitSeq(strings.TrimSpace(table[1]), "</tr>") {
			var cells []string
			for _, cell := range cellPattern.FindAllStringSubmatch(row, -1) {
				text := html.UnescapeString(cell[1])
				if bigNumber.MatchString(text) {
					text = strings.ReplaceAll(text, ",", "")
				}
				cells = append(cells, text)
			}
			if cells != nil {
				want = append(want, cells)
			}
		}
		head, rows, err := ask(db, html.UnescapeString(code[1]))
		if err != nil {
			t.Errorf("%s: %v\n%s", id, err, html.UnescapeString(code[1]))
			continue
		}
		if diff := cmp.Diff(want, append([][]string{head}, rows...)); diff != "" {
			t.Errorf("%s (-report +DuckDB):\n%s", id, diff)
		}
	}
	for _, id := range strings.Fields(figures) {
		if !slices.Contains(ids, id) {
			t.Errorf("the report has no figure %s", id)
		}
	}
}
