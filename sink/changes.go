package sink

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Comparison is the record of a comparison of a run with an earlier one or, if
// Against is empty, of a check of the run's expectations. It is in the later run's
// folder and is written after the files that it names. While another comparison
// replaces these files, there is no record.
type Comparison struct {
	Run          string        `json:"run"`
	Manifest     string        `json:"manifest_sha256"` // digest in the run's manifest
	Against      string        `json:"against,omitempty"`
	Notes        []string      `json:"notes,omitempty"`             // what was not compared
	Hosts        int64         `json:"hosts,omitempty"`             // origins in both runs
	Unread       int64         `json:"hosts_unread,omitempty"`      // of these, without a state before or after to compare
	Earlier      []EarlierRun  `json:"earlier,omitempty"`           // runs before Against that some states before are from, latest first
	Part         *Part         `json:"part,omitempty"`              // the part of the table changes
	Expectations *store.Digest `json:"expectations_file,omitempty"` // expectations.csv: broken expectations
}

// EarlierRun says how many hosts are compared with a run instead of the first of two,
// which could not read them.
type EarlierRun struct {
	Run   string `json:"run"`
	Hosts int64  `json:"hosts"`
	// Without are agents that both compared runs judge, and this one did not: their
	// policies on these hosts are not compared.
	Without []string `json:"without_agents,omitempty"`
}

// EarlierHosts returns the number of hosts whose state before is not from the first run.
func (c *Comparison) EarlierHosts() (n int64) {
	for _, r := range c.Earlier {
		n += r.Hosts
	}
	return n
}

func (c *Comparison) folder() string { return layout.ComparisonFolder(c.Run, c.Against) }

// partPath returns the path of the only part.
func (c *Comparison) partPath() string { return path.Join(c.folder(), layout.PartName(0, "")) }

func readComparison(s store.Store, run, against string) (*Comparison, error) {
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
	for _, e := range c.Earlier {
		if CheckRunID(e.Run) != nil {
			return nil, fmt.Errorf("%s is %w: it names the run %q", s.Path(name), ErrDamaged, e.Run)
		}
	}
	return c, nil
}

// ReadComparison reads the record of the comparison of a run with the run against or, if against is "", of the check of its expectations. It returns
// [fs.ErrNotExist] if there is no record.
func ReadComparison(s store.Store, run, against string) (*Comparison, error) {
	if err := CheckRunID(run); err != nil {
		return nil, err
	}
	if err := CheckRunID(against); err != nil && against != "" {
		return nil, err
	}
	return readComparison(s, run, against)
}

// ComparisonFile returns the record of a comparison whose part has been copied to s, with
// the manifest of its run. It names no expectations.
func ComparisonFile(s store.Store, c *Comparison) ([]byte, error) {
	m, err := readManifest(s, c.Run)
	if err != nil {
		return nil, err
	}
	record := *c
	record.Manifest, record.Expectations = m.digest, nil
	content, _, err := seal(&record)
	if err != nil {
		return nil, fmt.Errorf("record of the comparison: %w", err)
	}
	return content, nil
}

// PutComparison writes the record of [ComparisonFile].
func PutComparison(s store.Store, c *Comparison) error {
	content, err := ComparisonFile(s, c)
	if err != nil {
		return err
	}
	name := layout.ComparisonRecord(c.Run, c.Against)
	if err := s.MakeFolder(path.Dir(name)); err != nil {
		return err
	}
	return s.Replace(name, path.Dir(name), content)
}

// ComparedWith returns the earlier runs with which a run was compared.
func ComparedWith(s store.Store, run string) (ids []string, err error) {
	files, err := s.List(layout.ComparisonRecords(run))
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && CheckRunID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Changes writes the table `changes` of a run against an earlier one. It has a
// single part, so that one rename replaces that of an earlier comparison of the two.
type Changes struct {
	annex
	w *writer[schema.Change]
}

// CreateChanges starts the comparison of the run m with the run against.
// notes say what is not compared. It returns [ErrRunBusy] if another process makes
// the same comparison.
func CreateChanges(s store.Store, m *Manifest, against, toolVersion string, notes ...string) (*Changes, error) {
	if err := CheckRunID(against); err != nil {
		return nil, err
	}
	c := new(Changes)
	if err := c.begin(s, Comparison{Run: m.Run, Manifest: m.digest, Against: against, Notes: notes}); err != nil {
		return nil, err
	}
	metadata := map[string]string{
		layout.KeySchema:        strconv.Itoa(schema.SchemaVersion),
		layout.KeyRun:           m.Run,
		layout.KeyAgainst:       against,
		layout.KeyToolVersion:   toolVersion,
		layout.KeyConfiguration: m.ConfigurationDigest,
	}
	if len(notes) > 0 {
		metadata[layout.KeyNotes] = strings.Join(notes, "\n")
	}
	var err error
	c.w, err = newWriter[schema.Change](c.store, Part{Table: layout.Changes, Path: c.record.partPath()}, toolVersion, metadata, new(sync.Pool))
	if err != nil {
		c.Abort()
		return nil, err
	}
	c.files = append(c.files, c.w)
	return c, nil
}

// Write appends rows. The caller may reuse their memory afterwards.
func (c *Changes) Write(rows ...schema.Change) error { return Table[schema.Change]{c.w}.Write(rows...) }

// Compared records the number of hosts in both runs, and of those that are not compared
// because a run could not read them. earlier are the runs before the first of two that
// stand in for it where it could not read a host.
func (c *Changes) Compared(hosts, unread int64, earlier ...EarlierRun) {
	c.record.Hosts, c.record.Unread, c.record.Earlier = hosts, unread, earlier
}

// Commit publishes the part in place of an earlier one, then the broken
// expectations, then the record.
func (c *Changes) Commit() error {
	p, err := c.w.finish()
	if err != nil {
		return err
	}
	c.record.Part = &p
	return c.commit()
}

// Check writes the broken expectations of a complete run.
type Check struct{ annex }

// CreateCheck starts the check of the complete run m. It returns [ErrRunBusy]
// if another process makes the same check or removes the run.
func CreateCheck(s store.Store, m *Manifest) (*Check, error) {
	c := new(Check)
	if err := c.begin(s, Comparison{Run: m.Run, Manifest: m.digest}); err != nil {
		return nil, err
	}
	return c, nil
}

// Commit publishes the broken expectations, then the record.
func (c *Check) Commit() error { return c.commit() }

// annex adds files to a complete run, and the record that names them.
type annex struct {
	store  store.Store
	lock   *store.Lock
	record Comparison
	files  []interface {
		publish() error
		discard()
	}
	expectations *store.File // nil without expectations
}

func (a *annex) begin(s store.Store, record Comparison) (err error) {
	if err := CheckRunID(record.Run); err != nil {
		return err
	}
	a.record, a.store = record, s
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

// sweep removes the files that a killed comparison left.
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

// Scratch creates a scratch file in the folder of the comparison.
func (a *annex) Scratch() (*store.Scratch, error) { return a.store.Scratch(a.record.folder()) }

// Expectations creates the file of broken expectations, expectations.csv.
func (a *annex) Expectations() (*store.File, error) {
	f, err := a.store.Create(path.Join(a.record.folder(), layout.ExpectationsName))
	if err != nil {
		return nil, err
	}
	a.expectations = f
	return f, nil
}

// commit publishes the files and the record. It first removes an earlier record, so
// that a crash leaves files without a record, never a record of other files.
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
		err = a.store.Remove(path.Join(a.record.folder(), layout.ExpectationsName)) // the file of an earlier comparison
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

// Abort removes the written files. An earlier comparison stays, unless publication
// has started. After Commit it does nothing.
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
	if a.lock == nil {
		return
	}
	a.lock.Release()
	a.lock = nil
	if a.record.Against != "" { // Remove fails if the folder is not empty
		a.store.Remove(a.record.folder())
		a.store.Remove(path.Dir(a.record.folder()))
	}
}

// comparisons returns the folders and records of all comparisons of a run with
// earlier or later runs.
func comparisons(s store.Store, run string) (names []string, err error) {
	names = []string{layout.TableFolder(layout.Changes, run)}
	later, err := s.List(layout.Changes)
	for _, f := range later {
		if f.IsDir() {
			names = append(names, path.Join(layout.Changes, f.Name(), layout.AgainstPrefix+run))
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
