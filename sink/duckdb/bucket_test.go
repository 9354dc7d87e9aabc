package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/s3server"
)

// A planned run of shards into an object store, one of which is killed and started
// again, has the tables of one process and a folder, and every command reads it.
func TestARunInAnObjectStore(t *testing.T) {
	built := make(chan error, 1) // takes minutes where Go has not compiled it
	go func() { built <- s3server.Build("../s3") }()
	t.Parallel()
	must(t, <-built)
	server, err := s3server.Start("../s3", t.TempDir())
	must(t, err)
	t.Cleanup(server.Stop)
	url, err := server.Bucket("census")
	must(t, err)
	backing := filepath.Join(server.Dir, "census")
	environment := append(append(os.Environ(), s3server.Environment(server.URL)...), "XDG_CACHE_HOME="+t.TempDir())
	command := func(args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, "robocensus"), args...)
		c.Env = environment
		return c
	}

	const hosts = 240 // one segment
	w := newWeb(t, hosts, "uniform:0ms-20ms")
	whole := filepath.Join(t.TempDir(), "whole")
	robocensus(t, 0, w.census(whole)...)
	finish(t, 0, command(append(append([]string{"plan"}, w.census(url)[1:]...), "--shards", "3")...))
	worker := func(shard, concurrency int) *exec.Cmd {
		return command("run", "--run", "r", "--out", url, "--progress", "none", "--concurrency", strconv.Itoa(concurrency),
			"--shard", strconv.Itoa(shard))
	}
	victim := worker(1, 1) // takes a second at least
	must(t, victim.Start())
	others := make(chan error, 2)
	for _, shard := range []int{0, 2} {
		go func() {
			text, err := worker(shard, 64).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("shard %d: %w\n%s", shard, err, text)
			}
			others <- err
		}()
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(backing, "_runs/r/heartbeats/0000000001.json")); err == nil {
			break
		}
	}
	victim.Process.Kill()
	victim.Wait()
	if code := victim.ProcessState.ExitCode(); code != -1 {
		t.Errorf("the shard to kill ended with %d", code)
	}
	if text, _ := finish(t, 0, command("runs", "--out", url)); !strings.Contains(text, "of 3 shards") {
		t.Errorf("runs says %s", text)
	}
	finish(t, 0, worker(1, 64))
	for range 2 {
		must(t, <-others)
	}
	if text, _ := finish(t, 0, command("verify", "--out", url, "r")); !strings.HasSuffix(text, ": whole\n") {
		t.Errorf("verify says %s", text)
	}
	wantSameRun(t, whole, backing)

	// The views name what the manifest does, and show what those of the folder do.
	text, err := os.ReadFile(filepath.Join(backing, "views.sql"))
	must(t, err)
	var named, there []string
	for _, name := range regexp.MustCompile(`s3://census/[^']*`).FindAllString(string(text), -1) {
		named = append(named, strings.TrimPrefix(name, "s3://census/"))
	}
	m := readManifest(t, backing)
	for _, p := range slices.Concat(m.Parts, m.RunParts) {
		there = append(there, p.Path)
	}
	slices.Sort(named)
	slices.Sort(there)
	if diff := cmp.Diff(there, slices.Compact(named)); diff != "" {
		t.Errorf("- in the manifest, + in the views:\n%s", diff)
	}
	rewritten := t.TempDir()
	write(t, filepath.Join(rewritten, "views.sql"), strings.ReplaceAll(string(text), "s3://census/", backing+"/"))
	inFolder, inBucket := quick(t, whole), quick(t, rewritten)
	for _, view := range []string{"policies", "verdicts", "rules", "agents", "history.policies"} {
		query := "SELECT count(*), sum(hash(v)::HUGEINT) FROM " + view + " v"
		_, a, err := ask(inFolder, query)
		must(t, err)
		_, b, err := ask(inBucket, query)
		must(t, err)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: - folder, + object store:\n%s", view, diff)
		}
	}

	// What reads a run gives what it gives for a folder.
	finish(t, 0, command(w.census(url, "--run", "s")...))
	robocensus(t, 0, w.census(whole, "--run", "s")...)
	changing := regexp.MustCompile(`began \S+Z|answered \S+ \S+|[0-9]+ (rows|bytes)`) // with times
	both := func(args ...string) {
		t.Helper()
		local, _ := robocensus(t, 0, append([]string{args[0], "--out", whole}, args[1:]...)...)
		remote, _ := finish(t, 0, command(append([]string{args[0], "--out", url}, args[1:]...)...))
		remote = strings.ReplaceAll(remote, url, whole)
		if local, remote = changing.ReplaceAllString(local, "…"), changing.ReplaceAllString(remote, "…"); local != remote {
			t.Errorf("%v: %s", args, firstDifference(local, remote))
		}
	}
	both("diff", "r", "s")
	both("export", "s", "rules")
	both("export", "s", "policies", "--columns", "host,agent,class")
	both("verify", "s")
	// One host costs few requests and bytes, whatever the size of the runs; also in a
	// published data set, which says what the run does.
	set := filepath.Join(t.TempDir(), "set")
	robocensus(t, 0, "publish", "--out", whole, "r", "s", "--to", set, "--creator", "Doe, Jane", "--licence", "CC-BY-4.0")
	must(t, os.CopyFS(filepath.Join(server.Dir, "published"), os.DirFS(set)))
	counting, seen := countingProxy(t, server.URL)
	direct := environment
	environment = append(append(os.Environ(), s3server.Environment(counting)...), "XDG_CACHE_HOME="+t.TempDir())
	random := rand.New(rand.NewPCG(33, 2))
	times := regexp.MustCompile(`"(date|fetched)": "[^"]*"`) // of two censuses
	asks := 4
	if testing.Short() {
		asks = 1
	}
	for range asks {
		host, agent := fmt.Sprintf("h%d.test", random.IntN(hosts)), []string{"GPTBot", "Googlebot"}[random.IntN(2)]
		urls := write(t, filepath.Join(t.TempDir(), "urls"), "http://"+host+"/\nhttp://"+host+"/private/x\n")
		for _, c := range []struct {
			requests, bytes int64
			args            []string
		}{
			{18, 180_000, []string{"show", host, "--run", "r", "--agent", agent, "--json"}},
			{30, 330_000, []string{"history", host, "--agent", agent, "--json"}},
			{10, 90_000, []string{"check", "--run", "s", "--agent", agent, "--urls", urls, "--json"}},
		} {
			asked := func(out string) (string, string) {
				cmd := command(append([]string{c.args[0], "--out", out}, c.args[1:]...)...)
				var stdout, stderr strings.Builder
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				cmd.Run()
				return fmt.Sprint(cmd.ProcessState.ExitCode(), " ", times.ReplaceAllString(stdout.String(), "")), stderr.String()
			}
			want, _ := asked(whole)
			for _, out := range []string{set, url, "s3://published"} {
				seen.requests.Store(0)
				seen.bytes.Store(0)
				got, said := asked(out)
				if got != want || len(got) < 20 {
					t.Errorf("%v in %s: %s\n%s", c.args, out, firstDifference(want, got), said)
				}
				n, bytes := seen.requests.Load(), seen.bytes.Load()
				if n > c.requests || bytes > c.bytes || n > 0 != strings.HasPrefix(out, "s3:") {
					t.Errorf("%v in %s takes %d requests and %d bytes, %d and %d at most", c.args, out, n, bytes, c.requests, c.bytes)
				}
			}
		}
	}
	// The folder is opened once: each time costs a request.
	page := filepath.Join(t.TempDir(), "page.html")
	for most, args := range map[int64][]string{
		12: {"report", "r", "--html", page}, 5: {"report", "r", "--text"}, 9: {"runs"}, 26: {"series", "--json"},
		64: {"verify", "s"}, 28: {"diff", "r", "s"},
	} {
		before := seen.requests.Load()
		finish(t, 0, command(append([]string{args[0], "--out", url}, args[1:]...)...))
		if n := seen.requests.Load() - before; n > most {
			t.Errorf("%v takes %d requests, %d at most", args, n, most)
		}
	}
	environment = direct
	both("prune", "--keep", "2", "--dry-run")
	if info, err := os.Stat(page); err != nil || info.Size() < 10_000 {
		t.Errorf("the report: %v, %v", info, err)
	}
	list, _ := finish(t, 0, command("runs", "--out", url))
	for _, id := range []string{"r", "s"} {
		if !regexp.MustCompile(`(?m)^` + id + ` +complete .*\b` + fmt.Sprint(hosts) + `\b`).MatchString(
			strings.ReplaceAll(list, ",", "")) {
			t.Errorf("runs says\n%s", list)
		}
	}

	// A run that re-evaluates it, from the object store and from the folder.
	again := func(from, to string) []string {
		return []string{"run", "--from-run", from + "/_runs/r", "--out", to, "--run", "r", "--agents", w.agents, "--urls",
			w.url,
			"--profile", "google,rfc9309", "--keep-bodies", "--progress", "none"}
	}
	fromFolder, fromBucket := filepath.Join(t.TempDir(), "folder"), filepath.Join(t.TempDir(), "bucket")
	robocensus(t, 0, again(whole, fromFolder)...)
	finish(t, 0, command(again(url, fromBucket)...))
	for _, table := range []string{"fetches", "lines", "policies"} {
		wantSameRows(t, fromFolder, fromBucket, table)
	}

	both("prune", "--keep", "1")
	if text, _ := finish(t, 0, command("runs", "--out", url)); strings.Contains(text, "\nr ") {
		t.Errorf("prune leaves\n%s", text)
	}
	must(t, filepath.WalkDir(backing, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "run=r/") {
			t.Errorf("prune leaves %s", path)
		}
		return err
	}))
}

// traffic counts requests, and the bytes of the bodies of their answers.
type traffic struct{ requests, bytes atomic.Int64 }

// countingProxy stands before an object store and counts.
func countingProxy(t *testing.T, to string) (url string, seen *traffic) {
	seen = new(traffic)
	forward := forwarding(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.requests.Add(1)
		forward.ServeHTTP(&countedResponse{w, &seen.bytes}, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

// countedResponse is a response whose bytes are counted.
type countedResponse struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *countedResponse) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *countedResponse) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// forwarding forwards requests to an object store.
func forwarding(to string) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", strings.TrimPrefix(to, "http://")
			r.Out.Host = r.In.Host // as it was signed
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
}

// breaking cuts answers short at random bytes, and is busy at times.
func breaking(seed uint64, next http.Handler) http.Handler {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		kind, left := random.IntN(10), 1+random.IntN(400_000)
		mu.Unlock()
		if kind == 0 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(&cutShort{w, left}, r)
	})
}

// cutShort is a response that is reset after so many bytes.
type cutShort struct {
	http.ResponseWriter
	left int
}

func (c *cutShort) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutShort) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; err == nil && c.left == 0 {
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// Archives that are read over a line that breaks give the tables of local ones, also
// where they are damaged.
func TestArchivesOverABrokenLine(t *testing.T) {
	if testing.Short() {
		t.Skip("package pipeline reads archives and indexes of a server that breaks off")
	}
	t.Parallel()
	dir := t.TempDir()
	archive := filepath.Join(dir, "0.warc.gz")
	finish(t, 0, exec.Command(filepath.Join(bin, "robofarm"), "warc", "--dir", "../../testdata/demo/hosts", "--out",
		archive, "--repeat", "12"))
	content, err := os.ReadFile(archive)
	must(t, err)
	damaged := slices.Clone(content)
	for i := range 400 {
		damaged[len(damaged)/2+i] ^= byte(i)
	}
	write(t, filepath.Join(dir, "1.warc.gz"), string(damaged))
	census := func(out string, archives ...string) []string {
		args := []string{"run", "--out", out, "--run", "r", "--agents", write(t, filepath.Join(dir, "agents.yaml"),
			"- {name: GPTBot}\n"), "--progress", "none"}
		for _, name := range archives {
			args = append(args, "--warc", name)
		}
		return args
	}
	local := filepath.Join(dir, "local")
	robocensus(t, 0, census(local, archive, filepath.Join(dir, "1.warc.gz"))...)

	files := http.FileServer(http.Dir(dir))
	var asked atomic.Int32
	https := httptest.NewTLSServer(breaking(1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/changing.warc.gz" { // is replaced by each other answer
			r.URL.Path = fmt.Sprintf("/%d.warc.gz", asked.Add(1)/4%2)
			w.Header().Set("ETag", strconv.Quote(r.URL.Path))
		}
		files.ServeHTTP(w, r)
	})))
	https.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(https.Close)
	certificate := write(t, filepath.Join(dir, "ca.pem"),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: https.Certificate().Raw})))

	server, err := s3server.Start("../s3", t.TempDir())
	must(t, err)
	t.Cleanup(server.Stop)
	_, err = server.Bucket("archives")
	must(t, err)
	for i, content := range [][]byte{content, damaged} {
		write(t, filepath.Join(server.Dir, fmt.Sprintf("archives/%d.warc.gz", i)), string(content))
	}
	s3 := httptest.NewServer(breaking(2, forwarding(server.URL)))
	t.Cleanup(s3.Close)
	environment := append(append(os.Environ(), s3server.Environment(s3.URL)...), "SSL_CERT_FILE="+certificate)

	for _, from := range []string{https.URL, "s3://archives"} {
		name, _, _ := strings.Cut(from, ":")
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			c := exec.Command(filepath.Join(bin, "robocensus"), census(out, from+"/0.warc.gz", from+"/1.warc.gz")...)
			c.Env = environment
			finish(t, 0, c)
			const rows = "SELECT * EXCLUDE (warc_file), parse_filename(warc_file) FROM " +
				"read_parquet('%s/fetches/run=r/*.parquet')"
			if n := one(t, bare(t), fmt.Sprintf("SELECT count(*) FROM ("+rows+" EXCEPT ALL "+rows+")", local, out)); n != "0" {
				t.Errorf("%s fetches differ", n)
			}
			for _, table := range []string{"groups", "rules", "lines", "policies", "summary"} {
				wantSameRows(t, local, out, table)
			}
			a, err := os.ReadFile(filepath.Join(local, "_runs/r/rejected.csv"))
			must(t, err)
			b, err := os.ReadFile(filepath.Join(out, "_runs/r/rejected.csv"))
			must(t, err)
			if a, b := strings.ReplaceAll(string(a), dir, from), string(b); a != b || !strings.Contains(a, "damaged_record") {
				t.Errorf("rejected.csv: %s", firstDifference(a, b))
			}
		})
	}

	// An archive that is replaced while it is read is no input.
	c := exec.Command(filepath.Join(bin, "robocensus"), census(filepath.Join(dir, "changing"), https.URL+
		"/changing.warc.gz")...)
	c.Env = environment
	if _, text := finish(t, 65, c); !strings.Contains(text, "was replaced while it was read") {
		t.Errorf("it says %s", text)
	}
	// Neither is one of a server whose certificate nobody has signed.
	robocensus(t, 74, census(filepath.Join(dir, "untrusted"), https.URL+"/0.warc.gz")...)
}
