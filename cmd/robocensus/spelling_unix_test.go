//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// broken is a reader of --lines that has gone.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the reader has gone") }

// A run that is resumed with its files under other spellings of their paths is that run:
// the same tables to the byte, and a manifest that verify accepts.
func TestResumingWithAnotherSpelling_NoRace(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	t.Chdir(dir)
	must(t, os.MkdirAll("bodies", 0o777))
	must(t, os.MkdirAll("warcs", 0o777))
	const robots = "User-agent: *\nDisallow: /x\n"
	for name, text := range map[string]string{
		"hosts.txt": "a.example\nb.example\n", "agents.yaml": "- {name: GPTBot}\n", "urls.txt": "/x\n",
		"templates.yaml":   "- {name: own, kind: file, text: \"User-agent: *\\n\"}\n",
		"bodies/a.example": robots, "bodies/b.example": robots, "ranks.csv": "1,a.example\n",
		"config.yaml":  "keep-comments: true\n",
		"warcs/a.warc": capture("a.example", robots), "warcs/b.warc": capture("b.example", robots),
		"warcs.paths": "warcs/a.warc\nwarcs/b.warc\n",
		"paths":       "a.warc\nb.warc\n",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
	run := func(out io.Writer, args ...string) (int, string) {
		var said bytes.Buffer
		code := mainCode(append([]string{"run", "--run", "r", "--progress", "none", "--lines"}, args...), nil, out, &said)
		return code, said.String()
	}
	earlier := []string{"--out", "earlier", "--bodies", "bodies", "--keep-bodies"}
	if code, said := run(io.Discard, earlier...); code != 0 {
		t.Fatal(code, said)
	}
	common := []string{"--agents", "agents.yaml", "--urls", "urls.txt", "--config", "config.yaml"}
	for what, source := range map[string][]string{
		"archives": {"--warc", "warcs/*.warc", "--ranks", "ranks.csv"},
		"a list":   {"--warc-paths", "warcs.paths", "--hosts", "hosts.txt"},
		"a base":   {"--warc-paths", "paths", "--warc-base", "warcs"},
		"bodies":   {"--bodies", "bodies", "--ranks", "ranks.csv"},
		"a run":    {"--from-run", "earlier/_runs/r"},
		"hosts": {"--hosts", "hosts.txt", "--connect-to", "127.0.0.1:9", "--allow-private", "--retries", "0",
			"--accept-unreachable", "--warc-out", "e.warc.gz"},
	} {
		for how, other := range map[string]func(path string) string{
			"dot": func(path string) string { return "./" + path }, "absolute": func(path string) string {
				return filepath.Join(dir, path)
			},
			"round": func(path string) string { return "bodies/..//" + path }, "slash": func(path string) string {
				if info, err := os.Stat(path); err == nil && info.IsDir() {
					return path + "/"
				}
				return path
			},
		} {
			t.Run(what+"/"+how, func(t *testing.T) {
				defer os.RemoveAll("whole")
				defer os.RemoveAll("stopped")
				defer os.Remove("e.warc.gz")
				args := slices.Concat(source, common)
				if code, said := run(io.Discard, append([]string{"--out", "whole"}, args...)...); code != 0 {
					t.Fatal(code, said)
				}
				os.Remove("e.warc.gz")
				if code, said := run(broken{}, append([]string{"--out", "stopped"}, args...)...); code == 0 {
					t.Fatalf("the run was not stopped: %s", said)
				}
				spelled := slices.Clone(args)
				for i := 1; i < len(spelled); i += 2 {
					if name := strings.Replace(spelled[i], "*", "a", 1); spelled[i-1] == "--warc-out" || exists(name) {
						spelled[i] = other(spelled[i])
					}
					if spelled[i-1] == "--allow-private" || spelled[i-1] == "--accept-unreachable" {
						i--
					}
				}
				code, said := run(io.Discard, append([]string{"--out", "stopped", "--resume"}, spelled...)...)
				if code != 0 {
					t.Fatal(code, said)
				}
				var out, wrong bytes.Buffer
				if code := mainCode([]string{"verify", "--out", "stopped", "r"}, nil, &out, &wrong); code != 0 {
					t.Errorf("verify ends with %d: %s%s", code, out.String(), wrong.String())
				}
				if what == "hosts" {
					return // of which times differ
				}
				if diff := cmp.Diff(tables(t, "whole"), tables(t, "stopped")); diff != "" {
					t.Errorf("the tables (-undisturbed +resumed):\n%.2000s", diff)
				}
			})
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// tables returns the parts of a run.
func tables(t *testing.T, dir string) map[string]string {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "*/run=r/*.parquet"))
	must(t, err)
	out := make(map[string]string)
	for _, path := range parts {
		text, err := os.ReadFile(path)
		must(t, err)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(text)
	}
	return out
}
