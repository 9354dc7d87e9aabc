package farm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bomb is a gzip file that decodes to a huge run of zero bytes, kept in a few
// kilobytes. Once the decoder's window holds nothing but zeros, every further
// mebibyte compresses to the same bytes, so one copy is enough.
type bomb struct {
	head, block, tail []byte
	repeat            int
}

const bombBlock = 1 << 20

func newBomb(size int) *bomb {
	var out bytes.Buffer
	out.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}) // no name, no time, unknown system
	zeros := make([]byte, bombBlock)
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	take := func(n int) []byte {
		w.Write(zeros[:n])
		w.Flush()
		taken := bytes.Clone(out.Bytes())
		out.Reset()
		return taken
	}
	b := &bomb{head: take(min(size, bombBlock))}
	if left := size - bombBlock; left > 0 {
		b.block, b.repeat = take(bombBlock), left/bombBlock
		b.tail = take(left % bombBlock)
	}
	w.Close()
	sum := uint32(0)
	for left := size; left > 0; left -= bombBlock {
		sum = crc32.Update(sum, crc32.IEEETable, zeros[:min(left, bombBlock)])
	}
	b.tail = append(b.tail, out.Bytes()...)
	b.tail = binary.LittleEndian.AppendUint32(b.tail, sum)
	b.tail = binary.LittleEndian.AppendUint32(b.tail, uint32(size))
	return b
}

func (b *bomb) length() int { return len(b.head) + b.repeat*len(b.block) + len(b.tail) }

// pieces calls send with the file's bytes, tens of kilobytes at a time. It
// stops and returns false when send does.
func (b *bomb) pieces(send func(p []byte, last bool) bool) bool {
	if !send(b.head, false) {
		return false
	}
	const many = 64
	batch := bytes.Repeat(b.block, min(many, b.repeat))
	for left := b.repeat; left > 0; left -= many {
		if !send(batch[:min(left, many)*len(b.block)], false) {
			return false
		}
	}
	return send(b.tail, true)
}

// encode compresses body, for speed rather than size.
func encode(encoding string, body []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "gzip":
		w, err = gzip.NewWriterLevel(&out, gzip.BestSpeed)
	case "br":
		w = brotli.NewWriterLevel(&out, brotli.BestSpeed)
	case "zstd":
		w, err = zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	default:
		err = fmt.Errorf("no encoding %q", encoding)
	}
	if err != nil {
		panic(err) // ParseFaults accepts no other encoding
	}
	w.Write(body)
	w.Close()
	return out.Bytes()
}
