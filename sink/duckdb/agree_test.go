package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Over random pairs of runs diff, report, series and the view policy_changes give the
// same numbers of hosts that closed and opened, for each agent and category; and those
// of google are what the verdicts on a path of every kind show.
func TestDiffReportAndSeriesAgree(t *testing.T) {
	t.Parallel()
	folders, pairs := 10, 20
	if testing.Short() {
		folders, pairs = 1, 4
	}
	for seed := range folders {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			agreeing(t, uint64(seed), pairs)
		})
	}
}

// closings holds numbers of hosts by profile, agent or category, and kind.
type closings map[string]int64

func (c closings) add(n int64, of ...string) {
	if n > 0 {
		c[strings.Join(of, " ")] += n
	}
}

var closingKinds = []string{"closed", "shut_out", "opened", "let_in", "both", "undecided"}

func agreeing(t *testing.T, seed uint64, pairs int) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	agents, urls := filepath.Join(dir, "agents.yaml"), filepath.Join(dir, "urls.txt")
	must(t, os.WriteFile(agents, []byte("- {name: A, category: ai-training}\n- {name: B, category: ai-training}\n"+
		"- {name: C, category: search, falls_back_to: [A]}\n"), 0o666))
	must(t, os.WriteFile(urls, []byte(strings.Join(everyKindOfPath, "\n")+"\n"), 0o666))
	r := rand.New(rand.NewPCG(seed, 30))
	for i := range pairs + 1 {
		bodies := filepath.Join(dir, fmt.Sprintf("bodies-%d", i))
		must(t, os.Mkdir(bodies, 0o777))
		for host := range 12 {
			if r.IntN(15) > 0 {
				must(t, os.WriteFile(filepath.Join(bodies, fmt.Sprintf("h%d.example", host)), []byte(smallFile(r)), 0o666))
			}
		}
		args := []string{"run", "--bodies", bodies, "--out", out, "--run", runOf(i), "--agents", agents, "--urls", urls,
			"--profile", "google,rfc9309", "--progress", "none",
			"--as-of", time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)}
		if seed%2 == 0 {
			args = append(args, "--keep-bodies")
		}
		robocensus(t, 0, args...)
	}
	byDiff, hosts := make([]closings, pairs+1), make([]int64, pairs+1)
	for i := 1; i <= pairs; i++ {
		byDiff[i], hosts[i] = closingsOfDiff(t, out, i)
	}
	bySeries, base := closingsOfSeries(t, out)
	db := reader(t, out)
	of := fmt.Sprintf("WHERE run = '%s' AND against = '%s'", runOf(pairs), runOf(pairs-1))
	wantExported(t, db, "policy_changes", "FROM history.policy_changes "+of, "--out", out)
	for i := 1; i <= pairs; i++ {
		followed := maps.Clone(byDiff[i])
		maps.DeleteFunc(followed, func(key string, _ int64) bool { // a series has no categories of changes
			return slices.Contains([]string{"ai-training", "search"}, strings.Fields(key)[1])
		})
		if diff := cmp.Diff(followed, bySeries[runOf(i)]); diff != "" || hosts[i] != base[runOf(i)] {
			t.Errorf("pair %d: of %d and %d hosts (-diff +series)\n%s", i, hosts[i], base[runOf(i)], diff)
		}
		view := make(closings)
		for _, of := range []string{"agent", "category", "'any'"} {
			_, rows, err := ask(db,
				fmt.Sprintf(
					`SELECT p.profile, name, count(*) FILTER (c), count(*) FILTER (s), count(*) FILTER (o), count(*) FILTER (l), count(*) FILTER (c AND o), count(*) FILTER (u AND NOT c AND NOT o)
				FROM (SELECT profile, origin, %s AS name, bool_or(closed) AS c, bool_or(shut_out) AS s, bool_or(opened) AS o, bool_or(let_in) AS l, bool_or(undecided) AS u
					FROM history.policy_changes WHERE run = '%s' AND against = '%s' GROUP BY ALL) p GROUP BY ALL`, of, runOf(i),
					runOf(i-1)))
			must(t, err)
			for _, row := range rows {
				for k, kind := range closingKinds {
					if kind != "undecided" || of != "'any'" { // texts whose meaning is undecided have no policy
						n, _ := strconv.ParseInt(row[2+k], 10, 64)
						view.add(n, row[0], row[1], kind)
					}
				}
			}
		}
		wanted := maps.Clone(byDiff[i])
		maps.DeleteFunc(wanted, func(key string, _ int64) bool {
			return strings.HasSuffix(key, "reworded") || strings.HasSuffix(key, "any undecided")
		})
		if diff := cmp.Diff(wanted, view); diff != "" {
			t.Errorf("pair %d (-diff +view)\n%s", i, diff)
		}
		page := make(closings)
		for id, f := range report(t, out, runOf(i), "--against", runOf(i-1)) {
			if id != "change-agents" && id != "change-categories" {
				continue
			}
			for _, row := range f.rows[1:] {
				for k, kind := range closingKinds[:4] {
					n, _ := strconv.ParseInt(row[1+k], 10, 64)
					page.add(n, "google", row[0], kind)
				}
			}
			if head, rows, err := ask(db, f.sql); err != nil || !cmp.Equal(f.rows, append([][]string{head}, rows...)) {
				t.Errorf("pair %d: the SQL of %s gives %v, %v, and the page has %v", i, id, rows, err, f.rows)
			}
		}
		maps.DeleteFunc(wanted, func(key string, _ int64) bool {
			of := strings.Fields(key)
			return of[0] != "google" || of[1] == "any" || !slices.Contains(closingKinds[:4], of[2])
		})
		if diff := cmp.Diff(wanted, page); diff != "" {
			t.Errorf("pair %d (-diff +report)\n%s", i, diff)
		}
		_, rows, err := ask(db, fmt.Sprintf(`SELECT agent, count(*) FILTER (c), count(*) FILTER (o) FROM (
			SELECT origin, agent, bool_or(a.verdict = 'allow' AND b.verdict = 'disallow') AS c, bool_or(a.verdict = 'disallow' AND b.verdict = 'allow') AS o
			FROM history.verdicts a JOIN history.verdicts b USING (origin, agent, profile, url)
			WHERE a.run = '%s' AND b.run = '%s' AND profile = 'google' GROUP BY ALL) GROUP BY ALL`, runOf(i-1), runOf(i)))
		must(t, err)
		for _, row := range rows {
			for k, kind := range []string{"closed", "opened"} {
				if key := "google " + row[0] + " " + kind; row[1+k] != strconv.FormatInt(wanted[key], 10) {
					t.Errorf("pair %d: %s is %d, and by all verdicts %s", i, key, wanted[key], row[1+k])
				}
			}
		}
	}
}

func runOf(i int) string { return fmt.Sprintf("r%02d", i) }

// everyKindOfPath has a path for each set of the patterns of smallFile that a path can
// match.
var everyKindOfPath = []string{"/zz", "/a", "/a/b", "/c", "/zz.x", "/a.x", "/a/b.x", "/c.x"}

// smallFile draws a small robots.txt.
func smallFile(r *rand.Rand) string {
	var out strings.Builder
	draw := func(of ...string) string { return of[r.IntN(len(of))] }
	for range r.IntN(4) {
		out.WriteString(draw("# a comment\n", "", "") + "User-agent: " + draw("*", "A", "B", "C", "Stranger") + "\n")
		for range r.IntN(4) {
			out.WriteString(draw("Disallow", "Disallow", "Allow") + ": " + draw("", "/", "/", "/a", "/a/b", "/c", "/*.x") + "\n")
		}
	}
	return out.String()
}

// closingsOfDiff compares a run with the one before it.
func closingsOfDiff(t *testing.T, out string, i int) (closings, int64) {
	t.Helper()
	text, _ := robocensus(t, 0, "diff", "--out", out, "--format", "json", runOf(i-1), runOf(i))
	var d struct {
		Compared, Unread             int64
		Agents, Categories, Profiles []map[string]any
	}
	must(t, json.Unmarshal([]byte(text), &d))
	got := make(closings)
	add := func(list []map[string]any, name func(map[string]any) string, kinds ...string) {
		for _, of := range list {
			for _, kind := range kinds {
				got.add(int64(of[kind].(float64)), of["profile"].(string), name(of), kind)
			}
		}
	}
	add(d.Agents, func(of map[string]any) string { return of["agent"].(string) }, closingKinds...)
	add(d.Categories, func(of map[string]any) string { return of["category"].(string) }, closingKinds...)
	add(d.Profiles, func(map[string]any) string { return "any" }, append([]string{"reworded"}, closingKinds...)...)
	return got, d.Compared - d.Unread
}

// closingsOfSeries returns the numbers of each run against the one before it.
func closingsOfSeries(t *testing.T, out string) (map[string]closings, map[string]int64) {
	t.Helper()
	text, _ := robocensus(t, 0, "series", "--out", out, "--profile", "google,rfc9309", "--json")
	var s struct {
		Points []struct {
			Metric, Run, Key         string
			Agent, Category, Profile *string
			Count, Denominator       int64
		}
	}
	must(t, json.Unmarshal([]byte(text), &s))
	got, base := make(map[string]closings), make(map[string]int64)
	for _, p := range s.Points {
		if p.Metric != "change" {
			continue
		}
		if got[p.Run] == nil {
			got[p.Run] = make(closings)
		}
		profile, name := "google", "any"
		for _, x := range []struct {
			from *string
			to   *string
		}{{p.Profile, &profile}, {p.Category, &name}, {p.Agent, &name}} {
			if x.from != nil {
				*x.to = *x.from
			}
		}
		got[p.Run].add(p.Count, profile, name, p.Key)
		base[p.Run] = p.Denominator
	}
	return got, base
}
