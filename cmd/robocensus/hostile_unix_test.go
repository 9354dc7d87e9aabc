//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robocensus/robocensus/cmd/internal/cli"
)

// called runs the command in this process and returns its exit code and its output.
func called(args ...string) (code int, said string) {
	var out bytes.Buffer
	return mainCode(args, nil, &out, withoutProgress{&out}), out.String()
}

// copied copies a folder.
func copied(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "out")
	must(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// contents returns the files in a folder, links as links.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content := []byte("link")
		if d.Type().IsRegular() {
			content, err = os.ReadFile(path)
		}
		files[path] = string(content)
		return err
	}))
	return files
}

// rewritten changes a manifest and updates its digest, as an attacker would.
func rewritten(t *testing.T, path string, change func(manifest map[string]any)) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	var manifest map[string]any
	must(t, json.Unmarshal(content, &manifest))
	change(manifest)
	delete(manifest, "sha256")
	// Records and parts come last.
	ordered := []string{`"records"`, `"parts"`}
	text := "{"
	for key, value := range manifest {
		encoded, err := json.Marshal(value)
		must(t, err)
		field := string(must2(json.Marshal(key))) + ": " + string(encoded)
		switch key {
		case "records":
			ordered[0] = field
		case "parts":
			ordered[1] = field
		default:
			text += "\n " + field + ","
		}
	}
	const before, after = ",\n \"sha256\": \"", "\"\n}\n"
	text += "\n " + strings.Join(ordered, ",\n ")
	sum := sha256.Sum256([]byte(text + before + strings.Repeat("0", 64) + after))
	must(t, os.WriteFile(path, []byte(text+before+hex.EncodeToString(sum[:])+after), 0o666))
}

func must2(content []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return content
}

// Whatever a manifest names and whatever links are in the folder, no command reads
// a file outside of it, even if that file has the right bytes.
func TestNoCommandReadsOutsideOfTheFolder_NoRace(t *testing.T) {
	good := comparedRuns(t)
	// renamed gives every part of run a another path.
	renamed := func(t *testing.T, dir string, path func(old string) string) {
		rewritten(t, filepath.Join(dir, "_runs/a/manifest.json"), func(m map[string]any) {
			for _, key := range []string{"parts", "run_parts"} {
				for _, p := range m[key].([]any) {
					part := p.(map[string]any)
					part["path"] = path(part["path"].(string))
				}
			}
		})
	}
	linked := func(t *testing.T, path, to string) {
		must(t, os.RemoveAll(path))
		must(t, os.Symlink(to, path))
	}
	tables := func(t *testing.T, dir string) []string {
		found, err := filepath.Glob(filepath.Join(dir, "*/run=a"))
		must(t, err)
		return found
	}
	for _, row := range []struct {
		name  string
		plant func(t *testing.T, dir, outside string) // outside is a copy of dir
	}{
		{"absolute paths", func(t *testing.T, dir, outside string) {
			renamed(t, dir, func(old string) string { return filepath.Join(outside, old) })
		}},
		{"paths with ..", func(t *testing.T, dir, outside string) {
			to, err := filepath.Rel(dir, outside)
			must(t, err)
			renamed(t, dir, func(old string) string { return to + "/" + old })
		}},
		{"paths with .. in the folder", func(t *testing.T, dir, outside string) {
			renamed(t, dir, func(old string) string { return "fetches/../" + old })
		}},
		{"links in the place of parts", func(t *testing.T, dir, outside string) {
			for _, table := range tables(t, dir) {
				parts, err := filepath.Glob(filepath.Join(table, "*.parquet"))
				must(t, err)
				for _, part := range parts {
					name, err := filepath.Rel(dir, part)
					must(t, err)
					linked(t, part, filepath.Join(outside, name))
				}
			}
		}},
		{"links in the place of tables", func(t *testing.T, dir, outside string) {
			for _, table := range tables(t, dir) {
				name, err := filepath.Rel(dir, table)
				must(t, err)
				linked(t, table, filepath.Join(outside, name))
			}
		}},
		{"a link in the place of the run", func(t *testing.T, dir, outside string) {
			linked(t, filepath.Join(dir, "_runs/a"), filepath.Join(outside, "_runs/a"))
		}},
		{"a link in the place of the manifest", func(t *testing.T, dir, outside string) {
			linked(t, filepath.Join(dir, "_runs/a/manifest.json"), filepath.Join(outside, "_runs/a/manifest.json"))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, outside := copied(t, good), copied(t, good)
			row.plant(t, dir, outside)
			for _, args := range [][]string{
				{"export", "--out", dir, "a", "fetches"},
				{"diff", "--out", dir, "a", "b"},
				{"diff", "--out", dir, "b", "a"},
				{"run", "--from-run", filepath.Join(dir, "_runs/a"), "--out", t.TempDir(), "--progress", "none"},
				{"report", "--out", dir, "a"},
				{"verify", "--out", dir, "a"},
			} {
				if code, said := called(args...); code == cli.ExitOK {
					t.Errorf("%q ends with 0:\n%.300s", args, said)
				}
			}
		})
	}
	// The same commands over an intact folder.
	dir := copied(t, good)
	rewritten(t, filepath.Join(dir, "_runs/a/manifest.json"), func(map[string]any) {})
	for _, args := range [][]string{
		{"export", "--out", dir, "a", "fetches"}, {"diff", "--out", dir, "a", "b"}, {"diff", "--out", dir, "b", "a"},
		{"report", "--out", dir, "a"},
		{"run", "--from-run", filepath.Join(dir, "_runs/a"), "--out", t.TempDir(), "--progress", "none"},
	} {
		if code, said := called(args...); code != cli.ExitOK {
			t.Errorf("%q ends with %d:\n%s", args, code, said)
		}
	}
}

// Wherever a link is in the output folder, no command writes, creates or removes
// anything through it.
func TestNoCommandWritesThroughALink_NoRace(t *testing.T) {
	t.Parallel()
	good := comparedRuns(t)
	archive := filepath.Join(filepath.Dir(good), "b?.warc")
	expect := filepath.Join(filepath.Dir(good), "expect.yaml")
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o666))
	for _, row := range []struct {
		name  string
		links []string // paths that a link replaces
		args  func(dir string) []string
	}{
		{"run", []string{
			"views.sql", "fetches", "rules/run=c", "_runs", "_runs/c", "_runs/c/plan.json", "_runs/c/rejected.csv",
			"_runs/c/lock", "_runs/c/segments",
			"_runs/c/segments/0000000000.json", "_runs/c/segments/0000000000.summary.parquet", "_runs/c/manifest.json",
			"lines/run=c/part-0000000000.parquet", "summary/run=c/part-0000000000.parquet", "_runs/c/expectations.csv",
			"_runs/c/expectations.json",
			// Names that temporary files might have.
			"views.sql.tmp", "_runs/c/manifest.json.tmp", "lines/run=c/part-0000000000.parquet.tmp", "_runs/c/rejected.csv.tmp",
		}, func(dir string) []string {
			return []string{"run", "--warc", archive, "--out", dir, "--run", "c", "--expect", expect, "--agents",
				filepath.Join(filepath.Dir(good), "agents.yaml"), "--progress", "none"}
		}},
		{"run --force-new", []string{"views.sql", "fetches/run=b", "_runs/b/plan.json", "_runs/b/segments",
			"_runs/b/manifest.json", "_runs/b/removing.json", "_runs/b/lock", "changes", "_runs/b/against"},
			func(dir string) []string {
				return []string{"run", "--warc", archive, "--out", dir, "--run", "b", "--force-new", "--progress", "none"}
			}},
		{"run --resume", []string{"views.sql", "_runs/b/lock", "_runs/b/manifest.json", "fetches/run=b", "_runs/b"},
			func(dir string) []string {
				return []string{"run", "--warc", archive, "--out", dir, "--run", "b", "--resume", "--progress", "none"}
			}},
		{"diff", []string{
			"views.sql", "changes", "changes/run=b", "changes/run=b/against=a",
			"changes/run=b/against=a/part-0000000000.parquet", "changes/run=b/against=a/lock",
			"changes/run=b/against=a/expectations.csv", "changes/run=b/against=a/expectations.csv.tmp",
			"changes/run=b/against=a/part-0000000000.parquet.tmp", "_runs/b/against", "_runs/b/against/a.json",
			"_runs/b/against/a.json.tmp",
		}, func(dir string) []string { return []string{"diff", "--out", dir, "--expect", expect, "a", "b"} }},
		{"prune", []string{"views.sql", "_runs", "_runs/a", "_runs/a/lock", "_runs/a/manifest.json", "_runs/a/plan.json",
			"_runs/a/segments", "fetches/run=a", "fetches", "changes", "changes/run=b", "changes/run=b/against=a",
			"_runs/b/against"},
			func(dir string) []string { return []string{"prune", "--out", dir, "--keep", "1"} }},
	} {
		outside := copied(t, good)
		before := contents(t, outside)
		for i, link := range row.links {
			for k, to := range []string{"what is there", "nothing"} {
				if (i+k)%2 == 1 && !strings.Contains(link, ".") {
					continue // every second folder
				}
				dir := copied(t, good)
				path := filepath.Join(dir, link)
				must(t, os.MkdirAll(filepath.Dir(path), 0o777))
				must(t, os.RemoveAll(path))
				leads := filepath.Join(outside, link)
				if _, err := os.Stat(leads); to == "nothing" {
					leads += "-none"
				} else if err != nil {
					leads = secret
				}
				must(t, os.Symlink(leads, path))
				code, said := called(row.args(dir)...)
				if diff := cmp.Diff(before, contents(t, outside)); diff != "" {
					t.Errorf("%s with a link at %s: outside there is something else\n%.500s", row.name, link, diff)
				}
				if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
					t.Fatalf("%s with a link at %s: the file that it leads to holds %q, %v", row.name, link, text, err)
				}
				if code != cli.ExitOK && code != 1 && !strings.Contains(said, "robocensus: ") {
					t.Errorf("%s with a link at %s ends with %d and does not say why:\n%s", row.name, link, code, said)
				}
			}
		}
	}
}

// Damaged runs affect no command about other runs.
func TestADamagedRunStopsNoCommandAboutOthers_NoRace(t *testing.T) {
	good := comparedRuns(t)
	damage := func(t *testing.T, dir string) {
		copyRun := func(id string) string {
			to := filepath.Join(dir, "_runs", id)
			must(t, os.CopyFS(to, os.DirFS(filepath.Join(dir, "_runs/a"))))
			return to
		}
		must(t, os.WriteFile(filepath.Join(copyRun("cut"), "manifest.json"), []byte("{"), 0o666))
		copyRun("misnamed")
		must(t, os.Remove(filepath.Join(copyRun("planless"), "plan.json")))
		for id, name := range map[string]string{"folder": "manifest.json", "folder2": "plan.json"} {
			run := copyRun(id)
			must(t, os.Remove(filepath.Join(run, "manifest.json")))
			must(t, errors.Join(os.RemoveAll(filepath.Join(run, name)), os.Mkdir(filepath.Join(run, name), 0o777)))
		}
		for id, name := range map[string]string{"pipe": "manifest.json", "pipe2": "plan.json", "pipe3": "lock"} {
			run := copyRun(id)
			must(t, os.Remove(filepath.Join(run, "manifest.json")))
			must(t, errors.Join(os.RemoveAll(filepath.Join(run, name)), syscall.Mkfifo(filepath.Join(run, name), 0o666)))
		}
		must(t, os.Symlink("/dev/zero", filepath.Join(copyRun("zero"), "removing.json")))
		must(t, os.Symlink(t.TempDir(), filepath.Join(dir, "_runs/elsewhere")))
		must(t, os.Symlink("a", filepath.Join(dir, "_runs/again")))
		must(t, os.WriteFile(filepath.Join(dir, "_runs/file"), []byte("x"), 0o666))
		must(t, os.WriteFile(filepath.Join(dir, "_runs/a run\x1b[31m"), nil, 0o666))
		large, err := os.Create(filepath.Join(copyRun("large"), "manifest.json"))
		must(t, err)
		must(t, errors.Join(large.Truncate(1<<40), large.Close())) // sparse: takes no disk space
	}
	archive := filepath.Join(filepath.Dir(good), "b?.warc")
	for _, args := range [][]string{
		{"run", "--warc", archive, "--resume", "--progress", "none"},
		{"run", "--warc", archive, "--run", "c", "--progress", "none"},
		{"run", "--warc", archive, "--run", "b", "--force-new", "--progress", "none"},
		{"diff", "a", "b", "--again"}, // without, it shows the promises that are broken
		{"verify", "b"},
		{"report", "b"},
		{"export", "b", "fetches"},
		{"prune", "--keep", "1"},
	} {
		dir := copied(t, good)
		damage(t, dir)
		if args[0] == "verify" {
			code, said := called("prune", "--keep", "9", "--out", dir) // rewrites views.sql
			if code != cli.ExitOK {
				t.Fatal(said)
			}
		}
		code, said := called(append(args, "--out", dir)...)
		if code != cli.ExitOK {
			t.Errorf("%q ends with %d:\n%s", args, code, said)
		}
		if strings.Contains(said, "\x1b") {
			t.Errorf("%q prints a name as it is", args)
		}
		if _, err := os.Stat(filepath.Join(dir, "_runs/a")); args[0] == "prune" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("run a is not removed: %v\n%s", err, said)
		}
	}
}
