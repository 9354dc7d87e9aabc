// Package last finds the last capture of each host in archives, and follows its redirects
// and revisit records to captures of the archives; or it follows the revisit records of all
// captures. The archives are read three times:
//
//	captures of all URLs ─► index by names and dates ─► last captures   index.go
//	captures ─► what they lead to, round by round ─► captures to keep   round.go, revisit.go
//	archives with captures to keep ─► these captures                    kept.go
//	archives ─► captures, each with those that it leads to              last.go, chain.go
//
// Captures that an index names are not read for it: originals.go finds the originals of
// revisit records among them.
//
// All of it is sorted on disk, so that memory does not grow with the archives: places.go
// has what is sorted by archive.
package last

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/store"
)

// Archives are the archives to search.
type Archives struct {
	Count int
	// Each opens the archives that wanted chooses, by number, several at a time, and calls
	// read with their names and contents.
	Each func(ctx context.Context, wanted func(i int) bool, read func(ctx context.Context, i int, name string,
		in io.Reader) error) error
	Stored warc.Config
	// Wanted reports whether the robots.txt of an origin is to be found.
	Wanted func(fetch.Origin) bool

	Progress func(bytes int64)              // counts what is read for the index
	Scratch  func() (*store.Scratch, error) // creates a file
}

// memory bounds each of the sorts, of which ten exist at a time.
var memory = store.SortMemory / 8

// search is a search for captures and what they lead to.
type search struct {
	Archives
	everyRevisit bool // of all captures, not only the last ones, and without redirects
	sorters      []*store.Sorter

	index   *store.Sorter // entries by URL
	names   *store.Sorter // entries by other names
	leads   *store.Sorter // place of a capture that leads to another one, rank: question
	arrived *store.Sorter // place that a chain has come to, place of the last capture

	mu       sync.Mutex
	arrivals int // records of arrived

	last   *store.Sorter // place
	needed *store.Sorter // place of a capture to keep, place of the last capture that needs it, step
	kept   *store.Sorter // place of a last capture, step: where in file

	neededOf *byArchive
	found    *Captures
}

// Captures are captures of archives with what they lead to. The caller closes them.
type Captures struct {
	last, kept   *byArchive
	file         keptFile
	maxRedirects int
	pages        bool
}

// Find finds the last captures.
func (a Archives) Find(ctx context.Context) (*Captures, error) {
	return (&search{Archives: a}).find(ctx)
}

// Originals finds the originals of all wanted captures that are revisit records. None of
// them is the last one.
func (a Archives) Originals(ctx context.Context) (*Captures, error) {
	return (&search{Archives: a, everyRevisit: true}).find(ctx)
}

func (s *search) find(ctx context.Context) (_ *Captures, err error) {
	s.found = &Captures{maxRedirects: s.Stored.MaxRedirects, pages: s.Stored.ErrorBodies}
	for _, sorted := range []**store.Sorter{&s.index, &s.names, &s.leads, &s.arrived, &s.last, &s.needed, &s.kept} {
		*sorted = s.sorter()
	}
	for _, step := range []func(context.Context) error{s.readIndex, s.follow, s.keep} {
		if err == nil {
			err = step(ctx)
		}
	}
	if err == nil {
		s.found.kept, err = s.layOut(s.kept)
	}
	if err = errors.Join(err, s.close()); err != nil {
		s.found.Close()
		return nil, err
	}
	return s.found, nil
}

func (s *search) sorter() *store.Sorter {
	out := &store.Sorter{Scratch: s.Scratch, Memory: memory}
	s.sorters = append(s.sorters, out)
	return out
}

// close frees what is needed only for the search.
func (s *search) close() (err error) {
	for _, sorted := range s.sorters {
		err = errors.Join(err, sorted.Close())
	}
	return errors.Join(err, s.neededOf.close())
}

// Close frees the disk. c may be nil.
func (c *Captures) Close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.last.close(), c.kept.close(), c.file.close())
}

// Reader tells the last captures of an archive while it is read.
type Reader struct {
	captures   *Captures
	archive    int
	n          uint64 // captures read
	last, kept *records
}

// In begins to read an archive.
func (c *Captures) In(archive int) (*Reader, error) {
	r := &Reader{captures: c, archive: archive, last: c.last.of(archive), kept: c.kept.of(archive)}
	return r, errors.Join(r.last.next(), r.kept.next())
}

// Take takes the next capture, of any URL. isLast reports whether it is the last one of its
// host. If it leads to others, it then has what they say.
func (r *Reader) Take(c *warc.Capture) (isLast bool, err error) {
	at := placeOf(r.archive, r.n)
	r.n++
	if isLast = r.last.is(at); isLast {
		err = r.last.next()
	}
	if err != nil || !isLast && !r.kept.is(at) {
		return false, err
	}
	chain := newChain(c, r.captures.maxRedirects, r.captures.pages)
	for r.kept.is(at) {
		next, err := r.captures.file.take(r.kept.record[len(at)+1:])
		if err == nil {
			chain.add(next)
			err = r.kept.next()
		}
		if err != nil {
			return false, err
		}
	}
	chain.end()
	return isLast, nil
}
