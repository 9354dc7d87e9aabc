package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/verify"
)

const blockPlaces = 2048 // captures of an index that are a segment

// indexed is a set of archives with an index of the captures in them.
type indexed struct {
	files    map[string][]byte // by name
	index    []string          // lines of CDX with 11 fields, in random order
	requests int               // that reading them takes
	bytes    int64             // that these bring
}

// archivesWithIndex returns archives of some captures each, whose records lie together
// except behind every few, where content of another kind is in between.
func archivesWithIndex(archives, captures, together int) *indexed {
	x := &indexed{files: make(map[string][]byte)}
	rnd := rand.New(rand.NewPCG(1, 2))
	filler := make([]byte, 150<<10) // that compresses to no less
	for i := range filler {
		filler[i] = byte(rnd.Uint32())
	}
	between := gzipped(warcRecord("WARC-Type: metadata\r\n", string(filler)))
	for i := range archives {
		name := fmt.Sprintf("segments/%02d/a.warc.gz", i)
		file := gzipped(warcRecord("WARC-Type: warcinfo\r\n", "x: y"))
		from := 0
		for k := range captures {
			host := fmt.Sprintf("h%d-%d.example", i, k)
			record := gzipped(warcResponse(host, fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /%s\n",
				strings.Repeat("x", k%97))))
			if k%together == 0 {
				from = len(file)
				x.requests++
			} else if len(x.index)%blockPlaces == 0 {
				x.requests++ // a block ends here
			}
			x.index = append(x.index,
				fmt.Sprintf("example,h)/robots.txt 20260110060000 https://%s/robots.txt text/plain 200 A - - %d %d %s", host,
					len(record), len(file), name))
			file = append(file, record...)
			if (k+1)%together == 0 || k == captures-1 {
				x.bytes += int64(len(file) - from)
				file = append(file, between...)
				continue
			}
			file = append(file, gzipped(warcRecord("WARC-Type: request\r\n", "GET /robots.txt HTTP/1.1\r\n\r\n"))...)
		}
		x.files["/"+name] = file
	}
	rnd.Shuffle(len(x.index), func(i, k int) { x.index[i], x.index[k] = x.index[k], x.index[i] })
	return x
}

func (x *indexed) text() string {
	return " CDX N b a m s k r M S V g\n" + strings.Join(x.index, "\n") + "\n"
}

// folder writes the archives to a folder.
func (x *indexed) folder(t *testing.T) string {
	dir := t.TempDir()
	for name, content := range x.files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must(t, os.WriteFile(path, content, 0o666))
	}
	return dir
}

// counting counts the bytes of answers.
type counting struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// sortedByHost returns the rows of fetches in an order that does not depend on their numbers.
func sortedByHost(rows []schema.Fetch) []schema.Fetch {
	slices.SortFunc(rows, func(a, b schema.Fetch) int { return strings.Compare(a.Host, b.Host) })
	return rows
}

// Every capture that an index names is read once, from a server that throttles, breaks and
// sends too little, with the requests and bytes that its place takes; rows are those of
// reading the archives whole.
func TestIndexOfATroubledServer_NoRace(t *testing.T) {
	captures, together := 30, 10 // of 20 archives
	if !testing.Short() {
		captures, together = 500, 25
	}
	x := archivesWithIndex(20, captures, together)
	list := ""
	for name := range x.files {
		list += name[1:] + "\n"
	}
	server := newArchiveServer(t, x.files)
	var sent, troubles, resent atomic.Int64
	server.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
		content := x.files[r.URL.Path]
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(len(content))))
		var from, to int64
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
		counted := &counting{w, &sent}
		switch {
		case n == 5 || n == 11:
			troubles.Add(1)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(map[int]int{5: http.StatusTooManyRequests, 11: http.StatusServiceUnavailable}[n])
		case n%16 == 7: // breaks
			troubles.Add(1)
			resent.Add(1000) // which may be lost with the transfer
			http.ServeContent(&breaking{counted, 1000}, r, "", time.Time{}, bytes.NewReader(content))
		case n%16 == 13: // sends the beginning of the range
			troubles.Add(1)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+499, len(content)))
			w.WriteHeader(http.StatusPartialContent)
			counted.Write(content[from:][:500])
		case n%16 == 15 && from < 300_000: // ignores ranges
			resent.Add(from)
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			counted.Write(content) // of which the client takes the bytes up to the range's end
			resent.Add(int64(len(content)) - to - 1)
		default:
			http.ServeContent(counted, r, "", time.Time{}, bytes.NewReader(content))
		}
		return true
	}
	whole := storedConfig(t, source.Config{Schemes: []string{"http"}, Paths: writeFile(t, "list", []byte(list)),
		Base: x.folder(t)})
	c := storedConfig(t, source.Config{
		Schemes: []string{"http"}, CDX: []string{writeFile(t, "x.cdx.gz", gzipped(x.text()))}, Base: server.URL,
		Remote: remote.Limits{AtOnce: 2},
	})
	for _, c := range []Config{whole, c} {
		_, err := Run(t.Context(), c, new(Progress))
		must(t, err)
	}
	got, want := fetchesOf(t, c), sortedByHost(fetchesOf(t, whole))
	for i, row := range got {
		if row.Seq != int64(i)+1 {
			t.Fatalf("row %d has seq %d", i, row.Seq)
		}
	}
	if diff := cmp.Diff(want, sortedByHost(got), cmpopts.IgnoreFields(schema.Fetch{}, "Seq")); diff != "" {
		t.Errorf("the rows of the archives read whole and by their index (-whole +index):\n%.3000s", diff)
	}
	requests := len(server.asked)
	t.Logf("%d captures of %d archives: %d requests, %d of them troubled; %d bytes, planned %d in %d requests", len(got),
		len(x.files), requests, troubles.Load(), sent.Load(), x.bytes, x.requests)
	if most := x.requests + int(troubles.Load()); requests != most {
		t.Errorf("%d requests, want %d and %d for those that did not bring all", requests, x.requests, troubles.Load())
	}
	if most := x.bytes + resent.Load(); sent.Load() > most {
		t.Errorf("%d bytes were sent, want at most %d", sent.Load(), most)
	}
	if server.peak > 2 {
		t.Errorf("%d requests at once", server.peak)
	}
	checked, err := verify.Run(t.Context(), sinktest.Open(t, c.Dir), c.Run, func(int, int) {})
	must(t, err)
	if len(checked.Problems) > 0 {
		t.Errorf("verification: %v", checked.Problems)
	}
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	must(t, err)
	if in := m.Inputs[0]; in.Role != "cdx" || in.SHA256 == "" || in.Rows != int64(len(x.index)+1) {
		t.Errorf("the manifest says of the index: %+v", in)
	}
}

// An index that gives two lengths of a record, in either order, does not say which is
// right: the capture is read all the same.
func TestIndexWithTwoLengthsOfARecord_NoRace(t *testing.T) {
	x := archivesWithIndex(1, 3, 1)
	fields := strings.Fields(x.index[1])
	for _, wrong := range []string{"20", "100000"} {
		short := strings.Replace(x.index[1], " "+fields[8]+" ", " "+wrong+" ", 1)
		if short == x.index[1] {
			t.Fatalf("no length in %q", short)
		}
		for _, lines := range [][]string{{short, x.index[0], x.index[1], x.index[2]}, {x.index[0], x.index[1], x.index[2],
			short}} {
			c := storedConfig(t, source.Config{Schemes: []string{"http"},
				CDX: []string{writeFile(t, "x", []byte(strings.Join(lines, "\n")))}, Base: x.folder(t)})
			result, err := Run(t.Context(), c, new(Progress))
			must(t, err)
			reasons := rejectedReasons(t, c)
			if result.Targets != 3 || len(fetchesOf(t, c)) != 3 || !slices.ContainsFunc(reasons, func(r string) bool {
				return strings.HasPrefix(r, "duplicate: ")
			}) {
				t.Errorf("length %s: %d captures, rejected for %q", wrong, result.Targets, reasons)
			}
		}
	}
}

// An index in any order and form gives the same rows; lines that name nothing are rejected.
func TestIndexOfLocalArchives(t *testing.T) {
	x := archivesWithIndex(3, 8, 4)
	arc := "filedesc://a.arc 0.0.0.0 20040110060000 text/plain 76\n1 0 InternetArchive\n" +
		"URL IP-address Archive-date Content-type Archive-length\n\n"
	at := len(arc)
	answer := "HTTP/1.0 200 OK\n\nUser-agent: *\nDisallow: /arc\n"
	arc += fmt.Sprintf("http://arc.example/robots.txt 192.0.2.7 20040110060000 text/plain %d\n%s\n", len(answer), answer)
	x.files["/old.arc"] = []byte(arc)
	revisit := gzipped(warcRecord("WARC-Type: revisit\r\nWARC-Date: 2026-01-11T06:00:00Z\r\n"+
		"WARC-Target-URI: https://r.example/robots.txt\r\n", "HTTP/1.1 200 OK\r\n\r\n"))
	x.files["/revisits.warc.gz"] = revisit
	line := func(host string, length, offset int, file string) string {
		return fmt.Sprintf("x)/robots.txt 20260110060000 %s/robots.txt text/plain 200 A - - %d %d %s", host, length, offset,
			file)
	}
	good := append(slices.Clone(x.index), line("http://arc.example", len(arc)-at, at, "old.arc"),
		line("https://r.example", len(revisit), 0, "revisits.warc.gz"))
	// A capture that the index gives to another host.
	taken := strings.Fields(good[2])
	good = slices.Delete(good, 2, 3)
	taken[2] = "https://thief.example/robots.txt"
	fields := strings.Fields(x.index[0])
	bad := []struct{ line, reason string }{
		{x.index[0], "duplicate: the same record as in line "},
		{strings.Replace(x.index[1], "/robots.txt text", "/ text", 1), "not_robots_txt: a capture of another URL"},
		{line("https://other.example", 0, 0, "revisits.warc.gz"), "duplicate: "}, // of the record there, whose line is better
		{line("https://out.example", 5, 5, "../x.warc"), "outside_base: names a path that points outside --warc-base"},
		{line("https://end.example", 50, len(arc), "old.arc"), "damaged_record: the file holds no record"},
		{line("https://middle.example", 50, at+9, "old.arc"), "damaged_record: not a WARC or ARC record"},
		{strings.Join(taken, " "), "another_record: a capture of https://h"},
		{line("https://info.example", 300, 0, fields[10]), "another_record: not a capture"},
	}
	lines := slices.Clone(good)
	for _, b := range bad {
		lines = append(lines, b.line)
	}
	dir := x.folder(t)
	cdxj := make([]string, len(lines))
	nine := make([]string, len(lines)) // without lengths
	for i, text := range lines {
		f := strings.Fields(text)
		cdxj[i] = fmt.Sprintf(`%s %s {"url": %q, "filename": %q, "offset": "%s", "length": "%s"}`, f[0], f[1], f[2], f[10],
			f[9], f[8])
		nine[i] = strings.Join(append(slices.Clone(f[:7]), f[9], f[10]), " ")
	}
	rows := make(map[string][]schema.Fetch)
	for name, text := range map[string]string{
		"CDX": strings.Join(lines, "\n"), "CDXJ": strings.Join(cdxj, "\r\n"), "no lengths": strings.Join(nine, "\n"),
		"sorted": strings.Join(slices.Sorted(slices.Values(good)), "\n") + "\n" + strings.Join(lines[len(good):], "\n"),
	} {
		c := storedConfig(t, source.Config{Schemes: []string{"http"}, CDX: []string{writeFile(t, "x", []byte(text))},
			Base: dir})
		result, err := Run(t.Context(), c, new(Progress))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows[name] = rowsOf[schema.Fetch](t, c, "fetches")
		if len(rows[name]) != len(good) || result.Targets != int64(len(good)) {
			t.Errorf("%s: %d rows, want %d", name, len(rows[name]), len(good))
		}
		reasons := rejectedReasons(t, c)
		for _, b := range bad {
			if !slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(r, b.reason) }) {
				t.Errorf("%s: no line is rejected for %q: %q", name, b.reason, reasons)
			}
		}
		if diff := cmp.Diff(rows["CDX"], rows[name]); rows["CDX"] != nil && diff != "" {
			t.Errorf("%s (-CDX +this):\n%s", name, diff)
		}
	}
	for _, row := range rows["CDX"] {
		if row.Host == "arc.example" && (*row.WARCOffset != int64(at) || *row.WARCLength != int64(len(arc)-at) ||
			*row.WARCFile != "old.arc") {
			t.Errorf("the row of a record of an ARC file: %s %d+%d", *row.WARCFile, *row.WARCOffset, *row.WARCLength)
		}
	}
	zstd := storedConfig(t, source.Config{Schemes: []string{"http"},
		CDX: []string{writeFile(t, "x.zst", sinktest.Zstd(strings.Join(lines, "\n")))}, Base: dir})
	_, err := Run(t.Context(), zstd, new(Progress))
	must(t, err)
	if diff := cmp.Diff(rows["CDX"], rowsOf[schema.Fetch](t, zstd, "fetches")); diff != "" {
		t.Errorf("compressed with zstd:\n%s", diff)
	}
}

// Ranks, filter, sample, limit and last captures choose among the captures of an index as
// they do of archives; what is not wanted is not read.
func TestChoiceOfAnIndex_NoRace(t *testing.T) {
	x := archivesWithIndex(2, 20, 5)
	var again []byte // two later captures of a host
	for i, date := range []string{"2026-03-01", "2026-02-01"} {
		record := gzipped(warcRecord("WARC-Type: response\r\nWARC-Date: "+date+
			"T00:00:00Z\r\nWARC-Target-URI: https://h0-1.example/robots.txt\r\n", fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\n# %d\n",
			i)))
		x.index = append(x.index,
			fmt.Sprintf("x %s000000 https://h0-1.example/robots.txt text/plain 200 A - - %d %d again.warc.gz",
				strings.ReplaceAll(date, "-", ""), len(record), len(again)))
		again = append(again, record...)
	}
	x.files["/again.warc.gz"] = again
	server := newArchiveServer(t, x.files)
	run := func(change func(*Config)) ([]schema.Fetch, *Result) {
		t.Helper()
		server.asked = nil
		c := storedConfig(t, source.Config{Schemes: []string{"http"}, CDX: []string{writeFile(t, "x", []byte(x.text()))},
			Base: server.URL, Remote: remote.Limits{AtOnce: 1}})
		change(&c)
		result, err := Run(t.Context(), c, new(Progress))
		must(t, err)
		return rowsOf[schema.Fetch](t, c, "fetches"), result
	}
	all, _ := run(func(*Config) {})
	if len(all) != 42 {
		t.Fatalf("%d rows", len(all))
	}
	some, result := run(func(c *Config) {
		c.Source.Hosts = writeFile(t, "hosts", []byte("7,h0-3.example\n8,h1-7.example\n9,none.example\n"))
	})
	if len(some) != 2 || some[0].Rank == nil || *some[0].Rank != 7 || *result.Unmatched != 1 || len(server.asked) != 2 ||
		result.Skipped[input.OtherHosts] != 40 {
		t.Errorf("two hosts: %d rows, %d requests, %+v", len(some), len(server.asked), result.Skipped)
	}
	last, result := run(func(c *Config) { c.Source.LastCapture = true })
	if len(last) != 40 || result.Skipped[input.Earlier] != 2 {
		t.Errorf("last captures: %d rows, %+v", len(last), result.Skipped)
	}
	for _, row := range last {
		if row.Host == "h0-1.example" && row.FetchTime.Format("2006-01-02") != "2026-03-01" {
			t.Errorf("the last capture of h0-1.example is of %s", row.FetchTime)
		}
	}
	first, _ := run(func(c *Config) { c.Source.Limit = 3 })
	if diff := cmp.Diff(all[:3], first); diff != "" {
		t.Errorf("--limit 3 (-first of all +limited):\n%s", diff)
	}
	half, result := run(func(c *Config) { c.Source.Sample = 0.5 })
	if len(half)+int(result.Skipped[input.NotSampled]) != 42 || len(half) == 0 || len(half) == 42 {
		t.Errorf("a sample of half: %d rows, %+v", len(half), result.Skipped)
	}
}

// Resuming reads no committed block again, and gives the rows of a run that was not
// interrupted.
func TestResumeOfAnIndex_NoRace(t *testing.T) {
	x := archivesWithIndex(5, 1000, 1000) // three blocks
	server := newArchiveServer(t, x.files)
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, CDX: []string{writeFile(t, "x", []byte(x.text()))},
		Base: server.URL, Remote: remote.Limits{AtOnce: 1}})
	whole := c
	whole.Dir = filepath.Join(t.TempDir(), "whole")
	_, err := Run(t.Context(), whole, new(Progress))
	must(t, err)
	all := len(server.asked)
	ctx, cancel := context.WithCancel(t.Context())
	server.asked = nil
	server.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.URL.Path != "/segments/04/a.warc.gz" { // of the last block
			return false
		}
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(c.Dir, "_runs", c.Run, "segments", "0000000000.json")); err == nil {
				cancel()
			}
		}
		return false
	}
	if _, err := Run(ctx, c, new(Progress)); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run that was to be stopped: %v", err)
	}
	server.trouble, server.asked = nil, nil
	c.Resume = true
	result, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	if result.Targets != 5000 || len(server.asked) >= all || slices.ContainsFunc(server.asked, func(a string) bool {
		return strings.HasPrefix(a, "/segments/00/")
	}) {
		t.Errorf("%d targets; %d requests of %d: %q", result.Targets, len(server.asked), all, server.asked)
	}
	if diff := cmp.Diff(fetchesOf(t, whole), fetchesOf(t, c)); diff != "" {
		t.Errorf("the rows after resuming (-whole +resumed):\n%.2000s", diff)
	}
}

// What an archive or its server lacks is an error that says so: of the input, or of the
// transfer.
func TestArchivesOfAnIndexAreMissing(t *testing.T) {
	x := archivesWithIndex(1, 3, 3)
	server := newArchiveServer(t, x.files)
	run := func(lines ...string) error {
		c := storedConfig(t, source.Config{Schemes: []string{"http"},
			CDX:  []string{writeFile(t, "x", []byte(strings.Join(append(slices.Clone(x.index), lines...), "\n")))},
			Base: server.URL, Remote: remote.Limits{AtOnce: 1}})
		_, err := Run(t.Context(), c, new(Progress))
		return err
	}
	var input *userfile.Error
	if err := run("x 20260110060000 https://a.example/robots.txt text/plain 200 A - - 5 5 gone.warc.gz"); !errors.As(err,
		&input) || input.Path != server.URL+"/gone.warc.gz" {
		t.Errorf("no such archive: %v", err)
	}
	server.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
		w.Write(make([]byte, 100))
		return true
	}
	if err := run(
		"x 20260110060000 https://a.example/robots.txt text/plain 200 A - - 5 50000000 large.warc.gz"); !errors.As(err,
		&input) || !strings.Contains(err.Error(), "its server sends whole files only") {
		t.Errorf("a server without ranges: %v", err)
	}
	if testing.Short() {
		return // it is asked six times, with pauses
	}
	server.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool { panic(http.ErrAbortHandler) }
	if err := run(); errors.As(err, &input) || !errors.Is(err, remote.ErrTransfer) {
		t.Errorf("a server that breaks for good: %v", err)
	}
}
