// Package memory keeps the answers of origins from run to run. A run asks it
// before the network, and stores each answer in it.
//
// It keeps facts: the last answer, the last whole copy, and the kinds of
// answers since. Each profile decides whether they are an outage.
package memory

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// Memory is a store of earlier answers in a folder on disk, which one process
// can open at a time. It is safe for concurrent use until it is closed. Its use
// of the process's memory is bounded, except for 8 to 16 bytes per origin
// during a sweep.
//
// It keeps one record per origin, and each body once, under its digest.
type Memory struct {
	dir     string
	made    []string  // folders that Open has created, the innermost first
	lock    io.Closer // of the folder
	db      *pebble.DB
	keeping [256]sync.Mutex // one for each hash of an origin: keep reads before it writes

	// Estimates that decide when to sweep.
	bodies, superseded atomic.Int64

	fault
}

// digest is the SHA-256 of a body. The tables use SHA-1, as Common Crawl does,
// but SHA-1 has collisions: a host could publish a file that replaces another
// host's.
type digest [sha256.Size]byte

// history is what the memory knows about an origin. The zero value is empty.
type history struct {
	// Run is the run that stored Last.
	Run string
	// Last is the latest answer, nil if there is none. Its Body is nil;
	// LastBody is the digest of the body, nil if it had none. Its Err has only
	// the text of the original.
	Last     *fetch.Capture
	LastBody *digest
	// Memory holds the kinds of answers up to Last.
	Memory answer.Memory
	// Copy is the last whole copy, nil unless some profile could still use it.
	Copy *goodCopy
}

// goodCopy is a complete body of a 2xx answer, up to the limit of its request.
type goodCopy struct {
	Fetched   time.Time
	Digest    digest
	Truncated bool // the body was longer than the limit
}

// Open opens the memory in dir and creates it if necessary. It returns [ErrInUse] if
// another process has it open. If many bodies have been superseded, Open
// removes them, which may take a while.
func Open(dir string) (*Memory, error) {
	m := &Memory{dir: dir, made: missing(filepath.Join(dir, "answers")), fault: fault{broken: make(chan struct{})}}
	// Pebble removes files that look like old ones of its own, and dir may be
	// any folder by mistake. So it gets a subfolder.
	err := m.guard(func() (err error) {
		if m.db, err = pebble.Open(filepath.Join(dir, "answers"), m.options()); err != nil && m.lock != nil {
			m.lock.Close()
		}
		return err
	})
	switch {
	case err == nil:
	case m.failed():
		return nil, err
	case isLocked(err):
		return nil, fmt.Errorf("the state folder %s %w (%w)", dir, ErrInUse, err)
	default:
		return nil, fmt.Errorf("open the state folder %s: %w; if it is damaged or of a newer version, give another --state",
			dir, oneLine{err})
	}
	err = m.checkVersion()
	if err == nil {
		err = m.sweep()
	}
	if err != nil {
		m.guard(func() error { return cmp.Or(m.db.Close(), m.lock.Close()) }) // an error would be a consequence of err
		return nil, err
	}
	return m, nil
}

// ErrInUse reports a folder that another process has open.
var ErrInUse = errors.New("is in use by another run")

// errFirst stops reading after the first record.
var errFirst = errors.New("the first record")

// checkVersion refuses a folder of another version before a run begins. All
// records of a folder have the same version.
func (m *Memory) checkVersion() error {
	err := m.each(recordPrefix, func(_, value []byte) error {
		if len(value) > 0 && value[0] > 0 && value[0] != recordVersion {
			return fmt.Errorf("the state folder %s has format %d, but this program reads only format %d; give another "+
				"--state, or remove this one with its memory", m.dir, value[0], recordVersion)
		}
		return errFirst
	})
	if errors.Is(err, errFirst) {
		return nil
	}
	return err
}

// ErrOtherShare reports a folder that remembers other hosts.
var ErrOtherShare = errors.New("remembers other hosts")

// Bind binds a new folder to a share of the hosts, such as a shard, or to all hosts
// (""). A folder that is bound to another share is [ErrOtherShare]: it would lack some
// of the hosts, and nothing would say so.
func (m *Memory) Bind(share string) error {
	before, err := m.get([]byte{sharePrefix})
	if err != nil {
		return err
	}
	bound := before != nil
	if !bound { // new, or written before there were shares
		err := m.each(recordPrefix, func(_, _ []byte) error { return errFirst })
		if bound = errors.Is(err, errFirst); err != nil && !bound {
			return err
		}
	}
	if bound && string(before) != share {
		of := func(share string) string {
			if share == "" {
				return "all hosts"
			}
			return "the hosts of " + share
		}
		return fmt.Errorf("the state folder %s %w: %s, not %s; give another --state", m.dir, ErrOtherShare,
			of(string(before)), of(share))
	}
	if bound {
		return nil
	}
	b := m.db.NewBatch()
	if err := b.Set([]byte{sharePrefix}, []byte(share), nil); err != nil {
		return fmt.Errorf("bind the state folder %s: %w", m.dir, err)
	}
	return m.commit(b, pebble.Sync)
}

// isLocked reports whether err is about pebble's lock. Pebble returns such
// errors unwrapped; errors about files name the file.
func isLocked(err error) bool {
	_, bare := err.(syscall.Errno)
	return bare || err.Error() == "lock held by current process"
}

func (m *Memory) options() *pebble.Options {
	o := &pebble.Options{
		FS:                 holding{vfs.Default, m},
		Logger:             quiet{m},
		FormatMajorVersion: pebble.FormatNewest,
		CacheSize:          32 << 20,
		MemTableSize:       16 << 20,
		MaxOpenFiles:       128, // leaves the descriptors to connections
		EventListener: &pebble.EventListener{
			// Pebble would retry forever, whether the disk is full or a file
			// damaged, and writers would wait.
			BackgroundError: m.fail,
			// The read that found the damage returns the error.
			DataCorruption: func(pebble.DataCorruptionInfo) {},
		},
	}
	o.Levels[0].FilterPolicy = bloom.FilterPolicy(10) // most origins of a first run are unknown
	o.Levels[0].BlockSize = 32 << 10                  // records and files resemble each other and compress well together
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionBalanced })
	return o
}

// Close closes the folder. No other call may be in progress. If the folder has
// failed, it stays locked until the process ends.
func (m *Memory) Close() error { return m.close(func() error { return nil }) }

// close calls last before it unlocks the folder, which then another process may use.
func (m *Memory) close(last func() error) error {
	if err := m.storeCounts(); err != nil {
		return err
	}
	return m.guard(func() error {
		if err := m.db.Close(); err != nil {
			return fmt.Errorf("close the state folder %s: %w", m.dir, oneLine{err})
		}
		return cmp.Or(last(), m.lock.Close())
	})
}

// Discard is [Memory.Close] for a memory that nobody has used. It removes the folders that
// [Open] has created.
func (m *Memory) Discard() error {
	if len(m.made) == 0 {
		return m.Close()
	}
	var left error
	err := m.close(func() error {
		left = os.RemoveAll(m.made[0])
		return nil
	})
	if err == nil && left != nil { // Windows removes no file that is open, and so no lock
		err = cmp.Or(os.Remove(filepath.Join(m.made[0], "LOCK")), os.Remove(m.made[0]))
	}
	if err != nil {
		return fmt.Errorf("remove the state folder: %w", err)
	}
	for _, folder := range m.made[1:] {
		if os.Remove(folder) != nil {
			break // another process uses it
		}
	}
	return nil
}

// missing returns the folders of a path that do not exist, the innermost first.
func missing(path string) (all []string) {
	for {
		if _, err := os.Lstat(path); err == nil || path == filepath.Dir(path) {
			return all
		}
		all, path = append(all, path), filepath.Dir(path)
	}
}

// recall returns what is known about o.
func (m *Memory) recall(o fetch.Origin) (history, error) {
	r, err := m.record(o)
	if err != nil || r == nil {
		return history{}, err
	}
	return r.past(), nil
}

// keep stores c as the latest answer of its origin, on behalf of a run. It is
// on disk when keep returns. A request that was stopped, or that we refused to
// send, says nothing about the site and is not kept.
//
// A complete 2xx body becomes the copy. The copy is dropped when an answer
// comes after which no profile could use it: using it would restore rules that
// were withdrawn.
func (m *Memory) keep(run string, c *fetch.Capture) error {
	if c.Error == answer.ErrorCanceled || c.Error == answer.ErrorAddressBlocked || c.Error == answer.ErrorNoRoute {
		return nil
	}
	origin := fnv.New32a()
	io.WriteString(origin, c.Origin.String())
	one := &m.keeping[origin.Sum32()%uint32(len(m.keeping))]
	one.Lock()
	defer one.Unlock()
	old, err := m.record(c.Origin)
	if err != nil {
		return err
	}
	if old == nil {
		old = &record{}
	}
	next := old.followed(run, c)
	b := m.db.NewBatch()
	if err := m.account(b, old, next, c.Body); err != nil {
		return err
	}
	value, err := next.encode()
	if err != nil {
		return fmt.Errorf("keep the answer of %s: %w", c.Origin, err)
	}
	if err := b.Set(recordKey(c.Origin), value, nil); err != nil {
		return fmt.Errorf("keep the answer of %s: %w", c.Origin, err)
	}
	return m.commit(b, pebble.Sync)
}

// body returns the body with a digest from a [history].
func (m *Memory) body(d digest) ([]byte, error) {
	body, err := m.get(key(bodyPrefix, d[:]))
	switch {
	case err != nil:
		return nil, err
	case body == nil:
		err = errors.New("is missing")
	case sha256.Sum256(body) != d:
		err = errors.New("is damaged")
	default:
		return body, nil
	}
	return nil, fmt.Errorf("the state folder %s: body %x %w; give another --state", m.dir, d[:4], err)
}

// record returns the record of an origin, nil if there is none.
func (m *Memory) record(o fetch.Origin) (*record, error) {
	value, err := m.get(recordKey(o))
	if err != nil || value == nil {
		return nil, err
	}
	r, err := decodeRecord(value)
	if err == nil && r.last.Origin != o {
		err = errors.New("is damaged")
	}
	if err != nil {
		return nil, m.unreadable(o.String(), err)
	}
	return r, nil
}

func (m *Memory) unreadable(origin string, err error) error {
	return fmt.Errorf("the state folder %s: the record of %s %w; give another --state, or remove this "+
		"one with its memory", m.dir, origin, err)
}

func (m *Memory) reading(err error) error {
	return fmt.Errorf("read the state folder %s: %w; if it is damaged, give another --state", m.dir, oneLine{err})
}

// oneLine is a pebble error. Only its first line is meant for people.
type oneLine struct{ error }

func (e oneLine) Error() string {
	line, _, _ := strings.Cut(e.error.Error(), "\n")
	return line
}

func (e oneLine) Unwrap() error { return e.error }

// get returns a copy of the value, nil if there is none.
func (m *Memory) get(key []byte) ([]byte, error) {
	if m.failed() {
		return nil, m.err
	}
	value, closer, err := m.db.Get(key)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, m.reading(err)
	}
	defer closer.Close()
	return append(make([]byte, 0, len(value)), value...), nil
}

// commit writes b. Pebble groups the syncs of concurrent commits.
func (m *Memory) commit(b *pebble.Batch, o *pebble.WriteOptions) error {
	return m.guard(func() error {
		if err := m.db.Apply(b, o); err != nil {
			return fmt.Errorf("write the state folder %s: %w", m.dir, oneLine{err})
		}
		return b.Close()
	})
}
