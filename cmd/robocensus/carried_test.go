package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/schema"
)

// labelsOf returns the rows of labels and label_counts of a run, nil for a run without the tables.
func labelsOf(t *testing.T, dir, run string) (rows []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "labels", "run="+run)); err != nil {
		return nil
	}
	part := filepath.Join("run="+run, "part-0000000000.parquet")
	labels, err := parquet.ReadFile[schema.Label](filepath.Join(dir, "labels", part))
	must(t, err)
	counts, err := parquet.ReadFile[schema.LabelCount](filepath.Join(dir, "label_counts", part))
	must(t, err)
	for _, l := range labels {
		rows = append(rows, fmt.Sprint(l))
	}
	for _, c := range counts {
		rows = append(rows, fmt.Sprint(c.Metric, c.Label, c.Value, schema.OrZero(c.Agent), schema.OrZero(c.Category),
			schema.OrZero(c.Key), c.Count))
	}
	slices.Sort(rows)
	return rows
}

// Labels of a run stay when it is judged again, and again: those of its list and those of the
// program, whatever a filter has for columns. What does not stay is said.
func TestLabelsAreCarriedOver_NoRace(t *testing.T) {
	t.Parallel()
	dir, bodies := t.TempDir(), t.TempDir()
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		must(t, os.WriteFile(filepath.Join(bodies, host), []byte("User-agent: *\nDisallow: /x\n"), 0o666))
	}
	list := filepath.Join(t.TempDir(), "list.csv")
	must(t, os.WriteFile(list, []byte("rank,host,sector,owner\n1,a.example,news,x\n2,b.example,,y\n3,c.example,tv,x\n"),
		0o666))
	run := func(code int, id string, more ...string) string {
		return call(t, code, append([]string{"run", "--out", dir, "--run", id, "--keep-bodies", "--progress", "none"},
			more...)...)
	}
	run(0, "r", "--bodies", bodies, "--ranks", list, "--label", "sector", "--label", "owner", "--label", "tld")
	want := labelsOf(t, dir, "r")
	if len(want) < 8 {
		t.Fatalf("the run has the labels %q", want)
	}
	check := func(id, said string) {
		t.Helper()
		if strings.Contains(said, "note: ") || !slices.Equal(labelsOf(t, dir, id), want) {
			t.Errorf("run %s has %d rows instead of %d, and says\n%s", id, len(labelsOf(t, dir, id)), len(want), said)
		}
	}
	check("again", run(0, "again", "--from-run", "r"))
	check("twice", run(0, "twice", "--from-run", "again"))
	check("filtered", run(0, "filtered", "--from-run", "r", "--hosts", list)) // its columns are no labels
	check("twice", run(0, "twice", "--from-run", "again", "--resume"))
	call(t, 0, "plan", "--from-run", "r", "--shards", "2", "--out", dir, "--run", "planned")
	for _, shard := range []string{"0", "1"} {
		call(t, 0, "run", "--out", dir, "--run", "planned", "--shard", shard, "--progress", "none")
	}
	if text := call(t, 0, "report", "--out", dir, "planned", "--by", "sector", "--text"); !strings.Contains(text, "news") {
		t.Errorf("the planned run says\n%s", text)
	}

	const kept = "note: not kept: the bodies of the earlier run, so that this one cannot be re-evaluated; --keep-bodies " +
		"keeps them\n"
	for more, want := range map[string]bool{"": true, "--keep-bodies": false, "--tables=fetches,policies": false,
		"--tables=fetches,bodies,rules": false} {
		args := []string{"run", "--from-run", "r", "--out", dir, "--run", fmt.Sprint("bodies", len(more)), "--progress",
			"none"}
		if text := call(t, 0, append(args, strings.Fields(more)...)...); strings.Contains(text, "note: ") != want ||
			strings.Contains(text, kept) != want {
			t.Errorf("%s: it says\n%s", more, text)
		}
	}

	if text := run(0, "one", "--from-run", "r", "--label", "sector"); strings.Contains(text, "note: ") ||
		strings.Contains(fmt.Sprint(labelsOf(t, dir, "one")), "owner") {
		t.Errorf("the label that is named is not alone:\n%s", text)
	}
	if text := run(0, "none", "--from-run", "r", "--tables", "fetches,bodies"); strings.Contains(text, "note: ") ||
		labelsOf(t, dir, "none") != nil {
		t.Errorf("without the tables there are labels, or a word of them:\n%s", text)
	}
	if text := run(0, "other", "--from-run", "r", "--labels", list); !strings.Contains(text, "note: not carried over "+
		"beside --labels: labels of the earlier run; --label NAME takes them too: sector, owner, tld\n") {
		t.Errorf("beside --labels, it says\n%s", text)
	}
	if text := run(65, "both", "--from-run", "r", "--labels", list, "--label", "*"); !strings.Contains(text,
		`list.csv: has the label "sector", which the earlier run has too: rename the column, or leave --label out`) {
		t.Errorf("two lists of a label: %s", text)
	}
	if text := run(65, "nosuch", "--from-run", "r", "--label", "nosuch"); !strings.Contains(text,
		`the earlier run: has no label "nosuch" (--label); it has "sector", "owner", "tld"`) {
		t.Errorf("no such label: %s", text)
	}
	if text := run(65, "neither", "--from-run", "r", "--labels", list, "--label", "nosuch"); !strings.Contains(text,
		`list.csv: has no column "nosuch" (--label); it has "sector", "owner", "tld"`+"\n") {
		t.Errorf("no such label in either: %s", text)
	}
	for _, lost := range []string{"labels", "labels.value"} {
		set := filepath.Join(t.TempDir(), "set")
		publishTo(t, dir, set, "--without", lost)
		text := run(0, "lost-"+strings.ReplaceAll(lost, ".", "-"), "--from-run", filepath.Join(set, "_runs", "r"))
		if !strings.Contains(text, "note: not carried over: labels of the earlier run, for it does not say which hosts "+
			"have them: owner, sector\n") {
			t.Errorf("without %s it says\n%s", lost, text)
		}
	}
}

// A word on documents that are left out stands where it is true, and only after a run.
func TestDocumentsLeftOutAreSaid_NoRace(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "User-agent: *\nDisallow: /x\n")
	}))
	defer server.Close()
	dir, evidence := t.TempDir(), filepath.Join(t.TempDir(), "e.warc.gz")
	asks := []string{"run", "a.example", "--out", dir, "--documents=llms.txt", "--schemes", "http", "--connect-to",
		server.Listener.Addr().String(), "--keep-bodies", "--progress", "none"}
	call(t, 0, append(asks, "--run", "plain")...)
	call(t, 0, append(asks, "--run", "kept", "--warc-out", evidence)...)
	call(t, 0, "run", "--warc", evidence, "--documents=llms.txt", "--out", dir, "--run", "archive", "--keep-bodies",
		"--progress", "none")
	const note = "note: not carried over: 1 document of the earlier run and what is stated there, for no run keeps " +
		"the bodies of documents"
	again := func(from string, code int, more ...string) string {
		return call(t, code, append([]string{"run", "--from-run", from, "--out", dir, "--run", "of-" + from, "--force-new",
			"--progress", "none", "--keep-bodies"}, more...)...)
	}
	for from, said := range map[string]string{"plain": note + "\n", "kept": note +
		": run --warc has them of its --warc-out\n",
		"archive": note + ": run --warc has them of the archives that it has read\n"} {
		if text := again(from, 0); !strings.Contains(text, said) {
			t.Errorf("of %s it says\n%s", from, text)
		}
	}
	for _, silent := range []string{again("of-kept", 0), again("kept", 65, "--label", "nosuch"),
		again("kept", 64, "--profile", "nosuch"), again("kept", 0, "--tables", "verdicts")} {
		if strings.Contains(silent, note) {
			t.Errorf("without need it says\n%s", silent)
		}
	}
}
