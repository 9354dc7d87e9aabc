package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// ErrDamaged reports a data set that differs from what was published.
var ErrDamaged = errors.New("is damaged")

// list lists the files that are written so far, sorted, with their digests. Those of
// the descriptions that list them follow.
func (p *publisher) list() (err error) {
	names, err := namesIn(p.Out.Path("."))
	if err == nil {
		p.Files, err = digests(p.ctx, p.Out.Path("."), names)
	}
	return err
}

// namesIn returns the names of the files in a folder, sorted.
func namesIn(folder string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type().IsRegular():
			names = append(names, name)
		case !entry.IsDir():
			return fmt.Errorf("%s %w: it is not a file", name, ErrDamaged)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// digests reads files, several at a time.
func digests(ctx context.Context, folder string, names []string) ([]dataFile, error) {
	files := make([]dataFile, len(names))
	err := atOnce(ctx, len(names), func(ctx context.Context, i int) error {
		name := names[i]
		digest, err := store.DigestOfFile(ctx, filepath.Join(folder, filepath.FromSlash(name)))
		files[i] = dataFile{Name: name, Digest: digest}
		if path.Ext(name) == ".parquet" {
			files[i].Table, _, _ = strings.Cut(name, "/")
		}
		return err
	})
	return files, err
}

// checksums returns checksums.sha256, for sha256sum -c.
func checksums(files []dataFile) []byte {
	slices.SortFunc(files, func(a, b dataFile) int { return cmp.Compare(a.Name, b.Name) })
	var out strings.Builder
	for _, f := range files {
		fmt.Fprintf(&out, "%s  %s\n", f.SHA256, f.Name)
	}
	return []byte(out.String())
}

// IsDataSet reports whether a folder has what [Write] writes last, and no other command.
func IsDataSet(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, checksumsName))
	return err == nil && info.Mode().IsRegular()
}

// misfit is the error of a data set that has a file too many or too few.
type misfit string

func (m misfit) Error() string { return string(m) }
func (m misfit) Unwrap() error { return ErrDamaged }

// Set is a data set whose files match its checksums.
type Set struct {
	*provenance
	in        store.Store
	runs      []*journal.Manifest
	files     []dataFile // all but that of the checksums
	sums, own []byte     // the files of checksums and provenance
}

// Manifests returns the manifests of the runs, in the order of the provenance.
func (d *Set) Manifests() []*journal.Manifest { return d.runs }

// Compared reports whether the data set has comparisons of a run with earlier ones.
func (d *Set) Compared(run string) bool {
	return slices.ContainsFunc(d.files, func(f dataFile) bool {
		return strings.HasPrefix(f.Name, layout.TableFolder(layout.Changes, run)+"/")
	})
}

// Check compares the files of a data set with its checksums, and reads its provenance
// and manifests. A file that differs, is missing or has no checksum, or a part that no
// manifest names, is [ErrDamaged].
func Check(ctx context.Context, in store.Store) (*Set, error) {
	d := &Set{provenance: new(provenance), in: in}
	folder := in.Path(".")
	var err error
	if d.sums, err = readDescription(in, checksumsName); err != nil {
		return nil, err
	}
	want := make(map[string]string)
	for line := range strings.Lines(string(d.sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || want[name] != "" || len(sum) != 2*sha256.Size {
			return nil, fmt.Errorf("%s %w: %q is not a checksum", checksumsName, ErrDamaged, line)
		}
		want[name] = sum
	}
	names, err := namesIn(folder)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == checksumsName })
	if d.files, err = digests(ctx, folder, names); err != nil {
		return nil, err
	}
	for _, f := range d.files {
		switch {
		case want[f.Name] == "":
			return nil, misfit(fmt.Sprintf("%s is not of the data set: %s has no checksum of it; remove it", f.Name,
				checksumsName))
		case want[f.Name] != f.SHA256:
			return nil, fmt.Errorf("%s %w: its SHA-256 is %.12s… and not %.12s…", f.Name, ErrDamaged, f.SHA256, want[f.Name])
		}
		delete(want, f.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		return nil, misfit(fmt.Sprintf("%s is missing, and %s names it", name, checksumsName))
	}
	if d.own, err = readDescription(in, provenanceName); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(d.own, d.provenance); err != nil {
		return nil, fmt.Errorf("%s %w: %w", provenanceName, ErrDamaged, err)
	}
	return d, d.checkContents(ctx)
}

func readDescription(s store.Store, name string) ([]byte, error) {
	text, err := s.Read(name, mostDescription)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w: it has no %s, or is not a data set of robocensus publish", s.Path("."), ErrDamaged,
			name)
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	return text, nil
}
