package source

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
	"github.com/robocensus/robocensus/sink/store"
)

func TestRanksOfRows(t *testing.T) {
	targets, rejected, err := targetsOfFile(t, writeFile(t, "hosts", []byte("rank,url\n"+
		"0,https://zero.example/\n-1,https://less.example/\n1,https://one.example/\n"+
		",https://later.example/a\n7,https://later.example/b\n8,https://later.example/c\n")))
	must(t, err)
	want := []string{
		"1 https://zero.example https://zero.example/", "2 https://less.example https://less.example/", "3 https://one.example #1 https://one.example/",
		"4 https://later.example #7 https://later.example/a https://later.example/b https://later.example/c",
	}
	if diff := cmp.Diff(want, targets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"2 0,https://zero.example/: but kept", "3 -1,https://less.example/: but kept"}, rejected); diff != "" {
		t.Error(diff)
	}
}

// Lists name sites, archives the hosts that answered for them: with www. or
// without.
func TestRanksAreOfSites(t *testing.T) {
	ranks, err := readRanks(t.Context(), writeFile(t, "ranks", []byte("1,bare.example\n2,www.named.example\n3,both.example\n4,www.both.example\n5,bare.example\n")))
	must(t, err)
	for host, want := range map[string]int64{
		"bare.example": 1, "www.bare.example": 1, "named.example": 2, "www.named.example": 2, "both.example": 3, "www.both.example": 4,
		"www.www.named.example": 2, "other.example": 0, "www.other.example": 0, "a.bare.example": 0,
	} {
		if rank, ok := ranks.of(host); rank != want || ok != (want > 0) {
			t.Errorf("%s has rank %d, %v; want %d", host, rank, ok, want)
		}
	}
}

// A host in a filter means all its origins, a host with a port both schemes at that
// port, and an origin only itself.
func TestAFilterNamesOrigins(t *testing.T) {
	f, err := readFilter(t.Context(), writeFile(t, "hosts", []byte("any.example\nport.example:8080\nhttps://one.example\nhttp://plain.example:80\n")), io.Discard, nil)
	must(t, err)
	for url, want := range map[string]bool{
		"http://any.example": true, "https://any.example": true, "http://any.example:8080": true,
		"http://port.example:8080": true, "https://port.example:8080": true, "http://port.example": false, "https://port.example": false,
		"https://one.example": true, "http://one.example": false, "https://one.example:8443": false,
		"http://plain.example": true, "https://plain.example": false, "http://other.example": false,
	} {
		if got := f.has(parsed(t, url)); got != want {
			t.Errorf("%s passes: %v", url, got)
		}
	}
	if n := f.unmet(); n != 0 {
		t.Errorf("%d names are not met, want none", n)
	}
}

// Of a list beside stored answers, one shard alone rejects the lines without a host. A
// shard does not know which hosts have no answer.
func TestShardsRejectTheLinesOfAFilterOnce(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.example"), []byte("User-agent: *\n"), 0o666))
	list := writeFile(t, "hosts", []byte("a.example\nb.example\nnot a host\n"))
	for shard, want := range map[Shard]int64{{}: 1, {0, 2}: 1, {1, 2}: 0} {
		s, err := Open(t.Context(), Config{Bodies: dir, Hosts: list, Schemes: []string{"https"}, Shard: shard, MaxBody: 1 << 20})
		must(t, err)
		rejects := NewRejects(nil, nil, func(int64) {})
		must(t, s.Start(t.Context(), rejects, nil))
		must(t, s.Volumes[0].Read(t.Context(), func(Target) error { return nil }))
		if n := rejects.Lines(); n != want {
			t.Errorf("%s rejects %d lines, want %d", shard, n, want)
		}
		switch n := s.Unmatched(); {
		case shard.isPart() && n != nil:
			t.Errorf("%s says that %d hosts have no answer", shard, *n)
		case !shard.isPart() && (n == nil || *n != 1):
			t.Errorf("hosts without an answer: %v, want 1", n)
		}
	}
}

// The limit of rejected.csv applies to all archives together, and lines beyond it
// are counted.
func TestRejectsOfArchivesAreBounded(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Create(t.Context(), dir)
	must(t, err)
	defer s.Close()
	file, err := s.Create("rejected.csv")
	must(t, err)
	must(t, file.Publish())
	r := NewRejects(file, in(t, dir), func(int64) {})
	r.most = 3
	for i := range 2 {
		reject, done, err := r.archive(i)
		must(t, err)
		for range 2 + 3*i { // the second alone exceeds the limit
			must(t, reject(7, "a.warc", "damaged_record"))
		}
		must(t, done())
	}
	_, err = r.Finish()
	must(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "rejected.csv"))
	must(t, err)
	line := "7,a.warc,damaged_record,warc\n"
	if diff := cmp.Diff("line,text,reason,input\n"+line+line+line+"0,,not_listed: 4 more; the first 3 are listed,\n", string(text)); diff != "" || r.n != 7 {
		t.Errorf("%d counted\n%s", r.n, diff)
	}
}

func parsed(t *testing.T, url string) fetch.Origin {
	t.Helper()
	o, _, err := fetch.Parse(url, "http")
	must(t, err)
	return o
}

// grouperInto returns a grouper that appends its targets and counts why it rejects rows.
func grouperInto(targets *[]Target, reasons map[string]int) *grouper {
	return &grouper{
		schemes: []string{"http"},
		reject:  func(_ int64, _, reason string) error { reasons[reason]++; return nil },
		emit:    func(t Target) error { *targets = append(*targets, t); return nil },
	}
}

// An origin's URLs beyond the bound go to rejected.csv with the reason; the next
// origin has its own bound.
func TestOwnURLsAreBoundedInBytes(t *testing.T) {
	const long = 60 << 10
	const fit = maxOwnBytes / (long + 32)
	var targets []Target
	reasons := map[string]int{}
	s := grouperInto(&targets, reasons)
	for _, host := range []string{"a.example", "b.example"} {
		for i := range fit + 10 {
			if host == "b.example" && i == 5 {
				break
			}
			prefix := fmt.Sprintf("/%d/", i)
			must(t, s.take(row{line: 1, host: host, url: prefix + strings.Repeat("x", long-len(prefix))}))
		}
	}
	must(t, s.flush())
	if len(targets) != 2 || len(targets[0].Paths) != fit || len(targets[1].Paths) != 5 || reasons["too_many_urls: more than 32 MiB of one origin"] != 10 {
		t.Errorf("%d targets, %d and %d URLs, rejected: %v", len(targets), len(targets[0].Paths), len(targets[1].Paths), reasons)
	}
}

func TestOwnURLsAreBoundedInNumber(t *testing.T) {
	var targets []Target
	reasons := map[string]int{}
	s := grouperInto(&targets, reasons)
	for i := range maxOwnURLs + 2 {
		must(t, s.take(row{line: 1, host: "a.example", url: fmt.Sprintf("/%d", i)}))
	}
	must(t, s.flush())
	if len(targets) != 1 || len(targets[0].Paths) != maxOwnURLs || reasons["too_many_urls: more than 100000 of one origin"] != 2 {
		t.Errorf("%d targets, rejected: %v", len(targets), reasons)
	}
}

// Only an archive that was read to its end, without damage, may be passed over when the
// run is resumed: rejected.csv lists the damage.
func TestTheEndOfAnArchive(t *testing.T) {
	good := pipelinetest.Response("a.example", "HTTP/1.1 200 OK\r\n\r\n") + pipelinetest.Response("b.example", "HTTP/1.1 200 OK\r\n\r\n")
	for _, row := range []struct {
		name, content string
		limit         int64
		end           bool
	}{
		{"whole", good, 0, true}, {"damaged", good + "WARC/1.0\r\nWARC-Type: response\r\n", 0, false}, {"up to a limit", good, 1, false}, {"up to its end, by a limit", good, 9, false},
	} {
		s, err := Open(t.Context(), Config{WARC: []string{writeFile(t, "a.warc", []byte(row.content))}, Limit: row.limit, MaxBody: 1 << 20})
		must(t, err)
		must(t, s.Start(t.Context(), NewRejects(nil, in(t, t.TempDir()), func(int64) {}), func(int64) {}))
		v := s.Volumes[0]
		must(t, v.Read(t.Context(), func(Target) error { return nil }))
		if a := v.Archive(); a.End != row.end || a.Bytes != int64(len(row.content)) {
			t.Errorf("%s: %+v, want end %v", row.name, a, row.end)
		}
	}
}

// The input of a target is the field that names it, not the whole line.
func TestInputsOfTargets(t *testing.T) {
	var targets []Target
	g := grouperInto(&targets, make(map[string]int))
	must(t, readLines("list", strings.NewReader("rank,host,url\n1,A.example,/x\n2,,https://b.example/y\n"), g.take))
	must(t, g.flush())
	if len(targets) != 2 || targets[0].Input != "A.example" || targets[1].Input != "https://b.example/y" {
		t.Errorf("%+v", targets)
	}
}
