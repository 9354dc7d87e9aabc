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
	"github.com/robocensus/robocensus/fetch/internal/failure"
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

// put writes a block to the file.
func (s *spool) put(block []byte) (at int64, err error) {
	s.mu.Lock()
	if s.file == nil {
		s.file, err = s.create()
	}
	if n := len(s.free); n > 0 {
		at, s.free = s.free[n-1], s.free[:n-1]
	} else {
		at, s.end = s.end, s.end+blockBytes
	}
	s.mu.Unlock()
	if err == nil {
		_, err = s.file.WriteAt(block, at)
	}
	if err != nil {
		return 0, spoolError(err)
	}
	return at, nil
}

func spoolError(err error) error {
	return failure.Ours(answer.ErrorCanceled, "spool an answer to disk: %w", err)
}

// text is a body, or its encoded form, while it is read.
type text struct {
	spool  *spool
	paused func(time.Duration) // called with waits for the disk; may be nil
	blocks []int64             // offsets of its blocks in the spool's file, in order
	tail   []byte              // the bytes after the blocks
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

func (t *text) size() int { return len(t.blocks)*blockBytes + len(t.tail) }

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
		case errors.Is(err, failure.ErrTooMuch):
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
	size := min(2*cap(t.tail)+512, most-len(t.blocks)*blockBytes)
	switch more := int64(size) - t.taken; {
	case size <= blockBytes:
	case len(t.blocks) == 0 && (!t.isLean || size <= leanBytes || t.spool.create == nil) && t.spool.take(more):
		t.taken += more
	case cap(t.tail) < blockBytes:
		size = blockBytes
	default:
		return t.unload()
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

// unload writes the whole blocks of the tail to the file.
func (t *text) unload() error {
	began := time.Now()
	rest := t.tail
	for len(rest) >= blockBytes {
		at, err := t.spool.put(rest[:blockBytes])
		if err != nil {
			return err
		}
		t.blocks, rest = append(t.blocks, at), rest[blockBytes:]
	}
	if t.taken > 0 || cap(t.tail) != blockBytes {
		t.tail = append(make([]byte, 0, blockBytes), rest...)
	} else {
		t.tail = t.tail[:copy(t.tail, rest)]
	}
	t.spool.give(t.taken, nil)
	t.taken = 0
	if t.paused != nil {
		t.paused(time.Since(began))
	}
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
	all := make([]byte, t.size())
	_, err := io.ReadFull(t.reader(), all)
	return all, err
}

// reader returns a reader of the whole text.
func (t *text) reader() io.Reader {
	readers := make([]io.Reader, 0, len(t.blocks)+1)
	for _, at := range t.blocks {
		readers = append(readers, io.NewSectionReader(spoolFile{t.spool}, at, blockBytes))
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
	t.taken, t.blocks, t.tail = 0, nil, nil
}

// land moves the bodies into memory and returns the capture. Only a few bodies at
// a time come back from disk. Each keeps its place until [Lease.Leave], when
// the caller has stored it.
func (lease *Lease) land(got *heard) *fetch.Capture {
	for i, also := range got.also {
		other := lease.land(also)
		if other.Local != nil || other.Error == answer.ErrorCanceled {
			return other
		}
		got.Also[i].Capture = other
	}
	var err error
	for i, f := range got.Further {
		if f.Body, err = lease.bytes(got.further[2*i]); err == nil {
			f.Reading, err = lease.bytes(got.further[2*i+1])
		}
		if err != nil {
			return lease.unlanded(got, err)
		}
	}
	defer share(got.Capture)
	t := got.text
	if t == nil {
		return got.Capture
	}
	got.text = nil
	isPage := got.Error == answer.ErrorRedirectInvalid // its status says that it leads on, and its body may be read
	if n := t.size(); got.Error != "" && !isPage {
		got.Cut = &n
		return got.Capture
	}
	if got.Body, err = lease.bytes(t); err != nil {
		return lease.unlanded(got, err)
	}
	return got.Capture
}

// bytes returns a whole text, nil for none. The error is one of this machine, or that of the
// context.
func (lease *Lease) bytes(t *text) ([]byte, error) {
	if t == nil {
		return nil, nil
	}
	if len(t.blocks) > 0 && !lease.landed {
		select {
		case lease.client.spool.landing <- struct{}{}:
			lease.landed = true
		case <-lease.ctx.Done():
			return nil, lease.ctx.Err()
		}
	}
	return t.bytes()
}

// unlanded returns the capture of a fetch of which a body did not come into memory.
func (lease *Lease) unlanded(got *heard, err error) *fetch.Capture {
	if lease.ctx.Err() != nil {
		got.stop(err)
		return got.Capture
	}
	return &fetch.Capture{Origin: got.Origin, Start: time.Now(), Error: answer.ErrorCanceled, Err: err, Local: err}
}

// text returns a text for an answer. It is released with the lease.
func (lease *Lease) text(expect int, paused func(time.Duration)) *text {
	t := newText(lease.client.spool, expect, paused)
	lease.texts = append(lease.texts, t)
	return t
}

// settle releases the memory of the lease's answers.
func (lease *Lease) settle() {
	for _, t := range lease.texts {
		t.release()
	}
	lease.texts = nil
	if lease.landed {
		lease.landed = false
		<-lease.client.spool.landing
	}
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
