package source

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/source/rejected"
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
func (s *Source) readBlock(ctx context.Context, i int, v *Volume, reject rejectRecord, emit func(target.Target) error) error {
	captures, err := s.places.block(i)
	if err != nil {
		return err
	}
	b := &blockReader{source: s, volume: v, first: v.seq, reject: reject, emit: emit}
	defer b.close()
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
		if c[n].File != c[0].File || c[n].Offset < end || c[n].Offset-end > mostGap || c[n].Offset+c[n].Length-c[0].Offset > mostRange {
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
	at := b.source.config.locate(path)
	if remote.IsURL(at) {
		in, err := b.source.servers.OpenRange(ctx, at, from, to)
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
		return b.readGuessing(ctx, &c[0], before+1)
	}
	in, err := b.open(ctx, c[0].File, c[0].Offset, c[len(c)-1].Offset+c[len(c)-1].Length)
	if err != nil {
		return err
	}
	defer in.Close()
	at := c[0].Offset
	for i := range c {
		if _, err := io.CopyN(io.Discard, in, c[i].Offset-at); err != nil && err != io.EOF {
			return err
		}
		record := &io.LimitedReader{R: in, N: c[i].Length}
		found, why, err := b.record(ctx, &c[i], record)
		if err == nil {
			_, err = io.Copy(io.Discard, record)
		}
		if err == nil {
			err = b.take(&c[i], found, why, before+int64(i)+1)
		}
		if err != nil {
			return err
		}
		at = c[i].Offset + c[i].Length
	}
	return nil
}

// readGuessing reads a capture whose length is not known.
func (b *blockReader) readGuessing(ctx context.Context, c *cdx.Capture, n int64) error {
	for size := int64(firstGuess); ; size *= 8 {
		in, err := b.open(ctx, c.File, c.Offset, c.Offset+size)
		if err != nil {
			return err
		}
		record := &io.LimitedReader{R: in, N: size}
		found, why, err := b.record(ctx, c, record)
		if err == nil && found == nil {
			_, err = io.Copy(io.Discard, record)
		}
		in.Close()
		if err != nil {
			return err
		}
		// A record that did not end may do so with more bytes, if there are more.
		if found == nil && why != "" && record.N == 0 && size < mostGuess {
			continue
		}
		return b.take(c, found, why, n)
	}
}

// record reads the record of a capture, and returns it, or why there is none.
func (b *blockReader) record(ctx context.Context, c *cdx.Capture, in io.Reader) (found *warc.Capture, why string, err error) {
	other := ""
	_, err = b.records.Read(ctx, remote.Name(c.File), in, b.source.config.captures(), func(got *warc.Capture) error {
		if got.IsRobots() && isOf(got.Origin, c.Origin) {
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

// isOf reports whether an origin is the one that an index says, which may be a host alone.
func isOf(o, said fetch.Origin) bool {
	return o == said || said.Scheme == "" && o.Host == said.Host
}

// take emits a capture, or rejects its line. n is its number in the block.
func (b *blockReader) take(c *cdx.Capture, found *warc.Capture, why string, n int64) error {
	s := b.source
	path := remote.Name(c.File)
	if found == nil {
		s.rejects.Skip(rejected.Skipped{Damaged: 1})
		b.rejected++
		return b.reject(c.Offset, path, why)
	}
	s.progress(1)
	var skipped rejected.Skipped
	t, ok := s.wanted(found.Origin, &skipped)
	if !ok { // the index has only the host
		s.rejects.Skip(skipped)
		return nil
	}
	t.Seq = b.first + n
	t.Input, t.Capture = found.Hops[0].URL, &found.Capture
	t.Stored = &target.Stored{Source: journal.FromArchive, WARC: path, Offset: c.Offset + found.Offset, Length: found.Length, Mismatch: schema.TextString(found.Mismatch)}
	return b.emit(t)
}
