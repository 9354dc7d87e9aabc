package warc

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Field is a line of a record's header.
type Field struct{ Name, Value string }

// Record is a record to be written. Its block is Head and then Body.
type Record struct {
	Type        string // warcinfo, request, response, metadata, resource
	ID          string // a URI, such as [NewID] returns
	Date        time.Time
	ContentType string
	Fields      []Field // further lines of the header, in order
	Head, Body  []byte
	Payload     []byte // gets a digest of its own, nil for none: the body without its chunks
}

// Writer writes records of WARC. It is not safe for concurrent use.
type Writer struct {
	version string
	member  Compressor // nil for a plain file
	header  []byte
}

// A Compressor compresses a record into a member or frame of its own.
type Compressor interface {
	io.WriteCloser
	Reset(io.Writer)
}

// NewWriter returns a writer of WARC 1.1 with a gzip member for each record.
func NewWriter() *Writer {
	z, _ := gzip.NewWriterLevel(nil, compression) // the level is valid
	return &Writer{version: "1.1", member: z}
}

// NewWriter10 returns a writer of WARC 1.0, as the writers of most archives are: its dates
// have seconds, and records no other digests than those among their fields. With nil for
// the compressor the file is plain.
func NewWriter10(c Compressor) *Writer { return &Writer{version: "1.0", member: c} }

// compression is the level of gzip. The records of a fetch have 2 to 4 KB, which the
// levels above compress by a few percent more, at several times the cost.
const compression = 3

// dateFormat is that of WARC-Date: to the microsecond in WARC 1.1 (section 5.4), to the
// second before.
var dateFormat = map[string]string{"1.0": "2006-01-02T15:04:05Z", "1.1": "2006-01-02T15:04:05.000000Z"}

// Write writes a record to out, in WARC 1.1 with digests: SHA-256 of the block, and SHA-1
// of the payload, as Common Crawl's index has it. The one is in hexadecimal and the other
// in base32, as validators demand that compare texts; the padding that SHA-256 has in
// base32 is no token of the grammar (section 5.8). The payload of an HTTP message is its
// body without transfer coding (section 6.3.2).
func (w *Writer) Write(out io.Writer, r *Record) error {
	w.header = fmt.Appendf(w.header[:0],
		"WARC/%s\r\nWARC-Type: %s\r\nWARC-Record-ID: <%s>\r\nWARC-Date: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n",
		w.version, r.Type, r.ID, r.Date.UTC().Format(dateFormat[w.version]), r.ContentType, len(r.Head)+len(r.Body))
	if w.version != "1.0" {
		block := sha256.New()
		block.Write(r.Head)
		block.Write(r.Body)
		w.header = fmt.Appendf(w.header, "WARC-Block-Digest: sha256:%s\r\n", hex.EncodeToString(block.Sum(nil)))
	}
	if r.Payload != nil {
		payload := sha1.Sum(r.Payload)
		w.header = fmt.Appendf(w.header, "WARC-Payload-Digest: sha1:%s\r\n", base32.StdEncoding.EncodeToString(payload[:]))
	}
	for _, f := range r.Fields {
		w.header = fmt.Appendf(w.header, "%s: %s\r\n", f.Name, f.Value)
	}
	w.header = append(w.header, "\r\n"...)
	return WriteMember(out, w.member, w.header, r.Head, r.Body, []byte("\r\n\r\n"))
}

// WriteMember writes parts as a member of a compressed file, or, if the compressor is nil,
// as they are.
func WriteMember(out io.Writer, c Compressor, parts ...[]byte) error {
	if c != nil {
		c.Reset(out)
		out = c
	}
	for _, part := range parts {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	if c == nil {
		return nil
	}
	return c.Close()
}

// NewID returns the ID of a record: a random UUID.
func NewID() string {
	var u [16]byte
	rand.Read(u[:])                         // never fails
	u[6], u[8] = u[6]&15|0x40, u[8]&63|0x80 // RFC 9562 section 5.4
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
