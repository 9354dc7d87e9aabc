package sink

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Changes writes the table `changes` of a run against an earlier one. It has a
// single part, so that one rename replaces that of an earlier comparison of the two.
type Changes struct {
	annex
	w *writer[schema.Change]
}

// CreateChanges starts the comparison of the run m with the run against.
// notes say what is not compared. It returns [ErrRunBusy] if another process makes
// the same comparison.
func CreateChanges(s store.Store, m *journal.Manifest, against, toolVersion string, notes ...string) (*Changes, error) {
	if err := journal.CheckRunID(against); err != nil {
		return nil, err
	}
	c := new(Changes)
	if err := c.begin(s, journal.Comparison{Run: m.Run, Manifest: m.Digest(), Against: against,
		Notes: notes}); err != nil {
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
	c.w, err = newWriter[schema.Change](c.store, journal.Part{Table: layout.Changes, Path: c.record.PartPath()},
		toolVersion, metadata, new(sync.Pool))
	if err != nil {
		c.Abort()
		return nil, err
	}
	c.part = c.w
	return c, nil
}

// Write appends rows. The caller may reuse their memory afterwards.
func (c *Changes) Write(rows ...schema.Change) error { return Table[schema.Change]{c.w}.Write(rows...) }

// Compared records the number of hosts in both runs, and of those that are not compared
// because a run could not read them. earlier are the runs before the first of two that
// stand in for it where it could not read a host.
func (c *Changes) Compared(hosts, unread int64, earlier ...journal.EarlierRun) {
	c.record.Hosts, c.record.Unread, c.record.Earlier = hosts, unread, earlier
}

// Result records what was found, as JSON, the digest in the manifest of the earlier run
// and that of the expectations, "" for none.
func (c *Changes) Result(found []byte, manifest, expectations string) {
	c.record.AgainstManifest, c.record.ExpectationsOf = manifest, expectations
	if len(found) <= journal.MostResult {
		c.record.Result = found
	}
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
func CreateCheck(s store.Store, m *journal.Manifest) (*Check, error) {
	c := new(Check)
	if err := c.begin(s, journal.Comparison{Run: m.Run, Manifest: m.Digest()}); err != nil {
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
	record journal.Comparison
	part   openPart // of the table changes; nil for a check

	expectations *store.File // nil without expectations
}

func (a *annex) begin(s store.Store, record journal.Comparison) (err error) {
	if err := journal.CheckRunID(record.Run); err != nil {
		return err
	}
	a.record, a.store = record, s
	defer func() {
		if err != nil {
			a.Abort()
		}
	}()
	if err := a.store.MakeFolder(record.Folder()); err != nil {
		return fmt.Errorf("create the folder of a comparison: %w", err)
	}
	a.lock, err = a.store.Lock(record.Folder())
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
	files, err := a.store.List(a.record.Folder())
	for _, f := range files {
		if err == nil && store.IsTemporary(f.Name()) {
			err = a.store.Remove(path.Join(a.record.Folder(), f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("clean up the comparison: %w", err)
	}
	return nil
}

// Scratch creates a scratch file in the folder of the comparison.
func (a *annex) Scratch() (*store.Scratch, error) { return a.store.Scratch(a.record.Folder()) }

// Expectations creates the file of broken expectations, expectations.csv.
func (a *annex) Expectations() (*store.File, error) {
	f, err := a.store.Create(path.Join(a.record.Folder(), layout.ExpectationsName))
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
	content, err := a.record.Seal()
	if err != nil {
		return err
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
	if a.part != nil {
		if err := a.part.publish(); err != nil {
			return err
		}
	}
	if a.expectations != nil {
		err = a.expectations.Publish()
	} else {
		err = a.store.Remove(path.Join(a.record.Folder(), layout.ExpectationsName)) // the file of an earlier comparison
	}
	if err == nil {
		err = a.store.Sync(a.record.Folder())
	}
	if err == nil {
		err = a.store.Replace(name, a.record.Folder(), content)
	}
	if err != nil {
		return fmt.Errorf("publish a comparison: %w", err)
	}
	a.part, a.expectations = nil, nil
	a.close()
	return nil
}

// Abort removes the written files. An earlier comparison stays, unless publication
// has started. After Commit it does nothing.
func (a *annex) Abort() {
	if a.part != nil {
		a.part.discard()
	}
	if a.expectations != nil {
		a.expectations.Discard()
	}
	a.part, a.expectations = nil, nil
	a.close()
}

func (a *annex) close() {
	if a.lock == nil {
		return
	}
	a.lock.Release()
	a.lock = nil
	if a.record.Against != "" { // Remove fails if the folder is not empty
		a.store.Remove(a.record.Folder())
		a.store.Remove(path.Dir(a.record.Folder()))
	}
}
