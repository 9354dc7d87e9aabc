package pipeline

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/robocensus/robocensus/sink"
)

// rejects is rejected.csv: the input lines that were no target.
type rejects struct {
	mu       sync.Mutex // volumes are read side by side
	file     *os.File
	w        *csv.Writer
	n        int64
	progress *Progress
}

func newRejects(folder string, progress *Progress) (*rejects, error) {
	f, err := os.Create(filepath.Join(folder, "rejected.csv"))
	if err != nil {
		return nil, fmt.Errorf("create rejected.csv: %w", err)
	}
	r := &rejects{file: f, w: csv.NewWriter(f), progress: progress}
	r.w.Write([]string{"line", "text", "reason", "input"})
	return r, nil
}

// host rejects a line of the hosts list.
func (r *rejects) host(line int64, text, reason string) error {
	r.count()
	return r.write(line, text, reason)
}

func (r *rejects) count() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	r.progress.rejected(1)
}

// archive tells of a place in an archive, which stands for the line.
func (r *rejects) archive(offset int64, path, reason string) error {
	r.count()
	return r.add(offset, path, reason, "warc")
}

// body rejects a file of bodies.
func (r *rejects) body(file, reason string) error {
	r.count()
	return r.add(0, file, reason, "bodies")
}

// write remarks on a line of the hosts list.
func (r *rejects) write(line int64, text, reason string) error {
	return r.add(line, text, reason, "hosts")
}

// add writes a line about an input, named by its role in the manifest.
func (r *rejects) add(line int64, text, reason, input string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.w.Write([]string{strconv.FormatInt(line, 10), sink.TextString(text), sink.TextString(reason), input}); err != nil {
		return fmt.Errorf("write rejected.csv: %w", err)
	}
	return nil
}

// close may be called twice.
func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	r.w.Flush()
	err := errors.Join(r.w.Error(), r.file.Sync(), r.file.Close())
	r.file = nil
	if err != nil {
		return fmt.Errorf("write rejected.csv: %w", err)
	}
	return nil
}
