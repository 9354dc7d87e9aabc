package input

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/store"
)

// maxRejected bounds the lines of rejected.csv: a small compressed input may hold
// any number of bad lines or damaged places. All of them are counted.
const maxRejected = 1_000_000

// Skipped counts the records of a source that are not targets, by kind, as the manifest has them.
type Skipped map[string]int64

// Kinds of what is skipped.
const (
	OtherURLs    = "other_urls"       // captures of other URLs than /robots.txt
	OtherRecords = "other_records"    // WARC records of other types
	OtherHosts   = "other_hosts"      // captures of hosts that --hosts does not name
	NotSampled   = "not_sampled"      // rows or captures of hosts that are not in the sample
	Earlier      = "earlier_captures" // captures that are not the last one of their host
	Damaged      = "damaged"          // places that could not be read
	OtherSubsets = "other_subsets"    // rows of a table of captures that are not of the subset robotstxt
)

// Add adds what others counted.
func (s Skipped) Add(others Skipped) {
	for kind, n := range others {
		if n > 0 {
			s[kind] += n
		}
	}
}

// Account accounts for the input that is not a target: rejected.csv lists bad lines and
// damaged records in the order of the input, and [Skipped] counts the rest.
// Archives are read concurrently; each writes to a scratch file until those before
// it are done.
type Account struct {
	mu       sync.Mutex
	file     *store.File                    // rejected.csv, nil for none and when closed
	deferred *store.Scratch                 // its first lines, nil for none
	Scratch  func() (*store.Scratch, error) // makes the scratch file of an archive
	most     int64                          // lines to list
	main     *rejectsFile
	archives map[int]*rejectsFile   // archives that are done and wait for an earlier one
	next     int                    // archive whose lines come next
	n        int64                  // rejected lines and records
	ranks    int64                  // that are not read, of lines that are listed and not rejected
	labels   int64                  // that are not taken, of such lines
	unlisted int64                  // rejected lines and records that the file lacks
	first    string                 // the first rejected line, with its reason
	kinds    map[string]SkippedKind // by the first word of the reason
	skipped  Skipped
	count    func(int64) // counts rejected lines for the progress
}

// SkippedKind counts the lines that are rejected for one kind of reason.
type SkippedKind struct {
	N     int64
	First string // what follows the kind in the first reason, "" for nothing
}

// rejectsFile is rejected.csv or the scratch file of an archive.
type rejectsFile struct {
	archive *store.Scratch // nil for rejected.csv
	w       *csv.Writer
	listed  int64
}

// NewAccount returns an Account that writes to file, and meanwhile to files that
// scratch makes. If file is nil it only counts, unless [Account.Defer] is called. It calls
// count for each rejected line.
func NewAccount(file *store.File, scratch func() (*store.Scratch, error), count func(int64)) *Account {
	w := io.Discard
	if file != nil {
		w = file
	}
	main := &rejectsFile{w: csv.NewWriter(w)}
	main.w.Write(rejectedHeader)
	return &Account{file: file, Scratch: scratch, most: maxRejected, main: main, archives: make(map[int]*rejectsFile),
		kinds: make(map[string]SkippedKind), skipped: make(Skipped), count: count}
}

// Defer lists lines in a scratch file until [Account.Into] gives them one that stays.
func (r *Account) Defer() (err error) {
	if r.deferred, err = r.Scratch(); err != nil {
		return fmt.Errorf("create a file for rejected lines: %w", err)
	}
	r.main.w = csv.NewWriter(r.deferred)
	r.main.w.Write(rejectedHeader)
	return nil
}

// Into moves the lines that are listed to file, which gets those that follow, too.
func (r *Account) Into(file *store.File) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.main.w.Flush()
	err := r.main.w.Error()
	if err == nil {
		_, err = r.deferred.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(file, r.deferred)
	}
	r.file, r.main.w = file, csv.NewWriter(file)
	if err != nil {
		return fmt.Errorf("write rejected.csv: %w", err)
	}
	return nil
}

// Lines returns the number of rejected lines, files and records.
func (r *Account) Lines() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Remarks returns what rejected.csv lists of lines that are not rejected: the ranks that are
// not read, and the labels that are not taken.
func (r *Account) Remarks() (ranks, labels int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ranks, r.labels
}

// Kinds returns the rejected lines by the first word of their reason.
func (r *Account) Kinds() map[string]SkippedKind {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.kinds)
}

// Found returns the number of rejected lines, and the first one with its reason.
func (r *Account) Found() (n int64, first string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n, r.first
}

// Skipped returns what was skipped so far.
func (r *Account) Skipped() Skipped {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.skipped)
}

// Skip adds to what was skipped.
func (r *Account) Skip(s Skipped) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skipped.Add(s)
}

// Host rejects a line of the hosts list.
func (r *Account) Host(line int64, text, reason string) error {
	return r.reject(r.main, line, text, reason, "hosts")
}

// Line rejects a line of an input, which is named by its role in the manifest, or a file.
func (r *Account) Line(line int64, text, reason, input string) error {
	return r.reject(r.main, line, text, reason, input)
}

// Label lists a line of an input one of whose labels is not taken, or rejects one that names
// no host.
func (r *Account) Label(line int64, text, reason, input string) error {
	if !strings.HasPrefix(reason, "label_") {
		return r.Line(line, text, reason, input)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.labels++
	return r.list(r.main, line, text, reason, input)
}

// Sample rejects a URL sample.
func (r *Account) Sample(line int64, url, reason string) error {
	return r.reject(r.main, line, url, reason, "urls")
}

// reject counts and lists a line of an input, which is named by its role in the
// manifest.
func (r *Account) reject(f *rejectsFile, line int64, text, reason, input string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n++; r.n == 1 {
		r.first = fmt.Sprintf("%s: %s", text, reason)
		switch {
		case input == "warc" && f != r.main: // a place in an archive
			r.first = fmt.Sprintf("at byte %d of %s: %s", line, text, reason)
		case line > 0:
			r.first = fmt.Sprintf("line %d: %s", line, reason)
		}
	}
	kind, details, _ := strings.Cut(reason, ": ")
	k := r.kinds[kind]
	if k.N++; k.N == 1 {
		k.First = details
	}
	r.kinds[kind] = k
	r.count(1)
	return r.list(f, line, text, reason, input)
}

// Remark lists a line of the hosts list that is accepted, but not all of it.
func (r *Account) Remark(line int64, text, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ranks++
	return r.list(r.main, line, text, reason, "hosts")
}

// Ranks lists the first line of an input whose rank is not read, and counts all of them.
func (r *Account) Ranks(n, line int64, text, input string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ranks += n
	reason := "bad_rank: not a whole number from 1"
	if n > 1 {
		reason = fmt.Sprintf("bad_rank: not a whole number from 1, the first of %d such; these rows give none", n)
	}
	return r.list(r.main, line, text, reason, input)
}

func (r *Account) list(f *rejectsFile, line int64, text, reason, input string) error {
	if f.listed >= r.most {
		r.unlisted++
		return nil
	}
	f.listed++
	if err := f.w.Write(rejectedRow(line, text, reason, input)); err != nil {
		return fmt.Errorf("write rejected.csv: %w", err)
	}
	return nil
}

// Archive returns the functions by which Archive number i, from 0, rejects places
// and reports that it is done.
func (r *Account) Archive(i int) (reject func(offset int64, path, reason string) error, done func() error, err error) {
	file, err := r.Scratch()
	if err != nil {
		return nil, nil, fmt.Errorf("create a file for rejected captures: %w", err)
	}
	f := &rejectsFile{archive: file, w: csv.NewWriter(file)}
	reject = func(offset int64, path, reason string) error { return r.reject(f, offset, path, reason, "warc") }
	return reject, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.archives[i] = f
		for ; r.archives[r.next] != nil; r.next++ {
			if err := r.append(r.archives[r.next]); err != nil {
				return fmt.Errorf("write rejected.csv: %w", err)
			}
			delete(r.archives, r.next)
		}
		return nil
	}, nil
}

// append copies the lines of an archive to rejected.csv, up to its limit.
func (r *Account) append(f *rejectsFile) error {
	defer f.archive.Close()
	f.w.Flush()
	if err := f.w.Error(); err != nil {
		return err
	}
	if _, err := f.archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := csv.NewReader(bufio.NewReader(f.archive))
	in.ReuseRecord = true
	for {
		record, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r.main.listed >= r.most {
			r.unlisted++
			continue
		}
		r.main.listed++
		if err := r.main.w.Write(record); err != nil {
			return err
		}
	}
}

// Finish completes rejected.csv and returns its digest.
func (r *Account) Finish() (*store.Digest, error) {
	for _, f := range r.archives { // left over if the run ended early
		f.archive.Close()
	}
	if r.unlisted > 0 {
		r.main.w.Write(restOf(r.unlisted, r.most))
	}
	r.main.w.Flush()
	err := r.main.w.Error()
	digest, e := r.file.Finish()
	r.file = nil
	if err = errors.Join(err, e); err != nil {
		return nil, fmt.Errorf("write rejected.csv: %w", err)
	}
	return &digest, nil
}

// Close closes the file of a run that is not complete.
func (r *Account) Close() {
	if r.deferred != nil {
		r.deferred.Close()
	}
	if r.file != nil {
		r.Finish()
	}
}

// ReasonOf returns the reason in rejected.csv for what [fetch.Parse] refuses.
func ReasonOf(err error) string {
	if errors.Is(err, fetch.ErrScheme) {
		return "unsupported_scheme: " + err.Error()
	}
	return "bad_host: " + err.Error()
}
