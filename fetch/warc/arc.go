package warc

import (
	"bufio"
	"bytes"
	"net/netip"
	"time"
)

// A record of an ARC file, which the Internet Archive wrote before WARC, begins with one
// line:
//
//	version 1: URL IP-address date content-type length
//	version 2: URL IP-address date content-type status checksum location offset file length
//
// The stored answer follows at once, and then a line end. The first record describes the
// file: its URL is filedesc://. Fields hold no spaces by the format, but URLs and content
// types in old files do. So the line is read around its date, which follows an address;
// this needs no version, which a record that is read by its place does not have.

// maxARCLine bounds the line.
const maxARCLine = 16 << 10

// parseARC parses the line that begins a record of an ARC file, and reports whether it
// is one.
func (h *recordHead) parseARC(line []byte) bool {
	*h = recordHead{text: append(h.text[:0], line...), length: -1}
	text := bytes.TrimRight(h.text, "\r\n ")
	url, last := bytes.IndexByte(text, ' '), bytes.LastIndexByte(text, ' ')
	if url == last {
		return false
	}
	h.length = parseLength(text[last+1:])
	for rest := text[url+1 : last]; ; {
		address, after, ok := bytes.Cut(rest, []byte(" "))
		if !ok {
			return false
		}
		date, _, _ := bytes.Cut(after, []byte(" "))
		if t, ok := parseARCDate(date); ok && isARCAddress(address) {
			h.uri, h.address, h.date = text[:last-len(rest)-1], address, t.AppendFormat(nil, time.RFC3339)
			break
		}
		rest = after
	}
	h.kind = []byte("response")
	if bytes.HasPrefix(h.uri, []byte("filedesc:")) {
		h.kind = []byte("warcinfo")
	}
	return h.length >= 0 && bytes.IndexByte(h.uri, ':') > 0
}

// parseARCDate parses a date of 14 digits. Some old files leave the seconds out.
func parseARCDate(b []byte) (t time.Time, ok bool) {
	const layout = "20060102150405"
	if len(b) != len(layout) && len(b) != len(layout)-2 {
		return t, false
	}
	t, err := time.Parse(layout[:len(b)], string(b))
	return t, err == nil
}

// isARCAddress reports whether a field may be the address of a record: some writers have
// a dash or nothing where they do not know it.
func isARCAddress(b []byte) bool {
	if len(b) == 0 || string(b) == "-" {
		return true
	}
	_, err := netip.ParseAddr(string(b))
	return err == nil
}

// peekARC returns the line at the start of in if it begins a record of an ARC file.
func (h *recordHead) peekARC(in *bufio.Reader) (line []byte, ok bool, err error) {
	for size := 512; ; size *= 4 {
		size = min(size, maxARCLine)
		b, err := in.Peek(size)
		if n := bytes.IndexByte(b, '\n'); n >= 0 {
			return b[:n+1], h.parseARC(b[:n+1]), nil
		}
		if err != nil || size == maxARCLine {
			return nil, false, err
		}
	}
}
