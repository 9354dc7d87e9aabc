package pipeline

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// stored is a capture of a URL in a test's archive, some minutes after the first.
type stored struct {
	url     string
	minutes int
	answer  string // "" for a revisit record
	refers  string // URL and minutes that it refers to
}

func (s stored) record() string {
	date := func(minutes int) string {
		return time.Date(2026, 1, 10, 6, minutes, 0, 0, time.UTC).Format(time.RFC3339)
	}
	kind, more := "response", ""
	if s.refers != "" {
		url, minutes, _ := strings.Cut(s.refers, " ")
		n := 0
		fmt.Sscan(minutes, &n)
		kind, more = "revisit", "WARC-Refers-To-Target-URI: "+url+"\r\nWARC-Refers-To-Date: "+date(n)+"\r\n"
	}
	return warcRecord(fmt.Sprintf("WARC-Type: %s\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\n%s", kind, date(s.minutes),
		s.url, more), s.answer)
}

const rulesOf = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /"

func toURL(url string) string { return "HTTP/1.1 301 Moved\r\nLocation: " + url + "\r\n\r\n" }

// captures of hosts, of which each row says what the run must make of them.
var lastCaptures = []struct {
	what     string
	captures []stored
	want     []string // host, last digits of the time, status, reason, hops, rules
}{
	{"the last of three", []stored{
		{"https://three.example/robots.txt", 5, rulesOf + "five\n", ""}, {"https://three.example/robots.txt", 9, rulesOf +
			"nine\n", ""},
		{"https://three.example/robots.txt", 7, "HTTP/1.1 404 x\r\n\r\n", ""},
	}, []string{"three.example 09 200 success three.example/robots.txt /nine"}},
	{"the last is an outage", []stored{
		{"https://out.example/robots.txt", 5, rulesOf + "\n", ""}, {"https://out.example/robots.txt", 6,
			"HTTP/1.1 503 x\r\n\r\n", ""},
	}, []string{"out.example 06 503 server_error out.example/robots.txt -"}},
	{"origins", []stored{
		{"https://two.example/robots.txt", 5, rulesOf + "s\n", ""}, {"http://two.example/robots.txt", 4, rulesOf + "p\n", ""},
	}, []string{"two.example 05 200 success two.example/robots.txt /s",
		"two.example 04 200 success two.example/robots.txt /p"}},
	{"a redirect to another host, nearest in time", []stored{
		{"https://from.example/robots.txt", 20, toURL("https://www.from.example/robots.txt"), ""},
		{"https://www.from.example/robots.txt", 10, rulesOf + "ten\n", ""}, {"https://www.from.example/robots.txt", 22,
			rulesOf + "near\n", ""},
		{"https://www.from.example/robots.txt", 40, rulesOf + "last\n", ""},
	}, []string{"from.example 20 200 success from.example/robots.txt>www.from.example/robots.txt /near",
		"www.from.example 40 200 success www.from.example/robots.txt /last"}},
	{"a redirect to another URL", []stored{
		{"https://file.example/robots/", 19, rulesOf + "before\n", ""},
		{"https://file.example/robots.txt", 20, toURL("/robots/"), ""}, {"https://file.example/other", 20, rulesOf +
			"other\n", ""},
		{"https://file.example/Robots/", 20, rulesOf + "upper\n", ""},
	}, []string{"file.example 20 200 success file.example/robots.txt>file.example/robots/ /before"}},
	{"several, with a query", []stored{
		{"https://hop.example/robots.txt", 1, toURL("/a#x"), ""}, {"https://hop.example/a", 1,
			toURL("//hop.example/b?c=d%20e"), ""},
		{"https://HOP.example:443/b?c=d%20e", 2, rulesOf + "hops\n", ""},
	}, []string{"hop.example 01 200 success hop.example/robots.txt>hop.example/a>hop.example/b?c=d%20e /hops"}},
	{"many hosts to one URL", []stored{
		{"https://p1.example/robots.txt", 1, toURL("https://park.example/x"), ""}, {"https://p2.example/robots.txt", 2,
			toURL("https://park.example/x"), ""},
		{"https://park.example/x", 3, "HTTP/1.1 404 Not Found\r\n\r\n", ""},
	}, []string{"p1.example 01 404 client_error p1.example/robots.txt>park.example/x -",
		"p2.example 02 404 client_error p2.example/robots.txt>park.example/x -"}},
	{"a redirect that leads out of the archives", []stored{
		{"https://gone.example/robots.txt", 1, toURL("/a"), ""}, {"https://gone.example/a", 1, toURL("/nowhere"), ""},
	}, []string{"gone.example 01 301 redirect_unresolved gone.example/robots.txt>gone.example/a>gone.example/nowhere -"}},
	{"a circle", []stored{
		{"https://loop.example/robots.txt", 1, toURL("/a"), ""}, {"https://loop.example/a", 1, toURL("/robots.txt"), ""},
	}, []string{"loop.example 01 301 redirect_loop loop.example/robots.txt>loop.example/a -"}},
	{"six redirects", func() []stored {
		all := []stored{{"https://six.example/robots.txt", 1, toURL("/1"), ""}}
		for i := 1; i < 6; i++ {
			all = append(all, stored{fmt.Sprintf("https://six.example/%d", i), 1, toURL(fmt.Sprintf("/%d", i+1)), ""})
		}
		return append(all, stored{"https://six.example/6", 1, rulesOf + "six\n", ""})
	}(), []string{"six.example 01 301 redirect_limit six.example/robots.txt>six.example/1>six.example/2>six.example/" +
		"3>six.example/4>six.example/5 -"}},
	{"a body that is cut", []stored{
		{"https://cut.example/robots.txt", 1, toURL("/big"), ""}, {"https://cut.example/big", 1, rulesOf + "big\n" +
			strings.Repeat("#", 1<<20), ""},
	}, []string{"cut.example 01 200 success cut.example/robots.txt>cut.example/big /big cut"}},
	{"a revisit", []stored{
		{"https://again.example/robots.txt", 1, rulesOf + "first\n", ""}, {"https://again.example/robots.txt", 2, rulesOf +
			"second\n", ""},
		{"https://again.example/robots.txt", 3, "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", "https://again.example/robots.txt 1"},
	}, []string{"again.example 03 200 success again.example/robots.txt /first"}},
	{"a revisit without a header, of a redirect", []stored{
		{"https://bare.example/robots.txt", 1, toURL("/x"), ""}, {"https://bare.example/x", 1, rulesOf + "x\n", ""},
		{"https://bare.example/robots.txt", 3, "", "https://bare.example/robots.txt 1"},
	}, []string{"bare.example 03 200 success bare.example/robots.txt>bare.example/x /x"}},
	{"a revisit of what is not there", []stored{
		{"https://lost.example/robots.txt", 1, rulesOf + "x\n", ""}, {"https://lost.example/robots.txt", 3,
			"HTTP/1.1 200 OK\r\n\r\n", "https://lost.example/robots.txt 2"},
	}, []string{"lost.example 03 200 revisit_unresolved lost.example/robots.txt -"}},
}

// TestLastCapture mixes all captures, divides them among archives of each form, and
// compares the rows with what each host must have.
func TestLastCapture_NoRace(t *testing.T) {
	var all []stored
	var want []string
	for _, row := range lastCaptures {
		all, want = append(all, row.captures...), append(want, row.want...)
	}
	slices.Sort(want)
	r := rand.New(rand.NewPCG(1, 2))
	forms := []func(archive int, records []string) []byte{
		func(_ int, records []string) []byte { // a member per record
			var out []byte
			for _, record := range records {
				out = append(out, gzipped(record)...)
			}
			return out
		},
		func(_ int, records []string) []byte { return gzipped(strings.Join(records, "")) },
		func(_ int, records []string) []byte { return []byte(strings.Join(records, "")) },
	}
	var before []schema.Fetch
	for k := range 6 {
		if testing.Short() && k%2 == 1 {
			continue // each form still comes first
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		archives := make([][]string, 1+k)
		for i, one := range all {
			archives[i%len(archives)] = append(archives[i%len(archives)], one.record())
		}
		s := source.Config{Schemes: []string{"http"}, LastCapture: true}
		for i, records := range archives {
			s.WARC = append(s.WARC, writeFile(t, fmt.Sprintf("a%d.warc", i), forms[(i+k)%len(forms)](i, records)))
		}
		c := storedConfig(t, s)
		c.Fetch.MaxBody = c.Evaluate.Profiles[0].SizeLimit // as the command sets it
		c.Tables = append(slices.Clone(schema.TableNames), "bodies")
		_, err := Run(t.Context(), c, &Progress{})
		must(t, err)
		if got := lastRows(t, c); !slices.Equal(got, want) {
			t.Fatalf("%d archives: %s", len(archives), cmp.Diff(want, got))
		}
		m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
		must(t, err)
		if m.Targets != int64(len(want)) || m.Skipped["earlier_captures"] != 9 {
			t.Errorf("%d targets, skipped %v", m.Targets, m.Skipped)
		}
		if left, _ := filepath.Glob(filepath.Join(c.Dir, "_runs", c.Run, "scratch*")); len(left) > 0 {
			t.Errorf("left on disk: %v", left)
		}
		// Twice the same, and re-evaluated the same.
		rows := fetchesOf(t, c)
		again := c
		again.Dir = filepath.Join(t.TempDir(), "out")
		_, err = Run(t.Context(), again, &Progress{})
		must(t, err)
		if diff := cmp.Diff(rows, fetchesOf(t, again)); diff != "" {
			t.Errorf("once more: %s", diff)
		}
		again.Dir = filepath.Join(t.TempDir(), "out")
		again.Source = source.Config{Schemes: []string{"http"}, FromRun: filepath.Join(c.Dir, "_runs", c.Run)}
		_, err = Run(t.Context(), again, &Progress{})
		must(t, err)
		if diff := cmp.Diff(rows, fetchesOf(t, again)); diff != "" {
			t.Errorf("re-evaluated: %s", diff)
		}
		before = rows
	}
	if len(before) == 0 {
		t.Error("no rows")
	}
}

// lastRows describes the rows of fetches as the table above does, sorted.
func lastRows(t *testing.T, c Config) (out []string) {
	t.Helper()
	patterns := make(map[int64]string)
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	must(t, err)
	for _, p := range m.PartsOf("rules") {
		for _, row := range sinktest.RowsOf[schema.Rule](t, filepath.Join(c.Dir, filepath.FromSlash(p.Path))) {
			patterns[row.Seq] += " " + row.Pattern
		}
	}
	seqs := make(map[int64]bool)
	for _, row := range fetchesOf(t, c) {
		if seqs[row.Seq] {
			t.Errorf("seq %d occurs twice", row.Seq)
		}
		seqs[row.Seq] = true
		var hops []string
		for _, h := range row.Hops {
			hops = append(hops, h.URL[strings.Index(h.URL, "://")+3:])
		}
		text := fmt.Sprintf("%s %s %d %s %s", row.Host, row.FetchTime.Format("04"), *row.Status, row.Reason,
			strings.Join(hops, ">"))
		if text += patterns[row.Seq]; patterns[row.Seq] == "" {
			text += " -"
		}
		if row.BodyTruncated {
			text += " cut"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// A run of last captures is resumed behind what is committed, and gives the rows of an
// unbroken one. A filter does not keep a redirect from leading to a host outside.
func TestLastCapturesOfAResumedRun(t *testing.T) {
	s := source.Config{Schemes: []string{"http"}, LastCapture: true, Hosts: writeFile(t, "hosts",
		[]byte("from.example\nthree.example\nagain.example\n"))}
	var archives [3]string
	for _, row := range lastCaptures {
		for i, one := range row.captures {
			archives[i%3] += one.record()
		}
	}
	for i, text := range archives {
		s.WARC = append(s.WARC, writeFile(t, fmt.Sprintf("%d.warc", i), []byte(text)))
	}
	c := storedConfig(t, s)
	result, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	want := fetchesOf(t, c)
	if result.Unmatched == nil || *result.Unmatched != 0 || len(want) != 3 || len(want[0].Hops) != 2 {
		t.Fatalf("%d rows, %v", len(want), want)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one reader and one evaluator: the archives in order
	c.Dir = filepath.Join(t.TempDir(), "out")
	blocked := filepath.Join(c.Dir, "_runs", c.Run, "segments", fmt.Sprintf("%010d.json", journal.SegmentsPerVolume))
	must(t, os.MkdirAll(blocked, 0o777))
	if _, err := Run(t.Context(), c, new(Progress)); err == nil {
		t.Fatal("the record of the second archive was to be impossible to write")
	}
	must(t, os.Remove(blocked))
	c.Resume = true
	result, err = Run(t.Context(), c, new(Progress))
	must(t, err)
	if diff := cmp.Diff(want, fetchesOf(t, c)); diff != "" || result.Earlier == 0 {
		t.Errorf("%d captures were judged before; (-unbroken +resumed)\n%s", result.Earlier, diff)
	}
	// Without the option, the same captures have the same numbers.
	c.Dir, c.Resume, c.Source.LastCapture = filepath.Join(t.TempDir(), "out"), false, false
	_, err = Run(t.Context(), c, new(Progress))
	must(t, err)
	at := make(map[int64]schema.Fetch)
	for _, row := range fetchesOf(t, c) {
		at[row.Seq] = row
	}
	for _, row := range want {
		if same := at[row.Seq]; same.Host != row.Host || *same.WARCOffset != *row.WARCOffset ||
			*same.WARCFile != *row.WARCFile {
			t.Errorf("seq %d is of %s, and of %s among all", row.Seq, row.Host, same.Host)
		}
	}
}

// What a shard or a pipe cannot know is refused.
func TestLastCapturesAreRefused(t *testing.T) {
	archive := writeFile(t, "a.warc", []byte(warcResponse("a.example", rulesOf+"\n")))
	for path, s := range map[string]source.Config{
		"--last-capture": {WARC: []string{archive, writeFile(t, "b.warc", nil)}, Shard: target.Shard{Index: 1, Count: 2}},
		"-":              {WARC: []string{"-"}},
	} {
		s.LastCapture, s.Schemes = true, []string{"http"}
		_, err := Run(t.Context(), storedConfig(t, s), new(Progress))
		if input, ok := errors.AsType[*userfile.Error](err); !ok || input.Path != path {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
