package last

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/internal/sorter"
)

// An entry of the index has a URL's hash, the date and the place of the capture as its
// key, and as its value what it leads to.
const (
	entryKey   = sorter.HashBytes + 8 + len(place{})
	entryValue = 1 + sorter.HashBytes + 8
)

// What an entry is, as bits.
const (
	isTarget byte = 1 << iota // of a robots.txt that is wanted
	leadsOn                   // leads to a capture of another URL, or of another date
	exactly                   // of that date, and no other
)

// readIndex reads all archives and makes the index.
func (s *search) readIndex(ctx context.Context) error {
	none := func() bool { return false }
	return s.Each(ctx, func(int) bool { return true }, func(ctx context.Context, i int, name string, in io.Reader) error {
		n, at := uint64(0), int64(0)
		_, err := warc.ReadAll(ctx, name, in, s.Stored, none, func(c *warc.Capture) error {
			s.Progress(c.Offset - at)
			at = c.Offset
			key, value := s.entry(c, placeOf(i, n))
			n++
			return s.index.Add(key, value)
		}, ignored)
		return err
	})
}

// ignored skips damage: reading the targets reports it.
func ignored(int64, string) error { return nil }

func (s *search) entry(c *warc.Capture, at place) (key, value []byte) {
	key = append(make([]byte, 0, entryKey), sorter.Hash(c.Hops[0].URL)...)
	key = append(binary.BigEndian.AppendUint64(key, sorter.Date(c.Start)), at[:]...)
	value = make([]byte, entryValue)
	if c.IsRobots() && s.Wanted(c.Origin) {
		value[0] |= isTarget
	}
	to, date := "", c.Start
	switch {
	case c.Location != "":
		to = c.Location
	case c.Revisit != nil:
		day, _, ok := c.Revisit.Date()
		origin, target, _, err := fetch.Redirect(c.Hops[0].URL, c.Revisit.TargetURI)
		if ok && err == nil {
			to, date, value[0] = origin.String()+target, day, value[0]|exactly
		}
	}
	if to != "" {
		value[0] |= leadsOn
		copy(value[1:], sorter.Hash(to))
		binary.BigEndian.PutUint64(value[1+sorter.HashBytes:], sorter.Date(date))
	}
	return key, value
}

// follow finds the last captures, and what they lead to.
func (s *search) follow(ctx context.Context) error {
	asked, n, err := s.findWinners()
	// A revisit record may stand for each capture of the chain.
	for step := byte(0); err == nil && n > 0 && int(step) <= 2*s.MaxRedirects+1; step++ {
		if err = ctx.Err(); err == nil {
			asked, n, err = s.join(asked, step)
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

// findWinners adds the last capture of each host, and returns a question for each that
// leads on. A question has the hash, the date and the place of the last capture as its
// key; its value says whether the date is exact.
func (s *search) findWinners() (asked *sorter.Sorter, n int, err error) {
	asked = s.sorter()
	m, err := s.index.Sorted()
	if err != nil {
		return nil, 0, err
	}
	var last, what []byte // the last capture so far of the URL
	settle := func() error {
		if last == nil {
			return nil
		}
		at := place(last[sorter.HashBytes+8:])
		last = nil
		if err := s.last.Add(at[:], nil); err != nil || what[0]&leadsOn == 0 {
			return err
		}
		n++
		return asked.Add(append(what[1:], at[:]...), what[:1])
	}
	for {
		key, value, err := m.Next()
		if err == io.EOF {
			return asked, n, settle()
		}
		if err != nil {
			return nil, 0, err
		}
		if last != nil && !bytes.Equal(last[:sorter.HashBytes], key[:sorter.HashBytes]) {
			if err := settle(); err != nil {
				return nil, 0, err
			}
		}
		if value[0]&isTarget != 0 {
			last, what = bytes.Clone(key), bytes.Clone(value)
		}
	}
}

// join answers questions with the captures of the index: that of the date, or else the
// nearest one, because a crawler follows a redirect at once. It returns the questions that
// the answers raise.
func (s *search) join(asked *sorter.Sorter, step byte) (more *sorter.Sorter, n int, err error) {
	more = s.sorter()
	questions, err := asked.Sorted()
	if err != nil {
		return nil, 0, err
	}
	w := &walk{}
	if w.index, err = s.index.Sorted(); err == nil {
		err = w.advance()
	}
	for err == nil {
		var key, value []byte
		if key, value, err = questions.Next(); err != nil {
			break
		}
		var answer, what []byte
		if answer, what, err = w.find(key[:sorter.HashBytes+8], value[0]&exactly != 0); err != nil || answer == nil {
			continue
		}
		to, from := answer[sorter.HashBytes+8:], key[sorter.HashBytes+8:]
		if err = s.needed.Add(append(append(bytes.Clone(to), from...), step), nil); err == nil && what[0]&leadsOn != 0 {
			n++
			err = more.Add(append(bytes.Clone(what[1:]), from...), what[:1])
		}
	}
	if err != io.EOF {
		return nil, 0, err
	}
	return more, n, asked.Close()
}

// walk walks through the index beside sorted questions.
type walk struct {
	index        *sorter.Merged
	before, next [2][]byte // entries around the question; nil if there is none
}

func (w *walk) advance() error {
	w.before, w.next = w.next, w.before
	key, value, err := w.index.Next()
	if err == io.EOF {
		w.next = [2][]byte{}
		return nil
	}
	w.next = [2][]byte{append(w.next[0][:0], key...), append(w.next[1][:0], value...)}
	return err
}

// find returns the entry of a hash at a date, or nearest to it unless exact.
func (w *walk) find(question []byte, exact bool) (key, value []byte, err error) {
	for w.next[0] != nil && bytes.Compare(w.next[0][:len(question)], question) < 0 {
		if err := w.advance(); err != nil {
			return nil, nil, err
		}
	}
	is := func(e [2][]byte) bool {
		return e[0] != nil && bytes.Equal(e[0][:sorter.HashBytes], question[:sorter.HashBytes])
	}
	date := func(key []byte) uint64 { return binary.BigEndian.Uint64(key[sorter.HashBytes:]) }
	switch now := date(question); {
	case is(w.next) && date(w.next[0]) == now:
		return w.next[0], w.next[1], nil
	case exact || !is(w.next) && !is(w.before):
		return nil, nil, nil
	case is(w.next) && (!is(w.before) || date(w.next[0])-now <= now-date(w.before[0])):
		return w.next[0], w.next[1], nil
	}
	return w.before[0], w.before[1], nil
}
