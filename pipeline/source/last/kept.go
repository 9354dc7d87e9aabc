package last

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/store"
)

// keep reads the archives that have captures to keep, and keeps them.
func (s *search) keep(ctx context.Context) error {
	stored := s.Stored
	stored.ErrorBodies = true
	return s.Each(ctx, s.neededOf.has, func(ctx context.Context, i int, name string, in io.Reader) error {
		needed, n := s.neededOf.of(i), uint64(0)
		if err := needed.next(); err != nil {
			return err
		}
		wanted := func() bool { return needed.is(placeOf(i, n)) }
		_, err := warc.ReadAll(ctx, name, in, stored, wanted, func(c *warc.Capture) error {
			at := placeOf(i, n)
			n++
			if !needed.is(at) {
				return nil
			}
			where, err := s.found.file.put(s.Scratch, c)
			for err == nil && needed.is(at) {
				if err = s.kept.Add(needed.record[len(at):], where); err == nil {
					err = needed.next()
				}
			}
			return err
		}, ignored)
		return err
	})
}

// keptFile holds captures on disk.
type keptFile struct {
	mu   sync.Mutex
	file *store.Scratch
	end  int64
}

// put writes a capture and returns where: its offset and its size.
func (k *keptFile) put(scratch func() (*store.Scratch, error), c *warc.Capture) (where []byte, err error) {
	plain := c.Capture
	plain.Location, plain.Unstored = "", false
	body, err := plain.MarshalBinary()
	if err != nil {
		return nil, err
	}
	text := []byte{0}
	if c.Unstored {
		text[0] = 1
	}
	for _, more := range []string{c.Location, digestOf(c), c.Mismatch} {
		text = append(binary.AppendUvarint(text, uint64(len(more))), more...)
	}
	text = append(text, body...)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		if k.file, err = scratch(); err != nil {
			return nil, fmt.Errorf("create a file for captures: %w", err)
		}
	}
	if _, err := k.file.WriteAt(text, k.end); err != nil {
		return nil, fmt.Errorf("keep a capture on disk: %w", err)
	}
	where = binary.BigEndian.AppendUint64(nil, uint64(k.end))
	k.end += int64(len(text))
	return binary.BigEndian.AppendUint32(where, uint32(len(text))), nil
}

// take reads a capture.
func (k *keptFile) take(where []byte) (*warc.Capture, error) {
	text := make([]byte, binary.BigEndian.Uint32(where[8:]))
	if _, err := k.file.ReadAt(text, int64(binary.BigEndian.Uint64(where))); err != nil {
		return nil, fmt.Errorf("read a capture back from disk: %w", err)
	}
	c := &warc.Capture{}
	unstored, text := text[0] == 1, text[1:]
	var location string
	for _, to := range []*string{&location, &c.PayloadDigest, &c.Mismatch} {
		size, n := binary.Uvarint(text)
		if n <= 0 || size > uint64(len(text)-n) {
			return nil, errors.New("a capture on disk is damaged")
		}
		*to, text = string(text[n:][:size]), text[n+int(size):]
	}
	if err := c.UnmarshalBinary(text); err != nil {
		return nil, err
	}
	c.Location, c.Unstored = location, unstored
	return c, nil
}

func (k *keptFile) close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}
