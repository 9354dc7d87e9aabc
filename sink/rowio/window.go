package rowio

import "io"

// windowBytes is more than a few headers and pages that are small, and less than it costs
// to look at the blocks of large ones.
const windowBytes = 8 << 10

// window reads a file some kilobytes at a time: headers of pages are a few bytes each.
type window struct {
	in   io.ReaderAt
	from int64
	held []byte
}

func (w *window) ReadAt(b []byte, at int64) (int, error) {
	if len(b) > windowBytes {
		return w.in.ReadAt(b, at)
	}
	if at < w.from || at+int64(len(b)) > w.from+int64(len(w.held)) {
		if w.held == nil {
			w.held = make([]byte, 0, windowBytes)
		}
		n, err := w.in.ReadAt(w.held[:windowBytes], at)
		if w.from, w.held = at, w.held[:n]; err != nil && err != io.EOF {
			return 0, err
		}
	}
	n := copy(b, w.held[at-w.from:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
