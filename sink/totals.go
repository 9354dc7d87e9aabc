package sink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"
)

// A run of a hundred million hosts has fifty thousand parts of summary and as
// many of examples, and to read them takes two cores one minute or two. So what
// they come to lies beside the manifest, in a file for each of the two tables,
// with its columns, where no view over the tables meets it.

// SumUp writes what the committed parts of summary and examples come to, for
// the manifest of [Run.Complete] to name. It is made of the parts themselves,
// whichever process has written them. Who commits another segment calls it
// again.
func (r *Run) SumUp(ctx context.Context) error {
	r.mu.Lock()
	m := r.manifest
	m.Parts = slices.Clone(m.Parts)
	closed := r.lock == nil
	r.mu.Unlock()
	if closed {
		return fmt.Errorf("run %s is closed", r.id)
	}
	var totals []Part
	if slices.Contains(m.Tables, "summary") {
		sums, err := sumParts(ctx, r.dir, &m, "summary", newCounts)
		if err != nil {
			return err
		}
		p, err := writeTotal(r, "summary", sums.list())
		if err != nil {
			return err
		}
		totals = append(totals, p)
	}
	if slices.Contains(m.Tables, "examples") {
		few, err := sumParts(ctx, r.dir, &m, "examples", newFew)
		if err != nil {
			return err
		}
		p, err := writeTotal(r, "examples", few.list())
		if err != nil {
			return err
		}
		totals = append(totals, p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(m.Parts) == len(r.manifest.Parts) {
		r.manifest.Totals = totals
	}
	return nil
}

// totalPath is where the totals of a table lie, relative to the output folder.
func totalPath(table, run string) string { return path.Join("_runs", run, table+".parquet") }

func writeTotal[T any](r *Run, table string, rows []T) (Part, error) {
	name := totalPath(table, r.id)
	w, err := newWriter[T](filepath.Join(r.dir, filepath.FromSlash(name)), Part{Table: table, Path: name}, r.toolVersion, r.metadata, r.spareOf(table))
	if err != nil {
		return Part{}, err
	}
	var p Part
	if err = (Table[T]{w}).Write(rows...); err == nil {
		p, err = w.finish()
	}
	if err != nil {
		w.discard()
		return Part{}, err
	}
	if err := w.publish(); err != nil {
		return Part{}, err
	}
	return p, syncFolder(w.folder())
}

// Counts adds up the counters that are committed so far, for who goes on with
// a run, and gives each sum once.
func (r *Run) Counts(ctx context.Context, add func(Count)) error {
	r.mu.Lock()
	m := Manifest{Run: r.id, SummaryBins: r.manifest.SummaryBins, Parts: r.manifest.Parts}
	r.mu.Unlock()
	return ReadCounts(ctx, r.dir, &m, add)
}

// ReadCounts adds up the counters of a run below dir, and gives each sum once.
// Where the run has no totals, or other ones than it has written, all parts of
// summary are read that the manifest names. A run whose distributions have bins
// of another version is an error: they cannot be read as these.
func ReadCounts(ctx context.Context, dir string, m *Manifest, add func(Count)) error {
	if m.SummaryBins != BinsVersion {
		return fmt.Errorf("the distributions in summary of run %s have bins of version %d, and this program reads version %d: use the version that wrote the run (%s)", m.Run, m.SummaryBins, BinsVersion, m.ToolVersion)
	}
	sums, err := readSum(ctx, dir, m, "summary", newCounts)
	if err != nil {
		return err
	}
	for _, c := range sums.list() {
		add(c)
	}
	return nil
}

// ReadExamples gives a few examples of each metric and key of a run below dir:
// those of the best rank, and of what is largest and slowest the greatest. It
// reads what [ReadCounts] reads, of the table examples.
func ReadExamples(ctx context.Context, dir string, m *Manifest, add func(Example)) error {
	few, err := readSum(ctx, dir, m, "examples", newFew)
	if err != nil {
		return err
	}
	for _, e := range few.list() {
		add(e)
	}
	return nil
}

// sum is what parts come to, in whatever order they are added.
type sum[T any] interface {
	// columns are those of text that add wants as dictionaries.
	columns() []string
	// add takes rows of a segment's part; those of one part come in order.
	add(segment int, batch arrow.RecordBatch) error
	merge(from T) error
}

func readSum[T sum[T]](ctx context.Context, dir string, m *Manifest, table string, empty func() T) (T, error) {
	for _, p := range m.Totals {
		if p.Table != table || p.Path != totalPath(table, m.Run) {
			continue
		}
		all := empty()
		err := readTotal(ctx, dir, p, all)
		if err == nil || ctx.Err() != nil {
			return all, err
		}
	}
	if m.head && slices.Contains(m.Tables, table) {
		var err error
		if m, err = ReadManifest(dir, m.Run); err != nil {
			return empty(), err
		}
	}
	return sumParts(ctx, dir, m, table, empty)
}

// readTotal reads the totals of a table, if they are what was written.
func readTotal[T sum[T]](ctx context.Context, dir string, p Part, into T) error {
	name := filepath.Join(dir, filepath.FromSlash(p.Path))
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != p.Bytes {
		return errors.New("is another file")
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, whileRunning{ctx, f}); err != nil {
		return err
	}
	if hex.EncodeToString(digest.Sum(nil)) != p.SHA256 {
		return errors.New("has other bytes")
	}
	return readBatches(ctx, name, nil, into.columns(), func(batch arrow.RecordBatch) error { return into.add(0, batch) })
}

// sumParts reads all parts of a table that the manifest names.
func sumParts[T sum[T]](ctx context.Context, dir string, m *Manifest, table string, empty func() T) (all T, err error) {
	parts := m.partsOf(table)
	workers := min(runtime.GOMAXPROCS(0), len(parts))
	g, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	all = empty()
	next := 0
	for range workers {
		g.Go(func() error {
			mine := empty()
			for {
				mu.Lock()
				at := next
				next++
				mu.Unlock()
				if at >= len(parts) {
					break
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
				add := func(batch arrow.RecordBatch) error { return mine.add(parts[at].Segment, batch) }
				if err := m.read(ctx, dir, parts[at], mine.columns(), add); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			return all.merge(mine)
		})
	}
	return all, g.Wait()
}

// tooMany tells that a table has more to tell apart than a run writes.
func tooMany(table, what string, n int) error {
	return fmt.Errorf("%s has more than %d different %s", table, n, what)
}
