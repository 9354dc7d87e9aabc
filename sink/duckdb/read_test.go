package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A host behind a wall is unread, and so is one that fails: every view that counts hosts by
// what they answered counts those that were read, and no others.
func TestViewsReadTheSameHosts(t *testing.T) {
	t.Parallel()
	const wall, rules, closes = "cf-mitigated", "User-agent: *\nDisallow: /x\n", "User-agent: *\nDisallow: /\n"
	week := 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, _, _ := strings.Cut(r.Host, "-")
		switch {
		case kind == "wall200" || kind == "wall503" && week == 1:
			w.Header().Set(wall, "challenge")
			if kind == "wall503" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			fmt.Fprint(w, rules)
		case kind == "none":
			http.NotFound(w, r)
		case kind == "down":
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, rules)
		case kind == "page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><p>Welcome</p></html>")
		case kind == "closed" || kind == "changes" && week == 2:
			fmt.Fprint(w, closes)
		default:
			fmt.Fprint(w, rules)
		}
	}))
	defer server.Close()
	list := ""
	for kind, n := range map[string]int{"open": 3, "closed": 2, "changes": 1, "none": 2, "page": 1, "wall200": 2,
		"wall503": 3, "down": 2} {
		for i := range n {
			list += fmt.Sprintf("%s-%d%s.example\n", kind, i, kind)
		}
	}
	const read, files, all = 3 + 2 + 1 + 2 + 1, 3 + 2 + 1 + 1, 16
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	list = write(t, filepath.Join(dir, "hosts"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	for ; week < 3; week++ {
		robocensus(t, 0, "run", "--hosts", list, "--out", out, "--run", fmt.Sprint("w", week), "--as-of",
			fmt.Sprintf("2024-01-%02d", 7*week),
			"--schemes", "http", "--connect-to", strings.TrimPrefix(server.URL, "http://"), "--retries", "0", "--agents",
			agents, "--progress", "none")
	}
	robocensus(t, 0, "diff", "--out", out, "w1", "w2")
	db := quick(t, out)

	const first = " WHERE run = 'w1' AND stratum = 'all'"
	ofAgent := first + " AND agent = 'GPTBot'"
	views := map[string]struct {
		sql  string
		want int
	}{
		"series_sizes":    {"SELECT hosts FROM series_sizes" + first, all},
		"series_files":    {"SELECT files FROM series_files" + first, files},
		"series_policies": {"SELECT sum(count) FROM series_policies" + ofAgent + " AND class <> 'unknown'", read},
		"series_closings": {"SELECT sum(count) FROM series_closings" + first +
			" AND category = 'search' AND key IN ('all', 'some', 'none')", read},
		"series_categories": {"SELECT sum(count) FROM series_categories" + first +
			" AND category = 'search' AND closes IN ('all', 'some', 'none')", read},
		"series_answers": {"SELECT sum(count) FROM series_answers" + first +
			" AND metric = 'outcome' AND key IN ('conditional_allow', 'full_allow')", read},
		"series_statuses": {"SELECT sum(count) FROM series_statuses" + first +
			" AND metric = 'outcome' AND key IN ('conditional_allow', 'full_allow')", read},
		"series_features": {"SELECT max(texts) FROM series_features" + first, files},
		"series_signals":  {"SELECT max(texts) FROM series_signals" + first, files},
		"series_refusals": {"SELECT max(files) FROM series_refusals" + first, files},
		"series_counts": {"SELECT sum(count) FROM series_counts" + ofAgent +
			" AND metric = 'policy' AND key <> 'unknown'", read},
		"was_read": {"SELECT count(*) FROM history.fetches WHERE run = 'w1' AND was_read(reason, challenge)", read},
		"rules_decide": {"SELECT count(*) FROM history.fetches WHERE run = 'w1' AND rules_decide(outcome, challenge)",
			files},
		// The views of the last run: the three walls that answered with 503 are gone.
		"fetches_latest":    {"SELECT count(*) FROM fetches_latest WHERE was_read(reason, challenge)", read + 3},
		"fetches_resolved":  {"SELECT count(*) FROM fetches_resolved WHERE was_read(reason, challenge)", read + 3},
		"policies_resolved": {"SELECT count(DISTINCT host) FROM policies_resolved WHERE class <> 'unknown'", read + 3},
		"verdicts_resolved": {"SELECT count(DISTINCT seq) FROM verdicts_resolved WHERE reason NOT IN ('challenge', " +
			"'full_disallow', 'undefined')", read + 3},
		"families":       {"SELECT max(hosts) FROM families", 3 + 3}, // open, and behind the walls before
		"policy_changes": {"SELECT count(DISTINCT host) FROM policy_changes", 1},
	}
	for name, v := range views {
		if got := one(t, db, v.sql); got != fmt.Sprint(v.want) {
			t.Errorf("%s counts %s hosts, want %d: %s", name, got, v.want, v.sql)
		}
	}

	// Views that count no hosts by what they answered, or only what hosts say to identities.
	others := strings.Fields(
		`stratum stratum_order canonical_url directives named_classes classifications redirects runs series_templates
		turned_away newly_turned_away pages_met paper_and_practice preference_changes answer_changes series_documents series_pages identity_changes page_changes document_changes statement_changes`)
	text, err := os.ReadFile(filepath.Join(out, "views.sql"))
	must(t, err)
	created := make(map[string]int) // a table has two views: of one run, and of all
	for _, name := range regexp.MustCompile(`CREATE OR REPLACE (?:VIEW|MACRO) ([a-z_]+)(?: AS|\()`).FindAllStringSubmatch(
		string(text), -1) {
		created[name[1]]++
	}
	if created["fetches"] != 2 {
		t.Errorf("views.sql creates %v", created)
	}
	for name, times := range created {
		if _, counted := views[name]; !counted && times == 1 && !slices.Contains(others, name) {
			t.Errorf("it is not asked how many hosts the view %s says were read", name)
		}
	}
}
