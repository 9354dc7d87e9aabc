package warc

import (
	"bufio"
	"io"
	"net/netip"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// record reads one record up to the end of its block and returns its capture,
// if it is one. It returns io.EOF if the member ends inside the block.
func (w *reader) record(in *bufio.Reader) (*Capture, error) {
	b, err := in.Peek(longestMagic)
	switch isWARC := isRecord(b); {
	case isWARC && w.text != formARC:
		err = w.warcHead(in)
	case err != nil && err != io.EOF:
	case !isWARC && w.text != formPlain:
		err = w.arcHead(in)
	default:
		err = errNoRecord
	}
	if err != nil {
		return nil, err
	}
	h := &w.head
	if h.joined {
		return nil, errNoEnd // the first header runs into that of the next record
	}
	if w.left = h.length; w.left < 0 {
		return nil, errNoLength
	}
	if in == w.raw && w.pastEnd(w.left) {
		return nil, errPastEnd
	}
	w.counter = &w.counts.OtherTypes
	if of, err := w.ofFetch(in); of || err != nil {
		if err != nil {
			return nil, err
		}
		if w.fetched != nil || string(h.kind) != "warcinfo" {
			w.counter = &w.counts.OfFetches
		}
		return nil, w.skip(in, w.left)
	}
	if string(h.kind) != "response" && string(h.kind) != "revisit" {
		w.counter = &w.counts.OtherTypes
		return nil, w.skip(in, w.left)
	}
	origin, ok := h.robotsOf()
	if !ok {
		w.counter = &w.counts.OtherURLs
		c, err := w.other(in)
		if err != nil {
			return nil, err
		}
		return c, w.skip(in, w.left)
	}
	w.counter, w.headOnly = &w.counts.Captures, false
	date, within, ok := parseDate(h.date)
	if !ok {
		return nil, errNoDate
	}
	c, err := w.capture(in, origin, origin.RobotsURL(), date, within)
	if err != nil {
		return nil, err
	}
	return c, w.skip(in, w.left)
}

// warcHead reads the header of a WARC record.
func (w *reader) warcHead(in *bufio.Reader) error {
	w.found(formPlain)
	b, ended, err := peekHead(in, maxRecordHead)
	switch {
	case err == io.EOF:
		return errNoEnd
	case err != nil:
		return err
	case !ended:
		return errLongHeader
	}
	w.head.parse(b)
	in.Discard(len(b))
	return nil
}

// arcHead reads the line that begins an ARC record.
func (w *reader) arcHead(in *bufio.Reader) error {
	line, ok, err := w.head.peekARC(in)
	if err != nil && err != io.EOF {
		return err
	}
	if !ok {
		return errNoRecord
	}
	w.found(formARC)
	in.Discard(len(line))
	return nil
}

// startsRecord reports whether in is at the start of a record.
func (w *reader) startsRecord(in *bufio.Reader) bool {
	if w.text == formARC {
		_, ok, _ := w.ahead.peekARC(in)
		return ok
	}
	b, _ := in.Peek(longestMagic)
	return isRecord(b)
}

// other reads the block of a record of another URL, if such captures are wanted. The
// record is no worse for what is wrong with its header: else the file would read
// differently if they are not.
func (w *reader) other(in *bufio.Reader) (*Capture, error) {
	if w.body == nil {
		return nil, nil
	}
	date, within, ok := parseDate(w.head.date)
	origin, target, _, err := fetch.Redirect(string(w.head.uri), string(w.head.uri))
	if err != nil || !ok {
		return nil, nil
	}
	url := origin.String() + target
	w.headOnly = !w.body()
	c, err := w.capture(in, origin, url, date, within)
	if c != nil {
		c.Mismatch = "" // not known without the body
	}
	return c, err
}

// end reads what follows a block: two line ends, then the next record of the
// same member (more) or the member's end. c is the capture in the block.
func (w *reader) end(in *bufio.Reader, c *Capture) (more bool, err error) {
	lines := 0
	for {
		b, err := in.ReadByte()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if b == '\n' {
			lines++
		} else if !isPadding(b) || b != '\r' && lines == 0 {
			in.UnreadByte()
			break
		}
	}
	if w.startsRecord(in) {
		return true, nil
	}
	// If records follow each other in one member, the next one may be damaged,
	// or the length of this one ends at a blank line by chance.
	if w.holdsMany(in) && (lines >= 2 || lines == 1 && w.text == formARC) && (c == nil || c.Mismatch == "") {
		return true, nil
	}
	return false, errLength
}

// capture reads the block of a response or revisit record of a URL.
func (w *reader) capture(in *bufio.Reader, origin fetch.Origin, url string, date time.Time, within time.Duration) (
	*Capture, error) {
	h := &w.head
	c := &Capture{ID: string(h.id), Within: within, Cut: string(h.truncated), PayloadDigest: string(h.digest)}
	c.Origin, c.Start, c.Attempts = origin, date, 1
	c.Hops = []answer.Hop{{URL: url}}
	if addr, err := netip.ParseAddr(string(h.address)); err == nil {
		c.Remote = netip.AddrPortFrom(addr, origin.Port)
	}
	c.Revisit = h.revisit()
	c.Unstored = c.Revisit != nil
	return c, w.readAnswer(in, c)
}
