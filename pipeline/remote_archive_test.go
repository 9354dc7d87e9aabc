package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/verify"
)

// archiveServer serves files over https, as a public archive does on a bad day.
type archiveServer struct {
	*httptest.Server
	files map[string][]byte
	// trouble answers a request itself and reports true, or leaves it. It is called
	// with the number of the request.
	trouble func(w http.ResponseWriter, r *http.Request, n int) bool

	mu       sync.Mutex
	asked    []string // path and range
	began    []time.Time
	underWay int
	peak     int
}

func newArchiveServer(t *testing.T, files map[string][]byte) *archiveServer {
	s := &archiveServer{files: files}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked, s.began = append(s.asked, r.URL.Path+" "+r.Header.Get("Range")), append(s.began, time.Now())
		n := len(s.asked)
		s.underWay++
		s.peak = max(s.peak, s.underWay)
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.underWay--
		}()
		if s.trouble != nil && s.trouble(w, r, n) {
			return
		}
		content, ok := s.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(len(content))))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	return s
}

// breaking breaks an answer after some bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (c *breaking) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// crawlOf returns an archive with captures of some hosts.
func crawlOf(name string, hosts int) []byte {
	var text strings.Builder
	for i := range hosts {
		text.WriteString(warcResponse(fmt.Sprintf("%s-%d.example", name, i),
			fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /%s\n", strings.Repeat("x", i%97))))
	}
	return []byte(text.String())
}

// fetchesOf returns what a run says of its hosts.
func fetchesOf(t *testing.T, c Config) []schema.Fetch {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	must(t, err)
	var rows []schema.Fetch
	for _, p := range m.Parts {
		if p.Table == "fetches" {
			of, err := parquet.ReadFile[schema.Fetch](filepath.Join(c.Dir, p.Path))
			must(t, err)
			rows = append(rows, of...)
		}
	}
	if int64(len(rows)) != m.Targets || len(rows) == 0 {
		t.Fatalf("the run has %d rows and %d targets", len(rows), m.Targets)
	}
	return rows
}

// Archives of a server that throttles, breaks and refuses are read whole, at the
// server's pace, with one request for each that does not fail.
func TestArchivesOfATroubledServer(t *testing.T) {
	files, list, dir := make(map[string][]byte), "", t.TempDir()
	for i := range 6 {
		name := fmt.Sprintf("crawl-data/%d.warc", i)
		files["/"+name] = crawlOf(fmt.Sprint("c", i), 300)
		list += name + "\n"
		must(t, os.MkdirAll(filepath.Join(dir, "crawl-data"), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, name), files["/"+name], 0o666))
	}
	files["/robotstxt.paths.gz"] = gzipped(list)
	server := newArchiveServer(t, files)
	const rate, atOnce = 25, 2
	type quiet struct{ from, to time.Time }
	var told []quiet // times in which no request may begin
	broken := make(map[string]bool)
	server.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
		server.mu.Lock()
		isBroken, refused := broken[r.URL.Path], n == 6 || n == 9
		broken[r.URL.Path] = isBroken || !refused
		server.mu.Unlock()
		switch {
		case strings.HasSuffix(r.URL.Path, ".gz"):
			return false
		case refused:
			now := time.Now()
			server.mu.Lock()
			told = append(told, quiet{now.Add(time.Second), now.Add(2 * time.Second)}) // another request may be on its way
			server.mu.Unlock()
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(map[int]int{6: http.StatusTooManyRequests, 9: http.StatusForbidden}[n])
			return true
		case !isBroken:
			content := server.files[r.URL.Path]
			w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(len(content))))
			http.ServeContent(&breaking{w, 50_000}, r, "", time.Time{}, bytes.NewReader(content))
			return true
		}
		return false
	}
	local := storedConfig(t, source.Config{Schemes: []string{"http"}, Paths: writeFile(t, "list", []byte(list)),
		Base: dir})
	over := storedConfig(t, source.Config{
		Schemes: []string{"http"}, Paths: server.URL + "/robotstxt.paths.gz", Base: server.URL, Remote: remote.Limits{
			Rate: rate, AtOnce: atOnce},
	})
	for _, c := range []Config{local, over} {
		if _, err := Run(t.Context(), c, new(Progress)); err != nil {
			t.Fatal(err)
		}
	}
	if want, got := fetchesOf(t, local), fetchesOf(t, over); !reflect.DeepEqual(want, got) {
		t.Errorf("the rows of archives read over https (-local +https):\n%s", cmp.Diff(want, got))
	}
	archives := server.began[2:] // the list is read without a pace: its size, then the list
	if server.peak > atOnce {
		t.Errorf("%d requests at once, want at most %d", server.peak, atOnce)
	}
	if took, least := archives[len(archives)-1].Sub(archives[0]),
		time.Duration(len(archives)-2)*time.Second/rate; took < least {
		t.Errorf("%d requests in %s, want at least %s", len(archives), took, least)
	}
	for _, q := range told {
		for i, at := range archives {
			if at.After(q.from) && at.Before(q.to) {
				t.Errorf("request %d began %s before the end of the wait that the server asked for", i, q.to.Sub(at))
			}
		}
	}
	// Each archive breaks once, and twice the server refuses.
	if want := 6*2 + 2; len(archives) != want {
		t.Errorf("%d requests for archives, want %d: %q", len(archives), want, server.asked)
	}
	checked, err := verify.Run(t.Context(), sinktest.Open(t, over.Dir), over.Run, func(int, int) {})
	must(t, err)
	if len(checked.Problems) > 0 {
		t.Errorf("verification: %v", checked.Problems)
	}
	m, err := journal.ReadManifest(sinktest.Open(t, over.Dir), over.Run)
	must(t, err)
	for _, in := range m.Inputs {
		if in.Role == "warc" && (int(in.Bytes) != len(files["/"+in.Path]) || in.Tag == "" || !in.IdentifiedWhenRead) {
			t.Errorf("the manifest says of an archive: %+v", in)
		}
	}
}

// Resuming does not ask for an archive again whose segments are all committed, and
// refuses one that was replaced since some were.
func TestResumeReadsNoCommittedArchive_NoRace(t *testing.T) {
	files := map[string][]byte{"/a.warc": crawlOf("a", 50), "/b.warc": crawlOf("b", pieceTargets+50)}
	server := newArchiveServer(t, files)
	c := storedConfig(t, source.Config{
		Schemes: []string{"http"}, Paths: writeFile(t, "list", []byte("a.warc\nb.warc\n")), Base: server.URL,
		Remote: remote.Limits{AtOnce: 1},
	})
	whole := c
	whole.Dir = filepath.Join(t.TempDir(), "whole")
	if _, err := Run(t.Context(), whole, new(Progress)); err != nil {
		t.Fatal(err)
	}
	// b breaks for good after its first segment.
	ctx, cancel := context.WithCancel(t.Context())
	server.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.URL.Path == "/a.warc" {
			return false
		}
		content := files["/b.warc"]
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(len(content))))
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(content[:len(content)-1000])
		http.NewResponseController(w).Flush()
		committed := filepath.Join(c.Dir, "_runs", c.Run, "segments", fmt.Sprintf("%010d.json", journal.SegmentsPerVolume))
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(committed); err == nil {
				cancel()
			}
		}
		return true
	}
	if _, err := Run(ctx, c, new(Progress)); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run that was to be stopped: %v", err)
	}
	server.trouble, server.asked = nil, nil
	replaced := c
	c.Resume, replaced.Resume = true, true
	files["/b.warc"] = append(crawlOf("b", pieceTargets+50), "\r\n"...)
	if _, err := Run(t.Context(), replaced, new(Progress)); !errors.Is(err, journal.ErrNotResumable) ||
		!strings.Contains(err.Error(), "b.warc was replaced") {
		t.Errorf("resuming with another archive: %v", err)
	}
	files["/b.warc"] = files["/b.warc"][:len(files["/b.warc"])-2]
	result, err := Run(t.Context(), c, new(Progress))
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(pieceTargets + 100); result.Targets != want {
		t.Errorf("%d targets, want %d", result.Targets, want)
	}
	for _, asked := range server.asked {
		if strings.HasPrefix(asked, "/a.warc") {
			t.Errorf("the archive whose segments are committed is asked for again: %q", server.asked)
		}
	}
	if diff := cmp.Diff(fetchesOf(t, whole), fetchesOf(t, c)); diff != "" {
		t.Errorf("the rows after resuming (-whole +resumed):\n%s", diff)
	}
}

// Planning asks for no archive, and the shards of a run ask for each once.
func TestShardsOfRemoteArchives_NoRace(t *testing.T) {
	files, list := make(map[string][]byte), ""
	for i := range 4 {
		name := fmt.Sprintf("%d.warc", i)
		files["/"+name] = crawlOf(fmt.Sprint("c", i), 20)
		list += name + "\n"
	}
	server := newArchiveServer(t, files)
	c := storedConfig(t, source.Config{
		Schemes: []string{"http"}, Paths: writeFile(t, "list", []byte(list)), Base: server.URL, Remote: remote.Limits{
			AtOnce: 2}, Sample: 0.5,
	})
	whole := c
	whole.Dir = filepath.Join(t.TempDir(), "whole")
	if _, err := Run(t.Context(), whole, new(Progress)); err != nil {
		t.Fatal(err)
	}
	server.asked = nil
	c.Source.Shard.Count, c.Spool = 2, t.TempDir()
	if _, err := PlanShards(t.Context(), c, func(int64) {}); err != nil || len(server.asked) > 0 {
		t.Fatalf("planning asks for %q: %v", server.asked, err)
	}
	plan, _, err := journal.ReadPlan(sinktest.Open(t, c.Dir), c.Run)
	if err != nil {
		t.Fatal(err)
	}
	c.Planned = &plan
	for _, in := range c.Planned.Inputs {
		if in.Role == "warc" {
			c.Source.Archives = append(c.Source.Archives, in)
		}
	}
	for i := range 2 {
		c.Source.Shard.Index = i
		r, err := Run(t.Context(), c, new(Progress))
		if err != nil {
			t.Fatal(err)
		}
		if (r.Uncommitted == 0) != (i == 1) || len(server.asked) != 2*(i+1) {
			t.Errorf("after shard %d: %+v, asked for %q", i, r, server.asked)
		}
	}
	if diff := cmp.Diff(fetchesOf(t, whole), fetchesOf(t, c)); diff != "" {
		t.Errorf("the rows of shards (-whole +shards):\n%s", diff)
	}
}

// An archive that the server does not have is an error of the input, which names it.
func TestARemoteArchiveIsMissing(t *testing.T) {
	server := newArchiveServer(t, map[string][]byte{"/a.warc": crawlOf("a", 3)})
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, Paths: writeFile(t, "list", []byte("a.warc\nb.warc\n")),
		Base: server.URL, Remote: remote.Limits{AtOnce: 1}})
	_, err := Run(t.Context(), c, new(Progress))
	var input *userfile.Error
	if !errors.As(err, &input) || input.Path != server.URL+"/b.warc" {
		t.Errorf("%v", err)
	}
}
