package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/sinktest"
)

var (
	corruptions    = flag.Int("corruptions", 60, "how many TestVerifyFindsEveryCorruption makes")
	corruptionSeed = flag.Uint64("corruption-seed", 0, "of these corruptions (0: another each time)")
)

// Verify finds every corruption of complete runs and their comparison: a file that
// is changed, cut, removed, renamed, copied or exchanged. For more draws: go test
// ./cmd/robocensus -run EveryCorruption -corruptions 500
func TestVerifyFindsEveryCorruption_NoRace(t *testing.T) {
	if *corruptionSeed == 0 {
		*corruptionSeed = rand.Uint64()
	}
	t.Logf("-corruption-seed %d", *corruptionSeed)
	chance := rand.New(rand.NewPCG(*corruptionSeed, 7))
	dir := comparedRuns(t)
	for _, run := range []string{"a", "b"} {
		if problems := verified(t, dir, run); problems != "" {
			t.Fatalf("before any corruption run %s has %s", run, problems)
		}
	}
	var files []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	count := *corruptions
	if testing.Short() {
		count = min(count, 12)
	}
	made := make(map[string]int)
	for n := 0; n < count; {
		path := files[chance.IntN(len(files))]
		what, undo := corrupt(t, chance, path, files)
		if what == "" {
			continue // it changes nothing
		}
		n++
		kind, _, _ := strings.Cut(what, ":")
		made[kind]++
		name, _ := filepath.Rel(dir, path)
		run := "b"
		if strings.HasPrefix(name, "_runs/a/") || strings.Contains(name, "/run=a/") {
			run = "a"
		}
		if problems := verified(t, dir, run); problems == "" {
			t.Errorf("%s: %s: verify finds nothing", name, what)
		}
		undo()
	}
	for _, run := range []string{"a", "b"} {
		if problems := verified(t, dir, run); problems != "" {
			t.Fatalf("after all is undone run %s has %s", run, problems)
		}
	}
	t.Logf("%d corruptions of %d files: %v", count, len(files), made)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// comparedRuns writes two runs of several segments and their comparison, the second
// run and the comparison with broken expectations.
func comparedRuns(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(work, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	for i := range 12 {
		host := fmt.Sprintf("h%d.example", i)
		write(fmt.Sprintf("a%d/%s", i%2, host), fmt.Sprintf("User-agent: *\nDisallow: /%d\nSitemap: /s\ncrawl-delay: %d\n"+
			"content-signal: ai-train=no\n", i, i))
		write(fmt.Sprintf("b%d/%s", i%2, host),
			fmt.Sprintf("User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /%d # x\nnofield\n", i%7))
	}
	agents := write("agents.yaml", "- {name: GPTBot, tokens: [GPTBot], category: ai-training}\n"+
		"- {name: Otherbot, tokens: [Otherbot]}\n")
	expect := write("expect.yaml", "- {name: open, agents: [GPTBot], class: allow_all}\n- {name: still, no_change: all}\n")
	urls := write("urls.txt", "/\n/1/x\nhttps://h1.example/2\nhttps://nowhere.example/\n") // the last one is rejected
	out := filepath.Join(work, "out")
	call := func(f func() error) {
		t.Helper()
		var code cli.ExitCode
		if err := f(); err != nil && !errors.As(err, &code) {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	for _, run := range []string{"a", "b"} {
		for _, part := range []string{"0", "1"} { // each archive is a segment
			hosts, err := farm.LoadFS(os.DirFS(filepath.Join(work, run+part)))
			must(t, err)
			f, err := os.Create(filepath.Join(work, run+part+".warc"))
			must(t, err)
			archive := farm.Archive{Hosts: hosts, Repeat: 1}
			_, err = archive.Write(context.Background(), f, "x.warc")
			must(t, errors.Join(err, f.Close()))
		}
		call(func() error {
			return execute(context.Background(), []string{
				"run", "--warc", filepath.Join(work, run+"?.warc"), "--out", out, "--run", run, "--agents", agents, "--urls", urls,
				"--expect", expect, "--keep-bodies", "--keep-comments", "--progress", "none",
			}, nil, &said, &said)
		})
	}
	call(func() error {
		return execute(context.Background(), []string{"diff", "--out", out, "--expect", expect, "a", "b"}, nil, &said, &said)
	})
	for _, name := range []string{"_runs/b/expectations.csv", "changes/run=b/against=a/expectations.csv",
		"_runs/b/against/a.json", "_runs/b/rejected.csv", "views.sql"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Fatalf("%v\n%s", err, &said)
		}
	}
	return out
}

// verified returns the problems that verify finds in a run and its note about views.sql, ""
// if there are none.
func verified(t *testing.T, dir, run string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := verifyRun(context.Background(), sinktest.Open(t, dir), run, "", false, false, &stdout, &stderr)
	var code cli.ExitCode
	if err != nil && !errors.As(err, &code) {
		return err.Error()
	}
	if err == nil && !strings.HasPrefix(stdout.String(), "note: views.sql ") {
		return ""
	}
	return stdout.String()
}

// corrupt corrupts a file. It returns a description, "" if it did nothing, and a
// function that undoes it.
func corrupt(t *testing.T, chance *rand.Rand, path string, files []string) (what string, undo func()) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	restore := func() { must(t, os.WriteFile(path, content, 0o666)) }
	put := func(what string, other []byte) (string, func()) {
		if bytes.Equal(other, content) {
			return "", nil
		}
		must(t, os.WriteFile(path, other, 0o666))
		return what, restore
	}
	sibling := func() string {
		name := filepath.Base(path)
		stem, ext, _ := strings.Cut(name, ".")
		names := []string{name + ".bak", "copy-" + name, stem + "1." + ext, strings.Replace(name, "0000000000", "0000000001",
			1), "part-0000000007.parquet"}
		return filepath.Join(filepath.Dir(path), names[chance.IntN(len(names))])
	}
	switch chance.IntN(9) {
	case 0, 1:
		if len(content) == 0 {
			return "", nil
		}
		other := bytes.Clone(content)
		at, bit := chance.IntN(len(content)), chance.IntN(8)
		other[at] ^= 1 << bit
		return put(fmt.Sprintf("a bit flipped: %d of byte %d of %d", bit, at, len(content)), other)
	case 2:
		n := chance.IntN(len(content) + 1)
		return put(fmt.Sprintf("cut short: to %d of %d bytes", n, len(content)), content[:n])
	case 3:
		return put("bytes added", append(bytes.Clone(content), "\n\x00 x"[chance.IntN(4)]))
	case 4:
		must(t, os.Remove(path))
		return "removed", restore
	case 5:
		to := sibling()
		if _, err := os.Stat(to); err == nil {
			return "", nil
		}
		must(t, os.Rename(path, to))
		return "renamed: " + filepath.Base(to), func() { must(t, os.Rename(to, path)) }
	case 6:
		to := sibling()
		// Directly in the output folder, only views.sql is ours.
		if _, err := os.Stat(to); err == nil || filepath.Base(path) == "views.sql" {
			return "", nil
		}
		must(t, os.WriteFile(to, content, 0o666))
		return "copied: " + filepath.Base(to), func() { must(t, os.Remove(to)) }
	case 7: // by a file of the same name, or any other
		other := files[chance.IntN(len(files))]
		for _, f := range files {
			if f != path && filepath.Base(f) == filepath.Base(path) && chance.IntN(3) == 0 {
				other = f
			}
		}
		text, err := os.ReadFile(other)
		must(t, err)
		return put("exchanged: for "+other, text)
	default:
		other := edited(chance, content)
		if other == nil {
			return "", nil
		}
		return put("a value edited", other)
	}
}

// edited changes one value of a JSON object. It returns nil if there is none.
func edited(chance *rand.Rand, content []byte) []byte {
	var object map[string]any
	if json.Unmarshal(content, &object) != nil {
		return nil
	}
	var leaves []func()
	var visit func(value any, set func(any))
	visit = func(value any, set func(any)) {
		switch value := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				visit(value[key], func(v any) { value[key] = v })
			}
		case []any:
			for i, inner := range value {
				visit(inner, func(v any) { value[i] = v })
			}
		case string:
			leaves = append(leaves, func() { set(value + "x") })
		case float64:
			leaves = append(leaves, func() { set(value + 1) })
		default:
			leaves = append(leaves, func() { set("x") })
		}
	}
	visit(object, nil)
	leaves[chance.IntN(len(leaves))]()
	other, err := json.MarshalIndent(object, "", " ")
	if err != nil {
		return nil
	}
	return append(other, '\n')
}
