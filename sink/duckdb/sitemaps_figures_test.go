package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Hosts that close to each agent another share of what they list, by rules of each kind:
// each figure is what the tables say, also of a run that is not the last.
func TestFiguresOfSitemaps(t *testing.T) {
	t.Parallel()
	rules := []string{
		"User-agent: GPTBot\nDisallow: /\n", "User-agent: *\nDisallow: /a/1\n", "User-agent: Googlebot\nDisallow: /a/7$\n",
		"User-agent: bingbot\nDisallow: /a/\n",
		"User-agent: *\nDisallow: /a/2\n\nUser-agent: GPTBot\nDisallow: /a/15\n",
		"User-agent: *\nDisallow: /b?x\n\nUser-agent: bingbot\nDisallow: /nowhere/\n",
		"User-agent: Googlebot\nUser-agent: bingbot\nDisallow: /\n",
	}
	pages := "http://HOST/b?x=1\n"
	for i := range 199 {
		pages += fmt.Sprintf("http://HOST/a/%d\n", i)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		w.Header().Set("Content-Type", "text/plain")
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, rules[n%len(rules)], "Sitemap: /sitemap.xml\nSitemap: http://", r.Host, "/sitemap.txt\n")
		case r.URL.Path == "/sitemap.txt" && n%5 > 0:
			fmt.Fprint(w, strings.ReplaceAll(pages, "HOST", r.Host))
		default:
			w.WriteHeader(404)
		}
	}))
	defer server.Close()
	dir, list := t.TempDir(), "rank,host,sector\n"
	for i := range 4*len(rules) + 3 {
		list += fmt.Sprintf("%d,h%d.example,%s\n", 600+i*20, i, []string{"news", "shop", "it's"}[i%3])
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"), "- {name: GPTBot, category: ai-training}\n"+
		"- {name: Googlebot, category: search}\n- {name: bingbot, category: search}\n")
	out := filepath.Join(dir, "out")
	for _, run := range []string{"r", "s"} {
		robocensus(t, 0, "run", "--agents", agents, "--progress", "none", "--hosts", list, "--schemes", "http",
			"--connect-to", server.Listener.Addr().String(), "--retries", "0", "--sitemaps", "3", "--label", "sector",
			"--profile", "google,rfc9309", "--out", out, "--run", run)
		wantFiguresOfSitemaps(t, out, run)
		list = write(t, filepath.Join(dir, "fewer.csv"), "rank,host,sector\n1,h1.example,news\n2,h2.example,shop\n"+
			"3,h6.example,shop\n")
	}
	wantSeriesOfSitemaps(t, out)
	for _, want := range [][]string{
		{
			"show h3.example --run r --agent gptbot", "  sitemaps: 2 asked for; 200 different pages of its own listed\n" +
				"    http://h3.example/sitemap.xml: not there (status 404), named in line 3\n",
			"    GPTBot may fetch 200 of 200 listed pages\n    Googlebot may fetch 200 of 200 listed pages\n" +
				"    bingbot may fetch 1 of 200 listed pages; line 2 closes most, such as http://h3.example/a/",
		},
		{"show h5.example --run r", "    http://h5.example/sitemap.txt: not there (status 404), named in line "},
		{"report r --text", "\nPages of their own are listed by 77.4% of 31 hosts asked for sitemaps.\n" +
			"A sitemap that robots.txt names:\n  it is not there: 31 hosts\nA page is both listed and closed to Googlebot on "},
	} {
		text, _ := robocensus(t, 0, append(strings.Fields(want[0]), "--out", out)...)
		for _, part := range want[1:] {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", want[0], part, text)
			}
		}
	}
	db := quick(t, out)
	for id, f := range report(t, out, "r") {
		head, rows, err := ask(db, f.sql)
		if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); err != nil || diff != "" {
			t.Errorf("%s of an earlier run: %v (-report +SQL)\n%s", id, err, diff)
		}
	}
	for id, want := range map[string]string{
		"coverage": "Googlebot", "coverage-ranks": "1-1000 1001-10000 bingbot", "coverage-label-1": "it's news shop",
		"listed-closed": "bingbot everything bingbot folder Googlebot wildcard Googlebot query Googlebot path",
	} {
		text := fmt.Sprint(report(t, out, "r")[id].rows)
		for part := range strings.FieldsSeq(want) {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %s: %s", id, part, text)
			}
		}
	}
}

// wantSeriesOfSitemaps compares what series says of what hosts list with the tables.
func wantSeriesOfSitemaps(t *testing.T, dir string) {
	t.Helper()
	var got struct {
		Listed []struct {
			Agent, Stratum string
			Runs           []struct {
				Run    string
				Hosts  int64
				Lower  *int64 `json:"lower_quartile"`
				Median *int64
				Upper  *int64  `json:"upper_quartile"`
				WhyNot *string `json:"why_not"`
			}
		}
	}
	text, _ := robocensus(t, 0, "series", "--out", dir, "--agent", "GPTBot", "--agent", "bingbot", "--stratum",
		"all,1-1000,sector=shop", "--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for _, l := range got.Listed {
		for _, r := range l.Runs {
			if r.Hosts > 0 {
				lines = append(lines, []string{l.Agent, l.Stratum, r.Run, fmt.Sprint(r.Hosts), fmt.Sprint(*r.Lower),
					fmt.Sprint(*r.Median), fmt.Sprint(*r.Upper)})
			}
			if r.Run == "s" && (r.WhyNot == nil || !strings.Contains(*r.WhyNot, "another list of hosts")) {
				t.Errorf("%s %s: the runs have other lists", l.Agent, l.Stratum)
			}
		}
	}
	slices.SortFunc(lines, slices.Compare)
	_, want, err := ask(quick(t, dir),
		`SELECT agent, s, run, count(*), quantile_disc(p, 0.25), quantile_disc(p, 0.5), quantile_disc(p, 0.75)
		FROM (SELECT agent, run, 100 * allowed // sampled AS p, unnest(['all', CASE WHEN rank <= 1000 THEN '1-1000' END, CASE WHEN value = 'shop' THEN 'sector=shop' END]) AS s
			FROM history.coverage JOIN history.labels USING (run, seq) WHERE profile = 'google' AND agent IN ('GPTBot', 'bingbot'))
		WHERE s IS NOT NULL GROUP BY ALL ORDER BY ALL`)
	if diff := cmp.Diff(want, lines); err != nil || diff != "" || len(lines) != 12 {
		t.Errorf("series (-tables +series): %v\n%s", err, diff)
	}
	rows := filepath.Join(t.TempDir(), "series.parquet")
	robocensus(t, 0, "series", "--out", dir, "--stratum", "all,1-1000,sector=shop", "--parquet", rows)
	db := quick(t, dir)
	_, points, err := ask(db, fmt.Sprintf("SELECT agent, stratum, run, key, count, denominator, base FROM '%s' WHERE "+
		"metric = 'coverage_closed' AND count > 0 ORDER BY ALL", rows))
	must(t, err)
	_, want, err = ask(db,
		`SELECT agent, s, run, k, count(*), (SELECT count(DISTINCT seq) FROM history.coverage c JOIN history.labels l USING (run, seq) WHERE c.run = x.run AND (s = 'all' OR s = '1-1000' AND rank <= 1000 OR s = 'sector=shop' AND value = 'shop')), 'lists'
		FROM (SELECT agent, run, CASE WHEN disallowed = 0 THEN 'none' WHEN disallowed = sampled THEN 'all' WHEN disallowed / sampled < 0.01 THEN 'under_1' WHEN disallowed / sampled <= 0.5 THEN 'to_half' ELSE 'over_half' END AS k,
				unnest(['all', CASE WHEN rank <= 1000 THEN '1-1000' END, CASE WHEN value = 'shop' THEN 'sector=shop' END]) AS s
			FROM history.coverage JOIN history.labels USING (run, seq) WHERE profile = 'google') x
		WHERE s IS NOT NULL GROUP BY ALL ORDER BY ALL`)
	if diff := cmp.Diff(want, points); err != nil || diff != "" || len(points) < 12 {
		t.Errorf("rows of the series (-tables +series): %v\n%s", err, diff)
	}
}

// wantFiguresOfSitemaps compares the figures about sitemaps of the last run with their SQL
// and the tables.
func wantFiguresOfSitemaps(t *testing.T, dir, run string) {
	t.Helper()
	db, figures := quick(t, dir), report(t, dir, run)
	bands := `count(*) FILTER (disallowed = 0) AS closes_none, count(*) FILTER (disallowed > 0 AND disallowed < 0.01 * sampled) AS closes_under_1,
		count(*) FILTER (disallowed > 0 AND disallowed BETWEEN 0.01 * sampled AND 0.5 * sampled) AS closes_to_half,
		count(*) FILTER (disallowed > 0.5 * sampled AND disallowed < sampled) AS closes_over_half, count(*) FILTER (disallowed > 0 AND disallowed = sampled) AS closes_all, count(*) AS hosts`
	medians := func(group, from string) string {
		return `SELECT ` + group +
			`, agent, if(n < 6, 0, list_extract(all_of, first)) AS lower, list_extract(all_of, (n + 1) // 2) AS median, if(n < 6, 100, list_extract(all_of, n + 1 - first)) AS upper, n AS hosts
			FROM (SELECT ` + group +
			`, agent, list_sort(list(100 * allowed // sampled)) AS all_of, count(*) AS n, greatest(1, floor((n - 1.959963984540054 * sqrt(n)) / 2))::BIGINT AS first
				FROM ` + from + ` WHERE profile = 'google' GROUP BY ALL)
			ORDER BY `
	}
	for id, query := range map[string]string{
		"coverage-ranks": medians("stratum", "(SELECT *, stratum(rank) AS stratum FROM coverage)") +
			"try_cast(split_part(stratum, '-', 1) AS BIGINT), agent",
		"coverage-label-1": medians("value", "coverage JOIN labels USING (seq)") + "value, agent",
		"coverage": "SELECT agent, " + bands +
			`, quantile_disc(100 * allowed // sampled, 0.25) AS lower_quartile, quantile_disc(100 * allowed // sampled, 0.5) AS median, quantile_disc(100 * allowed // sampled, 0.75) AS upper_quartile
			FROM coverage WHERE profile = 'google' GROUP BY agent ORDER BY closes_over_half + closes_all DESC, agent`,
		"coverage-partly": "SELECT agent, " + bands + " FROM coverage WHERE profile = 'google' AND class = 'partial' GROUP " +
			"BY agent ORDER BY hosts DESC, agent",
		"listed-closed": `SELECT agent || ' ' || cause AS agent_and_rule, count(*) AS hosts FROM (SELECT agent, unnest(['any', CASE WHEN rule_pattern = '/' THEN 'everything' WHEN contains(rule_pattern, '?') THEN 'query' WHEN contains(rule_pattern, '$') THEN 'wildcard'
				WHEN rule_pattern LIKE '%/' THEN 'folder' ELSE 'path' END]) AS cause
			FROM coverage WHERE profile = 'google' AND disallowed > 0 AND agent IN ('Googlebot', 'bingbot')) GROUP BY agent, cause ORDER BY agent, hosts DESC, agent_and_rule`,
		"sitemap-hosts": `SELECT lists, count(*) AS hosts FROM (SELECT CASE WHEN bool_or(urls_read > 0) THEN 'lists' WHEN bool_or(urls > 0) THEN 'others' WHEN bool_or(kind <> 'none') THEN 'nothing' WHEN bool_or(outcome = 'disallowed') THEN 'closed'
			WHEN bool_or(outcome IN ('unavailable', 'refused', 'elsewhere')) THEN 'no_answer' WHEN bool_or(outcome = 'uncaptured') THEN 'uncaptured' WHEN bool_or(outcome = 'spared') THEN CASE WHEN bool_or(fetch_time IS NOT NULL OR outcome NOT IN ('disallowed', 'spared')) THEN 'no_answer' ELSE 'spared' END ELSE 'none' END AS lists
			FROM sitemap_files GROUP BY seq) WHERE lists <> 'spared' GROUP BY ALL ORDER BY hosts DESC, lists`,
		"sitemap-files": "SELECT kind || ' ' || outcome AS sitemap, count(*) AS sitemaps FROM sitemap_files GROUP BY ALL " +
			"ORDER BY sitemaps DESC, sitemap",
		"sitemap-faults": `SELECT fault, count(DISTINCT seq) AS hosts FROM (SELECT seq, CASE WHEN outcome = 'disallowed' AND fetch_time IS NULL AND starts_with(url, origin || '/') THEN 'closed' WHEN outcome IN ('absent', 'unavailable') OR outcome IN ('ok', 'damaged') AND kind = 'none' THEN 'dead'
			WHEN outcome IN ('ok', 'damaged') AND urls = 0 AND sitemaps = 0 THEN 'empty' WHEN urls > 0 AND outside = urls AND sitemaps = 0 THEN 'outside' END AS fault
			FROM sitemap_files WHERE line IS NOT NULL) WHERE fault IS NOT NULL GROUP BY ALL ORDER BY hosts DESC, fault`,
	} {
		if figures[id].sql == "" && (id == "coverage-ranks" || id == "coverage-label-1") {
			continue // the hosts are of one band, or have no label
		}
		if id == "listed-closed" && figures[id].sql == "" && one(t, db, "SELECT count(*) FROM ("+query+")") == "0" {
			continue // of half an archive, drawn by lot, perhaps nothing that is listed is closed
		}
		for name, query := range map[string]string{"its SQL": figures[id].sql, "the tables": query} {
			head, rows, err := ask(db, query)
			if diff := cmp.Diff(figures[id].rows, append([][]string{head}, rows...)); err != nil || diff != "" {
				t.Errorf("%s: -report +%s: %v\n%s", id, name, err, diff)
			}
		}
	}
}
