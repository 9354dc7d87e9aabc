package memory

import (
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fault is how a memory ends whose folder cannot be written any more, as on a
// full disk. Pebble then ends the process, by its log's Fatalf or by panics
// that cannot be recovered, for they unlock its locks twice. So it is not
// told: whatever of it writes is held where the write failed, for ever, and
// those who wait for it get the error and may end the run in good order.
type fault struct {
	once   sync.Once
	broken chan struct{}
	err    error // set before broken is closed
}

func (f *fault) failed() bool {
	select {
	case <-f.broken:
		return true
	default:
		return false
	}
}

// fail makes err the answer to all that is asked from now on.
func (m *Memory) fail(err error) {
	m.once.Do(func() {
		m.err = fmt.Errorf("the state folder %s cannot be written: %w; free space on its disk, or give another --state", m.dir, oneLine{err})
		close(m.broken)
	})
}

// hold does not return from an error.
func (m *Memory) hold(err error) {
	if err != nil {
		m.fail(err)
		select {}
	}
}

// guard does what may be held, in a goroutine that can be left behind.
func (m *Memory) guard(do func() error) error {
	if m.failed() {
		return m.err
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-m.broken:
		return m.err
	}
}

// holding is a file system from whose failing writes nobody returns.
type holding struct {
	vfs.FS
	m *Memory
}

func (h holding) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := h.FS.Create(name, category)
	h.m.hold(err)
	return holdingFile{f, h.m}, nil
}

func (h holding) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := h.FS.ReuseForWrite(from, to, category)
	h.m.hold(err)
	return holdingFile{f, h.m}, nil
}

func (h holding) OpenDir(name string) (vfs.File, error) {
	f, err := h.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return holdingFile{f, h.m}, nil
}

type holdingFile struct {
	vfs.File
	m *Memory
}

func (f holdingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.m.hold(err)
	return n, nil
}

func (f holdingFile) Sync() error {
	f.m.hold(f.File.Sync())
	return nil
}

func (f holdingFile) SyncData() error {
	f.m.hold(f.File.SyncData())
	return nil
}

func (f holdingFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	f.m.hold(err)
	return full, nil
}

// quiet is pebble's log: what matters comes back as an error.
type quiet struct{ m *Memory }

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf must not return.
func (q quiet) Fatalf(format string, args ...any) { q.m.hold(fmt.Errorf(format, args...)) }
