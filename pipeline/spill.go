package pipeline

import (
	"fmt"
	"os"
	"sync"

	"github.com/robocensus/robocensus/sink/store"
)

// spill keeps bodies of one segment on disk that the memory for them has no
// room for: a segment waits for its slowest host, and hosts may all send the
// largest body there is. The file has no name once it is open, so that nothing
// is left of it, and goes with its segment.
type spill struct {
	mu   sync.Mutex
	file *store.Scratch
	end  int64
}

// place is where a body lies.
type place struct {
	from int64
	size int
}

// put keeps a body in the file that scratch makes.
func (s *spill) put(scratch func() (*store.Scratch, error), body []byte) (*place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := scratch()
		if err != nil {
			return nil, fmt.Errorf("create a file for bodies: %w", err)
		}
		s.file = f
	}
	if _, err := s.file.WriteAt(body, s.end); err != nil {
		return nil, fmt.Errorf("write a body to disk: %w", err)
	}
	p := &place{s.end, len(body)}
	s.end += int64(len(body))
	return p, nil
}

// take fetches a body back.
func (s *spill) take(p *place) ([]byte, error) {
	body := make([]byte, p.size)
	if _, err := s.file.ReadAt(body, p.from); err != nil {
		return nil, fmt.Errorf("read a body from disk: %w", err)
	}
	return body, nil
}

// close may be called twice.
func (s *spill) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// spool makes the file for answers under way that memory has no room for, when
// it is wanted; release ends it.
func (n *census) spool() (create func() (*os.File, error), release func()) {
	var file *store.Scratch
	create = func() (*os.File, error) {
		var err error
		if file, err = n.run.Scratch(); err != nil {
			return nil, fmt.Errorf("create a file for answers in flight: %w", err)
		}
		return file.File, nil
	}
	return create, func() {
		if file != nil {
			file.Close()
		}
	}
}
