package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"sync"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// spool bounds the memory of answers in flight. A host may send almost all of
// the largest possible body and then stall, and so may every host in flight.
// Each answer has a block of memory. Beyond that it takes from the room that
// all share and, once that is spent, writes blocks to one file. Waiting for
// room instead would let the server time out and blame it for our shortage.
type spool struct {
	create  func() (*os.File, error) // nil: room is unlimited
	landing chan struct{}            // a place for each body read back from the file
	heavy   chan struct{}            // a place for each heavy answer; see weighed

	mu   sync.Mutex
	room int64
	file *os.File
	free []int64 // offsets of the file's free blocks
	end  int64
}

const (
	blockBytes = 16 << 10
	// lightBytes exceeds the TLS handshake and header of an ordinary answer.
	// heavyBytes is the parsed size of the largest of both.
	lightBytes = 32 << 10
	heavyBytes = 1 << 20
	// maxHeavy bounds the heavy answers if memory does not.
	maxHeavy = 256
)

func newSpool(b Backing, maxBody int) *spool {
	s := &spool{create: b.Spool, room: b.Room, heavy: make(chan struct{}, maxHeavy)}
	if s.create != nil {
		s.heavy = make(chan struct{}, min(max(b.Room/heavyBytes, 4), maxHeavy))
		s.landing = make(chan struct{}, min(max(b.Room/int64(2*maxBody), 1), 16))
	}
	return s
}

// take reports whether there is room for n more bytes in memory.
func (s *spool) take(n int64) bool {
	if s.create == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room < n {
		return false
	}
	s.room -= n
	return true
}

// give returns what was taken, and blocks of the file.
func (s *spool) give(n int64, blocks []int64) {
	if s.create == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room += n
	s.free = append(s.free, blocks...)
}

// block takes a block of the file.
func (s *spool) block() (at int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		if s.file, err = s.create(); err != nil {
			return 0, spoolError(err)
		}
	}
	if n := len(s.free); n > 0 {
		at, s.free = s.free[n-1], s.free[:n-1]
		return at, nil
	}
	s.end += blockBytes
	return s.end - blockBytes, nil
}

func spoolError(err error) error {
	return fetch.OurFailure(answer.ErrorCanceled, "spool an answer to disk: %w", err)
}

// text is a body, or its encoded form, while it is read.
type text struct {
	spool  *spool
	paused func(time.Duration) // called with waits for the disk; may be nil
	blocks []int64             // offsets of its blocks in the spool's file, in order
	stored int                 // bytes in the blocks, of which the last may have room for more
	tail   []byte              // the bytes after these
	taken  int64               // bytes taken from the spool's room
	isLean bool                // it is read once, as a stream: no more than leanBytes of it stay in memory
}

// leanBytes bounds the memory of a lean text, if there is a disk.
const leanBytes = 256 << 10

// newText returns a text with an expected size.
func newText(s *spool, expect int, paused func(time.Duration)) *text {
	t := &text{spool: s, paused: paused}
	if expect++; expect > blockBytes {
		if s.take(int64(expect)) {
			t.taken = int64(expect)
		} else {
			expect = blockBytes
		}
	}
	t.tail = make([]byte, 0, expect)
	return t
}

func (t *text) size() int { return t.stored + len(t.tail) }

// fill reads r to its end, or up to limit bytes. truncated reports whether
// there was more. After an error the text keeps the bytes read before it.
func (t *text) fill(r io.Reader, limit int) (truncated bool, err error) {
	for {
		if len(t.tail) == cap(t.tail) {
			if err := t.grow(limit + 1); err != nil {
				return false, err
			}
		}
		n, err := r.Read(t.tail[len(t.tail):cap(t.tail)])
		t.tail = t.tail[:len(t.tail)+n]
		if over := t.size() - limit; over > 0 {
			t.tail = t.tail[:len(t.tail)-over]
			return true, nil
		}
		switch {
		case err == io.EOF:
			return false, nil
		case errors.Is(err, fetch.ErrTooMuch):
			return true, nil
		case err != nil:
			return false, err
		}
	}
}

// Write appends bytes.
func (t *text) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(t.tail) == cap(t.tail) {
			if err := t.grow(math.MaxInt); err != nil {
				return n, err
			}
		}
		k := copy(t.tail[len(t.tail):cap(t.tail)], p[n:])
		t.tail, n = t.tail[:len(t.tail)+k], n+k
	}
	return n, nil
}

// grow extends the tail of a text that has at most `most` bytes.
func (t *text) grow(most int) error {
	size := min(2*cap(t.tail)+512, most-t.stored)
	switch more := int64(size) - t.taken; {
	case size <= blockBytes:
	case len(t.blocks) == 0 && (!t.isLean || size <= leanBytes || t.spool.create == nil) && t.spool.take(more):
		t.taken += more
	case cap(t.tail) < blockBytes:
		size = blockBytes
	default:
		err := t.unload()
		if err == nil || !t.spool.take(more) { // a disk that is full for a while
			return err
		}
		t.taken += more
	}
	t.tail = append(make([]byte, 0, size), t.tail...)
	return nil
}

// fit gives memory back that the text does not need for now.
func (t *text) fit() {
	n := len(t.tail)
	if cap(t.tail)-n <= n/4 {
		return
	}
	t.tail = append(make([]byte, 0, n), t.tail...)
	if n <= blockBytes {
		n = 0 // which takes nothing
	}
	if more := t.taken - int64(n); more > 0 {
		t.spool.give(more, nil)
		t.taken -= more
	}
}

// lay moves a text to disk that nobody needs for now, if there is a disk. What does not get
// there stays in memory.
func (t *text) lay() {
	if t.spool.create != nil && t.store() == nil {
		t.tail = nil
		return
	}
	t.fit()
}

// unload moves the tail to the file, and makes room for more.
func (t *text) unload() error {
	began, room := time.Now(), t.tail[:0]
	if t.taken > 0 || cap(room) != blockBytes {
		room = make([]byte, 0, blockBytes)
	}
	if err := t.store(); err != nil {
		return err
	}
	t.tail = room
	if t.paused != nil {
		t.paused(time.Since(began))
	}
	return nil
}

// store writes the tail to the file. After an error the tail has what is not there, and the
// last block may be empty.
func (t *text) store() error {
	for len(t.tail) > 0 {
		from := t.stored % blockBytes
		if t.stored == len(t.blocks)*blockBytes {
			block, err := t.spool.block()
			if err != nil {
				return err
			}
			t.blocks = append(t.blocks, block)
		}
		n := min(len(t.tail), blockBytes-from)
		if _, err := t.spool.file.WriteAt(t.tail[:n], t.blocks[len(t.blocks)-1]+int64(from)); err != nil {
			return spoolError(err)
		}
		t.stored, t.tail = t.stored+n, t.tail[n:]
	}
	t.spool.give(t.taken, nil)
	t.taken = 0
	return nil
}

// bytes returns the whole text.
func (t *text) bytes() ([]byte, error) {
	if len(t.blocks) == 0 {
		if cap(t.tail)-len(t.tail) > len(t.tail)/4 {
			return append(make([]byte, 0, len(t.tail)), t.tail...), nil
		}
		return t.tail, nil
	}
	return t.part(span{0, t.size()})
}

// part returns a copy of a span.
func (t *text) part(s span) ([]byte, error) {
	p := make([]byte, s.to-s.from)
	n := 0
	for at := s.from; at < min(s.to, t.stored); at = s.from + n {
		from := at % blockBytes
		size := min(blockBytes-from, t.stored-at, len(p)-n)
		if _, err := (spoolFile{t.spool}).ReadAt(p[n:n+size], t.blocks[at/blockBytes]+int64(from)); err != nil {
			return nil, err
		}
		n += size
	}
	if n < len(p) {
		copy(p[n:], t.tail[s.from+n-t.stored:])
	}
	return p, nil
}

// reader returns a reader of the whole text.
func (t *text) reader() io.Reader {
	readers := make([]io.Reader, 0, len(t.blocks)+1)
	for i, at := range t.blocks {
		size := min(blockBytes, t.stored-i*blockBytes)
		readers = append(readers, io.NewSectionReader(spoolFile{t.spool}, at, int64(size)))
	}
	return io.MultiReader(append(readers, bytes.NewReader(t.tail))...)
}

// spoolFile marks errors of the disk, to distinguish them from errors of the
// connection.
type spoolFile struct{ s *spool }

func (f spoolFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.s.file.ReadAt(p, off)
	if err != nil && n < len(p) {
		err = spoolError(err)
	}
	return n, err
}

// release returns the memory and blocks of the text. It may be called again.
func (t *text) release() {
	t.spool.give(t.taken, t.blocks)
	t.taken, t.blocks, t.stored, t.tail, t.paused = 0, nil, 0, nil, nil
}

// pausing returns a function that moves the deadlines of connections by a wait
// of ours.
func pausing(ctx context.Context, b *budget, conns ...net.Conn) func(time.Duration) {
	return func(d time.Duration) {
		b.wait(d)
		for _, conn := range conns {
			conn.SetDeadline(b.deadline)
			if ctx.Err() != nil {
				conn.SetDeadline(time.Unix(1, 0)) // [expire] may have done so already
			}
		}
	}
}
