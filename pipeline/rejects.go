package pipeline

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
)

// maxRejected bounds the lines of rejected.csv: a small archive may unfold to
// any number of damaged places, a small list to any number of lines. All are
// counted.
const maxRejected = 1_000_000

// rejects is rejected.csv: what of the input was no target, in the order of the
// input. Archives are read side by side, and each writes to a file of its own
// until those before it have ended.
type rejects struct {
	mu       sync.Mutex
	file     *store.File                    // rejected.csv, nil once it is closed
	scratch  func() (*store.Scratch, error) // makes a file for an archive
	most     int64                          // lines that are listed
	main     *rejectsFile
	archives map[int]*rejectsFile // that have ended, and wait for one before them
	next     int                  // archive whose lines follow
	n        int64                // of the input, rejected
	unlisted int64                // lines that are in no file
	first    string               // that was rejected, and why
	progress *Progress
}

// rejectsFile is rejected.csv, or the part of it that an archive writes.
type rejectsFile struct {
	archive *store.Scratch // nil for rejected.csv
	w       *csv.Writer
	listed  int64
}

// newRejects writes to file, which its finish ends, and meanwhile to files that
// scratch makes.
func newRejects(file *store.File, scratch func() (*store.Scratch, error), progress *Progress) *rejects {
	main := &rejectsFile{w: csv.NewWriter(file)}
	main.w.Write([]string{"line", "text", "reason", "input"})
	return &rejects{file: file, scratch: scratch, most: maxRejected, main: main, archives: make(map[int]*rejectsFile), progress: progress}
}

// host rejects a line of the hosts list.
func (r *rejects) host(line int64, text, reason string) error {
	return r.reject(r.main, line, text, reason, "hosts")
}

// body rejects a file of bodies.
func (r *rejects) body(file, reason string) error { return r.reject(r.main, 0, file, reason, "bodies") }

// sample rejects a URL sample.
func (r *rejects) sample(line int64, url, reason string) error {
	return r.reject(r.main, line, url, reason, "urls")
}

// reject counts and lists what of an input, named by its role in the manifest,
// is no target.
func (r *rejects) reject(f *rejectsFile, line int64, text, reason, input string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n++; r.n == 1 {
		r.first = fmt.Sprintf("%s: %s", text, reason)
		if line > 0 {
			r.first = fmt.Sprintf("line %d: %s", line, reason)
		}
	}
	r.progress.rejected(1)
	return r.list(f, line, text, reason, input)
}

// remark lists a line of the hosts list that is a target all the same.
func (r *rejects) remark(line int64, text, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list(r.main, line, text, reason, "hosts")
}

func (r *rejects) list(f *rejectsFile, line int64, text, reason, input string) error {
	if f.listed >= r.most {
		r.unlisted++
		return nil
	}
	f.listed++
	if err := f.w.Write([]string{strconv.FormatInt(line, 10), sink.TextString(text), sink.TextString(reason), input}); err != nil {
		return fmt.Errorf("write rejected.csv: %w", err)
	}
	return nil
}

// archive is where archive number i, from 0, rejects places. done must be called
// when it has been read.
func (r *rejects) archive(i int) (reject func(offset int64, path, reason string) error, done func() error, err error) {
	file, err := r.scratch()
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

// append moves the lines of an archive to rejected.csv, as many as there is room
// for.
func (r *rejects) append(f *rejectsFile) error {
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

// finish ends rejected.csv and gives its digest.
func (r *rejects) finish() (*store.Digest, error) {
	for _, f := range r.archives { // of a run that has ended early
		f.archive.Close()
	}
	if r.unlisted > 0 {
		r.main.w.Write([]string{"0", "", fmt.Sprintf("not_listed: %d more; the first %d are listed", r.unlisted, r.most), ""})
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

// close ends the file of a run that is not complete.
func (r *rejects) close() {
	if r.file != nil {
		r.finish()
	}
}
