package shred

import (
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// Zstd compresses the pages of every writer. An encoder takes 1.3 MB, and 8 MB more once it
// had a large page. The codec of parquet-go keeps its encoders in a [sync.Pool], which every
// other garbage collection empties, so that small files make a new one for most pages; this
// one keeps an encoder for each processor, and for large pages, of which there are few, half
// as many.
//
// The default level takes 1.6 times the time of the fastest. Where nothing repeats, as in
// digests and most numbers of texts, the fastest one leaves a page as it is unless told to
// count letters.
var Zstd compress.Codec = zstdCodec{&parquet.Zstd}

type zstdCodec struct{ compress.Codec }

// smallPage is the most bytes of a page that zstd compresses as one block, for which it keeps
// no history.
const smallPage = 128 << 10

var (
	ofSmall = encoders(zstd.SpeedDefault, runtime.GOMAXPROCS(0))
	ofLarge = encoders(zstd.SpeedFastest, (runtime.GOMAXPROCS(0)+1)/2)
)

func encoders(level zstd.EncoderLevel, concurrency int) func() *zstd.Encoder {
	return sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(concurrency),
			zstd.WithEncoderLevel(level), zstd.WithAllLitEntropyCompression(true), zstd.WithZeroFrames(true),
			zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err)
		}
		return e
	})
}

func (zstdCodec) Encode(dst, src []byte) ([]byte, error) {
	encoder := ofSmall
	if len(src) > smallPage {
		encoder = ofLarge
	}
	return encoder().EncodeAll(src, dst[:0]), nil
}
