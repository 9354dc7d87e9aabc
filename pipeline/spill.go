package pipeline

import (
	"fmt"
	"sync"

	"github.com/robocensus/robocensus/sink/store"
)

// spill keeps the bodies of one piece that do not fit into memory on disk: a
// piece waits for its slowest host, and every host may send the largest body.
// The file has no name once it is open, so that a crash leaves nothing behind.
type spill struct {
	mu   sync.Mutex
	file *store.Scratch
	end  int64
}

// place is the place of a body in the file.
type place struct {
	from int64
	size int
}

// put writes a body to the file, which scratch makes for the first one.
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

// take reads a body back.
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
