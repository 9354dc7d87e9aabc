package rowio

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// mostPage is the most bytes of a page, decompressed: a body of the largest size limit
// (64 MiB), and what may stand before it.
const mostPage = 65 << 20

// mostTogether is the most bytes of a page and a dictionary of each column of a row group,
// which are in memory at the same time. Our texts of a row group have 16 MB in a column;
// only two columns may have a line of the largest size limit.
const mostTogether = 2 * mostPage

// mostHeader bounds the header of a page, which holds two texts of statistics at most.
const mostHeader = 1 << 20

// A pageChunk is where the pages of a column stand, and what they hold.
type pageChunk struct {
	From, Length   int64 // of its bytes in the file
	Codec          format.CompressionCodec
	MaxDef, MaxRep int  // levels
	Foreign        bool // another writer may have written them; they hold no lists
	NoDictionary   bool // it stands elsewhere

	Pages []chunkPage // with values, in order; [checkPages] finds them
}

// A chunkPage is where a page stands, and what it holds.
type chunkPage struct {
	From, Values int64 // From is the offset of its header in the file
	Coded        bool  // its values are in the dictionary
}

// pagesFrom returns where the pages of a column begin: with its dictionary. parquet-go reads
// from where the footer says that the dictionary is, others from the lesser offset.
func pagesFrom(c *format.ColumnMetaData) (int64, error) {
	switch at := c.DictionaryPageOffset; {
	case at == 0:
		return c.DataPageOffset, nil
	case at < int64(len("PAR1")) || at > c.DataPageOffset:
		return 0, errors.New("its dictionary is not before its pages")
	default:
		return at, nil
	}
}

// hasRows returns an error unless the pages have the rows of their row group. Whoever skips
// pages would take rows for others.
func (c *pageChunk) hasRows(rows int64) error {
	if c.MaxRep > 0 { // known once its lists are read
		return nil
	}
	for _, p := range c.Pages {
		rows -= p.Values
	}
	switch {
	case rows > 0:
		return errors.New("has fewer rows than its row group")
	case rows < 0:
		return errors.New("has more rows than its row group")
	}
	return nil
}

// checkPages returns an error if a page of a row group, in a file of size bytes, decompresses to
// more than its header says, or to more than [mostPage], or if what it stands for is more
// than a reader of whole pages may hold. Readers allocate what the header of a page says, and
// their codecs what a frame yields: a file of 200 KB could take gigabytes.
func checkPages(in io.ReaderAt, size int64, group []pageChunk) error {
	together := int64(0)
	near := &window{in: in}
	for j, chunk := range group {
		c := check{pageChunk: chunk}
		if err := c.check(near, size); err != nil {
			return fmt.Errorf("column %d: %w", j, err)
		}
		group[j].Pages = c.Pages
		together += c.dictionary + c.page
	}
	if together > mostTogether {
		return fmt.Errorf("pages of %d bytes, one of each column; at most %d are read", together, mostTogether)
	}
	return nil
}

// check checks the pages of a column chunk.
type check struct {
	pageChunk
	in io.ReaderAt // the chunk

	dictionary, page int64 // the largest, decompressed

	head [256]byte // most headers are shorter
}

func (c *check) check(in io.ReaderAt, size int64) error {
	if c.From < 0 || c.Length < 0 || c.From > size || c.Length > size-c.From {
		return errors.New("lies outside the file")
	}
	c.in = io.NewSectionReader(in, c.From, c.Length)
	return c.pages()
}

func (c *check) pages() error {
	begin := int64(0) // of the header
	return c.each(func(h *format.PageHeader, at, end int64) error {
		values, encoding, err := c.whole(h)
		if err != nil {
			return err
		}
		plain, packed := int64(h.UncompressedPageSize), end-at
		switch {
		case h.Type != format.DictionaryPage:
			c.Pages = append(c.Pages, chunkPage{c.From + begin, int64(values), isDictionary(encoding)})
			c.page = max(c.page, plain)
		case begin > 0 || c.NoDictionary: // some readers keep the first dictionary, others take the next
			return errors.New("a dictionary follows another page")
		default:
			c.dictionary = plain
		}
		begin = end
		from, compressed := at, packed > 0
		if v := h.DataPageHeaderV2; h.Type == format.DataPageV2 {
			levels := int64(v.V.RepetitionLevelsByteLength) + int64(v.V.DefinitionLevelsByteLength)
			if v.V.RepetitionLevelsByteLength < 0 || v.V.DefinitionLevelsByteLength < 0 || levels > packed || levels > plain {
				return errors.New("the levels of a page lie outside it")
			}
			from, plain = from+levels, plain-levels
			compressed = from < end && (!v.V.IsCompressed.Valid || v.V.IsCompressed.V)
		}
		if compressed && c.Codec == format.Zstd {
			if err := c.frame(from, end, plain); err != nil {
				return err
			}
		}
		switch {
		case c.Foreign:
			return c.foreign(h, from, end, plain, compressed)
		case c.MaxRep > 0:
			return c.beginsWithRow(h, at)
		}
		return nil
	})
}

// each calls f with the header of each page and the offsets between which its contents
// stand.
func (c *check) each(f func(h *format.PageHeader, from, to int64) error) error {
	for at := int64(0); at < c.Length; {
		h, n, err := c.header(at, c.Length)
		if err != nil {
			return err
		}
		if err := ofItsType(&h); err != nil {
			return err
		}
		at += n
		packed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if packed < 0 || plain < 0 || packed > c.Length-at {
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
func (c *check) header(at, length int64) (h format.PageHeader, n int64, err error) {
	for window := int64(len(c.head)); ; window *= 16 {
		b := c.head[:]
		if window > int64(len(b)) {
			b = make([]byte, window)
		}
		b = b[:min(window, length-at)]
		if _, err := c.in.ReadAt(b, at); err != nil && err != io.EOF {
			return h, 0, err
		}
		if h, n = tableHeader(b); n > 0 {
			return h, n, nil
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
func (c *check) frame(from, to, want int64) error {
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
	d, err := decoder(io.NewSectionReader(c.in, from, to-from))
	if err != nil {
		return err
	}
	defer giveBack(d, h.WindowSize)
	if got, err := io.Copy(io.Discard, io.LimitReader(d, want+1)); err != nil || got != want {
		return otherSize(want, err)
	}
	return nil
}

// decoders are those that can be used again: of the pages that are decompressed, most are so
// small that to make a decoder takes longer than to use it.
var decoders sync.Pool

// decoder decompresses a page, in no more memory than the largest one needs.
func decoder(in io.Reader) (*zstd.Decoder, error) {
	if d, ok := decoders.Get().(*zstd.Decoder); ok {
		return d, d.Reset(in)
	}
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(mostPage))
}

// giveBack keeps a decoder, unless it holds much.
func giveBack(d *zstd.Decoder, window uint64) {
	if window > 1<<20 || d.Reset(nil) != nil {
		d.Close()
		return
	}
	decoders.Put(d)
}

var errSize = errors.New("another size")

// endOfFrame returns where the frame ends whose blocks begin at an offset (RFC 8878,
// section 3.1.1).
func (c *check) endOfFrame(at, to int64, checksum bool) (int64, error) {
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
