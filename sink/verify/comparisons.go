package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// comparisons verifies the comparisons of the run with earlier runs, and the check
// of its expectations.
func (v *verifier) comparisons(ctx context.Context, m *journal.Manifest) error {
	others := []string{""}
	for _, folder := range []struct{ name, before, after string }{
		{layout.ComparisonRecords(v.run), "", ".json"}, {layout.TableFolder(layout.Changes, v.run), layout.AgainstPrefix, ""},
	} {
		files, err := v.store.List(folder.name)
		if err != nil {
			if err := v.blame(folder.name, badFile, err); err != nil {
				return err
			}
		}
		for _, f := range files {
			id, is := strings.CutPrefix(f.Name(), folder.before)
			id, ends := strings.CutSuffix(id, folder.after)
			switch {
			case !is || !ends || journal.CheckRunID(id) != nil:
				v.add(path.Join(folder.name, f.Name()), badExtra, "is not a comparison")
			case !slices.Contains(others, id):
				others = append(others, id)
			}
		}
	}
	for _, against := range others {
		if err := v.annexed(ctx, m, against); err != nil {
			return err
		}
	}
	return nil
}

// annexed verifies a comparison. Changes that another process makes in the meantime
// are not a problem.
func (v *verifier) annexed(ctx context.Context, m *journal.Manifest, against string) error {
	folder := layout.ComparisonFolder(v.run, against)
	files, err := v.store.List(folder)
	if err != nil {
		return v.blame(folder, badFile, err)
	}
	locked := slices.ContainsFunc(files, func(f fs.DirEntry) bool { return f.Name() == store.LockName })
	record, err := journal.ReadComparison(v.store, v.run, against)
	if errors.Is(err, fs.ErrNotExist) {
		return v.unrecorded(ctx, against, files, locked)
	}
	before := len(v.Problems)
	if err != nil {
		if err := v.blame(layout.ComparisonRecord(v.run, against), badRecord, err); err != nil {
			return err
		}
	} else if err := v.recorded(ctx, m, record, files); err != nil {
		return err
	}
	if now, e := journal.ReadComparison(v.store, v.run, against); locked &&
		(!reflect.DeepEqual(record, now) || (e == nil) != (err == nil)) {
		v.Problems = v.Problems[:before]
	}
	return nil
}

// recorded verifies a comparison with a record.
func (v *verifier) recorded(ctx context.Context, m *journal.Manifest, record *journal.Comparison,
	files []fs.DirEntry) error {
	if record.Manifest != m.Digest() {
		v.add(layout.ComparisonRecord(v.run, record.Against), badRecord, "is about another run of this name")
	}
	var named []string
	if has := func(f fs.DirEntry) bool { return f.Name() == path.Base(record.Part.Path) }; record.Part != nil &&
		!slices.ContainsFunc(files, has) {
		// Its removal was interrupted, or a loss of power undid that of its record alone.
		v.add(record.Part.Path, badFile, "is missing; compare again, or prune the runs that it compares")
	} else if record.Part != nil {
		named = append(named, path.Base(record.Part.Path))
		c := &segmentCheck{verifier: v, since: []string{record.Against}}
		for _, e := range record.Earlier {
			c.since = append(c.since, e.Run)
		}
		if err := c.part(ctx, *record.Part, map[string]string{layout.KeyAgainst: record.Against}); err != nil {
			return err
		}
	}
	if record.Expectations != nil {
		named = append(named, layout.ExpectationsName)
		if err := v.contents(ctx, path.Join(layout.ComparisonFolder(record.Run, record.Against), layout.ExpectationsName),
			*record.Expectations); err != nil {
			return err
		}
	}
	if record.Against == "" {
		return nil // the other files of the folder belong to the run
	}
	for _, f := range files {
		if name := f.Name(); !slices.Contains(named, name) && name != store.LockName && !store.IsTemporary(name) {
			v.add(path.Join(layout.ComparisonFolder(record.Run, record.Against), name), badExtra,
				"is not named by the record of the comparison")
		}
	}
	return nil
}

// unrecorded verifies the files of a comparison without a record, which is in
// progress or was interrupted during publication.
func (v *verifier) unrecorded(ctx context.Context, against string, files []fs.DirEntry, locked bool) error {
	folder := layout.ComparisonFolder(v.run, against)
	for _, f := range files {
		name := path.Join(folder, f.Name())
		switch {
		case against == "" && f.Name() != layout.ExpectationsName, f.Name() == store.LockName, locked &&
			store.IsTemporary(f.Name()):
		case locked && f.Name() == layout.PartName(0, ""):
			if err := v.comparison(ctx, name, against); err != nil {
				return err
			}
		case locked && f.Name() == layout.ExpectationsName:
		default:
			v.add(name, badRecord, fmt.Sprintf(
				"no record names it: %s is gone, or the comparison was interrupted; compare again",
				layout.ComparisonRecord(v.run, against)))
		}
	}
	return nil
}

// comparison decodes a part of changes that no record names yet.
func (v *verifier) comparison(ctx context.Context, name, against string) error {
	f, err := v.store.Open(name)
	if err != nil {
		return v.blame(name, badFile, err)
	}
	defer f.Close()
	p := journal.Part{Table: layout.Changes, Path: name, Rows: anyRows}
	_, err = v.decode(ctx, p, f, map[string]string{layout.KeyAgainst: against}, (&segmentCheck{verifier: v}).check(p))
	return err
}
