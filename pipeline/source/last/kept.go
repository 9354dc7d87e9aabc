package last

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/store"
)

// keep reads the archives that have captures to keep, and keeps them.
func (s *search) keep(ctx context.Context) error {
	return s.Each(ctx, s.neededOf.has, func(ctx context.Context, i int, name string, in io.Reader) error {
		needed, n := s.neededOf.of(i), uint64(0)
		if err := needed.next(); err != nil {
			return err
		}
		wanted := func() bool { return needed.is(placeOf(i, n)) }
		_, err := warc.ReadAll(ctx, name, in, s.Stored, wanted, func(c *warc.Capture) error {
			at := placeOf(i, n)
			n++
			if !needed.is(at) {
				return nil
			}
			where, err := s.found.file.put(s.Scratch, &c.Capture)
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
func (k *keptFile) put(scratch func() (*store.Scratch, error), c *fetch.Capture) (where []byte, err error) {
	plain := *c
	plain.Location, plain.Unstored = "", false
	text, err := plain.MarshalBinary()
	if err != nil {
		return nil, err
	}
	head := []byte{0}
	if c.Unstored {
		head[0] = 1
	}
	head = append(binary.AppendUvarint(head, uint64(len(c.Location))), c.Location...)
	text = append(head, text...)
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
func (k *keptFile) take(where []byte) (*fetch.Capture, error) {
	text := make([]byte, binary.BigEndian.Uint32(where[8:]))
	if _, err := k.file.ReadAt(text, int64(binary.BigEndian.Uint64(where))); err != nil {
		return nil, fmt.Errorf("read a capture back from disk: %w", err)
	}
	unstored, text := text[0] == 1, text[1:]
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) {
		return nil, errors.New("a capture on disk is damaged")
	}
	c := &fetch.Capture{}
	if err := c.UnmarshalBinary(text[n+int(size):]); err != nil {
		return nil, err
	}
	c.Location, c.Unstored = string(text[n:n+int(size)]), unstored
	return c, nil
}

func (k *keptFile) close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}
