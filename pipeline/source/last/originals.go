package last

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sort"

	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/sink/store"
)

// Originals finds the originals of revisit records among captures that an index names,
// which are not read for it. They are sorted by their names on disk; what answers the
// questions of a revisit record is found there when the record is read.
type Originals struct {
	Scratch func() (*store.Scratch, error) // creates a file

	names  *sorter.Sorter
	file   *store.Scratch // entries, sorted
	count  int
	number uint64 // of entries added
}

// An entry has the hash of a name, the date, its number, what a question is compared with
// (see entryValue), and where the capture is.
const (
	originalKey  = sorter.HashBytes + 8 + 8
	originalSize = originalKey + entryValue + 8
)

// Add adds a capture, as far as an index describes it. at tells the caller where it is.
func (o *Originals) Add(c *warc.Capture, at uint64) error {
	if o.names == nil {
		o.names = &sorter.Sorter{Scratch: o.Scratch, Memory: memory}
	}
	value := binary.BigEndian.AppendUint64(compared(c, 0), at)
	for _, name := range namesOf(c) {
		key := append(make([]byte, 0, originalKey), sorter.Hash(name)...)
		key = binary.BigEndian.AppendUint64(key, sorter.Date(c.Start))
		o.number++
		if err := o.names.Add(binary.BigEndian.AppendUint64(key, o.number), value); err != nil {
			return err
		}
	}
	return nil
}

// Settle prepares the finding. Nothing can be added after it.
func (o *Originals) Settle() (err error) {
	if o.names == nil {
		return nil
	}
	if o.file, err = o.Scratch(); err != nil {
		return fmt.Errorf("create a file for captures: %w", err)
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(o.file, 0), 1<<18)
	m, err := o.names.Sorted()
	for err == nil {
		var key, value []byte
		if key, value, err = m.Next(); err == nil {
			w.Write(key)
			w.Write(value)
			o.count++
		}
	}
	if err == io.EOF {
		err = w.Flush() // keeps the first error of the writes
	}
	if err != nil {
		return fmt.Errorf("write the list of captures: %w", err)
	}
	return o.names.Close()
}

// Of calls try with where the captures are that may be the original of a revisit record,
// the surest first, until try returns true.
func (o *Originals) Of(c *warc.Capture, try func(at uint64) (bool, error)) error {
	if !c.WantsOriginal() {
		return nil
	}
	tried := make(map[uint64]bool)
	for _, q := range originalsOf(c) {
		at, ok, err := o.find(q)
		if err != nil {
			return err
		}
		if !ok || tried[at] {
			continue
		}
		tried[at] = true
		if done, err := try(at); done || err != nil {
			return err
		}
	}
	return nil
}

// find returns where the capture is that answers a question.
func (o *Originals) find(q question) (at uint64, ok bool, err error) {
	asked := q.encode()
	hash, last := asked[:sorter.HashBytes], binary.BigEndian.Uint64(asked[sorter.HashBytes:])
	entry := func(i int) []byte {
		b := make([]byte, originalSize)
		if err == nil {
			_, err = o.file.ReadAt(b, int64(i)*int64(originalSize))
		}
		return b
	}
	dateOf := func(e []byte) uint64 { return binary.BigEndian.Uint64(e[sorter.HashBytes:]) }
	// The first entry behind those that are not later than the question.
	next := sort.Search(o.count, func(i int) bool {
		e := entry(i)
		order := bytes.Compare(e[:sorter.HashBytes], hash)
		return order > 0 || order == 0 && (dateOf(e) > last || dateOf(e) == last && q.kind.isNearest())
	})
	is := func(i int) bool { return i >= 0 && i < o.count && bytes.Equal(entry(i)[:sorter.HashBytes], hash) }
	chosen := next - 1
	if q.kind.isNearest() && is(next) && (!is(chosen) || dateOf(entry(next))-last <= last-dateOf(entry(chosen))) {
		chosen = next
	}
	if !is(chosen) || err != nil {
		return 0, false, readBack(err)
	}
	e := entry(chosen)
	if !q.accepts(dateOf(e), last, e[originalKey:]) {
		return 0, false, readBack(err)
	}
	return binary.BigEndian.Uint64(e[originalKey+entryValue:]), true, readBack(err)
}

func readBack(err error) error {
	if err != nil {
		return fmt.Errorf("read the list of captures: %w", err)
	}
	return nil
}

// Close frees the disk. o may be nil.
func (o *Originals) Close() error {
	if o == nil || o.names == nil {
		return nil
	}
	err := o.names.Close()
	if o.file != nil {
		err = o.file.Close()
	}
	return err
}

// Complete gives a revisit record what its original says. It reports whether the original
// has the payload that the record stands for.
func Complete(c, original *warc.Capture) bool {
	if original.Unstored || tagOf(digestOf(c)).contradicts(tagOf(digestOf(original))) {
		return false
	}
	newChain(c, 0).add(original)
	return !c.Unstored
}
