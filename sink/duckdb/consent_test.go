package main

import (
	"database/sql"
	"fmt"
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

// A consenting is a way of hosts to say what may be done with them: its robots.txt, what its
// paths answer (as "status type body" with Location or price for body, others 404), and the
// rows that this makes: of documents as "document outcome status remark", and of preferences
// elsewhere than in robots.txt as "document mechanism label use preference path".
type consenting struct {
	robots    string
	answers   map[string]string
	documents string
	says      string
}

const (
	xmlOf   = `200 application/rsl+xml <rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>%s</license></content></rsl>`
	anyPage = `200 text/html <!doctype html><title>Home</title><p>All that is here stands here, and whatever else you look for you will not find</p>`
	nothing = "ai.txt absent 404,license.xml absent 404,llms-full.txt absent 404,llms.txt absent 404,page absent " +
		"404,signatures-directory absent 404,tdmrep absent 404,trust.txt absent 404"
)

var consents = []consenting{
	{ // nothing is there
		robots: "User-agent: *\nDisallow:\n", documents: nothing,
	},
	{ // all is there, and contrary
		robots: "User-agent: *\nDisallow:\nContent-Signal: ai-train=no\n", answers: map[string]string{
			"/":                        "200 text/html <meta name=robots content=noai><meta name=tdm-reservation content=0>",
			"/.well-known/tdmrep.json": `200 application/json [{"location":"/","tdm-reservation":1}]`,
			"/ai.txt":                  "200 text/plain Site-Name: a\nSite-URL: https://a.example\nTraining: allow\n",
			"/llms.txt":                "200 text/markdown # A\n", "/llms-full.txt": "200 text/plain Much\n",
			"/trust.txt": "200 text/plain datatrainingallowed=no\n",
			"/.well-known/http-message-signatures-directory": `200 application/http-message-signatures-directory+json {"keys":[{"kty":"OKP"}]}`,
		},
		documents: "ai.txt present 200 car,license.xml absent 404,llms-full.txt present 200,llms.txt present 200,page " +
			"present 200,signatures-directory present 200,tdmrep present 200,trust.txt present 200",
		says: "ai.txt ai.txt-car training ai-train allow -,page meta noai ai-train disallow /,page meta tdm-reservation " +
			"ai-train - /,tdmrep tdmrep tdm-reservation ai-train disallow /,trust.txt trust.txt datatrainingallowed " +
			"ai-train disallow -",
	},
	{ // the home page for everything, but for one document
		robots: "User-agent: *\nDisallow:\n", answers: map[string]string{"*": anyPage,
			"/.well-known/tdmrep.json": `200 text/html [{"location":"/a","tdm-reservation":1}]`},
		documents: "ai.txt soft_404 200,license.xml soft_404 200,llms-full.txt soft_404 200,llms.txt soft_404 200,page " +
			"present 200,signatures-directory soft_404 200,tdmrep present 200 type,trust.txt soft_404 200",
		says: "tdmrep tdmrep tdm-reservation ai-train disallow /a",
	},
	{ // invalid, each in its way
		robots: "User-agent: *\nDisallow:\n", answers: map[string]string{
			"/.well-known/tdmrep.json": `200 application/json {"location":"/","tdm-reservation":1}`, "/ai.txt": anyPage,
			"/license.xml": "200 text/xml <rsl></rsl>", "/llms.txt": "200 text/plain User-agent: *\n",
			"/.well-known/http-message-signatures-directory": `200 application/json {"keys":[]}`,
			"/trust.txt": "200 text/plain member: x\n",
		},
		documents: "ai.txt invalid 200 page,type,license.xml invalid 200 namespace,type,llms-full.txt absent 404,llms.txt " +
			"invalid 200 no_heading,page absent 404,signatures-directory invalid 200 no_key,type,tdmrep invalid 200 " +
			"no_array,trust.txt invalid 200 no_name",
	},
	{ // redirects: within the host, and where none is allowed
		robots: "User-agent: *\nDisallow: /shut\n", answers: map[string]string{
			"/.well-known/tdmrep.json": "302 - /tdm", "/tdm": `200 application/json [{"location":"/","tdm-reservation":0}]`,
			"/.well-known/http-message-signatures-directory": "302 - /keys",
			"/keys": `200 application/json {"keys":[{"kty":"OKP"}]}`, "/llms.txt": "301 - /shut/llms.txt",
			"/shut/llms.txt": "200 text/plain # A\n", "/ai.txt": "302 - /", "/": "200 text/html <title>x</title>",
		},
		documents: "ai.txt invalid 200 page,type,license.xml absent 404,llms-full.txt absent 404,llms.txt absent 301 " +
			"disallowed,page present 200,signatures-directory absent 302 redirect,tdmrep present 200,trust.txt absent 404",
		says: "tdmrep tdmrep tdm-reservation ai-train - /",
	},
	{ // a licence of the file, another that nobody names, and one that the page names
		robots: "User-agent: *\nDisallow:\nLicense: http://HOST/mine.xml\n", answers: map[string]string{
			"/mine.xml":    fmt.Sprintf(xmlOf, `<permits type="usage">ai-train</permits><payment type="training"/>`),
			"/license.xml": fmt.Sprintf(xmlOf, `<permits type="usage">ai-train</permits>`),
			"/":            `200 text/html <link rel=license type=application/rsl+xml href=/theirs.xml>`,
			"/theirs.xml": fmt.Sprintf(xmlOf,
				`<prohibits type="usage">search</prohibits>`),
		},
		documents: "ai.txt absent 404,license.xml present 200 not_associated,llms-full.txt absent 404,llms.txt absent " +
			"404,page present 200,rsl present 200,rsl present 200,signatures-directory absent 404,tdmrep absent 404,trust.txt " +
			"absent 404",
		says: "license.xml rsl ai-index - - /,license.xml rsl ai-input ai-input - /,license.xml rsl ai-train ai-train - " +
			"/,license.xml rsl search search - /,rsl rsl ai-index - disallow /,rsl rsl ai-input ai-input disallow /,rsl rsl " +
			"ai-train ai-train priced /,rsl rsl search search disallow /,rsl rsl search search disallow /",
	},
	{ // for money, or not at all
		robots: "User-agent: *\nDisallow:\n", answers: map[string]string{"/": "402 text/html USD 0.01",
			"/llms.txt": "403 - -", "/ai.txt": "503 - -", "/trust.txt": "429 - -", "/license.xml": "410 - -"},
		documents: "ai.txt unreachable 503,license.xml absent 410,llms-full.txt absent 404,llms.txt refused 403,page " +
			"refused 402 price,signatures-directory absent 404,tdmrep absent 404,trust.txt refused 429",
	},
	{ // robots.txt shuts us out of most
		robots:  "User-agent: robocensus\nDisallow: /*.txt$\nDisallow: /.well-known/\n\nUser-agent: *\nDisallow: /\n",
		answers: map[string]string{"/license.xml": fmt.Sprintf(xmlOf, `<prohibits type="usage">ai-all</prohibits>`)},
		documents: "ai.txt not_asked - disallowed,license.xml present 200 not_associated,llms-full.txt not_asked - " +
			"disallowed,llms.txt not_asked - disallowed,page absent 404,signatures-directory not_asked - disallowed,tdmrep " +
			"not_asked - disallowed,trust.txt not_asked - disallowed",
		says: "license.xml rsl ai-index - - /,license.xml rsl ai-input ai-input - /,license.xml rsl " +
			"ai-train ai-train - /",
	},
	{ // large: what lies beyond the limit does not count
		robots: "User-agent: *\nDisallow:\n", answers: map[string]string{
			"/llms.txt": "200 text/plain # A\n" + strings.Repeat("a long text of many words\n", 100_000),
			"/.well-known/tdmrep.json": "200 application/json [" + strings.Repeat(`{"location":"/","tdm-reservation":1},`,
				20_000) + "7]",
			"/ai.txt": "200 text/plain User-agent: *\nDisallow: *.jpg\n" + strings.Repeat("#\n", 200_000),
		},
		documents: "ai.txt present 200 truncated,spawning,license.xml absent 404,llms-full.txt absent 404,llms.txt present " +
			"200 truncated,page absent 404,signatures-directory absent 404,tdmrep invalid 200 " +
			"truncated,not_json,limit,trust.txt absent 404",
		says: "ai.txt ai.txt-spawning disallow ai-train disallow *.jpg",
	},
	{ // a licence of the file that refuses
		robots: "User-agent: *\nDisallow:\nLicense: http://HOST/mine.xml\n", answers: map[string]string{
			"/mine.xml": fmt.Sprintf(xmlOf, `<prohibits type="usage">ai-train</prohibits>`)},
		documents: nothingButLicence + "rsl present 200" + nothingAfterLicence, says: "rsl rsl ai-train ai-train disallow /",
	},
	{ // one that permits
		robots: "User-agent: *\nDisallow:\nLicense: HTTP://HOST:80/mine.xml\n", answers: map[string]string{
			"/mine.xml": fmt.Sprintf(xmlOf, `<permits type="usage">ai-train</permits>`)},
		documents: nothingButLicence + "rsl present 200" + nothingAfterLicence,
		says:      permitted,
	},
	{ // two, of which one is not there
		robots:    "User-agent: *\nDisallow:\nLicense: http://HOST/mine.xml\nLicense: http://HOST/gone.xml\n",
		answers:   map[string]string{"/mine.xml": fmt.Sprintf(xmlOf, `<permits type="usage">ai-train</permits>`)},
		documents: nothingButLicence + "rsl present 200,rsl absent 404" + nothingAfterLicence,
		says:      permitted,
	},
	{ // one that lies with another site
		robots: "User-agent: *\nDisallow:\nLicense: http://HOST/moved.xml\n", answers: map[string]string{
			"/moved.xml": "302 - http://" + otherSite + "/mine.xml"},
		documents: nothingButLicence + "rsl present 200 no_control" + nothingAfterLicence,
		says:      permitted,
	},
	{ // slow without end
		robots: "User-agent: *\nDisallow:\n", answers: map[string]string{"/": "0 - -", "/llms.txt": "0 - -",
			"/trust.txt": "200 text/plain datatrainingallowed=no\n"},
		documents: "ai.txt absent 404,license.xml absent 404,llms-full.txt absent 404,llms.txt unreachable - timeout,page " +
			"unreachable - timeout,signatures-directory absent 404,tdmrep absent 404,trust.txt present 200",
		says: "trust.txt trust.txt datatrainingallowed ai-train disallow -",
	},
	{ // one is asked for anyhow, one leads to a third site too many, and two to one text
		robots: "User-agent: *\nDisallow:\nLicense: http://HOST/license.xml\nLicense: http://HOST/a.xml\n" +
			"License: http://HOST/b.xml\nLicense: http://HOST/c.xml\nLicense: http://HOST/d.xml\n", answers: map[string]string{
			"/license.xml": fmt.Sprintf(xmlOf, `<permits type="usage">ai-train</permits>`), "/a.xml": "302 - http://" +
				otherSite + "/mine.xml", "/b.xml": "302 - http://" + otherSite + "/gone.xml",
			"/c.xml": "302 - http://" + otherSite + "/third.xml", "/d.xml": "302 - http://" + otherSite + "/mine.xml",
		},
		documents: "ai.txt absent 404,license.xml present 200,llms-full.txt absent 404,llms.txt absent 404,page absent " +
			"404,rsl present 200,rsl present 200 no_control,rsl absent 404,rsl not_asked 302 elsewhere,beyond,rsl " +
			"present 200 no_control" + nothingAfterLicence,
		says: strings.ReplaceAll(permitted, "rsl rsl", "license.xml rsl") + "," + permitted,
	},
	{ // it wants to be left alone in the midst
		robots: "User-agent: *\nDisallow:\nLicense: http://HOST/mine.xml\n", answers: map[string]string{
			"/llms.txt": "429 - 86400"},
		documents: "ai.txt absent 404,license.xml absent 404,llms-full.txt not_asked - spared,llms.txt refused 429,page " +
			"absent 404,rsl not_asked - spared,signatures-directory not_asked - spared,tdmrep absent 404,trust.txt " +
			"not_asked - spared",
	},
}

const (
	nothingButLicence = "ai.txt absent 404,license.xml absent 404,llms-full.txt absent 404,llms.txt absent " +
		"404,page absent 404,"
	nothingAfterLicence = ",signatures-directory absent 404,tdmrep absent 404,trust.txt absent 404"
	permitted           = "rsl rsl ai-index - disallow /,rsl rsl ai-input ai-input disallow /,rsl rsl ai-train ai-train " +
		"allow /,rsl rsl search search disallow /"
)

// otherSite has licences of others too. Each is asked for once, and so is its robots.txt beside its own request.
const otherSite = "h10.example"

// ledTo are the paths to which redirects lead.
var ledTo = map[string]bool{"/": true, "/tdm": true, "/keys": true, "/shut/llms.txt": true}

// consentingServer serves the hosts h0, h1, … in turn, and counts requests.
type consentingServer struct {
	*httptest.Server
	mu    sync.Mutex
	n     int
	shift int // of the ways of hosts
	onAsk func(n int)
	began map[string]time.Time // the last request of a host
	early []string             // requests less than a second after the one before, which did not lead to them
}

func newConsenting(t *testing.T) *consentingServer {
	w := &consentingServer{began: make(map[string]time.Time)}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.n++
		if w.onAsk != nil {
			w.onAsk(w.n)
		}
		shift := w.shift
		if pause := time.Since(w.began[r.Host]); pause < time.Second && !ledTo[r.URL.Path] {
			w.early = append(w.early, fmt.Sprint(r.Host, r.URL, " ", pause))
		}
		w.began[r.Host] = time.Now()
		w.mu.Unlock()
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		c := &consents[(n+shift*(n%2))%len(consents)]
		answer, ok := c.answers[r.URL.Path]
		switch {
		case r.URL.Path == "/robots.txt":
			answer = "200 text/plain " + strings.ReplaceAll(c.robots, "HOST", r.Host)
		case ok:
		case c.answers["*"] != "":
			answer = c.answers["*"]
		default:
			answer = "404 text/plain -"
		}
		var status int
		var kind string
		fmt.Sscan(answer, &status, &kind)
		body := strings.SplitN(answer, " ", 3)[2]
		if kind != "-" {
			out.Header().Set("Content-Type", kind)
		}
		switch status / 100 {
		case 3:
			out.Header().Set("Location", body)
		case 4:
			switch status {
			case 402:
				out.Header().Set("Crawler-Price", body)
			case 429:
				out.Header().Set("Retry-After", body)
			}
		}
		if status == 0 {
			<-r.Context().Done()
			return
		}
		out.WriteHeader(status)
		if status == 200 {
			out.Write([]byte(body))
		}
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *consentingServer) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// Of hosts in many ways every row is as planned; the figures are what the tables hold; what
// a dry run says beforehand is what is asked; the archive of the run makes the same rows, and
// so does a run that is killed and resumed.
func TestDocumentsOfConsent(t *testing.T) {
	t.Parallel()
	w, dir := newConsenting(t), t.TempDir()
	hosts := 5 * len(consents)
	list := "rank,host,sector\n"
	for i := range hosts {
		list += fmt.Sprintf("%d,h%d.example,%s\n", 600+i*20, i, []string{"news", "it's a shop"}[i%2])
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	common := []string{"run", "--agents", agents, "--run", "r", "--progress", "none"}
	asks := append(common, "--hosts", list, "--label", "sector", "--schemes", "http", "--connect-to",
		strings.TrimPrefix(w.URL, "http://"), "--retries", "0", "--timeout", "3s", "--keep-bodies",
		"--documents=page,tdmrep,rsl,license.xml,ai.txt,llms.txt,llms-full.txt,signatures-directory,trust.txt")
	out, evidence := filepath.Join(dir, "out"), filepath.Join(dir, "e.warc.gz")

	// Eight documents and four controls.
	if text, _ := robocensus(t, 0, append(asks, "--out", out, "--dry-run")...); !strings.Contains(text,
		fmt.Sprintf("page tdmrep rsl license.xml ai.txt llms.txt llms-full.txt signatures-directory trust.txt: 12 requests "+
			"more of each host whose robots.txt allows all, 4 of them for a path that cannot exist, one for each folder and "+
			"extension; %s in all;", one(t, bare(t), fmt.Sprintf("SELECT format('{:,}', %d)", 12*hosts)))) {
		t.Errorf("a dry run says\n%s", text)
	}
	robocensus(t, 0, append(asks, "--out", out, "--warc-out", evidence)...)
	want := 3 // of otherSite
	// redirects, licences, and what is disallowed: 6 documents and the 3 controls beside them
	for _, more := range []int{0, 0, 0, 0, 2, 2, 0, -9, 0, 1, 1, 2, 1, 0, 4, -7} {
		want += hosts / len(consents) * (1 + 12 + more)
	}
	if got := w.requests(); got != want {
		t.Errorf("%d requests, want %d", got, want)
	}
	if w.early != nil {
		t.Errorf("%d requests were early: %q", len(w.early), w.early[:min(len(w.early), 5)])
	}
	if text, _ := robocensus(t, 0, "verify", "--out", out, "r", "--warc", evidence); !strings.HasSuffix(text,
		": whole\n") {
		t.Errorf("verify says %s", text)
	}

	db := quick(t, out)
	for i, c := range consents {
		for _, q := range [][2]string{
			{c.documents, "SELECT coalesce(string_agg(document || ' ' || outcome || ' ' || coalesce(status::VARCHAR, '-') || " +
				"coalesce(' ' || remark, ''), ',' ORDER BY document), '') FROM documents WHERE host = 'h%d.example'"},
			{c.says, "SELECT coalesce(string_agg(document || ' ' || mechanism || ' ' || label || ' ' || coalesce(use, '-') || " +
				"' ' || coalesce(preference, '-') || ' ' || coalesce(path, '-'), ',' ORDER BY document, label, mechanism), '') " +
				"FROM (SELECT DISTINCT ON (host, document, mechanism, label, use, preference, path, line, value) * FROM " +
				"preferences) WHERE document IS NOT NULL AND host = 'h%d.example'"},
		} {
			for _, n := range []int{i, i + len(consents)*4} {
				if diff := cmp.Diff(q[0], one(t, db, fmt.Sprintf(q[1], n))); diff != "" {
					t.Errorf("h%d (-want +got):\n%s", n, diff)
				}
			}
		}
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM documents WHERE (outcome = 'not_asked' AND NOT coalesce(remark = 'elsewhere,beyond', false) OR outcome = 'unreachable' AND remark = 'timeout') <> (status IS NULL)": "0",
		"SELECT count(*) FROM documents WHERE (content_digest IS NULL) <> (bytes IS NULL)":                                                                                                        "0",
		"SELECT string_agg(DISTINCT price) FROM documents":                                                                                                                                        "USD 0.01",
		"SELECT string_agg(DISTINCT final_url) FROM documents WHERE host = 'h4.example' AND document = 'tdmrep'":                                                                                  "http://h4.example/tdm",
		"SELECT count(*) FROM policies WHERE ai_train IS NOT NULL AND seq NOT IN (SELECT seq FROM preferences WHERE scope = 'group')":                                                             "0",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}

	figures := report(t, out, "r")
	for id, query := range map[string]string{
		"documents": `SELECT key AS document, count(*) AS hosts FROM (SELECT document || ' ' || arg_min(outcome, list_position(['present', 'absent', 'soft_404', 'invalid', 'refused', 'unreachable', 'not_asked'], outcome)) AS key
			FROM documents GROUP BY seq, document) GROUP BY ALL ORDER BY hosts DESC, document`,
		"documents-label-1": `SELECT value, document, count(DISTINCT seq) FILTER (outcome = 'present') AS present, count(DISTINCT seq) AS hosts FROM documents JOIN labels USING (seq)
			WHERE document IN (SELECT document FROM documents WHERE outcome = 'present' AND document <> 'page') GROUP BY ALL ORDER BY value, document`,
		"document-refusals": `SELECT coalesce(nullif(places, ''), unread, 'none') AS places, count(*) AS hosts FROM (SELECT f.seq,
			(SELECT any_value('unread') FROM preferences p WHERE p.seq = f.seq AND mechanism = 'license' AND replace(lower(value), ':80/', '/') NOT IN
				(SELECT url FROM documents d WHERE d.seq = f.seq AND outcome = 'present' AND document IN ('rsl', 'license.xml'))) AS unread, concat_ws('+',
			CASE WHEN f.seq IN (SELECT seq FROM policies WHERE agent = 'GPTBot' AND class = 'disallow_all') OR f.seq IN (SELECT seq FROM preferences WHERE document IS NULL AND use = 'ai-train' AND preference = 'disallow') THEN 'robots.txt' END,
			CASE WHEN f.seq IN (FROM said('meta')) THEN 'meta' END, CASE WHEN f.seq IN (FROM said('tdmrep')) THEN 'tdmrep' END, CASE WHEN f.seq IN (FROM said('rsl')) THEN 'rsl' END,
			CASE WHEN f.seq IN (FROM said('ai.txt-spawning')) THEN 'ai.txt-spawning' END, CASE WHEN f.seq IN (FROM said('trust.txt')) THEN 'trust.txt' END) AS places
			FROM fetches f WHERE f.seq IN (SELECT seq FROM documents)) GROUP BY ALL ORDER BY hosts DESC, places`,
	} {
		_, _, err := ask(db, "CREATE OR REPLACE TEMP MACRO said(m) AS TABLE SELECT seq FROM preferences WHERE mechanism = "+
			"m AND document IS NOT NULL AND use = 'ai-train' AND preference = 'disallow'")
		must(t, err)
		for name, query := range map[string]string{"its SQL": figures[id].sql, "the tables": query} {
			head, rows, err := ask(db, query)
			if diff := cmp.Diff(figures[id].rows, append([][]string{head}, rows...)); err != nil || diff != "" {
				t.Errorf("%s: -report +%s: %v\n%s", id, name, err, diff)
			}
		}
	}
	title := one(t, db,
		`WITH there AS (SELECT document, count(DISTINCT seq) AS n FROM documents WHERE outcome = 'present' GROUP BY ALL)
		SELECT 'What most hosts have of these' || CASE WHEN max(n) FILTER (document = 'page') > 0 THEN ', but for their front pages,' ELSE '' END || ' is ' ||
		arg_max(document, n) FILTER (document <> 'page') || ': ' || format('{:,}', max(n) FILTER (document <> 'page')) || ' hosts' FROM there`)
	if got := figures["documents"].title; got != title {
		t.Errorf("the title of documents is %q, and by the table %q", got, title)
	}
	if f := figures["document-contraries"]; len(f.rows) < 2 {
		t.Errorf("no host says two things: %v", f.rows)
	} else if slices.ContainsFunc(f.rows, func(row []string) bool { return row[0] == "robots.txt rsl" }) {
		t.Errorf("a License line is contrary to its terms: %v", f.rows)
	}
	everywhere := one(t, db, "SELECT format('That is robots.txt alone.\\nWith headers, HTML and documents of consent, "+
		"{:,} of {:,} hosts to be asked for them refuse AI training,\\n{:,} of them not in robots.txt. {:,} "+
		"more name a licence whose terms nobody has read.', sum(count) FILTER (key NOT IN ('none', 'unread'))::BIGINT, "+
		"sum(count)::BIGINT, sum(count) FILTER (key NOT IN ('none', 'unread') AND NOT list_contains(string_split(key, '+'), "+
		"'robots.txt'))::BIGINT, sum(count) FILTER (key = 'unread')::BIGINT) FROM summary WHERE metric = 'document_refusal'")
	if text, _ := robocensus(t, 0, "report", "--text", "--out", out, "r"); !strings.Contains(text,
		strings.ReplaceAll(everywhere, `\n`, "\n")) {
		t.Errorf("the text does not say %q:\n%s", everywhere, text)
	}
	invalid := one(t, db, "SELECT string_agg(document || ': ' || n || ' hosts', ', ' ORDER BY n DESC, document) FROM "+
		"(SELECT document, count(DISTINCT seq) AS n FROM documents WHERE outcome = 'invalid' GROUP BY ALL)")
	if text, _ := robocensus(t, 0, "report", "--text", "--out", out, "r"); !strings.Contains(
		strings.Join(strings.Fields(text), " "), " Something else is in place of a document of consent: "+invalid+
			" Shut out") {
		t.Errorf("the text does not say %q:\n%s", invalid, text)
	}
	if text, _ := robocensus(t, 0, "show", "h3.example", "--out", out, "--run", "r"); !strings.Contains(text,
		"\n  documents of consent: 8 asked for\n") ||
		!strings.Contains(text, "    not there: page, llms-full.txt\n    something else: ") ||
		!strings.Contains(text, "tdmrep (no array)") || !strings.Contains(text, "llms.txt (no heading)") {
		t.Errorf("show says of documents\n%s", text)
	}
	if text, _ := robocensus(t, 0, "show", "h1.example", "--out", out, "--run", "r"); !strings.Contains(text,
		"line 1 of tdmrep for *: TDMRep / tdm-reservation=1 refuses AI training") {
		t.Errorf("show says\n%s", text)
	}

	again := filepath.Join(dir, "again")
	robocensus(t, 0, append(common, "--warc", evidence, "--out", again)...)
	wantTablesAgain(t, out, again, "documents", "preferences", "policies", "verdicts")
	_, said := robocensus(t, 0, append(common, "--from-run", filepath.Join(out, "_runs", "r"), "--out",
		filepath.Join(dir, "judged"))...)
	if note := one(t, db, "SELECT format('note: not carried over: {:,} documents of the earlier run and what is stated "+
		"there', count(*)) FROM documents"); !strings.Contains(said, note) {
		t.Errorf("no word %q:\n%s", note, said)
	}

	// Killed in the middle.
	killed := filepath.Join(dir, "killed")
	run := exec.Command(filepath.Join(bin, "robocensus"), append(asks, "--out", killed)...)
	run.Stderr = os.Stderr
	must(t, run.Start())
	w.mu.Lock()
	at := w.n + want/2
	w.onAsk = func(n int) {
		if n == at {
			run.Process.Kill()
		}
	}
	w.mu.Unlock()
	if run.Wait() == nil {
		t.Error("the run was not killed")
	}
	robocensus(t, 0, append(asks, "--out", killed, "--resume")...)
	wantTablesAgain(t, out, killed, "documents", "preferences")

	// A week later every second host behaves as another one did.
	w.mu.Lock()
	w.onAsk, w.shift = nil, 1
	w.mu.Unlock()
	asks[slices.Index(asks, "--run")+1] = "s"
	robocensus(t, 0, append(asks, "--out", out)...)
	said, _ = robocensus(t, 0, "diff", "--out", out, "r", "s")
	db = quick(t, out)
	wantChangedDocuments(t, db, out, said)
	for _, view := range []string{"document_changes", "statement_changes", "preference_changes"} {
		wantExported(t, db, view, "FROM "+view, "--out", out)
	}
	robocensus(t, 0, "series", "--out", out, "--html", filepath.Join(dir, "series.html"))
	page, err := os.ReadFile(filepath.Join(dir, "series.html"))
	must(t, err)
	wantFigure(t, db, figureOf(t, string(page), "documents"),
		`SELECT run, strftime(date AT TIME ZONE 'UTC', '%Y-%m-%d') AS date, document || ' present' AS key, count(*) FILTER (there) AS count, count(*) AS asked
		FROM (SELECT run, seq, document, bool_or(outcome = 'present') AS there FROM history.documents GROUP BY ALL) JOIN history.runs USING (run) WHERE document <> 'page' AND document IN (SELECT document FROM history.documents WHERE outcome = 'present')
		GROUP BY ALL ORDER BY key, run`)
}

// wantChangedDocuments checks that what changed beside robots.txt from run r to s is what the tables
// of both say, and that diff and the page count it.
func wantChangedDocuments(t *testing.T, db *sql.DB, out, said string) {
	t.Helper()
	for _, query := range []string{
		`CREATE TEMP TABLE docs AS SELECT run, host, document, CASE WHEN bool_or(outcome IN ('unreachable', 'not_asked')) THEN NULL
			ELSE list_extract(['present', 'absent', 'absent', 'invalid', 'refused'], min(list_position(['present', 'absent', 'soft_404', 'invalid', 'refused'], outcome))::INT) END AS state,
			string_agg(content_digest, ' ' ORDER BY url) FILTER (outcome = 'present') AS text FROM history.documents GROUP BY run, host, document`,
		`CREATE TEMP TABLE two AS SELECT host, document, a.state AS before, b.state AS after, a.text AS text, b.text AS other FROM (FROM docs WHERE run = 'r') a JOIN (FROM docs WHERE run = 's') b USING (host, document)`,
		`CREATE TEMP TABLE says AS SELECT run, host, coalesce(document, 'page') AS document, use,
			CASE WHEN count(DISTINCT preference) = 1 AND bool_or(group_agent = '*' AND (scope = 'page' OR coalesce(path, '/') IN ('/', '*', '/*'))) THEN min(preference) ELSE 'partial' END AS stance,
			list_sort(list(DISTINCT [group_agent, preference, path])) AS all_of_it FROM history.preferences WHERE (document IS NOT NULL OR scope = 'page') AND use IS NOT NULL AND preference IS NOT NULL GROUP BY 1, 2, 3, 4`,
	} {
		_, err := db.Exec(query)
		must(t, err)
	}
	for kind, query := range map[string]string{
		"document": `SELECT host, document, NULL AS use, CASE WHEN before = after THEN 'cosmetic' ELSE 'minor' END AS severity, before, CASE WHEN before = after THEN 'other_text' ELSE after END AS after
			FROM two WHERE document <> 'page' AND before IS NOT NULL AND after IS NOT NULL AND (before <> after OR text IS DISTINCT FROM other)`,
		"preference": `SELECT host, document, use, CASE WHEN a.stance IN ('disallow', 'partial', 'priced') AND a.stance IS DISTINCT FROM b.stance OR b.stance IN ('disallow', 'partial', 'priced') AND a.stance IS DISTINCT FROM b.stance THEN 'major' ELSE 'minor' END AS severity,
			a.stance AS before, CASE WHEN a.stance = b.stance THEN 'undecided' ELSE b.stance END AS after
			FROM (FROM says WHERE run = 'r') a FULL JOIN (FROM says WHERE run = 's') b USING (host, document, use)
			WHERE (a.stance IS DISTINCT FROM b.stance OR a.stance = 'partial' AND a.all_of_it <> b.all_of_it)
				AND (host, document) IN (SELECT (host, document) FROM two WHERE before <> 'refused' AND after <> 'refused')`,
	} {
		_, want, err := ask(db, query+" ORDER BY ALL")
		_, got, err2 := ask(db, "SELECT host, document, use, severity, before, after FROM changes WHERE document IS "+
			"NOT NULL AND kind = '"+kind+"' ORDER BY ALL")
		if diff := cmp.Diff(want, got); err != nil || err2 != nil || diff != "" || len(got) < 5 {
			t.Errorf("changes of kind %s, %d of them: %v, %v (-tables +changes)\n%s", kind, len(got), err, err2, diff)
		}
	}
	figures := report(t, out, "s", "--against", "r")
	for id, query := range map[string]string{
		"change-documents": `SELECT document, count(*) FILTER (after = 'present') AS came, count(*) FILTER (before = 'present' AND after NOT IN ('present', 'other_text')) AS gone,
			count(*) FILTER (after = 'other_text') AS reworded, count(*) FILTER (before <> 'present' AND after <> 'present') AS otherwise
			FROM changes WHERE kind = 'document' GROUP BY ALL ORDER BY came DESC, gone DESC, document`,
		"change-statements": `SELECT document, use, count(*) FILTER (after = 'disallow') AS refuses, count(*) FILTER (after = 'allow') AS permits, count(*) FILTER (after = 'priced') AS prices,
			count(*) FILTER (after = 'partial') AS depends, count(*) FILTER (after IS NULL) AS ends, count(*) FILTER (after = 'undecided') AS undecided
			FROM changes WHERE kind = 'preference' AND document IS NOT NULL GROUP BY ALL ORDER BY refuses DESC, document, use`,
	} {
		wantFigure(t, db, figures[id], query)
		for _, row := range figures[id].rows[1:] {
			if !strings.Contains(strings.Join(strings.Fields(said), " "), strings.Join(row[max(1, len(row)-6):], " ")) {
				t.Errorf("diff does not say %v:\n%s", row, said)
			}
		}
	}
	if text, _ := robocensus(t, 0, "show", "h1.example", "--out", out, "--run", "s"); !strings.Contains(text,
		"document tdmrep: ") && !strings.Contains(text, "document ai.txt: ") {
		t.Errorf("show says\n%s", text)
	}
	if text, _ := robocensus(t, 0, "diff", "--out", out, "r", "s", "--list", "--kind", "document"); !strings.Contains(
		text, "document llms.txt: there → ") {
		t.Errorf("diff --list says\n%s", text)
	}
}

// figureOf returns one figure of a page.
func figureOf(t *testing.T, page, id string) (d drawn) {
	t.Helper()
	for _, f := range figurePattern.FindAllStringSubmatch(page, -1) {
		if f[1] == id {
			d = drawnOf(t, f[0])[id]
		}
	}
	return d
}

// wantFigure checks that a figure holds what its own SQL and a query of the tables say.
func wantFigure(t *testing.T, db *sql.DB, f drawn, query string) {
	t.Helper()
	for name, query := range map[string]string{"its SQL": f.sql, "the tables": query} {
		head, rows, err := ask(db, query)
		if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); err != nil || diff != "" {
			t.Errorf("%s: -figure +%s: %v\n%s\n%s", f.title, name, err, diff, query)
		}
	}
}
