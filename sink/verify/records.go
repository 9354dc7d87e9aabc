package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// records checks the manifest of a complete run against the plan and the records of
// its segments. The manifest of an incomplete run is derived from them.
func (v *verifier) records(ctx context.Context, m *journal.Manifest) error {
	v.Segments = len(m.Records)
	if !m.Complete() {
		return nil
	}
	if err := v.plan(m); err != nil {
		return err
	}
	parts := make(map[int][]journal.Part)
	for _, p := range m.Parts {
		parts[p.Segment] = append(parts[p.Segment], p)
	}
	before, targets, known := -1, int64(0), true
	for _, name := range m.Records {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name.Segment <= before {
			v.add(layout.RunFile(v.run, layout.ManifestName), badNumbering, fmt.Sprintf("segment %d stands after segment %d",
				name.Segment, before))
		} else if text := layout.Gap(before, name.Segment); text != "" {
			v.add(layout.RunFile(v.run, layout.ManifestName), badNumbering, text)
		}
		before = max(before, name.Segment)
		record, err := v.record(m, name, parts[name.Segment])
		if err != nil {
			return err
		}
		delete(parts, name.Segment)
		if record == nil {
			known = false
			continue
		}
		targets += record.Targets
	}
	for segment := range parts {
		v.add(layout.RunFile(v.run, layout.ManifestName), badNumbering,
			fmt.Sprintf("names parts of segment %d, and no record of it", segment))
	}
	if known && targets != m.Targets {
		v.add(layout.RunFile(v.run, layout.ManifestName), badRows,
			fmt.Sprintf("says %d targets, and the records of its segments %d", m.Targets, targets))
	}
	if len(m.Records) == 0 && len(m.Tables) > 0 {
		v.add(layout.RunFile(v.run, layout.ManifestName), badNumbering, "no segment is named, and the run is complete")
	}
	return nil
}

// plan checks the manifest against the plan. The digest and rows of standard input
// may differ, and the size and tag of archives at https URLs, because they are known
// only at the end.
func (v *verifier) plan(m *journal.Manifest) error {
	name := layout.RunFile(v.run, layout.PlanName)
	plan, digest, err := journal.ReadPlan(v.store, v.run)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add(name, badFile, "is missing")
		return nil
	case err != nil:
		return v.blame(name, badManifest, err)
	case digest != m.PlanDigest:
		v.add(name, badManifest, "is not the plan that the manifest was made with")
		return nil
	}
	inputs := slices.Clone(m.Inputs)
	for i := range inputs {
		if inputs[i].IdentifiedWhenRead {
			inputs[i].Bytes, inputs[i].Tag = 0, ""
		}
		if i < len(plan.Inputs) && plan.Inputs[i].SHA256 == "" {
			inputs[i].SHA256, inputs[i].Rows = "", plan.Inputs[i].Rows
		}
	}
	said := m.Plan
	said.Inputs = inputs
	if !plan.Same(&said) {
		v.add(name, badManifest, "says something else than the manifest")
	}
	return nil
}

// record reads the record of a segment and checks it against the manifest. It
// returns nil if the record cannot be used.
func (v *verifier) record(m *journal.Manifest, name journal.RecordName, parts []journal.Part) (*journal.Record, error) {
	where := layout.Record(v.run, name.Segment)
	r, err := journal.ReadRecord(v.store, &m.Plan, m.PlanDigest, name.Segment)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add(where, badRecord, "is missing")
		return nil, nil
	case err != nil:
		return nil, v.blame(where, badRecord, err)
	case r.Digest() != name.SHA256:
		v.add(where, badRecord, fmt.Sprintf("is not the record that the manifest names, %.12s…", name.SHA256))
		return nil, nil
	}
	own := slices.DeleteFunc(slices.Clone(r.Parts), func(p journal.Part) bool { return layout.OfRun[p.Table] })
	if !slices.Equal(own, parts) {
		v.add(where, badRecord, "names other parts than the manifest")
	}
	if p := r.WARC; p != nil && m.WARCFile == nil && !slices.Contains(m.WARC, *p) {
		v.add(where, badRecord, "names another WARC file than the manifest")
	}
	replaced := slices.DeleteFunc(slices.Clone(r.Parts), func(p journal.Part) bool { return !layout.OfRun[p.Table] })
	if r.WARC != nil && m.WARCFile != nil {
		replaced = append(replaced, *r.WARC)
	}
	for _, p := range replaced {
		there, err := store.Exists(v.store, p.Path)
		if err != nil {
			if err := v.blame(p.Path, badFile, err); err != nil {
				return nil, err
			}
		}
		if there { // left by an interrupted completion, and harmless
			v.left = append(v.left, p)
		}
	}
	return r, nil
}

// rejected verifies rejected.csv of a complete run; before that it is incomplete.
func (v *verifier) rejected(ctx context.Context, m *journal.Manifest) error {
	if m.RejectedFile == nil {
		return nil
	}
	return v.contents(ctx, layout.RunFile(v.run, layout.RejectedName), *m.RejectedFile)
}

// warc verifies the WARC files in the folder of the run.
func (v *verifier) warc(ctx context.Context, m *journal.Manifest) error {
	v.WARCFile = m.WARCFile
	for _, p := range m.WARC {
		if err := v.contents(ctx, p.Path, p.Digest); err != nil {
			return err
		}
	}
	return nil
}

// remedy says what removes a file of a complete run that no record names, if it may have
// been left at the end, as after lost power, or returns "".
func (v *verifier) remedy(m *journal.Manifest, folder, name string) string {
	left := slices.ContainsFunc(layout.Leftovers(v.run, schema.TableNames),
		func(l layout.Leftover) bool { return l.Folder == folder && l.MayBe(name) })
	_, isFolder := v.store.(*store.Folder)
	switch {
	case !m.Complete() || !left && !slices.Contains(layout.LeftFolders(v.run), path.Join(folder, name)):
		return ""
	case m.Shards > 1:
		return "; it may be left of the end of the run: starting any shard again removes it"
	case isFolder:
		return "; it may be left of the end of the run: the command that made the run, with --resume, removes it"
	}
	return "; it may be left of the end of the run: the command that made the run removes it"
}

// unnamed looks for files in the run's folders that no record names. An incomplete
// run may have files that a writer is still writing or has left.
func (v *verifier) unnamed(ctx context.Context, m *journal.Manifest) error {
	named := make(map[string]bool)
	segments := make(map[int]bool)
	for _, p := range slices.Concat(m.RunParts, m.Parts, m.WARC) {
		named[p.Path] = true
	}
	for _, r := range m.Records {
		named[layout.Record(v.run, r.Segment)], segments[r.Segment] = true, true
	}
	for _, p := range v.left {
		f, err := store.OpenWritten(ctx, v.store, p.Path, p.Digest)
		if err == nil {
			named[p.Path] = true
			f.Close()
		} else if store.FaultOf(err) != store.OfData {
			return fmt.Errorf("verify %s: %w", p.Path, err)
		}
	}
	look := func(folder string, mayBe func(name string) bool) error {
		files, err := v.store.List(folder)
		if err != nil {
			return fmt.Errorf("look for other files: %w", err)
		}
		for _, f := range files {
			if name := path.Join(folder, f.Name()); !named[name] && !mayBe(f.Name()) {
				v.add(name, badExtra, "is not named by the manifest, nor by a record"+v.remedy(m, folder, f.Name()))
			}
		}
		return nil
	}
	for _, table := range schema.TableNames {
		if err := look(layout.TableFolder(table, v.run), func(name string) bool {
			// A segment that is not committed may have any files.
			var segment int
			fmt.Sscanf(name, "part-%d", &segment)
			return !v.Complete && layout.IsLeftover(name) && (store.IsTemporary(name) || layout.OfRun[table] ||
				!segments[segment])
		}); err != nil {
			return err
		}
	}
	if err := look(layout.Records(v.run), func(name string) bool {
		number := name[:strings.IndexAny(name+".", ".-")]
		segment, ok := layout.RecordNumber(number + ".json")
		rejected := strings.HasSuffix(name, ".rejected.csv") // of a shard
		return !v.Complete && (store.IsTemporary(name) || ok && (rejected || !segments[segment]))
	}); err != nil {
		return err
	}
	if err := look(layout.WARCFolder(v.run), func(name string) bool {
		segment, ok := layout.SegmentNumber(name[:strings.IndexAny(name+".", ".-")])
		return !v.Complete && (store.IsTemporary(name) || ok && !segments[segment])
	}); err != nil {
		return err
	}
	if !v.Complete {
		if err := look(layout.CapturesFolder(v.run),
			func(name string) bool { _, ok := layout.SegmentNumber(name); return ok }); err != nil {
			return err
		}
	}
	return look(layout.RunFile(v.run), func(name string) bool {
		switch name {
		case path.Base(layout.CapturesFolder(v.run)), path.Base(layout.Beats(v.run)), path.Base(layout.Lists(v.run)),
			layout.SpoolName:
			return !v.Complete
		case path.Base(layout.WARCFolder(v.run)):
			return !v.Complete || len(m.WARC) > 0 || m.WARCFile != nil // left by a kill at the very end
		case layout.PlanName, layout.ManifestName, store.LockName, path.Base(layout.Records(v.run)),
			path.Base(layout.ComparisonRecords(v.run)), layout.ExpectationsName, layout.ExpectationsRecordName:
			return true
		case layout.RejectedName:
			return !v.Complete || m.RejectedFile != nil
		}
		// Left by a kill at the very end, or part of a check in progress.
		stem, _, _ := strings.Cut(name, ".")
		return store.IsTemporary(name) &&
			(!v.Complete || slices.Contains([]string{"manifest", "expectations", "views"}, stem))
	})
}
