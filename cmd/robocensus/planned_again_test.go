package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// tableRows returns the rows of each table of a run that does not count all hosts.
func tableRows(t *testing.T, dir, run string) map[string]int64 {
	t.Helper()
	in, err := store.Open(t.Context(), dir)
	must(t, err)
	defer in.Close()
	m, err := journal.ReadManifest(in, run)
	must(t, err)
	rows := make(map[string]int64)
	for _, p := range m.Parts {
		rows[p.Table] += p.Rows
	}
	for _, counts := range []string{"examples", "bodies"} { // a shard has its own
		delete(rows, counts)
	}
	return rows
}

// askedForAll makes run r, which asks three hosts for all that can be asked for.
func askedForAll(t *testing.T) (dir, inputs string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			w.Header().Set("Server", "cloudflare")
			w.Header().Set("CF-Ray", "8a-FRA") // a CDN
			switch gpt := strings.HasPrefix(r.UserAgent(), "GPTBot"); {
			case gpt && r.Host == "b.example":
				io.WriteString(w, "User-agent: *\nDisallow: /\n")
				return
			case gpt && r.Host == "c.example":
				w.Header().Set("crawler-price", "USD 0.01")
				w.WriteHeader(http.StatusPaymentRequired)
				return
			}
			fmt.Fprintf(w, "User-agent: *\nDisallow: /x\nContent-Signal: ai-train=no\nSitemap: http://%s/s.xml\n", r.Host)
		case "/s.xml":
			fmt.Fprintf(w,
				`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/x/1</loc></url></urlset>`, r.Host)
		case "/news":
			io.WriteString(w, "<!doctype html><p>News")
		case "/license.xml":
			io.WriteString(w,
				`<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><prohibits type="usage">ai-train</prohibits></license></content></rsl>`)
		case "/llms.txt":
			io.WriteString(w, "# Site\n")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	dir = t.TempDir()
	inputs = t.TempDir()
	list, ids, agents := filepath.Join(inputs, "list.csv"), filepath.Join(inputs, "ids.yaml"),
		filepath.Join(inputs, "agents.yaml")
	must(t, os.WriteFile(agents,
		[]byte("- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"), 0o666))
	must(t, os.WriteFile(list, []byte("host,sector\na.example,news\nb.example,tv\nc.example,\n"), 0o666))
	must(t, os.WriteFile(ids, []byte("- {name: control}\n- {name: gpt, user_agent: GPTBot/1.2, agent: GPTBot}\n"), 0o666))
	call(t, 0, "run", "--out", dir, "--run", "r", "--hosts", list, "--label", "sector", "--label", "cdn", "--agents",
		agents, "--warc-out", filepath.Join(inputs, "evidence.warc.gz"), "--schemes", "http", "--connect-to",
		server.Listener.Addr().String(),
		"--also-as", ids, "--pages", "--page", "/news", "--documents", "--sitemaps", "2", "--sitemap-sample", "50",
		"--keep-urls", "--front-page", "--keep-bodies", "--progress", "none")
	return dir, inputs
}

// A run that asked hosts for all that can be asked for is judged again by shards, as by one process.
func TestAllThatIsAskedIsJudgedAgain_NoRace(t *testing.T) {
	t.Parallel()
	dir, inputs := askedForAll(t)
	agents := filepath.Join(inputs, "agents.yaml")
	call(t, 0, "run", "--out", dir, "--run", "again", "--from-run", "r", "--agents", agents, "--keep-bodies",
		"--progress", "none")
	call(t, 0, "plan", "--out", dir, "--run", "planned", "--from-run", "r", "--agents", agents, "--keep-bodies",
		"--shards", "2")
	for _, shard := range []string{"0", "1"} {
		call(t, 0, "run", "--out", dir, "--run", "planned", "--shard", shard, "--progress", "none")
	}
	if one, both := tableRows(t, dir, "again"), tableRows(t, dir, "planned"); !maps.Equal(one, both) ||
		one["answers"] != 12 || one["labels"] != 5 || one["urls"] != 3 {
		t.Errorf("one process has the rows %v, shards have %v", one, both)
	}
	warc := []string{"run", "--out", dir, "--warc", filepath.Join(inputs, "evidence.warc.gz"), "--agents", agents,
		"--documents", "--sitemaps", "2", "--sitemap-sample", "50", "--label", "cdn", "--keep-bodies", "--progress", "none"}
	call(t, 0, append(warc, "--run", "archive", "--keep-urls")...)
	call(t, 0, append(warc, "--run", "unlisted")...)
	reproducedInPart(t, dir)
}

// A run that has few hosts of a list with many values of a label counts the same values apart when
// it is judged again.
func TestValuesThatCountApartStay_NoRace(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "User-agent: *\nDisallow: /x\n")
	}))
	defer server.Close()
	dir, list := t.TempDir(), filepath.Join(t.TempDir(), "list.csv")
	text := "host,owner\nh1.example,z1\nh2.example,z2\nh3.example,a1\nh4.example,a2\n"
	for i := range 1000 {
		text += fmt.Sprintf("x%d.example,b%d\n", i, i)
	}
	must(t, os.WriteFile(list, []byte(text), 0o666))
	call(t, 0, "run", "--out", dir, "--run", "r", "--hosts", list, "--label", "owner", "--limit", "4", "--schemes",
		"http", "--connect-to", server.Listener.Addr().String(), "--keep-bodies", "--progress", "none")
	call(t, 0, "run", "--out", dir, "--run", "again", "--from-run", "r", "--keep-bodies", "--progress", "none")
	want, got := labelsOf(t, dir, "r"), labelsOf(t, dir, "again")
	if !strings.Contains(strings.Join(want, "\n"), "targetsownerother") || !slices.Equal(got, want) {
		t.Errorf("judged again, the labels have %d rows, %d before", len(got), len(want))
	}
}

// A plan refuses labels and filters that each of its shards would refuse.
func TestPlanChecksListsOfStoredAnswers_NoRace(t *testing.T) {
	t.Parallel()
	dir, bodies, inputs := t.TempDir(), t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(bodies, "a.example"), []byte("User-agent: *\nDisallow: /x\n"), 0o666))
	list := filepath.Join(inputs, "list.csv")
	must(t, os.WriteFile(list, []byte("host,sector,mood\na.example,news,good\n"), 0o666))
	call(t, 0, "run", "--out", dir, "--run", "r", "--bodies", bodies, "--labels", list, "--label", "sector",
		"--keep-bodies", "--progress", "none")
	for flags, want := range map[string]string{
		"--from-run r --label sector --label mood --labels " + list: `has the label "sector", which the earlier run has too`,
		"--from-run r --label nosuch":                               `has no label "nosuch"`,
		"--from-run r --labels " + list + " --label *":              `has the label "sector", which the earlier run has too`,
		"--from-run r --hosts " + list + " --label sector":          `has the label "sector", which the earlier run has too`,
		"--from-run r --column nosuch --hosts " + list:              `has no column "nosuch" (--column)`,
		"--bodies " + bodies + " --label nosuch":                    `has no column for --label nosuch`,
	} {
		given := append(strings.Fields(flags), "--out", dir)
		text := call(t, 65, append([]string{"run", "--run", "one", "--progress", "none"}, given...)...)
		planned := call(t, 65, append([]string{"plan", "--run", "p", "--shards", "2"}, given...)...)
		if !strings.Contains(planned, want) || !strings.Contains(text, want) {
			t.Errorf("%s: plan says\n%s\nrun says\n%s", flags, planned, text)
		}
	}
}
