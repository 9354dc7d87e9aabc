// Package views writes views.sql: DuckDB views over the tables of a folder.
//
// The bare name of a table shows the last complete run and its first profile,
// so that no count includes a run or a profile twice; the schema history shows
// all of them. The file names the last run as a literal, because DuckDB would
// have to read every manifest in every query to find it. It is therefore
// written again after each run, comparison and prune.
package views

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

const fileName = "views.sql"

// Write writes views.sql for the runs and comparisons in a folder.
func Write(s store.Store) error {
	return WriteIn(s, func(name string, content []byte) error { return s.Replace(name, ".", content) })
}

// Published returns the contents of views.sql for the data set in s, to which nobody can
// add a table.
func Published(s store.Store) ([]byte, error) { return textIn(s, true) }

// WriteIn writes views.sql with replace. A run passes [sink.Run.ReplaceFile], whose
// temporary files are removed after a crash.
func WriteIn(s store.Store, replace func(name string, content []byte) error) error {
	if err := sweep(s, time.Now()); err != nil {
		return err
	}
	for {
		text, err := textIn(s, false)
		if err != nil {
			return err
		}
		// Two runs that end at the same time may overwrite each other's views, so
		// repeat until the file covers both.
		old, err := s.Read(fileName, int64(len(text)))
		if err == nil && bytes.Equal(old, text) {
			return nil
		}
		if err := replace(fileName, text); err != nil {
			return err
		}
	}
}

// sweep removes the temporary files of views that a crash left in a folder. Another
// process may be about to rename a young one.
func sweep(s store.Store, now time.Time) error {
	if _, isFolder := s.(*store.Folder); !isFolder {
		return nil // an object store has no temporary files
	}
	files, err := s.List(".")
	for _, f := range files {
		if err != nil {
			break
		}
		stem, _, _ := strings.Cut(f.Name(), ".")
		if stem+".sql" != fileName || !store.IsTemporary(f.Name()) || f.IsDir() {
			continue
		}
		if info, e := f.Info(); e == nil && now.Sub(info.ModTime()) > writingLasts {
			err = s.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("clean up the views: %w", err)
	}
	return nil
}

// writingLasts is how long a process writes views, at most: several times what it takes.
const writingLasts = time.Minute

// Check describes what is wrong with the views.sql of a folder, or returns "".
func Check(s store.Store) (wrong string, err error) {
	const anew = "the next run, comparison or prune writes it anew"
	for {
		runs, err := completeRuns(s)
		if err != nil {
			return "", err
		}
		// A run may have started after the file was written.
		all, err := filesOf(s, runs)
		if err != nil {
			return "", err
		}
		hows := []string{""}
		if len(runs) == 0 {
			hows = journal.WaysToComplete
		}
		for _, in := range []files{all, all.finished(runs)} {
			for _, how := range hows {
				text, err := textOf(in, runs, how, false)
				if err != nil {
					return "", err
				}
				old, err := s.Read(fileName, int64(len(text)))
				if err == nil && bytes.Equal(old, text) {
					return "", nil
				}
				if errors.Is(err, fs.ErrNotExist) {
					return "is missing; " + anew, nil
				}
			}
		}
		if now, err := journal.CompleteRuns(s); err == nil && len(now) == len(runs) {
			return "is not what this version of robocensus writes for the runs that are here; " + anew, nil
		}
	}
}

// files finds the files of runs.
type files struct {
	glob func(pattern string) ([]string, error)
	base string // URL of the object store, with a slash at the end; "" for a folder
	// columns names the columns that the tables of a run have. Runs that are not in it may
	// have others.
	columns map[string]string
}

// haveSameColumns reports whether all parts of a table are known to have the same columns.
func (f files) haveSameColumns(table string, parts []string) bool {
	if table == "changes" {
		return false // of the program that compared, which is not that of the runs
	}
	var same string
	for _, name := range parts {
		run, _, _ := strings.Cut(strings.TrimPrefix(name, table+"/run="), "/")
		has := f.columns[run]
		if has == "" || same != "" && has != same {
			return false
		}
		same = has
	}
	return true
}

// columnsOf returns the columns that the tables of each run have, as files.columns.
func columnsOf(s store.Store, runs []*journal.Manifest) map[string]string {
	columns := make(map[string]string)
	for _, m := range runs {
		columns[m.Run] = ""
		if m.Columns != "" {
			columns[m.Run] = strings.Join(append([]string{m.Columns}, m.Without...), " ")
		}
	}
	if _, isFolder := s.(*store.Folder); !isFolder {
		return columns // of an object store views name complete runs only
	}
	ids, err := journal.RunIDs(s)
	if err != nil {
		return columns
	}
	for _, id := range ids {
		if _, isComplete := columns[id]; isComplete {
			continue
		}
		if plan, _, err := journal.ReadPlan(s, id); err == nil {
			columns[id] = plan.Columns
		}
	}
	return columns
}

// finished finds only files of complete runs.
func (f files) finished(runs []*journal.Manifest) files {
	return files{base: f.base, columns: f.columns, glob: func(pattern string) (names []string, err error) {
		found, err := f.glob(pattern)
		for _, name := range found {
			if slices.ContainsFunc(runs, func(m *journal.Manifest) bool { return strings.Contains(name, "/run="+m.Run+"/") }) {
				names = append(names, name)
			}
		}
		return names, err
	}}
}

// forDuckDB returns the URL by which DuckDB knows a folder: it has another scheme for
// Azure.
func forDuckDB(url string) string {
	if rest, ok := strings.CutPrefix(url, "azblob://"); ok {
		return "az://" + rest
	}
	return url
}

// filesOf returns the files of runs in s. An object store is not searched, but the
// manifests and the records of comparisons name what is there: DuckDB could not list
// the store either, and its list may lag.
func filesOf(s store.Store, runs []*journal.Manifest) (files, error) {
	if folder, ok := s.(*store.Folder); ok {
		// Views ask several times for the files of a table, and each search reads the
		// folders of all runs.
		known := make(map[string][]string)
		return files{columns: columnsOf(s, runs), glob: func(pattern string) (names []string, err error) {
			names, ok := known[pattern]
			if !ok {
				if names, err = folder.Glob(pattern); err == nil {
					known[pattern] = names
				}
			}
			return names, err
		}}, nil
	}
	var named []string
	for _, m := range runs {
		for _, p := range slices.Concat(m.RunParts, m.Parts) {
			named = append(named, p.Path)
		}
		compared, err := journal.ComparedWith(s, m.Run)
		if err != nil {
			return files{}, fmt.Errorf("look for comparisons: %w", err)
		}
		for _, against := range compared {
			// A comparison that is being replaced, or damaged, has no view.
			if c, err := journal.ReadComparison(s, m.Run, against); err == nil {
				named = append(named, c.Part.Path)
			}
		}
	}
	return files{base: forDuckDB(s.Path("")) + "/", columns: columnsOf(s, runs),
		glob: func(pattern string) (names []string, err error) {
			for _, name := range named {
				if ok, e := path.Match(pattern, name); ok {
					names = append(names, name)
				} else if e != nil {
					err = e
				}
			}
			return names, err
		}}, nil
}

// completeRuns returns the complete runs of a folder with the parts that views name:
// of the last one, if it is made of shards, and of all in an object store.
func completeRuns(s store.Store) (runs []*journal.Manifest, err error) {
	heads, err := journal.CompleteRuns(s)
	if err != nil {
		return nil, err
	}
	_, isFolder := s.(*store.Folder)
	for i, m := range heads {
		if !isFolder || i == len(heads)-1 && m.Shards > 1 {
			if m, err = journal.ReadManifest(s, m.Run); err != nil {
				continue // damaged, as CompleteRuns skips it
			}
		}
		runs = append(runs, m)
	}
	return runs, nil
}

// textIn returns the contents of views.sql.
func textIn(in store.Store, published bool) ([]byte, error) {
	runs, err := completeRuns(in)
	if err != nil {
		return nil, err
	}
	files, err := filesOf(in, runs)
	if err != nil {
		return nil, err
	}
	how := ""
	if len(runs) == 0 {
		if how, err = journal.HowToComplete(in); err != nil {
			return nil, err
		}
	}
	return textOf(files, runs, how, published)
}

// textOf returns the contents of views.sql. If no run is complete, how says how to
// complete one.
func textOf(in files, runs []*journal.Manifest, how string, published bool) ([]byte, error) {
	var out strings.Builder
	out.WriteString(configs.Views)
	gone := columnsWithout(runs)
	for _, s := range []scope{everyRun(how), lastRun(runs, how)} {
		s.without = gone
		if in.base != "" {
			s = s.inStore()
		}
		if published {
			s = s.inDataSet()
		}
		fmt.Fprintf(&out, "\n-- %s\nSET schema = %s;\n", s.about, Quote(s.schema))
		// A view must come after those that it joins; TableNames has that order.
		for _, table := range append(slices.Clone(schema.TableNames), "changes") {
			view, err := s.view(in, table)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "\n%s\n", view)
			if known, err := s.files(in, table); err != nil {
				return nil, err
			} else if known == "" && published {
				continue // the data set does not have these columns
			}
			for _, d := range sink.Dictionary() {
				if d.Table == table && !gone[table+"."+d.Column] {
					fmt.Fprintf(&out, "COMMENT ON COLUMN %s.%s IS %s;\n", table, nameSQL(d.Column), Quote(d.Meaning))
				}
			}
		}
		out.WriteString(derived(configs.DerivedViews, gone))
	}
	out.WriteString(listOf(runs))
	out.WriteString(derived(configs.SeriesViews, gone))
	return []byte(out.String()), nil
}
