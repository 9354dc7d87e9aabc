package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Problem is one thing that is wrong with a run on disk.
type Problem struct {
	Path string // relative to the output folder, with slashes
	Kind string // what is wrong, in a word: one of those below
	Text string
}

// The kinds of problems: what they are called stays.
const (
	badManifest  = "manifest"  // damaged, or at odds with itself
	badNumbering = "numbering" // a segment is missing, or of other tables
	badFile      = "file"      // missing, not readable, or of another size
	badDigest    = "digest"    // other bytes than were written
	badParquet   = "parquet"   // cannot be decoded
	badSchema    = "schema"    // other columns, or metadata of another run
	badRows      = "rows"      // more or fewer than the manifest says
	badOrder     = "order"     // rows out of order, or a target counted twice
	badSeq       = "seq"       // a row of no target of its segment
	badSummary   = "summary"   // counts other targets than fetches holds
	badTotals    = "totals"    // not what the parts come to
	badExtra     = "extra"     // a file that the manifest does not name
)

// Verification is what [Verify] has found.
type Verification struct {
	Complete bool // else the run is under way or was interrupted
	Segments int
	Parts    int
	Rows     int64
	Bytes    int64
	Problems []Problem // by path
}

// Verify reads every part of a run below dir and holds it against the manifest
// and against the other parts of its segment, and the totals of the run against
// the parts. Of its comparisons with other runs, which no manifest names, it
// reads the parts. Where the run is not complete it verifies what is committed.
// What is wrong with the run is a [Problem] and stops nothing; the error is
// about reading itself, or there is no such run ([fs.ErrNotExist]). After each
// segment progress hears how many of how many parts are read.
func Verify(ctx context.Context, dir, run string, progress func(parts, of int)) (*Verification, error) {
	v := &verifier{dir: dir, run: run, progress: progress}
	m, err := ReadManifest(dir, run)
	if errors.Is(err, errDamaged) || errors.Is(err, errRemoving) {
		v.add(path.Join("_runs", run), badManifest, err.Error())
		return &v.Verification, nil
	}
	if err != nil {
		return nil, err
	}
	if m.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("run %s has tables of schema version %d, and this program knows version %d: verify it with robocensus %s", run, m.SchemaVersion, SchemaVersion, m.ToolVersion)
	}
	if v.layouts, err = layouts(); err != nil {
		return nil, err
	}
	v.Complete, v.Parts = m.State == stateComplete, len(m.Parts)
	for _, p := range m.Parts {
		v.Rows, v.Bytes = v.Rows+p.Rows, v.Bytes+p.Bytes
	}
	if m.Run != run {
		v.add(path.Join("_runs", run, manifestName), badManifest, fmt.Sprintf("is the manifest of run %q", m.Run))
	}
	segments := v.numbering(m)
	v.Segments = len(segments)
	if err := v.parts(ctx, m, segments); err != nil {
		return nil, err
	}
	if err := v.totals(ctx, m); err != nil {
		return nil, err
	}
	if err := v.unnamed(m); err != nil {
		return nil, err
	}
	if err := v.comparisons(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.Problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return &v.Verification, nil
}

// verifier gathers what several goroutines find.
type verifier struct {
	dir, run string
	progress func(parts, of int)
	layouts  map[string][]string

	mu   sync.Mutex
	read int // parts
	Verification
}

func (v *verifier) add(path, kind, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Problems = append(v.Problems, Problem{path, kind, text})
}

// numbering holds the manifest against itself, and gives the parts by segment,
// those left out that cannot be what they are called.
func (v *verifier) numbering(m *Manifest) [][]Part {
	where := path.Join("_runs", v.run, manifestName)
	bad := func(kind, format string, args ...any) { v.add(where, kind, fmt.Sprintf(format, args...)) }
	var segments [][]Part
	next := 0
	for parts := m.Parts; len(parts) > 0; {
		index, n := parts[0].Segment, 1
		for n < len(parts) && parts[n].Segment == index {
			n++
		}
		switch {
		case index < next:
			bad(badNumbering, "segment %d stands after segment %d", index, next-1)
		case index > next && index%SegmentsPerVolume != 0 && v.Complete:
			bad(badNumbering, "segments %d to %d are missing", next, index-1)
		}
		var good []Part
		var tables []string
		for _, p := range parts[:n] {
			// A path is not opened for its being written there.
			if p.Path != partPath(p.Table, v.run, index) || !slices.Contains(m.Tables, p.Table) || !hasPart(p.Table, index) {
				bad(badManifest, "names %q as a part of table %q and segment %d", p.Path, p.Table, index)
				continue
			}
			if slices.Contains(tables, p.Table) {
				bad(badManifest, "names %s twice", p.Path)
				continue
			}
			tables, good = append(tables, p.Table), append(good, p)
		}
		for _, table := range m.Tables {
			if hasPart(table, index) && !slices.Contains(tables, table) {
				bad(badNumbering, "segment %d has no part of table %s", index, table)
			}
		}
		segments = append(segments, good)
		next, parts = max(next, index+1), parts[n:]
	}
	if v.Complete && len(segments) == 0 && len(m.Tables) > 0 {
		bad(badNumbering, "no part is named, and the run is complete")
	}
	return segments
}

// parts verifies the parts, several segments at a time.
func (v *verifier) parts(ctx context.Context, m *Manifest, segments [][]Part) error {
	found := make([]segmentFacts, len(segments))
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, parts := range segments {
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			c := &segmentCheck{verifier: v}
			if err := c.segment(running, parts); err != nil {
				return err
			}
			found[i] = c.segmentFacts
			v.mu.Lock()
			defer v.mu.Unlock()
			v.read += len(parts)
			v.progress(v.read, v.Parts)
			return nil
		})
	}
	if err := cmp.Or(g.Wait(), ctx.Err()); err != nil {
		return err
	}
	targets, last, known, begun := int64(0), int64(0), true, false
	for _, f := range found {
		if !f.known {
			known = false
			continue
		}
		if targets += f.targets; f.targets == 0 {
			continue
		}
		if begun && f.first <= last {
			v.add(f.path, badOrder, fmt.Sprintf("begins with seq %d, and a segment before it ends with %d: targets are counted twice", f.first, last))
		}
		last, begun = max(last, f.last), true
	}
	if v.Complete && known && slices.Contains(m.Tables, "fetches") && targets != m.Targets {
		v.add(path.Join("_runs", v.run, manifestName), badRows, fmt.Sprintf("says %d targets, and fetches holds %d", m.Targets, targets))
	}
	return nil
}

// unnamed looks in the run's folders for files that are not the manifest's. A
// run that is not complete may hold what a writer has under way or has left.
func (v *verifier) unnamed(m *Manifest) error {
	named := make(map[string]bool)
	segments := make(map[int]bool)
	for _, p := range m.Parts {
		named[p.Path], segments[p.Segment] = true, true
	}
	look := func(folder string, stray func(name string) bool) error {
		files, err := os.ReadDir(filepath.Join(v.dir, filepath.FromSlash(folder)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for other files: %w", err)
		}
		for _, f := range files {
			if stray(f.Name()) {
				v.add(path.Join(folder, f.Name()), badExtra, "is not named by the manifest")
			}
		}
		return nil
	}
	for _, table := range TableNames {
		folder := path.Join(table, "run="+v.run)
		err := look(folder, func(name string) bool {
			if named[path.Join(folder, name)] {
				return false
			}
			// Of a segment that is not committed anything may be there.
			var segment int
			fmt.Sscanf(name, "part-%d.parquet", &segment)
			under := strings.HasSuffix(name, ".tmp") || !segments[segment]
			return v.Complete || !isLeftover(name) || !under
		})
		if err != nil {
			return err
		}
	}
	for _, p := range m.Totals {
		named[p.Path] = true
	}
	folder := path.Join("_runs", v.run)
	return look(folder, func(name string) bool {
		// What is expected of a run is checked once it is complete: that may
		// be under way. What a kill leaves of it, Open removes.
		checking := strings.HasPrefix(name, "expectations") && strings.HasSuffix(name, ".tmp")
		return v.Complete && !checking && !named[path.Join(folder, name)] && (strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".parquet"))
	})
}
