package lookup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// mayHave returns the row groups in which a column may have one of some texts, by the
// Bloom filters, and whether these are known.
func (f *openPart) mayHave(ctx context.Context, column string, texts []string) (groups []int, known bool, err error) {
	filters, known, err := f.filtersOf(column)
	if err != nil || !known {
		return nil, false, err
	}
	hashes := make([]uint64, len(texts))
	for i, text := range texts {
		hashes[i] = bloom.XXH64{}.Sum64([]byte(text))
	}
	for i, filter := range filters {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		may, err := f.in.mayHave(filter, hashes)
		if err != nil {
			return nil, false, err
		}
		if may {
			groups = append(groups, i)
		}
	}
	return groups, true, nil
}

// tailBytes is the length of what follows a footer: its length and the magic number.
const tailBytes = 8

// filtersOf returns where the Bloom filters of a column are, if that is known. It reads the
// footer for the first look-up alone.
func (f *openPart) filtersOf(column string) (filters []filterAt, known bool, err error) {
	name := [2]string{f.part.Path, column}
	if before, ok := f.filters.Load(name); ok {
		return before.([]filterAt), true, nil
	}
	footer, err := f.in.footer()
	if err != nil {
		return nil, false, err
	}
	if filters, known = filtersOf(footer, column, f.part.Rows); known {
		f.filters.Store(name, filters)
	}
	return filters, known, nil
}

// largePart is the size in bytes from which on most parts have a footer of more than a window.
const largePart = 16 * window

// footer returns the footer, and keeps it for those who decode it.
func (w *windowed) footer() ([]byte, error) {
	last := int64(window)
	if w.size >= largePart {
		last *= 2 // rather than to ask twice
	}
	last = min(last, w.size)
	end, err := w.piece(w.size-last, last)
	if err != nil {
		return nil, err
	}
	if last < tailBytes || string(end[last-4:]) != "PAR1" {
		return nil, errors.New("damaged Parquet: it has no footer")
	}
	length := int64(binary.LittleEndian.Uint32(end[last-tailBytes:]))
	if length > w.size-tailBytes {
		return nil, fmt.Errorf("damaged Parquet: a footer of %d bytes in a file of %d", length, w.size)
	}
	return w.piece(w.size-tailBytes-length, length)
}

// mayHave looks for hashes of texts in a Bloom filter. One that is damaged, or of a kind that
// the format had not yet, may have any.
func (w *windowed) mayHave(f filterAt, hashes []uint64) (bool, error) {
	if f.at == 0 || f.length == 0 || !within(f.at, f.length, w.size) {
		return true, nil
	}
	begin, err := w.piece(f.at, min(f.length, window))
	if err != nil {
		return false, err
	}
	var head format.BloomFilterHeader
	in := new(thrift.CompactProtocol).NewReaderFromBytes(begin)
	if err := thrift.NewDecoder(in).Decode(&head); err != nil || !isPlain(&head) {
		return true, nil
	}
	n := int64(head.NumBytes)
	if n < bloom.BlockSize || n%bloom.BlockSize != 0 || n != f.length-int64(in.BytesRead()) {
		return true, nil
	}
	blocks := io.NewSectionReader(w, f.at+f.length-n, n)
	for _, hash := range hashes {
		if may, err := bloom.CheckSplitBlock(blocks, n, hash); may || err != nil {
			return may, err
		}
	}
	return false, nil
}

// isPlain reports whether a Bloom filter is of the only kind that the format has today.
func isPlain(h *format.BloomFilterHeader) bool {
	_, split := h.Algorithm.Value.(*format.SplitBlockAlgorithm)
	_, hash := h.Hash.Value.(*format.XxHash)
	_, plain := h.Compression.Value.(*format.BloomFilterUncompressed)
	return split && hash && plain
}
