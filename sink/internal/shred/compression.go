package shred

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// Zstd compresses the pages of every writer. An encoder takes 1.3 MB, and more for large
// pages. The codec of parquet-go keeps its encoders in a [sync.Pool], which every other
// garbage collection empties, so that small files make a new one for most pages; this
// one keeps an encoder for each processor.
var Zstd compress.Codec = zstdCodec{&parquet.Zstd}

type zstdCodec struct{ compress.Codec }

var encoders = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(0), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err)
	}
	return e
})

func (zstdCodec) Encode(dst, src []byte) ([]byte, error) {
	return encoders().EncodeAll(src, dst[:0]), nil
}
