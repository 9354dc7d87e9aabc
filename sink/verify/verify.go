// Package verify finds damage in a stored run.
//
// [Run] takes a folder and a run, reads every file, and returns a list of problems.
// It checks the manifest against the plan and the records, parts against their digests
// and columns, the rows of a segment against its targets, counters against rows, and
// comparisons against their records. Files that no record names are problems too.
//
// A defect is a [Problem], never an error: verification continues with the next
// file. Anything on disk may be forged, so memory is bounded, and a path in a record
// is opened only if package layout gives the same one.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Problem is a defect of a run on disk.
type Problem struct {
	Path string `json:"path"` // relative to the output folder, with slashes
	Kind string `json:"kind"` // one of the kinds below
	Text string `json:"text"`
}

// The kinds of problems. Their names are part of the output of --json and do not
// change.
const (
	badManifest  = "manifest"  // damaged, or at odds with itself or the plan
	badRecord    = "record"    // a record of a segment or comparison is missing, damaged, or at odds with the manifest
	badNumbering = "numbering" // a segment is missing, or has other tables
	badFile      = "file"      // missing, unreadable, or of the wrong size
	badDigest    = "digest"    // contents differ from what was written
	badParquet   = "parquet"   // cannot be decoded
	badSchema    = "schema"    // wrong columns, or metadata of another run
	badRows      = "rows"      // more or fewer rows than the manifest says
	badOrder     = "order"     // rows out of order, or a target counted twice
	badSeq       = "seq"       // a row without a target in its segment
	badShard     = "shard"     // a target in the wrong shard
	badValue     = "value"     // a value that its column does not have
	badBody      = "body"      // a body that is not that of its content digest
	badSummary   = "summary"   // counts differ from the targets in fetches
	badExtra     = "extra"     // a file that no record names
)

// Result is the result of [Run].
type Result struct {
	Complete bool          // false: the run is in progress or was interrupted
	Damaged  bool          // something is missing or damaged, not counting comparisons and files too many
	Plan     *journal.Plan // nil if the plan or the manifest cannot be read
	Segments int
	Parts    int
	Rows     int64
	Bytes    int64
	WARCFile *journal.WARCFile // of --warc-out: outside of the folder, so Run does not read it; nil for none
	Problems []Problem         // sorted by path
}

// Run reads and verifies all files of a run: the manifest against the plan
// and the records, every part against its digest, the rows of a segment's parts
// against each other, the counters of the run against its targets, and comparisons
// with earlier runs against their records. For an incomplete run it verifies the
// committed segments. A defect becomes a [Problem] and does not stop verification;
// an error means that reading failed by the fault of the store or of this machine
// ([store.FaultOf]), or that there is no such run ([fs.ErrNotExist]). Run calls progress after
// each segment with the number of parts read and their total.
func Run(ctx context.Context, s store.Store, run string, progress func(parts, of int)) (*Result, error) {
	v := &verifier{store: s, run: run, progress: progress}
	m, err := journal.ReadManifest(s, run)
	if errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrRemoving) {
		v.add(layout.RunFile(run), badManifest, err.Error())
		v.Damaged, v.Plan = true, planOfIncomplete(s, run)
		return &v.Result, nil
	}
	if err != nil {
		return nil, err
	}
	if m.SchemaVersion != schema.SchemaVersion {
		return nil, fmt.Errorf("run %s has schema version %d, but this program reads version %d: verify "+
			"it with robocensus %s", run, m.SchemaVersion, schema.SchemaVersion, m.ToolVersion)
	}
	if v.layouts, err = layouts(); err != nil {
		return nil, err
	}
	v.planned, v.Plan = &m.Plan, &m.Plan
	v.shards = m.ShardsOfHosts()
	v.Complete, v.Parts = m.Complete(), len(m.RunParts)+len(m.Parts)
	for _, p := range slices.Concat(m.RunParts, m.Parts) {
		v.Rows, v.Bytes = v.Rows+p.Rows, v.Bytes+p.Bytes
	}
	for _, check := range []func(context.Context, *journal.Manifest) error{v.records, v.parts, v.rejected, v.warc,
		v.unnamed} {
		if err := check(ctx, m); err != nil {
			return nil, err
		}
	}
	v.Damaged = slices.ContainsFunc(v.Problems, func(p Problem) bool { return p.Kind != badExtra })
	if err := v.comparisons(ctx, m); err != nil {
		return nil, err
	}
	if now, err := store.Exists(v.store, layout.RunFile(run, layout.ManifestName)); now && err == nil && !v.Complete {
		return Run(ctx, s, run, progress) // completed in the meantime, which removed its counters
	}
	slices.SortStableFunc(v.Problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return &v.Result, nil
}

// planOfIncomplete returns the plan of a run without a manifest, or nil.
func planOfIncomplete(s store.Store, run string) *journal.Plan {
	if complete, err := store.Exists(s, layout.RunFile(run, layout.ManifestName)); complete || err != nil {
		return nil
	}
	plan, _, err := journal.ReadPlan(s, run)
	if err != nil {
		return nil
	}
	return &plan
}

// verifier collects the findings of several goroutines.
type verifier struct {
	store    store.Store
	run      string
	progress func(parts, of int)
	layouts  map[string][]string
	planned  *journal.Plan
	shards   int // that divide the hosts, 0 if segments follow each other in the input

	seqs Seqs // of a run of shards

	mu   sync.Mutex
	read int            // parts read
	left []journal.Part // counters of segments that an interrupted completion left
	Result
}

func (v *verifier) add(path, kind, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Problems = append(v.Problems, Problem{path, kind, text})
}

// blame adds a problem if an error is the fault of the data, otherwise it returns the
// error: what cannot be read for now may be whole.
func (v *verifier) blame(path, kind string, err error) error {
	if store.FaultOf(err) != store.OfData {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	v.add(path, kind, err.Error())
	return nil
}

// bySegment groups parts by segment, in order.
func bySegment(parts []journal.Part) (segments [][]journal.Part) {
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].Segment == parts[0].Segment {
			n++
		}
		segments, parts = append(segments, parts[:n]), parts[n:]
	}
	return segments
}

// parts verifies the parts, several segments at a time.
func (v *verifier) parts(ctx context.Context, m *journal.Manifest) error {
	segments := bySegment(m.Parts)
	found := make([]segmentFacts, len(segments))
	counted := labelsOf(m)
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, parts := range segments {
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			c := &segmentCheck{verifier: v}
			if counted != nil {
				c.labels = newSegmentLabels()
			}
			if err := c.segment(running, parts); err != nil {
				return err
			}
			if v.shards > 0 {
				if err := v.seqs.Add(slices.Compact(c.seqs)); err != nil {
					v.add(c.path, badOrder, err.Error())
				}
			}
			found[i] = c.segmentFacts
			v.mu.Lock()
			defer v.mu.Unlock()
			if counted != nil {
				counted.merge(c.labels.end())
			}
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
		if begun && f.first <= last && v.shards == 0 {
			v.add(f.path, badOrder, fmt.Sprintf(
				"begins with seq %d, and a segment before it ends with %d: targets are counted twice", f.first, last))
		}
		last, begun = max(last, f.last), true
	}
	known = known && slices.Contains(m.Tables, "fetches")
	if known && targets != m.Targets {
		v.add(layout.RunFile(v.run, layout.ManifestName), badRows, fmt.Sprintf("says %d targets, and fetches holds %d",
			m.Targets, targets))
	}
	return v.runParts(ctx, m, targets, known, counted)
}

// runParts verifies the parts of the tables that have one for the whole run.
func (v *verifier) runParts(ctx context.Context, m *journal.Manifest, targets int64, known bool,
	counted *labelCounts) error {
	for _, p := range m.RunParts {
		c := &segmentCheck{verifier: v}
		if p.Table == "label_counts" && counted != nil {
			c.counts = &labelCounts{counters: make(map[labelled]int64)}
		}
		if err := c.part(ctx, p, nil); err != nil {
			return err
		}
		v.read++
		v.progress(v.read, v.Parts)
		if known && c.countedTargets != nil && *c.countedTargets != targets {
			v.add(p.Path, badSummary, fmt.Sprintf("counts %d targets, and fetches holds %d", *c.countedTargets, targets))
		}
		if c.counts != nil && len(v.Problems) == 0 { // otherwise rows may be missing
			if text := otherLabels(c.counts, counted, m); text != "" {
				v.add(p.Path, badSummary, text)
			}
		}
	}
	return nil
}
