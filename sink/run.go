package sink

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Run is a run that is being written. Its one writer is this process, from
// [Create] or [Open] to [Run.Complete] or [Run.Close].
type Run struct {
	dir         string
	id          string
	tables      []string
	toolVersion string
	metadata    map[string]string
	spare       sync.Map // by table, a *sync.Pool (see spareOf)

	mu       sync.Mutex
	lock     *flock.Flock // nil once closed
	journal  *journal
	manifest Manifest                // of which Parts grow in any order
	taken    map[int]bool            // segments begun or committed
	notes    map[int]json.RawMessage // of segments committed before Open
}

// ErrRunExists tells that the run ID is taken in this output folder.
var ErrRunExists = errors.New("this run exists")

// Create starts the run m.Run below dir with the tables m.Tables, and writes
// its first manifest. It returns [ErrRunExists] where the ID is taken, and
// [ErrRunBusy] where another process is at it.
func Create(dir string, m Manifest) (*Run, error) {
	r, err := prepare(dir, m)
	if err != nil {
		return nil, err
	}
	folder := r.Folder()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("create the output folder: %w", err)
	}
	if r.lock, err = lockRun(dir, r.id); err != nil {
		return nil, err
	}
	if err := r.create(); err != nil {
		r.Close()
		os.Remove(folder) // unless something is in it
		return nil, err
	}
	return r, nil
}

func (r *Run) create() error {
	folder := r.Folder()
	// A folder without a manifest is left of a Create that did not end.
	for _, name := range []string{manifestName, removingName} {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			return fmt.Errorf("%w: %s (choose another ID with --run, or go on with it by --resume)", ErrRunExists, folder)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("create the run: %w", err)
		}
	}
	for _, table := range TableNames {
		parts := tableFolder(r.dir, table, r.id)
		if files, err := os.ReadDir(parts); err == nil && len(files) > 0 {
			return fmt.Errorf("%w: %s holds files, though %s has no manifest (choose another ID with --run)", ErrRunExists, parts, folder)
		}
	}
	if err := r.sweep(nil); err != nil {
		return err
	}
	if err := r.makeFolders(); err != nil {
		return err
	}
	var err error
	if r.journal, err = openJournal(filepath.Join(folder, journalName), 0); err != nil {
		return err
	}
	if err := r.save(); err != nil {
		os.Remove(r.journal.path)
		return err
	}
	return nil
}

// prepare checks m and completes it.
func prepare(dir string, m Manifest) (*Run, error) {
	if err := CheckRunID(m.Run); err != nil {
		return nil, err
	}
	if err := CheckTables(m.Tables); err != nil {
		return nil, err
	}
	configuration, err := json.Marshal(m.Configuration)
	if err != nil {
		return nil, fmt.Errorf("configuration as JSON: %w", err)
	}
	digest := sha256.Sum256(configuration)
	m.SchemaVersion, m.SummaryBins, m.Tool, m.State = SchemaVersion, BinsVersion, "robocensus", stateRunning
	m.ConfigurationDigest = hex.EncodeToString(digest[:])
	m.Parts = []Part{}
	return &Run{
		dir: dir, id: m.Run, tables: m.Tables, toolVersion: m.ToolVersion,
		manifest: m, taken: make(map[int]bool), notes: make(map[int]json.RawMessage),
		metadata: map[string]string{
			metadataSchema:            strconv.Itoa(SchemaVersion),
			metadataRun:               m.Run,
			"robocensus.tool_version": m.ToolVersion,
			"robocensus.profile":      strings.Join(m.Profiles, ","),
			metadataConfiguration:     m.ConfigurationDigest,
		},
	}, nil
}

// Keys of the metadata of every part.
const (
	metadataSchema        = "robocensus.schema_version"
	metadataRun           = "robocensus.run"
	metadataConfiguration = "robocensus.configuration_digest"
	metadataBins          = "robocensus.summary_bins" // of summary only
	metadataAgainst       = "robocensus.against"      // of changes only, as are notes
	metadataNotes         = "robocensus.notes"        // a line each
)

func tableFolder(dir, table, run string) string { return filepath.Join(dir, table, "run="+run) }

// makeFolders makes the folders of all tables, and their names last: a part
// is committed only if the way to it is. Later none is made: one that is gone
// has taken committed parts with it.
func (r *Run) makeFolders() error {
	folders := []string{r.Folder()}
	for _, table := range r.tables {
		folders = append(folders, tableFolder(r.dir, table, r.id))
	}
	for _, folder := range folders {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return fmt.Errorf("create the folder of a table: %w", err)
		}
		if err := syncFolder(filepath.Dir(folder)); err != nil {
			return err
		}
	}
	syncFolder(filepath.Dir(filepath.Clean(r.dir))) // may be closed to us
	return syncFolder(r.dir)
}

// Folder is where the run keeps its manifest and rejected.csv.
func (r *Run) Folder() string { return filepath.Join(r.dir, "_runs", r.id) }

// begin takes a segment for a writer: none is written twice.
func (r *Run) begin(index int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if index < 0 {
		return fmt.Errorf("segment %d: segments are numbered from 0", index)
	}
	if r.taken[index] {
		return fmt.Errorf("segment %d of run %s is written already", index, r.id)
	}
	r.taken[index] = true
	return nil
}

// giveUp lets a segment that was not committed be written again.
func (r *Run) giveUp(index int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, index)
}

// enter names the parts of a segment in the journal: the moment from which
// they count.
func (r *Run) enter(e entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return fmt.Errorf("run %s is closed", r.id)
	}
	if err := r.journal.add(e); err != nil {
		return err
	}
	r.manifest.Parts, r.manifest.Totals = append(r.manifest.Parts, e.Parts...), nil
	return nil
}

// Complete marks the run complete, with what is known only at its end, and
// closes it.
func (r *Run) Complete(finished time.Time, tally Tally, inputs []Input) error {
	if err := r.complete(finished, tally, inputs); err != nil {
		return err
	}
	return r.Close()
}

func (r *Run) complete(finished time.Time, tally Tally, inputs []Input) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return fmt.Errorf("run %s is closed", r.id)
	}
	if r.journal.broken != nil {
		return r.journal.broken
	}
	sortParts(r.manifest.Parts)
	if err := inPlace(r.dir, r.manifest.Parts); err != nil {
		return err
	}
	before := r.manifest
	r.manifest.State, r.manifest.Finished = stateComplete, &finished
	r.manifest.Tally, r.manifest.Inputs = tally, inputs
	if err := r.save(); err != nil {
		r.manifest = before
		return err
	}
	os.Remove(r.journal.path) // the manifest holds all of it now
	return nil
}

// inPlace finds out whether committed parts are there, as far as their sizes
// tell.
func inPlace(dir string, parts []Part) error {
	for _, p := range parts {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p.Path)))
		if err != nil {
			return fmt.Errorf("a committed part is gone: %w", err)
		}
		if info.Size() != p.Bytes {
			return fmt.Errorf("committed part %s has %d bytes and not the %d that were written", p.Path, info.Size(), p.Bytes)
		}
	}
	return nil
}

// Close ends the writing of a run that is not complete, and lets others at it.
// It may be called twice, but not while segments are being written.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return nil
	}
	var err error
	if r.journal != nil {
		err = r.journal.file.Close()
	}
	unlockRun(r.lock)
	r.lock = nil
	if err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}

// Started is when the run was created, by whichever process.
func (r *Run) Started() time.Time { return r.manifest.Started }

// Rows counts the rows committed so far, by table.
func (r *Run) Rows() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := make(map[string]int64)
	for _, p := range r.manifest.Parts {
		rows[p.Table] += p.Rows
	}
	return rows
}

func (r *Run) save() error {
	text, err := json.MarshalIndent(&r.manifest, "", " ")
	if err != nil {
		return fmt.Errorf("manifest as JSON: %w", err)
	}
	return ReplaceFile(filepath.Join(r.Folder(), manifestName), append(text, '\n'))
}
