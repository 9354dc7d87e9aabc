package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// metWays answers by user agent, by the number of the host.
func metWays(w http.ResponseWriter, r *http.Request, n int) {
	bot := strings.Contains(r.UserAgent(), "GPTBot")
	file := "User-agent: GPTBot\nDisallow: /private/\n\nUser-agent: *\nDisallow:\n"
	switch n % 8 {
	case 1:
		if bot {
			file = "# hello\n" + file
		}
	case 2:
		if bot {
			file = "User-agent: *\nDisallow: /\n"
		}
	case 3:
		if bot && n == 27 {
			w.Header().Set("Crawler-Price", "USD 0.01")
			w.WriteHeader(http.StatusPaymentRequired)
			return
		}
		if bot {
			w.WriteHeader(http.StatusForbidden)
			return
		}
	case 4:
		if bot {
			w.Header().Set("cf-mitigated", "challenge")
			w.WriteHeader(http.StatusForbidden)
			return
		}
	case 5: // a wall for all but the mere
		w.Header().Set("x-amzn-waf-action", "challenge")
		w.WriteHeader(http.StatusAccepted)
		return
	case 6:
		w.WriteHeader(http.StatusNotFound)
		return
	case 7:
		if strings.Contains(r.UserAgent(), "mere") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
	}
	fmt.Fprint(w, file)
}

// laterWays are the hosts that answer in another way in the second run: a wall for all;
// GPTBot is turned away, gets our file, is let in, meets no wall but a refusal, gets a
// stricter file; and an outage for another identity is over.
var laterWays = map[int]int{8: 5, 9: 3, 10: 0, 11: 0, 12: 3, 17: 2, 15: 0}

// answersChanged are the rows of kind answer by SQL over the tables of both runs.
const answersChanged = `WITH states AS (
    SELECT run, origin, host, rank, identity, is_control, user_agent, agent, category, CASE
      WHEN treatment = 'absent' OR treatment = 'served' AND policy = 'equal' THEN 'alike'
      WHEN treatment = 'incomparable' OR treatment = 'served' AND policy = 'unknown' THEN NULL
      WHEN treatment = 'served' THEN policy ELSE treatment END AS state
    FROM history.answers a WHERE NOT EXISTS (SELECT 1 FROM history.fetches f WHERE f.run = a.run AND f.seq = a.seq AND (challenge IS NOT NULL OR reason NOT IN ('success', 'client_error')))),
  alone AS (SELECT run, origin FROM states WHERE is_control GROUP BY ALL HAVING bool_and(state IS NOT DISTINCT FROM 'alike'))
SELECT b.host, b.identity, b.agent, b.category, a.state AS before, b.state AS after
FROM states a JOIN states b ON a.run = 'a' AND b.run = 'b' AND a.origin = b.origin AND a.identity = b.identity AND a.user_agent = b.user_agent AND a.agent IS NOT DISTINCT FROM b.agent
WHERE NOT b.is_control AND a.state <> b.state AND (a.run, a.origin) IN (FROM alone) AND (b.run, b.origin) IN (FROM alone) ORDER BY ALL`

// ofAnswers are the figures about identities by SQL over the tables.
var ofAnswers = map[string]string{
	"turned-away": `SELECT identity, is_control, count(*) FILTER (treatment <> 'incomparable') AS let_in, count(*) FILTER (treatment = 'challenged') AS challenged,
		count(*) FILTER (treatment = 'rate_limited') AS rate_limited, count(*) FILTER (treatment = 'payment') AS payment,
		count(*) FILTER (treatment = 'refused') AS refused, count(*) FILTER (treatment = 'failing') AS failing, count(*) FILTER (treatment = 'unreached') AS unreached
		FROM answers WHERE class IN ('allow_all', 'partial') GROUP BY ALL ORDER BY is_control DESC, identity`,
	"served-otherwise": `SELECT identity, count(*) FILTER (same) AS same_bytes, count(*) FILTER (NOT same AND policy = 'equal') AS equal, count(*) FILTER (NOT same AND policy = 'stricter') AS stricter,
		count(*) FILTER (NOT same AND policy = 'looser') AS looser, count(*) FILTER (NOT same AND policy = 'mixed') AS mixed, count(*) FILTER (NOT same AND policy = 'undecided') AS undecided
		FROM answers WHERE treatment = 'served' GROUP BY identity, is_control ORDER BY is_control DESC, identity`,
	"turned-away-ranks": `SELECT stratum, count(*) FILTER (treatment <> 'incomparable') AS answers, count(*) FILTER (treatment IN ('challenged', 'rate_limited', 'payment', 'refused', 'failing', 'unreached')) AS turned_away
		FROM (SELECT *, stratum(rank) AS stratum FROM answers) WHERE class IN ('allow_all', 'partial') AND NOT is_control GROUP BY stratum ORDER BY try_cast(split_part(stratum, '-', 1) AS BIGINT) NULLS LAST`,
	"turned-away-categories": `SELECT coalesce(category, '') AS category, count(*) FILTER (treatment <> 'incomparable') AS answers, count(*) FILTER (treatment IN ('challenged', 'rate_limited', 'payment', 'refused', 'failing', 'unreached')) AS turned_away
		FROM answers WHERE class IN ('allow_all', 'partial') AND NOT is_control GROUP BY ALL ORDER BY category`,
	"walls": "SELECT challenge AS vendor, count(*) AS hosts FROM fetches WHERE challenge IS NOT NULL GROUP BY ALL ORDER " +
		"BY hosts DESC, vendor",
	"walls-for-identities": `SELECT CASE WHEN is_control THEN '!' ELSE '' END || identity || ' ' || challenge AS identity_and_vendor, count(*) AS hosts
		FROM answers WHERE challenge IS NOT NULL GROUP BY ALL ORDER BY hosts DESC, identity_and_vendor`,
}

// The figures about identities and walls are what the tables say, by their own SQL too. A
// run that judges the answers again has the same rows. Whom a wall hides has changed
// nothing, and promises that crawlers are served alike are broken where they are not.
func TestAnswersToIdentities(t *testing.T) {
	t.Parallel()
	var later atomic.Bool // in the second run
	var before sync.Map   // hosts that were asked in it
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		if later.Load() {
			if way, ok := laterWays[n]; ok {
				n = way
			}
			if _, asked := before.LoadOrStore(r.Host, true); asked && n == 16 { // whoever asks
				w.WriteHeader(http.StatusForbidden)
				return
			}
		}
		metWays(w, r, n)
	}))
	defer server.Close()
	dir := t.TempDir()
	out, list := filepath.Join(dir, "out"), ""
	for i := range 40 {
		list += fmt.Sprintf("%d,h%d.example\n", 600+i*20, i)
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	also := write(t, filepath.Join(dir, "also.yaml"), "- {name: control}\n- {name: gptbot, user_agent: GPTBot/1.3, "+
		"agent: GPTBot}\n- {name: googlebot, user_agent: Googlebot/2.1, agent: Googlebot}\n"+
		"- {name: mere, user_agent: mere/1}\n")
	promises := write(t, filepath.Join(dir, "promises.yaml"), "- {name: alike, served_alike: [googlebot]}\n"+
		"- {name: all alike, served_alike: all}\n- {name: nothing closes, no_change: [policy_class, rules]}\n"+
		"- {name: no one turned away, no_change: answer, identity: gptbot, after: [refused, challenged]}\n"+
		"- {name: googlebot as before, no_change: answer, identity: googlebot, at_most: 0}\n")
	run := func(id string, code int, args ...string) {
		robocensus(t, code, append([]string{"run", "--hosts", list, "--agents", agents, "--out", out, "--run", id,
			"--schemes", "http", "--connect-to", strings.TrimPrefix(server.URL, "http://"),
			"--also-as", also, "--retries", "0", "--keep-bodies", "--progress", "none"}, args...)...)
	}
	run("a", 0)
	db := quick(t, out)
	figures := report(t, out, "a")
	for id, query := range ofAnswers {
		f, ok := figures[id]
		if !ok {
			t.Errorf("the report has no figure %s", id)
			continue
		}
		for name, query := range map[string]string{"its SQL": f.sql, "the tables": query} {
			head, rows, err := ask(db, query)
			if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); err != nil || diff != "" {
				t.Errorf("%s (-report +%s): %v\n%s\n%s", id, name, err, diff, query)
			}
		}
	}
	// 35 hosts let us read them or had no file; of these 5 refuse GPTBot and 5 have a wall.
	for id, want := range map[string]string{
		"turned-away": "gptbot is turned away from robots.txt by 28.6% of hosts that let it in on paper: 28.6 points " +
			"more than our own second request",
		"served-otherwise": "25.0% of the hosts that serve both a file serve gptbot a file of another meaning",
		"walls":            "A wall answered in place of the file on 12.5% of hosts, which count as unread",
	} {
		if got := figures[id].title; got != want {
			t.Errorf("%s says %q, want %q", id, got, want)
		}
	}
	wantFiles(t, db, "30")
	// The terminal says the same.
	text, _ := robocensus(t, 0, "report", "--out", out, "a", "--text")
	printed := strings.Join(strings.Fields(text), " ")
	for _, query := range []string{
		`SELECT 'A wall answered in place of the file on ' || sum(n) || ' hosts, which count as unread: ' || string_agg(CASE challenge WHEN 'aws-waf' THEN 'AWS WAF' END || ' ' || n, ', ') FROM (SELECT challenge, count(*) AS n FROM fetches WHERE challenge IS NOT NULL GROUP BY ALL)`,
		`SELECT string_agg(CASE WHEN is_control THEN identity || ' (control: as we)' ELSE identity END || ' ' || turned_away || ' ' || let_in || ' ' || CASE WHEN percent = 0 THEN '0' ELSE printf('%.1f', percent) END || '%', ' ' ORDER BY is_control DESC, identity) FROM turned_away`,
	} {
		if want := one(t, db, query); !strings.Contains(printed, want) {
			t.Errorf("the terminal does not say %q:\n%s", want, text)
		}
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM policies WHERE class <> 'unknown' AND seq IN (SELECT seq FROM fetches WHERE challenge IS NOT NULL)":                                 "0",
		"SELECT count(*) FROM groups WHERE seq IN (SELECT seq FROM fetches WHERE challenge IS NOT NULL)":                                                          "0",
		"SELECT count(*) FROM answers WHERE (same IS NULL) <> (content_digest IS NULL OR seq IN (SELECT seq FROM fetches WHERE content_digest IS NULL))":          "0",
		"SELECT count(*) FROM answers WHERE policy <> 'unknown' AND (treatment <> 'served' OR challenge IS NOT NULL)":                                             "0",
		"SELECT count(*) FROM answers WHERE content_digest IS NOT NULL AND content_digest NOT IN (SELECT content_digest FROM bodies)":                             "0",
		"SELECT count(*) FROM (SELECT seq FROM answers GROUP BY seq HAVING count(*) <> 4)":                                                                        "0",
		"SELECT sum(count) FROM summary WHERE metric = 'answer'":                                                                                                  "160",
		"SELECT count(*) FROM answers a JOIN policies p USING (seq, agent) WHERE p.class <> a.class OR p.category <> a.category":                                  "0",
		"SELECT string_agg(DISTINCT first_difference, ' | ') FROM answers WHERE policy <> 'equal' AND policy <> 'unknown' AND identity = 'gptbot' AND rank < 700": "/: allow, then disallow (line 2)",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if _, rows, err := ask(db, "SELECT identity, is_control, agent, let_in, turned_away, challenged, served_otherwise, "+
		"percent, beyond FROM turned_away ORDER BY is_control DESC, identity"); err != nil || cmp.Diff([][]string{
		{"control", "true", "NULL", "35", "0", "0", "0", "0", "NULL"}, {"googlebot", "false", "Googlebot", "35", "0", "0",
			"0", "0", "0"},
		{"gptbot", "false", "GPTBot", "35", "10", "5", "5", "28.6", "28.6"}, {"mere", "false", "NULL", "35", "5", "0", "0",
			"14.3", "14.3"},
	}, rows) != "" {
		t.Errorf("turned_away: %v, %v", rows, err)
	}
	wantExported(t, db, "turned_away", "FROM turned_away", "--out", out)
	if text, _ := robocensus(t, 0, "show", "h4.example", "--out", out, "--run", "a"); !strings.Contains(text,
		"\n  asked as control, our own user agent once more: a file, as we\n  asked as gptbot: a wall, Cloudflare\n") {
		t.Errorf("show says\n%s", text)
	}
	text, _ = robocensus(t, 0, "show", "h2.example", "--out", out, "--run", "a", "--sql")
	for query := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
		if _, _, err := ask(db, strings.TrimSuffix(query, ";")); err != nil {
			t.Errorf("%v\n%s", err, query)
		}
	}
	robocensus(t, 0, "run", "--from-run", filepath.Join(out, "_runs", "a"), "--agents", agents, "--out",
		filepath.Join(dir, "again"), "--run", "a", "--progress", "none")
	again := quick(t, filepath.Join(dir, "again"))
	if _, err := again.Exec("CREATE TEMP TABLE first AS FROM read_parquet('" + out +
		"/answers/run=a/*.parquet')"); err != nil {
		t.Fatal(err)
	}
	if got := one(t, again, "SELECT count(*) FROM ((SELECT * FROM first EXCEPT ALL SELECT * FROM answers) UNION ALL "+
		"(SELECT * FROM answers EXCEPT ALL SELECT * FROM first))"); got != "0" {
		t.Errorf("re-evaluation changes %s rows of answers", got)
	}
	later.Store(true)
	run("b", 1, "--expect", promises)
	_, said := robocensus(t, 1, "diff", "--out", out, "a", "b", "--expect", promises)
	db = quick(t, out)
	if got := one(t, db, "SELECT string_agg(host || ' ' || kind || ' ' || coalesce(identity || ' ', '') || severity || "+
		"' ' || before || ' ' || after, '; ' ORDER BY host) FROM changes"); got !=
		"h10.example answer gptbot minor stricter alike; h11.example answer gptbot major refused alike; h12.example answer "+
			"gptbot minor challenged refused; h15.example answer mere minor failing alike; h17.example answer gptbot major "+
			"alike stricter; h8.example reachability major success challenge; h9.example answer gptbot major alike refused" {
		t.Errorf("changes are %s\n%s", got, said)
	}
	_, tables, err := ask(db, answersChanged)
	_, changed, err2 := ask(db, "SELECT host, identity, agent, category, before, after FROM changes WHERE kind "+
		"= 'answer' ORDER BY ALL")
	if diff := cmp.Diff(tables, changed); err != nil || err2 != nil || diff != "" {
		t.Errorf("rows of answer (-answers +changes): %v, %v\n%s", err, err2, diff)
	}
	f := report(t, out, "b", "--against", "a")["change-identities"]
	head, rows, err := ask(db, f.sql)
	if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); err != nil || diff != "" ||
		f.title != "1 host newly turns away gptbot from robots.txt, and 1 no longer does" {
		t.Errorf("%s: %v (-report +its SQL)\n%s", f.title, err, diff)
	}
	if diff := cmp.Diff([][]string{{"identity", "turned_away", "let_in", "otherwise", "undecided"},
		{"gptbot", "1", "1", "3", "0"}, {"mere", "0", "0", "0", "1"}}, f.rows); diff != "" {
		t.Errorf("figure of identities: -want +got\n%s", diff)
	}
	if text, _ := robocensus(t, 1, "diff", "--out", out, "a", "b", "--expect", promises); !strings.Contains(text,
		"identity  turned away  let in  otherwise  undecided\ngptbot              1       1          3          0\n"+
			"mere                0       0          0          1\n") {
		t.Errorf("diff says\n%s", text)
	}
	if text, _ := robocensus(t, 0, "history", "h9.example", "--out", out); !strings.Contains(text,
		"  a  asked as gptbot: a file, as we") ||
		!strings.Contains(text, "  b  major, answer to gptbot: as we are answered → refused\n") {
		t.Errorf("history says\n%s", text)
	}
	text, _ = robocensus(t, 0, "history", "h9.example", "--out", out, "--sql")
	queries := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";\n")
	if _, rows, err := ask(db, "SELECT run || ' ' || identity || ' ' || treatment FROM ("+queries[len(queries)-1]+
		") WHERE identity = 'gptbot'"); err != nil || cmp.Diff([][]string{{"a gptbot served"}, {"b gptbot refused"}},
		rows) != "" {
		t.Errorf("the query of history: %v, %v", rows, err)
	}
	wantExported(t, db, "answer_changes", "FROM answer_changes", "--out", out)
	wantExported(t, db, "identity_changes", "FROM identity_changes", "--out", out)
	_, rows, err = ask(db, "SELECT host, identity FROM history.changes c WHERE kind = 'answer' AND after IN "+
		"('challenged', 'rate_limited', 'payment', 'refused', 'failing', 'unreached') AND before = 'alike' ORDER BY ALL")
	_, views, err2 := ask(db, "SELECT host, identity FROM newly_turned_away ORDER BY ALL")
	if diff := cmp.Diff(views, rows); err != nil || err2 != nil || diff != "" {
		t.Errorf("(-newly_turned_away +changes): %v, %v\n%s", err, err2, diff)
	}
	if _, rows, err := ask(db,
		"SELECT host, identity, before_run, before, after, status FROM newly_turned_away"); err != nil ||
		cmp.Diff([][]string{{"h9.example", "gptbot", "a", "served", "refused", "403"}}, rows) != "" {
		t.Errorf("newly turned away: %v, %v", rows, err)
	}
	text = one(t, db, "SELECT string_agg(expectation || ' ' || host || ' ' || found, '; ' ORDER BY host) FROM read_csv('"+
		out+"/_runs/b/expectations.csv') WHERE host IN ('h2.example', 'h3.example', 'h4.example')")
	if want := "all alike h2.example as gptbot: another file, stricter: /: allow, then disallow (line 2); all alike " +
		"h3.example as gptbot: refused with status 403; all alike h4.example as gptbot: challenged (cloudflare) " +
		"with status 403"; text != want {
		t.Errorf("broken: %s, want %s", text, want)
	}
	// An identity that a later run adds is told, and one that a run left out is told anew.
	list = write(t, filepath.Join(dir, "one.csv"), "780,h9.example\n")
	also = write(t, filepath.Join(dir, "other.yaml"), "- {name: control}\n- {name: late, user_agent: late/1}\n")
	run("c", 0)
	also = write(t, filepath.Join(dir, "both.yaml"), "- {name: control}\n- {name: late, user_agent: late/1}\n"+
		"- {name: gptbot, user_agent: GPTBot/1.3, agent: GPTBot}\n")
	run("d", 0)
	text, _ = robocensus(t, 0, "history", "h9.example", "--out", out)
	for _, want := range []string{"  c  asked as late: ", "  d  asked as gptbot: refused, status 403"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("history lacks %q:\n%s", want, text)
		}
	}
}
