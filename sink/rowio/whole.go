package rowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// mostWhole is how many values a page may have that is decoded whole, of a column that is no
// list: as many as the rows of several row groups of ours.
const mostWhole = 1 << 20

// mostValues is how many values a page may have in lists, or in a file of another writer: the
// fields of a robots.txt of the largest size limit are fewer, and others write millions of rows
// as one page where they are alike.
const mostValues = 16 << 20

// plainDictionary is what older writers call RLEDictionary (Encodings.md of the format).
const plainDictionary format.Encoding = 2

// whole returns the number of values of a page with their encoding, and an error for one of which a reader that
// decodes whole pages, such as parquet-go, makes more than its bytes: by the number of its
// values, or by texts that each begin like the one before.
func (c *check) whole(h *format.PageHeader) (values int32, encoding format.Encoding, err error) {
	if c.Codec != format.Zstd && c.Codec != format.Uncompressed && !c.Foreign { // what it yields is not bounded
		return 0, 0, fmt.Errorf("a page compressed with %s; zstd is read", c.Codec)
	}
	switch h.Type {
	case format.DictionaryPage:
		if n := h.DictionaryPageHeader.V.NumValues; n < 0 || n > h.UncompressedPageSize {
			return 0, 0, fmt.Errorf("a dictionary of %d values in %d bytes", n, h.UncompressedPageSize)
		}
		return 0, 0, nil
	case format.DataPageV2:
		values, encoding = h.DataPageHeaderV2.V.NumValues, h.DataPageHeaderV2.V.Encoding
	case format.DataPage:
		values, encoding = h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Encoding
		if c.MaxRep > 0 {
			return 0, 0, fmt.Errorf("lists in pages of version 1, which may begin inside a row")
		}
	}
	most := int32(mostWhole)
	if c.MaxRep > 0 || c.Foreign {
		most = mostValues
	}
	if values < 0 || values > most {
		return 0, 0, fmt.Errorf("a page of %d values; at most %d are read", values, most)
	}
	switch encoding {
	case format.Plain, plainDictionary, format.RLEDictionary, format.RLE, format.DeltaBinaryPacked,
		format.DeltaLengthByteArray:
		return values, encoding, nil
	case format.DeltaByteArray, format.ByteStreamSplit:
		if c.Foreign {
			return values, encoding, nil
		}
	}
	return 0, 0, fmt.Errorf("a page in the encoding %s", encoding)
}

// ofItsType returns an error for the header of a page that holds another one than that of
// its type, or several: some readers go by the type, others by what is there.
func ofItsType(h *format.PageHeader) error {
	has := [...]bool{
		format.DataPage: h.DataPageHeader.Valid, format.IndexPage: h.IndexPageHeader.Valid,
		format.DictionaryPage: h.DictionaryPageHeader.Valid, format.DataPageV2: h.DataPageHeaderV2.Valid,
	}
	known := h.Type >= 0 && int(h.Type) < len(has) && h.Type != format.IndexPage // which nobody writes
	for t, is := range has {
		known = known && is == (format.PageType(t) == h.Type)
	}
	if !known {
		return fmt.Errorf("a page of type %d whose header is not of that type alone", h.Type)
	}
	return nil
}

func isDictionary(e format.Encoding) bool { return e == plainDictionary || e == format.RLEDictionary }

// beginsWithRow returns an error for a page of lists, whose contents begin at an offset, that
// begins inside a row: a batch would have lists in two pieces.
func (c *check) beginsWithRow(h *format.PageHeader, at int64) error {
	v := &h.DataPageHeaderV2.V
	if h.Type != format.DataPageV2 || v.NumValues == 0 || c.MaxRep > 1 {
		return nil
	}
	levels := make([]byte, min(16, v.RepetitionLevelsByteLength))
	if _, err := c.in.ReadAt(levels, at); err != nil && err != io.EOF {
		return err
	}
	// The first run of levels: its head, and then its value, or its values bit by bit.
	_, n := binary.Uvarint(levels)
	if n <= 0 || n >= len(levels) || levels[n]&1 != 0 {
		return errors.New("a page begins inside a row")
	}
	return nil
}
