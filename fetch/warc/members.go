package warc

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// members finds the pieces of an archive: gzip members, zstd frames, or the
// records of a plain file, which is one piece.
type members struct {
	file   *warcFile
	raw    *bufio.Reader // reads file
	form   warcForm      // known after the first record
	text   warcForm      // the same of the uncompressed records: formPlain or formARC
	opened warcForm      // form of the current member
	gzip   gzip.Reader
	zstd   *zstd.Decoder
	frame  zstdFrame
	plain  *bufio.Reader  // the contents of a member
	guess  countingReader // the contents of a member whose place is a guess
	start  int64          // offset of the current member, or of the record in a plain file
	count  int            // members opened
	shared bool           // the member holds several records
	lost   bool           // the place is a guess until a record is found there
}

// warcForm is the compression of a WARC file.
type warcForm int

const (
	formUnknown warcForm = iota
	formGzip
	formZstd
	formPlain
	formARC // plain records of ARC
)

const (
	gzipMagic = "\x1f\x8b\x08"
	zstdMagic = "\x28\xb5\x2f\xfd"

	longestMagic = len("WARC/0.17")
	// signature is the number of bytes needed to recognise a member's start: a
	// line end before a plain record.
	signature = 1 + longestMagic
)

// recordMagics are how records of WARC begin. The drafts of 2008 have the fields of
// WARC 1.0; those before have another header.
var recordMagics = []string{"WARC/1.", "WARC/0.17", "WARC/0.18"}

// isRecord reports whether a record of WARC begins.
func isRecord(b []byte) bool {
	return slices.ContainsFunc(recordMagics, func(magic string) bool { return bytes.HasPrefix(b, []byte(magic)) })
}

// isPadding reports whether a byte means nothing between records: blanks, and the zeros
// with which tapes and file systems fill up a block.
func isPadding(b byte) bool { return b == 0 || b == ' ' || b == '\t' || b == '\r' || b == '\n' }

func newMembers(ctx context.Context, r io.Reader) *members {
	m := &members{file: &warcFile{ctx: ctx, r: r, chunk: maxChunk}, plain: bufio.NewReaderSize(nil, maxRecordHead+4096)}
	if s, ok := r.(io.Seeker); ok {
		if size, err := s.Seek(0, io.SeekEnd); err == nil {
			if _, err := s.Seek(0, io.SeekStart); err == nil {
				m.file.seeker, m.file.size = s, size
			}
		}
	}
	m.raw = bufio.NewReaderSize(m.file, maxChunk)
	return m
}

// reset begins another file, which cannot seek.
func (m *members) reset(ctx context.Context, r io.Reader) {
	*m.file = warcFile{ctx: ctx, r: r, chunk: maxChunk}
	m.raw.Reset(m.file)
	m.form, m.opened, m.text, m.start, m.count, m.shared, m.lost, m.guess = formUnknown, formUnknown, formUnknown, 0, 0,
		false, false, countingReader{}
}

func (m *members) close() {
	if m.zstd != nil {
		m.zstd.Close()
	}
}

// offset returns the offset of the next unread byte of the file.
func (m *members) offset() int64 { return m.file.at - int64(m.raw.Buffered()) }

// next opens the next member or, if the place is lost, what looks like one. It
// returns io.EOF at the end of the file.
func (m *members) next() (*bufio.Reader, error) {
	if m.lost {
		if err := scan(m.raw, m.form); err != nil {
			return nil, err
		}
	}
	m.skipPadding()
	m.start, m.shared = m.offset(), false
	head, err := m.raw.Peek(signature)
	if len(head) == 0 {
		return nil, err
	}
	m.opened = formOf(head)
	if m.opened == formUnknown && (m.form == formUnknown || m.form == formARC) {
		if _, ok, _ := new(recordHead).peekARC(m.raw); ok {
			m.opened = formARC
		}
	}
	if m.opened == formUnknown || m.form != formUnknown && m.form != m.opened {
		return nil, errNoRecord
	}
	m.count++
	switch m.opened {
	case formGzip:
		if err := m.gzip.Reset(m.raw); err != nil {
			return nil, cutOff(err)
		}
		m.gzip.Multistream(false)
		return m.unfold(&m.gzip), nil
	case formZstd:
		return m.nextFrame()
	}
	return m.raw, nil
}

// skipPadding moves to the next byte that means something.
func (m *members) skipPadding() {
	for {
		m.raw.Peek(1)
		b, _ := m.raw.Peek(m.raw.Buffered())
		n := slices.IndexFunc(b, func(c byte) bool { return !isPadding(c) })
		if n >= 0 || len(b) == 0 {
			m.raw.Discard(max(n, 0))
			return
		}
		m.raw.Discard(len(b))
	}
}

// found takes note that a record of that form was found.
func (m *members) found(text warcForm) { m.lost, m.form, m.text = false, m.opened, text }

// unfold returns a reader of the contents of the opened member.
func (m *members) unfold(r io.Reader) *bufio.Reader {
	if m.lost {
		m.guess.r, r = r, &m.guess
	}
	m.plain.Reset(r)
	return m.plain
}

// countingReader counts the bytes read through it.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func formOf(head []byte) warcForm {
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		return formGzip
	case bytes.HasPrefix(head, []byte(zstdMagic)), isSkippable(head):
		return formZstd
	case isRecord(head):
		return formPlain
	}
	return formUnknown
}

// holdsMany reports whether in may hold more than one record, as a file written
// or compressed as a whole does. In other files the first member holds a
// warcinfo record and no content from a stranger.
func (m *members) holdsMany(in *bufio.Reader) bool { return in == m.raw || m.shared || m.count == 1 }

// resync looks for a place to resume after in, which turned out not to hold a
// record, or after a member that did not open (in is nil). again reports that
// in holds another record, and in is now at its start. whole reports that in
// ended well, so the next member follows. If neither holds, the place is lost,
// and the search continues one byte after the start of the member: damaged data
// may have made us read too far.
//
// In a plain file, resync may take a stranger's body that looks like a record
// for one. It cannot be distinguished from a record after a wrong length.
func (m *members) resync(in *bufio.Reader) (again, whole bool) {
	if in != nil && in != m.raw {
		var err error
		if m.holdsMany(in) && !m.lost {
			if err = scan(in, max(m.text, formPlain)); err == nil {
				m.shared = true
				return true, false
			}
		} else {
			_, err = in.WriteTo(io.Discard)
		}
		if err == nil || err == io.EOF {
			m.lost = false
			return false, true
		}
	}
	m.lost = true
	to := m.start + 1
	// Bound the bytes read again, however many members seem to begin inside each
	// other, and the bytes that they expand to, if all end in one bomb.
	if m.file.read+m.guess.n/mostUnfolds > maxAgain*m.file.most+64<<20 {
		to = m.file.most
	}
	m.goTo(to)
	return false, false
}

// maxAgain bounds how often the bytes of a file are read again, on average, to
// find a place to resume.
const maxAgain = 32

// mostUnfolds exceeds the compression ratio of an honest file.
const mostUnfolds = 16

// goTo moves to an offset and reports whether it could.
func (m *members) goTo(offset int64) bool {
	if ahead := offset - m.offset(); ahead >= 0 && ahead <= int64(m.raw.Buffered()) {
		m.raw.Discard(int(ahead))
		return true
	}
	if !m.file.seek(offset) {
		return false
	}
	m.raw.Reset(m.file)
	return true
}

// pastEnd reports whether the file has fewer than n bytes left.
func (m *members) pastEnd(n int64) bool { return m.file.seeker != nil && n > m.file.size-m.offset() }

// skip skips n bytes of in.
func (m *members) skip(in *bufio.Reader, n int64) error {
	if in == m.raw && m.pastEnd(n) {
		return io.ErrUnexpectedEOF
	}
	if in == m.raw && n > int64(in.Buffered()) && m.goTo(m.offset()+n) {
		return nil
	}
	for n > 0 {
		k, err := in.Discard(int(min(n, 1<<30)))
		if n -= int64(k); err != nil {
			return err
		}
	}
	return nil
}

// scan moves to the next apparent start of a member of that form, or of any
// form. It returns io.EOF if there is none.
func scan(in *bufio.Reader, form warcForm) error {
	for {
		_, err := in.Peek(signature)
		b, _ := in.Peek(in.Buffered())
		if i := find(b, form); i >= 0 {
			in.Discard(i)
			return nil
		}
		if err != nil {
			return err
		}
		in.Discard(len(b) - signature + 1)
	}
}

// find returns the index of the first start of a member in b, or -1. It
// searches b in pieces: if starts of one form are many, searching for the other
// forms would read all of b each time.
func find(b []byte, form warcForm) int {
	const piece = 1 << 10
	for from := 0; from < len(b); from += piece {
		if at := findIn(b[from:min(from+piece+signature-1, len(b))], form); at >= 0 {
			return from + at
		}
	}
	return -1
}

// arcMagics are how records of ARC files begin, as far as a signature shows.
var arcMagics = []string{"\nhttp://", "\nhttps:/", "\ndns:", "\nftp://", "\nfiledes"}

func findIn(b []byte, form warcForm) int {
	at := -1
	look := func(f warcForm, magic string, skip int) {
		if form != f && form != formUnknown {
			return
		}
		if i := bytes.Index(b, []byte(magic)); i >= 0 && (at < 0 || i+skip < at) {
			at = i + skip
		}
	}
	look(formGzip, gzipMagic, 0)
	look(formZstd, zstdMagic, 0)
	for _, magic := range recordMagics {
		look(formPlain, "\n"+magic, 1)
	}
	if form == formARC {
		for _, magic := range arcMagics {
			look(formARC, magic, 1)
		}
	}
	return at
}

// warcFile reads a file in chunks, counts the bytes, and keeps an error other
// than io.EOF.
type warcFile struct {
	ctx    context.Context
	r      io.Reader
	seeker io.Seeker // nil: cannot seek
	size   int64     // 0 if it cannot seek
	chunk  int
	at     int64 // offset of the next byte
	most   int64 // the furthest offset read
	read   int64 // total bytes
	err    error
}

// Chunks are small after a seek, when little may be needed there, and grow.
const minChunk, maxChunk = 4 << 10, 256 << 10

func (f *warcFile) Read(p []byte) (int, error) {
	if f.err = f.ctx.Err(); f.err != nil {
		return 0, f.err
	}
	n, err := f.r.Read(p[:min(len(p), f.chunk)])
	f.chunk = min(2*f.chunk, maxChunk)
	f.at, f.read = f.at+int64(n), f.read+int64(n)
	f.most = max(f.most, f.at)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

func (f *warcFile) seek(to int64) bool {
	if f.seeker == nil {
		return false
	}
	if _, err := f.seeker.Seek(to, io.SeekStart); err != nil {
		f.err = err
		return false
	}
	f.at, f.most, f.chunk = to, max(f.most, to), minChunk
	return true
}
