package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/sinktest/oracle"
)

// published takes the census of the demo once and publishes it with flags.
func published(t *testing.T, args ...string) (dir, folder string) {
	t.Helper()
	dir, folder = filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "set")
	inputs := t.TempDir()
	agents, urls := filepath.Join(inputs, "mine.yaml"), filepath.Join(inputs, "urls.txt")
	must(t, os.WriteFile(agents,
		[]byte("- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"), 0o666))
	must(t, os.WriteFile(urls, []byte("/\n/search?q=x\n"), 0o666))
	templates, config := filepath.Join(inputs, "templates.yaml"), filepath.Join(inputs, "config.yaml")
	must(t, os.WriteFile(templates, []byte("- {id: mine, kind: list, agent: \"*\", disallows: [/admin/]}\n"), 0o666))
	must(t, os.WriteFile(config, []byte("uses:\n- {mechanism: content-usage, label: tdm, use: ai-train}\n"), 0o666))
	call(t, 0, "demo", "--out", dir, "--run", "r", "--keep-bodies", "--profile", "google,rfc9309", "--agents", agents,
		"--urls", urls,
		"--templates", templates, "--config", config, "--progress", "none")
	publishTo(t, dir, folder, args...)
	return dir, folder
}

// The data sheet and the report say that the run took a part of its hosts.
func TestPartsOfTheHostsAreNamed_NoRace(t *testing.T) {
	for _, c := range []struct {
		flags       []string
		sheet, page []string
	}{
		{nil, nil, nil},
		{[]string{"--limit", "3"}, []string{"- Of these hosts, the first 3 at most were taken (`--limit`)."},
			[]string{"the first 3 hosts at most (--limit)"}},
		{
			[]string{"--limit", "3", "--sample", "0.5"},
			[]string{"- Of the registered domains of the input, a share of 0.5 was taken, by hash (`--sample`).",
				"the first 3 at most were taken (`--limit`)."},
			[]string{"0.5 of the registered domains, by hash (--sample)", "the first 3 hosts at most (--limit)"},
		},
	} {
		dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "set")
		call(t, 0, append([]string{"run", "--bodies", filepath.Join("..", "..", "testdata", "demo", "hosts"), "--out", dir,
			"--run", "r", "--progress", "none"}, c.flags...)...)
		publishTo(t, dir, folder)
		page := filepath.Join(dir, "report.html")
		call(t, 0, "report", "--out", dir, "r", "--html", page)
		html, err := os.ReadFile(page)
		must(t, err)
		for _, of := range []struct {
			text  string
			wants []string
		}{{filesOf(t, folder)["DATASHEET.md"], c.sheet}, {string(html), c.page}} {
			for _, want := range of.wants {
				if !strings.Contains(of.text, want) {
					t.Errorf("%q: %q is not said", c.flags, want)
				}
			}
			if said := strings.Contains(of.text, "--limit") || strings.Contains(of.text, "--sample"); said != (of.wants != nil) {
				t.Errorf("%q: a part is named: %v", c.flags, said)
			}
		}
	}
}

func publishTo(t *testing.T, dir, folder string, args ...string) {
	t.Helper()
	call(t, 0, append([]string{"publish", "--out", dir, "r", "--to", folder, "--creator", "Doe, Jane", "--creator",
		"The Census Group",
		"--licence", "CC-BY-4.0", "--contact", "census@example.org"}, args...)...)
}

// call runs a command in this process and returns what it prints.
func call(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := mainCode(args, strings.NewReader(""), &out, withoutProgress{&errs}); got != code {
		t.Fatalf("robocensus %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &out, &errs)
	}
	return out.String() + errs.String()
}

// withoutProgress leaves out lines of progress, which a busy machine prints, too.
type withoutProgress struct{ io.Writer }

func (w withoutProgress) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(" msg=progress ")) {
		return len(line), nil
	}
	return w.Writer.Write(line)
}

// A data set depends on the run alone, not on the folder in which it is, and does not
// name this machine.
func TestPublishedTwiceIsTheSame_NoRace(t *testing.T) {
	t.Parallel()
	dir, one := published(t)
	moved := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.Rename(dir, moved))
	two := filepath.Join(t.TempDir(), "set")
	publishTo(t, moved, two)
	a, b := filesOf(t, one), filesOf(t, two)
	if !maps.Equal(a, b) {
		for name := range a {
			if a[name] != b[name] {
				t.Errorf("%s differs", name)
			}
		}
	}
	host, err := os.Hostname()
	must(t, err)
	for name, text := range a {
		for _, word := range []string{filepath.Dir(dir), filepath.Dir(one), os.TempDir() + "/"} {
			if strings.Contains(text, word) {
				t.Errorf("%s names %s", name, word)
			}
		}
		if len(host) > 5 && strings.Contains(text, host) {
			t.Errorf("%s names this machine", name)
		}
	}
}

// filesOf returns the files of a folder.
func filesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	must(t, fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		all[name] = string(text)
		return err
	}))
	return all
}

// cellsOf returns the distinct cells of run r by column, as table.column.
func cellsOf(t *testing.T, folder string) map[string][]string {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, folder), "r")
	must(t, err)
	all := make(map[string][]string)
	for _, part := range append(m.RunParts, m.Parts...) {
		f, err := rowio.OpenPart(t.Context(), sinktest.Open(t, folder), part)
		must(t, err)
		content, err := io.ReadAll(f.Raw)
		must(t, err)
		must(t, f.Close())
		oracle.Arrow(t, content, func(batch arrow.RecordBatch) {
			for k, field := range batch.Schema().Fields() {
				name := part.Table + "." + field.Name
				for i := range int(batch.NumRows()) {
					all[name] = append(all[name], batch.Column(k).ValueStr(i))
				}
				slices.Sort(all[name])
				all[name] = slices.Compact(all[name])
			}
		})
	}
	return all
}

func readJSON(t *testing.T, folder, name string) (v map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	must(t, err)
	must(t, json.Unmarshal(text, &v))
	return v
}

// Of the JSON schema of the Citation File Format 1.2.0: the keys and those required,
// the types, the keys of persons and entities, and the patterns of what is written.
func TestCitation_NoRace(t *testing.T) {
	t.Parallel()
	words := filepath.Join(t.TempDir(), "words.yaml")
	must(t, os.WriteFile(words, []byte("url: https://example.org/census\ndoi: 10.5281/zenodo.1234\nversion: 2.1.0\n"+
		"date: 2026-11-30\nkeywords: [robots.txt]\n"), 0o666))
	_, folder := published(t, "--words", words, "--title", `A "census": #1`)
	text, err := os.ReadFile(filepath.Join(folder, "CITATION.cff"))
	must(t, err)
	var c map[string]any
	must(t, yaml.Unmarshal(text, &c))
	patterns := map[string]string{
		"cff-version": `^1\.2\.0$`, "message": `.`, "type": `^(software|dataset)$`, "title": `^A "census": #1$`,
		"abstract": `.`, "version": `^2\.1\.0$`,
		"date-released": `^2026-11-30$`, "license": `^CC-BY-4\.0$`, "doi": `^10\.5281/zenodo\.1234$`,
		"url": `^https://example\.org/census$`,
	}
	for key, pattern := range patterns {
		if v, ok := c[key].(string); !ok || !regexp.MustCompile(pattern).MatchString(v) {
			t.Errorf("%s is %#v", key, c[key])
		}
	}
	for key := range c {
		if patterns[key] == "" && !slices.Contains([]string{"authors", "contact", "keywords"}, key) {
			t.Errorf("unknown key %s", key)
		}
	}
	for _, list := range []string{"authors", "contact"} {
		people := objects(c[list])
		if len(people) == 0 {
			t.Errorf("no %s", list)
		}
		for _, person := range people {
			_, named := person["name"]
			for key := range person {
				if allowed := []string{"family-names", "given-names", "email", "website", "name"}; !slices.Contains(allowed,
					key) || named && strings.HasSuffix(key, "-names") {
					t.Errorf("%s: %v", list, person)
				}
			}
		}
	}
}

// Commands that read a run read a data set that lacks columns, too.
func TestADataSetWithoutColumnsIsRead_NoRace(t *testing.T) {
	t.Parallel()
	dir, folder := published(t, "--hash-hosts")
	sets := []string{folder}
	for _, column := range []string{"examples.text", "examples.host", "examples.rank", "agents.category",
		"agents.tokens"} {
		sets = append(sets, filepath.Join(t.TempDir(), "set"))
		publishTo(t, dir, sets[len(sets)-1], "--without", column)
	}
	for i, set := range sets {
		page := call(t, 0, "report", "--out", set, "r")
		if remark := "was published without some of their columns"; strings.Contains(page, remark) != (i < 4) {
			t.Errorf("set %d: the page says %q: %v", i, remark, i >= 4)
		}
		call(t, 0, "series", "--out", set)
	}
}

// A report is drawn from the table summary.
func TestNoReportWithoutCounters(t *testing.T) {
	dir, bodies := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(bodies, "a.example"), []byte("User-agent: *\nDisallow: /\n"), 0o666))
	call(t, 0, "run", "--bodies", bodies, "--out", dir, "--run", "r", "--tables", "fetches", "--progress", "none")
	if text := call(t, 64, "report", "--out", dir, "r"); !strings.Contains(text, "run r has no table summary") {
		t.Errorf("report says %s", text)
	}
}

// What is left out is in no file: no name of a host with --hash-hosts, and no
// password of a proxy.
func TestWhatIsLeftOutIsNowhere_NoRace(t *testing.T) {
	t.Parallel()
	dir, hashed := published(t, "--hash-hosts")
	hosts := make(map[string]bool)
	for _, host := range cellsOf(t, dir)["fetches.host"] {
		hosts[host] = true
	}
	if len(hosts) < 100 {
		t.Fatalf("%d hosts", len(hosts))
	}
	for column, cells := range cellsOf(t, hashed) {
		for _, cell := range cells {
			for host := range hosts {
				if strings.Contains(cell, host) {
					t.Errorf("%s is %q", column, cell)
				}
			}
		}
	}
	for name, text := range filesOf(t, hashed) {
		for host := range hosts {
			// The dictionary has examples of its own.
			if strings.Contains(text, host) && !strings.HasSuffix(name, ".sql") && name != "croissant.json" &&
				name != "datapackage.json" {
				t.Errorf("%s names %s", name, host)
			}
		}
	}
	less := filepath.Join(t.TempDir(), "less")
	publishTo(t, dir, less, "--without", "bodies,fetches.robots_url,fetches.hops,examples")
	whole, rest := cellsOf(t, dir), cellsOf(t, less)
	for column, cells := range whole {
		table, _, _ := strings.Cut(column, ".")
		out := slices.Contains([]string{"bodies", "examples"}, table) ||
			slices.Contains([]string{"fetches.robots_url", "fetches.hops"}, column)
		if out != (rest[column] == nil) || !out && !slices.Equal(cells, rest[column]) {
			t.Errorf("%s: %d cells of %d are published", column, len(rest[column]), len(cells))
		}
	}
	for name, text := range filesOf(t, less) {
		text = strings.ReplaceAll(text, "front_hops", "")
		if strings.HasPrefix(name, "fetches/") && (strings.Contains(text, "robots_url") || strings.Contains(text, "hops")) {
			t.Errorf("%s has a column that is left out", name)
		}
	}
	for _, args := range [][]string{
		{"--without", "bodie"}, {"--without", "fetches.remote_adress"}, {"--without", "fetches.seq"},
		{"--without", "summary.category"}, {"--licence", "CC-BY"}, {"--contact", "nobody"},
		{"--to", dir}, {"--to", "s3://bucket/set"}, {"--without", strings.Join(schema.TableNames, ",")},
	} {
		text := call(t, 64, append([]string{"publish", "--out", dir, "r", "--to", filepath.Join(t.TempDir(), "set"),
			"--creator", "A", "--licence", "CC0-1.0"}, args...)...)
		if strings.HasPrefix(args[1], "bodie") && !strings.Contains(text, "did you mean bodies?") {
			t.Errorf("%v: %s", args, text)
		}
	}
	must(t, os.Remove(filepath.Join(dir, "_runs", "r", "manifest.json")))
	text := call(t, 64, "publish", "--out", dir, "r", "--to", filepath.Join(t.TempDir(), "set"), "--creator", "A",
		"--licence", "CC0-1.0")
	if !strings.Contains(text, "run r is not complete") {
		t.Errorf("an unfinished run: %s", text)
	}
}
