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

// ErrRunComplete tells that a run is complete: nothing is left to do.
var ErrRunComplete = errors.New("the run is already complete")

// ErrNotResumable tells that a run cannot be resumed as it is asked to; the
// error says why.
var ErrNotResumable = errors.New("cannot be resumed")

// otherwise says what to do with a run that cannot be resumed.
const otherwise = "(use another --run, or --force-new to begin this one anew)"

// Open resumes an interrupted run below dir, which p must describe as it was
// described to [Create], tool version and start aside. It reads the committed
// parts, whose bytes must be those that were written, and removes what the run
// left half: temporary files, and parts of segments that are not committed.
//
// It returns [fs.ErrNotExist] where there is no such run, so that the caller
// may create it, [ErrRunComplete] where nothing is left to do, [ErrRunBusy]
// where another process writes the run, and [ErrNotResumable] with every
// reason where the run was started otherwise.
func Open(ctx context.Context, dir string, p Plan) (*Run, error) {
	r, err := prepare(p)
	if err != nil {
		return nil, err
	}
	if r.store, err = store.Open(dir); err != nil {
		return nil, err
	}
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
		// Not wrapped: that a part is gone would be taken for a run that is.
		return fmt.Errorf("%s %w: %v %s", folder, ErrNotResumable, err, otherwise)
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
	check := func() error { return inPlace(r.store, append(m.RunParts, m.Parts...)) }
	if !m.Complete() {
		check = func() error { return sound(ctx, r.store, m.Parts) }
	}
	if err := check(); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return refuse(err)
	}
	named := make(map[string]bool)
	for _, p := range append(m.RunParts, m.Parts...) {
		named[p.Path] = true
	}
	if err := r.sweep(named); err != nil {
		return err
	}
	if m.Complete() {
		return fmt.Errorf("%s: %w", folder, ErrRunComplete)
	}
	return r.makeFolders()
}

// restore reads the plan and the records of a run that is not complete.
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
	m := &Manifest{Plan: plan, PlanDigest: digest, State: stateRunning}
	m.add(records)
	return m, nil
}

// sound finds out whether committed parts are there, byte for byte. A run that
// resumed over a damaged part would end complete, and damaged.
func sound(ctx context.Context, s *store.Store, parts []Part) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range parts {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			f, err := s.OpenWritten(ctx, p.Path, p.Digest)
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

// Committed is the record of a committed segment, nil where it is not
// committed.
func (r *Run) Committed(index int) *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records[index]
}

// sweep removes what an interrupted run has left: temporary files, parts and
// counters that are not named, and answers of committed segments.
func (r *Run) sweep(named map[string]bool) error {
	remove := func(folder string, left func(name string) bool) error {
		files, err := r.store.List(folder)
		for _, f := range files {
			if name := path.Join(folder, f.Name()); err == nil && left(f.Name()) && !named[name] {
				err = r.store.Remove(name)
			}
		}
		if err != nil {
			return fmt.Errorf("clean up the run: %w", err)
		}
		return nil
	}
	for _, table := range TableNames {
		if err := remove(layout.TableFolder(table, r.plan.Run), layout.IsLeftover); err != nil {
			return err
		}
	}
	if err := remove(layout.Records(r.plan.Run), func(name string) bool {
		return store.IsTemporary(name) || strings.HasSuffix(name, ".parquet")
	}); err != nil {
		return err
	}
	if err := r.sweepAnswers(); err != nil {
		return err
	}
	return remove(layout.RunFile(r.plan.Run), store.IsTemporary)
}

// differences says in which ways a run was started otherwise than it is to be
// resumed: tables of both would not be those of one run.
func differences(old, now *Plan) []string {
	var out []string
	differ := func(what string, a, b any) {
		if x, y := asJSON(a), asJSON(b); x != y {
			out = append(out, fmt.Sprintf("%s was %s and is now %s", what, x, y))
		}
	}
	differ("the tables' schema version", old.SchemaVersion, now.SchemaVersion)
	differ("the version of the bins in summary", old.SummaryBins, now.SummaryBins)
	differ("tables", old.Tables, now.Tables)
	differ("profiles", old.Profiles, now.Profiles)

	// Of a configuration file only what it sets counts, and of a file that
	// was read only its content, wherever it lies.
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
			case a.Ends != "" && b.Ends != "":
				if a.Ends != b.Ends {
					out = append(out, fmt.Sprintf("%s: %s is not the file that the run has read, %s", role, b.Path, a.Path))
				}
			case b.SHA256 == "" && b.Path == "-", a.SHA256 == "" && a.Path == "-":
				out = append(out, fmt.Sprintf("%s: standard input cannot be read again; keep the list in a file", role))
			case b.SHA256 == "" || a.SHA256 == "":
				out = append(out, fmt.Sprintf("%s: %s is no regular file and cannot be read again; keep the list in a file", role, b.Path))
			case a.SHA256 != b.SHA256:
				out = append(out, fmt.Sprintf("%s: %s (SHA-256 %.12s…) differs from what the run has read, %s (%.12s…)", role, b.Path, b.SHA256, a.Path, a.SHA256))
			}
		}
	}
	for _, key := range keys(old.Configuration, now.Configuration) {
		// A flag that names an input is called as its role.
		if before[key] == nil && after[key] == nil {
			differ(key, old.Configuration[key], now.Configuration[key])
		}
	}
	return out
}

// keys are those of both maps, in one order.
func keys[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// Same reports whether two plans say the same.
func (p *Plan) Same(q *Plan) bool { return asJSON(p) == asJSON(q) }

// asJSON shows a value as it is after a way through JSON, where a number is a
// number of whatever type.
func asJSON(value any) string {
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
