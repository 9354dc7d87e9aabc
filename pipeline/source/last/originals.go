package last

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/store"
)

// Originals finds captures that are not in memory: the originals of revisit records, and with
// ByURL those of a URL. They are sorted by their names on disk; what answers the questions of
// a revisit record is found there when the record is read.
type Originals struct {
	Scratch func() (*store.Scratch, error) // creates a file
	ByURL   bool

	names  *store.Sorter
	file   *store.Scratch // entries, sorted
	count  int
	number uint64 // of entries added
}

// An entry has the hash of a name, the date, its number, what a question is compared with
// (see entryValue), and where the capture is.
const (
	originalKey  = store.KeyHashBytes + 8 + 8
	originalSize = originalKey + entryValue + 8
)

// Add adds a capture, as far as an index describes it. at tells the caller where it is.
func (o *Originals) Add(c *warc.Capture, at uint64) error {
	if o.names == nil {
		o.names = &store.Sorter{Scratch: o.Scratch, Memory: memory}
	}
	value := binary.BigEndian.AppendUint64(compared(c, 0), at)
	names := namesOf(c)
	if o.ByURL {
		names = append(names, c.Hops[0].URL)
	}
	for _, name := range names {
		key := append(make([]byte, 0, originalKey), store.KeyHash(name)...)
		key = binary.BigEndian.AppendUint64(key, store.KeyDate(c.Start))
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

// mostTried bounds the captures that are tried for a revisit record, because an index may
// not say which of its captures are revisit records themselves; mostLooked those that are
// looked at for the next one of a question.
const (
	mostTried  = 12
	mostLooked = 64
)

// Of calls try with where the captures are that may be the original of a revisit record,
// the surest first, until try returns true.
func (o *Originals) Of(c *warc.Capture, try func(at uint64) (bool, error)) error {
	if !c.WantsOriginal() {
		return nil
	}
	return o.try(originalsOf(c), try)
}

// Near calls try with where the captures of a URL are, the nearest to a time first, until try
// returns true.
func (o *Originals) Near(url string, time time.Time, try func(at uint64) (bool, error)) error {
	return o.try([]question{{name: url, date: time, kind: redirect}}, try)
}

func (o *Originals) try(questions []question, try func(at uint64) (bool, error)) error {
	tried := make(map[uint64]bool)
	for _, q := range questions {
		f := o.find(q)
		for len(tried) < mostTried {
			at, ok, err := f.next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if tried[at] {
				continue
			}
			tried[at] = true
			if done, err := try(at); done || err != nil {
				return err
			}
		}
	}
	return nil
}

// finding finds the entries that answer a question, the nearest to its date first.
type finding struct {
	*Originals
	question
	hash          []byte
	last          uint64 // the last date that answers it
	before, after int    // entries around those that were found
	err           error
}

func (o *Originals) find(q question) *finding {
	asked := q.encode()
	f := &finding{Originals: o, question: q, hash: asked[:store.KeyHashBytes],
		last: binary.BigEndian.Uint64(asked[store.KeyHashBytes:])}
	f.after = sort.Search(o.count, func(i int) bool {
		e := f.entry(i)
		order := bytes.Compare(e[:store.KeyHashBytes], f.hash)
		return order > 0 || order == 0 && (dateOf(e) > f.last || dateOf(e) == f.last && q.kind.isNearest())
	})
	f.before = f.after - 1
	return f
}

func (f *finding) entry(i int) []byte {
	b := make([]byte, originalSize)
	if f.err == nil {
		if _, err := f.file.ReadAt(b, int64(i)*int64(originalSize)); err != nil {
			f.err = fmt.Errorf("read the list of captures: %w", err)
		}
	}
	return b
}

func dateOf(entry []byte) uint64 { return binary.BigEndian.Uint64(entry[store.KeyHashBytes:]) }

// next returns where the next capture is, false if there is none.
func (f *finding) next() (at uint64, ok bool, err error) {
	for range mostLooked {
		before, after := f.of(f.before), f.of(f.after)
		if !f.kind.isNearest() {
			after = nil
		}
		chosen := before
		switch {
		case f.err != nil || before == nil && after == nil:
			return 0, false, f.err
		case before == nil || after != nil && dateOf(after)-f.last <= f.last-dateOf(before):
			chosen = after
			f.after++
		default:
			f.before--
		}
		if f.accepts(dateOf(chosen), f.last, chosen[originalKey:]) {
			return binary.BigEndian.Uint64(chosen[originalKey+entryValue:]), true, f.err
		}
	}
	return 0, false, f.err
}

// of returns an entry if it has the name that is asked for.
func (f *finding) of(i int) []byte {
	if i < 0 || i >= f.count {
		return nil
	}
	if e := f.entry(i); bytes.Equal(e[:store.KeyHashBytes], f.hash) {
		return e
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

// IsOriginal reports whether a capture has the payload that a revisit record stands for, as far
// as the digests say.
func IsOriginal(c, original *warc.Capture) bool {
	return !original.Unstored && !tagOf(digestOf(c)).contradicts(tagOf(digestOf(original)))
}

// Complete gives a revisit record what its original says. It reports whether the original
// has the payload that the record stands for.
func Complete(c, original *warc.Capture) bool {
	if !IsOriginal(c, original) {
		return false
	}
	newChain(c, 0, false).add(original)
	return !c.Unstored
}
