package memory

import (
	"fmt"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fault ends the use of a memory whose folder cannot be written any more, as on
// a full disk. Pebble would then end the process, by its log's Fatalf or by
// panics that cannot be recovered because they unlock its locks twice. So
// pebble never sees the error: each of its goroutines that writes blocks
// forever at the failed write. Callers that wait for it get the error and can
// end the run properly.
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

// fail makes all later calls return err.
func (m *Memory) fail(err error) {
	m.once.Do(func() {
		m.err = fmt.Errorf("the state folder %s cannot be written: %w; free space on its disk, or give another --state",
			m.dir, oneLine{err})
		close(m.broken)
	})
}

// hold blocks forever if err is not nil.
func (m *Memory) hold(err error) {
	if err != nil {
		m.fail(err)
		select {}
	}
}

// guard runs do, which may block in hold, in a goroutine that can be left
// behind.
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

// holding is a file system whose writes never return an error: they block
// instead.
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

// Lock leaves the release to the memory: pebble removes files after its own.
func (h holding) Lock(name string) (io.Closer, error) {
	lock, err := h.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	h.m.lock = lock
	return io.NopCloser(nil), nil
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

// quiet is pebble's log. It drops everything: what matters is returned as an
// error.
type quiet struct{ m *Memory }

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf must not return.
func (q quiet) Fatalf(format string, args ...any) { q.m.hold(fmt.Errorf(format, args...)) }
