package sitemap

import (
	"bufio"
	"errors"
	"hash"
	"io"
	"net/url"
	"slices"
	"strings"
)

// A Kind says what a document is.
type Kind string

const (
	URLSet Kind = "urlset"
	Index  Kind = "index"
	Text   Kind = "text"
	RSS    Kind = "rss"
	Atom   Kind = "atom"
	None   Kind = "none" // no sitemap
)

// Kinds lists the kinds.
var Kinds = []Kind{URLSet, Index, Text, RSS, Atom, None}

// An Entry is a page or, in an index, a sitemap.
type Entry struct {
	URL       string // absolute, if the base is known
	LastMod   string // as written, "" for none
	IsSitemap bool
}

// A Remark is a short name for something odd in a document. Some of them are damage.
type Remark string

const (
	Empty     Remark = "empty"     // damage: the document has no text
	HTML      Remark = "html"      // damage: the document is a web page
	Other     Remark = "other"     // damage: the document is XML of another kind
	Cut       Remark = "cut"       // damage: the document ends too early
	Tags      Remark = "tags"      // damage: an element is not closed, or is no element
	Ampersand Remark = "ampersand" // damage: an ampersand that begins no reference
	Entity    Remark = "entity"    // damage: an entity of the document's own; its URL is left out
	Limit     Remark = "limit"     // damage: the document is longer than the limit
	Relative  Remark = "relative"  // a URL is relative
	Scheme    Remark = "scheme"    // a URL that is not of http is left out
	Space     Remark = "space"     // white space in a URL; one with the end of a line is left out
	Long      Remark = "long"      // a URL of 2,048 characters or more
	Case      Remark = "case"      // names of elements in capitals
	Mixed     Remark = "mixed"     // pages in an index, or sitemaps in a list of pages
	Trailing  Remark = "trailing"  // something follows the last element

	// Those of a host's reading; see [Plan].
	Outside      Remark = "outside"        // URLs of other origins
	BeyondFolder Remark = "beyond_folder"  // URLs that are not below the folder of the sitemap
	IndexInIndex Remark = "index-in-index" // an index that an index lists
	TooMany      Remark = "too_many"       // more URLs than the protocol allows
	TooLarge     Remark = "too_large"      // more bytes than the protocol allows
	Date         Remark = "lastmod"        // a date that is none of the protocol's
	Depth        Remark = "depth"          // sitemaps below an index that are too deep to be asked for
)

// remarks are all of them.
var remarks = []Remark{
	Empty, HTML, Other, Cut, Tags, Ampersand, Entity, Limit, Relative, Scheme, Space, Long, Case, Mixed, Trailing,
	Outside, BeyondFolder, IndexInIndex, TooMany, TooLarge, Date, Depth,
}

// A Result describes a document that was read.
type Result struct {
	Kind    Kind
	URLs    int64    // pages
	Indexed int64    // sitemaps
	Bytes   int64    // of the document, unpacked, as far as it was read
	Remarks []Remark // each once
}

// Is reports whether a document has a remark.
func (r *Result) Is(remark Remark) bool {
	return slices.Contains(r.Remarks, remark)
}

// IsDamaged reports whether a document is none, or is damaged.
func (r *Result) IsDamaged() bool {
	return slices.ContainsFunc([]Remark{Empty, HTML, Other, Cut, Tags, Ampersand, Entity, Limit}, r.Is)
}

func (r *Result) remark(remark Remark) {
	if !r.Is(remark) {
		r.Remarks = append(r.Remarks, remark)
	}
}

// longURL is the number of characters that the protocol does not allow.
const longURL = 2048

// Read reads a document of at most limit bytes once unpacked, and calls each with its
// entries, in order. base is its URL, by which relative URLs are resolved; without one they
// stay as they are. The error is of reading or of each; damage is a remark.
func Read(in io.Reader, base *url.URL, limit int64, each func(Entry) error) (Result, error) {
	return read(in, base, limit, nil, each)
}

// read is Read. It reads the document to its end for sum, if that is not nil, whatever
// follows what matters.
func read(in io.Reader, base *url.URL, limit int64, sum hash.Hash, each func(Entry) error) (Result, error) {
	d := &document{base: base, each: each}
	d.result.Kind = None
	bounded := &bounded{left: limit, sum: sum}
	err := d.read(in, bounded)
	if sum != nil && bounded.in != nil && err == nil && !d.result.Is(Cut) && !d.result.Is(Limit) {
		if _, err = io.Copy(io.Discard, bounded); bounded.isOver {
			d.result.remark(Limit)
			err = nil
		} else if errors.Is(err, errPacked) {
			d.result.remark(Cut)
			err = nil
		}
	}
	d.result.Bytes = limit - bounded.left
	if own, ok := errors.AsType[eachError](err); ok {
		err = own.error
	}
	return d.result, err
}

// document is a document that is being read.
type document struct {
	base   *url.URL
	each   func(Entry) error
	result Result
}

func (d *document) read(in io.Reader, bounded *bounded) error {
	plain, err := unpack(in, bounded)
	var text io.Reader
	if err == nil {
		text, err = utf8Of(plain)
	}
	if err == nil {
		b := bufio.NewReaderSize(text, 1<<16)
		if err = skipBlank(b); err == nil {
			err = d.readText(b)
		}
	}
	if errors.As(err, new(eachError)) {
		return err
	}
	switch {
	case bounded.isOver:
		d.result.remark(Limit)
		err = nil
	case errors.Is(err, io.EOF):
		d.result.remark(Empty)
		err = nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errPacked):
		d.result.remark(Cut)
		err = nil
	}
	return err
}

// skipBlank skips what precedes the first character; PHP often leaves blank lines.
func skipBlank(b *bufio.Reader) error {
	for {
		r, _, err := b.ReadRune()
		if err != nil {
			return err
		}
		if !strings.ContainsRune(" \t\r\n\ufeff", r) {
			return b.UnreadRune()
		}
	}
}

func (d *document) readText(b *bufio.Reader) error {
	if first, err := b.Peek(1); err != nil || first[0] == '<' {
		return d.readXML(b)
	}
	return d.readLines(b)
}

// readLines reads a list of URLs, one to a line. A document whose first line is none is no
// list.
func (d *document) readLines(b *bufio.Reader) error {
	for {
		line, err := b.ReadString('\n')
		if text := strings.TrimSpace(line); text != "" {
			isURL := strings.HasPrefix(strings.ToLower(text), "http://") || strings.HasPrefix(strings.ToLower(text), "https://")
			if d.result.Kind == None && !isURL {
				d.result.remark(Other)
				return nil
			}
			d.result.Kind = Text
			if e := d.entry(Entry{URL: text}); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// eachError is what each returned, so that it is not taken for an error of reading.
type eachError struct{ error }

// entry calls each with an entry, unless its URL is none.
func (d *document) entry(e Entry) error {
	switch {
	case e.URL == "":
		return nil
	case strings.IndexByte(e.URL, '\n') >= 0 || strings.IndexByte(e.URL, '\r') >= 0:
		d.result.remark(Space)
		return nil
	case strings.IndexByte(e.URL, ' ') >= 0 || strings.IndexByte(e.URL, '\t') >= 0:
		d.result.remark(Space)
	}
	if len(e.URL) >= longURL {
		d.result.remark(Long)
	}
	scheme, _, ok := strings.Cut(e.URL, ":")
	switch {
	case ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")):
	case ok && !strings.ContainsAny(scheme, "/?#"):
		d.result.remark(Scheme)
		return nil
	default:
		d.result.remark(Relative)
		if d.base != nil {
			ref, err := url.Parse(e.URL)
			if err != nil {
				return nil
			}
			e.URL = d.base.ResolveReference(ref).String()
		}
	}
	if e.IsSitemap {
		d.result.Indexed++
	} else {
		d.result.URLs++
	}
	if err := d.each(e); err != nil {
		return eachError{err}
	}
	return nil
}

// bounded counts the bytes that may still be read.
type bounded struct {
	in     io.Reader
	left   int64
	isOver bool
	sum    hash.Hash // of what was read; nil for none
}

var errLimit = errors.New("the document is longer than the limit")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// Only a document that goes on is too long.
		var one [1]byte
		n, err := io.ReadFull(b.in, one[:])
		if n == 0 {
			return 0, err
		}
		b.isOver = true
		return 0, errLimit
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if b.sum != nil {
		b.sum.Write(p[:n])
	}
	return n, err
}
