package sink

import (
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
)

// ErrRunComplete tells that a run is complete: nothing is left to do.
var ErrRunComplete = errors.New("this run is complete")

// ErrNotResumable tells that a run cannot be gone on with as it is asked to;
// the error says why.
var ErrNotResumable = errors.New("cannot be resumed")

// otherwise says what to do with a run that cannot be resumed.
const otherwise = "(use another --run, or --force-new to begin this one anew)"

// errRemoving is what a run is whose removal was interrupted.
var errRemoving = fmt.Errorf("%w: its removal was interrupted; start it again", ErrNotResumable)

// Open goes on with an interrupted run below dir, which m must describe as it
// was described to [Create], tool version and start aside. What the run left
// half is removed: temporary files, and parts of segments that are not
// committed.
//
// It returns [fs.ErrNotExist] where there is no such run, so that the caller
// may create it, [ErrRunComplete] where nothing is left to do, [ErrRunBusy]
// where another process writes the run, and [ErrNotResumable] with every
// reason where the run was started otherwise.
func Open(dir string, m Manifest) (*Run, error) {
	r, err := prepare(dir, m)
	if err != nil {
		return nil, err
	}
	if r.lock, err = lockRun(dir, r.id); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Run) open() error {
	folder := r.Folder()
	old, err := ReadManifest(r.dir, r.id)
	if errors.Is(err, errDamaged) {
		return fmt.Errorf("%s %w: %w %s", folder, ErrNotResumable, err, otherwise)
	}
	if err != nil {
		return err
	}
	if reasons := differences(old, &r.manifest); len(reasons) > 0 {
		return fmt.Errorf("%s %w: %s %s", folder, ErrNotResumable, strings.Join(reasons, "; "), otherwise)
	}
	r.manifest = *old
	r.metadata[metadataConfiguration] = old.ConfigurationDigest
	if err := inPlace(r.dir, old.Parts); err != nil {
		// Not wrapped: that a part is gone would be taken for a run that is.
		return fmt.Errorf("%s %w: %v %s", folder, ErrNotResumable, err, otherwise)
	}
	committed := make(map[string]bool)
	for _, p := range old.Parts {
		committed[p.Path] = true
	}
	if err := r.sweep(committed); err != nil {
		return err
	}
	journal := filepath.Join(folder, journalName)
	if old.State == stateComplete {
		if err := os.Remove(journal); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what the run has left: %w", err)
		}
		return fmt.Errorf("%s: %w", folder, ErrRunComplete)
	}
	entries, end, err := readJournal(journal)
	if err != nil {
		return err
	}
	for _, e := range entries {
		r.taken[e.Segment], r.notes[e.Segment] = true, e.Note
	}
	if err := r.makeFolders(); err != nil {
		return err
	}
	r.journal, err = openJournal(journal, end)
	return err
}

// Unfinished is the ID of the run below dir that was begun last and is not
// complete, "" where there is none.
func Unfinished(dir string) (string, error) {
	// The name of dir is no pattern.
	journals, err := fs.Glob(os.DirFS(dir), path.Join("_runs", "*", journalName))
	if err != nil {
		return "", fmt.Errorf("look for unfinished runs: %w", err)
	}
	var last *Manifest
	for _, journal := range journals {
		m, err := ReadManifest(dir, path.Base(path.Dir(journal)))
		if err != nil {
			return "", fmt.Errorf("look for unfinished runs: %w", err)
		}
		if m.State != stateComplete && (last == nil || m.Started.After(last.Started)) {
			last = m
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Run, nil
}

// Committed reports whether a segment was committed before the run was opened.
func (r *Run) Committed(index int) bool {
	_, ok := r.notes[index]
	return ok
}

// Note is the [Segment.Note] of a segment that was committed before the run
// was opened, nil where it had none.
func (r *Run) Note(index int) json.RawMessage { return r.notes[index] }

// sweep removes what an interrupted run has left: temporary files, and parts
// that are not committed.
func (r *Run) sweep(committed map[string]bool) error {
	remove := func(folder string, left func(name string) bool) error {
		files, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for what the run has left: %w", err)
		}
		for _, f := range files {
			if left(f.Name()) {
				if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
					return fmt.Errorf("remove what the run has left: %w", err)
				}
			}
		}
		return nil
	}
	for _, table := range TableNames {
		err := remove(tableFolder(r.dir, table, r.id), func(name string) bool {
			return isLeftover(name) && !committed[path.Join(table, "run="+r.id, name)]
		})
		if err != nil {
			return err
		}
	}
	return remove(r.Folder(), func(name string) bool { return strings.HasSuffix(name, ".tmp") })
}

// isLeftover tells the names that a writer of parts leaves behind, by which it
// can be told only from the manifest whether they are parts that count.
func isLeftover(name string) bool {
	return strings.HasPrefix(name, "part-") && (strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".parquet.tmp"))
}

// differences says in which ways a run was started otherwise than it is to be
// gone on with: tables of both would not be those of one run.
func differences(old, now *Manifest) []string {
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
	inputs := func(m *Manifest) map[string][]Input {
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
