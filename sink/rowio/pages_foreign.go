package rowio

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// Other writers compress pages with what they like, and some codecs yield as much as a frame
// wants, whatever the header of the page says. So a page of another codec than ours is
// decompressed here first, up to the size that its header says. LZ4_RAW is refused: parquet-go
// yields other bytes for it (see findings/parquet-go-reads-lz4-raw-as-other-bytes.sh).

// inflated returns the content of a page, which its header says has want bytes.
func (c *check) inflated(from, to, want int64, compressed bool) ([]byte, error) {
	packed := make([]byte, to-from)
	if _, err := c.in.ReadAt(packed, from); err != nil && err != io.EOF {
		return nil, err
	}
	var in io.Reader
	codec := c.Codec
	if !compressed {
		codec = format.Uncompressed
	}
	switch codec {
	case format.Uncompressed:
		return packed, nil
	case format.Zstd:
		d, err := decoder(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		in = d
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("a page is not compressed with gzip: %w", err)
		}
		in = r
	case format.Brotli:
		in = brotli.NewReader(bytes.NewReader(packed))
	case format.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || int64(n) != want {
			return nil, otherSize(want, err)
		}
		out, err := snappy.Decode(nil, packed)
		if err != nil {
			return nil, fmt.Errorf("a page is not compressed with snappy: %w", err)
		}
		return out, nil
	default:
		return nil, fmt.Errorf("a page compressed with %s, which is not read; write the file with zstd or snappy", c.Codec)
	}
	out, err := io.ReadAll(io.LimitReader(in, want+1))
	if err != nil || int64(len(out)) != want {
		return nil, otherSize(want, err)
	}
	return out, nil
}

var errLevels = errors.New("the levels of a page lie outside it")

func otherSize(want int64, err error) error {
	return fmt.Errorf("a page does not decompress to the %d bytes that its header says: %w", want,
		cmp.Or(err, errSize))
}

// foreign checks a page of another writer, whose content stands between two offsets and has
// plain bytes.
func (c *check) foreign(h *format.PageHeader, from, to, plain int64, compressed bool) error {
	encoding := h.DataPageHeader.V.Encoding
	if h.Type == format.DataPageV2 {
		encoding = h.DataPageHeaderV2.V.Encoding
	}
	sharing := h.Type != format.DictionaryPage && encoding == format.DeltaByteArray
	switch {
	case c.Codec != format.Uncompressed && c.Codec != format.Zstd && compressed, sharing:
	default:
		return nil
	}
	content, err := c.inflated(from, to, plain, compressed)
	if err != nil || !sharing {
		return err
	}
	if h.Type == format.DataPage && c.MaxDef > 0 { // the levels stand before the texts, behind their length
		if len(content) < 4 {
			return errLevels
		}
		n := 4 + int64(binary.LittleEndian.Uint32(content))
		if n > int64(len(content)) {
			return errLevels
		}
		content = content[n:]
	}
	// Each text may begin like the one before: the lengths of what they share come first.
	shared, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, content)
	if err != nil {
		return fmt.Errorf("texts of a page cannot be read: %w", err)
	}
	all := plain
	for _, n := range shared {
		if all += int64(max(n, 0)); all > mostPage {
			return fmt.Errorf("a page whose texts take more than %d bytes", mostPage)
		}
	}
	return nil
}
