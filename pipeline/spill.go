package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// spill keeps bodies on disk that the memory for them has no room for: a
// segment waits for its slowest host, and hosts may all send the largest body
// there is. The file has no name once it is open, so that nothing is left of
// it, and is emptied whenever all bodies are fetched back.
type spill struct {
	folder string

	mu     sync.Mutex
	file   *os.File
	end    int64
	bodies int
}

// place is where a body lies.
type place struct {
	from int64
	size int
}

func (s *spill) put(body []byte) (*place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		name := filepath.Join(s.folder, "bodies.tmp")
		f, err := os.Create(name)
		if err != nil {
			return nil, fmt.Errorf("make room on disk for bodies: %w", err)
		}
		s.file = f
		os.Remove(name)
	}
	if _, err := s.file.WriteAt(body, s.end); err != nil {
		return nil, fmt.Errorf("keep a body on disk: %w", err)
	}
	p := &place{s.end, len(body)}
	s.end += int64(len(body))
	s.bodies++
	return p, nil
}

// take fetches a body back, once.
func (s *spill) take(p *place) ([]byte, error) {
	body := make([]byte, p.size)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.ReadAt(body, p.from); err != nil {
		return nil, fmt.Errorf("fetch a body back from disk: %w", err)
	}
	if s.bodies--; s.bodies == 0 {
		s.end = 0
		if err := s.file.Truncate(0); err != nil {
			return nil, fmt.Errorf("empty the file of bodies: %w", err)
		}
	}
	return body, nil
}

func (s *spill) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), removeIfThere(s.file.Name()))
}

// removeIfThere removes what a system has kept that cannot remove open files.
func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
