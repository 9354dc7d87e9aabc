package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A practising is a way of hosts to treat who asks for their page: its robots.txt ("503" and the
// like for a status), what it does with a request for / under a name, and the rows that this
// makes, of control, gptbot, googlebot and browser: "treatment same remark price paper verdict".
type practising struct {
	name, robots string
	page         func(w http.ResponseWriter, r *http.Request, who string)
	rows         [4]string
	requests     int       // for the page, with redirects
	all          [4]string // with --pages=all, if that makes other rows
}

const (
	letsIn   = "User-agent: *\nDisallow:\n"
	partFile = "User-agent: *\nDisallow: /private\n"
	alikeRow = "served true - - open allow"
	shopPage = `<!doctype html><html><head><title>Shop</title></head><body><p>All that we sell stands here, hats and gloves and shoes and scarves, and nothing else at all is to be found in the whole of this town.</p><form><input name=token value=%x></form></body></html>`
)

// forOne treats gptbot in a way, and serves the shop to others.
func forOne(do http.HandlerFunc) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, who string) {
		if who == "gptbot" {
			do(w, r)
		} else {
			shopFor(w)
		}
	}
}

var visits struct {
	sync.Mutex
	n int
}

// visit returns a number that no other request has.
func visit() int {
	visits.Lock()
	defer visits.Unlock()
	visits.n++
	return visits.n
}

func shopFor(w http.ResponseWriter) {
	fmt.Fprintf(w, shopPage, []byte(fmt.Sprintf("%020d", visit()*7919)))
}

func answersWith(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// oneRow returns the rows of a host that treats gptbot in a way.
func oneRow(row string) [4]string { return [4]string{alikeRow, row, alikeRow, alikeRow} }

var practices = []practising{
	{name: "serves all", robots: letsIn, page: forOne(func(w http.ResponseWriter, r *http.Request) { shopFor(w) }),
		rows: oneRow(alikeRow), requests: 5},
	{name: "a price", robots: letsIn, page: forOne(answersWith(402, "Crawler-Price", "USD 0.01")),
		rows: oneRow("payment - - USD 0.01 open allow"), requests: 5},
	{name: "x402", robots: letsIn, page: forOne(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(402)
		fmt.Fprint(w, `{"x402Version":1,"accepts":[{"maxAmountRequired":"10000","asset":"0xa","network":"base"}]}`)
	}), rows: oneRow("payment - - 10000 0xa base open allow"), requests: 5},
	{name: "an unpaid account", robots: letsIn, page: forOne(answersWith(402)),
		rows: oneRow("refused - no_price - open allow"), requests: 5},
	{name: "a wall on pages alone", robots: letsIn, page: forOne(answersWith(403, "Cf-Mitigated", "challenge")),
		rows: oneRow("challenge - - - open allow"), requests: 5},
	{name: "refuses", robots: letsIn, page: forOne(answersWith(403, "Crawler-Price", "EUR 1")),
		rows: oneRow("refused - - EUR 1 open allow"), requests: 5},
	{name: "rate", robots: letsIn, page: forOne(answersWith(429)), rows: oneRow("rate_limited - - - open allow"),
		requests: 5},
	{name: "wants to be left alone", robots: letsIn, page: forOne(answersWith(429, "Retry-After", "3600")),
		rows: [4]string{"served - - - open allow", "rate_limited - - - open allow", "not_asked - spared - open allow",
			"not_asked - spared - open allow"}, requests: 2},
	{name: "leads away", robots: letsIn, page: forOne(answersWith(302, "Location", "http://robots.example/")),
		rows: oneRow("redirected_away - elsewhere - open allow"), requests: 5},
	{name: "in circles", robots: letsIn, page: forOne(answersWith(302, "Location", "/")),
		rows: oneRow("redirected_away - - - open allow"), requests: 5},
	{name: "shuts out on paper alone", robots: "User-agent: GPTBot\nDisallow: /\n\n" + partFile,
		page: forOne(func(w http.ResponseWriter, r *http.Request) { shopFor(w) }),
		rows: [4]string{"served true - - partly allow", "not_asked - disallowed - shut_out disallow",
			"served true - - partly allow", "served true - - partly allow"}, requests: 4,
		all: [4]string{"served true - - partly allow", "served true - - shut_out disallow", "served true - - partly allow",
			"served true - - partly allow"}},
	{name: "shuts us out", robots: "User-agent: robocensus\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /\n",
		page: forOne(answersWith(403)),
		rows: [4]string{"not_asked - disallowed - nothing allow", "refused - - - nothing allow",
			"not_asked - disallowed - shut_out disallow", "served - - - nothing allow"}, requests: 2,
		all: [4]string{"served true - - nothing allow", "refused - - - nothing allow", "served true - - shut_out disallow",
			"served true - - nothing allow"}},
	{name: "another page", robots: letsIn, page: forOne(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<!doctype html><p>Robots get this text, which has nothing to do with what people get: "+
			"hats are not for you")
	}), rows: oneRow("served_other false - - open allow"), requests: 5},
	{name: "changes by itself", robots: letsIn, page: func(w http.ResponseWriter, r *http.Request, who string) {
		shopFor(w)
		for range 60 {
			word := make([]byte, 8)
			for i := range word {
				word[i] = byte('a' + rand.IntN(26))
			}
			fmt.Fprintf(w, "<p>%s", word)
		}
	}, rows: [4]string{"served false - - open allow", alikeRow, alikeRow, alikeRow}, requests: 5},
	{name: "is ill", robots: letsIn, page: forOne(answersWith(503)), rows: oneRow("server_error - - - open allow"),
		requests: 5},
	{name: "hangs up", robots: letsIn, page: forOne(func(w http.ResponseWriter, r *http.Request) {
		panic(http.ErrAbortHandler)
	}), rows: oneRow("no_answer - - - open allow"), requests: 5},
	{name: "is slow", robots: letsIn, page: forOne(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		rows: oneRow("no_answer - - - open allow"), requests: 5},
	{name: "wearies", robots: letsIn, page: func(w http.ResponseWriter, r *http.Request, who string) {
		if r.Header.Get("Nth") > "3" { // browser, and the control again
			w.WriteHeader(403)
		} else {
			shopFor(w)
		}
	}, rows: [4]string{"served - once - open allow", alikeRow, alikeRow, "refused - - - open allow"}, requests: 5},
	{name: "refuses anybody", robots: letsIn, page: func(w http.ResponseWriter, r *http.Request, who string) {
		w.WriteHeader(403)
	},
		rows: [4]string{"refused - - - open allow", "refused - - - open allow", "refused - - - open allow",
			"refused - - - open allow"}, requests: 4},
	{name: "says nothing of what may be fetched", robots: "503", rows: [4]string{"not_asked - unread - unknown disallow",
		"not_asked - unread - unknown disallow", "not_asked - unread - unknown disallow",
		"not_asked - unread - unknown disallow"}},
	{name: "no file", robots: "404", page: forOne(answersWith(451)), rows: [4]string{"served true - - nothing allow",
		"refused - - - nothing allow", "served true - - nothing allow", "served true - - nothing allow"}, requests: 5},
	{name: "huge", robots: letsIn, page: forOne(func(w http.ResponseWriter, r *http.Request) {
		for range 40 {
			shopFor(w)
		}
		w.Write(make([]byte, 4<<20))
	}), rows: oneRow("served_other false - - open allow"), requests: 5},
	{name: "leads on", robots: "User-agent: GPTBot\nDisallow: /en\n\n" + letsIn, page: func(w http.ResponseWriter,
		r *http.Request, who string) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/en/", 302)
			return
		}
		shopFor(w)
	}, rows: oneRow("redirected_away - disallowed - partly allow"), requests: 9,
		all: oneRow("served true - - partly allow")},
}

// practisingServer serves the hosts h0, h1, … in turn, counts their requests for pages, and
// notes those that come too early.
type practisingServer struct {
	*httptest.Server
	mu     sync.Mutex
	n      int
	asked  map[string]int
	began  map[string]time.Time
	busy   map[string]bool
	early  []string
	nth    map[string]int // request for a page since robots.txt
	shift  int            // of the ways of every second host
	onPage func(n int)
}

func newPractising(t *testing.T) *practisingServer {
	s := &practisingServer{asked: make(map[string]int), began: make(map[string]time.Time), busy: make(map[string]bool),
		nth: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		s.mu.Lock()
		p := &practices[(n+s.shift*(n%2))%len(practices)]
		// The client may have ended before the server, but not before the server began.
		began, known := s.began[r.Host]
		if isFirst := r.URL.Path == "/" || r.URL.Path == "/robots.txt"; isFirst && known &&
			(s.busy[r.Host] || time.Since(began) < time.Second) {
			s.early = append(s.early, fmt.Sprint(r.Host, r.URL, " ", r.UserAgent(), " ", time.Since(began)))
		}
		s.began[r.Host], s.busy[r.Host] = time.Now(), true
		if r.URL.Path == "/robots.txt" {
			s.nth[r.Host] = 0
			if n%3 == 0 {
				w.Header().Set("Cf-Ray", "8f2-AMS")
			}
		}
		if r.URL.Path != "/robots.txt" {
			s.n++
			s.asked[r.Host]++
			s.nth[r.Host]++
			r.Header.Set("Nth", fmt.Sprint(s.nth[r.Host]))
			if s.onPage != nil {
				s.onPage(s.n)
			}
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.busy[r.Host] = false
			s.mu.Unlock()
		}()
		who, _, _ := strings.Cut(r.UserAgent(), "/")
		var code int
		switch _, err := fmt.Sscan(p.robots, &code); {
		case r.URL.Path != "/robots.txt":
			p.page(w, r, strings.ToLower(who))
		case err == nil:
			w.WriteHeader(code)
		default:
			fmt.Fprint(w, p.robots)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// peakOf runs the command and returns its greatest memory in KB. What wait4 tells is no less than that
// of the process that began it, which serves the hosts.
func peakOf(t *testing.T, args ...string) (peak int64) {
	t.Helper()
	c := exec.Command(filepath.Join(bin, "robocensus"), args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	must(t, c.Start())
	ended := make(chan error)
	go func() { ended <- c.Wait() }()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-ended:
			if err != nil || peak == 0 {
				t.Fatalf("%v: %v, %d KB\n%s", args, err, peak, &said)
			}
			return peak
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
			if _, rest, ok := strings.Cut(string(status), "\nVmHWM:"); ok && strings.Contains(string(status),
				"Name:\trobocensus\n") {
				fmt.Sscan(rest, &peak)
			}
		}
	}
}

const pageRowsOf = `SELECT string_agg(concat_ws(' ', treatment, coalesce(same::VARCHAR, '-'), coalesce(remark, '-'), coalesce(price, '-'), paper, verdict), ', '
	ORDER BY list_position(['control', 'gptbot', 'googlebot', 'browser'], identity)) FROM answers WHERE path = '/' AND host = 'h%d.example'`

// Of hosts in many ways every row is as planned, and so is every request: counted, one at a time
// and a second apart. The archive of the run makes the same rows, and so do a run that is killed
// and resumed, and one that judges its answers again.
func TestPaperAndPractice(t *testing.T) {
	t.Parallel()
	s, dir := newPractising(t), t.TempDir()
	hosts := 2 * len(practices)
	if n := os.Getenv("ROBOCENSUS_HOSTS"); n != "" {
		fmt.Sscan(n, &hosts)
	}
	patience := "3s"
	if hosts >= 1000 {
		patience = "10s" // they share this machine with the run, where an answer may be late
	}
	list := "rank,host,sector\n"
	for i := range hosts {
		list += fmt.Sprintf("%d,h%d.example,%s\n", 600+i*20, i, []string{"news", "shop"}[i%2])
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	identities := write(t, filepath.Join(dir, "also.yaml"), "- {name: gptbot, user_agent: GPTBot/1.0, agent: GPTBot}\n"+
		"- {name: control}\n- {name: googlebot, user_agent: Googlebot/2.1, agent: Googlebot}\n"+
		"- {name: browser, user_agent: Mozilla/5.0}\n")
	common := []string{"run", "--agents", agents, "--run", "r", "--progress", "none", "--keep-bodies"}
	asks := append(common, "--hosts", list, "--schemes", "http", "--connect-to", strings.TrimPrefix(s.URL, "http://"),
		"--retries", "0", "--timeout", patience, "--also-as", identities, "--label", "sector", "--label", "cdn")
	out, evidence := filepath.Join(dir, "out"), filepath.Join(dir, "e.warc.gz")
	plain := peakOf(t, append(asks, "--out", out, "--run", "plain", "--warc-out", filepath.Join(dir, "plain.warc.gz"))...)
	asks = append(asks, "--pages")
	clear(s.began)

	if text, _ := robocensus(t, 0, append(asks, "--out", out, "--dry-run")...); !strings.Contains(strings.ReplaceAll(text,
		",", ""), fmt.Sprintf("5 requests of / more of each host where robots.txt lets its agent fetch it: one for each "+
		"identity and one more for the control if it is served; %d in all", 5*hosts)) {
		t.Errorf("a dry run says\n%s", text)
	}
	peak := peakOf(t, append(asks, "--out", out, "--warc-out", evidence)...)
	// the aim is 1.2
	if t.Logf("%d hosts: %d MB, with pages %d MB", hosts, plain>>10, peak>>10); hosts >= 1000 &&
		float64(peak) > 1.3*float64(plain) {
		t.Errorf("%d KB of memory, without pages %d", peak, plain)
	}
	for i := range hosts {
		if got, want := s.asked[fmt.Sprintf("h%d.example", i)], practices[i%len(practices)].requests; got != want {
			t.Errorf("h%d %s: %d requests, want %d", i, practices[i%len(practices)].name, got, want)
		}
	}
	if s.early != nil {
		t.Errorf("%d requests were early: %q", len(s.early), s.early[:min(len(s.early), 5)])
	}
	db := quick(t, out)
	for i := range hosts {
		p := practices[i%len(practices)]
		if diff := cmp.Diff(strings.Join(p.rows[:], ", "), one(t, db, fmt.Sprintf(pageRowsOf, i))); diff != "" {
			t.Errorf("h%d %s (-want +got):\n%s", i, p.name, diff)
		}
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM answers WHERE (treatment = 'not_asked') <> (fetch_time IS NULL)":                                                                                                     "0",
		"SELECT count(*) FROM answers WHERE (path = '/') <> (outcome IS NULL) OR (path = '/') <> (reason IS NULL) OR (path = '/') <> (paper IS NOT NULL) OR (path = '/') <> (verdict IS NOT NULL)": "0",
		"SELECT count(*) FROM answers WHERE (treatment LIKE 'served%' AND path = '/') <> (text_digest IS NOT NULL)":                                                                                "0",
		"SELECT string_agg(DISTINCT price_header ORDER BY price_header) FROM answers":                                                                                                              "body,crawler-price",
		// The shop is one text, whatever its token is.
		"SELECT count(DISTINCT text_digest) FROM answers WHERE path = '/' AND host = 'h0.example'": "1",
		"SELECT max(body_bytes) FROM answers WHERE path = '/'":                                     "65536",
		// Nothing else changes.
		"SELECT count(*) FROM (SELECT * EXCLUDE (run, fetch_time, total_us) FROM history.answers WHERE run = 'r' AND path = '/robots.txt' EXCEPT ALL SELECT * EXCLUDE (run, fetch_time, total_us) FROM history.answers WHERE run = 'plain')": "0",
		"SELECT count(*) FROM history.answers WHERE run = 'plain' AND path <> '/robots.txt'": "0",
		"SELECT count(*) FROM (SELECT metric, stratum, agent, key, count FROM history.summary WHERE run = 'r' AND metric NOT LIKE 'page%' AND metric NOT LIKE '%_us%' AND metric NOT LIKE '%slow' EXCEPT SELECT metric, stratum, agent, key, count FROM history.summary WHERE run = 'plain')": "0",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	wantPractice(t, db, out)
	for _, view := range []string{"pages_met", "paper_and_practice", "turned_away"} {
		wantExported(t, db, view, "FROM "+view, "--out", out)
	}
	if text, _ := robocensus(t, 0, "verify", "--out", out, "r", "--warc", evidence); !strings.HasSuffix(text,
		": whole\n") {
		t.Errorf("verify says %s", text)
	}
	robocensus(t, 0, "diff", "--out", out, "plain", "r")
	if got := one(t, quick(t, out), "SELECT count(*) FROM changes"); got != "0" {
		t.Errorf("%s changes because somebody looked at pages", got)
	}
	if text, _ := robocensus(t, 0, "show", "h1.example", "--out", out, "--run", "r"); !strings.Contains(text,
		"/ as gptbot: asked to pay, USD 0.01; robots.txt: open") {
		t.Errorf("show says\n%s", text)
	}

	again := filepath.Join(dir, "again")
	robocensus(t, 0, append(common, "--warc", evidence, "--out", again)...)
	wantTablesAgain(t, out, again, "answers", "policies", "verdicts")
	judged := filepath.Join(dir, "judged")
	robocensus(t, 0, append(common, "--from-run", filepath.Join(out, "_runs", "r"), "--out", judged)...)
	wantTablesAgain(t, out, judged, "answers", "policies", "verdicts", "summary")

	// Killed in the middle.
	killed := filepath.Join(dir, "killed")
	run := exec.Command(filepath.Join(bin, "robocensus"), append(asks, "--out", killed)...)
	run.Stderr = os.Stderr
	must(t, run.Start())
	s.mu.Lock()
	at := s.n + s.n/2
	s.onPage = func(n int) {
		if n == at {
			run.Process.Kill()
		}
	}
	clear(s.began)
	s.mu.Unlock()
	if run.Wait() == nil {
		t.Error("the run was not killed")
	}
	robocensus(t, 0, append(asks, "--out", killed, "--resume")...)
	rows := func(dir string) string {
		return fmt.Sprintf("SELECT * EXCLUDE (fetch_time, total_us, error, text_digest, body_bytes, run) FROM "+
			"read_parquet('%s/answers/run=r/*.parquet', hive_partitioning = true)", dir)
	}
	db = bare(t)
	_, lost, err := ask(db, rows(out)+" EXCEPT ALL "+rows(killed)+" ORDER BY ALL")
	must(t, err)
	_, made, err := ask(db, rows(killed)+" EXCEPT ALL "+rows(out)+" ORDER BY ALL")
	must(t, err)
	if len(lost)+len(made) > 0 {
		t.Errorf("after a kill %d rows are lost\n%s\nand %d should not be there\n%s", len(lost), head(lost), len(made),
			head(made))
	}

	// A week later every second host behaves as another one did.
	s.mu.Lock()
	s.onPage, s.shift = nil, 1
	clear(s.began)
	s.mu.Unlock()
	later := append([]string{}, asks...)
	later[slices.Index(later, "--run")+1] = "s"
	robocensus(t, 0, append(later, "--out", out)...)
	wantChangedPages(t, out)
	if testing.Short() {
		return
	}
	s.mu.Lock()
	s.shift = 0
	clear(s.began)
	s.mu.Unlock()
	every := filepath.Join(dir, "every")
	robocensus(t, 0, append(asks[:len(asks)-1:len(asks)-1], "--pages=all", "--out", every)...)
	db = quick(t, every)
	for i := range len(practices) {
		p := practices[i]
		want := p.all
		if want == ([4]string{}) {
			want = p.rows
		}
		if diff := cmp.Diff(strings.Join(want[:], ", "), one(t, db, fmt.Sprintf(pageRowsOf, i))); diff != "" {
			t.Errorf("with --pages=all: h%d %s (-want +got):\n%s", i, p.name, diff)
		}
	}
}

// wantChangedPages checks that what identities meet on pages from run r to s, and run by run, is what
// the tables of both say.
func wantChangedPages(t *testing.T, out string) {
	t.Helper()
	said, _ := robocensus(t, 0, "diff", "--out", out, "r", "s")
	db := quick(t, out)
	_, want, err := ask(db,
		`WITH lets AS (SELECT run, host, bool_and(treatment = 'served' AND remark IS NULL) AS all_in FROM history.answers WHERE path = '/' AND is_control GROUP BY ALL),
		met AS (SELECT a.run, a.host, a.identity, a.agent, a.treatment FROM history.answers a JOIN lets USING (run, host) WHERE all_in AND path = '/' AND NOT is_control AND treatment <> 'not_asked')
		SELECT a.host, identity, b.agent, CASE WHEN a.treatment NOT IN ('server_error', 'no_answer') AND b.treatment NOT IN ('server_error', 'no_answer') AND (a.treatment LIKE 'served%') <> (b.treatment LIKE 'served%') THEN 'major' ELSE 'minor' END AS severity,
		a.treatment AS before, b.treatment AS after FROM (FROM met WHERE run = 'r') a JOIN (FROM met WHERE run = 's') b USING (host, identity)
		WHERE a.treatment <> b.treatment AND host IN (SELECT host FROM history.fetches WHERE run = 's' AND outcome <> 'full_disallow') ORDER BY ALL`)
	must(t, err)
	_, got, err := ask(db, "SELECT host, identity, agent, severity, before, after FROM changes WHERE kind "+
		"= 'page' ORDER BY ALL")
	if diff := cmp.Diff(want, got); err != nil || diff != "" || len(got) < 10 {
		t.Errorf("changes of kind page, %d of them: %v (-tables +changes)\n%s", len(got), err, diff)
	}
	for _, view := range []string{"identity_changes", "page_changes"} {
		wantExported(t, db, view, "FROM "+view, "--out", out)
	}
	f := report(t, out, "s", "--against", "r")["change-pages"]
	wantFigure(t, db, f,
		`SELECT identity, count(*) FILTER (certain AND away AND NOT was) AS turned_away, count(*) FILTER (certain AND was AND NOT away) AS let_in, count(*) FILTER (certain AND was = away) AS otherwise, count(*) FILTER (NOT certain) AS undecided
		FROM (SELECT identity, before NOT LIKE 'served%' AS was, after NOT LIKE 'served%' AS away, NOT regexp_matches(before || ' ' || after, 'server_error|no_answer') AS certain FROM changes WHERE kind = 'page')
		GROUP BY ALL ORDER BY turned_away DESC, let_in DESC, otherwise DESC, identity`)
	for _, row := range f.rows[1:] {
		if text := strings.Join(strings.Fields(said), " "); !strings.Contains(text, strings.Join(row, " ")) {
			t.Errorf("diff does not say %v:\n%s", row, said)
		}
	}
	robocensus(t, 0, "series", "--out", out, "--runs", "[rs]", "--html", filepath.Join(out, "series.html"))
	page, err := os.ReadFile(filepath.Join(out, "series.html"))
	must(t, err)
	const runs = `WITH control AS (SELECT run, seq, bool_or(treatment = 'served') AS served, coalesce(bool_or(remark = 'once'), false) AS once FROM history.answers WHERE is_control AND path = '/' GROUP BY ALL),
		met AS (SELECT a.run, r.date, identity, agent, paper, treatment NOT IN ('served', 'served_other') AS away, once FROM history.answers a JOIN control USING (run, seq) JOIN history.runs r ON r.run = a.run
			WHERE path = '/' AND NOT is_control AND served AND treatment <> 'not_asked' AND a.run IN ('r', 's')) `
	wantFigure(t, db, figureOf(t, string(page), "pages"),
		runs+`SELECT run, strftime(date AT TIME ZONE 'UTC', '%Y-%m-%d') AS date, identity || ' ' || paper || k.suffix AS key,
		count(*) FILTER (CASE k.suffix WHEN '' THEN away ELSE once END) AS count, count(*) AS compared FROM met CROSS JOIN (VALUES (''), (' control')) k(suffix) 
		WHERE (identity, paper) IN (SELECT (identity, paper) FROM met WHERE away) GROUP BY run, met.date, 3 ORDER BY key, met.date, run`)
	text, _ := robocensus(t, 0, "series", "--out", out, "--runs", "[rs]", "--agent", "GPTBot")
	printed := strings.ReplaceAll(strings.Join(strings.Fields(text), " "), ",", "")
	_, rows, err := ask(db, runs+"SELECT run, count(*) FILTER (away), count(*), count(*) FILTER (once), count(*) FILTER "+
		"(away AND once) FROM met WHERE agent = 'GPTBot' AND paper = 'open' GROUP BY run ORDER BY run")
	must(t, err)
	for _, row := range rows {
		var away, n, once, both float64
		fmt.Sscan(strings.Join(row[1:], " "), &away, &n, &once, &both)
		d, low, high := pairedShares(n, away, once, both)
		if want := fmt.Sprintf(" %.0f %.0f %.1f%% %.0f %+.1f %+.1f to %+.1f", away, n, 100*away/n, once, 100*d, 100*low,
			100*high); !strings.Contains(printed, want) {
			t.Errorf("series --agent does not say %q of run %s:\n%s", want, row[0], text)
		}
	}
	if !strings.Contains(text, "Hosts that turn gptbot away from the page, where robots.txt is open to GPTBot\n") ||
		len(rows) != 2 {
		t.Errorf("series --agent says, of %d runs\n%s", len(rows), text)
	}
}

// ofPractice are the figures about pages by SQL over the tables.
func ofPractice() map[string]string {
	treated := func(all ...string) (text string) {
		for _, x := range all {
			text += fmt.Sprintf(", count(*) FILTER (shown = '%[1]s') AS %[1]s", x)
		}
		return text
	}
	const met = `WITH control AS (SELECT seq, bool_or(treatment = 'served') AS served, bool_or(coalesce(remark, '') = 'once') AS once FROM answers WHERE is_control AND path = '/' GROUP BY seq),
		met AS (SELECT a.*, c.served, c.once, a.treatment NOT IN ('served', 'served_other') AS away, a.treatment <> 'not_asked' AND c.served AND NOT is_control AS compared FROM answers a JOIN control c USING (seq) WHERE path = '/') `
	by := func(column, shown, from, order string) string {
		return met +
			fmt.Sprintf(
				`SELECT %s, count(*) FILTER (away) AS turned_away, count(*) AS answers, count(*) FILTER (once) AS control_away, count(*) FILTER (once AND away) AS both_away
			FROM (SELECT *, stratum(rank) AS stratum FROM met) %s WHERE compared AND paper IN ('open', 'partly', 'nothing') GROUP BY 1 ORDER BY %s`, shown, from, order)
	}
	return map[string]string{
		"paper-and-practice": met + "SELECT identity, is_control, paper" + treated("served", "served_other", "payment",
			"rate_limited", "challenge", "refused", "redirected_away", "server_error", "no_answer", "not_asked",
			"incomparable") +
			`, count(*) FILTER (once AND compared) AS control_away, count(*) FILTER (once AND compared AND away) AS both_away
			FROM (SELECT *, CASE WHEN treatment <> 'not_asked' AND NOT served AND NOT is_control THEN 'incomparable' ELSE treatment END AS shown FROM met)
			GROUP BY 1, 2, 3 ORDER BY is_control DESC, identity, list_position(['open', 'partly', 'shut_out', 'nothing', 'unknown'], paper)`,
		"practice-ranks":      by("stratum", "stratum", "", "try_cast(split_part(stratum, '-', 1) AS BIGINT) NULLS LAST"),
		"practice-categories": by("category", "coalesce(category, '') AS category", "", "category"),
		"practice-label-1": by("value", "value", "JOIN (SELECT seq, value FROM labels WHERE label = 'cdn') USING (seq)",
			"answers DESC, value"),
		"practice-label-2": by("value", "value",
			"JOIN (SELECT seq, value FROM labels WHERE label = 'sector') USING (seq)", "answers DESC, value"),
	}
}

// wantPractice checks the figures about pages of run r against the tables, by their own SQL too,
// and the views against both.
func wantPractice(t *testing.T, db *sql.DB, out string) {
	t.Helper()
	figures := report(t, out, "r")
	for id, query := range ofPractice() {
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
	// The terminal, each number by its column.
	text, _ := robocensus(t, 0, "report", "--text", "--out", out, "r")
	_, rows, err := ask(db,
		`WITH control AS (SELECT seq, bool_or(treatment = 'served') AS served, bool_or(coalesce(remark, '') = 'once') AS once FROM answers WHERE is_control AND path = '/' GROUP BY seq),
		met AS (SELECT a.*, treatment <> 'not_asked' AS asked, asked AND (served OR is_control) AS compared, once, treatment NOT IN ('served', 'served_other') AS away FROM answers a JOIN control USING (seq) WHERE path = '/')
		SELECT CASE WHEN is_control THEN 'control (control: as we)' ELSE identity END, count(*) FILTER (NOT asked), count(*) FILTER (asked), CASE WHEN NOT is_control THEN count(*) FILTER (compared) END AS n, `+
			strings.Join(slices.Collect(func(yield func(string) bool) {
				for _, x := range []string{"served", "served_other", "refused", "challenge", "payment", "rate_limited",
					"redirected_away", "server_error", "no_answer"} {
					if !yield(fmt.Sprintf("count(*) FILTER (compared AND treatment = '%s')", x)) {
						return
					}
				}
			}), ", ")+
			`, replace(printf('%.1f%%', 100 * count(*) FILTER (compared AND away) / n), '0.0%', '0%'), replace(printf('%.1f%%', 100 * count(*) FILTER (compared AND once) / n), '0.0%', '0%')
		FROM met WHERE is_control OR NOT asked OR paper IN ('open', 'partly', 'nothing') GROUP BY identity, is_control ORDER BY is_control DESC, identity`)
	must(t, err)
	want := "\nWhat the page did under each identity, in hosts\nidentity not asked asked compared served other page " +
		"refused wall to pay to slow down elsewhere error no answer turned away control\n"
	for _, row := range rows {
		want += strings.Join(slices.DeleteFunc(row, func(cell string) bool { return cell == "NULL" || cell == "NULL%" }),
			" ") + "\n"
	}
	printed := ""
	for line := range strings.Lines(text) {
		printed += strings.ReplaceAll(strings.Join(strings.Fields(line), " "), ",", "") + "\n"
	}
	if !strings.Contains(printed, strings.ReplaceAll(want, ",", "")+"compared: ") || len(rows) != 4 {
		t.Errorf("the terminal does not say\n%s but\n%s", want, text)
	}
	// The interval once more, in Go.
	_, rows, err = ask(db,
		`SELECT p.hosts, round(p.hosts * p.percent / 100), p.control_away, (SELECT count(*) FROM pages_met m WHERE m.identity = p.identity AND m.paper = p.paper AND m.compared AND m.once AND m.away), p.beyond, p.low, p.high
		FROM paper_and_practice p WHERE dimension = 'all' ORDER BY ALL`)
	must(t, err)
	for _, row := range rows {
		var n, away, control, both int64
		var got [3]float64
		fmt.Sscan(strings.Join(row, " "), &n, &away, &control, &both, &got[0], &got[1], &got[2])
		d, low, high := pairedShares(float64(n), float64(away), float64(control), float64(both))
		for i, want := range []float64{d, low, high} {
			if math.Abs(100*want-got[i]) > 0.0501 {
				t.Errorf("%v: the interval is %.1f, %.1f to %.1f", row, 100*d, 100*low, 100*high)
				break
			}
		}
	}
	if len(rows) < 6 {
		t.Errorf("%d rows of paper_and_practice", len(rows))
	}
	for query, want := range map[string]string{
		"SELECT max(a.n - b.n) FROM (SELECT identity, paper, sum(hosts) AS n FROM paper_and_practice WHERE dimension = 'cdn' GROUP BY ALL) a JOIN (SELECT identity, paper, hosts AS n FROM paper_and_practice WHERE dimension = 'all') b USING (identity, paper)": "0",
		"SELECT string_agg(DISTINCT value, ',' ORDER BY value) FROM paper_and_practice WHERE dimension = 'cdn'":                                                                                                                                                   "cloudflare,none",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// pairedShares returns the difference of two shares of the same n hosts, and its interval
// (Newcombe 1998, method 10 for pairs).
func pairedShares(n, away, control, both float64) (d, low, high float64) {
	score := func(k float64) (low, high float64) { // the roots of (p - k/n)² = z² p (1 - p) / n
		const z2 = 3.841458820694124
		a, b, c := 1+z2/n, -(2*k/n + z2/n), k*k/(n*n)
		root := math.Sqrt(max(0, b*b-4*a*c))
		return (-b - root) / (2 * a), (-b + root) / (2 * a)
	}
	la, ua := score(away)
	lc, uc := score(control)
	phi := both*(n-away-control+both) - (away-both)*(control-both)
	if phi > 0 {
		phi = max(0, phi-n/2)
	}
	if m := away * (n - away) * control * (n - control); m > 0 {
		phi /= math.Sqrt(m)
	} else {
		phi = 0
	}
	d = (away - control) / n
	down, up := away/n-la, uc-control/n
	low = d - math.Sqrt(max(0, down*down-2*phi*down*up+up*up))
	up, down = ua-away/n, control/n-lc
	return d, low, d + math.Sqrt(max(0, down*down-2*phi*down*up+up*up))
}
