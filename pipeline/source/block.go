package source

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
)

const (
	// mostGap is what is read between two captures for nothing rather than with another
	// request, and mostRange what is read with one.
	mostGap   = 128 << 10
	mostRange = 64 << 20
	// firstGuess and mostGuess bound a record whose length the index does not say: it is
	// read again with eight times as much as long as it does not end.
	firstGuess = 64 << 10
	mostGuess  = 64 << 20
)

// readBlock emits the captures of a block.
func (s *Source) readBlock(ctx context.Context, i int, v *Volume, reject rejectRecord,
	emit func(target.Target) error) error {
	captures, err := s.places.block(i)
	if err != nil {
		return err
	}
	b := &blockReader{source: s, volume: v, first: v.seq, reject: reject, emit: emit, locate: s.config.locate,
		further: s.answers()}
	defer b.close()
	defer b.further.close()
	for n := 0; n < len(captures); {
		size := joined(captures[n:])
		if err := b.read(ctx, captures[n:n+size], int64(n)); err != nil {
			return err
		}
		n += size
	}
	if b.rejected == 0 && s.config.Limit == 0 {
		v.archive.End = true
	}
	return nil
}

// joined returns how many of the captures, from the first on, are read together.
func joined(c []cdx.Capture) int {
	n := 1
	for ; n < len(c) && c[n-1].Length > 0 && c[n].Length > 0; n++ {
		end := c[n-1].Offset + c[n-1].Length
		if c[n].File != c[0].File || c[n].Offset < end || c[n].Offset-end > mostGap ||
			c[n].Offset+c[n].Length-c[0].Offset > mostRange {
			break
		}
	}
	return n
}

// blockReader reads the captures of a block from their archives.
type blockReader struct {
	source   *Source
	volume   *Volume
	first    int64 // number before the first target
	reject   rejectRecord
	emit     func(target.Target) error
	rejected int
	records  warc.RecordReader
	locate   func(path string) string
	further  *answersOf

	path string // of the open file
	file *os.File
}

func (b *blockReader) close() {
	b.records.Close()
	if b.file != nil {
		b.file.Close()
	}
}

// open opens bytes of an archive.
func (b *blockReader) open(ctx context.Context, path string, from, to int64) (io.ReadCloser, error) {
	at := b.locate(path)
	if remote.IsURL(at) {
		in, err := b.source.servers.OpenRange(b.source.config.guarded(ctx, at), at, from, to)
		if err != nil {
			return nil, input.Unread(at, err)
		}
		return &unreadRange{in, at}, nil
	}
	if b.path != at {
		if b.file != nil {
			b.file.Close()
		}
		b.path, b.file = "", nil
		f, err := os.Open(at)
		if err != nil {
			return nil, &userfile.Error{Path: at, Err: errors.Unwrap(err)}
		}
		b.path, b.file = at, f
		if err := b.records.Begin(ctx, f); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(io.NewSectionReader(b.file, from, to-from)), nil
}

// unreadRange makes the errors of a range that is read.
type unreadRange struct {
	io.ReadCloser
	url string
}

func (u *unreadRange) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = input.Unread(u.url, err)
	}
	return n, err
}

// read reads captures that lie together. before is the number of those of the block
// before them.
func (b *blockReader) read(ctx context.Context, c []cdx.Capture, before int64) error {
	if len(c) == 1 && c[0].Length == 0 {
		found, why, err := b.readOne(ctx, &c[0], b.source.config.captures(), isCaptureOf(&c[0]))
		if err != nil {
			return err
		}
		return b.take(ctx, &c[0], found, why, before+1)
	}
	for len(c) > 0 {
		n, err := b.readTogether(ctx, c, before)
		if err != nil {
			return err
		}
		c, before = c[n:], before+int64(n)
	}
	return nil
}

// mostHeld is the size of the bodies that wait behind a revisit record.
const mostHeld = 16 << 20

// readTogether reads captures with one request, and returns how many. No other record is
// read during the request, which its server may count: so captures from a revisit record on
// wait for its end, and all of them if other answers of their hosts are looked for.
func (b *blockReader) readTogether(ctx context.Context, c []cdx.Capture, before int64) (n int, err error) {
	in, err := b.open(ctx, c[0].File, c[0].Offset, c[len(c)-1].Offset+c[len(c)-1].Length)
	if err != nil {
		return 0, err
	}
	var waiting []func() error
	at, held := c[0].Offset, 0
	for ; n < len(c) && held < mostHeld && err == nil; n++ {
		this, number := &c[n], before+int64(n)+1
		if _, err = io.CopyN(io.Discard, in, this.Offset-at); err != nil && err != io.EOF {
			break
		}
		record := &io.LimitedReader{R: in, N: this.Length}
		var found *warc.Capture
		var why string
		if found, why, err = b.record(ctx, this, record, b.source.config.captures(), isCaptureOf(this)); err == nil {
			_, err = io.Copy(io.Discard, record)
		}
		take := func() error { return b.take(ctx, this, found, why, number) }
		switch {
		case err != nil:
		case waiting == nil && !lacksPayload(found) && !b.source.config.Further:
			err = take()
		default:
			waiting = append(waiting, take)
			if found != nil {
				held += len(found.Body)
			}
		}
		at = this.Offset + this.Length
	}
	in.Close()
	for _, take := range waiting {
		if err == nil {
			err = take()
		}
	}
	return n, err
}

// readOne reads a single capture, whose length may be unknown.
func (b *blockReader) readOne(ctx context.Context, c *cdx.Capture, stored warc.Config, is func(*warc.Capture) bool) (
	found *warc.Capture, why string, err error) {
	for size := cmp.Or(c.Length, firstGuess); ; size *= 8 {
		in, err := b.open(ctx, c.File, c.Offset, c.Offset+size)
		if err != nil {
			return nil, "", err
		}
		record := &io.LimitedReader{R: in, N: size}
		found, why, err = b.record(ctx, c, record, stored, is)
		if err == nil && found == nil {
			_, err = io.Copy(io.Discard, record)
		}
		in.Close()
		if err != nil {
			return nil, "", err
		}
		// A record that did not end may do so with more bytes, if there are more.
		if c.Length == 0 && found == nil && why != "" && record.N == 0 && size < mostGuess {
			continue
		}
		return found, why, nil
	}
}

// record reads the record of a capture, and returns it if it is the right one, or why not.
func (b *blockReader) record(ctx context.Context, c *cdx.Capture, in io.Reader, stored warc.Config,
	is func(*warc.Capture) bool) (
	found *warc.Capture, why string, err error) {
	other := ""
	_, err = b.records.Read(ctx, remote.Name(c.File), in, stored, func(got *warc.Capture) error {
		if is(got) {
			found = got
		} else {
			other = schema.TextString(got.Hops[0].URL)
		}
		return nil
	}, func(_ int64, what string) error {
		why = "damaged_record: " + what
		return nil
	})
	switch {
	case err != nil || found != nil || why != "":
	case other != "":
		why = "another_record: a capture of " + other
	default:
		why = "another_record: not a capture"
	}
	return found, why, err
}

// isCaptureOf returns what reports whether a record is the capture that an index names.
func isCaptureOf(c *cdx.Capture) func(*warc.Capture) bool {
	return func(got *warc.Capture) bool { return got.IsRobots() && isOf(got.Origin, c.Origin) }
}

// isOf reports whether an origin is the one that an index says, which may be a host alone.
func isOf(o, said fetch.Origin) bool {
	return o == said || said.Scheme == "" && o.Host == said.Host
}

// take emits a capture, or rejects its line. n is its number in the block.
func (b *blockReader) take(ctx context.Context, c *cdx.Capture, found *warc.Capture, why string, n int64) error {
	s := b.source
	path := remote.Name(c.File)
	if found == nil {
		s.rejects.Skip(input.Skipped{input.Damaged: 1})
		b.rejected++
		return b.reject(c.Offset, path, why)
	}
	if lacksPayload(found) {
		if err := b.complete(ctx, c, found); err != nil {
			return err
		}
	}
	s.progress(1)
	skipped := make(input.Skipped)
	t, ok := s.wanted(found.Origin, skipped)
	if !ok { // the index has only the host
		s.rejects.Skip(skipped)
		return nil
	}
	if err := b.further.complete(ctx, found); err != nil {
		return err
	}
	t.Seq = b.first + n
	t.Input, t.Capture = found.Hops[0].URL, &found.Capture
	t.Stored = &target.Stored{Source: journal.FromArchive, WARC: path, Offset: new(c.Offset + found.Offset),
		Length: found.Length, Mismatch: schema.TextString(found.Mismatch)}
	return b.emit(t)
}
