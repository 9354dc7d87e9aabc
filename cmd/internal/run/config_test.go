package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// FuzzConfiguration checks that a configuration file sets no flag that the command
// line sets, that its profiles are valid, and that a mistake in it is an error with
// its line.
func FuzzConfiguration(f *testing.F) {
	for _, text := range []string{
		"hosts: h.csv\nconcurrency: 7\ntimeout: 3s\nschemes: [http]\ntables: fetches,rules\nkeep-bodies: true\n",
		"out: other\nretries: 9\nprofiles:\n  mine: {base: rfc9309, size_limit: 1000}\nprofile: mine\n", "hots: x\n",
		"retries: 1\nretries: 2\n", "- a\n", "hosts: [\n", "a: &a [*a]",
		"profiles:\n  x: &p {base: google, user_agent_prefix: true}\n  y: *p\n",
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "c.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		flags := New()
		if err := flags.Set.Parse([]string{"--out", "given", "--retries", "4"}); err != nil {
			t.Fatal(err)
		}
		flags.ConfigFile = path
		err := flags.ApplyConfig(t.Context())
		if flags.Config.Dir != "given" || flags.Fetch.Retries != 4 || flags.ConfigFile != path {
			t.Fatalf("out is %q, retries %d, config %q", flags.Config.Dir, flags.Fetch.Retries, flags.ConfigFile)
		}
		for name, p := range flags.Own {
			if p.Name != name || p.Validate() != nil {
				t.Fatalf("profile %q is %+v", name, p)
			}
		}
		var input *userfile.Error
		if err != nil && (!errors.As(err, &input) || input.Path != path || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("error %q", err)
		}
	})
}

func TestApplyConfig(t *testing.T) {
	for _, row := range []struct {
		name, yaml, err string
		check           func(*Flags) bool
	}{
		{"sets flags of every kind", "hosts: h.csv\nconcurrency: 7\ntimeout: 3s\nschemes: [http]\ntables: fetches,rules\n" +
			"keep-bodies: true\n", "",
			func(f *Flags) bool {
				return f.Config.Source.Hosts == "h.csv" && f.Fetch.Concurrency == 7 && f.Fetch.Timeout == 3*time.Second &&
					len(f.Config.Source.Schemes) == 1 && len(f.tables) == 2 && f.keepBodies
			}},
		{"a flag given wins", "out: other\nretries: 9\n", "", func(f *Flags) bool {
			return f.Config.Dir == "given" && f.Fetch.Retries == 9
		}},
		{"empty", "", "", func(f *Flags) bool { return f.Fetch.Retries == 2 }},
		{"an unknown key", "# comment\nhosts: h\nhots: x\n", `:3: unknown key "hots"`, nil},
		{"a value of another kind", "\nconcurrency: many\n", ":2: concurrency: ", nil},
		{"a key that stands twice", "retries: 1\nretries: 2\n", `:2: key "retries" is given twice`, nil},
		{"a list for one value", "hosts: [a, b]\n", ":1: hosts: expected one value, got a list", nil},
		{"a list for a number", "out: o\nretries: [1]\n", ":2: retries: expected a whole number, got a list", nil},
		{"pairs for a time", "timeout: {a: 1}\n", ":1: timeout: expected a time with its unit, such as 30s, 5m or 24h, " +
			"got keys and values", nil},
		{"pairs for a list", "schemes: {a: 1}\n", ":1: schemes: expected a list of words, got keys and values", nil},
		{"a list in a list", "schemes: [[a]]\n", ":1: schemes: expected a list of words, got one that holds other things",
			nil},
		{"a list for a base", "profiles:\n  x:\n    base: [google]\n", ":3: profile x: base: expected a word, got a list",
			nil},
		{"stages after the limit", "profiles:\n  x:\n    unreachable_limit: 20h\n    server_error_stages:\n" +
			"      - {after: 24h, outcome: full_allow, copy: use}\n", ":4: profile x: server_error_stages: stage 1 is after " +
			"24h0m0s and never begins: unreachable_limit is 20h0m0s", nil},
		{"a limit before the stages of the base", "profiles:\n  x: {unreachable_limit: 6h}\n", "",
			func(f *Flags) bool { return f.Own["x"].UnreachableLimit == 6*time.Hour }},
		{"statuses that are no list", "profiles:\n  x:\n    base: scrapy\n    body_at: any\n",
			":4: profile x: body_at: expected a list, got `any`", nil},
		{"a list for a word of a profile", "profiles:\n  x:\n    ties: [allow]\n",
			":3: profile x: ties: expected a word, got a list", nil},
		{"a list for a word of a group", "profiles:\n  x:\n    matching:\n      ties: [allow]\n",
			":4: profile x: ties: expected a word, got a list", nil},
		{"a list for a word of a stage", "profiles:\n  x:\n    server_error_stages:\n      - {after: 1h, copy: [use]}\n",
			":4: profile x: server_error_stages: expected a word, got a list", nil},
		{"a list for a group", "profiles:\n  x:\n    matching: [a]\n",
			":3: profile x: matching: expected `key: value` pairs, got a list", nil},
		{"a list for the older name of reading", "profiles:\n  x:\n    lines: [google]\n",
			":3: profile x: lines: expected `key: value` pairs, got a list", nil},
		{"no YAML", "hosts: [\n", ":", nil},
		{"a list at the top", "- a\n", ":1: expected", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			if err := os.WriteFile(path, []byte(row.yaml), 0o666); err != nil {
				t.Fatal(err)
			}
			f := New()
			if err := f.Set.Parse([]string{"--out", "given"}); err != nil {
				t.Fatal(err)
			}
			f.ConfigFile = path
			err := f.ApplyConfig(t.Context())
			if row.err == "" && (err != nil || !row.check(f)) {
				t.Errorf("%v, flags %+v", err, f)
			}
			if row.err != "" && (err == nil || !contains(err.Error(), path+row.err)) {
				t.Errorf("error %v, want %s%s", err, path, row.err)
			}
		})
	}
}

func contains(s, start string) bool { return len(s) >= len(start) && s[:len(start)] == start }

// A run that judges another one again takes all pages that hosts list which that one has kept,
// unless it is told how many.
func TestSampleOfAnEarlierRun(t *testing.T) {
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "a", Tables: []string{"fetches", "bodies", "sitemap_files", "coverage",
		"urls"}, Profiles: []string{"google"}})
	sinktest.Must(t, err)
	segment, err := run.Segment(0)
	sinktest.Must(t, err)
	sinktest.Must(t, segment.Commit())
	sinktest.Must(t, run.Complete(sink.Completion{Finished: time.Now()}))
	sinktest.Must(t, run.Close())
	list := sinktest.WriteFile(t, "hosts", []byte("a.example\n"))
	for args, want := range map[string]int{
		"--from-run a": sitemap.MaxSample, "--from-run a --sitemap-sample 9": 9,
		"--hosts " + list + " --sitemaps 3": 200, "--hosts " + list + " --sitemaps 3 --sitemap-sample 9": 9,
	} {
		f := New()
		sinktest.Must(t, f.Set.Parse(append([]string{"--out", dir}, strings.Fields(args)...)))
		sinktest.Must(t, f.ApplyConfig(t.Context()))
		c, err := f.Build(t.Context())
		if err != nil || c.Evaluate.SitemapSample != want {
			t.Errorf("%s: %d, want %d: %v", args, c.Evaluate.SitemapSample, want, err)
		}
	}
}
