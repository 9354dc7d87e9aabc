package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told is an event of history --json, as far as this test compares it.
type told struct {
	Event, Run string
	Origin     *string
	Reason     *string
	Closed     []string
	Days       *int
	Change     *struct {
		Kind                            string
		Agent, Before, After, BeforeRun *string
	}
}

// Hosts close, open, fail, change in part, leave the list and come back at random. The
// history of each is what the queries that it prints find in the tables, once diff has
// compared all runs, and does not depend on that.
func TestHistoryIsWhatTheTablesSay(t *testing.T) {
	t.Parallel()
	files := map[byte]string{
		'o': "User-agent: *\nDisallow:\n", 'p': "User-agent: *\nDisallow: /private\n",
		'q': "User-agent: *\nDisallow: /private\nDisallow: /x\nSitemap: /s.xml\n",
		'c': "User-agent: *\nDisallow: /\n", 'g': "User-agent: *\nDisallow:\n\nUser-agent: GPTBot\nCrawl-delay: 2\n" +
			"Disallow: /\n",
	}
	random := rand.New(rand.NewPCG(8, 1))
	const weeks = 7
	hosts := 24
	if testing.Short() {
		hosts = 5
	}
	states := make(map[string]string)
	for i := range hosts {
		var s strings.Builder
		for range weeks {
			s.WriteByte("oopqcgxx-"[random.IntN(9)])
		}
		states[fmt.Sprintf("h%d.example", i)] = s.String()
	}
	states["steady.example"], states["never.example"] = "ooooooo", "xxxxxxx"
	week := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := files[states[r.Host][week]]; ok {
			fmt.Fprint(w, text)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	for ; week < weeks; week++ {
		list := ""
		for host, s := range states {
			if s[week] != '-' {
				list += host + "\n"
			}
		}
		days := 1 + 3*week
		if week == weeks-1 {
			days += 6
		}
		robocensus(t, 0, "run", "--hosts", write(t, filepath.Join(dir, "hosts"), list), "--out", out, "--run",
			fmt.Sprint("w", week+1), "--as-of", fmt.Sprintf("2024-01-%02d", days),
			"--schemes", "http", "--connect-to", strings.TrimPrefix(server.URL, "http://"), "--retries", "0", "--agents",
			agents, "--progress", "none")
	}
	history := func(host string) (text string, events []told) {
		text, _ = robocensus(t, 0, "history", host, "--out", out, "--json")
		must(t, json.Unmarshal([]byte(text), &events))
		return text, events
	}
	before := make(map[string]string)
	for host := range states {
		before[host], _ = history(host)
	}
	for week := 2; week <= weeks; week++ {
		robocensus(t, 0, "diff", "--out", out, fmt.Sprint("w", week-1), fmt.Sprint("w", week))
	}
	robocensus(t, 0, "diff", "--out", out, "w1", fmt.Sprint("w", weeks)) // its rows are no part of a history
	db := quick(t, out)
	some := func(s *string) string {
		if s == nil {
			return "NULL"
		}
		return *s
	}
	for host, s := range states {
		text, events := history(host)
		if text != before[host] {
			t.Errorf("%s: the history depends on whether diff has compared the runs", host)
		}
		queries, _ := robocensus(t, 0, "history", host, "--out", out, "--sql")
		each := strings.Split(strings.TrimSuffix(strings.TrimSpace(queries), ";"), ";\n")
		if len(each) != 3 {
			t.Fatalf("%d queries", len(each))
		}
		var answers [3][][]string
		for i, q := range each {
			_, rows, err := ask(db, "SELECT COLUMNS(*)::VARCHAR FROM ("+q+")")
			must(t, err)
			answers[i] = rows
		}
		// Classes, by query; and the whole of changes.
		var classes, changes []string
		shown := make(map[string]bool) // runs in which the host was read or not
		gaps := 0
		for _, e := range events {
			switch e.Event {
			case "state":
				shown[e.Run] = true
				if wantClosed := map[byte]int{'c': 2, 'g': 1}[s[int(e.Run[1]-'1')]]; len(e.Closed) != wantClosed {
					t.Errorf("%s in %s shuts out %v, want %d", host, e.Run, e.Closed, wantClosed)
				}
			case "change":
				changes = append(changes, strings.Join([]string{e.Run, e.Change.Kind, some(e.Change.Agent), some(e.Change.Before),
					some(e.Change.After)}, " "))
				if e.Change.Kind == "policy_class" {
					classes = append(classes, strings.Join([]string{e.Run, *e.Change.Agent, *e.Change.Before, *e.Change.After}, " "))
				}
			case "outage", "absent":
				if s[int(e.Run[1]-'1')] != map[string]byte{"outage": 'x', "absent": '-'}[e.Event] {
					t.Errorf("%s: %s in %s, and its states are %s", host, e.Event, e.Run, s)
				}
			case "gap":
				if gaps++; *e.Days != 9 || e.Run != "w7" {
					t.Errorf("%s: a gap of %d days before %s", host, *e.Days, e.Run)
				}
			default:
				t.Errorf("%s: event %s", host, text)
			}
		}
		var wantClasses, wantChanges []string
		for _, row := range answers[1] { // date, run, origin, agent, before, after
			wantClasses = append(wantClasses, strings.Join([]string{row[1], row[3], row[4], row[5]}, " "))
		}
		_, rows, err := ask(db, fmt.Sprintf(`SELECT run, kind, agent, before, after FROM (%s)
WHERE kind NOT IN ('host_new', 'host_gone') AND NOT (kind = 'reachability' AND after = 'server_error')`, each[2]))
		must(t, err)
		for _, row := range rows {
			wantChanges = append(wantChanges, strings.Join(row, " "))
		}
		// A host that left the list is new when it comes back: its state is told anew.
		if !strings.Contains(s, "-") {
			for _, pair := range [][2][]string{{wantClasses, classes}} {
				slices.Sort(pair[0])
				slices.Sort(pair[1])
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s, %s: classes (-query +history):\n%s", host, s, diff)
				}
			}
		}
		slices.Sort(wantChanges)
		slices.Sort(changes)
		if diff := cmp.Diff(wantChanges, changes); diff != "" {
			t.Errorf("%s, %s: changes (-table +history):\n%s", host, s, diff)
		}
		if len(answers[0]) != len(strings.ReplaceAll(s, "-", "")) {
			t.Errorf("%s, %s: the query for states has %d rows", host, s, len(answers[0]))
		}
		// Every change of state shows.
		for week := 1; week < weeks; week++ {
			run := fmt.Sprint("w", week+1)
			if s[week] != s[week-1] && strings.ContainsAny(s[:week], "opqcgx") && !strings.Contains(text, `"run": "`+run+`"`) {
				t.Errorf("%s, %s: the history does not show %s", host, s, run)
			}
		}
		if strings.Trim(s[:weeks-1], "-") != "" != (gaps == 1) {
			t.Errorf("%s, %s: %d gaps", host, s, gaps)
		}
	}
}
