package source

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// heldPlain is the most bytes of bodies that are held as they are. Others are held
// compressed: a few kilobytes of a stranger's part may be a gigabyte of bodies.
const heldPlain = 32 << 20

var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
})

var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
})

// hold keeps a body until its last row.
func (b *bodyReader) hold(digest string, body []byte) error {
	if len(body) <= b.room {
		b.room -= len(body)
		b.held[digest] = append([]byte{}, body...)
		return nil
	}
	z, err := packer()
	if err != nil {
		return err
	}
	b.held[digest], b.packed[digest] = z.EncodeAll(body, nil), true
	return nil
}

// take returns a body that is held. After the last row that needs it, it is held no
// longer.
func (b *bodyReader) take(digest string) (body []byte, err error) {
	body = b.held[digest]
	last := b.needed[digest] == 1
	if b.needed[digest]--; last {
		delete(b.held, digest)
	}
	switch {
	case b.packed[digest]:
		z, err := unpacker()
		if err != nil {
			return nil, err
		}
		return z.DecodeAll(body, nil)
	case last:
		b.room += len(body)
	}
	return body, nil
}
