package sink

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	stateRunning  = "running"
	stateComplete = "complete"
)

// Manifest says what a run was asked, what it read and which parts it wrote.
// A part that it does not name does not count.
type Manifest struct {
	SchemaVersion       int            `json:"schema_version"`
	SummaryBins         int            `json:"summary_bins"` // version of the bins of distributions in summary
	Tool                string         `json:"tool"`
	ToolVersion         string         `json:"tool_version"`
	Run                 string         `json:"run"`
	State               string         `json:"state"` // running or complete
	Started             time.Time      `json:"started"`
	Finished            *time.Time     `json:"finished,omitempty"`
	Configuration       map[string]any `json:"configuration"`
	Pace                map[string]any `json:"pace"`                 // settings that the tables do not depend on
	ConfigurationDigest string         `json:"configuration_digest"` // SHA-256 of configuration as JSON
	Inputs              []Input        `json:"inputs"`
	Tables              []string       `json:"tables"`
	Profiles            []string       `json:"profiles"`
	Tally
	Totals []Part `json:"totals,omitempty"` // what the parts of summary and examples come to, beside the manifest
	// Parts come last, and may be half a million.
	Parts []Part `json:"parts"`

	head bool // the parts were not read
}

// Tally says what became of the source.
type Tally struct {
	Targets  int64            `json:"targets"`
	Rejected int64            `json:"rejected"`          // lines of rejected.csv
	Skipped  map[string]int64 `json:"skipped,omitempty"` // what is no target and no mistake, by kind
}

// Complete reports whether the run has come to its end.
func (m *Manifest) Complete() bool { return m.State == stateComplete }

// Input is one file that was read. Of standard input, digest and rows are
// known only when the run is complete.
type Input struct {
	Role   string `json:"role"` // hosts, warc, bodies, run, ranks, agents, urls, configuration
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"`
	// Of an archive, which is not read for a digest: its size, and the
	// SHA-256 of that (8 bytes, big endian), its first and its last 64 KiB;
	// of a folder, of the names, sizes and times of its files.
	Bytes int64  `json:"bytes,omitempty"`
	Ends  string `json:"ends_sha256,omitempty"`
	Rows  int64  `json:"rows,omitempty"`
}

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

// manifestName is the manifest of a run, in its folder. While the run is under
// way it holds what was known at the start, and the journal names the parts.
// removingName is what it is called once the removal of the run has begun.
const (
	manifestName = "manifest.json"
	removingName = "removing.json"
)

// errDamaged tells that the manifest or the journal is not what was written.
var errDamaged = errors.New("damaged")

// ReadManifest reads the manifest of a run below dir, with the parts that are
// committed so far where the run is under way or interrupted. It returns
// [fs.ErrNotExist] where there is no such run.
func ReadManifest(dir, run string) (*Manifest, error) {
	if err := CheckRunID(run); err != nil {
		return nil, err
	}
	folder := filepath.Join(dir, "_runs", run)
	m, err := readManifestFile(folder)
	if err != nil || m.State == stateComplete {
		return m, err
	}
	entries, _, err := readJournal(filepath.Join(folder, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		// Between the two reads the run was completed, or removed.
		if m, e := readManifestFile(folder); e != nil || m.State == stateComplete {
			return m, e
		}
		return nil, fmt.Errorf("%s is %w: %s is gone", folder, errDamaged, journalName)
	}
	if err != nil {
		return nil, err
	}
	m.Parts = partsOf(entries)
	return m, nil
}

// ReadManifestHead reads what [ReadManifest] does, but for the parts of a
// complete run that has totals: [ReadCounts] and [ReadExamples] can do without.
func ReadManifestHead(dir, run string) (*Manifest, error) {
	if err := CheckRunID(run); err != nil {
		return nil, err
	}
	if m := readHead(filepath.Join(dir, "_runs", run, manifestName)); m != nil && m.State == stateComplete && len(m.Totals) > 0 {
		return m, nil
	}
	return ReadManifest(dir, run)
}

// readHead reads a manifest as far as its parts, nil where that cannot be done.
func readHead(path string) *Manifest {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	d := json.NewDecoder(f)
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	fields := make(map[string]json.RawMessage)
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		if name == "parts" {
			break
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil
		}
		fields[name.(string)] = value
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	m := Manifest{head: true}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil
	}
	return &m
}

func readManifestFile(folder string) (*Manifest, error) {
	path := filepath.Join(folder, manifestName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(filepath.Join(folder, removingName)); e == nil {
			return nil, fmt.Errorf("%s: %w by --force-new", folder, errRemoving)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s is %w: %w", path, errDamaged, err)
	}
	if m.State != stateRunning && m.State != stateComplete {
		return nil, fmt.Errorf("%s is %w: state %q is neither running nor complete", path, errDamaged, m.State)
	}
	return &m, nil
}

// partsOf lists the parts of segments, which are committed in any order, in
// the order of the segments.
func partsOf(entries []entry) []Part {
	parts := []Part{}
	for _, e := range entries {
		parts = append(parts, e.Parts...)
	}
	sortParts(parts)
	return parts
}

func sortParts(parts []Part) {
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.Segment, b.Segment) })
}

// ReplaceFile writes a file so that a reader, or a crash, meets the old
// content or the new one and nothing between.
func ReplaceFile(path string, content []byte) error { return replaceFile(path, path, content) }

// ReplaceFile replaces a file of the output folder as [ReplaceFile] does. What
// a crash leaves of it lies in the run's folder, where [Open] removes it.
func (r *Run) ReplaceFile(name string, content []byte) error {
	return replaceFile(filepath.Join(r.dir, name), filepath.Join(r.Folder(), name), content)
}

// replaceFile makes the new file beside like, under a name that begins so.
func replaceFile(path, like string, content []byte) error {
	// Two programs may replace one file at the same moment.
	tmp := like + "." + rand.Text()[:8] + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = syncFile(f)
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
