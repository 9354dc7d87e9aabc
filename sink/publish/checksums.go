package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/store"
)

// ErrDamaged reports a data set that differs from what was published.
var ErrDamaged = errors.New("is damaged")

// list lists the files that are written so far, sorted, with their digests. Those of
// the descriptions that list them follow.
func (p *publisher) list(folder string) error {
	p.files = nil
	err := walk(folder, func(name string) error {
		digest, err := digestOf(p.ctx, filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		f := file{name: name, Digest: digest}
		if path.Ext(name) == ".parquet" {
			f.table, _, _ = strings.Cut(name, "/")
		}
		p.files = append(p.files, f)
		return nil
	})
	return err
}

// walk calls f with the name of each file in a folder, sorted.
func walk(folder string, f func(name string) error) error {
	var names []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type().IsRegular():
			names = append(names, name)
		case !entry.IsDir():
			return fmt.Errorf("%s %w: it is no file", name, ErrDamaged)
		}
		return nil
	})
	slices.Sort(names)
	for _, name := range names {
		if err == nil {
			err = f(name)
		}
	}
	return err
}

func digestOf(ctx context.Context, name string) (d store.Digest, err error) {
	f, err := os.Open(name)
	if err != nil {
		return d, err
	}
	defer f.Close()
	sum := sha256.New()
	for err == nil && ctx.Err() == nil {
		var n int64
		n, err = io.CopyN(sum, f, 16<<20)
		d.Bytes += n
	}
	if err != nil && err != io.EOF {
		return d, err
	}
	d.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return d, ctx.Err()
}

// checksums returns checksums.sha256, for sha256sum -c.
func checksums(files []file) []byte {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var out strings.Builder
	for _, f := range files {
		fmt.Fprintf(&out, "%s  %s\n", f.SHA256, f.name)
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

// Check compares the files of a data set with its checksums, and returns its
// provenance. A file that differs, is missing or has no checksum, or that no manifest
// names, is [ErrDamaged].
func Check(ctx context.Context, folder string) (*Provenance, error) {
	text, err := readDescription(folder, checksumsName)
	if err != nil {
		return nil, err
	}
	want := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || want[name] != "" || len(sum) != 2*sha256.Size {
			return nil, fmt.Errorf("%s %w: %q is no checksum", checksumsName, ErrDamaged, line)
		}
		want[name] = sum
	}
	var names []string
	err = walk(folder, func(name string) error {
		if name == checksumsName {
			return nil
		}
		names = append(names, name)
		got, err := digestOf(ctx, filepath.Join(folder, filepath.FromSlash(name)))
		switch {
		case err != nil:
			return err
		case want[name] == "":
			return misfit(fmt.Sprintf("%s is not of the data set: %s has no checksum of it; remove it", name, checksumsName))
		case want[name] != got.SHA256:
			return fmt.Errorf("%s %w: its SHA-256 is %.12s… and not %.12s…", name, ErrDamaged, got.SHA256, want[name])
		}
		delete(want, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		return nil, misfit(fmt.Sprintf("%s is missing, and %s names it", name, checksumsName))
	}
	if text, err = readDescription(folder, provenanceName); err != nil {
		return nil, err
	}
	p := new(Provenance)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s %w: %w", provenanceName, ErrDamaged, err)
	}
	return p, p.checkContents(folder, names)
}

func readDescription(folder, name string) ([]byte, error) {
	s, err := store.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	text, err := s.Read(name, mostDescription)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w: it has no %s, or is no data set of robocensus publish", folder, ErrDamaged, name)
	}
	if err != nil {
		return nil, Unreadable(name, err)
	}
	return text, nil
}
