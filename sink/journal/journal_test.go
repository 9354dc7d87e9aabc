package journal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// described returns a plan.
func described() Plan {
	return Plan{
		Run: "r", ToolVersion: "v0", Tables: schema.TableNames, Profiles: []string{"google"},
		Started:       time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC),
		Configuration: Values{"retries": 2, "schemes": []string{"https", "http"}, "hosts": "hosts.csv"},
		Inputs: []Input{
			{Role: "hosts", Path: "hosts.csv", SHA256: strings.Repeat("ab", 32)},
			{Role: "agents", Path: "agents.yaml", SHA256: strings.Repeat("cd", 32)},
			{Role: "configuration", Path: "c.yaml", SHA256: strings.Repeat("ef", 32)},
		},
	}
}

const targetsOfSegment = 3

// writtenParts are the bytes of every part, which no test here reads.
var writtenParts = store.Digest{Bytes: 7, SHA256: strings.Repeat("01", 32)}

// recordOf returns the record of a segment, or of an attempt at a shard ("" for none).
func recordOf(p *Plan, digest string, segment int, attempt string) *Record {
	r := &Record{Run: p.Run, Plan: digest, Segment: segment, Targets: targetsOfSegment}
	if attempt != "" {
		r.Shard = &ShardRecord{Attempt: attempt}
	}
	for _, table := range p.Tables {
		if layout.HasPart(table, segment) {
			r.Parts = append(r.Parts, Part{table, segment, layout.SegmentPart(table, p.Run, segment, attempt), targetsOfSegment,
				writtenParts})
		}
	}
	return r
}

// folder is an output folder without parts.
type folder struct {
	store.Store
	dir string
}

func newFolder(t testing.TB) folder {
	t.Helper()
	dir := t.TempDir()
	return folder{sinktest.Open(t, dir), dir}
}

// write writes a file, in place of another.
func (f folder) write(t testing.TB, name string, content []byte) {
	t.Helper()
	name = filepath.Join(f.dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(name), 0o777))
	must(t, os.WriteFile(name, content, 0o666))
}

// begin writes a plan and the records of some segments, and returns the digest of the
// plan.
func (f folder) begin(t testing.TB, p *Plan, segments ...int) string {
	t.Helper()
	must(t, p.Prepare())
	must(t, f.MakeFolder(layout.Records(p.Run)))
	won, digest, err := PutPlan(f, p)
	must(t, err)
	if !won {
		t.Fatalf("there is a plan of %s", p.Run)
	}
	attempt := ""
	if p.Shards > 1 {
		attempt = "a"
	}
	for _, segment := range segments {
		won, err := PutRecord(f, recordOf(p, digest, segment, attempt))
		must(t, err)
		if !won {
			t.Fatalf("there is a record of segment %d", segment)
		}
	}
	return digest
}

// finish writes the manifest of a run that was begun.
func (f folder) finish(t testing.TB, run string, counts ...schema.Count) *Manifest {
	t.Helper()
	m, _, err := ReadCommitted(f, run)
	must(t, err)
	complete(m, counts...)
	must(t, PutManifest(f, m))
	return m
}

// complete makes the manifest of an incomplete run that of a complete one.
func complete(m *Manifest, counts ...schema.Count) {
	m.Finish(m.Started.Add(time.Hour), m.Inputs, counts)
	parts := m.Parts
	m.Parts, m.RunParts = []Part{}, nil
	for _, p := range parts {
		if !layout.OfRun[p.Table] {
			m.Parts = append(m.Parts, p)
		}
	}
	for _, table := range m.Tables {
		if layout.OfRun[table] {
			m.RunParts = append(m.RunParts, Part{table, 0, layout.Part(table, m.Run, 0, ""), 1, writtenParts})
		}
	}
}

// clone returns a copy that shares nothing with its original.
func clone[T any](t testing.TB, object *T) *T {
	t.Helper()
	text, err := json.Marshal(object)
	must(t, err)
	out := new(T)
	must(t, json.Unmarshal(text, out))
	return out
}

// change seals and writes a document as it is after a change.
func change[T any](t testing.TB, f folder, name string, of *T, change func(*T)) {
	t.Helper()
	of = clone(t, of)
	change(of)
	content, _ := sinktest.Sealed(t, of)
	f.write(t, name, content)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
