package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// obeyedText is what a stranger would have a terminal obey: an escape sequence, one of C1,
// another direction, and lines of its own.
const obeyedText = "x\x1b[31m\x1b]0;t\x07\u009b2J\u202e\r\nforged: 0\u2028y"

// overData returns the commands over the runs q and r of a folder, and what no command
// over data is. Each prints for people, but for --json and the like.
func overData() (over [][]string, other []string) {
	return [][]string{
		{"report", "r", "--text"}, {"report", "r", "--html", "-"}, {"runs"}, {"runs", "--json"}, {"verify", "r"},
		{"verify", "r", "--json"},
		{"show", "h1.example"}, {"show", "h1.example", "--run", "r", "--agent", "GPTBot"}, {"show", "h1.example", "--json"},
		{"history", "h1.example"}, {"history", "h1.example", "--agent", "GPTBot"},
		{"series"}, {"series", "--movers"}, {"series", "--csv", "-"}, {"series", "--json"}, {"series", "--html", "-"},
		{"series", "--panel", "--clustered"},
		{"diff", "q", "r", "--list"}, {"diff", "q", "r", "--format", "csv"}, {"diff", "q", "r", "--format", "ndjson"},
		{"diff", "q", "r", "--again"}, {"diff", "q", "r", "--format", "markdown"}, {"diff", "q", "r", "--format", "json"},
		{"check", "https://h1.example/1", "--agent", "GPTBot"},
		{"run", "--from-run", "r", "--run", "again", "--progress", "none"}, {"run", "--from-run", "r", "--run", "lines",
			"--progress", "none", "--lines"},
		{"run", "--from-run", "r", "--run", "dry", "--dry-run"},
		{"publish", "--to", "set", "r", "--creator", "A", "--licence", "CC0-1.0"}, {"prune", "--keep", "1", "--dry-run"},
	}, []string{"completion", "help", "demo", "plan", "compare", "export", "reproduce"}
}

// forgedEverywhere changes all rows of the texts of a column of a table.
func forgedEverywhere[R any](f *forgedSet, table, field string) bool {
	done := false
	for _, p := range f.parts(table) {
		rows := rowsOf[R](f, p)
		for i := range rows {
			v := reflect.ValueOf(&rows[i]).Elem().FieldByName(field)
			if v.Kind() == reflect.Pointer && !v.IsNil() {
				v = v.Elem()
			}
			switch {
			case v.Kind() == reflect.String:
				v.SetString(v.String() + obeyedText)
			case v.Kind() == reflect.Slice && v.Len() > 0 && v.Index(0).Kind() == reflect.String:
				v.Index(0).SetString(v.Index(0).String() + obeyedText)
			default:
				continue
			}
			done = true
		}
		f.put(p, encoded(f, f.content(p), rows))
	}
	return done
}

// textColumns are the columns of texts, each with what forges it.
func textColumns() (names []string, forge map[string]func(*forgedSet) bool) {
	forge = make(map[string]func(*forgedSet) bool)
	add := func(table string, row reflect.Type, change func(*forgedSet, string, string) bool) {
		for i := range row.NumField() {
			f := row.Field(i)
			if kind := f.Type.Kind(); kind == reflect.String || kind == reflect.Pointer &&
				f.Type.Elem().Kind() == reflect.String || kind == reflect.Slice && f.Type.Elem().Kind() == reflect.String {
				name := table + "." + f.Name
				names, forge[name] = append(names, name), func(s *forgedSet) bool { return change(s, table, f.Name) }
			}
		}
	}
	add("fetches", reflect.TypeFor[schema.Fetch](), forgedEverywhere[schema.Fetch])
	add("groups", reflect.TypeFor[schema.Group](), forgedEverywhere[schema.Group])
	add("rules", reflect.TypeFor[schema.Rule](), forgedEverywhere[schema.Rule])
	add("sitemaps", reflect.TypeFor[schema.Sitemap](), forgedEverywhere[schema.Sitemap])
	add("lines", reflect.TypeFor[schema.Line](), forgedEverywhere[schema.Line])
	add("signals", reflect.TypeFor[schema.Signal](), forgedEverywhere[schema.Signal])
	add("preferences", reflect.TypeFor[schema.Preference](), forgedEverywhere[schema.Preference])
	add("templates", reflect.TypeFor[schema.Template](), forgedEverywhere[schema.Template])
	add("labels", reflect.TypeFor[schema.Label](), forgedEverywhere[schema.Label])
	add("label_counts", reflect.TypeFor[schema.LabelCount](), forgedEverywhere[schema.LabelCount])
	add("policies", reflect.TypeFor[schema.Policy](), forgedEverywhere[schema.Policy])
	add("verdicts", reflect.TypeFor[schema.Verdict](), forgedEverywhere[schema.Verdict])
	add("agents", reflect.TypeFor[schema.Agent](), forgedEverywhere[schema.Agent])
	add("summary", reflect.TypeFor[schema.Count](), forgedEverywhere[schema.Count])
	add("examples", reflect.TypeFor[schema.Example](), forgedEverywhere[schema.Example])
	add("changes", reflect.TypeFor[schema.Change](), forgedChanges)
	return names, forge
}

// forgedChanges changes the part of a comparison, and its record.
func forgedChanges(f *forgedSet, _, field string) bool {
	name := filepath.Join(f.dir, "_runs/r/against/q.json")
	text, err := os.ReadFile(name)
	if err != nil || f.run != "r" {
		return false
	}
	c := new(journal.Comparison)
	must(f.T, json.Unmarshal(text, c))
	f.manifest.Parts = append(f.manifest.Parts, *c.Part) // for put
	done := forgedEverywhere[schema.Change](f, "changes", field)
	last := len(f.manifest.Parts) - 1
	c.Part.Digest = f.manifest.Parts[last].Digest
	f.manifest.Parts = f.manifest.Parts[:last]
	sealed, _ := sinktest.Sealed(f.T, c)
	must(f.T, os.WriteFile(name, sealed, 0o666))
	return done
}

// No command over data of strangers prints a byte of it that a terminal obeys, whichever
// column has it. What is written for programs escapes it too: JSON as JSON does, CSV as
// it is shown. A command that is in no list here fails.
func TestNothingOfDataControlsATerminal_NoRace(t *testing.T) {
	t.Parallel()
	over, other := overData()
	for _, c := range commands().Commands() {
		if !slices.ContainsFunc(over, func(args []string) bool { return args[0] == c.Name() }) &&
			!slices.Contains(other, c.Name()) {
			t.Errorf("the command %s is in no list of this test", c.Name())
		}
	}
	good := twoRunsOfBodies(t)
	names, forge := textColumns()
	if testing.Short() {
		always := []string{"summary.Stratum", "summary.Key", "summary.Agent", "changes.Kind", "fetches.ErrorClass",
			"agents.Category", "fetches.Host", "summary.Category", "changes.Severity"}
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		names = append(always, names[0])
	}
	printed := make(map[string]bool) // commands that have printed some of a forged text
	for _, name := range names {
		dir := copied(t, good)
		for _, run := range []string{"q", "r"} {
			f := &forgedSet{T: t, dir: dir, run: run, is: "run", chance: rand.New(rand.NewPCG(1, 2))}
			f.open()
			if forge[name](f) && !strings.HasPrefix(name, "changes.") {
				f.seal()
			}
		}
		for _, args := range over {
			said, began := obeys(t, dir, args), time.Now()
			if at := obeyed(said); at >= 0 {
				t.Errorf("%s: %s prints %.60q", name, strings.Join(args, " "), said[max(0, at-20):])
			}
			if strings.Contains(said, "forged: 0") {
				printed[strings.Join(args, " ")] = true
			}
			if time.Since(began) > time.Minute {
				t.Errorf("%s: %s takes %v", name, args, time.Since(began))
			}
		}
		os.RemoveAll(dir)
	}
	t.Logf("%d columns; some of their texts printed by %d of %d commands", len(names), len(printed), len(over))
	if len(printed) < 5 {
		t.Errorf("only %v print texts of the data: the test shows nothing", printed)
	}
}

// obeys runs a command over a folder, and returns all that it prints.
func obeys(t *testing.T, dir string, args []string) string {
	t.Helper()
	at := slices.IndexFunc(args, func(arg string) bool { return arg == "set" })
	if args = append(slices.Clone(args), "--out", dir); at >= 0 {
		args[at] = filepath.Join(t.TempDir(), "set")
	}
	var out bytes.Buffer
	mainCode(args, strings.NewReader(""), &out, &out)
	return out.String()
}

// twoRunsOfBodies makes two runs that differ, and their comparison.
func twoRunsOfBodies(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	agents := filepath.Join(work, "agents.yaml")
	must(t, os.WriteFile(agents,
		[]byte("- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"), 0o666))
	out := filepath.Join(work, "out")
	for n, run := range []string{"q", "r"} {
		var ranks []string
		for i := range 40 {
			host := fmt.Sprintf("h%d.example", i)
			ranks = append(ranks, fmt.Sprintf("%d,%s", i+1, host))
			text := fmt.Sprintf("# Policy\nUser-agent: *\nDisallow: /%d\nSitemap: /s\nnofield\ncontent-signal: ai-train=no\n", i)
			if n == 1 {
				text += "\nUser-agent: GPTBot\nDisallow: /\n"
			}
			name := filepath.Join(work, run, host)
			must(t, os.MkdirAll(filepath.Dir(name), 0o777))
			must(t, os.WriteFile(name, []byte(text), 0o666))
		}
		list := filepath.Join(work, "ranks.csv")
		must(t, os.WriteFile(list, []byte(strings.Join(ranks, "\n")), 0o666))
		call(t, 0, "run", "--bodies", filepath.Join(work, run), "--ranks", list, "--out", out, "--run", run, "--as-of",
			cmp.Or(map[string]string{"q": "2025"}[run], "2026"),
			"--agents", agents, "--keep-bodies", "--keep-comments", "--progress", "none")
	}
	call(t, 0, "diff", "q", "r", "--out", out)
	return out
}
