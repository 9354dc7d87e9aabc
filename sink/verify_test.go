package sink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

func verify(t *testing.T, dir string) *Verification {
	t.Helper()
	v, err := Verify(context.Background(), dir, "r", func(int, int) {})
	must(t, err)
	return v
}

// wholeRun makes a complete run of three segments, with extra rows in segment 1.
func wholeRun(t *testing.T, extra func(s *Segment) error) string {
	t.Helper()
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	for index := range 3 {
		s, err := run.Segment(index)
		must(t, err)
		must(t, fill(s, index))
		if index == 1 && extra != nil {
			must(t, extra(s))
		}
		must(t, s.Commit())
	}
	must(t, run.SumUp(context.Background()))
	must(t, run.Complete(time.Now(), Tally{Targets: run.Rows()["fetches"]}, nil))
	return dir
}

// part finds a part in the manifest.
func (m *Manifest) part(path string) *Part {
	for i := range m.Parts {
		if m.Parts[i].Path == path {
			return &m.Parts[i]
		}
	}
	return nil
}

// replacePart puts content in a part's place and names it in the manifest.
func replacePart(t *testing.T, dir, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, path), content, 0o666))
	patch(t, dir, func(m *Manifest) {
		sum := sha256.Sum256(content)
		m.part(path).Bytes, m.part(path).SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
	})
}

func edit(t *testing.T, path string, change func(content []byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, change(content), 0o666))
}

func TestVerifyFindsNothingInAGoodRun(t *testing.T) {
	dir := wholeRun(t, nil)
	must(t, os.WriteFile(filepath.Join(dir, "_runs/r/rejected.csv"), nil, 0o666))
	must(t, os.WriteFile(filepath.Join(dir, "_runs/r/lock"), nil, 0o600)) // of a process that was killed
	var read, parts int
	v, err := Verify(context.Background(), dir, "r", func(n, of int) { read, parts = n, of })
	must(t, err)
	if len(v.Problems) > 0 || !v.Complete || v.Segments != 3 || v.Parts != partsIn(0, 1, 2) || v.Rows == 0 || v.Bytes == 0 {
		t.Errorf("%+v", v)
	}
	if read != v.Parts || parts != v.Parts {
		t.Errorf("progress ends with %d of %d", read, parts)
	}
}

func TestVerifyFindsPlantedDamage(t *testing.T) {
	const rules = "rules/run=r/part-000001.parquet"
	const manifest = "_runs/r/manifest.json"
	file := func(change func(content []byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { edit(t, filepath.Join(dir, rules), change) }
	}
	manifested := func(change func(m *Manifest)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { patch(t, dir, change) }
	}
	good := os.DirFS(wholeRun(t, nil))
	for _, row := range []struct {
		name  string
		extra func(s *Segment) error
		plant func(t *testing.T, dir string)
		want  string // path: kind, of each
	}{
		{"a byte flipped in a page", nil, file(func(b []byte) []byte { b[100] ^= 1; return b }), rules + ": digest"},
		{"a byte flipped in the footer", nil, file(func(b []byte) []byte { b[len(b)-20] ^= 1; return b }), rules + ": digest"},
		{"cut short", nil, file(func(b []byte) []byte { return b[:len(b)-1] }), rules + ": file"},
		{"empty", nil, file(func(b []byte) []byte { return nil }), rules + ": file"},
		{"deleted", nil, func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, rules))) }, rules + ": file"},
		{"a folder in its place", nil, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, rules)))
			must(t, os.Mkdir(filepath.Join(dir, rules), 0o777))
		}, rules + ": file"},
		{"fetches gone: no orphans", nil, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "fetches/run=r/part-000001.parquet")))
		}, "fetches/run=r/part-000001.parquet: file"},
		{"extra files", nil, func(t *testing.T, dir string) {
			for _, name := range []string{"rules/run=r/part-000003.parquet", "rules/run=r/part-000001.parquet.tmp", "lines/run=r/x", "_runs/r/bodies.tmp"} {
				must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
			}
		}, "_runs/r/bodies.tmp: extra, lines/run=r/x: extra, rules/run=r/part-000001.parquet.tmp: extra, rules/run=r/part-000003.parquet: extra"},
		{"rows in the manifest", nil, manifested(func(m *Manifest) { m.part(rules).Rows++ }), rules + ": rows"},
		{"targets in the manifest", nil, manifested(func(m *Manifest) { m.Targets-- }), manifest + ": rows"},
		{"manifest of another run", nil, manifested(func(m *Manifest) { m.Run = "x" }), manifest + ": manifest"},
		{"a segment missing in the manifest", nil, manifested(func(m *Manifest) {
			m.Parts = slices.Delete(m.Parts, partsIn(0), partsIn(0, 1))
			m.Targets -= targetsOfSegment
		}), manifest + ": numbering, _runs/r/summary.parquet: totals" + strings.Repeat(", X/run=r/part-000001.parquet: extra", partsIn(1))},
		{"a part missing in the manifest", nil, manifested(func(m *Manifest) {
			m.Parts = append(m.Parts[:2:2], m.Parts[3:]...)
		}), manifest + ": numbering, rules/run=r/part-000000.parquet: extra"},
		{"a part named twice", nil, manifested(func(m *Manifest) { m.Parts = append([]Part{m.Parts[0]}, m.Parts...) }), manifest + ": manifest"},
		{"a path elsewhere", nil, manifested(func(m *Manifest) { m.part(rules).Path = "../../etc/passwd" }),
			manifest + ": manifest, " + manifest + ": numbering, " + rules + ": extra"},
		{"no parts", nil, manifested(func(m *Manifest) { m.Parts, m.Targets = nil, 0 }),
			"_runs/r/examples.parquet: totals, " + manifest + ": numbering, _runs/r/summary.parquet: totals" + ", X/run=r/part-000000.parquet: extra" + // agents
				strings.Repeat(", X/run=r/part-000000.parquet: extra, X/run=r/part-000001.parquet: extra, X/run=r/part-000002.parquet: extra", partsIn(1))},
		{"agents missing in the manifest", nil, manifested(func(m *Manifest) {
			m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool { return p.Table == "agents" })
		}), manifest + ": numbering, agents/run=r/part-000000.parquet: extra"},
		{"agents twice", nil, func(t *testing.T, dir string) {
			patch(t, dir, func(m *Manifest) {
				second := *m.part("agents/run=r/part-000000.parquet")
				content, err := os.ReadFile(filepath.Join(dir, second.Path))
				must(t, err)
				second.Segment, second.Path = 1, "agents/run=r/part-000001.parquet"
				must(t, os.WriteFile(filepath.Join(dir, second.Path), content, 0o666))
				m.Parts = slices.Insert(m.Parts, partsIn(0), second)
			})
		}, manifest + ": manifest"},
		{"manifest cut short", nil, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, manifest), func(b []byte) []byte { return b[:len(b)/2] })
		}, "_runs/r: manifest"},
		{"no Parquet", nil, func(t *testing.T, dir string) { replacePart(t, dir, rules, []byte("PAR1 no such thing PAR1")) }, rules + ": parquet"},
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
			run, err := Create(dir, m)
			must(t, err)
			commitSegment(t, run, 1)
			must(t, run.Close())
			content, err := os.ReadFile(filepath.Join(dir, "rules/run=other/part-000001.parquet"))
			must(t, err)
			replacePart(t, dir, rules, content)
		}, rules + ": schema"},
		{"a part of another table", nil, func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, "sitemaps/run=r/part-000001.parquet"))
			must(t, err)
			replacePart(t, dir, rules, content)
		}, rules + ": rows, " + rules + ": schema"},
		{"a column of another type", nil, func(t *testing.T, dir string) {
			var out bytes.Buffer
			must(t, parquet.Write(&out, []struct {
				ContentDigest string `parquet:"content_digest,dict"`
				Body          string `parquet:"body"`
			}{}, parquet.KeyValueMetadata(metadataRun, "r"), parquet.KeyValueMetadata(metadataSchema, strconv.Itoa(SchemaVersion))))
			replacePart(t, dir, "bodies/run=r/part-000001.parquet", out.Bytes())
		}, "bodies/run=r/part-000001.parquet: rows, bodies/run=r/part-000001.parquet: schema"},
		{"a part of another segment", nil, func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, "rules/run=r/part-000002.parquet"))
			must(t, err)
			replacePart(t, dir, rules, content)
		}, rules + ": seq"},
		{"a segment twice", nil, func(t *testing.T, dir string) {
			for _, table := range TableNames {
				if !hasPart(table, 1) {
					continue
				}
				content, err := os.ReadFile(filepath.Join(dir, table, "run=r/part-000002.parquet"))
				must(t, err)
				replacePart(t, dir, table+"/run=r/part-000001.parquet", content)
			}
		}, "fetches/run=r/part-000002.parquet: order"},
		{"swapped order", func(s *Segment) error { return s.Policies.Write(Policy{Seq: 40}, Policy{Seq: 39}) }, nil, "policies/run=r/part-000001.parquet: order"},
		{"swapped lines", func(s *Segment) error { return s.Rules.Write(Rule{Seq: 40, Line: 3}) }, nil, rules + ": order"},
		{"a group twice", func(s *Segment) error { return s.Groups.Write(Group{Seq: 40, GroupIndex: 1}) }, nil, "groups/run=r/part-000001.parquet: order"},
		{"a target twice", func(s *Segment) error { return s.Fetches.Write(Fetch{Seq: 40}) }, nil,
			"fetches/run=r/part-000001.parquet: order, summary/run=r/part-000001.parquet: summary"},
		{"a target of another segment", func(s *Segment) error { return s.Fetches.Write(Fetch{Seq: 41}) }, nil,
			"fetches/run=r/part-000002.parquet: order, summary/run=r/part-000001.parquet: summary"},
		{"orphan seq", func(s *Segment) error { return s.Verdicts.Write(Verdict{Seq: 41}) }, nil, "verdicts/run=r/part-000001.parquet: seq"},
		{"a byte flipped in the totals", nil, func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "_runs/r/summary.parquet"), func(b []byte) []byte { b[9] ^= 1; return b })
		}, "_runs/r/summary.parquet: digest"},
		{"totals gone", nil, func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "_runs/r/examples.parquet"))) }, "_runs/r/examples.parquet: file"},
		{"totals of a part", nil, func(t *testing.T, dir string) {
			m, err := ReadManifest(dir, "r")
			must(t, err)
			for i, table := range []string{"summary", "examples"} {
				part := m.part(table + "/run=r/part-000002.parquet")
				content, err := os.ReadFile(filepath.Join(dir, part.Path))
				must(t, err)
				must(t, os.WriteFile(filepath.Join(dir, "_runs/r", table+".parquet"), content, 0o666))
				patch(t, dir, func(m *Manifest) {
					m.Totals[i].Rows, m.Totals[i].Bytes, m.Totals[i].SHA256 = part.Rows, part.Bytes, part.SHA256
				})
			}
		}, "_runs/r/examples.parquet: totals, _runs/r/summary.parquet: totals"},
		{"totals elsewhere", nil, manifested(func(m *Manifest) { m.Totals[0].Path = "summary/run=r/part-000000.parquet" }),
			manifest + ": manifest, _runs/r/summary.parquet: extra"},
		{"totals of another table", nil, manifested(func(m *Manifest) { m.Totals[0].Table, m.Totals[0].Path = "lines", "_runs/r/lines.parquet" }),
			"_runs/r/lines.parquet: file, _runs/r/summary.parquet: extra"},
		{"summary", func(s *Segment) error { return s.Summary.Write(Count{Metric: "targets", Count: 1}) }, nil, "summary/run=r/part-000001.parquet: summary"},
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
			for _, p := range verify(t, dir).Problems {
				path := p.Path
				if strings.Contains(row.want, "X/") && p.Kind == badExtra {
					path = "X" + path[strings.Index(path, "/"):]
				}
				got = append(got, path+": "+p.Kind)
				if p.Text == "" || strings.Contains(p.Text, "\n") {
					t.Errorf("text %q", p.Text)
				}
			}
			if diff := cmp.Diff(row.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVerifyOfWhatIsNotComplete(t *testing.T) {
	dir := t.TempDir()
	if _, err := Verify(context.Background(), dir, "r", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such run: %v", err)
	}
	run, err := Create(dir, described())
	must(t, err)
	if v := verify(t, dir); v.Complete || len(v.Problems) > 0 {
		t.Errorf("nothing committed: %+v", v)
	}
	commitSegment(t, run, 3)
	under, err := run.Segment(1)
	must(t, err)
	if v := verify(t, dir); v.Complete || len(v.Problems) > 0 || v.Segments != 1 || v.Parts != partsIn(3) {
		t.Errorf("segment 3 committed, 1 under way: %+v", v)
	}
	under.Abort()
	edit(t, filepath.Join(dir, "lines/run=r/part-000003.parquet"), func(b []byte) []byte { b[9] ^= 1; return b })
	if v := verify(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != badDigest {
		t.Errorf("a committed part is damaged: %+v", v)
	}
	must(t, run.Close())
	must(t, os.Remove(filepath.Join(dir, "_runs/r/segments.jsonl")))
	if v := verify(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != badManifest {
		t.Errorf("the journal is gone: %+v", v)
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	dir := wholeRun(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Verify(ctx, dir, "r", func(parts, of int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled after the first segment: %v", err)
	}
}

// A comparison is in no manifest: its part must be one, of these two runs. What
// is under way, or was killed, is no damage.
func TestVerifyReadsComparisons(t *testing.T) {
	good := wholeRun(t, nil)
	c, err := CreateChanges(good, &Manifest{Run: "r"}, "a", "v1")
	must(t, err)
	must(t, c.Write(Change{Host: "h", Kind: "text", Severity: "cosmetic"}))
	must(t, c.Commit())
	const part = "changes/run=r/against=a/part-000000.parquet"
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
	for _, row := range []struct {
		name  string
		plant func(t *testing.T, dir string)
		want  string
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"under way, or killed", write(nil, part+".tmp", "changes/run=r/against=a/lock", "changes/run=r/against=a/sort-1.tmp",
			"changes/run=r/against=a/expectations-12.tmp", "changes/run=r/against=a/expectations.csv", "_runs/r/expectations-12.tmp", "_runs/r/expectations.csv"), ""},
		{"cut short", write(content[:len(content)-9], part), part + ": parquet"},
		{"no Parquet", write([]byte("PAR1 no such thing PAR1"), part), part + ": parquet"},
		{"pages that cannot be decoded", write(append(bytes.Repeat([]byte{0xa5}, len(content)/4), content[len(content)/4:]...), part), part + ": parquet"},
		{"against another run", write(content, "changes/run=r/against=b/part-000000.parquet"), "changes/run=r/against=b/part-000000.parquet: schema"},
		{"of another table", func(t *testing.T, dir string) {
			other, err := os.ReadFile(filepath.Join(dir, "sitemaps/run=r/part-000000.parquet"))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, part), other, 0o666))
		}, part + ": schema, " + part + ": schema"},
		{"a folder in its place", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, part)))
			must(t, os.Mkdir(filepath.Join(dir, part), 0o777))
		}, part + ": file"},
		{"what is none of it", write(content, "changes/run=r/against=a/part-000001.parquet", "changes/run=r/x"),
			"changes/run=r/against=a/part-000001.parquet: extra, changes/run=r/x: extra"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(good)))
			row.plant(t, dir)
			var got []string
			for _, p := range verify(t, dir).Problems {
				got = append(got, p.Path+": "+p.Kind)
			}
			if diff := cmp.Diff(row.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
