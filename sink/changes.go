package sink

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// Comparison is the record of a comparison of a run with an earlier one, or, of
// one with none, of what was expected of the run alone. It lies in the later
// run's folder and is written after the files that it names. While a later
// comparison publishes others in their place there is none.
type Comparison struct {
	Run          string        `json:"run"`
	Manifest     string        `json:"manifest_sha256"` // the run's manifest's own digest
	Against      string        `json:"against,omitempty"`
	Notes        []string      `json:"notes,omitempty"`             // what was not compared
	Hosts        int64         `json:"hosts,omitempty"`             // origins in both runs
	Unread       int64         `json:"hosts_unread,omitempty"`      // of these, the ones that a run could not read
	Part         *Part         `json:"part,omitempty"`              // of changes
	Expectations *store.Digest `json:"expectations_file,omitempty"` // expectations.csv, of what is broken
}

func (c *Comparison) folder() string { return layout.ComparisonFolder(c.Run, c.Against) }

// partPath is where the one part lies.
func (c *Comparison) partPath() string { return path.Join(c.folder(), layout.PartName(0)) }

func readComparison(s *store.Store, run, against string) (*Comparison, error) {
	name := layout.ComparisonRecord(run, against)
	c := new(Comparison)
	if _, err := readSealed(s, name, maxSealed, c); err != nil {
		return nil, err
	}
	if c.Run != run || c.Against != against || (c.Part == nil) != (against == "") || c.Part == nil && c.Expectations == nil {
		return nil, fmt.Errorf("%s is %w: it is the record of run %q against %q", s.Path(name), ErrDamaged, c.Run, c.Against)
	}
	if c.Part != nil {
		if err := checkPart(*c.Part, []string{layout.Changes}, c.partPath()); err != nil {
			return nil, fmt.Errorf("%s is %w", s.Path(name), err)
		}
	}
	return c, nil
}

// ReadComparison reads the record of the comparison of a run below dir with an
// earlier one, or, with none, of what was expected of the run alone. It returns
// [fs.ErrNotExist] where there is none.
func ReadComparison(dir, run, against string) (*Comparison, error) {
	if err := CheckRunID(run); err != nil {
		return nil, err
	}
	if err := CheckRunID(against); err != nil && against != "" {
		return nil, err
	}
	s, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return readComparison(s, run, against)
}

// ComparedWith are the runs that a run was compared with.
func ComparedWith(s *store.Store, run string) (ids []string, err error) {
	files, err := s.List(layout.RunFile(run, "against"))
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && CheckRunID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Changes writes the table `changes` of one run against an earlier one. It is
// a single part, so that one rename replaces what an earlier comparison of the
// two has left.
type Changes struct {
	annex
	w *writer[Change]
}

// CreateChanges begins the comparison of the run m with the run against, below
// dir; notes say what is not compared. Another process that is at the same
// comparison is [ErrRunBusy].
func CreateChanges(dir string, m *Manifest, against, toolVersion string, notes ...string) (*Changes, error) {
	if err := CheckRunID(against); err != nil {
		return nil, err
	}
	c := new(Changes)
	if err := c.begin(dir, Comparison{Run: m.Run, Manifest: m.digest, Against: against, Notes: notes}); err != nil {
		return nil, err
	}
	metadata := map[string]string{
		layout.KeySchema:        strconv.Itoa(SchemaVersion),
		layout.KeyRun:           m.Run,
		layout.KeyAgainst:       against,
		layout.KeyToolVersion:   toolVersion,
		layout.KeyConfiguration: m.ConfigurationDigest,
	}
	if len(notes) > 0 {
		metadata[layout.KeyNotes] = strings.Join(notes, "\n")
	}
	var err error
	c.w, err = newWriter[Change](c.store, Part{Table: layout.Changes, Path: c.record.partPath()}, toolVersion, metadata, new(sync.Pool))
	if err != nil {
		c.Abort()
		return nil, err
	}
	c.files = append(c.files, c.w)
	return c, nil
}

// Write appends rows, whose memory may be reused once it returns.
func (c *Changes) Write(rows ...Change) error { return Table[Change]{c.w}.Write(rows...) }

// Compared records how many hosts both runs have, and how many of them could
// not be read in one of the two or in both. Nothing of those is compared.
func (c *Changes) Compared(hosts, unread int64) { c.record.Hosts, c.record.Unread = hosts, unread }

// Commit publishes the part in place of an earlier one, then the expectations,
// then the record.
func (c *Changes) Commit() error {
	p, err := c.w.finish()
	if err != nil {
		return err
	}
	c.record.Part = &p
	return c.commit()
}

// Check writes what is broken of the expectations of one complete run.
type Check struct{ annex }

// CreateCheck begins the check of the complete run m below dir. Another process
// that is at the same check, or removes the run, is [ErrRunBusy].
func CreateCheck(dir string, m *Manifest) (*Check, error) {
	c := new(Check)
	if err := c.begin(dir, Comparison{Run: m.Run, Manifest: m.digest}); err != nil {
		return nil, err
	}
	return c, nil
}

// Commit publishes the expectations, then their record.
func (c *Check) Commit() error { return c.commit() }

// annex is what is added to a complete run: files, and the record that names
// them.
type annex struct {
	store  *store.Store
	lock   *store.Lock
	record Comparison
	files  []interface {
		publish() error
		discard()
	}
	expectations *store.File // nil where nothing is expected
}

func (a *annex) begin(dir string, record Comparison) (err error) {
	if err := CheckRunID(record.Run); err != nil {
		return err
	}
	a.record = record
	if a.store, err = store.Open(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			a.Abort()
		}
	}()
	if err := a.store.MakeFolder(record.folder()); err != nil {
		return fmt.Errorf("create the folder of a comparison: %w", err)
	}
	a.lock, err = a.store.Lock(record.folder())
	if errors.Is(err, store.ErrLocked) && record.Against == "" {
		return fmt.Errorf("run %s %w", record.Run, ErrRunBusy)
	}
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("the comparison of %s with %s %w", record.Run, record.Against, ErrRunBusy)
	}
	if err != nil {
		return fmt.Errorf("lock the comparison: %w", err)
	}
	return a.sweep()
}

// sweep removes what an earlier comparison has left that was killed.
func (a *annex) sweep() error {
	files, err := a.store.List(a.record.folder())
	for _, f := range files {
		if err == nil && store.IsTemporary(f.Name()) {
			err = a.store.Remove(path.Join(a.record.folder(), f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("clean up the comparison: %w", err)
	}
	return nil
}

// Scratch makes a file to write to and read back while the work is under way.
func (a *annex) Scratch() (*store.Scratch, error) { return a.store.Scratch(a.record.folder()) }

// Expectations begins the file of what is broken, expectations.csv.
func (a *annex) Expectations() (*store.File, error) {
	f, err := a.store.Create(path.Join(a.record.folder(), layout.ExpectationsName))
	if err != nil {
		return nil, err
	}
	a.expectations = f
	return f, nil
}

// commit publishes the files and the record. Meanwhile there is no record: a
// crash leaves files that none names, and not files that are not those named.
func (a *annex) commit() error {
	name := layout.ComparisonRecord(a.record.Run, a.record.Against)
	if a.expectations != nil {
		digest, err := a.expectations.Finish()
		if err != nil {
			return fmt.Errorf("write expectations.csv: %w", err)
		}
		a.record.Expectations = &digest
	}
	content, _, err := seal(&a.record)
	if err != nil {
		return fmt.Errorf("record of the comparison: %w", err)
	}
	if err := a.store.Remove(name); err != nil {
		return err
	}
	if err := a.store.MakeFolder(path.Dir(name)); err != nil {
		return err
	}
	if err := a.store.Sync(path.Dir(name)); err != nil {
		return err
	}
	for _, f := range a.files {
		if err := f.publish(); err != nil {
			return err
		}
	}
	if a.expectations != nil {
		err = a.expectations.Publish()
	} else {
		err = a.store.Remove(path.Join(a.record.folder(), layout.ExpectationsName)) // of an earlier comparison
	}
	if err == nil {
		err = a.store.Sync(a.record.folder())
	}
	if err == nil {
		err = a.store.Replace(name, a.record.folder(), content)
	}
	if err != nil {
		return fmt.Errorf("publish a comparison: %w", err)
	}
	a.files, a.expectations = nil, nil
	a.close()
	return nil
}

// Abort removes what was written; an earlier comparison stays, unless this one
// has begun to be published. After Commit it does nothing.
func (a *annex) Abort() {
	for _, f := range a.files {
		f.discard()
	}
	if a.expectations != nil {
		a.expectations.Discard()
	}
	a.files, a.expectations = nil, nil
	a.close()
}

func (a *annex) close() {
	if a.store == nil {
		return
	}
	if a.lock != nil {
		a.lock.Release()
		a.lock = nil
		if a.record.Against != "" { // unless something is in them
			a.store.Remove(a.record.folder())
			a.store.Remove(path.Dir(a.record.folder()))
		}
	}
	a.store.Close()
	a.store = nil
}

// comparisons are the folders and records of all comparisons that a run has a
// part in.
func comparisons(s *store.Store, run string) (names []string, err error) {
	names = []string{layout.TableFolder(layout.Changes, run)}
	later, err := s.List(layout.Changes)
	for _, f := range later {
		if f.IsDir() {
			names = append(names, path.Join(layout.Changes, f.Name(), "against="+run))
		}
	}
	runs, e := s.List(layout.Runs)
	for _, f := range runs {
		if f.IsDir() {
			names = append(names, layout.ComparisonRecord(f.Name(), run))
		}
	}
	return names, errors.Join(err, e)
}
