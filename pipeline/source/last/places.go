package last

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/sink/store"
)

// place is where a capture is: its archive and its number among the captures there. It
// sorts as its numbers do.
type place [12]byte

func placeOf(archive int, n uint64) (p place) {
	binary.BigEndian.PutUint32(p[:], uint32(archive))
	binary.BigEndian.PutUint64(p[4:], n)
	return p
}

// byArchive has sorted records of one size, which begin with a place, and knows those of
// each archive.
type byArchive struct {
	file *store.Scratch
	size int
	ends []int64 // by archive
}

// layOut lays the records of a sorter out by archive, keys and values.
func (s *search) layOut(from *store.Sorter) (b *byArchive, err error) {
	b = &byArchive{ends: make([]int64, s.Count)}
	if b.file, err = s.Scratch(); err != nil {
		return nil, fmt.Errorf("create a file for captures: %w", err)
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(b.file, 0), 1<<18)
	m, err := from.Sorted()
	archive, end := 0, int64(0)
	for err == nil {
		var key, value []byte
		if key, value, err = m.Next(); err != nil {
			break
		}
		for ; archive < int(binary.BigEndian.Uint32(key)); archive++ {
			b.ends[archive] = end
		}
		b.size = len(key) + len(value)
		w.Write(key)
		w.Write(value)
		end += int64(b.size)
	}
	for ; archive < len(b.ends); archive++ {
		b.ends[archive] = end
	}
	if err == io.EOF {
		err = w.Flush() // keeps the first error of the writes
	}
	if err != nil {
		b.file.Close()
		return nil, fmt.Errorf("write the list of captures: %w", err)
	}
	return b, from.Close()
}

func (b *byArchive) from(archive int) int64 {
	if archive == 0 {
		return 0
	}
	return b.ends[archive-1]
}

// has reports whether an archive has records.
func (b *byArchive) has(archive int) bool { return b.from(archive) < b.ends[archive] }

// close frees the disk. b may be nil.
func (b *byArchive) close() error {
	if b == nil {
		return nil
	}
	return b.file.Close()
}

// of returns a reader of the records of an archive.
func (b *byArchive) of(archive int) *records {
	from := b.from(archive)
	r := &records{in: bufio.NewReaderSize(io.NewSectionReader(b.file, from, b.ends[archive]-from), 16<<10)}
	if b.has(archive) {
		r.buffer = make([]byte, b.size)
	}
	return r
}

// records reads the records of an archive one by one.
type records struct {
	in     *bufio.Reader
	buffer []byte
	record []byte // nil after the last
}

func (r *records) next() error {
	if r.buffer == nil {
		return nil
	}
	switch _, err := io.ReadFull(r.in, r.buffer); err {
	case nil:
		r.record = r.buffer
	case io.EOF:
		r.record, r.buffer = nil, nil
	default:
		return fmt.Errorf("read the list of captures: %w", err)
	}
	return nil
}

// is reports whether the record is of a place.
func (r *records) is(p place) bool { return r.record != nil && place(r.record) == p }
