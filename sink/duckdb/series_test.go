package main

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// history is a census of made-up crawls whose figures are known beforehand.
type history struct {
	crawls [4]map[string]answerOf // by host
	ranks  map[string]int
}

// answerOf is what a host answers: the name of a template, or "outage".
type answerOf string

var templates = map[answerOf]string{
	"open":   "User-agent: *\nDisallow:\n",
	"closed": "User-agent: *\nDisallow: /\n",
	"gptbot": "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\nContent-Signal: ai-train=no\n",
	"other":  "User-agent: GPT2\nUser-agent: NewBot\nDisallow: /\n\nSitemap: https://x.test/s.xml\n",
}

// closesTo says which templates shut out an agent in a crawl. In the last crawl
// GPTBot's token is GPT2.
func closesTo(a answerOf, agent string, crawl int) bool {
	switch a {
	case "closed":
		return true
	case "gptbot":
		return agent == "GPTBot" && crawl < 3
	case "other":
		return agent == "NewBot" || agent == "GPTBot" && crawl == 3
	}
	return false
}

// newHistory makes four crawls: every domain of a number divisible by 5 has up to 6
// hosts, a platform closes between the first and the second, hosts come and go, and
// a tenth fails in the third.
func newHistory() *history {
	h := &history{ranks: make(map[string]int)}
	for c := range h.crawls {
		h.crawls[c] = make(map[string]answerOf)
	}
	for d := range 230 {
		hosts := 1
		if d%5 == 0 {
			hosts = 2 + d%6
		}
		for i := range hosts {
			host := fmt.Sprintf("h%d.domain%d.com", i, d)
			if d%3 != 0 {
				h.ranks[host] = 1 + d*11
			}
			for c := range h.crawls {
				a := answerOf("open")
				switch {
				case c == 2 && (d+i)%10 == 0:
					a = "outage"
				case d%7 < c:
					a = "gptbot"
				case d%5 == 0 && d < 60 && c >= 1:
					a = "closed"
				case d%11 == 3:
					a = "other"
				}
				if d%13 == 0 && c < 1 || d%17 == 0 && c > 1 || d%19 == 0 && c == 2 {
					continue // not crawled
				}
				h.crawls[c][host] = a
			}
		}
	}
	return h
}

// run makes the census of each crawl.
func (h *history) run(t *testing.T, dir, out string) {
	var ranks strings.Builder
	for host, rank := range h.ranks {
		fmt.Fprintf(&ranks, "%d,%s\n", rank, host)
	}
	must(t, os.WriteFile(filepath.Join(dir, "ranks.csv"), []byte(ranks.String()), 0o666))
	for c, crawl := range h.crawls {
		var archive strings.Builder
		for host, a := range crawl {
			body, status := templates[a], "200 OK"
			if a == "outage" {
				status = "503 Service Unavailable"
			}
			http := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", status, len(body),
				body)
			fmt.Fprintf(&archive, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%s>\r\n"+
				"WARC-Target-URI: https://%s/robots.txt\r\nWARC-Date: 202%d-03-0%dT10:00:00Z\r\nContent-Type: application/http; "+
				"msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
				host, host, c, 1+len(host)%3, len(http), http)
		}
		warc := filepath.Join(dir, fmt.Sprintf("crawl-%d.warc", c))
		must(t, os.WriteFile(warc, []byte(archive.String()), 0o666))
		agents := "- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"
		if c >= 2 {
			agents += "- {name: NewBot, category: ai-training}\n"
		}
		if c == 3 {
			agents = strings.Replace(agents, "{name: GPTBot,", "{name: GPTBot, tokens: [GPT2],", 1)
		}
		file := filepath.Join(dir, fmt.Sprintf("agents-%d.yaml", c))
		must(t, os.WriteFile(file, []byte(agents), 0o666))
		robocensus(t, 0, "run", "--warc", warc, "--ranks", filepath.Join(dir, "ranks.csv"), "--agents", file, "--out", out,
			"--run", fmt.Sprintf("crawl-%d", c), "--progress", "none")
	}
}

// seriesOutput is the output of series --json.
type seriesOutput struct {
	Runs []struct {
		Run, Source  string
		Date         time.Time
		Hosts, Files int64
	}
	Marks    []struct{ Run, Kind, Of string }
	Warnings []string
	Panel    struct {
		Hosts        int64
		BytesPerHost int `json:"bytes_per_host"`
	}
	Points []point
}

type point struct {
	Metric, Population, Stratum, Agent, Category, Key, Run, Base, Method, Caution string
	Count, Denominator, Clusters                                                  int64
	Share, Low, High                                                              float64
	DesignEffect                                                                  float64 `json:"design_effect"`
	Comparable                                                                    *bool
	WhyNot                                                                        string `json:"why_not"`
}

// The series of a known history, to the last digit.
func TestSeriesOfAKnownHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	h := newHistory()
	h.run(t, dir, out)
	robocensus(t, 0, "diff", "--out", out, "crawl-0", "crawl-1")
	parquet := filepath.Join(dir, "series.parquet")
	text, _ := robocensus(t, 0, "series", "--out", out, "--panel", "--clustered", "--json", "--parquet", parquet)
	var s seriesOutput
	must(t, json.Unmarshal([]byte(text), &s))
	wantCautionOfDomains(t, out, s.Warnings)
	wantMovers(t, out, "all")
	wantMovers(t, out, "panel", "--panel", "--clustered")
	wantPairs(t, out)

	// The hosts of all crawls.
	panel := make(map[string]bool)
	for host := range h.crawls[0] {
		_, b := h.crawls[1][host]
		_, c := h.crawls[2][host]
		_, d := h.crawls[3][host]
		panel[host] = b && c && d
	}
	var inPanel int64
	for _, in := range panel {
		if in {
			inPanel++
		}
	}
	if s.Panel.Hosts != inPanel || inPanel == 0 || s.Panel.BytesPerHost == 0 {
		t.Errorf("the panel is %+v, and %d hosts are in all crawls", s.Panel, inPanel)
	}
	seen := 0
	for _, p := range s.Points {
		var c int
		fmt.Sscanf(p.Run, "crawl-%d", &c)
		chosen := func(host string) bool {
			return (p.Population == "all" || panel[host] == (p.Population == "panel")) &&
				(p.Stratum == "all" || (h.ranks[host] == 0) == (p.Stratum == "unranked") &&
					(h.ranks[host] > 1000) == (p.Stratum == "1001-10000"))
		}
		var count, of int64
		byDomain := make(map[string][2]float64) // hosts of the base, and those counted
		for host, a := range h.crawls[c] {
			if !chosen(host) {
				continue
			}
			_, domain, _ := strings.Cut(host, ".")
			n := byDomain[domain]
			if a != "outage" || p.Base == "hosts" {
				of++
				n[0]++
			}
			if p.Metric == "policy" && p.Key == "disallow_all" && closesTo(a, p.Agent, c) {
				count++
				n[1]++
			}
			byDomain[domain] = n
		}
		switch {
		case p.Metric == "policy" && p.Key == "disallow_all":
			seen++
			if p.Count != count || p.Denominator != of {
				t.Errorf("%s %s %s %s of %s: %d of %d, want %d of %d", p.Run, p.Population, p.Stratum, p.Agent, p.Base, p.Count,
					p.Denominator, count, of)
			}
			if p.Method != "clustered" || int(p.Clusters) != len(byDomain) {
				t.Errorf("%s %s: %s over %d domains, want %d", p.Run, p.Stratum, p.Method, p.Clusters, len(byDomain))
			}
			if effect := designEffect(byDomain); math.Abs(effect-p.DesignEffect) > 1e-9*max(1, effect) {
				t.Errorf("%s %s %s %s of %s: design effect %v, want %v", p.Run, p.Population, p.Stratum, p.Agent, p.Base,
					p.DesignEffect, effect)
			}
			why := map[string]string{"GPTBot 3": "tokens: ", "NewBot 2": "has no NewBot"}[fmt.Sprint(p.Agent, " ", c)]
			if c > 0 && (*p.Comparable != (why == "") || !strings.Contains(p.WhyNot, why)) || c == 0 && p.Comparable != nil {
				t.Errorf("%s %s: comparable %v, because %q", p.Run, p.Agent, p.Comparable, p.WhyNot)
			}
			if p.Agent == "NewBot" && c < 2 {
				t.Errorf("%s has a figure for an agent that it does not know", p.Run)
			}
		case p.Metric == "entered" || p.Metric == "left":
			seen++
			from, to := h.crawls[c-1], h.crawls[c]
			if p.Metric == "left" {
				from, to = to, from
			}
			n := 0
			for host := range to {
				if _, ok := from[host]; !ok {
					n++
				}
			}
			if int(p.Count) != n || int(p.Denominator) != len(to) {
				t.Errorf("%s: %d hosts %s, of %d, want %d of %d", p.Run, p.Count, p.Metric, p.Denominator, n, len(to))
			}
		case p.Metric == "change" && p.Agent == "GPTBot" && p.Key == "closed":
			seen++
			n, both := 0, 0
			for host, a := range h.crawls[1] {
				if before, ok := h.crawls[0][host]; ok {
					both++
					if closesTo(a, "GPTBot", 1) && !closesTo(before, "GPTBot", 0) {
						n++
					}
				}
			}
			if int(p.Count) != n || int(p.Denominator) != both || n == 0 {
				t.Errorf("%s: %d of %d closed, want %d of %d", p.Run, p.Count, p.Denominator, n, both)
			}
		case p.Metric == "category" && p.Category == "ai-training" && c > 0:
			if want := c == 1; *p.Comparable != want {
				t.Errorf("%s: the category is comparable: %v, %s", p.Run, *p.Comparable, p.WhyNot)
			}
		}
	}
	if want := (4+4+2)*2*3*4 + 6 + 1; seen != want {
		t.Errorf("%d points are checked, want %d", seen, want)
	}
	if got := fmt.Sprint(s.Marks); !strings.Contains(got, "{crawl-2 agent_new NewBot}") ||
		!strings.Contains(got, "{crawl-3 agent_changed GPTBot}") {
		t.Errorf("marks are %s", got)
	}
	for c, run := range s.Runs {
		if run.Date.Format("2006-01-02") != fmt.Sprintf("202%d-03-02", c) || int(run.Hosts) != len(h.crawls[c]) {
			t.Errorf("%+v", run)
		}
	}

	// The views give the same figures, from summary.
	db := everyRun(t, out)
	rows := func(metrics, columns string) string {
		return fmt.Sprintf("SELECT run, date, stratum, %s FROM read_parquet('%s') WHERE population = 'all' "+
			"AND metric IN (%s)", columns, parquet, metrics)
	}
	for view, c := range map[string]struct{ points, view string }{
		"series_policies": {
			rows("'policy'", "agent, category, profile, key, base, count, denominator, share"),
			"SELECT run, date, stratum, agent, category, profile, class, 'hosts', count, hosts, of_hosts FROM series_policies " +
				"UNION ALL SELECT run, date, stratum, agent, category, profile, class, 'files', count, files, of_files FROM " +
				"series_policies WHERE class IN ('disallow_all', 'partial')",
		},
		"series_categories": {
			rows("'category'", "category, profile, key, base, count, denominator, share"),
			"SELECT run, date, stratum, category, profile, closes, 'hosts', count, hosts, of_hosts FROM series_categories " +
				"UNION ALL SELECT run, date, stratum, category, profile, closes, 'files', count, files, of_files FROM " +
				"series_categories WHERE closes IN ('all', 'some', 'any')",
		},
		"series_statuses": {
			rows("'status', 'outcome', 'reason'", "metric, profile, key, count, denominator, share"),
			"SELECT run, date, stratum, metric, profile, key, count, hosts, of_hosts FROM series_statuses",
		},
		"series_signals": {
			rows("'signal', 'field', 'preference', 'template', 'body'", "metric, key, base, count, denominator, share"),
			"SELECT run, date, stratum, metric, key, 'hosts', count, hosts, of_hosts FROM series_signals UNION ALL SELECT " +
				"run, date, stratum, metric, key, 'texts', count, texts, of_texts FROM series_signals",
		},
		"series_refusals": {
			rows("'refusal'", "profile, key, base, count, denominator, share"),
			"SELECT run, date, stratum, profile, way, 'hosts', count, hosts, of_hosts FROM series_refusals UNION ALL SELECT " +
				"run, date, stratum, profile, way, 'files', count, files, of_files FROM series_refusals",
		},
		"series_features": {
			rows("'feature'", "key, base, count, denominator, share"),
			"SELECT run, date, stratum, feature, 'hosts', count, hosts, of_hosts FROM series_features UNION ALL SELECT run, " +
				"date, stratum, feature, 'texts', count, texts, of_texts FROM series_features",
		},
	} {
		if n := one(t, db, "SELECT count(*) FROM ("+c.points+")"); n == "0" {
			t.Errorf("no points to compare with %s", view)
		}
		for what, query := range map[string]string{
			"lacks": "(" + c.points + ") EXCEPT ALL (" + c.view + ")", "should not have": "(" + c.view + ") EXCEPT ALL (" +
				c.points + ")",
		} {
			if n := one(t, db, "SELECT count(*) FROM ("+query+")"); n != "0" {
				_, sample, err := ask(db, query+" LIMIT 3")
				t.Errorf("%s %s %s rows, such as %v %v", view, what, n, sample, err)
			}
		}
	}
}

// wantCautionOfDomains checks that a series without --clustered says how many hosts share a
// registered domain, and one with it, whose warnings are clustered, says nothing.
func wantCautionOfDomains(t *testing.T, out string, clustered []string) {
	t.Helper()
	text, _ := robocensus(t, 0, "series", "--out", out, "--json")
	var s seriesOutput
	must(t, json.Unmarshal([]byte(text), &s))
	share := one(t, everyRun(t, out),
		`SELECT printf('%.1f%%', 100 * sum(n) FILTER (n > 1) / (SELECT count(*) FROM history.fetches WHERE run = 'crawl-3'))
		FROM (SELECT count(*) AS n FROM history.fetches WHERE run = 'crawl-3' GROUP BY registered_domain)`)
	if want := share + " of the hosts of run crawl-3 share a registered domain"; !strings.Contains(
		strings.Join(s.Warnings, "\n"), want) {
		t.Errorf("it does not say %q, but %q", want, s.Warnings)
	}
	if strings.Contains(strings.Join(clustered, "\n"), "share a registered domain") {
		t.Errorf("with clusters it says %q", clustered)
	}
}

// pairPattern is a share at the first and the last run in a title.
var pairPattern = regexp.MustCompile(`<?[\d.]+ → <?[\d.]+%`)

// movesOf returns the shares of each line of a figure at the first and the last run that has
// it, by its rows: run, date, name, count and one or two bases.
func movesOf(head []string, rows [][]string) map[string]bool {
	moves, ends := make(map[string]bool), make(map[string][2]string)
	count := slices.Index(head, "count") // after what names a line
	for _, row := range rows {
		for base := count + 1; base < len(row); base++ {
			of := int(digits(row[base]))
			if of == 0 {
				continue
			}
			line, said := fmt.Sprint(row[2:count], base), percentOf(int(digits(row[count])), of)
			end := ends[line]
			if end[0] == "" {
				end[0] = said
			}
			end[1] = said
			ends[line] = end
		}
	}
	for _, end := range ends {
		moves[strings.TrimSuffix(end[0], "%")+" → "+end[1]] = true
	}
	return moves
}

// The SQL below each drawing of a series gives its numbers, and its title the shares of one
// of its lines.
func TestSQLOfASeries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	newHistory().run(t, dir, out)
	robocensus(t, 0, "series", "--out", out, "--html", filepath.Join(dir, "series.html"))
	page, err := os.ReadFile(filepath.Join(dir, "series.html"))
	must(t, err)
	db := everyRun(t, out)
	asked, told := 0, 0
	for _, figure := range figurePattern.FindAllStringSubmatch(string(page), -1) {
		content, err := base64.StdEncoding.DecodeString(html.UnescapeString(csvPattern.FindStringSubmatch(figure[0])[1]))
		must(t, err)
		want, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
		must(t, err)
		query := sqlPattern.FindStringSubmatch(figure[0])
		if query == nil {
			continue
		}
		asked++
		head, rows, err := ask(db, html.UnescapeString(query[1]))
		if diff := cmp.Diff(want, append([][]string{head}, rows...)); err != nil || diff != "" {
			t.Errorf("%s (-page +SQL): %v\n%s", figure[1], err, diff)
		}
		moves, title := movesOf(head, rows), html.UnescapeString(titlePattern.FindStringSubmatch(figure[0])[1])
		for _, pair := range pairPattern.FindAllString(title, -1) {
			if told++; !moves[pair] {
				t.Errorf("%s says %q, and no line moved %s: %v", figure[1], title, pair, slices.Sorted(maps.Keys(moves)))
			}
		}
	}
	if told < 12 {
		t.Errorf("titles have %d pairs of shares", told)
	}
	if asked < 8 {
		t.Errorf("%d drawings have SQL", asked)
	}
}

// designEffect computes the design effect of a share domain by domain: the residuals,
// and the analysis of variance, as the books have them.
func designEffect(byDomain map[string][2]float64) float64 {
	var x, y, m float64
	for _, n := range byDomain {
		x, y = x+n[0], y+n[1]
		if n[0] > 0 {
			m++
		}
	}
	r := y / x
	if !(r > 0 && r < 1) {
		return 0
	}
	var residuals, between, within, squares float64
	for _, n := range byDomain {
		residuals += math.Pow(n[1]-r*n[0], 2)
		squares += n[0] * n[0]
		if n[0] > 0 {
			own := n[1] / n[0]
			between += n[0] * (own - r) * (own - r) / (m - 1)
			within += (n[1]*(1-own)*(1-own) + (n[0]-n[1])*own*own) / (x - m)
		}
	}
	clusters := float64(len(byDomain))
	linearised := clusters / (clusters - 1) * residuals / x / (r * (1 - r))
	size := (x - squares/x) / (m - 1)
	alike := 1 + max(0, (between-within)/(between+(size-1)*within))*(squares/x-1)
	return (linearised + max(linearised, alike)) / 2
}
