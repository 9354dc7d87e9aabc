package rowio

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// contents are where a page, or a dictionary, has its levels and values.
type contents struct {
	At, Packed, Plain int64 // in the file, with the levels
	Reps, Defs        int64 // bytes of levels that stand before what may be compressed
	IsPacked          bool
	HasLength         bool   // version 1: the levels, behind their length, are before the values, compressed with them
	Checksum          uint32 // 0 for none
	Encoding          format.Encoding
}

// contentsOf returns none for a page with levels that nobody writes any more.
func contentsOf(h *format.PageHeader, at int64) contents {
	p := contents{
		At: at, Packed: int64(h.CompressedPageSize), Plain: int64(h.UncompressedPageSize), Checksum: uint32(h.CRC),
	}
	switch h.Type {
	case format.DictionaryPage:
		p.IsPacked, p.Encoding = true, h.DictionaryPageHeader.V.Encoding
	case format.DataPage:
		v := &h.DataPageHeader.V
		if v.DefinitionLevelEncoding != format.RLE {
			return contents{}
		}
		p.IsPacked, p.HasLength, p.Encoding = true, true, v.Encoding
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		if v.NumNulls < 0 || v.NumRows < 0 { // which parquet-go refuses
			return contents{}
		}
		p.Reps, p.Defs = int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
		p.IsPacked, p.Encoding = !v.IsCompressed.Valid || v.IsCompressed.V, v.Encoding
	default:
		return contents{}
	}
	return p
}

// buffers hold a page as it stands in the file, and decompressed.
type buffers struct {
	packed, plain []byte
	offsets       []uint32 // of a dictionary
}

// spareBuffers are small ones, and those of dictionaries: a small page in a large buffer would hold it.
var spareBuffers [2]sync.Pool

const smallBuffers = 1 << 20

func buffersFor(size int64) *buffers {
	pool := &spareBuffers[0]
	if size > smallBuffers {
		pool = &spareBuffers[1]
	}
	if b, ok := pool.Get().(*buffers); ok {
		return b
	}
	return new(buffers)
}

// give gives the buffers back, unless they are larger than those of a dictionary of ours.
func (b *buffers) give() {
	if b == nil {
		return
	}
	switch size := cap(b.packed) + cap(b.plain) + 4*cap(b.offsets); {
	case size <= smallBuffers:
		spareBuffers[0].Put(b)
	case size <= 32<<20:
		spareBuffers[1].Put(b)
	}
}

var unpacking = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(mostPage))
})

// read returns the definition levels and the values of a page that is checked, of a column that is
// no list. They are valid until the buffers are used again.
func (p *contents) read(in io.ReaderAt, of *pageChunk, into *buffers) (defs, values []byte, err error) {
	if p.Reps > 0 || of.MaxDef == 0 && p.Defs > 0 {
		return nil, nil, errors.New("a page has levels that its column does not have")
	}
	into.packed = slices.Grow(into.packed[:0], int(p.Packed))[:p.Packed]
	if n, err := in.ReadAt(into.packed, p.At); n < len(into.packed) {
		return nil, nil, err
	}
	if p.Checksum != 0 && crc32.ChecksumIEEE(into.packed) != p.Checksum {
		return nil, nil, errors.New("a page does not match its checksum")
	}
	defs, values = into.packed[:p.Defs], into.packed[p.Defs:]
	if of.Codec != format.Zstd || !p.IsPacked || len(values) == 0 {
		if p.Plain != p.Packed {
			return nil, nil, otherSize(p.Plain, nil)
		}
		return p.split(of, defs, values)
	}
	z, err := unpacking()
	if err != nil {
		return nil, nil, err
	}
	want := p.Plain - p.Defs
	into.plain, err = z.DecodeAll(values, slices.Grow(into.plain[:0], int(want)))
	if err != nil || int64(len(into.plain)) != want {
		return nil, nil, otherSize(want, err)
	}
	return p.split(of, defs, into.plain)
}

// split divides levels and values that stand together.
func (p *contents) split(of *pageChunk, defs, both []byte) (_, values []byte, err error) {
	if !p.HasLength || of.MaxDef == 0 {
		return defs, both, nil
	}
	if len(both) < 4 || int64(binary.LittleEndian.Uint32(both)) > int64(len(both)-4) {
		return nil, nil, errRuns
	}
	end := 4 + int(binary.LittleEndian.Uint32(both))
	return both[4:end], both[end:], nil
}

// coded reads a column of texts, all of them in a dictionary, and no list. It goes over values
// without decoding them, and does what parquet-go does otherwise.
type coded struct {
	chunk *pageChunk
	in    io.ReaderAt

	dictionary, page *buffers
	texts            []byte   // of the dictionary, each behind its length
	offsets          []uint32 // of the lengths, and of what follows the last text

	levels, words hybrid
}

// codedOf returns nil for another column.
func codedOf(in io.ReaderAt, chunk *pageChunk, kind parquet.Kind) *coded {
	isPlain := chunk.Dictionary.Encoding == format.Plain || chunk.Dictionary.Encoding == plainDictionary
	if kind != parquet.ByteArray || chunk.MaxDef > 1 || chunk.MaxRep > 0 || chunk.Dictionary.Packed == 0 || !isPlain ||
		slices.ContainsFunc(chunk.Pages, func(p chunkPage) bool { return !p.Coded || p.contents.At == 0 }) {
		return nil
	}
	return &coded{chunk: chunk, in: in}
}

// open reads the dictionary.
func (c *coded) open() error {
	c.dictionary, c.page = buffersFor(c.chunk.Dictionary.Plain), buffersFor(0)
	_, b, err := c.chunk.Dictionary.read(c.in, c.chunk, c.dictionary)
	if err != nil {
		return err
	}
	c.texts, c.offsets = b, append(slices.Grow(c.dictionary.offsets[:0], c.chunk.Texts+1), 0)
	for at := 0; len(c.offsets) <= c.chunk.Texts; c.offsets = append(c.offsets, uint32(at)) {
		if len(b)-at < 4 || int64(binary.LittleEndian.Uint32(b[at:])) > int64(len(b)-at-4) {
			return errValues
		}
		at += 4 + int(binary.LittleEndian.Uint32(b[at:]))
	}
	c.dictionary.offsets = c.offsets
	return nil
}

// text returns a text of the dictionary, which is valid until the column is closed.
func (c *coded) text(i uint32) []byte {
	return c.texts[c.offsets[i]+4 : c.offsets[i+1] : c.offsets[i+1]]
}

// within reports whether all texts of the dictionary are within bounds.
func (c *coded) within(b *bounds) bool {
	if b == nil {
		return true
	}
	for i := range c.chunk.Texts {
		v := parquet.ByteArrayValue(c.text(uint32(i)))
		if b.least != nil && b.of.Compare(v, *b.least) < 0 || b.greatest != nil && b.of.Compare(v, *b.greatest) > 0 {
			return false
		}
	}
	return true
}

// load reads a page.
func (c *coded) load(p *chunkPage) error {
	defs, values, err := p.read(c.in, c.chunk, c.page)
	if err != nil {
		return err
	}
	c.levels, c.words = hybrid{src: defs, width: 1}, hybrid{}
	if len(values) > 0 { // else all are null
		if c.words = (hybrid{src: values[1:], width: int(values[0])}); c.words.width > 32 {
			return errRuns
		}
	}
	return nil
}

// pass goes over rows.
func (c *coded) pass(n int) (err error) {
	if c.chunk.MaxDef > 0 {
		if n, err = c.levels.ones(n); err != nil {
			return err
		}
	}
	return c.words.pass(n)
}

// defs appends the definition levels of the next rows.
func (c *coded) defs(n int, to []byte) ([]byte, error) {
	for n > 0 {
		level, some, err := c.levels.next(n)
		if err != nil {
			return nil, err
		}
		for range some {
			to = append(to, byte(level))
		}
		n -= some
	}
	return to, nil
}

func (c *coded) close() {
	c.dictionary.give()
	c.page.give()
	c.dictionary, c.page, c.texts, c.offsets = nil, nil, nil, nil
}

// loadCoded reads the next page, or has parquet-go read it: where a text of the dictionary is outside
// of the bounds, it depends on the page whether the column has it.
func (c *cells[V]) loadCoded() (isEnd bool, err error) {
	if c.coded.dictionary == nil {
		if err := c.coded.open(); err != nil {
			return false, err
		}
		if !c.coded.within(c.bounds) {
			c.coded.close()
			c.coded, c.pages = nil, c.leaf.open(c.chunk)
			return false, c.reopen()
		}
	}
	if c.at, c.n = 0, 0; c.skips.next == len(c.skips.pages) {
		return true, nil
	}
	p := &c.skips.pages[c.skips.next]
	c.skips.next++
	c.n = int(p.Values)
	return false, c.coded.load(p)
}

// ofRuns returns what takes the next texts of a column that is coded.
func (c *cells[V]) ofRuns(copied func([]byte) V) func(n int) ([]V, error) {
	type block struct {
		texts [256]V
		has   [256]bool
	}
	var blocks []*block // few of a large dictionary may be needed
	scratch := make([]V, 0, batchRows)
	return func(n int) ([]V, error) {
		if blocks == nil {
			blocks = make([]*block, c.coded.chunk.Texts/256+1)
		}
		for scratch = scratch[:0]; n > 0; {
			w, some, err := c.coded.words.next(n)
			if err != nil {
				return nil, err
			}
			if int64(w) >= int64(c.coded.chunk.Texts) {
				return nil, errDictionary
			}
			b, at := blocks[w/256], w%256
			if b == nil {
				b = new(block)
				blocks[w/256] = b
			}
			if !b.has[at] {
				b.texts[at], b.has[at] = copied(c.coded.text(w)), !Overwrite
			}
			for range some {
				scratch = append(scratch, b.texts[at])
			}
			n -= some
		}
		return scratch, nil
	}
}
