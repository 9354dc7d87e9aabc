package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

func diffOf(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	rows := changesOf(t, dir, "b", "a")
	for i := range rows {
		got = append(got, strings.ReplaceAll(showChange(&rows[i]), " - - - -", ""))
	}
	return got
}

func TestDiffPairsRowsByOrigin(t *testing.T) {
	fellBack := audittest.Fetch("http://h.example", "success", "T", 0)
	fellBack.FallbackErrorClass = new("timeout")
	later := fellBack
	later.ContentDigest, later.FetchTime = new("U"), audittest.FirstDay.AddDate(0, 0, 1)
	ported := audittest.Fetch("https://h.example:8443", "success", "T", 0)
	ported.Host = "h.example"
	since := func(f schema.Fetch, day int) schema.Fetch {
		f.UnreachableSince = new(audittest.FirstDay.AddDate(0, 0, day))
		return f
	}
	for _, row := range []struct {
		name          string
		before, after [][]schema.Fetch
		want          []string
	}{
		{"of several captures the last counts",
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "OLD", 1), audittest.Fetch("https://h.example",
				"success", "NEW", 3), audittest.Fetch("https://h.example", "success", "MID", 2)}},
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "NEW", 9)}}, nil},
		{"of several at one time the last seq counts",
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "ONE", 1)},
				{audittest.Fetch("https://h.example", "success", "TWO", 1)}},
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "ONE", 9)}},
			[]string{"h.example text minor TWO ONE - -"}},
		{"two origins of one host are two",
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "S", 1), audittest.Fetch("http://h.example",
				"success", "P", 1)}},
			[][]schema.Fetch{{audittest.Fetch("http://h.example", "success", "P2", 1), audittest.Fetch("https://h.example",
				"success", "S", 1)}},
			[]string{"h.example text minor P P2 - -"}},
		{"https given up for http is no other host",
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "S", 1)}}, [][]schema.Fetch{{fellBack}},
			[]string{"h.example reachability minor https://h.example http://h.example - -"}},
		{"https taken up again", [][]schema.Fetch{{fellBack}},
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "client_error", "", 1)}},
			[]string{"h.example reachability minor http://h.example https://h.example - -"}},
		{"another port is another origin", [][]schema.Fetch{{fellBack}}, [][]schema.Fetch{{ported}},
			[]string{"h.example host_gone minor conditional_allow - - -", "h.example host_new minor - conditional_allow - -"}},
		{"https and http asked by name are other origins",
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "S", 1)}},
			[][]schema.Fetch{{audittest.Fetch("http://h.example", "success", "P", 1)}},
			[]string{"h.example host_new minor - conditional_allow - -", "h.example host_gone minor conditional_allow - - -"}},
		{"an origin that a list names twice is one",
			[][]schema.Fetch{{fellBack, audittest.Fetch("http://h.example", "success", "T", 0)}},
			[][]schema.Fetch{{audittest.Fetch("http://h.example", "success", "U", 1), later}},
			[]string{"h.example text minor T U - -"}},
		{"https given up for http that the list names too",
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "S", 0), audittest.Fetch("http://h.example",
				"success", "T", 0)}}, [][]schema.Fetch{{fellBack, audittest.Fetch("http://h.example", "success", "T", 0)}},
			[]string{"h.example reachability major success network_failure - -"}},
		{"https taken up again beside http",
			[][]schema.Fetch{{fellBack, audittest.Fetch("http://h.example", "success", "T", 0)}},
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "S", 0), audittest.Fetch("http://h.example",
				"success", "T", 0)}},
			[]string{"h.example reachability minor network_failure success - -"}},
		{"https that is named no more, beside http",
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "S", 0), audittest.Fetch("http://h.example",
				"success", "T", 0)}}, [][]schema.Fetch{{audittest.Fetch("http://h.example", "success", "T", 0)}},
			[]string{"h.example host_gone minor conditional_allow - - -"}},
		{"an outage hides another text", [][]schema.Fetch{{audittest.Fetch("https://h.example", "success", "S", 1)}},
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "stale_copy", "OLDER", 1)}},
			[]string{"h.example reachability major success stale_copy - -"}},
		{"an outage that grows old", [][]schema.Fetch{{since(audittest.Fetch("https://h.example", "server_error", "", 1),
			0)}}, [][]schema.Fetch{{since(audittest.Fetch("https://h.example", "stale_copy", "S", 31), 0)}},
			[]string{"h.example reachability minor server_error stale_copy - -"}},
		{"an outage of another kind", [][]schema.Fetch{{audittest.Fetch("https://h.example", "server_error", "", 1)}},
			[][]schema.Fetch{{audittest.Fetch("https://h.example", "network_failure", "", 2)}}, nil},
		{"an outage after another", [][]schema.Fetch{{since(audittest.Fetch("https://h.example", "server_error", "", 1),
			0)}}, [][]schema.Fetch{{since(audittest.Fetch("https://h.example", "server_error", "", 6), 5)}},
			[]string{"h.example reachability minor unreachable_since_2026-03-01T04:00:00Z " +
				"unreachable_since_2026-03-06T04:00:00Z - -"}},
		{"nothing in either", [][]schema.Fetch{{}}, [][]schema.Fetch{{}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			audittest.Run(t, dir, "a", []string{"fetches"}, row.before...)
			audittest.Run(t, dir, "b", []string{"fetches"}, row.after...)
			got := diffOf(t, dir)
			record, err := journal.ReadComparison(sinktest.Open(t, dir), "b", "a")
			sinktest.Must(t, err)
			if twice := strings.Contains(row.name, "names twice"); twice && record.Hosts != 1 {
				t.Errorf("%d hosts are compared", record.Hosts)
			}
			slices.Sort(got)
			slices.Sort(row.want)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiffRefusesAndSaysWhy(t *testing.T) {
	dir := t.TempDir()
	audittest.Run(t, dir, "a", []string{"fetches"}, []schema.Fetch{audittest.Fetch("https://h.example", "success", "S",
		1)})
	audittest.Run(t, dir, "policies", []string{"policies"}, nil)
	unfinished, err := sink.Create(dir, journal.Plan{Run: "unfinished", Tables: []string{"fetches"}})
	if err != nil {
		t.Fatal(err)
	}
	defer unfinished.Close()
	for run, want := range map[string]string{
		"none":       `no run "none"`,
		"unfinished": "unfinished is not complete: complete it with robocensus run --resume",
		"a":          "they are one run",
		"policies":   "policies has no table fetches",
	} {
		_, err := Runs(context.Background(), Config{In: sinktest.Open(t, dir), Before: run, After: "a"})
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrNotComparable) &&
			!errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want %s", run, err, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "changes")); err == nil {
			t.Errorf("%s: a table is begun", run)
		}
	}
}

func TestDiffSaysWhatItDoesNotCompare(t *testing.T) {
	dir := t.TempDir()
	audittest.Run(t, dir, "a", []string{"fetches", "sitemaps", "signals"}, nil)
	audittest.Run(t, dir, "b", []string{"fetches"}, nil)
	r, err := Runs(context.Background(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"signals, sitemaps are not compared: b has no such table",
		"policies, verdicts, groups, rules, preferences are not compared: a and b have no such table",
		"the meaning of rules is not compared: a and b have no table agents"} {
		if !slices.Contains(r.Notes, want) {
			t.Errorf("%q is not said: %q", want, r.Notes)
		}
	}
}

// Sorting on disk changes nothing, and neither does doing it again; an earlier
// result stays where the comparison fails, and nothing else is left.
func TestDiffIsTheSameWhateverTheMemory(t *testing.T) {
	texts := make(map[string]string)
	for i := range 3 * len(recipes) {
		texts[fmt.Sprintf("h%03d.example", i)] = "User-agent: *\nDisallow: /x\n"
	}
	w, lists, samples, _ := script(texts, len(texts))
	c := twoRuns(t, w, lists, samples)
	part := filepath.Join(c.Dir, "changes", "run=b", "against=a", "part-0000000000.parquet")
	var first []byte
	for _, memory := range []int{0, 1, 500, 20_000} {
		if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b",
			memory: memory}); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = content
		}
		if !bytes.Equal(first, content) {
			t.Errorf("with %d bytes to sort in the part differs", memory)
		}
	}
	rules := filepath.Join(c.Dir, "groups", "run=b", "part-0000000000.parquet")
	if err := os.WriteFile(rules, []byte("PAR1 no Parquet PAR1"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b"})
	if err == nil || !strings.Contains(err.Error(), "groups/run=b/part-0000000000.parquet") ||
		!strings.Contains(err.Error(), "robocensus verify") {
		t.Errorf("of a damaged part: %v", err)
	}
	files, err := os.ReadDir(filepath.Dir(part))
	if content, e := os.ReadFile(part); err != nil || e != nil || len(files) != 1 || !bytes.Equal(first, content) {
		t.Errorf("the folder holds %v, %v, %v", files, err, e)
	}
	if err := sink.Remove(sinktest.Open(t, c.Dir), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the comparison outlives one of its runs: %v", err)
	}
}

// URLs of one host alone, a hundred thousand at most, are held once each and
// not for each agent, and every flip of theirs is told, whatever their order.
func TestManyURLsOfOneHost(t *testing.T) {
	const urls, agents = 400, 12
	var later atomic.Bool
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		closed := 0 // the section that is
		if later.Load() {
			closed = 1
		}
		fmt.Fprintf(w, "User-agent: *\nDisallow: /section-%d/\n\nUser-agent: Robot3\nDisallow: /none\n", closed)
	}, "")
	c.Evaluate.Agents, c.Evaluate.Samples = nil, nil
	for i := range agents {
		name := fmt.Sprintf("Robot%d", i)
		c.Evaluate.Agents = append(c.Evaluate.Agents, schema.Agent{Name: name, Tokens: []string{name}, Category: "other"})
	}
	var lists [2][]string
	for i := range urls {
		line := fmt.Sprintf("http://many.example/section-%d/%s-%d", i%4, strings.Repeat("long-", 20), i)
		lists[0], lists[1] = append(lists[0], line), append(lists[1], line)
	}
	slices.Reverse(lists[1])
	lists[1] = append(lists[1], "http://few.example/section-0/x") // numbered anew
	lists[0] = append(lists[0], "http://few.example/section-0/x")
	for i, run := range []string{"a", "b"} {
		later.Store(i == 1)
		c.Run, c.Source.Hosts = run, sinktest.WriteFile(t, "hosts-"+run, []byte(strings.Join(lists[i], "\n")))
		if _, err := pipeline.Run(context.Background(), c, new(pipeline.Progress)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b"}); err != nil {
		t.Fatal(err)
	}
	want, got := make(map[string]int), make(map[string]int)
	for i := range agents {
		if i == 3 {
			continue // has a group of its own, in which nothing changed
		}
		want[fmt.Sprintf("Robot%d /section-1/  both - 2", i)] = 2 // hosts
		for _, line := range lists[0] {
			switch {
			case strings.Contains(line, "/section-0/"):
				want[fmt.Sprintf("Robot%d %s disallow allow 2 -", i, line)]++
			case strings.Contains(line, "/section-1/"):
				want[fmt.Sprintf("Robot%d %s allow disallow - 2", i, line)]++
			}
		}
	}
	for _, row := range changesOf(t, c.Dir, "b", "a") {
		line := func(n *int32) string {
			if n == nil {
				return "-"
			}
			return fmt.Sprint(*n)
		}
		got[fmt.Sprintf("%s %s %s %s %s %s", schema.OrZero(row.Agent), schema.OrZero(row.URL), schema.OrZero(row.Before),
			schema.OrZero(row.After), line(row.LineBefore), line(row.LineAfter))]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flips, wanted and found:\n%.2000s", diff)
	}

	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Parts {
		if p.Table != "verdicts" {
			continue
		}
		s := &store.Sorter{Scratch: sinktest.Scratch(t, t.TempDir()), Memory: store.SortMemory}
		if err := records.Read(context.Background(), sinktest.Open(t, c.Dir), p, records.Verdicts,
			[]records.Wanted{{Seq: 1}}, new(records.Names), s); err != nil {
			t.Fatal(err)
		}
		records, size, err := heldBy(s)
		if most := urls * (len(lists[0][0]) + 20 + 8*agents); err != nil || records != 1 || size > most {
			t.Errorf("%d records, %d bytes for %d URLs and %d agents, more than %d; %v", records, size, urls, agents, most, err)
		}
	}
}

// heldBy counts the records of a sorter and their bytes.
func heldBy(s *store.Sorter) (records, size int, err error) {
	m, err := s.Sorted()
	for err == nil {
		var key, value []byte
		if key, value, err = m.Next(); err == nil {
			records, size = records+1, size+len(key)+len(value)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return records, size, err
}
