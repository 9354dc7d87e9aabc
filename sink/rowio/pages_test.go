package rowio

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

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
		whole := check{in: bytes.NewReader(c.packed)}
		if err := whole.frame(0, int64(len(c.packed)), int64(c.size)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A page of lists that begins inside a row is refused, however its levels are written.
func TestPagesBeginWithARow(t *testing.T) {
	for _, c := range []struct {
		levels []byte
		ok     bool
	}{
		{[]byte{4 << 1, 0}, true},                                    // a run of four zeros
		{[]byte{4 << 1, 1}, false},                                   // of ones
		{[]byte{1<<1 | 1, 0b1110}, true},                             // eight, bit by bit
		{[]byte{1<<1 | 1, 0b1111}, false},                            // the first of which is one
		{[]byte{0x80 | 2, 2, 0}, true},                               // a run of 129
		{nil, false}, {[]byte{4 << 1}, false}, {[]byte{0x80}, false}, // cut short
	} {
		h := &format.PageHeader{Type: format.DataPageV2}
		h.DataPageHeaderV2.Valid = true
		h.DataPageHeaderV2.V.NumValues = 4
		h.DataPageHeaderV2.V.RepetitionLevelsByteLength = int32(len(c.levels))
		of := check{pageChunk: pageChunk{MaxRep: 1}, in: bytes.NewReader(c.levels)}
		if err := of.beginsWithRow(h, 0); (err == nil) != c.ok {
			t.Errorf("%x: %v", c.levels, err)
		}
	}
}
