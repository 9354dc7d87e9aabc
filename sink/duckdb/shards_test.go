package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// wantSameTables finds out whether run r of two folders has the same rows and the
// same rejected lines, whatever the shards, and that nothing else lies in the second
// folder. Every shard has the bodies that it saw, and its own choice of examples. None
// of these runs asks under further identities, for sitemaps or for documents, so none has
// the tables about these.
func wantSameTables(t *testing.T, want, got string) {
	t.Helper()
	if text, _ := robocensus(t, 0, "verify", "--out", got, "r"); !strings.HasSuffix(text, ": whole\n") {
		t.Errorf("verify says %s", text)
	}
	wantSameRun(t, want, got)
}

// wantSameRun is [wantSameTables] for what need not be a folder that the command reads.
func wantSameRun(t *testing.T, want, got string) {
	t.Helper()
	for table := range types {
		switch table {
		case "changes", "examples", "bodies", "answers", "documents", "labels", "label_counts", "sitemap_files", "coverage",
			"urls":
			continue
		}
		wantSameRows(t, want, got, table)
	}
	db := bare(t)
	if n := one(t, db, fmt.Sprintf(`
		FROM (SELECT DISTINCT content_digest, body FROM read_parquet('%s/bodies/run=r/*.parquet')) AS a
		FULL JOIN (SELECT DISTINCT content_digest, body FROM read_parquet('%s/bodies/run=r/*.parquet')) AS b USING (content_digest)
		SELECT count(*) FILTER (a.body IS DISTINCT FROM b.body)`, want, got)); n != "0" {
		t.Errorf("%s bodies differ", n)
	}
	const bounds = "SELECT metric, key, count(*) FROM read_parquet('%s/examples/run=r/*.parquet') WHERE metric <> " +
		"'total_us' GROUP BY ALL"
	if n := one(t, db, fmt.Sprintf("SELECT count(*) FROM ("+bounds+" EXCEPT "+bounds+")", want, got)); n != "0" {
		t.Errorf("%s kinds have another number of examples", n)
	}
	a, err := os.ReadFile(filepath.Join(want, "_runs/r/rejected.csv"))
	must(t, err)
	b, err := os.ReadFile(filepath.Join(got, "_runs/r/rejected.csv"))
	must(t, err)
	if string(a) != string(b) {
		t.Errorf("rejected.csv differs:\n%s", firstDifference(string(a), string(b)))
	}
	wantNothingElse(t, got)
}

// ofShards are the arguments of a shard of a run.
func ofShards(args []string, shard, shards int) []string {
	return append(args[:len(args):len(args)], "--shards", strconv.Itoa(shards), "--shard", strconv.Itoa(shard))
}

// together runs shards as processes of their own, at the same time.
func together(t *testing.T, shards int, args func(shard int) []string) {
	t.Helper()
	var all sync.WaitGroup
	for i := range shards {
		all.Go(func() {
			c := exec.Command(filepath.Join(bin, "robocensus"), args(i)...)
			if text, err := c.CombinedOutput(); err != nil {
				t.Errorf("shard %d: %v\n%s", i, err, text)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// The tables of a run of shards are those of a run without, from every source: of
// hosts that are asked, with lines that are rejected and URLs of their own; of
// bodies, archives and an earlier run.
func TestShardsMakeTheSameRun(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 2*segmentTargets+segmentTargets/7, "none") // more than one segment in each of two shards
	list, err := os.ReadFile(w.hosts)
	must(t, err)
	w.hosts = write(t, filepath.Join(t.TempDir(), "hosts.csv"),
		string(list)+"not a host\nhttp://own.test/a\nhttp://own.test/b\n-x-\nown.test\nhttp://other.test/\n"+
			"http://own.test/c\n"+firstLine(string(list))+"\n")
	dir := t.TempDir()
	whole := filepath.Join(dir, "hosts")
	robocensus(t, 0, w.census(whole)...)
	filter := "not a host\nnone.example\n"
	files, err := os.ReadDir("../../testdata/demo/hosts")
	must(t, err)
	for _, f := range files[1:] {
		filter += f.Name() + "\n"
	}
	for i := range 5 {
		name := filepath.Join(dir, fmt.Sprintf("%d.warc.gz", i))
		finish(t, 0, exec.Command(filepath.Join(bin, "robofarm"), "warc", "--dir", "../../testdata/demo/hosts", "--out",
			name, "--repeat", strconv.Itoa(1+2*i)))
	}
	common := []string{"--run", "r", "--agents", w.agents, "--urls", w.url, "--profile", "google,rfc9309",
		"--keep-bodies", "--progress", "none"}
	ofHosts := filepath.Join(dir, "hosts-in-shards")
	together(t, 2, func(i int) []string { return ofShards(w.census(ofHosts), i, 2) })
	wantSameTables(t, whole, ofHosts)
	for _, source := range []struct {
		name string
		args []string
	}{
		{"bodies", append(common, "--bodies", "../../testdata/demo/hosts", "--hosts", write(t, filepath.Join(dir, "filter"),
			filter))},
		{"archives", append(common, "--warc", filepath.Join(dir, "*.warc.gz"))},
	} {
		t.Run(source.name, func(t *testing.T) {
			t.Parallel()
			args := func(out string) []string {
				return append(append([]string{"run"}, source.args...), "--out", out)
			}
			whole, shards := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "shards")
			robocensus(t, 0, args(whole)...)
			together(t, 3, func(i int) []string { return ofShards(args(shards), i, 3) })
			wantSameTables(t, whole, shards)
		})
	}
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		again, anew := filepath.Join(t.TempDir(), "again"), filepath.Join(t.TempDir(), "anew")
		robocensus(t, 0, w.rejudged(whole, again)...)
		robocensus(t, 0, w.rejudged(ofHosts, anew)...)
		wantSameTables(t, again, anew)
		same := filepath.Join(t.TempDir(), "same")
		together(t, 2, func(i int) []string { return ofShards(w.rejudged(ofHosts, same), i, 2) })
		wantSameTables(t, again, same)
		shards := filepath.Join(t.TempDir(), "shards")
		together(t, 3, func(i int) []string { return ofShards(w.rejudged(whole, shards), i, 3) })
		wantSameTables(t, again, shards)
		robocensus(t, 65, ofShards(w.rejudged(ofHosts, filepath.Join(t.TempDir(), "other")), 0, 3)...)
	})
	// Commands that read a run take one of shards as any other.
	robocensus(t, 0, w.rejudged(whole, ofHosts, "--run", "s")...)
	robocensus(t, 0, "diff", "--out", ofHosts, "s", "r")
	if n := one(t, quick(t, ofHosts), "SELECT count(*) FROM history.changes"); n != "0" {
		t.Errorf("%s changes between a run of shards and one without", n)
	}
	robocensus(t, 0, "report", "--out", ofHosts, "r") // from the table summary, which is compared above
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// A process of a planned run needs no source and no settings. It reads its own list
// or archives only, and refuses other settings.
func TestPlannedShards(t *testing.T) {
	if testing.Short() {
		t.Skip("cmd/robocensus plans shards of lists, archives and earlier runs; TestShardsMakeTheSameRun " +
			"compares their rows")
	}
	t.Parallel()
	w := newWeb(t, 300, "none")
	dir := t.TempDir()
	for i := range 5 {
		finish(t, 0, exec.Command(filepath.Join(bin, "robofarm"), "warc", "--dir", "../../testdata/demo/hosts", "--out",
			filepath.Join(dir, fmt.Sprintf("%d.warc.gz", i)), "--repeat", strconv.Itoa(1+2*i)))
	}
	paths := ""
	for i := range 5 {
		paths += filepath.Join(dir, fmt.Sprintf("%d.warc.gz", i)) + "\n"
	}
	for name, args := range map[string][]string{
		"hosts": w.census("")[1:],
		"archives": {"--warc-paths", write(t, filepath.Join(dir, "paths"), "# five\n"+paths), "--run", "r", "--agents",
			w.agents, "--urls", w.url, "--profile", "rfc9309", "--keep-bodies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, shards := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "shards")
			robocensus(t, 0, append(append([]string{"run"}, args...), "--out", whole)...)
			plan := append(append([]string{"plan"}, args...), "--shards", "3", "--out", shards)
			robocensus(t, 0, plan...)
			if text, _ := robocensus(t, 0, plan...); !strings.HasPrefix(text, "nothing to do") {
				t.Errorf("planned twice: %s", text)
			}
			robocensus(t, 65, append(plan, "--max-redirects", "1")...)
			worker := []string{"run", "--run", "r", "--out", shards, "--shard"}
			robocensus(t, 65, append(worker, "1", "--tables", "fetches")...)
			robocensus(t, 65, append(worker, "1", "--shards", "4")...)
			robocensus(t, 64, append(worker, "3")...)
			if name == "hosts" {
				must(t, os.Rename(w.hosts, w.hosts+".gone"))
				defer os.Rename(w.hosts+".gone", w.hosts)
			}
			together(t, 3, func(i int) []string { return append(worker[:len(worker):len(worker)], strconv.Itoa(i)) })
			wantSameTables(t, whole, shards)
		})
	}
}

var (
	oneMachine = flag.String("one-machine", "", "folder of run r, made on one machine")
	array      = flag.String("array", "", "folder of run r, made as an array of shards")
)

// TestTablesOfArray compares the tables that make test-slurm or make test-kubernetes
// has made.
func TestTablesOfArray(t *testing.T) {
	if *oneMachine == "" || *array == "" {
		t.Skip("make test-slurm and make test-kubernetes run this test")
	}
	wantSameTables(t, *oneMachine, *array)
}

// Of many attempts at a shard at once one wins, and nothing is left of the others.
func TestAttemptsAtAShard(t *testing.T) {
	if testing.Short() {
		t.Skip("sink/s3 lets attempts at a shard meet, in a store that disturbs; sink, at every operation")
	}
	t.Parallel()
	w := newWeb(t, 300, "none")
	whole, shards := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "shards")
	robocensus(t, 0, w.census(whole)...)
	robocensus(t, 0, ofShards(w.census(shards), 1, 2)...)
	together(t, 16, func(int) []string { return ofShards(w.census(shards), 0, 2) })
	wantSameTables(t, whole, shards)
}

// Shards that are killed or terminated at any moment are complete after retries, and
// the run is the same. A terminated shard says 75, which is worth a retry.
func TestShardsAreRetried(t *testing.T) {
	if testing.Short() {
		t.Skip("sink/s3 kills attempts at a shard; cmd/robocensus retries shards under make")
	}
	t.Parallel()
	w := newWeb(t, 400, "uniform:0ms-20ms")
	whole, shards := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "shards")
	robocensus(t, 0, w.census(whole)...)
	ended := map[int]int{}
	for shard := range 3 {
		for try := 1; ; try++ {
			c := exec.Command(filepath.Join(bin, "robocensus"), ofShards(w.census(shards, "--grace", "20ms", "--concurrency",
				"16"), shard, 3)...)
			must(t, c.Start())
			by := []os.Signal{syscall.SIGKILL, syscall.SIGTERM}[try%2]
			timer := time.AfterFunc(time.Duration(try)*40*time.Millisecond, func() { c.Process.Signal(by) })
			c.Wait()
			timer.Stop()
			code := c.ProcessState.ExitCode()
			if ended[code]++; code == 0 {
				break
			}
			if code != -1 && (code != 75 || by == syscall.SIGKILL) { // SIGTERM kills a process that has just begun
				t.Fatalf("try %d of shard %d ended by %v says %d", try, shard, by, code)
			}
			if try > 100 {
				t.Fatalf("shard %d makes no progress", shard)
			}
		}
	}
	t.Logf("ended by exit code: %v", ended)
	if ended[-1] == 0 || ended[75] == 0 {
		t.Errorf("no process was ended by both signals: %v", ended)
	}
	wantSameTables(t, whole, shards)
}

// Bare views do not show the parts of an attempt that lost and was killed before it
// removed them, and starting the shard again removes them.
func TestPartsOfALostAttempt(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 100, "none")
	whole, shards := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "shards")
	robocensus(t, 0, w.census(whole)...)
	together(t, 2, func(i int) []string { return ofShards(w.census(shards), i, 2) })
	rows := one(t, quick(t, shards), "SELECT count(*) FROM policies")
	for _, p := range readManifest(t, shards).Parts {
		content, err := os.ReadFile(filepath.Join(shards, p.Path))
		must(t, err)
		write(t, filepath.Join(shards, strings.TrimSuffix(p.Path, ".parquet")[:len(p.Path)-len("abcdefgh.parquet")]+
			"lostlost.parquet"), string(content))
	}
	if n := one(t, quick(t, shards), "SELECT count(*) FROM policies"); n != rows {
		t.Errorf("%s rows, want %s", n, rows)
	}
	robocensus(t, 0, ofShards(w.census(shards), 1, 2)...)
	wantSameTables(t, whole, shards)
}

// What must not happen to a run of shards, and what a process says of it.
func TestShardsGoneWrong(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 200, "none")
	dir := t.TempDir()
	planned := func(name string) (out string, worker []string) {
		out = filepath.Join(dir, name)
		robocensus(t, 0, append(append([]string{"plan"}, w.census(out)[1:]...), "--shards", "2")...)
		return out, []string{"run", "--run", "r", "--out", out, "--progress", "none", "--shard"}
	}

	// A task that is started again after the end changes nothing.
	out, worker := planned("again")
	for _, shard := range []string{"0", "1", "0", "1"} {
		robocensus(t, 0, append(worker, shard)...)
	}
	robocensus(t, 0, "verify", "--out", out, "r")
	robocensus(t, 0, append(append([]string{"plan"}, w.census(out)[1:]...), "--shards", "2")...)
	robocensus(t, 0, "verify", "--out", out, "r") // planning again leaves nothing

	// A file of the user in a table's folder stays.
	out, worker = planned("notes")
	robocensus(t, 0, append(worker, "0")...)
	note := write(t, filepath.Join(out, "fetches/run=r/notes.txt"), "mine")
	robocensus(t, 0, append(worker, "1")...)
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}

	// A link in place of the spool leads nowhere.
	out, worker = planned("link")
	victim := t.TempDir()
	must(t, os.Symlink(victim, filepath.Join(out, "_runs/r/spool")))
	robocensus(t, 74, append(worker, "0")...)
	if files, _ := os.ReadDir(victim); len(files) > 0 {
		t.Errorf("%v", files)
	}

	// Flags that are no settings are not taken from a plan, whatever it says.
	out, _ = planned("forged")
	name := filepath.Join(out, "_runs/r/plan.json")
	text, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name,
		resealed(bytes.Replace(text, []byte(`"pace": {`), []byte(`"pace": {"dry-run": "true", "spool": "/nowhere",`), 1)),
		0o666))
	robocensus(t, 0, "run", "--run", "r", "--out", out, "--progress", "none", "--shard", "0")
	if text, _ := robocensus(t, 0, "runs", "--out", out); !strings.Contains(text, "1 of 2 shards are committed") {
		t.Errorf("runs says %s", text)
	}

	// A list without a host is refused before anything is made.
	none := write(t, filepath.Join(dir, "none.txt"), "not a host\n-x-\n")
	robocensus(t, 65, "plan", "--hosts", none, "--shards", "2", "--out", filepath.Join(dir, "none"), "--run", "r")
	robocensus(t, 65, "run", "--hosts", none, "--shards", "2", "--shard", "1", "--out", filepath.Join(dir, "none"),
		"--run", "r")

	// Another run of the same name and spool does not take the answers of this one.
	out, worker = planned("spool")
	spool := filepath.Join(dir, "elsewhere")
	robocensus(t, 0, append(worker, "0", "--spool", spool)...)
	if files, _ := os.ReadDir(filepath.Join(spool, "robocensus-r")); len(files) > 0 {
		t.Errorf("left in the spool: %v", files)
	}
	robocensus(t, 64, "plan", "--hosts", w.hosts, "--shards", "2", "--out", out, "--run", "s", "--dry-run")
	robocensus(t, 64, "run", "--out", out, "--run", "r", "--shard", "-3")
	robocensus(t, 64, "run", "--hosts", w.hosts, "--out", out, "--run", "q", "--shard", "0")
}

// resealed sets the digest at the end of a plan, record or manifest.
func resealed(text []byte) []byte {
	at := len(text) - len("\"\n}\n") - 64
	copy(text[at:], strings.Repeat("0", 64))
	sum := sha256.Sum256(text)
	copy(text[at:], hex.EncodeToString(sum[:]))
	return text
}
