package publish

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
)

// A data set is somebody else's. Its checksums only say that it is whole: they are of
// its own making. So that nothing in it goes unjudged, its provenance must name all its
// runs, their manifests all its parts, and the parts must have the columns that the
// provenance says.

// checkContents checks the provenance against the names of the files of a data set.
func (p *Provenance) checkContents(folder string, names []string) error {
	bad := func(name, format string, args ...any) error {
		return fmt.Errorf("%s %w: %s", name, ErrDamaged, fmt.Sprintf(format, args...))
	}
	s, err := store.OpenFolder(folder)
	if err != nil {
		return err
	}
	defer s.Close()
	known := make(map[string]bool) // parts and manifests
	for _, r := range p.Runs {
		if r == nil {
			return bad(provenanceName, "a run is null")
		}
		if err := sink.CheckRunID(r.Run); err != nil {
			return bad(provenanceName, "%s", err)
		}
		manifest := layout.RunFile(r.Run, layout.ManifestName)
		if known[manifest] {
			return bad(provenanceName, "run %s comes twice", r.Run)
		}
		known[manifest] = true
		for _, of := range []struct{ is, want string }{{r.Agents, agentsName}, {r.URLSamples, urlsName}} {
			if want := layout.RunFile(r.Run, of.want); of.is != "" && (of.is != want || !slices.Contains(names, want)) {
				return bad(provenanceName, "%q is not %s of the data set", of.is, want)
			}
		}
		m, err := sink.ManifestIn(s, r.Run)
		if err != nil {
			return Unreadable(manifest, err)
		}
		for _, part := range slices.Concat(m.RunParts, m.Parts) {
			known[part.Path] = true
		}
	}
	for _, name := range names {
		isManifest := strings.HasPrefix(name, layout.Runs+"/") && path.Base(name) == layout.ManifestName
		isPart := path.Ext(name) == ".parquet" && !strings.HasPrefix(name, layout.Changes+"/")
		if (isManifest || isPart) && !known[name] {
			return misfit(fmt.Sprintf("%s is not of the data set: neither %s nor a manifest names it", name, provenanceName))
		}
	}
	return nil
}

// Unreadable wraps err, which reading name gave, in [ErrDamaged], unless it is not the
// fault of the data ([store.FaultOf]).
func Unreadable(name string, err error) error {
	if store.FaultOf(err) != store.OfData {
		return err
	}
	var part *scan.PartError
	if errors.As(err, &part) && part.Path == name {
		err = part.Err // the advice to check the data set is for other commands
	}
	return fmt.Errorf("%s %w: %w", name, ErrDamaged, err)
}

// checkColumns returns an error if a part has other columns than those that are
// compared.
func checkColumns(ctx context.Context, dir string, part sink.Part, want []string) (err error) {
	defer scan.Recovered(&err)
	f, err := scan.OpenPart(ctx, dir, part)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := parquet.OpenFile(f, part.Bytes)
	if err != nil {
		return err
	}
	if err := sink.CheckTypes(parquet.SchemaOf(reflect.New(rowTypes[part.Table]).Interface()), opened); err != nil {
		return err
	}
	// parquet-go reads the answers. If a column has fewer values than rows, it takes
	// those of another for them, and a number for the address of a text; arrow-go counts.
	if part.Table == "fetches" {
		whole, err := scan.Open(f)
		if err == nil {
			err = whole.Batches(ctx, scan.Selection{}, func(arrow.RecordBatch) error { return nil })
		}
		if err != nil {
			return err
		}
	}
	var has []string
	for _, column := range opened.Root().Columns() {
		has = append(has, column.Name())
	}
	if !slices.Equal(slices.Sorted(slices.Values(has)), slices.Sorted(slices.Values(want))) {
		return fmt.Errorf("its columns are not those that %s says", provenanceName)
	}
	return nil
}
