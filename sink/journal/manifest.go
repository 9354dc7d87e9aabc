package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

const (
	stateIncomplete = "running" // a run without a manifest: in progress, or interrupted
	stateComplete   = "complete"
)

// Manifest holds the configuration of a run, what it read and which parts it wrote.
// A part that it does not name does not count. It is written once, when the run is
// complete; before that, it is derived from the plan and the records.
type Manifest struct {
	Plan
	PlanDigest string `json:"plan_sha256"`
	State      string `json:"state"` // running or complete
	// Date is when the answers were given, by which runs are ordered: Plan.AsOf; else,
	// for captures of archives, the median day of the captures; else the start. An
	// incomplete run does not know its captures yet.
	Date     time.Time  `json:"date"`
	Finished *time.Time `json:"finished,omitempty"`
	Tally
	RejectedFile *store.Digest `json:"rejected_file,omitempty"` // rejected.csv
	WARCFile     *WARCFile     `json:"warc_file,omitempty"`     // requests and answers of all segments
	RunParts     []Part        `json:"run_parts,omitempty"`     // parts of the tables with one part for the whole run
	// Without are the columns, as table.column, that the parts of a published run lack.
	Without []string `json:"without,omitempty"`

	// Last, because there may be half a million of them (see readHead).
	Records []RecordName `json:"records"`
	Parts   []Part       `json:"parts"`
	WARC    []Part       `json:"warc,omitempty"` // requests and answers, of segments or shards

	digest string // digest of this manifest; "" for an incomplete run
	head   bool   // without records and parts
}

// RecordName names the record of a segment.
type RecordName struct {
	Segment int    `json:"segment"`
	SHA256  string `json:"sha256"` // digest at the end of the record
}

// Tally counts the rows of the source.
type Tally struct {
	Targets  int64            `json:"targets"`
	Rejected int64            `json:"rejected"`          // lines that give no target
	Skipped  map[string]int64 `json:"skipped,omitempty"` // neither target nor mistake, by kind
}

// Digest returns the digest at the end of the manifest, or "" for an incomplete run.
func (m *Manifest) Digest() string { return m.digest }

// Complete reports whether the run is complete.
func (m *Manifest) Complete() bool { return m.State == stateComplete }

// FirstProfile returns the profile whose reading the tables hold, "" if there is none.
func (m *Manifest) FirstProfile() string {
	if len(m.Profiles) == 0 {
		return ""
	}
	return m.Profiles[0]
}

// HowToComplete says, as an imperative clause, how to complete a run that is not.
func (m *Manifest) HowToComplete() string {
	if m.Shards > 1 {
		return WaysToComplete[1]
	}
	return WaysToComplete[0]
}

// WaysToComplete holds what [Manifest.HowToComplete] may say.
var WaysToComplete = []string{
	"complete it with robocensus run --resume",
	"start the shards that are missing, which robocensus runs shows, with robocensus run --shard",
}

// PartsOf returns the parts of a table, in the order of the input.
func (m *Manifest) PartsOf(table string) []Part {
	return append(PartsOf(table, m.RunParts), PartsOf(table, m.Parts)...)
}

// PartsIn returns the parts of a table in a segment.
func (m *Manifest) PartsIn(segment int, table string) []Part {
	return slices.DeleteFunc(m.PartsOf(table), func(p Part) bool { return p.Segment != segment })
}

// BySegment returns the parts of each segment by table, and the segments in order. A
// shard may have several parts of a table.
func (m *Manifest) BySegment() (parts map[int]map[string][]Part, segments []int) {
	parts = make(map[int]map[string][]Part)
	for _, p := range m.Parts {
		if parts[p.Segment] == nil {
			parts[p.Segment] = make(map[string][]Part)
			segments = append(segments, p.Segment)
		}
		parts[p.Segment][p.Table] = append(parts[p.Segment][p.Table], p)
	}
	return parts, segments
}

// RowsOf returns the number of rows of a table.
func (m *Manifest) RowsOf(table string) (n int64) {
	for _, p := range m.PartsOf(table) {
		n += p.Rows
	}
	return n
}

// ReadManifest reads the manifest of a run. For an incomplete run it has the parts
// committed so far. It returns [fs.ErrNotExist] if there is no such run.
func ReadManifest(s store.Store, run string) (*Manifest, error) {
	return readRun(s, run, ReadComplete)
}

// ReadManifestHead is like [ReadManifest], but omits the records and parts of the
// segments of a complete run.
func ReadManifestHead(s store.Store, run string) (*Manifest, error) {
	return readRun(s, run, readHead)
}

func readRun(s store.Store, run string, complete func(s store.Store, run string) (*Manifest, error)) (*Manifest,
	error) {
	if err := CheckRunID(run); err != nil {
		return nil, err
	}
	m, err := complete(s, run)
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	m, _, err = ReadCommitted(s, run)
	// The run may have been completed in the meantime.
	if now, e := complete(s, run); !errors.Is(e, fs.ErrNotExist) {
		return now, e
	}
	return m, err
}

// ManifestFile returns the file of the manifest of a complete run whose parts are in s.
func ManifestFile(s store.Store, m *Manifest) ([]byte, error) {
	if err := m.check(s, m.Run); err != nil {
		return nil, err
	}
	return sealManifest(m)
}

// ErrRunExists reports that the output folder already has a run with this ID.
var ErrRunExists = errors.New("the run already exists")

// PutManifest writes the file of [ManifestFile].
func PutManifest(s store.Store, m *Manifest) error {
	content, err := ManifestFile(s, m)
	if err != nil {
		return err
	}
	if err := s.MakeFolder(layout.RunFile(m.Run)); err != nil {
		return err
	}
	won, err := s.Put(layout.RunFile(m.Run, layout.ManifestName), content)
	if err == nil && !won {
		err = fmt.Errorf("%w: %s", ErrRunExists, m.Run)
	}
	return err
}

// ReadComplete reads the manifest of a complete run. It returns [fs.ErrNotExist] if there
// is none.
func ReadComplete(s store.Store, run string) (*Manifest, error) {
	m := new(Manifest)
	digest, err := readSealed(s, layout.RunFile(run, layout.ManifestName), maxManifest, m)
	if err != nil {
		return nil, err
	}
	m.digest = digest
	m.setDate()
	return m, m.check(s, run)
}

// ReadCommitted derives the manifest of an incomplete run from its plan and the records of
// its committed segments, and returns these in order. They are there in a complete run too.
func ReadCommitted(s store.Store, run string) (*Manifest, []*Record, error) {
	plan, digest, err := ReadPlan(s, run)
	if err != nil {
		return nil, nil, err
	}
	records, err := committedRecords(s, &plan, digest)
	if err != nil {
		return nil, nil, err
	}
	return NewManifest(plan, digest, records), records, nil
}

// ReadOutline reads the manifest of a run without records and parts. It does not read the
// records of an incomplete run, which may be damaged.
func ReadOutline(s store.Store, run string) (*Manifest, error) {
	m, err := readHead(s, run)
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	plan, digest, err := ReadPlan(s, run)
	return NewManifest(plan, digest, nil), err
}

// NewManifest derives the manifest of an incomplete run from its plan and the records of
// its segments.
func NewManifest(p Plan, digest string, records []*Record) *Manifest {
	m := &Manifest{Plan: p, PlanDigest: digest, State: stateIncomplete, Parts: []Part{}}
	m.setDate()
	m.add(records)
	return m
}

// Finish makes the manifest that of a complete run. read are the inputs as they were read,
// and counts the rows of summary.
func (m *Manifest) Finish(at time.Time, read []Input, counts []schema.Count) {
	m.Inputs = m.asRead(read)
	m.State, m.Finished, m.Date = stateComplete, &at, m.dateBy(counts)
}

// add adds the records of segments and their parts.
func (m *Manifest) add(records []*Record) {
	for _, r := range records {
		m.Records = append(m.Records, RecordName{r.Segment, r.digest})
		m.Targets += r.Targets
		m.Parts = append(m.Parts, r.Parts...)
		if r.WARC != nil {
			m.WARC = append(m.WARC, *r.WARC)
		}
		if r.Shard != nil && r.Shard.WARCFile != nil {
			m.WARCFile = r.Shard.WARCFile
		}
	}
}

// Files returns the files that the manifest names in the output folder.
func (m *Manifest) Files() []Part { return slices.Concat(m.RunParts, m.Parts, m.WARC) }

// check returns [ErrDamaged] if the manifest contradicts itself or its run.
func (m *Manifest) check(s store.Store, run string) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s is %w: %s", s.Path(layout.RunFile(run, layout.ManifestName)), ErrDamaged,
			fmt.Sprintf(format, args...))
	}
	if m.Run != run {
		return bad("it is the manifest of run %q", m.Run)
	}
	if m.Finished == nil {
		return bad("it does not say when the run was finished")
	}
	if m.State != stateComplete {
		return bad("state %q is not complete", m.State)
	}
	if m.Shards < 1 || m.FromShards < 0 || m.Targets < 0 || m.Rejected < 0 {
		return bad("it says %d shards, of %d, with %d targets and %d rejected lines", m.Shards, m.FromShards, m.Targets,
			m.Rejected)
	}
	for i, p := range m.RunParts {
		twice := slices.ContainsFunc(m.RunParts[:i], func(q Part) bool { return q.Table == p.Table })
		if !layout.OfRun[p.Table] || twice || p.Segment != 0 ||
			checkPart(p, m.Tables, layout.Part(p.Table, run, 0, layout.Attempt(p.Path))) != nil {
			return bad("it names %q as the part of table %q", p.Path, p.Table)
		}
	}
	before, paths := -1, map[string]bool{} // the paths of one segment
	for _, p := range m.Parts {
		if p.Segment != before {
			clear(paths)
		}
		if p.Segment < before || paths[p.Path] || layout.OfRun[p.Table] ||
			checkPart(p, m.Tables, layout.Part(p.Table, run, p.Segment, layout.Attempt(p.Path))) != nil {
			return bad("it names %q as a part of table %q and segment %d", p.Path, p.Table, p.Segment)
		}
		before, paths[p.Path] = p.Segment, true
	}
	for _, p := range m.WARC {
		if err := checkWARCPart(p, run, p.Segment); err != nil {
			return bad("it names %q as a WARC file of segment %d", p.Path, p.Segment)
		}
	}
	if text := m.lacks(); text != "" {
		return bad("%s", text)
	}
	return nil
}

// lacks says what a manifest does not name that a complete run has, or returns "".
// Readers of the tables rely on it that no segment is missing.
func (m *Manifest) lacks() string {
	for _, table := range m.Tables {
		if layout.OfRun[table] && !slices.ContainsFunc(m.RunParts, func(p Part) bool { return p.Table == table }) {
			return "it names no part of table " + table
		}
	}
	if m.head {
		return ""
	}
	tables := slices.DeleteFunc(slices.Clone(m.Tables), func(table string) bool { return layout.OfRun[table] })
	before, targets := -1, int64(0)
	for parts := m.Parts; len(parts) > 0; {
		segment, named := parts[0].Segment, make(map[string]bool)
		for ; len(parts) > 0 && parts[0].Segment == segment; parts = parts[1:] {
			if named[parts[0].Table] = true; parts[0].Table == "fetches" {
				targets += parts[0].Rows
			}
		}
		if text := layout.Gap(before, segment); text != "" {
			return text
		}
		before = segment
		for _, table := range tables {
			if layout.HasPart(table, segment) && !named[table] {
				return fmt.Sprintf("it names no part of table %s and segment %d", table, segment)
			}
		}
	}
	everywhere := slices.ContainsFunc(tables, func(table string) bool { return layout.HasPart(table, 1) })
	switch {
	case len(tables) > 0 && before < 0:
		return "it names no segment"
	case everywhere && m.Shards > 1 && before != m.Shards-1:
		return fmt.Sprintf("it names the shards up to %d, of %d", before, m.Shards)
	case slices.Contains(tables, "fetches") && targets != m.Targets:
		return fmt.Sprintf("it says %d targets, and fetches has %d rows", m.Targets, targets)
	}
	return ""
}
