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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Manifest says what a run was asked, what it read and which parts it wrote.
// A part that it does not name does not count.
type Manifest struct {
	SchemaVersion       int            `json:"schema_version"`
	Tool                string         `json:"tool"`
	ToolVersion         string         `json:"tool_version"`
	Run                 string         `json:"run"`
	State               string         `json:"state"` // running or complete
	Started             time.Time      `json:"started"`
	Finished            *time.Time     `json:"finished,omitempty"`
	Configuration       map[string]any `json:"configuration"`
	ConfigurationDigest string         `json:"configuration_digest"` // SHA-256 of configuration as JSON
	Inputs              []Input        `json:"inputs"`
	Tables              []string       `json:"tables"`
	Profiles            []string       `json:"profiles"`
	Targets             int64          `json:"targets"`
	Rejected            int64          `json:"rejected"`
	Parts               []Part         `json:"parts"`
}

// Input is one file that was read. Of standard input, digest and rows are
// known only when the run is complete.
type Input struct {
	Role   string `json:"role"` // hosts, agents, urls, configuration
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"`
	Rows   int64  `json:"rows,omitempty"`
}

// Run is a run that is being written.
type Run struct {
	dir         string
	id          string
	tables      []string
	toolVersion string
	metadata    map[string]string

	mu       sync.Mutex
	manifest Manifest
}

// ErrRunExists tells that the run ID is taken in this output folder.
var ErrRunExists = errors.New("this run exists")

// CheckRunID refuses an ID that could not stand as a folder name and as a
// hive partition value everywhere.
func CheckRunID(id string) error {
	if id == "" || len(id) > 100 || strings.HasPrefix(id, ".") || strings.HasPrefix(id, "-") {
		return fmt.Errorf("run ID %q: use 1 to 100 letters, digits, '-', '_' and '.', not starting with '.' or '-'", id)
	}
	for _, c := range id {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		default:
			return fmt.Errorf("run ID %q: use letters, digits, '-', '_' and '.' only", id)
		}
	}
	return nil
}

// CheckTables refuses names that are no tables.
func CheckTables(names []string) error {
	for _, name := range names {
		if !slices.Contains(TableNames, name) {
			return fmt.Errorf("no table %q: the tables are %s", name, strings.Join(TableNames, ", "))
		}
	}
	return nil
}

// Create starts the run m.Run below dir with the tables m.Tables, and writes
// its first manifest. It returns [ErrRunExists] where the ID is taken.
func Create(dir string, m Manifest) (*Run, error) {
	if err := CheckRunID(m.Run); err != nil {
		return nil, err
	}
	if err := CheckTables(m.Tables); err != nil {
		return nil, err
	}
	folder := filepath.Join(dir, "_runs", m.Run)
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return nil, fmt.Errorf("create the output folder: %w", err)
	}
	if err := os.Mkdir(folder, 0o777); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: %s (choose another ID with --run)", ErrRunExists, folder)
	} else if err != nil {
		return nil, fmt.Errorf("create the run's folder: %w", err)
	}
	configuration, err := json.Marshal(m.Configuration)
	if err != nil {
		return nil, fmt.Errorf("configuration as JSON: %w", err)
	}
	digest := sha256.Sum256(configuration)
	m.SchemaVersion, m.Tool, m.State = SchemaVersion, "robocensus", "running"
	m.ConfigurationDigest = hex.EncodeToString(digest[:])
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	r := &Run{
		dir: dir, id: m.Run, tables: m.Tables, toolVersion: m.ToolVersion,
		manifest: m,
		metadata: map[string]string{
			"robocensus.schema_version":       strconv.Itoa(SchemaVersion),
			"robocensus.run":                  m.Run,
			"robocensus.tool_version":         m.ToolVersion,
			"robocensus.profile":              strings.Join(m.Profiles, ","),
			"robocensus.configuration_digest": m.ConfigurationDigest,
		},
	}
	if err := r.save(); err != nil {
		return nil, err
	}
	return r, nil
}

// Folder is where the run keeps its manifest and rejected.csv.
func (r *Run) Folder() string { return filepath.Join(r.dir, "_runs", r.id) }

// enter names parts in the manifest: the moment from which they count.
func (r *Run) enter(parts []Part) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.manifest.Parts
	// Segments commit in any order; the manifest lists them in theirs.
	all := append(slices.Clone(before), parts...)
	slices.SortStableFunc(all, func(a, b Part) int { return a.Segment - b.Segment })
	r.manifest.Parts = all
	if err := r.save(); err != nil {
		r.manifest.Parts = before
		return err
	}
	return nil
}

// Complete marks the run complete, with what is known only at its end.
func (r *Run) Complete(finished time.Time, targets, rejected int64, inputs []Input) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.manifest.State, r.manifest.Finished = "complete", &finished
	r.manifest.Targets, r.manifest.Rejected, r.manifest.Inputs = targets, rejected, inputs
	return r.save()
}

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
	return ReplaceFile(filepath.Join(r.Folder(), "manifest.json"), append(text, '\n'))
}

// ReplaceFile writes a file so that a reader, or a crash, meets the old
// content or the new one and nothing between.
func ReplaceFile(path string, content []byte) error {
	tmp := path + ".tmp"
	f, err := os.Create(tmp)
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// ReadManifest reads the manifest of a run below dir.
func ReadManifest(dir, run string) (*Manifest, error) {
	path := filepath.Join(dir, "_runs", run, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &m, nil
}
