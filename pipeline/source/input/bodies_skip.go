package input

import (
	"errors"
	"io"
)

const (
	block     = 512 // of a tar
	mostAhead = 1 << 18
)

// skipper reads a file ahead, and less of it after each skip: of a tar whose files are
// skipped nearly nothing but the headers is read. What is asked for and larger is read as it is.
type skipper struct {
	in    io.ReaderAt
	at    int64  // where the next byte is read
	ahead int    // bytes to read ahead next
	read  []byte // those that follow at
	all   []byte // the room for them
}

func (s *skipper) Read(p []byte) (n int, err error) {
	if len(s.read) == 0 {
		// At first this is the rest of a block whose file was skipped, and the header behind it.
		s.ahead = min(max(block+int(-s.at&(block-1)), 2*s.ahead), mostAhead)
		if len(p) >= s.ahead {
			n, err = s.in.ReadAt(p, s.at)
			s.at += int64(n)
			return n, err
		}
		if s.all == nil {
			s.all = make([]byte, mostAhead)
		}
		if n, err = s.in.ReadAt(s.all[:s.ahead], s.at); n == 0 {
			return 0, err
		}
		s.read = s.all[:n]
	}
	n = copy(p, s.read)
	s.at, s.read = s.at+int64(n), s.read[n:]
	return n, nil
}

// Seek skips forward, which is all that package tar asks for.
func (s *skipper) Seek(skip int64, whence int) (int64, error) {
	if whence != io.SeekCurrent || skip < 0 || s.at+skip < 0 {
		return 0, errors.New("a tar is read in one direction")
	}
	s.at += skip
	if skip > 0 {
		s.read, s.ahead = s.read[min(skip, int64(len(s.read))):], 0
	}
	return s.at, nil
}
