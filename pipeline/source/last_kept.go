package source

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/store"
)

// keep reads the archives that have captures to keep, and keeps them.
func (f *finder) keep(ctx context.Context) error {
	return f.readArchives(ctx, f.neededOf.has, func(ctx context.Context, i int, v *Volume, in io.Reader) error {
		needed, n := f.neededOf.of(i), uint64(0)
		if err := needed.next(); err != nil {
			return err
		}
		wanted := func() bool { return needed.is(placeOf(i, n)) }
		_, err := warc.ReadAll(ctx, v.input.Path, in, f.source.config.captures(), wanted, func(c *warc.Capture) error {
			at := placeOf(i, n)
			n++
			if !needed.is(at) {
				return nil
			}
			where, err := f.file.put(f.scratch, &c.Capture)
			for err == nil && needed.is(at) {
				if err = f.kept.Add(needed.record[len(at):], where); err == nil {
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

// byVolume has sorted records of one size, which begin with a place, and knows those of
// each volume.
type byVolume struct {
	file *store.Scratch
	size int
	ends []int64 // by volume
}

// layOut lays the records of a sorter out by volume, keys and values.
func (f *finder) layOut(s *sorter.Sorter) (b *byVolume, err error) {
	b = &byVolume{ends: make([]int64, len(f.source.Volumes))}
	if b.file, err = f.scratch(); err != nil {
		return nil, fmt.Errorf("create a file for captures: %w", err)
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(b.file, 0), 1<<18)
	m, err := s.Sorted()
	volume, end := 0, int64(0)
	for err == nil {
		var key, value []byte
		if key, value, err = m.Next(); err != nil {
			break
		}
		for ; volume < int(binary.BigEndian.Uint32(key)); volume++ {
			b.ends[volume] = end
		}
		b.size = len(key) + len(value)
		w.Write(key)
		w.Write(value)
		end += int64(b.size)
	}
	for ; volume < len(b.ends); volume++ {
		b.ends[volume] = end
	}
	if err == io.EOF {
		err = w.Flush() // keeps the first error of the writes
	}
	if err != nil {
		b.file.Close()
		return nil, fmt.Errorf("write the list of captures: %w", err)
	}
	return b, s.Close()
}

func (b *byVolume) from(volume int) int64 {
	if volume == 0 {
		return 0
	}
	return b.ends[volume-1]
}

// has reports whether a volume has records.
func (b *byVolume) has(volume int) bool { return b.from(volume) < b.ends[volume] }

// of returns a reader of the records of a volume.
func (b *byVolume) of(volume int) *records {
	from := b.from(volume)
	r := &records{in: bufio.NewReaderSize(io.NewSectionReader(b.file, from, b.ends[volume]-from), 16<<10)}
	if b.has(volume) {
		r.buffer = make([]byte, b.size)
	}
	return r
}

// records reads the records of a volume one by one.
type records struct {
	in     *bufio.Reader
	buffer []byte
	record []byte // nil after the last
}

func (r *records) next() error {
	if r.buffer == nil {
		return nil
	}
	switch _, err := io.ReadFull(r.in, r.buffer); err {
	case nil:
		r.record = r.buffer
	case io.EOF:
		r.record, r.buffer = nil, nil
	default:
		return fmt.Errorf("read the list of captures: %w", err)
	}
	return nil
}

// is reports whether the record is of a place.
func (r *records) is(p place) bool { return r.record != nil && place(r.record) == p }

// reading finds the last captures of a volume while it is read.
type lastSearch struct {
	finder     *finder
	volume     int
	n          uint64 // captures read
	last, kept *records
}

// read begins to read a volume for its last captures.
func (f *finder) read(volume int) (*lastSearch, error) {
	r := &lastSearch{finder: f, volume: volume, last: f.lastOf.of(volume), kept: f.keptOf.of(volume)}
	return r, errors.Join(r.last.next(), r.kept.next())
}

// take takes the next capture. isLast reports whether it is the last one of its host; it
// then has what it leads to.
func (r *lastSearch) take(c *warc.Capture) (isLast bool, err error) {
	at := placeOf(r.volume, r.n)
	r.n++
	if !r.last.is(at) {
		return false, nil
	}
	if err := r.last.next(); err != nil {
		return false, err
	}
	chain := newChain(&c.Capture, r.finder.source.config.MaxRedirects)
	for r.kept.is(at) {
		next, err := r.finder.file.take(r.kept.record[len(at)+1:])
		if err == nil {
			chain.add(next)
			err = r.kept.next()
		}
		if err != nil {
			return false, err
		}
	}
	chain.end()
	return true, nil
}

// chain follows a capture through others. It ends as a chain over the network does.
type chain struct {
	*fetch.Capture
	limit int
	seen  map[string]bool
}

func newChain(c *fetch.Capture, limit int) *chain {
	return &chain{c, limit, map[string]bool{c.Hops[0].URL: true}}
}

// add adds the capture that the chain leads to: the target of a redirect, or the record
// that a revisit record stands for.
func (c *chain) add(next *fetch.Capture) {
	switch status := c.Status(); {
	case c.Location != "":
		if c.end(); c.Location == "" {
			return
		}
		c.seen[next.Hops[0].URL] = true
		c.Hops = append(c.Hops, next.Hops[0])
	case c.Unstored && (status == 0 || status == http.StatusNotModified):
		c.Hops[len(c.Hops)-1].Status = next.Status()
	case c.Unstored && isAnswer(status) && isAnswer(next.Status()): // the body alone: the header is its own
		c.Body, c.Truncated, c.Digest, c.Unstored, c.Error, c.Err = next.Body, next.Truncated, next.Digest, next.Unstored, next.Error, next.Err
		if c.Challenge == "" {
			c.Challenge = next.Challenge
		}
		return
	default:
		return
	}
	c.HTTPVersion, c.Headers, c.Remote, c.Challenge = next.HTTPVersion, next.Headers, next.Remote, next.Challenge
	c.Location, c.Unstored, c.Error, c.Err = next.Location, next.Unstored, next.Error, next.Err
	c.Body, c.Truncated, c.Digest = next.Body, next.Truncated, next.Digest
}

func isAnswer(status int) bool { return status >= 200 && status < 300 }

// end ends a chain that leads in a circle or too far.
func (c *chain) end() {
	switch {
	case c.Location == "":
		return
	case c.seen[c.Location]:
		c.Error, c.Err = answer.ErrorRedirectLoop, errors.New("redirected to a URL of the same chain")
	case len(c.Hops) > c.limit:
		c.Error, c.Err = answer.ErrorRedirectLimit, fmt.Errorf("redirected more than %d times", c.limit)
	default:
		return
	}
	c.Location = ""
}
