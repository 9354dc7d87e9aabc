// Package warc reads the stored captures of robots.txt files from WARC files:
// gzip, zstd or plain, with a member or frame for each record or one for all.
// Damage costs the records that it hits; reading resumes at the next one.
package warc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
)

// Capture is a stored capture of a robots.txt, as far as one record (a
// response or a revisit) tells it.
type Capture struct {
	fetch.Capture

	// Where the record is: the gzip member or zstd frame of its own, as an
	// index (CDX) has it, or the record itself in a plain file. Length is 0
	// where the member is shared, and Offset then that of the member.
	File           string
	Offset, Length int64

	Cut           string // WARC-Truncated: length, time, disconnect, unspecified
	PayloadDigest string // as written: "sha1:…"
	PayloadType   string // what the writer took the payload for
	Mismatch      string // why the body is not that of the digest, "" where it is or that cannot be told

	// Revisit is set in a revisit record: its payload is that of the record
	// referred to. The capture has a status and headers, where they were
	// kept, but no body.
	Revisit *Revisit
}

// Revisit names the earlier record, as far as the revisit does.
type Revisit struct {
	Profile                     string // a URI that says what was found to be the same
	RecordID, TargetURI, OfDate string
}

// Counts are the records of a file by what became of them.
type Counts struct {
	Captures, OtherURLs, OtherTypes int64
	Damaged                         int64 // places; what was lost in one may be more than a record
}

// Read calls emit for every stored capture of a robots.txt (a response or
// revisit whose target's path is exactly /robots.txt), in the order of the
// file, and damaged for what cannot be read, with the offset where it begins.
// Reading goes on at the next record behind. Bodies are kept as far as limit.
// A capture is emit's to keep.
//
// The file is gzip or zstd, with a member or frame per record as it should
// be, or plain; its first bytes tell. Where r can seek, a wrong length costs
// its own record; where r cannot, or one member holds many records, also
// those that the length takes in. The error is one of reading r, of emit or
// of damaged, or ctx's.
func Read(ctx context.Context, name string, r io.Reader, limit int,
	emit func(*Capture) error, damaged func(offset int64, what string) error) (Counts, error) {
	w := &reader{members: newMembers(ctx, r), name: name, limit: limit, emit: emit, damaged: damaged}
	defer w.close()
	for {
		in, err := w.next()
		switch {
		case err == nil:
			err = w.records(in)
		case err != io.EOF:
			_, err = w.spoilt(nil, err)
		}
		switch {
		case ctx.Err() != nil:
			return w.counts, ctx.Err()
		case w.file.err != nil:
			return w.counts, &userfile.Error{Path: name, Err: fmt.Errorf("at byte %d: %w", w.file.at, w.file.err)}
		case err == io.EOF:
			return w.counts, nil
		case err != nil:
			return w.counts, err
		}
	}
}

// reader reads the records of one file. What it reads into is reused from
// record to record.
type reader struct {
	*members
	name    string
	limit   int
	emit    func(*Capture) error
	damaged func(offset int64, what string) error
	counts  Counts
	counter *int64 // what the record under way is counted as, if it is good

	head   recordHead
	answer answerHead
	left   int64  // of the record's block
	stored []byte // a body that is to be decoded

	asStored bool // the body is what the record holds, byte for byte
}

var (
	errNoRecord   = errors.New("not a WARC/1 record")
	errNoEnd      = errors.New("the header has no end")
	errLongHeader = fmt.Errorf("the header is longer than %d bytes", maxRecordHead)
	errNoLength   = errors.New("no readable content-length")
	errLength     = errors.New("the content-length is wrong")
	errPastEnd    = errors.New("the record exceeds the file: the file is truncated, or the content-length is wrong")
	errNoDate     = errors.New("no readable warc-date")
)

// records reads those of one member. An error is a reason to stop.
func (w *reader) records(in *bufio.Reader) error {
	for more := true; more; {
		if in == w.raw {
			w.start = w.offset()
		}
		if _, err := in.Peek(1); err == io.EOF {
			return nil // an empty member
		}
		c, err := w.record(in)
		if err == nil {
			more, err = w.end(in, c)
		}
		if err != nil {
			if more, err = w.spoilt(in, err); err != nil {
				return err
			}
			continue
		}
		*w.counter++
		w.shared = w.shared || more && in != w.raw
		if c == nil {
			continue
		}
		c.File, c.Offset = w.name, w.start
		if !w.shared {
			c.Length = w.offset() - w.start
		}
		if err := w.emit(c); err != nil {
			return err
		}
	}
	return nil
}

// spoilt reports what cannot be read. again tells that another record was
// found in the same member.
func (w *reader) spoilt(in *bufio.Reader, what error) (again bool, err error) {
	guess := w.lost
	again, whole := w.salvage(in)
	if w.file.err != nil || guess && !again && !whole {
		return false, w.file.err // what looked like a member was none
	}
	w.counts.Damaged++
	return again, w.damaged(w.start, explain(what))
}

func explain(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "the record ends before its content-length"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the file is cut off inside the record"
	}
	return err.Error()
}

// record reads one record as far as the end of its block, and makes a capture
// of it if it is one. io.EOF says that the member ends inside the block.
func (w *reader) record(in *bufio.Reader) (*Capture, error) {
	if b, err := in.Peek(len(recordMagic)); string(b) != recordMagic {
		if err != nil && err != io.EOF {
			return nil, err
		}
		return nil, errNoRecord
	}
	w.lost, w.form = false, w.opened
	b, ended, err := peekHead(in, maxRecordHead)
	switch {
	case err == io.EOF:
		return nil, errNoEnd
	case err != nil:
		return nil, err
	case !ended:
		return nil, errLongHeader
	}
	w.head.parse(b)
	in.Discard(len(b))
	h := &w.head
	if h.joined {
		return nil, errNoEnd // before that of the next record
	}
	if w.left = h.length; w.left < 0 {
		return nil, errNoLength
	}
	if in == w.raw && w.pastEnd(w.left) {
		return nil, errPastEnd
	}
	if string(h.kind) != "response" && string(h.kind) != "revisit" {
		w.counter = &w.counts.OtherTypes
		return nil, w.skip(in, w.left)
	}
	origin, ok := h.robotsOf()
	if !ok {
		w.counter = &w.counts.OtherURLs
		return nil, w.skip(in, w.left)
	}
	w.counter = &w.counts.Captures
	c, err := w.capture(in, origin)
	if err != nil {
		return nil, err
	}
	return c, w.skip(in, w.left)
}

// end reads what follows a block: two line ends, and then the next record of
// the same member (more) or its end. c is what the block gave.
func (w *reader) end(in *bufio.Reader, c *Capture) (more bool, err error) {
	lines := 0
	for ; ; lines++ {
		b, err := in.ReadByte()
		if err == nil && b == '\r' {
			b, err = in.ReadByte()
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if b != '\n' {
			in.UnreadByte()
			break
		}
	}
	if b, _ := in.Peek(len(recordMagic)); string(b) == recordMagic {
		return true, nil
	}
	// Where records stand one behind the other it may be the next one that
	// is damaged, or this one whose length ends at a blank line by chance.
	if w.holdsMany(in) && lines >= 2 && (c == nil || c.Mismatch == "") {
		return true, nil
	}
	return false, errLength
}

// capture reads the block of a response or revisit record of a robots.txt.
func (w *reader) capture(in *bufio.Reader, origin fetch.Origin) (*Capture, error) {
	h := &w.head
	c := &Capture{Cut: string(h.truncated), PayloadDigest: string(h.digest), PayloadType: string(h.payloadType)}
	var ok bool
	if c.Start, ok = parseDate(h.date); !ok {
		return nil, errNoDate
	}
	c.Origin, c.Attempts = origin, 1
	c.Hops = []robots.Hop{{URL: origin.RobotsURL()}}
	if addr, err := netip.ParseAddr(string(h.address)); err == nil {
		c.Remote = netip.AddrPortFrom(addr, origin.Port)
	}
	if string(h.kind) == "revisit" {
		c.Unstored = true
		c.Revisit = &Revisit{string(h.profile), string(h.refersTo), string(h.refersToURI), string(h.refersToDate)}
	}
	return c, w.readAnswer(in, c)
}
