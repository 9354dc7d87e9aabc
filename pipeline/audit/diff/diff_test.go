package diff

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/testdata"
)

// showChange is a row in a line.
func showChange(c *schema.Change) string {
	cells := []string{c.Host, c.Kind, c.Severity}
	about := c.URL
	if c.Kind == "preference" {
		about = c.Use
	}
	for _, s := range []*string{c.Agent, c.Category, c.Profile, about, c.Before, c.After} {
		switch {
		case s == nil:
			cells = append(cells, "-")
		case c.Kind == "text" && len(*s) == 32:
			cells = append(cells, "{D}")
		default:
			cells = append(cells, strings.ReplaceAll(*s, " ", "_"))
		}
	}
	for _, n := range []*int32{c.LineBefore, c.LineAfter} {
		if n == nil {
			cells = append(cells, "-")
		} else {
			cells = append(cells, fmt.Sprint(*n))
		}
	}
	return strings.Join(cells, " ")
}

// twoRuns makes the runs a and b of a script.
func twoRuns(t *testing.T, w *web, lists [2]string, samples string) pipeline.Config {
	t.Helper()
	c := audittest.Config(t, w.ServeHTTP, "")
	var err error
	c.Evaluate.Agents, _, err = registry.ParseAgents("agents",
		[]byte("- {name: RoboTestA, category: search}\n- {name: RoboTestB, category: ai-training}\n- {name: RoboTestC}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Evaluate.Samples, err = registry.ParseSamples("urls", []byte(samples)); err != nil {
		t.Fatal(err)
	}
	if c.Evaluate.Labels, err = registry.ParseUses("uses", configs.Uses, nil); err != nil {
		t.Fatal(err)
	}
	rfc, _ := robots.ProfileNamed("rfc9309")
	c.Evaluate.Profiles, c.Fetch.PerAddress = append(c.Evaluate.Profiles, rfc), 50
	c.Inputs = []journal.Input{{Role: "agents", SHA256: "a"}, {Role: "urls", SHA256: "u"}}
	for i, run := range []string{"a", "b"} {
		w.run.Store(int32(i))
		c.Run, c.Source.Hosts = run, sinktest.WriteFile(t, "hosts-"+run, []byte(lists[i]))
		if _, err := pipeline.Run(context.Background(), c, new(pipeline.Progress)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func changesOf(t *testing.T, dir, run, against string) []schema.Change {
	t.Helper()
	rows, err := parquet.ReadFile[schema.Change](filepath.Join(dir, "changes", "run="+run, "against="+against,
		"part-0000000000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	checkLookedUp(t, dir, run, against, rows)
	return rows
}

// checkLookedUp checks that a comparison of some hosts, looked up by index, finds the rows
// that the table has of them, in their order.
func checkLookedUp(t *testing.T, dir, run, against string, rows []schema.Change) {
	t.Helper()
	var runs [2]*past.Run
	of := make(map[string][]schema.Change)
	for i, id := range []string{against, run} {
		r, err := past.Read(t.Context(), sinktest.Open(t, dir), id)
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = r
		for _, p := range r.PartsOf("fetches") {
			fetches, err := parquet.ReadFile[schema.Fetch](filepath.Join(dir, filepath.FromSlash(p.Path)))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range fetches {
				of[f.Host] = nil
			}
		}
	}
	for _, row := range rows {
		of[row.Host] = append(of[row.Host], row)
	}
	hosts := slices.Sorted(maps.Keys(of))
	for len(hosts) > 0 {
		some := hosts[:min(len(hosts), max(1, len(of)/8))]
		hosts = hosts[len(some):]
		var want []schema.Change
		for _, host := range some {
			want = append(want, of[host]...)
		}
		got, _, err := Hosts(t.Context(), sinktest.Open(t, dir), runs[0], runs[1], func(ctx context.Context, run *past.Run) (
			[]lookup.Target, error) {
			r := lookup.Open(sinktest.Open(t, dir), run.Manifest)
			defer r.Close()
			return r.Targets(ctx, some...)
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the hosts %s in %s and %s (-table +looked up):\n%s", strings.Join(some, ", "), against, run, diff)
		}
	}
}

func checkScript(t *testing.T, texts map[string]string, n int) {
	w, lists, samples, want := script(texts, n)
	c := twoRuns(t, w, lists, samples)
	result, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b",
		ToolVersion: "v"})
	if err != nil {
		t.Fatal(err)
	}
	rows := changesOf(t, c.Dir, "b", "a")
	var got []string
	kinds := make(map[string]int64)
	for i := range rows {
		got = append(got, showChange(&rows[i]))
		kinds[rows[i].Severity+" "+rows[i].Kind]++
		if i > 0 {
			a, b := &rows[i-1], &rows[i]
			if a.Host > b.Host || a.Origin == b.Origin && slices.Index(change.Kinds, a.Kind) > slices.Index(change.Kinds,
				b.Kind) {
				t.Errorf("row %d is out of order: %s", i, showChange(b))
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	counted := make(map[string]int64)
	for _, k := range result.Kinds {
		counted[k.Severity+" "+k.Kind] = k.Count
	}
	if diff := cmp.Diff(kinds, counted); diff != "" || result.Changes != int64(len(rows)) {
		t.Errorf("the summary counts otherwise than the table (-table +summary):\n%s", diff)
	}
	checkHosts(t, rows, result)
	for _, kind := range change.Kinds {
		// others need identities, sitemaps or documents
		if k := change.Named(kind); (!k.Beside || kind == "reachability") && !slices.ContainsFunc(rows,
			func(c schema.Change) bool { return c.Kind == kind }) {
			t.Errorf("no change of kind %s", kind)
		}
	}
}

func TestDiffFindsEveryScriptedChangeAndNoOther(t *testing.T) {
	texts := make(map[string]string)
	files, err := fs.Glob(testdata.Demo, "demo/hosts/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(testdata.Demo, name)
		if err != nil {
			t.Fatal(err)
		}
		texts[path.Base(name)] = string(text)
	}
	if len(texts) < 2*len(recipes) {
		t.Fatalf("%d texts are too few", len(texts))
	}
	checkScript(t, texts, 2*len(recipes))
}

// corpusTexts are the real files by host.
func corpusTexts(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(audittest.Corpus)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the corpus of real files is not here")
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		// What is cut off at the limit would move with the text before it.
		if host := path.Base(h.Name); h.Typeflag == tar.TypeReg && !strings.Contains(host, "_") && h.Size < 400_000 {
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			texts[strings.ToLower(host)] = string(text)
		}
	}
}

func TestDiffOfTheRealCorpus(t *testing.T) {
	texts := corpusTexts(t)
	hosts := 900
	if testing.Short() {
		hosts = 360
	}
	for _, host := range slices.Sorted(maps.Keys(texts))[hosts:] {
		delete(texts, host)
	}
	checkScript(t, texts, hosts/3)
}
