package scan

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/internal/pages"
)

// packed are options of a file of bodies, with pages of a version.
func packed(version int) []parquet.WriterOption {
	return []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(version), parquet.SkipPageStatistics("body"), parquet.SkipPageBounds("body")}
}

// A file of some kilobytes whose pages decompress to any size is refused when it is
// opened, before a reader allocates what the pages announce.
func TestPagesThatAnnounceTooMuch(t *testing.T) {
	type row struct {
		Body []byte `parquet:"body"`
	}
	for _, version := range []int{1, 2} {
		file := written(t, []row{{make([]byte, pages.MostPage+1)}}, packed(version)...)
		if _, err := Open(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "a page of ") {
			t.Errorf("a page of %d bytes in %d: %v", pages.MostPage+1, len(file), err)
		}
	}
	// The largest body that a run can keep.
	f, err := Open(bytes.NewReader(written(t, []row{{make([]byte, 64<<20)}}, packed(2)...)))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Batches(t.Context(), Selection{}, func(arrow.RecordBatch) error { return nil }); err != nil {
		t.Error(err)
	}
}

// A page that decompresses to another size than its header says is refused: decoders
// follow the frame.
func TestPagesThatLie(t *testing.T) {
	type row struct {
		Body []byte `parquet:"body"`
	}
	file := written(t, []row{{make([]byte, 3_000_000)}}, packed(1)...)
	if _, err := Open(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	// The page has the body and its length, in one of several encodings.
	size, i := 3_000_000, -1
	for i < 0 && size < 3_000_064 {
		size++
		i = bytes.Index(file[:100], binary.AppendVarint(nil, int64(size)))
	}
	if i < 0 {
		t.Fatal("the header of the page is not found")
	}
	now := binary.AppendVarint(nil, 2_999_999)
	copy(file[i:], now)
	if _, err := Open(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "does not decompress to the 2999999 bytes that its header says") {
		t.Error(err)
	}
}
