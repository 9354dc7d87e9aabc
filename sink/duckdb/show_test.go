package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown is what show --json says of an origin, as far as this test compares it.
type shown struct {
	Origin, Outcome, Reason string
	Bytes                   *int64
	Lines, Groups, Sitemaps int64
	Findings                map[string]int64
	Categories              []struct {
		Category string
		Classes  map[string]int64
		Closed   []string
	}
	Templates []struct {
		Template, Kind string
		Version        *string
		FirstLine      int32 `json:"first_line"`
		LastLine       int32 `json:"last_line"`
	}
	Statements []struct {
		GroupAgent              *string `json:"group_agent"`
		Scope, Mechanism, Label string
		Document                *string
		Header                  *string
		Use, Preference, Path   *string
		Value                   string
		Line                    int32
		Conflict                bool
		Remark                  *string
	}
	Agents []struct {
		Agent, Class string
		GroupAgent   *string `json:"group_agent"`
		Template     *string
		AITrain      *string `json:"ai_train"`
		AIInput      *string `json:"ai_input"`
		Search       *string
		Rules        []struct {
			Line          int64
			Kind, Pattern string
		}
	}
}

// For every host of the demo, show says what its own queries find in the tables; and for some
// of them in a data set that is published.
func TestShowIsWhatTheTablesSay(t *testing.T) {
	t.Parallel()
	hosts, rules := "origin", 500
	if testing.Short() {
		hosts, rules = "origin IN (SELECT origin FROM templates UNION SELECT origin FROM preferences) DESC, "+
			"hash(origin) LIMIT 40", 80
	}
	rulesSeen, wordsSeen, statementsSeen := wantShownAsTables(t, single, hosts)
	if rulesSeen < rules || wordsSeen < 6 || statementsSeen < 60 {
		t.Errorf("%d rules, %d templates and %d statements compared", rulesSeen, wordsSeen, statementsSeen)
	}
	if n, _, _ := wantShownAsTables(t, publishedSet(t, single), "hash(origin) LIMIT 20"); n < 20 {
		t.Errorf("%d rules compared of a published set", n)
	}
}

// wantShownAsTables compares what show says of hosts in an order, for three agents, with
// what its queries find. It counts the rules, templates and statements that it compares.
func wantShownAsTables(t *testing.T, dir, order string) (rulesSeen, wordsSeen, statementsSeen int) {
	t.Helper()
	db := held(t, quick(t, dir))
	rows, err := db.Query("SELECT origin FROM (SELECT DISTINCT origin FROM fetches) ORDER BY " + order)
	must(t, err)
	var hosts []string
	for rows.Next() {
		var host string
		must(t, rows.Scan(&host))
		hosts = append(hosts, host)
	}
	must(t, rows.Err())
	asked := append([]string{"show", "--out", dir, "--agent", "GPTBot", "--agent", "Googlebot-Image", "--agent",
		"AhrefsBot"}, hosts...)
	text, _ := robocensus(t, 0, append(asked, "--json")...)
	var all []shown
	must(t, json.Unmarshal([]byte(text), &all))
	text, _ = robocensus(t, 0, append(asked, "--sql")...)
	queries := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";\n")
	if len(all) != len(hosts) || len(queries) != 8*len(hosts) {
		t.Fatalf("%d objects and %d queries of %d hosts", len(all), len(queries), len(hosts))
	}
	texts := func(query string) (out []string) { // each row as text
		rows, err := db.Query(query)
		must(t, err)
		defer rows.Close()
		columns, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			cells := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range cells {
				into[i] = &cells[i]
			}
			must(t, rows.Scan(into...))
			out = append(out, fmt.Sprint(cells...))
		}
		must(t, rows.Err())
		return out
	}
	some := func(s *string) any {
		if s == nil {
			return nil
		}
		return *s
	}
	for i, s := range all {
		of := queries[8*i : 8*i+8]
		var bytes any
		if s.Bytes != nil {
			bytes = *s.Bytes
		}
		got := fmt.Sprint(s.Origin, s.Outcome, s.Reason, bytes, s.Lines, s.Groups, s.Sitemaps)
		if want := texts("SELECT origin, outcome, reason, body_bytes, coalesce(lines, 0), coalesce(groups, 0), " +
			"coalesce(sitemaps, 0) FROM (" + of[0] + ")"); !slices.Equal(want, []string{got}) {
			t.Errorf("%s: %q, and the table says %q", hosts[i], got, want)
		}
		var findings map[string]int64 // null where no file was read
		if slices.Equal(texts("SELECT content_digest IS NOT NULL AND challenge IS NULL FROM ("+of[0]+")"), []string{"true"}) {
			findings = make(map[string]int64)
		}
		for _, row := range texts("SELECT class || ' ' || lines FROM (" + of[1] + ")") {
			var class string
			var n int64
			fmt.Sscan(row, &class, &n)
			findings[class] = n
		}
		if diff := cmp.Diff(findings, s.Findings); diff != "" {
			t.Errorf("%s: findings (-SQL +show):\n%s", hosts[i], diff)
		}
		var classes []string
		for _, c := range s.Categories {
			for class, n := range c.Classes {
				closed := ""
				if class == "disallow_all" {
					closed = strings.Join(c.Closed, " ")
				}
				classes = append(classes, fmt.Sprintf("%s %s %d %s", c.Category, class, n, closed))
			}
		}
		slices.Sort(classes)
		want := texts("SELECT concat_ws(' ', category, class, agents, coalesce(array_to_string(closed, ' '), '')) FROM (" +
			of[2] + ") ORDER BY 1")
		slices.Sort(want)
		if diff := cmp.Diff(want, classes); diff != "" {
			t.Errorf("%s: categories (-SQL +show):\n%s", hosts[i], diff)
		}
		var wordsOf, statements []string
		for _, w := range s.Templates {
			wordsOf = append(wordsOf, fmt.Sprint(w.Template, w.Kind, some(w.Version), w.FirstLine, w.LastLine))
		}
		if diff := cmp.Diff(texts("SELECT * EXCLUDE (seq) FROM ("+of[3]+")"), wordsOf); diff != "" {
			t.Errorf("%s: templates (-SQL +show):\n%s", hosts[i], diff)
		}
		for _, w := range s.Statements {
			statements = append(statements, fmt.Sprint(some(w.GroupAgent), w.Scope, w.Mechanism, some(w.Document),
				some(w.Header), w.Label, some(w.Use), some(w.Preference), some(w.Path), w.Value, w.Line, w.Conflict,
				some(w.Remark)))
		}
		if diff := cmp.Diff(texts("SELECT * EXCLUDE (seq) FROM ("+of[4]+")"), statements); diff != "" {
			t.Errorf("%s: statements (-SQL +show):\n%s", hosts[i], diff)
		}
		wordsSeen, statementsSeen = wordsSeen+len(wordsOf), statementsSeen+len(statements)
		for k, a := range s.Agents {
			var lines []string
			for _, r := range a.Rules {
				lines = append(lines, fmt.Sprint(a.Agent, a.Class, some(a.GroupAgent), some(a.Template), some(a.AITrain),
					some(a.AIInput), some(a.Search), r.Line, r.Kind, r.Pattern))
			}
			rulesSeen += len(lines)
			if lines == nil {
				lines = []string{fmt.Sprint(a.Agent, a.Class, some(a.GroupAgent), some(a.Template), some(a.AITrain),
					some(a.AIInput), some(a.Search), nil, nil, nil)}
			}
			if diff := cmp.Diff(
				texts("SELECT agent, class, group_agent, template, ai_train, ai_input, search, line, kind, pattern FROM ("+of[5+k]+
					") ORDER BY line"), lines); diff != "" {
				t.Errorf("%s, %s (-SQL +show):\n%s", hosts[i], a.Agent, diff)
			}
		}
	}
	return rulesSeen, wordsSeen, statementsSeen
}

// Of several captures of an origin in a run the queries of history find the last one alone,
// and those of show tell them apart.
func TestQueriesOfSeveralCaptures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, agents := filepath.Join(dir, "out"), write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: search}\n- {name: Googlebot, category: search}\n")
	bodies := []string{"User-agent: *\nDisallow:\n", "User-agent: GPTBot\nDisallow: /\n", "User-agent: *\nDisallow: /\n"}
	closedBy := []string{"", "GPTBot", "GPTBot Googlebot"}
	runs := [][]int{{0, 1}, {0, 2}, {2, 1, 0}, {1, 2}} // bodies in the order of time
	for i, captures := range runs {
		archive := ""
		for hour, body := range captures {
			http := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + bodies[body]
			record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%d>\r\n"+
				"WARC-Target-URI: https://cap.example/robots.txt\r\nWARC-Date: 2024-0%d-01T0%d:00:00Z\r\n"+
				"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
				hour, i+1, hour, len(http), http)
			if i == 3 {
				archive = record + archive // the last one first
			} else {
				archive += record
			}
		}
		robocensus(t, 0, "run", "--warc", write(t, filepath.Join(dir, "a.warc"), archive), "--agents", agents, "--out", out,
			"--run", fmt.Sprint("r", i), "--progress", "none")
	}
	db := quick(t, out)
	rowsOf := func(query string) (rows []string) {
		_, all, err := ask(db, "SELECT COLUMNS(*)::VARCHAR FROM ("+query+")")
		must(t, err)
		for _, row := range all {
			rows = append(rows, strings.Join(row, " "))
		}
		return rows
	}
	split := func(args ...string) []string {
		text, _ := robocensus(t, 0, append(args, "--out", out, "--sql")...)
		return strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";\n")
	}
	text, _ := robocensus(t, 0, "history", "cap.example", "--out", out, "--json")
	var events []told
	must(t, json.Unmarshal([]byte(text), &events))
	var changes []string
	for _, e := range events {
		switch {
		case e.Event == "state":
			if e.Run != "r0" || strings.Join(e.Closed, " ") != closedBy[1] {
				t.Errorf("the state of %s shuts out %v", e.Run, e.Closed)
			}
		case e.Change != nil && e.Change.Kind == "policy_class":
			changes = append(changes, strings.Join([]string{e.Run, "https://cap.example", *e.Change.Agent, *e.Change.Before,
				*e.Change.After}, " "))
		}
	}
	queries := split("history", "cap.example")
	slices.Sort(changes)
	if diff := cmp.Diff(rowsOf("SELECT run, origin, agent, before, after FROM ("+queries[1]+") ORDER BY ALL"),
		changes); diff != "" || len(changes) != 5 {
		t.Errorf("%d changes (-query +history):\n%s", len(changes), diff)
	}
	if got := rowsOf("SELECT run FROM (" + queries[0] + ")"); !slices.Equal(got, []string{"r0", "r1", "r2", "r3"}) {
		t.Errorf("the query for states has the runs %v", got)
	}
	for i, captures := range runs {
		categories := split("show", "cap.example", "--run", fmt.Sprint("r", i))[2]
		var want []string
		for _, body := range captures {
			want = append(want, closedBy[body])
		}
		if i == 3 {
			slices.Reverse(want)
		}
		got := rowsOf("SELECT coalesce(any_value(array_to_string(closed, ' ')), '') FROM (" + categories +
			") GROUP BY seq ORDER BY seq")
		if !slices.Equal(got, want) {
			t.Errorf("r%d: captures shut out %q, want %q", i, got, want)
		}
	}
}

// check --out decides as the table verdicts of the run does, without the bodies, and with
// them for a profile that the tables groups and rules do not hold.
func TestCheckOfARunIsItsVerdicts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agents := []string{"GPTBot", "Googlebot-Image", "AhrefsBot"}
	for _, row := range []struct {
		profile string
		more    []string
	}{{"google", nil}, {"classic-1996", []string{"--keep-bodies"}}} {
		out := filepath.Join(dir, row.profile)
		robocensus(t, 0, append([]string{"demo", "--out", out, "--profile", "google,classic-1996", "--json"}, row.more...)...)
		db := quick(t, out)
		for _, agent := range agents {
			_, want, err := ask(db,
				fmt.Sprintf(
					`SELECT CASE WHEN url LIKE '/%%' THEN origin || url ELSE url END AS u, verdict, coalesce(rule_line, 0)::VARCHAR
FROM history.verdicts WHERE agent = '%s' AND profile = '%s' ORDER BY u, verdict`, agent, row.profile))
			must(t, err)
			var urls strings.Builder
			for _, w := range want {
				urls.WriteString(w[0] + "\n")
			}
			code := 1
			text, _ := robocensus(t, code, "check", "--out", out, "--agent", agent, "--profile", row.profile, "--json",
				"--urls", write(t, filepath.Join(dir, "urls"), urls.String()))
			var said []struct {
				URL, Verdict, Remark string
				Line                 int
			}
			must(t, json.Unmarshal([]byte(text), &said))
			var got [][]string
			open := make(map[string]bool) // hosts whose rows could come from several files
			for i, s := range said {
				if s.Verdict == "undefined" && s.Remark != "" && row.more == nil {
					u, err := url.Parse(s.URL)
					must(t, err)
					open[u.Host], s.Verdict, s.Line = true, want[i][1], 0
					fmt.Sscan(want[i][2], &s.Line)
				}
				got = append(got, []string{s.URL, s.Verdict, fmt.Sprint(s.Line)})
			}
			if len(open) > 3 {
				t.Errorf("the tables do not decide for %v", open)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 500 {
				t.Errorf("%s, %s: %d URLs (-verdicts +check):\n%s", row.profile, agent, len(got), diff)
			}
		}
	}
}
