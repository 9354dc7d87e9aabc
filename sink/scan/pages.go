package scan

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// mostPage is the most bytes of a page, decompressed: a body of the largest size limit
// (64 MiB), and what may stand before it.
const mostPage = 65 << 20

// mostPages is the most bytes of a page and a dictionary of each column of a row group,
// which are in memory at the same time. Our texts of a row group have 16 MB in a column;
// only two columns may have a line of the largest size limit.
const mostPages = 2 * mostPage

// mostHeader bounds the header of a page, which holds two texts of statistics at most.
const mostHeader = 1 << 20

// checkPages returns an error if a page decompresses to more than its header says, or
// to more than mostPage. Readers allocate what a header says, and their codecs what a
// frame yields: a file of 200 KB could take gigabytes. It returns, for each row group, how
// large the texts of each column can be.
func checkPages(in io.ReaderAt, size int64, r *file.Reader) (all [][]extent, err error) {
	m := r.MetaData()
	for i := range m.NumRowGroups() {
		group := m.RowGroup(i)
		extents := make([]extent, group.NumColumns())
		together := int64(0)
		for j := range group.NumColumns() {
			chunk, err := group.ColumnChunk(j)
			if err != nil {
				return nil, err
			}
			from := chunk.DataPageOffset()
			if at := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && at > 0 && at < from {
				from = at
			}
			c := pageCheck{codec: format.CompressionCodec(chunk.Compression()), isText: chunk.Type() == parquet.Types.ByteArray, column: m.Schema.Column(j)}
			err = c.check(in, size, from, chunk.TotalCompressedSize())
			if err != nil {
				return nil, fmt.Errorf("damaged Parquet: column %d of row group %d: %w", j, i, err)
			}
			extents[j] = c.extent
			together += c.dictionary + c.page
		}
		if together > mostPages {
			return nil, fmt.Errorf("damaged Parquet: row group %d has pages of %d bytes, one of each column; at most %d are read", i, together, mostPages)
		}
		all = append(all, extents)
	}
	return all, nil
}

// CheckPages checks some pages of a column chunk, length bytes from an offset on, for
// those who read few pages of a file of size bytes. See [Open].
func CheckPages(in io.ReaderAt, size int64, codec format.CompressionCodec, from, length int64) error {
	c := pageCheck{codec: codec}
	return c.check(in, size, from, length)
}

// pageCheck checks the pages of a column chunk.
type pageCheck struct {
	in     io.ReaderAt
	codec  format.CompressionCodec
	isText bool
	column *schema.Column // nil if it is not known

	dictionary, page int64 // the largest, decompressed
	extent
}

// check checks the pages between two offsets of a file.
func (c *pageCheck) check(in io.ReaderAt, size, from, length int64) error {
	if from < 0 || length < 0 || from > size || length > size-from {
		return errors.New("lies outside the file")
	}
	c.in = io.NewSectionReader(in, from, length)
	if err := c.pages(length); err != nil {
		return err
	}
	if c.inLists() && c.texts() > mostListed {
		return c.sumRows(length)
	}
	return nil
}

func (c *pageCheck) pages(length int64) error {
	return c.each(length, func(h *format.PageHeader, at, end int64) error {
		plain, packed := int64(h.UncompressedPageSize), end-at
		if h.DictionaryPageHeader.Valid {
			c.dictionary = max(c.dictionary, plain)
		} else {
			c.page = max(c.page, plain)
		}
		from, compressed := at, packed > 0
		if v := h.DataPageHeaderV2; v.Valid {
			levels := int64(v.V.RepetitionLevelsByteLength) + int64(v.V.DefinitionLevelsByteLength)
			if v.V.RepetitionLevelsByteLength < 0 || v.V.DefinitionLevelsByteLength < 0 || levels > packed || levels > plain {
				return errors.New("the levels of a page lie outside it")
			}
			from, plain = from+levels, plain-levels
			compressed = from < end && (!v.V.IsCompressed.Valid || v.V.IsCompressed.V)
		}
		if compressed && c.codec == format.Zstd {
			if err := c.frame(from, end, plain); err != nil {
				return err
			}
		}
		if c.inLists() {
			if err := c.measureList(h, at); err != nil {
				return err
			}
		}
		if c.isText {
			return c.measure(h, from, end, compressed)
		}
		return nil
	})
}

// each calls f with the header of each page and the offsets between which its contents
// stand.
func (c *pageCheck) each(length int64, f func(h *format.PageHeader, from, to int64) error) error {
	for at := int64(0); at < length; {
		h, n, err := c.header(at, length)
		if err != nil {
			return err
		}
		at += n
		packed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if packed < 0 || plain < 0 || packed > length-at {
			return errors.New("a page lies outside its column")
		}
		if plain > mostPage {
			return fmt.Errorf("a page of %d bytes; at most %d are read", plain, mostPage)
		}
		if err := f(&h, at, at+packed); err != nil {
			return err
		}
		at += packed
	}
	return nil
}

// header reads the header of the page at an offset, and returns its length.
func (c *pageCheck) header(at, length int64) (h format.PageHeader, n int64, err error) {
	for window := int64(256); ; window *= 16 {
		b := make([]byte, min(window, length-at))
		if _, err := c.in.ReadAt(b, at); err != nil && err != io.EOF {
			return h, 0, err
		}
		in := new(thrift.CompactProtocol).NewReaderFromBytes(b)
		h = format.PageHeader{}
		if err = thrift.NewDecoder(in).Decode(&h); err == nil {
			return h, int64(in.BytesRead()), nil
		}
		if window >= mostHeader || int64(len(b)) == length-at {
			return h, 0, fmt.Errorf("the header of a page cannot be read: %w", err)
		}
	}
}

// frame checks that what stands between two offsets decompresses to a number of bytes. A
// single frame that says its size, as almost all writers write it, is not decompressed:
// a decoder stops at that size.
func (c *pageCheck) frame(from, to, want int64) error {
	var head [zstd.HeaderMaxSize]byte
	n, err := c.in.ReadAt(head[:min(int64(len(head)), to-from)], from)
	if err != nil && err != io.EOF {
		return err
	}
	var h zstd.Header
	if err := h.Decode(head[:n]); err != nil {
		return fmt.Errorf("a page is not compressed with zstd: %w", err)
	}
	if !h.Skippable && h.HasFCS && h.FrameContentSize == uint64(want) {
		end, err := c.endOfFrame(from+int64(h.HeaderSize), to, h.HasCheckSum)
		if err != nil || end == to {
			return err
		}
	}
	d, err := zstd.NewReader(io.NewSectionReader(c.in, from, to-from), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostPage))
	if err != nil {
		return err
	}
	defer d.Close()
	if got, err := io.Copy(io.Discard, io.LimitReader(d, want+1)); err != nil || got != want {
		return fmt.Errorf("a page does not decompress to the %d bytes that its header says: %w", want, errors.Join(err, errSize))
	}
	return nil
}

var errSize = errors.New("another size")

// endOfFrame returns where the frame ends whose blocks begin at an offset (RFC 8878,
// section 3.1.1).
func (c *pageCheck) endOfFrame(at, to int64, checksum bool) (int64, error) {
	for {
		var head [3]byte
		if _, err := c.in.ReadAt(head[:], at); err != nil || at+3 > to {
			return 0, errors.New("a compressed page ends inside a block")
		}
		b := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
		length := b >> 3
		if b>>1&3 == 1 { // one byte that repeats
			length = 1
		}
		if at += 3 + length; at > to {
			return 0, errors.New("a compressed page ends inside a block")
		}
		if b&1 == 1 { // the last block
			if checksum {
				at += 4
			}
			return at, nil
		}
	}
}
