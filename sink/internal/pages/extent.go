package pages

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// A page is bounded, and the texts that it stands for are not: a dictionary of one text of
// 60 MB makes gigabytes of a few rows. So few rows are read at a time where texts can be
// large.

const (
	// MostTexts is how much the texts of a column in one batch may take.
	MostTexts = 32 << 20
	// MostListed is how much the texts of one row may take in lists.
	MostListed = 128 << 20
	// mostValues is how many values a page may have in lists: the fields of a file of the
	// largest size limit are fewer.
	mostValues = 16 << 20
	// mostBatch is how many values of lists a batch may have, of several rows.
	mostBatch = 4 << 20
)

// Extent says how large the texts of a column can be in one row group.
type Extent struct {
	values  int64 // of all pages
	widest  int64 // bytes of the largest text in the dictionary
	largest int64 // bytes of the largest page with texts of its own
	fewest  int64 // values of such a page, at least
	plain   int64 // bytes of all such pages

	// Of a column in lists, of which a row may have any number:
	listed    int64 // values of the largest page
	rowsThere int64 // rows of a page, at least
	widestRow int64 // bytes of the texts of a row, at most; 0 if it is not known
}

// Rows returns how many rows, of at most n, have at most MostTexts of texts, one at least.
func (e *Extent) Rows(n int64) int64 {
	if e.widest > 0 {
		n = min(n, MostTexts/e.widest)
	}
	if e.largest > 0 { // pages that rows begin and end in, and those between
		n = min(n, e.fewest*max(0, MostTexts/e.largest-2))
	}
	if e.widestRow > 0 {
		n = min(n, MostTexts/e.widestRow)
	}
	if e.listed > 0 {
		n = min(n, e.rowsThere*max(0, mostBatch/e.listed-2))
	}
	return max(1, n)
}

// texts returns an upper bound of the bytes of all texts.
func (e *Extent) texts() int64 {
	if e.widest > 0 && e.values > (math.MaxInt64-e.plain)/e.widest {
		return math.MaxInt64
	}
	return e.values*e.widest + e.plain
}

// measure adds a page, which stands between two offsets.
func (c *check) measure(h *format.PageHeader, from, to int64, compressed bool) error {
	plain := int64(h.UncompressedPageSize)
	var values int64
	var encoding format.Encoding
	switch {
	case h.DictionaryPageHeader.Valid:
		widest, err := c.widestOf(from, to, plain, compressed)
		c.widest = max(c.widest, widest)
		return err
	case h.DataPageHeader.Valid:
		values, encoding = int64(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	case h.DataPageHeaderV2.Valid:
		values, encoding = int64(h.DataPageHeaderV2.V.NumValues), h.DataPageHeaderV2.V.Encoding
	}
	if values < 0 {
		return errors.New("a page has less than no values")
	}
	c.values += values
	switch encoding {
	case plainDictionary, format.RLEDictionary:
	case format.DeltaByteArray: // each text may begin like the one before
		c.widest = max(c.widest, plain)
	default:
		if c.largest == 0 || values < c.fewest {
			c.fewest = values
		}
		c.largest, c.plain = max(c.largest, plain), c.plain+plain
	}
	return nil
}

// plainDictionary is what older writers call RLEDictionary (Encodings.md of the format).
const plainDictionary format.Encoding = 2

// smallDictionary is the size in bytes of a dictionary that is not measured: 8,192 of its
// texts, as many as a batch has rows, fit were each as large.
const smallDictionary = MostTexts / 8192

// widestOf returns the size of the largest text of a dictionary, or an upper bound.
func (c *check) widestOf(from, to, plain int64, compressed bool) (widest int64, err error) {
	if plain <= smallDictionary || compressed && c.Codec != format.Zstd {
		return plain, nil
	}
	var in io.Reader = io.NewSectionReader(c.in, from, to-from)
	if compressed {
		d, err := zstd.NewReader(
			in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(MostPage),
		)
		if err != nil {
			return 0, err
		}
		defer d.Close()
		in = d
	}
	texts := bufio.NewReader(in)
	for left := plain; left > 0; {
		var size [4]byte
		if _, err := io.ReadFull(texts, size[:]); err != nil {
			return 0, fmt.Errorf("a dictionary is cut short: %w", err)
		}
		n := int64(binary.LittleEndian.Uint32(size[:]))
		if left -= 4 + n; left < 0 {
			return 0, errors.New("a text of a dictionary lies outside its page")
		}
		if _, err := texts.Discard(int(n)); err != nil {
			return 0, fmt.Errorf("a dictionary is cut short: %w", err)
		}
		widest = max(widest, n)
	}
	return widest, nil
}
