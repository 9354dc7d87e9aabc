// Package warc reads stored captures of robots.txt files from WARC files, and from ARC
// files, which the Internet Archive wrote before 2009.
//
// A file is compressed with gzip or zstd, one member or frame per record or one for all records, or is
// plain, or several lie in a ZIP file. [Read] takes it as a stream and calls back for each capture and each
// damaged place. Damage costs only the records that it hits; reading resumes at the next one.
//
// The files are hostile input: lengths, headers and bodies may contradict each
// other, so every read and every search is bounded.
package warc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
)

// Capture is a stored capture of a robots.txt, as one record (a response or a
// revisit) describes it.
type Capture struct {
	fetch.Capture

	// File, Offset and Length locate the record: its gzip member or zstd frame,
	// as in an index (CDX), or the record itself in a plain file. If the member
	// holds other records too, Length is 0 and Offset is that of the member. A
	// capture that [Evidence] wrote has several records, one after the other.
	File           string
	Offset, Length int64

	ID            string        // of the record
	Within        time.Duration // precision of Start: the date is before Start+Within
	Cut           string        // WARC-Truncated: length, time, disconnect, unspecified; or segmented
	PayloadDigest string        // as written: "sha1:…"
	PayloadLength int64         // bytes of the payload, as far as its header says; 0 if not known
	OfFetch       bool          // [Evidence] wrote it: what its host was asked for besides is in it
	Mismatch      string        // how the body contradicts the digest, "" if it does not or is unknown

	// Revisit is set for a revisit record, whose payload is that of the record
	// referred to. The capture has a status and headers, if they were stored,
	// but no body.
	Revisit *Revisit
}

// IsRobots reports whether it is the capture of a robots.txt.
func (c *Capture) IsRobots() bool { return c.Hops[0].URL == c.Origin.RobotsURL() }

// Revisit identifies the earlier record, as far as the revisit record does.
type Revisit struct {
	Profile                     string // a URI that says what was unchanged
	RecordID, TargetURI, OfDate string
}

// Date returns the date of the record referred to; ok is false if the revisit record
// does not say it.
func (r *Revisit) Date() (t time.Time, within time.Duration, ok bool) {
	return parseDate([]byte(r.OfDate))
}

// IsNotModified reports whether the server said that nothing had changed.
func (r *Revisit) IsNotModified() bool { return strings.HasSuffix(r.Profile, "/server-not-modified") }

// StandsForAnother reports whether the answer says that another capture has what it lacks.
func (c *Capture) StandsForAnother() bool {
	status := c.Status()
	return c.Error == "" && (status == http.StatusNotModified || c.Unstored && (status == 0 || status/100 == 2))
}

// WantsOriginal reports whether the capture lacks what the record has that its revisit
// record refers to, and says something by which to find it.
func (c *Capture) WantsOriginal() bool {
	r := c.Revisit
	return r != nil && c.Unstored && c.StandsForAnother() &&
		(r.RecordID != "" || r.OfDate != "" || c.PayloadDigest != "" || r.IsNotModified())
}

// Counts are the numbers of records by outcome.
type Counts struct {
	Captures, OtherURLs, OtherTypes int64
	OfFetches                       int64 // records that [Evidence] wrote; a capture counts beside its records
	Damaged                         int64 // damaged places; each may have cost several records
}

// Config says what to keep of captures.
type Config struct {
	fetch.Limits

	// Answer, if not nil, gets each answer of a [RecordReader] as its server sent it, in the place
	// of its body: without what the writer of the archive has undone, and with the length that is
	// stored. A revisit record has its header alone.
	Answer func(c *Capture, sent io.Reader)
}

// Read calls emit for every stored capture of a robots.txt (a response or
// revisit whose target's path is exactly /robots.txt), in file order. It calls
// damaged for data that it cannot read, with the offset where it begins, and
// resumes at the next record. A file without a record is damaged. emit may keep
// the capture.
//
// The file is WARC or ARC, gzip or zstd, normally with a member or frame per record, or
// plain, or a ZIP file with such files, as a WACZ is; its first bytes decide. If r can seek, a
// wrong length costs only its record. If r cannot, or one member holds many records, it also
// costs the records within that length. Read returns the first error of r, emit, damaged or
// ctx.
func Read(ctx context.Context, name string, r io.Reader, c Config,
	emit func(*Capture) error, damaged func(offset int64, what string) error) (Counts, error) {
	return readFile(ctx, r, reader{name: name, Limits: c.Limits, emit: emit, damaged: damaged})
}

// ReadAll is like [Read], and calls emit for captures of all URLs that can be fetched,
// in file order. It asks body before a capture that is not of a robots.txt, and reads
// its body only if the answer is true.
func ReadAll(ctx context.Context, name string, r io.Reader, c Config, body func() bool,
	emit func(*Capture) error, damaged func(offset int64, what string) error) (Counts, error) {
	return readFile(ctx, r, reader{name: name, Limits: c.Limits, body: body, emit: emit, damaged: damaged})
}

func readFile(ctx context.Context, r io.Reader, w reader) (Counts, error) {
	w.members = newMembers(ctx, r)
	if head, _ := w.raw.Peek(len(zipMagic)); isZip(head) {
		return readZip(ctx, w.file, w)
	}
	return read(ctx, &w)
}

// A RecordReader reads single records, by their places in archives. It keeps its buffers.
type RecordReader struct{ members *members }

// Read reads the record at the start of r, as [ReadAll] does those of a file, with its
// body. What follows the record does not matter, and may be read or not. The places of
// captures and damage are relative to the start of r.
func (rr *RecordReader) Read(ctx context.Context, name string, r io.Reader, c Config,
	emit func(*Capture) error, damaged func(offset int64, what string) error) (Counts, error) {
	if rr.members == nil {
		rr.members = newMembers(ctx, r)
	} else {
		rr.members.reset(ctx, r)
	}
	return read(ctx, &reader{members: rr.members, name: name, Limits: c.Limits, body: func() bool {
		return true
	}, answers: c.Answer, emit: emit, damaged: damaged,
		single: true})
}

// Begin prepares for records of a file that may begin with a dictionary of all of them.
func (rr *RecordReader) Begin(ctx context.Context, file io.ReaderAt) error {
	var start [4]byte
	if file.ReadAt(start[:], 0); !isDictionary(start[:]) {
		return nil
	}
	rr.Close() // of another file
	_, err := rr.Read(ctx, "", io.NewSectionReader(file, 0, 1<<62), Config{}, func(*Capture) error { return nil },
		func(int64, string) error { return nil }) // its records show what is wrong with it
	return err
}

// BeginsEvidence reports whether the first record of an archive says that this program wrote it.
func BeginsEvidence(ctx context.Context, r io.Reader) (bool, error) {
	w := &reader{members: newMembers(ctx, r), emit: func(*Capture) error { return nil },
		damaged: func(int64, string) error { return nil }, single: true}
	defer w.close()
	_, err := read(ctx, w)
	return w.ours, err
}

// Close frees the buffers.
func (rr *RecordReader) Close() {
	if rr.members != nil {
		rr.members.close()
		rr.members = nil
	}
}

func read(ctx context.Context, w *reader) (Counts, error) {
	if !w.single {
		defer w.close()
	}
	for {
		in, err := w.next()
		switch {
		case err == nil:
			err = w.records(in)
		case err != io.EOF:
			_, err = w.unreadable(nil, err)
		}
		switch {
		case ctx.Err() != nil:
			return w.counts, ctx.Err()
		case w.file.err != nil:
			return w.counts, &userfile.Error{Path: w.name, Err: fmt.Errorf("at byte %d: %w", w.file.at, w.file.err)}
		case w.single && w.counts != (Counts{}):
			return w.counts, err
		case err == io.EOF && w.counts == (Counts{}):
			// A download that failed often leaves an empty file.
			w.counts.Damaged++
			return w.counts, w.damaged(0, errEmpty.Error())
		case err == io.EOF:
			err := w.deliver(w.fetched)
			return w.counts, err
		case err != nil:
			return w.counts, err
		}
	}
}

// reader reads the records of one file. It reuses its buffers for each record.
type reader struct {
	*members
	name string
	fetch.Limits
	body    func() bool // nil if captures of other URLs are passed over
	answers func(*Capture, io.Reader)
	emit    func(*Capture) error
	damaged func(offset int64, what string) error
	counts  Counts
	counter *int64 // the count of the current record, if it is good

	head   recordHead
	ahead  recordHead // of a record that may follow
	answer answerHead
	left   int64  // bytes left of the record's block
	stored []byte // memory for a body before decoding

	fetched *fetched // the fetch whose records are being read; nil for none
	ended   *fetched // one whose records have ended, to be delivered
	ours    bool     // this program wrote the records that follow

	asStored bool // the body equals the record's bytes
	headOnly bool // the body is not wanted
	single   bool // the first record is the only one
}

var (
	errNoRecord   = errors.New("not a WARC or ARC record")
	errEmpty      = errors.New("the file holds no record")
	errNoEnd      = errors.New("the header has no end")
	errLongHeader = fmt.Errorf("the header is longer than %d bytes", maxRecordHead)
	errNoLength   = errors.New("no readable content-length")
	errLength     = errors.New("the content-length is wrong")
	errPastEnd    = errors.New("the record exceeds the file: the file is truncated, or the content-length is wrong")
	errNoDate     = errors.New("no readable warc-date")
)

// records reads the records of one member. An error stops the reading.
func (w *reader) records(in *bufio.Reader) error {
	for more := true; more; {
		if in == w.raw {
			w.start = w.offset()
		}
		if _, err := in.Peek(1); err == io.EOF {
			return nil // an empty member
		}
		c, err := w.record(in)
		if w.ended != nil {
			done := w.ended
			w.ended = nil
			if err := w.deliver(done); err != nil {
				return err
			}
		}
		if err == nil {
			more, err = w.end(in, c)
		}
		if err != nil {
			if more, err = w.unreadable(in, err); err != nil || w.single {
				return err
			}
			continue
		}
		*w.counter++
		w.shared = w.shared || more && in != w.raw
		if w.fetched != nil {
			w.fetched.grow(w)
		}
		if c == nil {
			if w.single {
				return nil
			}
			continue
		}
		c.File, c.Offset = w.name, w.start
		if !w.shared {
			c.Length = w.offset() - w.start
		}
		if err := w.emit(c); err != nil || w.single {
			return err
		}
	}
	return nil
}

// unreadable reports unreadable data to damaged. again reports whether another
// record was found in the same member.
func (w *reader) unreadable(in *bufio.Reader, what error) (again bool, err error) {
	guess := w.lost
	again, whole := w.resync(in)
	if w.file.err != nil || guess && !again && !whole {
		return false, w.file.err // what looked like a member was not one
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
