package lookup

import (
	"fmt"
	"io"

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
	for _, p := range w.windows {
		if at >= p.at && at+int64(len(wanted)) <= p.at+int64(len(p.bytes)) {
			copy(wanted, p.bytes[at-p.at:])
			return short(len(wanted), len(b))
		}
	}
	if len(wanted) > window {
		if _, err := w.in.ReadAt(wanted, at); err != nil && err != io.EOF {
			return 0, err
		}
		return short(len(wanted), len(b))
	}
	from := min(at, max(0, w.size-window)) // the footer, with what stands before it
	p := piece{from, make([]byte, min(window, w.size-from))}
	if n, err := w.in.ReadAt(p.bytes, from); n < len(p.bytes) {
		return 0, fmt.Errorf("read %d bytes at %d: %w", len(p.bytes), from, err)
	}
	if len(w.windows) == keptWindows {
		w.windows = append(w.windows[:0], w.windows[1:]...)
	}
	w.windows = append(w.windows, p)
	copy(wanted, p.bytes[at-from:])
	return short(len(wanted), len(b))
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
