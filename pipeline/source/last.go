package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/pipeline/source/rejected"
	"github.com/robocensus/robocensus/sink/store"
)

// With [Config.LastCapture] the last capture of each host is its only target, and its
// redirects are followed to captures of the archives. The archives are read three times:
//
//	captures of all URLs ─► index by URL and date ─► last captures
//	last captures ─► what they lead to, round by round ─► captures to keep
//	archives with captures to keep ─► these captures
//	archives ─► last captures, each with those that it leads to ─► targets
//
// All of it is sorted on disk, so that memory does not grow with the archives.

// place is where a capture is: its archive and its number among the captures there. It
// sorts as its numbers do.
type place [12]byte

func placeOf(volume int, n uint64) (p place) {
	binary.BigEndian.PutUint32(p[:], uint32(volume))
	binary.BigEndian.PutUint64(p[4:], n)
	return p
}

// lastMemory bounds each of the sorts, of which six exist at a time.
var lastMemory = sorter.Memory / 4

// finder finds the last captures.
type finder struct {
	source  *Source
	scratch func() (*store.Scratch, error)
	sorters []*sorter.Sorter

	index  *sorter.Sorter // entries
	last   *sorter.Sorter // place
	needed *sorter.Sorter // place of a capture to keep, place of the last capture that needs it, step
	kept   *sorter.Sorter // place of a last capture, step: where in file

	lastOf, neededOf, keptOf *byVolume
	file                     keptFile
}

// findLast finds the last captures of the archives.
func (s *Source) findLast(ctx context.Context) (err error) {
	if !s.config.LastCapture {
		return nil
	}
	for _, v := range s.Volumes {
		if v.input.Path == "-" || v.input.EndsSHA256 == "" && !v.input.IdentifiedWhenRead {
			return &userfile.Error{Path: v.input.Path, Err: errors.New("can be read only once, and --last-capture reads archives several times: give a file")}
		}
	}
	f := &finder{source: s, scratch: s.rejects.Scratch}
	s.last = f
	f.index, f.last, f.needed, f.kept = f.sorter(), f.sorter(), f.sorter(), f.sorter()
	for _, step := range []func(context.Context) error{f.readIndex, f.follow, f.keep} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if f.keptOf, err = f.layOut(f.kept); err != nil {
		return err
	}
	return f.closeSorters()
}

func (f *finder) sorter() *sorter.Sorter {
	s := &sorter.Sorter{Scratch: f.scratch, Memory: lastMemory}
	f.sorters = append(f.sorters, s)
	return s
}

func (f *finder) closeSorters() (err error) {
	for _, s := range f.sorters {
		err = errors.Join(err, s.Close())
	}
	f.sorters = nil
	return err
}

// close frees the disk. f may be nil.
func (f *finder) close() error {
	if f == nil {
		return nil
	}
	err := f.closeSorters()
	for _, b := range []*byVolume{f.lastOf, f.neededOf, f.keptOf} {
		if b != nil {
			err = errors.Join(err, b.file.Close())
		}
	}
	return errors.Join(err, f.file.close())
}

// An entry of the index has a URL's hash, the date and the place of the capture as its
// key, and as its value what it leads to.
const (
	hashBytes  = 16
	entryKey   = hashBytes + 8 + len(place{})
	entryValue = 1 + hashBytes + 8
)

// What an entry is, as bits.
const (
	isTarget byte = 1 << iota // of a robots.txt that is wanted
	leadsOn                   // leads to a capture of another URL, or of another date
	exactly                   // of that date, and no other
)

func hashOf(url string) []byte {
	sum := sha256.Sum256([]byte(url))
	return sum[:hashBytes]
}

// dateOf returns a date in a form that sorts.
func dateOf(t time.Time) uint64 { return uint64(t.UnixMicro()) ^ 1<<63 }

// readIndex reads all archives and makes the index.
func (f *finder) readIndex(ctx context.Context) error {
	none := func() bool { return false }
	return f.readArchives(ctx, func(int) bool { return true }, func(ctx context.Context, i int, v *Volume, in io.Reader) error {
		n, at := uint64(0), int64(0)
		_, err := warc.ReadAll(ctx, v.input.Path, in, f.source.config.captures(), none, func(c *warc.Capture) error {
			f.source.progress(c.Offset - at)
			at = c.Offset
			key, value := f.entry(c, placeOf(i, n))
			n++
			return f.index.Add(key, value)
		}, ignored)
		return err
	})
}

// ignored passes over damage, which is told of when the targets are read.
func ignored(int64, string) error { return nil }

func (f *finder) entry(c *warc.Capture, at place) (key, value []byte) {
	key = append(make([]byte, 0, entryKey), hashOf(c.Hops[0].URL)...)
	key = append(binary.BigEndian.AppendUint64(key, dateOf(c.Start)), at[:]...)
	value = make([]byte, entryValue)
	if isRobots(c) {
		if _, wanted := f.source.wanted(c.Origin, new(rejected.Skipped)); wanted {
			value[0] |= isTarget
		}
	}
	to, date := "", c.Start
	switch {
	case c.Location != "":
		to = c.Location
	case c.Revisit != nil:
		day, ok := c.Revisit.Date()
		origin, target, _, err := fetch.Redirect(c.Hops[0].URL, c.Revisit.TargetURI)
		if ok && err == nil {
			to, date, value[0] = origin.String()+target, day, value[0]|exactly
		}
	}
	if to != "" {
		value[0] |= leadsOn
		copy(value[1:], hashOf(to))
		binary.BigEndian.PutUint64(value[1+hashBytes:], dateOf(date))
	}
	return key, value
}

// isRobots reports whether a capture is of a robots.txt.
func isRobots(c *warc.Capture) bool { return c.Hops[0].URL == c.Origin.RobotsURL() }

// readArchives calls read with the archives that are wanted, several at a time.
func (f *finder) readArchives(ctx context.Context, wanted func(i int) bool, read func(ctx context.Context, i int, v *Volume, in io.Reader) error) error {
	g, grouped := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	if most := f.source.AtOnce(); most > 0 {
		g.SetLimit(min(most, runtime.GOMAXPROCS(0)))
	}
	for i, v := range f.source.Volumes {
		if grouped.Err() != nil {
			break
		}
		if !wanted(i) {
			continue
		}
		g.Go(func() error {
			in, done, err := f.source.openVolume(grouped, v)
			if err != nil {
				return err
			}
			defer done()
			return read(grouped, i, v, in)
		})
	}
	err := g.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// follow finds the last captures, and what they lead to.
func (f *finder) follow(ctx context.Context) error {
	asked, n, err := f.findWinners()
	// A revisit record may stand for each capture of the chain.
	for step := byte(0); err == nil && n > 0 && int(step) <= 2*f.source.config.MaxRedirects+1; step++ {
		if err = ctx.Err(); err == nil {
			asked, n, err = f.join(asked, step)
		}
	}
	if err == nil {
		f.lastOf, err = f.layOut(f.last)
	}
	if err == nil {
		f.neededOf, err = f.layOut(f.needed)
	}
	return err
}

// findWinners adds the last capture of each host, and returns a question for each that
// leads on. A question has the hash, the date and the place of the last capture as its
// key; its value says whether the date is exact.
func (f *finder) findWinners() (asked *sorter.Sorter, n int, err error) {
	asked = f.sorter()
	m, err := f.index.Sorted()
	if err != nil {
		return nil, 0, err
	}
	var last, what []byte // the last capture so far of the URL
	settle := func() error {
		if last == nil {
			return nil
		}
		at := place(last[hashBytes+8:])
		last = nil
		if err := f.last.Add(at[:], nil); err != nil || what[0]&leadsOn == 0 {
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
		if last != nil && !bytes.Equal(last[:hashBytes], key[:hashBytes]) {
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
func (f *finder) join(asked *sorter.Sorter, step byte) (more *sorter.Sorter, n int, err error) {
	more = f.sorter()
	questions, err := asked.Sorted()
	if err != nil {
		return nil, 0, err
	}
	w := &walk{}
	if w.index, err = f.index.Sorted(); err == nil {
		err = w.advance()
	}
	for err == nil {
		var key, value []byte
		if key, value, err = questions.Next(); err != nil {
			break
		}
		var answer, what []byte
		if answer, what, err = w.find(key[:hashBytes+8], value[0]&exactly != 0); err != nil || answer == nil {
			continue
		}
		to, from := answer[hashBytes+8:], key[hashBytes+8:]
		if err = f.needed.Add(append(append(bytes.Clone(to), from...), step), nil); err == nil && what[0]&leadsOn != 0 {
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
	is := func(e [2][]byte) bool { return e[0] != nil && bytes.Equal(e[0][:hashBytes], question[:hashBytes]) }
	date := func(key []byte) uint64 { return binary.BigEndian.Uint64(key[hashBytes:]) }
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
