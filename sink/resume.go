package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// ErrRunComplete reports that a run is complete and need not be resumed.
var ErrRunComplete = errors.New("the run is already complete")

// ErrNotResumable reports that a run cannot be resumed with the given plan. The error
// that wraps it says why.
var ErrNotResumable = errors.New("cannot be resumed")

// resumeAdvice is the advice for a run that cannot be resumed.
const resumeAdvice = "(use another --run, or --force-new to begin this one anew)"

// Open resumes an interrupted run in dir. p must equal the plan passed to [Create],
// except for the tool version and the start. Open verifies the digests of the
// committed parts, and removes temporary files and the parts of uncommitted
// segments.
//
// It returns [fs.ErrNotExist] if there is no such run, [ErrRunComplete] if the run is
// complete, [ErrRunBusy] if another process is writing the run, and
// [ErrNotResumable], with every reason, if the plans differ or a part is damaged.
func Open(ctx context.Context, dir string, p Plan) (*Run, error) {
	r, err := prepared(p)
	if err != nil {
		return nil, err
	}
	if r.folder, err = store.OpenFolder(dir); err != nil {
		return nil, err
	}
	r.store = r.folder
	if _, err = r.store.Stat(layout.RunFile(p.Run)); err == nil {
		if r.lock, err = lockRun(r.store, p.Run); err == nil {
			err = r.open(ctx)
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Run) open(ctx context.Context) error {
	folder := r.Folder()
	refuse := func(err error) error {
		if store.FaultOf(err) != store.OfData {
			return err // what is stored may be whole
		}
		// Not wrapped: fs.ErrNotExist for a part would mean that the run is gone.
		return fmt.Errorf("%s %w: %v %s", folder, ErrNotResumable, err, resumeAdvice)
	}
	m, err := readManifest(r.store, r.plan.Run)
	if errors.Is(err, fs.ErrNotExist) {
		m, err = r.restore()
	}
	if errors.Is(err, ErrDamaged) {
		return refuse(err)
	}
	if err != nil {
		return err
	}
	if reasons := differences(&m.Plan, &r.plan); len(reasons) > 0 {
		return refuse(errors.New(strings.Join(reasons, "; ")))
	}
	r.plan, r.planDigest = m.Plan, m.PlanDigest
	r.metadata[layout.KeyConfiguration] = m.ConfigurationDigest
	check := func() error { return checkSizes(r.store, m.files()) }
	if !m.Complete() {
		check = func() error { return checkDigests(ctx, r.store, m.files()) }
	}
	if err := check(); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return refuse(err)
	}
	named := make(map[string]bool)
	for _, p := range m.files() {
		named[p.Path] = true
	}
	if err := r.sweep(named); err != nil {
		return err
	}
	if m.Complete() {
		r.store.Remove(layout.WARCFolder(r.plan.Run)) // fails if it is not empty
		return fmt.Errorf("%s: %w", folder, ErrRunComplete)
	}
	return r.makeFolders()
}

// restore reads the plan and the records of an incomplete run.
func (r *Run) restore() (*Manifest, error) {
	plan, digest, err := ReadPlan(r.store, r.plan.Run)
	if err != nil {
		return nil, err
	}
	records, err := readRecords(r.store, &plan, digest)
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		r.records[record.Segment], r.taken[record.Segment] = record, true
	}
	m := &Manifest{Plan: plan, PlanDigest: digest, State: stateIncomplete}
	m.add(records)
	return m, nil
}

// checkDigests returns an error if the contents of a committed part do not match its
// digest. Resuming with a damaged part would complete a damaged run.
func checkDigests(ctx context.Context, s store.Store, parts []Part) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range parts {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			f, err := store.OpenWritten(ctx, s, p.Path, p.Digest)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("a committed part is missing: %w", err)
			}
			if err != nil {
				return fmt.Errorf("committed part %s: %w", p.Path, err)
			}
			return f.Close()
		})
	}
	return g.Wait()
}

// Committed returns the record of a segment, or nil if it is not committed.
func (r *Run) Committed(index int) *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records[index]
}

// sweep removes what an interrupted run left: temporary files, parts and counters
// that no record names, and captures of committed segments.
func (r *Run) sweep(named map[string]bool) error {
	if err := r.sweepCaptures(); err != nil {
		return err
	}
	return r.output.sweep(named)
}

// sweep removes temporary files, and parts, counters and rejected lines of shards that
// are not named.
func (o *output) sweep(named map[string]bool) error {
	remove := func(folder string, left func(name string) bool) error {
		files, err := o.store.List(folder)
		for _, f := range files {
			if name := path.Join(folder, f.Name()); err == nil && left(f.Name()) && !named[name] {
				err = o.store.Remove(name)
			}
		}
		if err != nil {
			return fmt.Errorf("clean up the run: %w", err)
		}
		return nil
	}
	for _, table := range TableNames {
		if err := remove(layout.TableFolder(table, o.plan.Run), layout.IsLeftover); err != nil {
			return err
		}
	}
	if err := remove(layout.Records(o.plan.Run), func(name string) bool {
		return store.IsTemporary(name) || strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".rejected.csv")
	}); err != nil {
		return err
	}
	if err := remove(layout.WARCFolder(o.plan.Run), func(string) bool { return true }); err != nil {
		return err
	}
	return remove(layout.RunFile(o.plan.Run), store.IsTemporary)
}

// differences describes how the plan of a run differs from the one to resume it with.
// Tables made under both would not be those of one run.
func differences(old, now *Plan) []string {
	var out []string
	differ := func(what string, a, b any) {
		if x, y := normalJSON(a), normalJSON(b); x != y {
			out = append(out, fmt.Sprintf("%s was %s and is now %s", what, x, y))
		}
	}
	differ("the tables' schema version", old.SchemaVersion, now.SchemaVersion)
	differ("the version of the bins in summary", old.SummaryBins, now.SummaryBins)
	differ("the public suffix list of the program", old.PublicSuffixes, now.PublicSuffixes)
	differ("shards", old.Shards, now.Shards)
	differ("shards of the earlier run", old.FromShards, now.FromShards)
	differ("tables", old.Tables, now.Tables)
	differ("profiles", old.Profiles, now.Profiles)

	// A configuration file matters by what it sets, an input by its contents, not by
	// its path.
	inputs := func(m *Plan) map[string][]Input {
		by := make(map[string][]Input)
		for _, in := range m.Inputs {
			if in.Role != "configuration" {
				by[in.Role] = append(by[in.Role], in)
			}
		}
		return by
	}
	before, after := inputs(old), inputs(now)
	for _, role := range keys(before, after) {
		if len(before[role]) != len(after[role]) {
			differ("the number of inputs called "+role, len(before[role]), len(after[role]))
			continue
		}
		for i, a := range before[role] {
			b := after[role][i]
			switch {
			case a.IdentifiedWhenRead && b.IdentifiedWhenRead:
				if a.Path != b.Path {
					out = append(out, fmt.Sprintf("%s: %s is not the archive that the run has read, %s", role, b.Path, a.Path))
				}
			case a.IdentifiedWhenRead || b.IdentifiedWhenRead:
				out = append(out, fmt.Sprintf("%s: one of %s and %s is at an https URL, and the other is not", role, a.Path, b.Path))
			case a.EndsSHA256 != "" && b.EndsSHA256 != "":
				if a.EndsSHA256 != b.EndsSHA256 {
					out = append(out, fmt.Sprintf("%s: %s is not the file that the run has read, %s", role, b.Path, a.Path))
				}
			case b.SHA256 == "" && b.Path == "-", a.SHA256 == "" && a.Path == "-":
				out = append(out, fmt.Sprintf("%s: standard input cannot be read again; keep the list in a file", role))
			case b.SHA256 == "" || a.SHA256 == "":
				out = append(out, fmt.Sprintf("%s: %s is not a regular file and cannot be read again; keep the list in a file", role, b.Path))
			case a.SHA256 != b.SHA256:
				out = append(out, fmt.Sprintf("%s: %s (SHA-256 %.12s…) differs from what the run has read, %s (%.12s…)", role, b.Path, b.SHA256, a.Path, a.SHA256))
			}
		}
	}
	for _, key := range keys(old.Configuration, now.Configuration) {
		// The flag of an input has the name of its role; roles and tables are compared above.
		if before[key] == nil && after[key] == nil && key != "tables" {
			differ(key, old.Configuration[key], now.Configuration[key])
		}
	}
	return out
}

// keys returns the keys of both maps, sorted.
func keys[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// Same reports whether two plans are equal.
func (p *Plan) Same(q *Plan) bool { return normalJSON(p) == normalJSON(q) }

// normalJSON encodes a value as JSON, so that numbers of different types compare equal.
func normalJSON(value any) string {
	text, err := json.Marshal(value)
	if err == nil {
		var back any
		if err = json.Unmarshal(text, &back); err == nil {
			text, err = json.Marshal(back)
		}
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}
