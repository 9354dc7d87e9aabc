package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// A row may have any number of values in lists, and a few bytes stand for millions of
// them. So their number is bounded by page, pages begin with a row, and where the texts of
// a row group could take much, those of each row are added up.

// measureList adds a page of a column in lists, whose contents begin at an offset.
func (c *check) measureList(h *format.PageHeader, at int64) error {
	var values, rows int64
	switch {
	case h.DataPageHeader.Valid: // which may begin or end inside a row
		values = int64(h.DataPageHeader.V.NumValues)
	case h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		values, rows = int64(v.NumValues), int64(v.NumRows)
		if values == 0 || c.MaxRep > 1 {
			break
		}
		levels := make([]byte, min(16, v.RepetitionLevelsByteLength))
		if _, err := c.in.ReadAt(levels, at); err != nil && err != io.EOF {
			return err
		}
		first := hybrid{in: levels, width: 1, exact: true}
		if level, err := first.next(); err != nil || level != 0 {
			return errors.New("a page begins inside a row")
		}
	default:
		return nil
	}
	if values > mostValues {
		return fmt.Errorf("a page of %d values in lists; at most %d are read", values, mostValues)
	}
	if c.listed == 0 || rows < c.rowsThere {
		c.rowsThere = rows
	}
	c.listed = max(c.listed, values)
	return nil
}

// sumRows finds the row whose texts take most.
func (c *check) sumRows() error {
	var sizes []uint32 // of the texts of the dictionary
	return c.each(func(h *format.PageHeader, at, end int64) error {
		switch v := &h.DataPageHeaderV2.V; {
		case h.DictionaryPageHeader.Valid:
			text, err := c.contents(at, end, int64(h.UncompressedPageSize), true)
			if err != nil {
				return err
			}
			for len(text) >= 4 {
				n := binary.LittleEndian.Uint32(text)
				if int64(n) > int64(len(text)-4) {
					return errors.New("a text of a dictionary lies outside its page")
				}
				sizes, text = append(sizes, n), text[4+n:]
			}
			return nil
		case !h.DataPageHeaderV2.Valid || c.MaxRep > 1:
			return errors.New("lists of large texts, in pages of another kind than ours")
		case v.Encoding == format.Plain: // at most a page
			return nil
		case v.Encoding != format.RLEDictionary && v.Encoding != plainDictionary:
			return errors.New("lists of large texts, in an encoding that is not ours")
		default:
			return c.sumPage(h, at, end, sizes)
		}
	})
}

func (c *check) sumPage(h *format.PageHeader, at, end int64, sizes []uint32) error {
	v := &h.DataPageHeaderV2.V
	repeated, defined := int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
	levels := make([]byte, repeated+defined)
	if _, err := c.in.ReadAt(levels, at); err != nil && err != io.EOF {
		return err
	}
	indices, err := c.contents(
		at+repeated+defined, end, int64(h.UncompressedPageSize)-repeated-defined,
		!v.IsCompressed.Valid || v.IsCompressed.V,
	)
	if err != nil {
		return err
	}
	most := uint32(c.MaxDef)
	begins := hybrid{in: levels[:repeated], width: 1, exact: true}
	has := hybrid{in: levels[repeated:], width: bits(most), exact: true}
	index := hybrid{}
	if len(indices) > 0 {
		index = hybrid{in: indices[1:], width: uint(indices[0]), exact: indices[0] <= 32}
	}
	row := int64(0)
	for range v.NumValues {
		inside, err := begins.next()
		if err != nil {
			return err
		}
		if inside == 0 {
			row = 0
		}
		level, err := has.next()
		if err != nil {
			return err
		}
		if level < most {
			continue
		}
		n, err := index.next()
		if err != nil || int64(n) >= int64(len(sizes)) {
			return errors.New("a text of a list is not in the dictionary")
		}
		if row += int64(sizes[n]); row > MostListed {
			return fmt.Errorf("a row with more than %d bytes of texts in a list", MostListed)
		}
		c.widestRow = max(c.widestRow, row)
	}
	return nil
}

// bits returns the width of levels up to the given one.
func bits(most uint32) (n uint) {
	for ; most > 0; most >>= 1 {
		n++
	}
	return n
}

// contents returns what stands between two offsets, decompressed to size bytes.
func (c *check) contents(from, to, size int64, compressed bool) ([]byte, error) {
	packed := make([]byte, to-from)
	if _, err := c.in.ReadAt(packed, from); err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case !compressed || c.Codec == format.Uncompressed || len(packed) == 0:
		return packed, nil
	case c.Codec != format.Zstd:
		return nil, errors.New("lists of large texts, in a compression that is not ours")
	}
	d, err := zstd.NewReader(
		nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MostPage), zstd.WithDecoderLowmem(true),
	)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(packed, make([]byte, 0, size))
}

// hybrid reads numbers in the encoding RLE (Encodings.md of the format): runs of one
// number, and numbers packed bit by bit.
type hybrid struct {
	in    []byte
	width uint // bits of a number
	exact bool // width is that of the numbers

	left   uint64 // numbers of the run
	value  uint32 // of a run of one number
	packed bool
	bit    uint64 // offset in bits of the next packed number
}

var errRun = errors.New("a run of levels or indices is cut short")

func (h *hybrid) next() (uint32, error) {
	for h.left == 0 {
		if h.packed {
			h.in = h.in[min(uint64(len(h.in)), (h.bit+7)/8):]
			h.packed = false
		}
		head, n := binary.Uvarint(h.in)
		if n <= 0 || !h.exact {
			return 0, errRun
		}
		h.in = h.in[n:]
		if h.packed = head&1 == 1; h.packed {
			h.left, h.bit = head>>1*8, 0
			continue
		}
		h.left, h.value = head>>1, 0
		size := (h.width + 7) / 8
		if uint(len(h.in)) < size {
			return 0, errRun
		}
		for i := range size {
			h.value |= uint32(h.in[i]) << (8 * i)
		}
		h.in = h.in[size:]
	}
	h.left--
	if !h.packed {
		return h.value, nil
	}
	value := uint32(0)
	for i := range h.width {
		at := h.bit / 8
		if at >= uint64(len(h.in)) {
			return 0, errRun
		}
		value |= uint32(h.in[at]>>(h.bit%8)&1) << i
		h.bit++
	}
	return value, nil
}
