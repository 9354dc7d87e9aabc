package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// exported writes a run of three segments with more rows of verdicts than one batch
// holds, and with nulls, lists and times.
func exported(t *testing.T) (dir string, run *Run) {
	t.Helper()
	dir = t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	for _, index := range []int{2, 0, 1} { // segments are committed in any order
		s, err := run.Segment(index)
		must(t, err)
		must(t, fill(s, index))
		seq := int64((index + 1) * targetsOfSegment)
		when := time.Date(2026, 11, 20, 10, 15, index, 123456000, time.UTC)
		must(t, s.Fetches.Write(schema.Fetch{
			Seq: seq, Host: "müller.example", Rank: new(int64(7)), FetchTime: when, UnreachableSince: &when,
			Status: new(int32(301)),
			Hops: []schema.Hop{{URL: "http://a.example/robots.txt", Status: new(int32(301))},
				{URL: "https://a.example/robots.txt", Status: nil}},
		}))
		s.Targets++
		must(t, s.Groups.Write(schema.Group{Seq: seq, Agents: []string{"a", "b"}, CrawlDelay: new(1.5)}))
		must(t, s.Bodies.Write(schema.Body{ContentDigest: "X", Body: []byte{0, 0xff, 'a'}}))
		var rows []schema.Verdict
		for i := range 8192 {
			rows = append(rows, schema.Verdict{Seq: seq, URL: fmt.Sprint("/", i), RuleLine: schema.NonZero(int32(i % 3))})
		}
		must(t, s.Verdicts.Write(rows...))
		must(t, s.Commit())
	}
	return dir, run
}

func export(t *testing.T, dir string, s Selection) ([]byte, error) {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	var out bytes.Buffer
	err = Export(context.Background(), &out, dir, m, s)
	return out.Bytes(), err
}

// readStream reads a stream to its end: its columns with their types, and its
// rows.
func readStream(content []byte) (columns string, rows []string, err error) {
	r, err := ipc.NewReader(bytes.NewReader(content))
	if err != nil {
		return "", nil, err
	}
	defer r.Release()
	var names []string
	for _, f := range r.Schema().Fields() {
		names = append(names, f.Name+" "+typeName(f))
	}
	for r.Next() {
		rows = append(rows, rendered(r.RecordBatch().Columns())...)
	}
	return strings.Join(names, ", "), rows, r.Err()
}

func rendered(columns []arrow.Array) (rows []string) {
	for i := range columns[0].Len() {
		var row strings.Builder
		for _, c := range columns {
			if c.IsNull(i) {
				row.WriteString("null")
			} else {
				fmt.Fprintf(&row, "%q", c.ValueStr(i))
			}
			row.WriteByte(' ')
		}
		rows = append(rows, row.String())
	}
	return rows
}

func TestExportGivesTheRowsOfTheParquet_NoRace(t *testing.T) {
	dir, run := exported(t)
	finish(t, run)
	for _, table := range schema.TableNames {
		var want []string
		for segment := range 3 {
			if !layout.HasPart(table, segment) || layout.OfRun[table] && segment > 0 {
				continue
			}
			_, part := readTable(t, filepath.Join(dir, layout.Part(table, "r", segment, "")))
			var columns []arrow.Array
			for i := range part.NumCols() {
				chunks := part.Column(int(i)).Data().Chunks()
				if len(chunks) != 1 {
					t.Fatalf("%s: %d chunks", table, len(chunks))
				}
				columns = append(columns, chunks[0])
			}
			want = append(want, rendered(columns)...)
		}
		content, err := export(t, dir, Selection{Table: table})
		must(t, err)
		columns, got, err := readStream(content)
		must(t, err)
		if diff := cmp.Diff(strings.Join(strings.Fields(contract[table]), " "), columns); diff != "" {
			t.Errorf("%s (-contract +exported):\n%s", table, diff)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s, %d rows (-Parquet +exported):\n%s", table, len(got), diff)
		}
	}
}

func TestExportOfColumns_NoRace(t *testing.T) {
	dir, _ := exported(t)
	content, err := export(t, dir, Selection{Table: "fetches", Columns: []string{"hops", "fetch_time", "seq"}})
	must(t, err)
	columns, rows, err := readStream(content)
	must(t, err)
	if want := "seq int64, fetch_time timestamp[us, tz=UTC], hops list<struct<url utf8, status int32?>>"; columns != want {
		t.Errorf("columns are %s, want %s", columns, want)
	}
	if want := `"20" "2026-11-20T10:15:00.123456Z" "[{\"status\":301,\"url\":\"http://a.example/robots.txt\"},{\"status\":null,\"url\":\"https://a.example/robots.txt\"}]" `; rows[20] != want {
		t.Errorf("row 20 is\n%s, want\n%s", rows[20], want)
	}
}

// Of an incomplete run, the committed segments are exported, even if there are
// none.
func TestExportOfWhatIsNotComplete_NoRace(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	defer run.Close()
	for segments := range 2 {
		for _, table := range schema.TableNames {
			content, err := export(t, dir, Selection{Table: table})
			must(t, err)
			columns, rows, err := readStream(content)
			must(t, err)
			if want := strings.Join(strings.Fields(contract[table]), " "); columns != want || (len(rows) > 0) != (segments > 0) {
				t.Errorf("%s with %d segments: %d rows, columns %s", table, segments, len(rows), columns)
			}
		}
		commitSegment(t, run, segments)
	}
}

func TestExportSaysWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	p := described()
	p.Tables = []string{"fetches", "verdicts"}
	run, err := Create(dir, p)
	must(t, err)
	commitSegment(t, run, 0)
	finish(t, run)
	for _, row := range []struct {
		Selection
		want string
	}{
		{Selection{Table: "verdict"}, `table "verdict" is not there: run r has fetches, verdicts`},
		{Selection{Table: "bodies"}, `table "bodies" is not there: run r has fetches, verdicts`},
		{Selection{Table: "changes"}, `table "changes" is not there: run r has fetches, verdicts`},
		{Selection{Table: "../fetches"}, `table "../fetches" is not there`},
		{Selection{Table: "fetches", Against: "a"},
			`comparison of table fetches with "a" is not there: only changes are compared`},
		{Selection{Table: "verdicts", Columns: []string{"seq", "path"}},
			`column "path" is not there: the table has seq, host, rank, origin, agent`},
	} {
		content, err := export(t, dir, row.Selection)
		if !errors.Is(err, ErrNotThere) || !strings.Contains(err.Error(), row.want) || len(content) > 0 {
			t.Errorf("%+v: %v, and %d bytes; want %s", row.Selection, err, len(content), row.want)
		}
	}
}

// copyPart copies a part of the run to another path.
func copyPart(t *testing.T, dir, from, to string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, from))
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(to)), 0o777))
	must(t, os.WriteFile(filepath.Join(dir, to), content, 0o666))
}

func TestExportOfChanges_NoRace(t *testing.T) {
	dir, _ := exported(t)
	compare := func(against string, hosts ...string) {
		m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
		must(t, err)
		c, err := CreateChanges(sinktest.Open(t, dir), m, against, "v1")
		must(t, err)
		for _, host := range hosts {
			must(t, c.Write(schema.Change{Host: host}))
		}
		must(t, c.Commit())
	}
	compare("a", "one", "two")
	want, err := export(t, dir, Selection{Table: "changes"})
	must(t, err)
	if _, rows, err := readStream(want); err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if _, err := export(t, dir, Selection{Table: "change"}); err == nil || !strings.Contains(err.Error(),
		"bodies, changes") {
		t.Errorf("%v, which does not list changes", err)
	}
	compare("b", "three")
	if _, err := export(t, dir, Selection{Table: "changes"}); !errors.Is(err, ErrNotThere) ||
		!strings.Contains(err.Error(), "has several comparisons: choose one of a, b") {
		t.Errorf("changes of two comparisons: %v", err)
	}
	if _, err := export(t, dir, Selection{Table: "changes", Against: "c"}); !errors.Is(err, ErrNotThere) ||
		!strings.Contains(err.Error(), "compared with a, b") {
		t.Errorf("changes against none: %v", err)
	}
	got, err := export(t, dir, Selection{Table: "changes", Against: "a"})
	must(t, err)
	if !bytes.Equal(want, got) {
		t.Error("--against changes what is written")
	}
}

// A stream that an error ends must not look whole, however much was written.
func TestAnExportThatFailsReadsAsBroken_NoRace(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string){
		"missing": func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, layout.Part("groups", "r", 1, ""))))
		},
		"no Parquet": func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, layout.Part("groups", "r", 1, "")), []byte("no Parquet"), 0o666))
		},
		"other columns": func(t *testing.T, dir string) {
			copyPart(t, dir, layout.Part("rules", "r", 1, ""), layout.Part("groups", "r", 1, ""))
		},
		"pages of zeros": func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, layout.Part("groups", "r", 1, "")), func(content []byte) []byte {
				clear(content[4 : len(content)/3])
				return content
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := exported(t)
			damage(t, dir)
			content, err := export(t, dir, Selection{Table: "groups"})
			if err == nil || !strings.Contains(err.Error(), "part-0000000001.parquet") || errors.Is(err, ErrNotThere) {
				t.Errorf("error %v, want one that names the part", err)
			}
			_, rows, err := readStream(content)
			if err == nil || len(rows) < 2*targetsOfSegment+1 {
				t.Errorf("%d rows were read, and then %v; want the rows of the first part, and an error", len(rows), err)
			}
		})
	}
	t.Run("a path of the manifest's", func(t *testing.T) {
		dir, run := exported(t)
		finish(t, run)
		patch(t, dir, func(m *journal.Manifest) { partOf(m, layout.Part("groups", "r", 1, "")).Path = "../secret" })
		if _, err := journal.ReadManifest(sinktest.Open(t, dir), "r"); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("error %v", err)
		}
	})
}

func TestExportEndsWithItsContextOrItsReader(t *testing.T) {
	dir, _ := exported(t)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var out bytes.Buffer
	err = Export(ctx, writerFunc(func(p []byte) (int, error) { cancel(); return out.Write(p) }), dir, m,
		Selection{Table: "verdicts"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if _, _, err := readStream(out.Bytes()); err == nil {
		t.Error("a stream that was interrupted reads as whole")
	}
	err = Export(context.Background(), writerFunc(func(p []byte) (int, error) { return 0, io.ErrClosedPipe }), dir, m,
		Selection{Table: "verdicts"})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want the writer's", err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
