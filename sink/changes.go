package sink

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// Changes writes the table `changes` of one run against an earlier one. It is
// a single part, so that one rename replaces what an earlier comparison of the
// two has left.
type Changes struct {
	w      *writer[Change]
	lock   *flock.Flock
	folder string
	over   bool
}

// CreateChanges begins the comparison of the run m with the run against, below
// dir; notes say what is not compared, for [ComparisonNotes]. Another process
// that is at the same comparison is [ErrRunBusy].
func CreateChanges(dir string, m *Manifest, against, toolVersion string, notes ...string) (*Changes, error) {
	for _, id := range []string{m.Run, against} {
		if err := CheckRunID(id); err != nil {
			return nil, err
		}
	}
	c := &Changes{folder: filepath.Join(tableFolder(dir, "changes", m.Run), "against="+against)}
	if err := os.MkdirAll(c.folder, 0o777); err != nil {
		return nil, fmt.Errorf("create the folder of a table: %w", err)
	}
	for _, folder := range []string{dir, filepath.Join(dir, "changes"), filepath.Dir(c.folder)} {
		if err := syncFolder(folder); err != nil {
			return nil, err
		}
	}
	var err error
	if c.lock, err = lockFolder(c.folder); err != nil {
		return nil, fmt.Errorf("lock the comparison: %w", err)
	}
	if c.lock == nil {
		return nil, fmt.Errorf("the comparison of %s with %s %w", m.Run, against, ErrRunBusy)
	}
	if err := c.sweep(); err != nil {
		unlockRun(c.lock)
		return nil, err
	}
	metadata := map[string]string{
		metadataSchema:            strconv.Itoa(SchemaVersion),
		metadataRun:               m.Run,
		metadataAgainst:           against,
		"robocensus.tool_version": toolVersion,
		metadataConfiguration:     m.ConfigurationDigest,
	}
	if len(notes) > 0 {
		metadata[metadataNotes] = strings.Join(notes, "\n")
	}
	c.w, err = newWriter[Change](filepath.Join(c.folder, changesPart), Part{Table: "changes"}, toolVersion, metadata, new(sync.Pool))
	if err != nil {
		unlockRun(c.lock)
		return nil, err
	}
	return c, nil
}

// changesPart is the one part of a comparison, in its folder.
const changesPart = "part-000000.parquet"

// ComparisonNotes are the notes with which the part of a comparison was made.
func ComparisonNotes(path string) (notes []string, err error) {
	defer func() {
		// arrow-go panics on some files that are damaged.
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged Parquet: %v", r)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	reader, err := openParquet(f, buffered())
	if err != nil {
		return nil, err
	}
	if text := reader.MetaData().KeyValueMetadata().FindValue(metadataNotes); text != nil {
		notes = strings.Split(*text, "\n")
	}
	return notes, nil
}

// sweep removes what an earlier comparison has left that was killed.
func (c *Changes) sweep() error {
	files, err := os.ReadDir(c.folder)
	for _, f := range files {
		if err == nil && strings.HasSuffix(f.Name(), ".tmp") {
			err = os.Remove(filepath.Join(c.folder, f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("remove what a comparison has left: %w", err)
	}
	return nil
}

// Folder is where the part lies, and where files that are removed once they
// are open may lie meanwhile.
func (c *Changes) Folder() string { return c.folder }

// Write appends rows, whose memory may be reused once it returns.
func (c *Changes) Write(rows ...Change) error { return Table[Change]{c.w}.Write(rows...) }

// Commit publishes the part in place of an earlier one.
func (c *Changes) Commit() error {
	_, err := c.w.finish()
	if err == nil {
		err = c.w.publish()
	}
	if err == nil {
		err = syncFolder(c.folder)
	}
	if err != nil {
		return err
	}
	c.over = true
	unlockRun(c.lock)
	return nil
}

// Abort removes what was written; an earlier part stays. After Commit it does
// nothing.
func (c *Changes) Abort() {
	if c.over {
		return
	}
	c.over = true
	c.w.file.Close()
	os.Remove(c.w.tmp)
	unlockRun(c.lock)
	os.Remove(c.folder) // unless something is in it
	os.Remove(filepath.Dir(c.folder))
}

// comparisons are the folders of changes that a run has a part in.
func comparisons(dir, run string) []string {
	out := []string{tableFolder(dir, "changes", run)}
	later, _ := os.ReadDir(filepath.Join(dir, "changes"))
	for _, f := range later {
		out = append(out, filepath.Join(dir, "changes", f.Name(), "against="+run))
	}
	return out
}
