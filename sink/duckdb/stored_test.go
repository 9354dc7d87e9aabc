package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func runCommand(t *testing.T, name string, args ...string) string {
	t.Helper()
	text, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, text)
	}
	return string(text)
}

// serveFarm serves a folder or tar of files until the test ends.
func serveFarm(t *testing.T, robofarm, files string) (addr string) {
	t.Helper()
	farm := exec.Command(robofarm, "serve", "--dir", files, "--http", "127.0.0.1:0")
	farm.Stderr = os.Stderr
	out, err := farm.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := farm.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		farm.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, out)
		farm.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "http://")
}

// hostFiles returns the names of the files in a folder or tar.gz.
func hostFiles(t *testing.T, files string) (names []string) {
	t.Helper()
	if entries, err := os.ReadDir(files); err == nil {
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	f, err := os.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		entry, err := r.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry.Typeflag == tar.TypeReg {
			names = append(names, path.Base(entry.Name))
		}
	}
}

// The same files give the same tables from every source: fetched over the network,
// read from a WARC, read from disk, and re-judged from a run that kept them. Only
// the columns about the request differ.
func TestAllSourcesGiveTheSameTables(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]string{
		"demo": "../../testdata/demo/hosts", "corpus": "../../../shared/corpus/robots-real.tar.gz",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(files); err != nil {
				t.Skipf("no corpus of real files: %v", err)
			}
			if name == "corpus" && testing.Short() {
				t.Skip("the demo stands for it")
			}
			robocensus, robofarm := filepath.Join(bin, "robocensus"), filepath.Join(bin, "robofarm")
			dir := t.TempDir()
			out, agents, list := filepath.Join(dir, "out"), filepath.Join(dir, "agents.yaml"), filepath.Join(dir, "hosts.txt")
			if err := os.WriteFile(agents, []byte("- {name: GPTBot}\n- {name: Googlebot-Image, falls_back_to: [Googlebot]}\n"+
				"- {name: MJ12bot}\n- {name: AdsBot-Google, ignores_star: true}\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			names := hostFiles(t, files)
			var lines strings.Builder
			for _, name := range names {
				fmt.Fprintf(&lines, "http://%s\n", strings.Replace(name, "_", ":", 1))
			}
			if err := os.WriteFile(list, []byte(lines.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			common := []string{"run", "--out", out, "--agents", agents, "--profile", "google,rfc9309", "--keep-bodies",
				"--progress", "none", "--run"}
			addr := serveFarm(t, robofarm, files)
			warc := filepath.Join(dir, "files.warc.gz")
			runCommand(t, robofarm, "warc", "--dir", files, "--out", warc)
			for run, args := range map[string][]string{
				"network": {"--hosts", list, "--connect-to", addr},
				"warc":    {"--warc", warc},
				"bodies":  {"--bodies", files, "--schemes", "http"},
			} {
				runCommand(t, robocensus, append(append(common, run), args...)...)
			}
			runCommand(t, robocensus, append(append(common, "again"), "--from-run", filepath.Join(out, "_runs", "network"))...)
			for _, run := range []string{"network", "warc", "bodies", "again"} {
				runCommand(t, robocensus, "verify", "--out", out, run)
			}

			db := everyRun(t, out)
			if got := one(t, db,
				"SELECT count(*) FROM fetches WHERE run = 'network' AND reason = 'success'"); got != fmt.Sprint(len(names)) {
				t.Fatalf("%s of %d files came over the network", got, len(names))
			}
			for _, table := range []string{"groups", "rules", "sitemaps", "lines", "signals", "preferences", "policies",
				"verdicts", "agents", "bodies"} {
				columns := "* EXCLUDE (run, seq, origin)"
				switch table {
				case "agents", "bodies":
					columns = "* EXCLUDE (run)"
				}
				for _, run := range []string{"warc", "bodies", "again"} {
					for _, pair := range [][2]string{{"network", run}, {run, "network"}} {
						query := fmt.Sprintf("SELECT count(*) FROM (SELECT %[1]s FROM %[2]s WHERE run = '%[3]s' EXCEPT ALL SELECT "+
							"%[1]s FROM %[2]s WHERE run = '%[4]s')", columns, table, pair[0], pair[1])
						if got := one(t, db, query); got != "0" {
							t.Errorf("%s: %s rows of %s are not in %s", table, got, pair[0], pair[1])
						}
					}
				}
			}
			// A re-judged run has the facts of the run that it reads.
			query := "SELECT count(*) FROM (SELECT * EXCLUDE (run) FROM fetches WHERE run = 'network' EXCEPT ALL SELECT * " +
				"EXCLUDE (run) FROM fetches WHERE run = 'again')"
			if got := one(t, db, query); got != "0" {
				t.Errorf("fetches: %s rows differ when re-evaluated", got)
			}
			query = "SELECT count(*) FROM fetches WHERE run = 'warc' AND (source <> 'warc' OR warc_file IS NULL OR " +
				"warc_offset IS NULL OR warc_length IS NULL OR status <> 200 OR fetch_time IS NULL)"
			if got := one(t, db, query); got != "0" {
				t.Errorf("%s rows of the WARC lack what it tells", got)
			}
			query = "SELECT count(*) FROM fetches WHERE run = 'bodies' AND (source <> 'body' OR status IS NOT NULL OR " +
				"len(hops) > 0 OR final_url IS NOT NULL)"
			if got := one(t, db, query); got != "0" {
				t.Errorf("%s rows of bodies tell of a request that nobody made", got)
			}
		})
	}
}
