package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wantMovers checks what series --movers says against SQL over the table series that the
// same command writes.
func wantMovers(t *testing.T, out, population string, args ...string) {
	t.Helper()
	type end struct {
		Run                string
		Date               time.Time
		Count, Denominator int64
		Share              float64
	}
	var got struct {
		Stratum          string
		Compared, Broken int
		Movers           []struct {
			Metric               string
			Agent, Category, Key *string
			From, To             end
			Difference           float64
			Low, High            float64
		}
	}
	parquet := filepath.Join(t.TempDir(), "series.parquet")
	text, _ := robocensus(t, 0, append([]string{"series", "--out", out, "--movers", "--json", "--parquet", parquet},
		args...)...)
	must(t, json.Unmarshal([]byte(text), &got))

	db := everyRun(t, out)
	_, err := db.Exec(fmt.Sprintf(`CREATE TEMP TABLE figures AS
		WITH points AS (
			SELECT *, concat_ws('|', metric, coalesce(agent, '-' || category), key) AS figure,
				comparable IS NOT TRUE OR lag(share) OVER (PARTITION BY figure ORDER BY date) IS NULL AS begins
			FROM read_parquet('%s')
			WHERE population = '%s' AND stratum = '%s'
				AND (base = 'files' AND (metric = 'policy' AND key = 'disallow_all' OR metric = 'category' AND key = 'any')
					OR base = 'texts' AND metric = 'signal')
		), ends AS (
			SELECT figure, max(date) FILTER (begins) AS since, max(date) AS until FROM points GROUP BY figure
		)
		SELECT a.*, b AS late, since = until AS broken FROM ends
		JOIN points a ON a.figure = ends.figure AND a.date = since
		JOIN points b ON b.figure = ends.figure AND b.date = until
		WHERE b.run = (SELECT arg_max(run, date) FROM points) AND b.share IS NOT NULL`, parquet, population, got.Stratum))
	must(t, err)
	count := fmt.Sprintf("%d %d", got.Compared, got.Broken)
	if want := one(t, db,
		"SELECT printf('%d %d', count(*) FILTER (NOT broken), count(*) FILTER (broken)) FROM figures"); count != want ||
		got.Compared == 0 {
		t.Errorf("%v: compared and broken are %s, and in SQL %s", args, count, want)
	}
	// The quantile of 1-0.05/2n, by bisection of the distribution.
	z, above := 0.0, 40.0
	for range 200 {
		if middle := (z + above) / 2; math.Erfc(middle/math.Sqrt2) > 0.05/float64(got.Compared) {
			z = middle
		} else {
			above = middle
		}
	}
	_, want, err := ask(db, fmt.Sprintf(`WITH constants AS (SELECT %v AS z, 1.959963984540054 AS z95), shares AS (
			SELECT f.*, s.share AS p, s.denominator AS n, s.low AS low95, s.high AS high95, s.method = 'wilson' AS wilson, s.is_late
			FROM figures f, LATERAL (SELECT share, denominator, low, high, method, false AS is_late UNION ALL SELECT late.share, late.denominator, late.low, late.high, late.method, true) s
			WHERE NOT broken
		), intervals AS (
			SELECT figure, is_late, p,
				CASE WHEN low95 IS NULL THEN 0 WHEN wilson THEN (p + z*z/2/n - z*sqrt(p*(1-p)/n + z*z/4/n/n)) / (1 + z*z/n) ELSE greatest(0, p - (p - low95)*z/z95) END AS low,
				CASE WHEN low95 IS NULL THEN 1 WHEN wilson THEN (p + z*z/2/n + z*sqrt(p*(1-p)/n + z*z/4/n/n)) / (1 + z*z/n) ELSE least(1, p + (high95 - p)*z/z95) END AS high
			FROM shares, constants
		), moves AS (
			SELECT a.figure, b.p - a.p AS d, d - sqrt((b.p - b.low)**2 + (a.high - a.p)**2) AS low, d + sqrt((b.high - b.p)**2 + (a.p - a.low)**2) AS high
			FROM intervals a JOIN intervals b ON a.figure = b.figure AND b.is_late AND NOT a.is_late
		)
		SELECT printf('%%s %%s %%d/%%d %%s %%d/%%d %%.9f %%.9f %%.9f', figure, f.run, f.count, f.denominator, late.run, late.count, late.denominator, d, m.low, m.high)
		FROM moves m JOIN figures f USING (figure) WHERE m.low > 0 OR m.high < 0 ORDER BY 1`, z))
	must(t, err)
	byText := make(map[string]bool)
	for _, row := range want {
		byText[fmt.Sprint(row[0])] = true
	}
	before := math.Inf(1)
	for _, m := range got.Movers {
		if math.Abs(m.Difference) > before {
			t.Errorf("%s comes after a lesser move", m.Metric)
		}
		before = math.Abs(m.Difference)
		figure := []string{m.Metric}
		switch {
		case m.Agent != nil:
			figure = append(figure, *m.Agent)
		case m.Category != nil:
			figure = append(figure, "-"+*m.Category)
		}
		if m.Key != nil {
			figure = append(figure, *m.Key)
		}
		text := fmt.Sprintf("%s %s %d/%d %s %d/%d %.9f %.9f %.9f", strings.Join(figure, "|"), m.From.Run, m.From.Count,
			m.From.Denominator, m.To.Run, m.To.Count, m.To.Denominator, m.Difference, m.Low, m.High)
		if !byText[text] {
			t.Errorf("%v: SQL does not have the mover %s", args, text)
		}
		delete(byText, text)
	}
	for text := range byText {
		t.Errorf("%v: only SQL has the mover %s", args, text)
	}
	if len(got.Movers) == 0 {
		t.Errorf("%v: nothing moved", args)
	}
}

// wantPairs checks the hosts that series --movers --panel says began and ended to shut an
// agent out, against the policies of the hosts that all runs have, of those whose rules decide in both.
func wantPairs(t *testing.T, out string) {
	t.Helper()
	var got struct {
		Method string
		Movers []struct {
			Metric        string
			Agent         *string
			From, To      struct{ Run string }
			Gained, Lost  int64
			Hosts         int64 `json:"paired_hosts"`
			Difference, P float64
			Low, High     float64
		}
	}
	text, _ := robocensus(t, 0, "series", "--out", out, "--movers", "--panel", "--json")
	must(t, json.Unmarshal([]byte(text), &got))
	db := everyRun(t, out)
	_, err := db.Exec(
		`CREATE TEMP TABLE panel AS SELECT host FROM history.fetches GROUP BY host HAVING count(DISTINCT run) = (SELECT count(*) FROM history.runs) AND count(*) = count(DISTINCT run)`)
	must(t, err)
	checked := 0
	for _, m := range got.Movers {
		if m.Metric != "policy" {
			continue
		}
		checked++
		want := one(t, db,
			fmt.Sprintf(
				`SELECT printf('%%d %%d %%d', count(*), count(*) FILTER (b AND NOT a), count(*) FILTER (a AND NOT b)) FROM (
			SELECT host, bool_or(run = '%[1]s' AND class = 'disallow_all') AS a, bool_or(run = '%[2]s' AND class = 'disallow_all') AS b
			FROM history.policies JOIN panel USING (host) WHERE agent = '%[3]s' AND profile = 'google' AND run IN ('%[1]s', '%[2]s')
			GROUP BY host HAVING count(*) FILTER (class <> 'unknown' AND outcome = 'conditional_allow') = 2)`, m.From.Run, m.To.Run, *m.Agent))
		if found := fmt.Sprintf("%d %d %d", m.Hosts, m.Gained, m.Lost); found != want {
			t.Errorf("%s: %s, and in SQL %s", *m.Agent, found, want)
		}
	}
	if got.Method != "paired" || checked == 0 {
		t.Errorf("%d agents moved, %s", checked, got.Method)
	}
}
