package farm

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/robocensus/robocensus/fetch/warc"
)

// Archive describes a WARC file in the form of Common Crawl, or an ARC file, with
// captures of the robots.txt of hosts.
type Archive struct {
	Hosts Hosts
	// Repeat is the number of captures per body, at least 1. The first has the
	// body's host. The k-th of the i-th host, both counted from 1 and hosts
	// sorted by name, has the host "site<i>-<k>.test".
	Repeat int
	// Other is the percentage of captures with a 404, 301 or 403 (6:3:1) in
	// place of the body, selected by a hash of the host's name.
	Other int
}

// IsArchive reports whether a name selects a form of [Archive.Write].
func IsArchive(name string) bool {
	return slices.ContainsFunc([]string{".warc.gz", ".warc.zst", ".warc", ".arc.gz", ".arc"},
		func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// archiveLimit is the length in bytes to which Common Crawl truncates bodies.
const archiveLimit = 1 << 20

// archiveStart is the date of the first capture. The others follow at
// intervals of 50 ms.
var archiveStart = time.Date(2026, 1, 10, 6, 0, 0, 0, time.UTC)

// Write writes the archive to out and returns the number of captures. The
// suffix of name selects the form: .warc.gz or .arc.gz (a gzip member per record),
// .warc.zst (a frame per record), .warc or .arc (plain); any other is an error. The
// output depends only on the archive and name.
func (a *Archive) Write(ctx context.Context, out io.Writer, name string) (captures int, err error) {
	w := &warcWriter{out: bufio.NewWriterSize(out, 1<<18)}
	w.arc = strings.HasSuffix(name, ".arc.gz") || strings.HasSuffix(name, ".arc")
	switch {
	case strings.HasSuffix(name, ".warc.gz"), strings.HasSuffix(name, ".arc.gz"):
		w.compressor, err = gzip.NewWriterLevel(nil, 6)
	case strings.HasSuffix(name, ".warc.zst"):
		w.compressor, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(1<<20))
	case !IsArchive(name):
		err = fmt.Errorf("%s: want a name that ends in .warc.gz, .warc.zst, .warc, .arc.gz or .arc", name)
	}
	if err != nil {
		return 0, err
	}
	w.writer = warc.NewWriter10(w.compressor)
	names := slices.Sorted(maps.Keys(a.Hosts))
	w.info(filepath.Base(name))
	for k := 1; k <= max(a.Repeat, 1); k++ {
		for i, host := range names {
			if err := ctx.Err(); err != nil {
				return captures, err
			}
			body := a.Hosts[host]
			if k > 1 {
				host = fmt.Sprintf("site%d-%d.test", i+1, k)
			}
			w.capture(captures, host, body, a.Other)
			if w.err != nil {
				return captures, w.err
			}
			captures++
		}
	}
	return captures, w.out.Flush()
}

// warcWriter writes records and keeps the first error.
type warcWriter struct {
	out        *bufio.Writer
	compressor warc.Compressor // nil for a plain file
	writer     *warc.Writer
	err        error
	arc        bool
	records    uint64
	infoID     string
	block      []byte // block of the current record, without a host's body
}

// record writes a record with the block w.block + body. fields are further lines of its
// header.
func (w *warcWriter) record(kind, contentType, id string, date time.Time, fields []warc.Field, body []byte) {
	if w.arc {
		return // see arcRecord
	}
	r := &warc.Record{Type: kind, ID: id, Date: date, ContentType: contentType, Fields: fields, Head: w.block, Body: body}
	if kind == "response" {
		r.Payload = append([]byte{}, body...) // an empty one has a digest too
	}
	w.fail(w.writer.Write(w.out, r))
}

// arcRecord writes a record of an ARC file, as record does.
func (w *warcWriter) arcRecord(url, address string, date time.Time, mime string, body []byte) {
	line := fmt.Appendf(nil, "%s %s %s %s %d\n", url, address, date.Format("20060102150405"), mime, len(w.block)+len(body))
	w.fail(warc.WriteMember(w.out, w.compressor, line, w.block, body, []byte("\n")))
}

func (w *warcWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// newID returns the ID of the next record: a UUID by form, but deterministic.
func (w *warcWriter) newID() string {
	w.records++
	var u [16]byte
	binary.BigEndian.PutUint64(u[:], mix(2*w.records))
	binary.BigEndian.PutUint64(u[8:], mix(2*w.records+1))
	u[6], u[8] = u[6]&15|0x40, u[8]&63|0x80 // RFC 9562 section 5.4
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

func (w *warcWriter) info(file string) {
	w.infoID = w.newID()
	if w.arc {
		w.block = append(w.block[:0], "1 0 robofarm\nURL IP-address Archive-date Content-type Archive-length\n"...)
		w.arcRecord("filedesc://"+file, "0.0.0.0", archiveStart, "text/plain", nil)
		return
	}
	w.block = append(w.block[:0], "isPartOf: robofarm\r\npublisher: robofarm\r\n"+
		"description: captures that nobody made, to try a reader on\r\n"+
		"software: robofarm\r\nformat: WARC File Format 1.0\r\n"...)
	w.record("warcinfo", "application/warc-fields", w.infoID, archiveStart,
		[]warc.Field{{Name: "WARC-Filename", Value: file}}, nil)
}

// capture writes the records of one fetch: request, response, metadata.
func (w *warcWriter) capture(n int, host string, body []byte, other int) {
	date := archiveStart.Add(time.Duration(n) * time.Second / 20)
	drawn := hash(0, host)
	url := robotsURL(host)
	request := w.newID()
	address := archiveAddress(host, drawn)
	about := func(id string, more ...warc.Field) []warc.Field {
		fields := []warc.Field{{Name: "WARC-Warcinfo-ID", Value: "<" + w.infoID + ">"}, {Name: "WARC-Target-URI", Value: url}}
		if id != "" {
			fields = append(fields, warc.Field{Name: "WARC-Concurrent-To", Value: "<" + id + ">"})
		}
		return append(fields, more...)
	}

	_, authority, _ := strings.Cut(strings.TrimSuffix(url, "/robots.txt"), "://")
	w.block = fmt.Appendf(w.block[:0],
		"GET /robots.txt HTTP/1.1\r\nUser-Agent: robofarm\r\nAccept-Encoding: gzip\r\nHost: %s\r\n"+
			"Connection: Keep-Alive\r\n\r\n", authority)
	w.record("request", "application/http; msgtype=request", request, date,
		about("", warc.Field{Name: "WARC-IP-Address", Value: address}), nil)

	head, body, mime := archiveAnswer(date, url, body, int(drawn>>48%1000) < 10*other, drawn)
	fields := []warc.Field{{Name: "WARC-IP-Address", Value: address}, {Name: "WARC-Identified-Payload-Type", Value: mime}}
	if len(body) > archiveLimit {
		body, fields = body[:archiveLimit], append(fields, warc.Field{Name: "WARC-Truncated", Value: "length"})
	}
	w.block = fmt.Appendf(w.block[:0], "%sContent-Length: %d\r\n\r\n", head, len(body))
	if w.arc {
		w.arcRecord(url, address, date, mime, body)
		return
	}
	whole := sha1.New()
	whole.Write(w.block)
	whole.Write(body)
	fields = append(fields, warc.Field{Name: "WARC-Block-Digest", Value: "sha1:" + base32.StdEncoding.EncodeToString(
		whole.Sum(nil))})
	response := w.newID()
	w.record("response", "application/http; msgtype=response", response, date, about(request, fields...), body)

	w.block = fmt.Appendf(w.block[:0], "fetchTimeMs: %d\r\ncharset-detected: UTF-8\r\n\r\n", 20+drawn%800)
	w.record("metadata", "application/warc-fields", w.newID(), date,
		about(response), nil)
}

// robotsURL returns the URL of a host's robots.txt: http for a port that does
// not end in 443, else https.
func robotsURL(host string) string {
	scheme := "https"
	host, port := cutPort(host)
	host = hostPort(host)
	if port != "" {
		if !strings.HasSuffix(port, "443") {
			scheme = "http"
		}
		if port != "443" && port != "80" {
			host += ":" + port
		}
	}
	return scheme + "://" + host + "/robots.txt"
}

// cutPort splits a name of [Hosts] into host and port, which may be empty.
func cutPort(name string) (host, port string) {
	i := strings.LastIndexByte(name, '_')
	if i < 0 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// archiveAddress returns the host if it is an IP address, else an address
// reserved for documentation (RFC 5737, RFC 3849).
func archiveAddress(host string, drawn uint64) string {
	name, _ := cutPort(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return name
	}
	if drawn%8 == 0 {
		return fmt.Sprintf("2001:db8::%x:%x", drawn>>16&0xffff|1, drawn>>32&0xffff|1)
	}
	return fmt.Sprintf("%s.%d", [...]string{"192.0.2", "198.51.100", "203.0.113"}[drawn>>8%3], drawn>>16&0xff)
}

// archiveAnswer returns the status line and headers of an answer, without
// Content-Length and the empty line, and its body and media type.
func archiveAnswer(date time.Time, url string, body []byte, otherwise bool, drawn uint64) (head string, _ []byte,
	mime string) {
	at := date.Format("Mon, 02 Jan 2006 15:04:05 GMT")
	server := [...]string{"nginx", "Apache", "cloudflare", "Microsoft-IIS/10.0", "LiteSpeed"}[drawn>>24%5]
	common := "Date: " + at + "\r\nServer: " + server + "\r\n"
	if otherwise {
		page := func(status string) (string, []byte, string) {
			text := "<html>\r\n<head><title>" + status + "</title></head>\r\n<body>\r\n<h1>" + status +
				"</h1>\r\n</body>\r\n</html>\r\n"
			return "HTTP/1.1 " + status + "\r\n" + common + "Content-Type: text/html\r\n", []byte(text), "text/html"
		}
		switch drawn >> 32 % 10 {
		case 0:
			return page("403 Forbidden")
		case 1, 2, 3:
			head, text, mime := page("301 Moved Permanently")
			return head + "Location: " + strings.Replace(url, "://", "://www.", 1) + "\r\n", text, mime
		}
		return page("404 Not Found")
	}
	// Common Crawl stores decoded bodies and renames the headers that no longer
	// describe them. It keeps a Content-Length that does.
	head = "HTTP/1.1 200 OK\r\n" + common + "Content-Type: text/plain; charset=utf-8\r\n"
	switch drawn >> 40 % 4 {
	case 0:
		head += "X-Crawler-Transfer-Encoding: chunked\r\nX-Crawler-Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
	case 1:
		head += fmt.Sprintf("X-Crawler-Content-Encoding: gzip\r\nX-Crawler-Content-Length: %d\r\nVary: Accept-Encoding\r\n",
			len(body)/3+20)
	case 2:
		head += "X-Crawler-Transfer-Encoding: chunked\r\nCache-Control: max-age=3600\r\n"
	default:
		if len(body) > archiveLimit {
			head += fmt.Sprintf("X-Crawler-Content-Length: %d\r\n", len(body))
		}
		head += fmt.Sprintf("Last-Modified: %s\r\nETag: \"%x\"\r\nAccept-Ranges: bytes\r\n", at, drawn>>8)
	}
	return head, body, "text/plain"
}
