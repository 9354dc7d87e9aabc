package lookup

import (
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// window is how many bytes are asked for at least. The footer of most parts is shorter,
// and so are the pages of a host's rows: one request is faster than several.
const window = 64 << 10

// windowed reads a part of a few windows, and keeps the last ones.
type windowed struct {
	in      io.ReaderAt
	size    int64
	windows []piece // the last one is the youngest
}

type piece struct {
	at    int64
	bytes []byte
}

// keptWindows bounds the windows of a part that are kept: one or two for each column of
// a table, and its indices.
const keptWindows = 64

func (w *windowed) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 || at >= w.size {
		return 0, io.EOF
	}
	wanted := b[:min(int64(len(b)), w.size-at)]
	held := w.held(at, int64(len(wanted)))
	switch {
	case held != nil:
	case len(wanted) > window:
		if _, err := w.in.ReadAt(wanted, at); err != nil && err != io.EOF {
			return 0, err
		}
		return short(len(wanted), len(b))
	default:
		from := min(at, max(0, w.size-window)) // the footer, with what stands before it
		all, err := w.piece(from, min(window, w.size-from))
		if err != nil {
			return 0, err
		}
		held = all[at-from:]
	}
	copy(wanted, held)
	return short(len(wanted), len(b))
}

// held returns some bytes if they are kept, else nil.
func (w *windowed) held(at, length int64) []byte {
	for _, p := range w.windows {
		if at >= p.at && at+length <= p.at+int64(len(p.bytes)) {
			return p.bytes[at-p.at:][:length]
		}
	}
	return nil
}

// piece returns some bytes of the file, and keeps them.
func (w *windowed) piece(at, length int64) ([]byte, error) {
	if held := w.held(at, length); held != nil {
		return held, nil
	}
	p := piece{at: at}
	if spare, ok := spares.Get().(*[]byte); ok && int64(cap(*spare)) >= length {
		p.bytes = (*spare)[:length]
	} else {
		p.bytes = make([]byte, length)
	}
	if n, err := w.in.ReadAt(p.bytes, at); n < len(p.bytes) {
		return nil, fmt.Errorf("read %d bytes at %d: %w", len(p.bytes), at, err)
	}
	if len(w.windows) == keptWindows {
		w.windows = append(w.windows[:0], w.windows[1:]...)
	}
	w.windows = append(w.windows, p)
	return p.bytes, nil
}

// spares are windows of parts that are closed: of hundreds, few are open at the same time.
var spares sync.Pool // *[]byte

// giveBack forgets what is kept.
func (w *windowed) giveBack() {
	for _, p := range w.windows {
		if n := cap(p.bytes); n >= window && n <= 2*window {
			spares.Put(&p.bytes)
		}
	}
	w.windows = nil
}

func short(got, wanted int) (int, error) {
	if got < wanted {
		return got, io.EOF
	}
	return got, nil
}

// checkIndices returns an error if an index of pages lies outside the file. parquet-go
// allocates what the footer says.
func checkIndices(file *parquet.File, size int64) error {
	for i, g := range file.Metadata().RowGroups {
		for j, c := range g.Columns {
			if !within(c.ColumnIndexOffset, int64(c.ColumnIndexLength), size) ||
				!within(c.OffsetIndexOffset, int64(c.OffsetIndexLength), size) {
				return fmt.Errorf("damaged Parquet: an index of column %d of row group %d lies outside the file", j, i)
			}
		}
	}
	return nil
}

func within(at, length, size int64) bool {
	return at >= 0 && length >= 0 && at <= size && length <= size-at
}
