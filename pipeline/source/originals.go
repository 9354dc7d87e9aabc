package source

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/last"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/store"
)

// In the index of a library a file that did not change is a revisit record, whose body is
// that of another one. Where that is, its line may say; otherwise it is looked up among
// the captures of all lines, also those that are not wanted.

// originals are the captures of an index, by what a revisit record says of its original.
type originals struct {
	known last.Originals

	mu     sync.Mutex
	file   *store.Scratch // places, and names of archives
	w      *bufio.Writer
	end    int64
	places map[string]int64 // of the last names
}

func newOriginals(scratch func() (*store.Scratch, error), byURL bool) (*originals, error) {
	file, err := scratch()
	if err != nil {
		return nil, fmt.Errorf("create a file for captures: %w", err)
	}
	return &originals{
		known: last.Originals{Scratch: scratch, ByURL: byURL}, places: make(map[string]int64),
		file: file, w: bufio.NewWriterSize(io.NewOffsetWriter(file, 0), 1<<18),
	}, nil
}

// mostNames bounds the names of archives that are not written again.
const mostNames = 10_000

// addLine adds the capture of a line.
func (o *originals) addLine(c *cdx.Capture) error {
	if c.URL == "" || c.Date.IsZero() {
		return nil
	}
	of := &warc.Capture{Within: c.Within, PayloadDigest: c.Digest}
	of.Start, of.Hops = c.Date, []answer.Hop{{URL: c.URL, Status: cmp.Or(c.Status, http.StatusOK)}}
	if c.IsRevisit {
		of.Revisit = new(warc.Revisit)
	}
	return o.add(c.Place, of)
}

// add adds a capture at a place. It is safe for concurrent use.
func (o *originals) add(p cdx.Place, c *warc.Capture) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, ok := o.places[p.File]
	if !ok {
		if len(o.places) >= mostNames {
			clear(o.places)
		}
		at = o.end
		o.places[p.File] = at
		o.write(append(binary.BigEndian.AppendUint16(nil, uint16(len(p.File))), p.File...))
	}
	err := o.known.Add(c, uint64(o.end))
	place := binary.BigEndian.AppendUint64(nil, uint64(at))
	o.write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(place, uint64(p.Offset)), uint64(p.Length)))
	return err
}

func (o *originals) write(b []byte) {
	o.w.Write(b)
	o.end += int64(len(b))
}

// settle prepares the finding.
func (o *originals) settle() error {
	if err := o.w.Flush(); err != nil { // keeps the first error of the writes
		return fmt.Errorf("write the list of captures: %w", err)
	}
	return o.known.Settle()
}

// place reads a place.
func (o *originals) place(at uint64) (p cdx.Place, err error) {
	var b [24]byte
	if _, err = o.file.ReadAt(b[:], int64(at)); err == nil {
		name := int64(binary.BigEndian.Uint64(b[:]))
		p.Offset, p.Length = int64(binary.BigEndian.Uint64(b[8:])), int64(binary.BigEndian.Uint64(b[16:]))
		if _, err = o.file.ReadAt(b[:2], name); err == nil {
			text := make([]byte, binary.BigEndian.Uint16(b[:]))
			_, err = o.file.ReadAt(text, name+2)
			p.File = string(text)
		}
	}
	if err != nil {
		err = fmt.Errorf("read the list of captures: %w", err)
	}
	return p, err
}

// close frees the disk. o may be nil.
func (o *originals) close() error {
	if o == nil {
		return nil
	}
	return errors.Join(o.known.Close(), o.file.Close())
}

// lacksPayload reports whether a capture is a revisit record whose payload may be found.
func lacksPayload(c *warc.Capture) bool {
	return c != nil && c.Revisit != nil && c.Unstored && c.Location == "" && c.Error == ""
}

// complete completes a capture that lacks its payload, if its original is found: at the
// place that the index says, or among its captures. An archive that cannot be had leaves
// it as it is.
func (b *blockReader) complete(ctx context.Context, c *cdx.Capture, found *warc.Capture) error {
	if found.PayloadDigest == "" {
		found.PayloadDigest = c.Digest
	}
	self := cdx.Place{File: c.File, Offset: c.Offset}
	try := func(p cdx.Place) (bool, error) {
		if p.File == "" || p.File == self.File && p.Offset == self.Offset {
			return false, nil
		}
		original, err := b.original(ctx, p)
		if _, ok := errors.AsType[*userfile.Error](err); ok || original == nil && err == nil {
			return false, nil
		}
		return err == nil && last.Complete(found, original), err
	}
	if done, err := try(c.Original); done || err != nil {
		return err
	}
	return b.source.originals.known.Of(found, func(at uint64) (bool, error) {
		p, err := b.source.originals.place(at)
		if err != nil {
			return false, err
		}
		return try(p)
	})
}

// original reads the record at a place, of whatever URL, nil if there is no capture.
func (b *blockReader) original(ctx context.Context, p cdx.Place) (found *warc.Capture, err error) {
	stored := b.source.config.captures()
	stored.ErrorBodies = true
	_, _, err = b.readOne(ctx, &cdx.Capture{Place: p}, stored, func(got *warc.Capture) bool {
		found = got
		return true
	})
	return found, err
}
