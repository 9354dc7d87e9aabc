package scan

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
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
		file := written(t, []row{{make([]byte, mostPage+1)}}, packed(version)...)
		if _, err := Open(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "a page of ") {
			t.Errorf("a page of %d bytes in %d: %v", mostPage+1, len(file), err)
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

// A frame is measured by its blocks if it says its size, otherwise by decompressing it.
func TestFrames(t *testing.T) {
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	whole := func(b []byte, options ...zstd.EOption) []byte {
		e, err := zstd.NewWriter(nil, options...)
		if err != nil {
			t.Fatal(err)
		}
		return e.EncodeAll(b, nil)
	}
	streamed := func(b []byte) []byte {
		var out bytes.Buffer
		e, _ := zstd.NewWriter(&out)
		for i := range b { // flushed before its size is known
			if e.Write(b[i : i+1]); i == 1000 {
				e.Flush()
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	zeros := make([]byte, 1<<20)
	for name, c := range map[string]struct {
		packed []byte
		size   int
		ok     bool
	}{
		"zeros":                    {whole(zeros), len(zeros), true},
		"random":                   {whole(random), len(random), true},
		"with a checksum":          {whole(random, zstd.WithEncoderCRC(true)), len(random), true},
		"without a checksum":       {whole(random, zstd.WithEncoderCRC(false)), len(random), true},
		"less than it says":        {whole(zeros), len(zeros) + 1, false},
		"more than it says":        {whole(zeros), len(zeros) - 1, false},
		"of no known size":         {streamed(random), len(random), true},
		"of no known size, longer": {streamed(random), len(random) - 1, false},
		"two frames":               {append(whole(random), whole(zeros)...), len(random) + len(zeros), true},
		"two frames for one":       {append(whole(random), whole(zeros)...), len(random), false},
		"cut off":                  {whole(random)[:200_000], len(random), false},
		"no frame":                 {random[:1000], 1000, false},
		"a byte too many":          {append(whole(random), 0), len(random), false},
	} {
		check := pageCheck{in: bytes.NewReader(c.packed)}
		if err := check.frame(0, int64(len(c.packed)), int64(c.size)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
