package last

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/store"
)

// An entry of the index has the hash of a name, and the date and the place of the capture
// as its key. Its value has what it is, the precision of the date, and digest and length of
// the payload.
const (
	entryKey   = store.KeyHashBytes + 8 + len(place{})
	entryValue = 1 + 8 + len(digestTag{}) + 8
)

// isTarget marks an entry of a robots.txt that is wanted.
const isTarget byte = 1

// readIndex reads all archives and makes the index.
func (s *search) readIndex(ctx context.Context) error {
	none := func() bool { return false }
	return s.Each(ctx, func(int) bool { return true }, func(ctx context.Context, i int, name string, in io.Reader) error {
		n, at := uint64(0), int64(0)
		_, err := warc.ReadAll(ctx, name, in, s.Stored, none, func(c *warc.Capture) error {
			s.Progress(c.Offset - at)
			at = c.Offset
			err := s.enter(c, placeOf(i, n))
			n++
			return err
		}, ignored)
		return err
	})
}

// ignored skips damage: reading the targets reports it.
func ignored(int64, string) error { return nil }

// enter enters a capture under its names, and what it leads to.
func (s *search) enter(c *warc.Capture, at place) error {
	what := byte(0)
	if c.IsRobots() && s.Wanted(c.Origin) {
		what = isTarget
	}
	value := compared(c, what)
	key := func(name string) []byte {
		key := append(make([]byte, 0, entryKey), store.KeyHash(name)...)
		return append(binary.BigEndian.AppendUint64(key, store.KeyDate(c.Start)), at[:]...)
	}
	if err := s.index.Add(key(c.Hops[0].URL), value); err != nil {
		return err
	}
	for _, name := range namesOf(c) {
		if err := s.names.Add(key(name), value); err != nil {
			return err
		}
	}
	for i, q := range s.questionsOf(c) {
		if err := s.leads.Add(append(at[:len(at):len(at)], byte(i)), q.encode()); err != nil {
			return err
		}
	}
	if s.everyRevisit && what == isTarget && c.WantsOriginal() {
		return s.arrive(at, at)
	}
	return nil
}

// compared returns the value of an entry: what it is, and what a question is compared with.
func compared(c *warc.Capture, what byte) []byte {
	value, tag := append(make([]byte, 0, entryValue+8), what), tagOf(digestOf(c))
	value = append(binary.BigEndian.AppendUint64(value, uint64(c.Within.Microseconds())), tag[:]...)
	return binary.BigEndian.AppendUint64(value, uint64(c.PayloadLength))
}

// follow finds what the captures that have arrived lead to, round by round.
func (s *search) follow(ctx context.Context) (err error) {
	if !s.everyRevisit {
		err = s.findWinners()
	}
	// A revisit record may stand for each capture of the chain, and for another one.
	for step := 0; err == nil && s.arrivals > 0 && step <= 2*s.Stored.MaxRedirects+maxRevisits; step++ {
		if err = ctx.Err(); err == nil {
			err = s.round(byte(step))
		}
	}
	if err == nil {
		s.found.last, err = s.layOut(s.last)
	}
	if err == nil {
		s.neededOf, err = s.layOut(s.needed)
	}
	return err
}

// maxRevisits bounds the revisit records that refer to each other.
const maxRevisits = 8

// findWinners adds the last capture of each host.
func (s *search) findWinners() error {
	m, err := s.index.Sorted()
	if err != nil {
		return err
	}
	var last []byte // the last capture so far of the URL
	settle := func() error {
		if last == nil {
			return nil
		}
		at := place(last[store.KeyHashBytes+8:])
		last = nil
		if err := s.last.Add(at[:], nil); err != nil {
			return err
		}
		return s.arrive(at, at)
	}
	for {
		key, value, err := m.Next()
		if err == io.EOF {
			return settle()
		}
		if err != nil {
			return err
		}
		if last != nil && !bytes.Equal(last[:store.KeyHashBytes], key[:store.KeyHashBytes]) {
			if err := settle(); err != nil {
				return err
			}
		}
		if value[0] == isTarget {
			last = bytes.Clone(key)
		}
	}
}

// arrive notes that the chain of a last capture has come to a capture.
func (s *search) arrive(at, from place) error {
	s.mu.Lock()
	s.arrivals++
	s.mu.Unlock()
	return s.arrived.Add(append(at[:len(at):len(at)], from[:]...), nil)
}
