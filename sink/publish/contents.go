package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/store"
)

// A data set is somebody else's. Its checksums only say that it is whole: they are of
// its own making. So that nothing in it goes unjudged, its provenance must name all its
// runs, their manifests all its parts, and the parts must have the columns that the
// provenance says, and the rows that the manifests say.

// checkContents checks the provenance against the files of a data set, and reads the
// manifests.
func (d *Set) checkContents(ctx context.Context) error {
	bad := func(name, format string, args ...any) error {
		return fmt.Errorf("%s %w: %s", name, ErrDamaged, fmt.Sprintf(format, args...))
	}
	known := make(map[string]bool) // parts and manifests
	var parts []heldPart
	for _, r := range d.provenance.Runs {
		if r == nil {
			return bad(provenanceName, "a run is null")
		}
		if err := journal.CheckRunID(r.Run); err != nil {
			return bad(provenanceName, "%s", err)
		}
		manifest := layout.RunFile(r.Run, layout.ManifestName)
		if known[manifest] {
			return bad(provenanceName, "run %s comes twice", r.Run)
		}
		known[manifest] = true
		for _, in := range []journal.Input{
			{Role: "agents"}, {Role: "urls"}, {Role: "uses"}, {Role: "templates"},
			{Role: "templates", Path: "built-in templates.yaml"},
		} {
			if want, at := r.fileOf(in); *at != "" && (*at != want || !d.has(want)) {
				return bad(provenanceName, "%q is not %s of the data set", *at, want)
			}
		}
		m, err := journal.ReadManifest(d.in, r.Run)
		if err == nil && !m.Complete() {
			err = errors.New("is missing")
		}
		if err != nil {
			return unreadable(manifest, err)
		}
		for _, part := range slices.Concat(m.RunParts, m.Parts) {
			known[part.Path] = true
			parts = append(parts, heldPart{part, m, ""})
		}
		compared, err := journal.ComparedWith(d.in, r.Run)
		if err != nil {
			return err
		}
		for _, against := range compared {
			c, err := journal.ReadComparison(d.in, r.Run, against)
			if err != nil {
				return unreadable(layout.ComparisonRecord(r.Run, against), err)
			}
			known[c.Part.Path] = true
			parts = append(parts, heldPart{*c.Part, m, against})
		}
		d.runs = append(d.runs, m)
	}
	for _, f := range d.files {
		isManifest := strings.HasPrefix(f.Name, layout.Runs+"/") && path.Base(f.Name) == layout.ManifestName
		if (isManifest || f.Table != "") && !known[f.Name] {
			return misfit(fmt.Sprintf(
				"%s is not of the data set: neither %s nor a manifest names it", f.Name,
				provenanceName,
			))
		}
	}
	if chosen, err := choose(d.runs, nil, d.HostsHashed); err != nil {
		return bad(provenanceName, "its runs have no tables: %v", err)
	} else if !slices.Equal(d.Without, chosen.names()) {
		return bad(provenanceName, "the columns that it says are left out are not those that the manifests say")
	}
	return d.checkFooters(ctx, parts)
}

// has reports whether the data set has a file.
func (d *Set) has(name string) bool {
	return slices.ContainsFunc(d.files, func(f dataFile) bool { return f.Name == name })
}

// heldPart is a part of a run, or of its comparison with an earlier one.
type heldPart struct {
	journal.Part
	run     *journal.Manifest
	against string
}

// checkFooters checks that parts have the size and rows that are said of them, and belong
// to their run.
func (d *Set) checkFooters(ctx context.Context, parts []heldPart) error {
	digests := make(map[string]store.Digest)
	for _, f := range d.files {
		digests[f.Name] = f.Digest
	}
	return atOnce(ctx, len(parts), func(_ context.Context, i int) error {
		part := parts[i]
		if digest, ok := digests[part.Path]; !ok || digest != part.Digest {
			return fmt.Errorf("%s %w: it is not what its manifest names", part.Path, ErrDamaged)
		}
		if err := part.checkFooter(d.in); err != nil {
			return unreadable(part.Path, err)
		}
		return nil
	})
}

func (p *heldPart) checkFooter(s store.Store) error {
	f, err := s.Open(p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := rowio.Open(f, p.Bytes)
	if err == nil {
		err = opened.CheckPages()
	}
	if err != nil {
		return err
	}
	if n := opened.Rows(); n != p.Rows {
		return fmt.Errorf("it has %d rows, and its manifest says %d", n, p.Rows)
	}
	want := map[string]string{
		layout.KeyRun: p.run.Run, layout.KeySchema: strconv.Itoa(p.run.SchemaVersion),
		layout.KeyConfiguration: p.run.ConfigurationDigest,
	}
	if p.against != "" {
		want[layout.KeyAgainst] = p.against
	} else {
		want[layout.KeyProfile] = strings.Join(p.run.Profiles, ",")
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got := opened.Metadata(key); got == nil || *got != want[key] {
			return fmt.Errorf("its metadata do not say that %s is %s", key, want[key])
		}
	}
	return nil
}

// unreadable wraps err, which reading name gave, in [ErrDamaged], unless it is not the
// fault of the data ([store.FaultOf]).
func unreadable(name string, err error) error {
	if store.FaultOf(err) != store.OfData {
		return err
	}
	if part, ok := errors.AsType[*rowio.PartError](err); ok && part.Path == name {
		err = part.Err // the advice to check the data set is for other commands
	}
	return fmt.Errorf("%s %w: %w", name, ErrDamaged, err)
}

// checkColumns returns an error if a part has other columns than those that are
// compared, or of other types than the rows.
func checkColumns(f *rowio.File, row reflect.Type, want []string) error {
	if !slices.Equal(slices.Sorted(slices.Values(f.Columns())), slices.Sorted(slices.Values(want))) {
		return fmt.Errorf("its columns are not those that %s says", provenanceName)
	}
	return f.Fits(row, want)
}
