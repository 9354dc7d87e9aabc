package earlier

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
)

// bodyReader reads the bodies of a segment along with the rows of fetches. For each
// row group of fetches there is each body once, in the order in which rows first name
// them; a body is held until the last row of the group that needs it.
type bodyReader struct {
	run    *Run
	parts  []journal.Part // to read
	file   io.Closer
	next   *parquet.GenericReader[schema.Body]
	needed map[string]int // remaining rows of the group, by digest
	held   map[string][]byte
	packed map[string]bool // held compressed, by digest
	room   int             // bytes that may still be held as they are
}

// expect prepares for the rows of a group.
func (b *bodyReader) expect(rows []schema.Fetch, also map[int64][]schema.Answer) {
	b.needed, b.held, b.packed, b.room = make(map[string]int), make(map[string][]byte), make(map[string]bool), heldPlain
	for i := range rows {
		if d := rows[i].KeptDigest(); d != nil {
			b.needed[*d]++
		}
	}
	for _, answers := range also {
		for i := range answers {
			if d := answers[i].ContentDigest; d != nil {
				b.needed[*d]++
			}
		}
	}
}

// body returns the body that the next row names, nil for none.
func (b *bodyReader) body(ctx context.Context, named *string, host string) ([]byte, error) {
	if named == nil {
		return nil, nil
	}
	digest := *named
	for b.held[digest] == nil {
		one, err := b.read(ctx)
		if err == io.EOF {
			err = fmt.Errorf("the body of %s is not in the table bodies", host)
		}
		if err != nil {
			return nil, err
		}
		if err := b.check(&one); err != nil {
			return nil, err
		}
		if err := b.hold(one.ContentDigest, one.Body); err != nil {
			return nil, err
		}
	}
	return b.take(digest)
}

// read reads the next body.
func (b *bodyReader) read(ctx context.Context) (_ schema.Body, err error) {
	defer scan.Recovered(&err)
	for {
		if b.next == nil {
			if len(b.parts) == 0 {
				return schema.Body{}, io.EOF
			}
			f, err := scan.OpenPart(ctx, b.run.in, b.parts[0])
			if err != nil {
				return schema.Body{}, err
			}
			opened, err := openNeeded[schema.Body](f, b.parts[0])
			if err != nil {
				f.Close()
				return schema.Body{}, err
			}
			b.file, b.next, b.parts = f, parquet.NewGenericReader[schema.Body](opened), b.parts[1:]
		}
		one := make([]schema.Body, 1)
		n, err := b.next.Read(one)
		if n > 0 {
			return one[0], nil
		}
		if err != nil && err != io.EOF {
			return schema.Body{}, err
		}
		b.close()
	}
}

// close closes the part that is open.
func (b *bodyReader) close() {
	if b.next != nil {
		b.next.Close()
		b.file.Close()
		b.next = nil
	}
}

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
