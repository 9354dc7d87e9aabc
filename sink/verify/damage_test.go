package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// verified verifies the run r.
func verified(t *testing.T, dir string) *Result {
	t.Helper()
	v, err := Run(t.Context(), sinktest.Open(t, dir), "r", func(int, int) {})
	must(t, err)
	return v
}

func described() journal.Plan {
	return journal.Plan{
		Run: "r", ToolVersion: "v0", Tables: schema.TableNames, Profiles: []string{"google"}, Started: time.Date(2026, 11,
			20, 10, 15, 0, 0, time.UTC),
		Configuration: map[string]any{"retries": 2}, Inputs: []journal.Input{{Role: "hosts", Path: "hosts.csv",
			SHA256: strings.Repeat("ab", 32)}},
	}
}

const targetsOfSegment = 20

// fill writes rows of all tables that differ between segments.
func fill(t *testing.T, s *sink.Segment, index int) {
	t.Helper()
	s.Targets = targetsOfSegment
	for i := range targetsOfSegment {
		seq := int64(index*targetsOfSegment + i + 1)
		host := fmt.Sprintf("h%d.example", seq)
		must(t, errors.Join(
			s.Fetches.Write(schema.Fetch{Seq: seq, Host: host}), s.Groups.Write(schema.Group{Seq: seq},
				schema.Group{Seq: seq, GroupIndex: 1}),
			s.Rules.Write(schema.Rule{Seq: seq, Line: 1}, schema.Rule{Seq: seq, Line: 4}),
			s.Sitemaps.Write(schema.Sitemap{Seq: seq, Line: 1}),
			s.Lines.Write(schema.Line{Seq: seq, Line: 2}, schema.Line{Seq: seq, Line: 2}),
			s.Signals.Write(schema.Signal{Seq: seq, Line: 3}),
			s.Preferences.Write(schema.Preference{Seq: seq, Line: new(int32(3))}),
			s.Templates.Write(schema.Template{Seq: seq, FirstLine: 1}), s.Answers.Write(schema.Answer{Seq: seq, Host: host}),
			s.Documents.Write(schema.Document{Seq: seq}),
			s.Labels.Write(schema.Label{Seq: seq, Host: host, Label: "sector", Value: "news"}),
			s.LabelCounts.Write(schema.LabelCount{Metric: "targets", Label: "sector", Value: "news", Count: 1},
				schema.LabelCount{Metric: "policy", Label: "sector", Value: "news", Count: 1}, schema.LabelCount{Metric: "verdict",
					Label: "sector", Value: "news", Count: 2}),
			s.SitemapFiles.Write(schema.SitemapFile{Seq: seq}), s.Coverage.Write(schema.Coverage{Seq: seq}),
			s.URLs.Write(schema.ListedURL{Seq: seq}),
			s.Policies.Write(schema.Policy{Seq: seq, Host: host}), s.Verdicts.Write(schema.Verdict{Seq: seq},
				schema.Verdict{Seq: seq, URL: "/"}),
			s.Examples.Write(schema.Example{Metric: "line_class", Host: host}),
			s.Bodies.Write(schema.Body{ContentDigest: schema.ContentDigest([]byte(host)), Body: []byte(host)}),
		))
	}
	must(t, s.Agents.Write(schema.Agent{Name: "A bot", Category: "other", Tokens: []string{"A"}}))
	must(t, s.Summary.Write(schema.Count{Metric: "targets", Count: targetsOfSegment - 1}, schema.Count{Metric: "targets",
		Stratum: "unranked", Count: 1}))
}

func commitSegment(t *testing.T, run *sink.Run, index int) {
	t.Helper()
	s, err := run.Segment(index)
	must(t, err)
	fill(t, s, index)
	must(t, s.Commit())
}

// wholeRun writes a complete run of three segments, with extra rows in segment 1.
func wholeRun(t *testing.T, extra func(s *sink.Segment) error) string {
	t.Helper()
	dir := t.TempDir()
	run, err := sink.Create(dir, described())
	must(t, err)
	targets := int64(0)
	for index := range 3 {
		s, err := run.Segment(index)
		must(t, err)
		fill(t, s, index)
		if index == 1 && extra != nil {
			must(t, extra(s))
		}
		targets += s.Targets
		must(t, s.Commit())
	}
	totals, err := summary.SumUp(t.Context(), run)
	must(t, err)
	must(t, run.Complete(sink.Completion{Finished: time.Now(), Tally: journal.Tally{Targets: targets}, Totals: totals,
		Inputs: described().Inputs}))
	must(t, run.Close())
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	for _, p := range m.Parts {
		if p.Rows == 0 {
			t.Errorf("fill writes no row of %s", p.Table)
		}
	}
	return dir
}

// partsIn returns the number of parts of some segments.
func partsIn(segments ...int) (n int) {
	for _, segment := range segments {
		for _, table := range schema.TableNames {
			if layout.HasPart(table, segment) {
				n++
			}
		}
	}
	return n
}

// partOf finds a part in the manifest.
func partOf(m *journal.Manifest, path string) *journal.Part {
	for i := range m.Parts {
		if m.Parts[i].Path == path {
			return &m.Parts[i]
		}
	}
	return nil
}

// patch changes the manifest of a complete run and seals it.
func patch(t *testing.T, dir string, change func(m *journal.Manifest)) {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	change(m)
	resealed(t, filepath.Join(dir, "_runs/r/manifest.json"), m)
}

func resealed(t *testing.T, path string, object any) {
	t.Helper()
	content, _ := sinktest.Sealed(t, object)
	must(t, os.WriteFile(path, content, 0o666))
}

func edit(t *testing.T, path string, change func(content []byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, change(content), 0o666))
}

// withoutColumns takes columns of fetches, as table.column, out of the part of segment 1.
func withoutColumns(t *testing.T, dir string, without []string) {
	t.Helper()
	const name = "fetches/run=r/part-0000000001.parquet"
	rows, err := parquet.ReadFile[schema.Fetch](filepath.Join(dir, name))
	must(t, err)
	var fields []reflect.StructField
	for i := range reflect.TypeFor[schema.Fetch]().NumField() {
		field := reflect.TypeFor[schema.Fetch]().Field(i)
		column := schema.ColumnOf(field)
		if !slices.Contains(without, "fetches."+column) {
			fields = append(fields, field)
		}
	}
	older := reflect.StructOf(fields)
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, parquet.SchemaOf(reflect.New(older).Interface()),
		parquet.KeyValueMetadata(layout.KeyRun, "r"), parquet.KeyValueMetadata(layout.KeySchema,
			strconv.Itoa(schema.SchemaVersion)))
	for _, row := range rows {
		one := reflect.New(older).Elem()
		for i, field := range fields {
			one.Field(i).Set(reflect.ValueOf(row).FieldByName(field.Name))
		}
		_, err := w.Write([]any{one.Interface()})
		must(t, err)
	}
	must(t, w.Close())
	replacePart(t, dir, name, out.Bytes())
}

// replacePart replaces the contents of a part, and updates the record and the
// manifest.
func replacePart(t *testing.T, dir, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, path), content, 0o666))
	rename(t, dir, path, func(p *journal.Part) {
		sum := sha256.Sum256(content)
		p.Bytes, p.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
	})
}

// rename changes the entry of a part in the record and in the manifest.
func rename(t *testing.T, dir, path string, change func(p *journal.Part)) {
	t.Helper()
	patch(t, dir, func(m *journal.Manifest) {
		for i := range m.RunParts {
			if m.RunParts[i].Path == path {
				change(&m.RunParts[i])
				return
			}
		}
		part := partOf(m, path)
		file := filepath.Join(dir, layout.Record("r", part.Segment))
		content, err := os.ReadFile(file)
		must(t, err)
		var r journal.Record
		must(t, json.Unmarshal(content, &r))
		for i := range r.Parts {
			if r.Parts[i].Path == path {
				change(&r.Parts[i])
			}
		}
		change(part)
		content, digest := sinktest.Sealed(t, r)
		must(t, err)
		must(t, os.WriteFile(file, content, 0o666))
		for i := range m.Records {
			if m.Records[i].Segment == r.Segment {
				m.Records[i].SHA256 = digest
			}
		}
	})
}

func TestNothingIsWrongInAGoodRun(t *testing.T) {
	dir := wholeRun(t, nil)
	must(t, os.WriteFile(filepath.Join(dir, "_runs/r/lock"), nil, 0o600)) // left by a killed process
	var read, parts int
	v, err := Run(context.Background(), sinktest.Open(t, dir), "r", func(n, of int) { read, parts = n, of })
	must(t, err)
	if len(v.Problems) > 0 || !v.Complete || v.Segments != 3 || v.Parts != partsIn(0, 1, 2)-2*len(layout.OfRun) ||
		v.Rows == 0 || v.Bytes == 0 {
		t.Errorf("%+v", v)
	}
	if read != v.Parts || parts != v.Parts {
		t.Errorf("progress ends with %d of %d", read, parts)
	}
}

func TestPlantedDamageIsFound_NoRace(t *testing.T) {
	const rules = "rules/run=r/part-0000000001.parquet"
	const manifest = "_runs/r/manifest.json"
	const record = "_runs/r/segments/0000000001.json"
	file := func(change func(content []byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { edit(t, filepath.Join(dir, rules), change) }
	}
	manifested := func(change func(m *journal.Manifest)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { patch(t, dir, change) }
	}
	good := os.DirFS(wholeRun(t, nil))
	for _, row := range []struct {
		name  string
		extra func(s *sink.Segment) error
		plant func(t *testing.T, dir string)
		want  string // path: kind, for each problem
	}{
		{"a byte flipped in a page", nil, file(func(b []byte) []byte { b[100] ^= 1; return b }), rules + ": digest"},
		{"a byte flipped in the footer", nil, file(func(b []byte) []byte { b[len(b)-20] ^= 1; return b }),
			rules + ": digest"},
		{"cut short", nil, file(func(b []byte) []byte { return b[:len(b)-1] }), rules + ": file"},
		{"empty", nil, file(func(b []byte) []byte { return nil }), rules + ": file"},
		{"deleted", nil, func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, rules))) }, rules + ": file"},
		{"a folder in its place", nil, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, rules)))
			must(t, os.Mkdir(filepath.Join(dir, rules), 0o777))
		}, rules + ": file"},
		{"fetches gone: no orphans", nil, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "fetches/run=r/part-0000000001.parquet")))
		}, "fetches/run=r/part-0000000001.parquet: file"},
		{"extra files", nil, func(t *testing.T, dir string) {
			for _, name := range []string{"rules/run=r/part-0000000003.parquet", "rules/run=r/part-0000000001.parquet.tmp",
				"lines/run=r/x", "_runs/r/bodies.tmp",
				"_runs/r/rejected.csv", "_runs/r/segments/0000000003.json", "_runs/r/segments/0000000001.summary.parquet",
				"_runs/r/against/x"} {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
				must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
			}
		}, "_runs/r/against/x: extra, _runs/r/bodies.tmp: extra, _runs/r/rejected.csv: extra, " +
			"_runs/r/segments/0000000001.summary.parquet: extra, _runs/r/segments/0000000003.json: extra, lines/run=r/x: " +
			"extra, rules/run=r/part-0000000001.parquet.tmp: extra, rules/run=r/part-0000000003.parquet: extra"},
		{"rows in record and manifest", nil, func(t *testing.T, dir string) {
			rename(t, dir, rules, func(p *journal.Part) { p.Rows++ })
		}, rules + ": rows"},
		{"rows in the manifest", nil, manifested(func(m *journal.Manifest) { partOf(m, rules).Rows++ }),
			"_runs/r/segments/0000000001.json: record, " + rules + ": rows"},
		{"targets in the manifest", nil, manifested(func(m *journal.Manifest) { m.Targets-- }), "_runs/r: manifest"},
		{"manifest of another run", nil, manifested(func(m *journal.Manifest) { m.Run = "x" }), "_runs/r: manifest"},
		{"a segment missing in the manifest", nil, manifested(func(m *journal.Manifest) {
			m.Parts = slices.DeleteFunc(m.Parts, func(p journal.Part) bool { return p.Segment == 1 })
			m.Records = slices.Delete(m.Records, 1, 2)
			m.Targets -= targetsOfSegment
		}), "_runs/r: manifest"},
		{"a record that is not named", nil, manifested(func(m *journal.Manifest) {
			m.Records = slices.Delete(m.Records, 1, 2)
		}),
			manifest + ": numbering, " + manifest + ": numbering, " + manifest +
				": rows, _runs/r/segments/0000000001.json: extra"},
		{"a record that is gone", nil, func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, record))) },
			record + ": record"},
		{"a record that is another's", nil, func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, "_runs/r/segments/0000000002.json"))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, record), content, 0o666))
		}, record + ": record"},
		{"a byte flipped in a record", nil, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, record), func(b []byte) []byte { b[50] ^= 1; return b })
		}, record + ": record"},
		{"a record written anew", nil, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, record), func(b []byte) []byte {
				var r journal.Record
				must(t, json.Unmarshal(b, &r))
				r.Note = json.RawMessage("1")
				content, _ := sinktest.Sealed(t, r)
				return content
			})
		}, record + ": record"},
		{"the plan gone", nil, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "_runs/r/plan.json")))
		}, "_runs/r/plan.json: file"},
		{"a byte flipped in the plan", nil, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "_runs/r/plan.json"), func(b []byte) []byte { b[50] ^= 1; return b })
		}, "_runs/r/plan.json: manifest"},
		{"another plan", nil, func(t *testing.T, dir string) {
			m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
			must(t, err)
			m.ToolVersion = "v7"
			resealed(t, filepath.Join(dir, "_runs/r/plan.json"), m.Plan)
		}, "_runs/r/plan.json: manifest"},
		{"what the manifest says of the plan", nil, manifested(func(m *journal.Manifest) {
			m.Profiles = []string{"rfc9309"}
		}), "_runs/r/plan.json: manifest"},
		{"a segment that stands after a later one", nil, manifested(func(m *journal.Manifest) {
			m.Records[1], m.Records[2] = m.Records[2], m.Records[1]
		}), manifest + ": numbering, " + manifest + ": numbering"},
		{"a plan that says the same under another digest", nil, manifested(func(m *journal.Manifest) {
			m.PlanDigest = strings.Repeat("0", 64)
		}),
			"_runs/r/plan.json: manifest, _runs/r/segments/0000000000.json: record, _runs/r/segments/0000000001.json: record, " +
				"_runs/r/segments/0000000002.json: record"},
		{"a part that does not say of which run it is", nil, func(t *testing.T, dir string) {
			rows, err := parquet.ReadFile[schema.Rule](filepath.Join(dir, rules))
			must(t, err)
			var out bytes.Buffer
			must(t, parquet.Write(&out, rows, parquet.KeyValueMetadata(layout.KeySchema, strconv.Itoa(schema.SchemaVersion))))
			replacePart(t, dir, rules, out.Bytes())
		}, rules + ": schema"},
		{"a part missing in the manifest", nil, manifested(func(m *journal.Manifest) {
			m.Parts = append(m.Parts[:2:2], m.Parts[3:]...)
		}), "_runs/r: manifest"},
		{"a part named twice", nil, manifested(func(m *journal.Manifest) {
			m.Parts = append([]journal.Part{m.Parts[0]}, m.Parts...)
		}), "_runs/r: manifest"},
		{"a path elsewhere", nil, manifested(func(m *journal.Manifest) { partOf(m, rules).Path = "../../etc/passwd" }),
			"_runs/r: manifest"},
		{"no parts", nil, manifested(func(m *journal.Manifest) { m.Records, m.Parts, m.Targets = nil, nil, 0 }),
			"_runs/r: manifest"},
		{"manifest cut short", nil, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, manifest), func(b []byte) []byte { return b[:len(b)/2] })
		}, "_runs/r: manifest"},
		{"no Parquet", nil, func(t *testing.T, dir string) { replacePart(t, dir, rules, []byte("PAR1 no such thing PAR1")) },
			rules + ": parquet"},
		{"pages that cannot be decoded", nil, func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, rules))
			must(t, err)
			for i := 4; i < len(content)/2; i++ {
				content[i] = 0xa5
			}
			replacePart(t, dir, rules, content)
		}, rules + ": parquet"},
		{"a part of another run", nil, func(t *testing.T, dir string) {
			m := described()
			m.Run = "other"
			run, err := sink.Create(dir, m)
			must(t, err)
			commitSegment(t, run, 1)
			must(t, run.Close())
			content, err := os.ReadFile(filepath.Join(dir, "rules/run=other/part-0000000001.parquet"))
			must(t, err)
			replacePart(t, dir, rules, content)
		}, rules + ": schema"},
		{"a part of another table", nil, func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, "sitemaps/run=r/part-0000000001.parquet"))
			must(t, err)
			replacePart(t, dir, rules, content)
		}, rules + ": rows, " + rules + ": schema"},
		{"a column of another type", nil, func(t *testing.T, dir string) {
			var out bytes.Buffer
			must(t, parquet.Write(&out, []struct {
				ContentDigest string `parquet:"content_digest,dict"`
				Body          string `parquet:"body"`
			}{}, parquet.KeyValueMetadata(layout.KeyRun, "r"), parquet.KeyValueMetadata(layout.KeySchema,
				strconv.Itoa(schema.SchemaVersion))))
			replacePart(t, dir, "bodies/run=r/part-0000000001.parquet", out.Bytes())
		}, "bodies/run=r/part-0000000001.parquet: rows, bodies/run=r/part-0000000001.parquet: schema"},
		{"a part that is older than some columns", nil, func(t *testing.T, dir string) {
			withoutColumns(t, dir, journal.Later)
		}, ""},
		{"a part that is older than one of them", nil, func(t *testing.T, dir string) {
			withoutColumns(t, dir, journal.Later[1:2])
		}, ""},
		{"a part that lacks another column", nil, func(t *testing.T, dir string) {
			withoutColumns(t, dir, []string{"fetches.rank"})
		},
			"fetches/run=r/part-0000000001.parquet: schema"},
		{"a part of another segment", nil, func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, "rules/run=r/part-0000000002.parquet"))
			must(t, err)
			replacePart(t, dir, rules, content)
		}, rules + ": seq"},
		{"a segment twice", nil, func(t *testing.T, dir string) {
			for _, table := range schema.TableNames {
				if layout.OfRun[table] {
					continue
				}
				if !layout.HasPart(table, 1) {
					continue
				}
				content, err := os.ReadFile(filepath.Join(dir, table, "run=r/part-0000000002.parquet"))
				must(t, err)
				replacePart(t, dir, table+"/run=r/part-0000000001.parquet", content)
			}
		}, "fetches/run=r/part-0000000002.parquet: order"},
		{"swapped order", func(s *sink.Segment) error {
			return s.Policies.Write(schema.Policy{Seq: 40}, schema.Policy{Seq: 39})
		}, nil, "policies/run=r/part-0000000001.parquet: order"},
		{"swapped lines", func(s *sink.Segment) error { return s.Rules.Write(schema.Rule{Seq: 40, Line: 3}) }, nil,
			rules + ": order"},
		{"a group twice", func(s *sink.Segment) error { return s.Groups.Write(schema.Group{Seq: 40, GroupIndex: 1}) }, nil,
			"groups/run=r/part-0000000001.parquet: order"},
		{"a target twice", func(s *sink.Segment) error { s.Targets++; return s.Fetches.Write(schema.Fetch{Seq: 40}) }, nil,
			"fetches/run=r/part-0000000001.parquet: order, summary/run=r/part-0000000000.parquet: summary"},
		{"a target of another segment", func(s *sink.Segment) error {
			s.Targets++
			return s.Fetches.Write(schema.Fetch{Seq: 41})
		}, nil,
			"fetches/run=r/part-0000000002.parquet: order, summary/run=r/part-0000000000.parquet: summary"},
		{"orphan seq", func(s *sink.Segment) error { return s.Verdicts.Write(schema.Verdict{Seq: 41}) }, nil,
			"verdicts/run=r/part-0000000001.parquet: seq"},
		{"a byte flipped in the one part", nil, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "summary/run=r/part-0000000000.parquet"), func(b []byte) []byte { b[9] ^= 1; return b })
		}, "summary/run=r/part-0000000000.parquet: digest"},
		{"the one part gone", nil, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "examples/run=r/part-0000000000.parquet")))
		}, "examples/run=r/part-0000000000.parquet: file"},
		{"the one part not named", nil, manifested(func(m *journal.Manifest) { m.RunParts = m.RunParts[:1] }),
			"_runs/r: manifest"},
		{"the one part elsewhere", nil, manifested(func(m *journal.Manifest) {
			m.RunParts[0].Path = "summary/run=r/part-0000000001.parquet"
		}), "_runs/r: manifest"},
		{"summary", func(s *sink.Segment) error { return s.Summary.Write(schema.Count{Metric: "targets", Count: 1}) }, nil,
			"summary/run=r/part-0000000000.parquet: summary"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var dir string
			if row.plant == nil {
				dir = wholeRun(t, row.extra)
			} else {
				dir = t.TempDir()
				must(t, os.CopyFS(dir, good))
				row.plant(t, dir)
			}
			var got []string
			for _, p := range verified(t, dir).Problems {
				if p.Text == "" || strings.Contains(p.Text, "\n") {
					t.Errorf("text %q", p.Text)
				}
				got = append(got, p.Path+": "+p.Kind)
			}
			if diff := cmp.Diff(row.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRunsThatAreNotComplete(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(context.Background(), sinktest.Open(t, dir), "r", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such run: %v", err)
	}
	run, err := sink.Create(dir, described())
	must(t, err)
	if v := verified(t, dir); v.Complete || len(v.Problems) > 0 {
		t.Errorf("nothing committed: %+v", v)
	}
	commitSegment(t, run, 3)
	under, err := run.Segment(1)
	must(t, err)
	if v := verified(t, dir); v.Complete || len(v.Problems) > 0 || v.Segments != 1 || v.Parts != partsIn(3) {
		t.Errorf("segment 3 committed, 1 under way: %+v", v)
	}
	under.Abort()
	edit(t, filepath.Join(dir, "lines/run=r/part-0000000003.parquet"), func(b []byte) []byte { b[9] ^= 1; return b })
	if v := verified(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != "digest" {
		t.Errorf("a committed part is damaged: %+v", v)
	}
	must(t, run.Close())
	edit(t, filepath.Join(dir, "_runs/r/segments/0000000003.json"), func(b []byte) []byte { b[9] ^= 1; return b })
	if v := verified(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != "manifest" {
		t.Errorf("a record is damaged: %+v", v)
	}
}

// Until a run is complete, its segments have summaries of their own.
func TestTargetsOfASegmentAreCounted(t *testing.T) {
	for more, kind := range map[int64]string{1: "summary", -1: "value"} {
		dir := t.TempDir()
		run, err := sink.Create(dir, described())
		must(t, err)
		s, err := run.Segment(0)
		must(t, err)
		fill(t, s, 0)
		must(t, s.Summary.Write(schema.Count{Metric: "targets", Count: more}))
		must(t, s.Commit())
		v := verified(t, dir)
		if len(v.Problems) != 1 || v.Problems[0].Kind != kind ||
			v.Problems[0].Path != "_runs/r/segments/0000000000.summary.parquet" {
			t.Errorf("%d targets too many: %+v", more, v)
		}
		must(t, run.Close())
	}
}

func TestVerificationEndsWithItsContext(t *testing.T) {
	dir := wholeRun(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Run(ctx, sinktest.Open(t, dir), "r", func(parts, of int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled after the first segment: %v", err)
	}
}

// A comparison has its own record. A comparison in progress, or a killed one, is
// not damage.
func TestComparisonsAreVerified_NoRace(t *testing.T) {
	good := wholeRun(t, nil)
	m, err := journal.ReadManifest(sinktest.Open(t, good), "r")
	must(t, err)
	c, err := sink.CreateChanges(sinktest.Open(t, good), m, "a", "v1")
	must(t, err)
	must(t, c.Write(schema.Change{Host: "h", Kind: "text", Severity: "cosmetic", BeforeRun: new("a")}))
	broken, err := c.Expectations()
	must(t, err)
	broken.Write([]byte("expectation,host\n"))
	must(t, c.Commit())
	check, err := sink.CreateCheck(sinktest.Open(t, good), m)
	must(t, err)
	broken, err = check.Expectations()
	must(t, err)
	broken.Write([]byte("expectation,host,agent\n"))
	must(t, check.Commit())
	const folder, part, record = "changes/run=r/against=a/", "changes/run=r/against=a/part-0000000000.parquet",
		"_runs/r/against/a.json"
	content, err := os.ReadFile(filepath.Join(good, part))
	must(t, err)
	write := func(content []byte, names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
				must(t, os.WriteFile(filepath.Join(dir, name), content, 0o666))
			}
		}
	}
	remove := func(names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				must(t, os.Remove(filepath.Join(dir, name)))
			}
		}
	}
	for _, row := range []struct {
		name  string
		plant func(t *testing.T, dir string)
		want  string
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"under way, or killed", write(nil, folder+"part-0000000000.ABCDEFGH.parquet.tmp", folder+"lock",
			folder+"scratch.ABCDEFGH.tmp"), ""},
		{"killed while it was published", func(t *testing.T, dir string) {
			write(nil, folder+"lock")(t, dir)
			remove(record)(t, dir)
		}, ""},
		{"a check that is under way", func(t *testing.T, dir string) {
			write(nil, "_runs/r/lock", "_runs/r/expectations.ABCDEFGH.csv.tmp")(t, dir)
			remove("_runs/r/expectations.json")(t, dir)
		}, ""},
		{"cut short", write(content[:len(content)-9], part), part + ": file"},
		{"a byte flipped", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, part), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, part + ": digest"},
		{"another comparison's record", func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, record), filepath.Join(dir, "_runs/r/against/b.json")))
		}, "_runs/r/against/b.json: record, " + folder + "expectations.csv: record, " + part + ": record"},
		{"a record that is gone", remove(record), folder + "expectations.csv: record, " + part + ": record"},
		{"a byte flipped in the record", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, record), func(b []byte) []byte { b[30] ^= 1; return b })
		}, record + ": record"},
		{"a record of another run of this name", func(t *testing.T, dir string) {
			patch(t, dir, func(m *journal.Manifest) { m.Skipped = map[string]int64{"x": 1} })
		}, record + ": record, _runs/r/expectations.json: record"},
		{"a comparison of another name", write(content, "changes/run=r/against=b/part-0000000000.parquet"),
			"changes/run=r/against=b/part-0000000000.parquet: record"},
		{"a folder in its place", func(t *testing.T, dir string) {
			remove(part)(t, dir)
			must(t, os.Mkdir(filepath.Join(dir, part), 0o777))
		}, part + ": file"},
		{"the part gone", remove(part), part + ": file"},
		{"expectations gone", remove(folder + "expectations.csv"), folder + "expectations.csv: file"},
		{"other expectations", write([]byte("expectation,hosT\n"), folder+"expectations.csv"), folder +
			"expectations.csv: digest"},
		{"expectations of the run gone", remove("_runs/r/expectations.csv"), "_runs/r/expectations.csv: file"},
		{"their record gone", remove("_runs/r/expectations.json"), "_runs/r/expectations.csv: record"},
		{"what is none of it", write(content, "changes/run=r/against=a/part-0000000001.parquet", "changes/run=r/x"),
			"changes/run=r/against=a/part-0000000001.parquet: extra, changes/run=r/x: extra"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(good)))
			row.plant(t, dir)
			var got []string
			for _, p := range verified(t, dir).Problems {
				got = append(got, p.Path+": "+p.Kind)
			}
			if diff := cmp.Diff(row.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// rejected.csv has a digest too.
func TestRejectedLinesAreVerified_NoRace(t *testing.T) {
	dir := t.TempDir()
	run, err := sink.Create(dir, described())
	must(t, err)
	f, err := run.Rejected()
	must(t, err)
	f.Write([]byte("line,text,reason,input\n"))
	commitSegment(t, run, 0)
	digest, err := f.Finish()
	must(t, err)
	totals, err := summary.SumUp(t.Context(), run)
	must(t, err)
	must(t, run.Complete(sink.Completion{Finished: time.Now(), Tally: journal.Tally{Targets: targetsOfSegment},
		Totals: totals, Inputs: described().Inputs, Rejected: &digest}))
	must(t, run.Close())
	if v := verified(t, dir); len(v.Problems) > 0 {
		t.Errorf("%+v", v.Problems)
	}
	edit(t, filepath.Join(dir, "_runs/r/rejected.csv"), func(b []byte) []byte { b[3] ^= 1; return b })
	if v := verified(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != "digest" ||
		v.Problems[0].Path != "_runs/r/rejected.csv" {
		t.Errorf("%+v", v.Problems)
	}
}

// A run that was re-evaluated from shards has each host in the shard of its domain.
func TestHostsOfShards(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		dir := t.TempDir()
		p := described()
		p.FromShards, p.Tables = 2, []string{"fetches"}
		run, err := sink.Create(dir, p)
		must(t, err)
		seq, hosts := int64(0), make(map[int][]string)
		for i := range 20 {
			host := fmt.Sprintf("h%d.example", i)
			shard := journal.ShardOf(host, host, 2)
			hosts[shard] = append(hosts[shard], host)
		}
		if wrong {
			hosts[1] = append(hosts[1], hosts[0][0])
		}
		for shard := range 2 {
			s, err := run.Segment(shard * journal.SegmentsPerVolume)
			must(t, err)
			for _, host := range hosts[shard] {
				seq++
				must(t, s.Fetches.Write(schema.Fetch{Seq: seq, Host: host, RegisteredDomain: &host}))
			}
			s.Targets = int64(len(hosts[shard]))
			must(t, s.Commit())
		}
		must(t, run.Complete(sink.Completion{Finished: time.Now(), Tally: journal.Tally{Targets: seq}, Inputs: p.Inputs}))
		must(t, run.Close())
		var got []string
		for _, p := range verified(t, dir).Problems {
			got = append(got, p.Path+": "+p.Kind+": "+p.Text)
		}
		var want []string
		if wrong {
			want = []string{fmt.Sprintf("fetches/run=r/part-0000100000.parquet: shard: row %d has a host of shard 0",
				len(hosts[1])-1)}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// The rows of a part follow those of the part of the same table before it.
func TestPartsOfATableFollowEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		table      string
		last, next int64
		order      bool // the next part begins out of order
	}{
		"in order":         {"verdicts", 3, 4, false},
		"the same target":  {"verdicts", 3, 3, false},
		"a target twice":   {"fetches", 3, 3, true},
		"falling":          {"policies", 3, 2, true},
		"of another table": {"", 3, 2, false},
	} {
		s := &segmentCheck{verifier: new(verifier)}
		first := s.check(journal.Part{Table: c.table})
		first.one(c.last, 0)
		first.row, first.seq = 1, c.last
		s.before = first
		table := c.table
		if table == "" {
			table = "rules"
		}
		// An empty part in between changes nothing.
		if c.table != "" {
			s.before = s.check(journal.Part{Table: table})
		}
		next := s.check(journal.Part{Table: table})
		next.one(c.next, 0)
		if (next.disordered.n > 0) != c.order {
			t.Errorf("%s: %+v", name, next.disordered)
		}
	}
}
