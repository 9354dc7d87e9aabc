package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/sink/internal/layout"
)

// forged appends to a text the digest that it would have as one of our files.
func forged(text []byte) []byte {
	content := append(bytes.TrimSuffix(bytes.Clone(text), []byte("\n}")), noSeal...)
	sum := sha256.Sum256(content)
	hex.Encode(content[len(content)-len(sealEnd)-2*sha256.Size:], sum[:])
	return content
}

// FuzzRecords checks that a plan, record or manifest with a valid digest, whatever
// it says, names no file but those that its run, tables and segments have, and that
// an accepted one encodes back to the same.
func FuzzRecords(f *testing.F) {
	s, plan := newFolder(f), described()
	must(f, plan.Prepare())
	planFile, planDigest, err := seal(&plan)
	must(f, err)
	record := recordOf(&plan, planDigest, 0, "")
	record.Note = []byte("1")
	manifest := NewManifest(plan, planDigest, []*Record{record})
	manifest.RejectedFile = &writtenParts
	complete(manifest)
	comparison := Comparison{Run: "r", Manifest: planDigest, Against: "a", Notes: []string{"x"},
		Expectations: &writtenParts}
	comparison.Part = &Part{layout.Changes, 0, comparison.PartPath(), 4, writtenParts}
	for _, object := range []any{plan, record, manifest, comparison} {
		content, _, err := seal(object)
		must(f, err)
		f.Add(append(bytes.TrimSuffix(content, content[len(content)-len(noSeal):]), "\n}"...))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("[")) > 1000 || bytes.Count(text, []byte("{")) > 1000 {
			t.Skip("indented by its depth, it would be larger than a file may be")
		}
		content := forged(text)
		named := func(p Part, want string) {
			if p.Path != want || !filepath.IsLocal(p.Path) {
				t.Fatalf("%q is named as %q", p.Path, want)
			}
		}
		again := func(object any, read func() error) {
			content, _, err := seal(object)
			if err != nil {
				t.Fatal(err)
			}
			s.write(t, "_runs/r/plan.json", content)
			s.write(t, "_runs/r/manifest.json", content)
			s.write(t, "_runs/r/segments/0000000000.json", content)
			s.write(t, "_runs/r/against/a.json", content)
			if err := read(); err != nil {
				t.Fatalf("%s\nis accepted and becomes\n%s\nwhich is not: %v", text, content, err)
			}
		}
		s.write(t, "_runs/r/plan.json", content)
		if p, _, err := ReadPlan(s, "r"); err == nil {
			again(p, func() error { _, _, err := ReadPlan(s, "r"); return err })
		} else if !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		s.write(t, "_runs/r/plan.json", planFile)
		s.write(t, "_runs/r/segments/0000000000.json", content)
		if r, err := ReadRecord(s, &plan, planDigest, 0); err == nil {
			for _, p := range r.Parts {
				named(p, layout.SegmentPart(p.Table, "r", 0, ""))
			}
			again(r, func() error { _, err := ReadRecord(s, &plan, planDigest, 0); return err })
		} else if !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		s.write(t, "_runs/r/manifest.json", content)
		if m, err := ReadComplete(s, "r"); err == nil {
			for _, p := range m.Parts {
				if checkTables(m.Tables) == nil {
					named(p, layout.Part(p.Table, "r", p.Segment, ""))
				}
			}
			if head, err := readHead(s, "r"); err == nil && head.digest != m.digest {
				t.Fatalf("digest %s, and %s of the head", m.digest, head.digest)
			}
			again(m, func() error { _, err := ReadComplete(s, "r"); return err })
		} else if !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		s.write(t, "_runs/r/against/a.json", content)
		if c, err := readComparison(s, "r", "a"); err == nil {
			named(*c.Part, "changes/run=r/against=a/part-0000000000.parquet")
			again(c, func() error { _, err := readComparison(s, "r", "a"); return err })
		} else if !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}
