package earlier

import (
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// bodyReader reads the bodies of a segment along with the rows of fetches. For each
// row group of fetches there is each body once, in the order in which rows first name
// them; a body is held until the last row of the group that needs it.
type bodyReader struct {
	*rowio.Cursor[schema.Body]
	limits limits
	spare  bool            // there may be others than rows need
	needed map[string]int  // remaining rows of the group, by digest
	judged map[string]bool // whether a row of a wanted target needs it: others are held empty
	held   map[string][]byte
	packed map[string]bool // held compressed, by digest
	room   int             // bytes that may still be held as they are
}

// expect prepares for the rows of a group. Whether their targets are wanted is known by seq.
func (b *bodyReader) expect(rows []schema.Fetch, also map[int64][]schema.Answer, isWanted map[int64]bool) {
	b.needed, b.judged = make(map[string]int), make(map[string]bool)
	b.held, b.packed, b.room = make(map[string][]byte), make(map[string]bool), heldPlain
	need := func(digest *string, seq int64) {
		if digest != nil {
			b.needed[*digest]++
			b.judged[*digest] = b.judged[*digest] || isWanted[seq]
		}
	}
	for i := range rows {
		need(rows[i].KeptDigest(), rows[i].Seq)
	}
	for seq, answers := range also {
		for i := range answers {
			need(answers[i].ContentDigest, seq)
		}
	}
}

// body returns the body that the next row names, nil for none.
func (b *bodyReader) body(named *string, host string) ([]byte, error) {
	if named == nil {
		return nil, nil
	}
	digest := *named
	for b.held[digest] == nil {
		one, err := b.Next()
		if err == io.EOF {
			err = fmt.Errorf("the body of %s is not in the table bodies", host)
		}
		if err != nil {
			return nil, err
		}
		if err := b.check(one); err != nil {
			return nil, err
		}
		if b.needed[one.ContentDigest] == 0 {
			continue
		}
		if !b.judged[one.ContentDigest] {
			one.Body = []byte{}
		}
		if err := b.hold(one.ContentDigest, one.Body); err != nil {
			return nil, err
		}
	}
	return b.take(digest)
}

// heldPlain is the most bytes of bodies that are held as they are. Others are held
// compressed: a few kilobytes of a stranger's part may be a gigabyte of bodies.
const heldPlain = 32 << 20

var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(
		nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
	)
})

var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
})

// hold keeps a body until its last row.
func (b *bodyReader) hold(digest string, body []byte) error {
	if len(body) <= b.room {
		b.room -= len(body)
		b.held[digest] = body
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
