package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

func TestOpenRemovesWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 1)
	must(t, run.Close())
	want := tree(t, dir)
	for _, name := range []string{
		"fetches/run=r/part-0000000000.parquet", "rules/run=r/part-0000000001.parquet.tmp", "bodies/run=r/part-0000000002.parquet",
		"_runs/r/bodies.tmp", "_runs/r/manifest.ABCDEFGH.json.tmp", "_runs/r/lock",
		"_runs/r/segments/0000000000.summary.parquet", "_runs/r/segments/0000000001.ABCDEFGH.json.tmp", "summary/run=r/part-0000000000.parquet",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("left"), 0o666))
	}
	if v := verify(t, dir); len(v.Problems) > 0 || v.Complete {
		t.Errorf("unfinished, with leftovers: %+v", v)
	}
	run, err = Open(t.Context(), dir, described())
	must(t, err)
	if run.Committed(1) == nil || run.Committed(0) != nil || run.Rows()["fetches"] != targetsOfSegment {
		t.Error("segment 1 is not committed, or 0 is")
	}
	if _, err := run.Segment(1); err == nil {
		t.Error("a committed segment is begun again")
	}
	must(t, run.Close())
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestOpenRefusesACommittedPartThatIsGone(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	must(t, run.Close())
	must(t, os.Remove(filepath.Join(dir, "lines/run=r/part-0000000000.parquet")))
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, ErrNotResumable) || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "lines/run=r/part-0000000000.parquet") {
		t.Errorf("a part is gone: %v", err)
	}
}

// A run is resumed only with the inputs of its plan: of each role as many, in the
// same order, because seq depends on the place in the input.
func TestOpenRefusesOtherInputs(t *testing.T) {
	hosts, urls := Input{Role: "hosts", Path: "hosts.csv", SHA256: "aa"}, Input{Role: "urls", Path: "urls.txt", SHA256: "bb"}
	one, two := Input{Role: "warc", Path: "1.warc", EndsSHA256: "cc"}, Input{Role: "warc", Path: "2.warc", EndsSHA256: "dd"}
	named := func(inputs ...Input) Plan {
		p := described()
		p.Inputs = inputs
		return p
	}
	dir := t.TempDir()
	run, err := Create(dir, named(hosts, one, two, urls))
	must(t, err)
	must(t, run.Close())
	for _, row := range []struct {
		name   string
		inputs []Input
		want   string // in the error; "" if it opens
	}{
		{"the same", []Input{hosts, one, two, urls}, ""},
		{"roles in another order", []Input{urls, one, hosts, two}, ""},
		{"no URLs", []Input{hosts, one, two}, "the number of inputs called urls was 1 and is now 0"},
		{"no filter of hosts", []Input{one, two, urls}, "the number of inputs called hosts was 1 and is now 0"},
		{"without the last archive", []Input{hosts, one, urls}, "the number of inputs called warc was 2 and is now 1"},
		{"without the first archive", []Input{hosts, two, urls}, "the number of inputs called warc was 2 and is now 1"},
		{"an archive twice", []Input{hosts, one, two, two, urls}, "the number of inputs called warc was 2 and is now 3"},
		{"archives in another order", []Input{hosts, two, one, urls}, "warc: 2.warc is not the file that the run has read, 1.warc"},
		{"another archive", []Input{hosts, one, {Role: "warc", Path: "2.warc", EndsSHA256: "ee"}, urls}, "warc: 2.warc is not the file"},
		{"an archive that is no file", []Input{hosts, one, {Role: "warc", Path: "2.warc"}, urls}, "warc: 2.warc is not a regular file"},
		{"other URLs", []Input{hosts, one, two, {Role: "urls", Path: "urls.txt", SHA256: "ee"}}, "urls: urls.txt (SHA-256 ee…) differs"},
		{"none", nil, "the number of inputs called hosts was 1 and is now 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			run, err := Open(t.Context(), dir, named(row.inputs...))
			if row.want == "" {
				must(t, err)
				must(t, run.Close())
			} else if !errors.Is(err, ErrNotResumable) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}

func TestOpenRefusesARunThatWasStartedOtherwise(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	must(t, run.Close())
	for _, row := range []struct {
		name   string
		change func(m *Plan)
		want   []string // in the error; none if it opens
	}{
		{"the same", func(m *Plan) {}, nil},
		{"another start and version", func(m *Plan) { m.Started, m.ToolVersion = time.Now(), "v1" }, nil},
		{"a file moved", func(m *Plan) { m.Inputs[0].Path, m.Configuration["hosts"] = "/other.csv", "/other.csv" }, nil},
		{"a comment in the configuration file", func(m *Plan) { m.Inputs[2].SHA256 = "00" }, nil},
		{"no configuration file", func(m *Plan) { m.Inputs = m.Inputs[:2] }, nil},
		{"tables", func(m *Plan) { m.Tables = []string{"fetches"} }, []string{`tables was ["fetches","groups"`, `is now ["fetches"]`}},
		{"profiles", func(m *Plan) { m.Profiles = []string{"rfc9309"} }, []string{`profiles was ["google"] and is now ["rfc9309"]`}},
		{"settings", func(m *Plan) {
			m.Configuration = map[string]any{"retries": 3, "schemes": []string{"http"}, "limit": "0"}
		}, []string{`limit was null and is now "0"`, `retries was 2 and is now 3`, `schemes was ["https","http"] and is now ["http"]`}},
		{"hosts", func(m *Plan) { m.Inputs[0].SHA256 = strings.Repeat("12", 32) }, []string{"hosts: hosts.csv (SHA-256 121212121212…) differs", "(abababababab…)"}},
		{"two inputs", func(m *Plan) { m.Inputs[0].SHA256, m.Inputs[1].SHA256 = "1", "2" }, []string{"hosts: ", "agents: agents.yaml"}},
		{"an input more", func(m *Plan) { m.Inputs = append(m.Inputs, Input{Role: "urls", SHA256: "1"}) }, []string{"the number of inputs called urls was 0 and is now 1"}},
		{"standard input", func(m *Plan) { m.Inputs[0] = Input{Role: "hosts", Path: "-"} }, []string{"standard input cannot be read again"}},
		{"a pipe", func(m *Plan) { m.Inputs[0].SHA256 = "" }, []string{"hosts.csv is not a regular file"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := described()
			row.change(&m)
			run, err := Open(t.Context(), dir, m)
			if row.want == nil {
				must(t, err)
				must(t, run.Close())
				return
			}
			if !errors.Is(err, ErrNotResumable) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: does not say %q", err, want)
				}
			}
		})
	}
	replan := func(change func(p *Plan)) {
		t.Helper()
		m, err := ReadManifest(sinktest.Open(t, dir), "r")
		must(t, err)
		change(&m.Plan)
		resealed(t, filepath.Join(dir, "_runs/r/plan.json"), m.Plan)
	}
	replan(func(m *Plan) { m.SchemaVersion = 7 })
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, ErrNotResumable) || !strings.Contains(err.Error(), "schema version was 7 and is now 2") {
		t.Errorf("another schema: %v", err)
	}
	replan(func(m *Plan) { m.SchemaVersion, m.SummaryBins = schema.SchemaVersion, 7 })
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, ErrNotResumable) || !strings.Contains(err.Error(), "bins in summary was 7 and is now 1") {
		t.Errorf("bins of another version: %v", err)
	}
	replan(func(m *Plan) { m.SummaryBins = 1 })
	replan(func(m *Plan) { m.SchemaVersion, m.Inputs[0].Path, m.Inputs[0].SHA256 = schema.SchemaVersion, "-", "" })
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, ErrNotResumable) || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("begun from standard input: %v", err)
	}
	other := described()
	other.Run = "other"
	if _, err := Open(t.Context(), dir, other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such run: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
}

func TestCreateTakesOverWhatCreateLeft(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "_runs/r")
	must(t, os.MkdirAll(folder, 0o777))
	must(t, os.WriteFile(filepath.Join(folder, "plan.ABCDEFGH.json.tmp"), []byte(`{"seg`), 0o666))
	must(t, os.WriteFile(filepath.Join(folder, "lock"), nil, 0o600))
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that was never created: %v", err)
	}
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	must(t, run.Close())
	must(t, os.Remove(filepath.Join(folder, "plan.json")))
	if _, err := Create(dir, described()); !errors.Is(err, ErrRunExists) {
		t.Errorf("parts without a plan: %v", err)
	}
}
