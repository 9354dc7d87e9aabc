package warc

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
)

func compressed(s string, writer func(io.Writer) io.WriteCloser) string {
	var out bytes.Buffer
	w := writer(&out)
	io.WriteString(w, s)
	w.Close()
	return out.String()
}

func TestWARCAnswer(t *testing.T) {
	rules := "User-agent: *\nDisallow: /private\n"
	asGzip := string(gzipped(rules))
	asZstd := string(zstandard(rules))
	asBrotli := compressed(rules, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	asZlib := compressed(rules, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	asDeflate := compressed(rules, func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 6); return f })
	chunks := func(s string) string {
		return fmt.Sprintf("5;x=y\r\n%s\r\n%x \r\n%s\r\n0\r\n\r\n", s[:5], len(s)-5, s[5:])
	}
	long := strings.Repeat("x", limit+1)
	for _, row := range []struct {
		name, fields, answer string
		want                 string // version, status, error class and truncated
		body                 string
	}{
		{name: "an answer", answer: "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n" + rules, want: "1.1 200", body: rules},
		{name: "no reason phrase", answer: "HTTP/1.0 200\r\n\r\n" + rules, want: "1.0 200", body: rules},
		{name: "no version, as by NCSA", answer: "HTTP 200 Document follows\r\nContent-Type: text/plain\r\n\r\n" + rules,
			want: " 200", body: rules},
		{name: "no version of an error", answer: "HTTP 404 Not Found\n\nnothing", want: " 404"},
		{name: "an empty version", answer: "HTTP/ 200 OK\r\n\r\n", want: " 0 protocol"},
		{name: "no version and no status", answer: "HTTP is a protocol\r\n\r\n", want: " 0 protocol"},
		{name: "HTTP/2", answer: "HTTP/2 200\r\n\r\n" + rules, want: "2 200", body: rules},
		{name: "HTTP/2.0", answer: "HTTP/2.0 200 \r\n\r\n" + rules, want: "2 200", body: rules},
		{name: "LF only", answer: "HTTP/1.1 200 OK\nServer: x\n\n" + rules, want: "1.1 200", body: rules},
		{name: "lines that are no fields", answer: "HTTP/1.1 200 OK\r\n folded\r\nnonsense\r\n: x\r\n\r\n" + rules,
			want: "1.1 200 remark", body: rules},
		{name: "a control character in a value", answer: "HTTP/1.1 200 OK\r\nSet-Cookie: a=\x7fb\r\n\r\n" + rules,
			want: "1.1 200 remark", body: rules},
		{name: "a control character in a value of an error", answer: "HTTP/1.1 404 Not Found\r\nSet-Cookie: a=\x7fb\r\n\r\n",
			want: "1.1 404 remark"},
		{name: "a name that is no token", answer: "HTTP/1.1 200 OK\r\nX\u2010Any: 1\r\n\r\n" + rules, want: "1.1 200 remark",
			body: rules},
		{name: "HTTP/1.3", answer: "HTTP/1.3 200 OK\r\n\r\n" + rules, want: "1.3 200", body: rules},
		{name: "two lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 33\r\nContent-Length: 34\r\n\r\n" + rules,
			want: "1.1 200 protocol", body: rules},
		{name: "one length twice", answer: "HTTP/1.1 200 OK\r\nContent-Length: 33, 33\r\n\r\n" + rules, want: "1.1 200",
			body: rules},
		{name: "another transfer coding", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + rules,
			want: "1.1 200 protocol", body: rules},
		{name: "a length of an error that is none", answer: "HTTP/1.1 404 Not Found\r\nContent-Length: x\r\n\r\n",
			want: "1.1 404"},
		{name: "an interim answer", answer: "HTTP/1.1 103 Early Hints\r\nServer: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + rules,
			want: "1.1 200", body: rules},
		{name: "a switch of protocols", answer: "HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + rules,
			want: "1.1 101"},
		{name: "an interim answer only", answer: "HTTP/1.1 100 Continue\r\n\r\n", want: "1.1 100"},
		{name: "an empty body", answer: "HTTP/1.1 204 No Content\r\n\r\n", want: "1.1 204", body: ""},
		{name: "a body where none can be", answer: "HTTP/1.1 204 No Content\r\nContent-Length: 33\r\n\r\n" + rules,
			want: "1.1 204", body: ""},
		{name: "a body of an error", answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\nnothing", want: "1.1 404"},
		{name: "a body at the limit", answer: "HTTP/1.1 200 OK\r\n\r\n" + long[1:], want: "1.1 200", body: long[1:]},
		{name: "a body beyond the limit", answer: "HTTP/1.1 200 OK\r\n\r\n" + long, want: "1.1 200 truncated",
			body: long[1:]},

		{name: "no HTTP", answer: "<html>", want: " 0 protocol"},
		{name: "no block", answer: "", want: " 0 protocol"},
		{name: "HTTP/0.9 by its name", answer: "HTTP/0.9 200 OK\r\n\r\n", want: " 0 protocol"},
		{name: "no status", answer: "HTTP/1.1 OK\r\n\r\n", want: " 0 protocol"},
		{name: "a status of four digits", answer: "HTTP/1.1 2000 OK\r\n\r\n", want: " 0 protocol"},
		{name: "a status below 100", answer: "HTTP/1.1 099 OK\r\n\r\n", want: " 0 protocol"},
		{name: "a status of its own", answer: "HTTP/1.1 999 Denied\r\n\r\n", want: "1.1 999"},
		{name: "a header without end", answer: "HTTP/1.1 200 OK\r\nServer: x\r\n", want: "1.1 200 truncated_body", body: ""},
		{name: "a header too long", answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxRecordHead) + "\r\n\r\n",
			want: "1.1 200 header_too_large"},

		{name: "Common Crawl's gzip", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: gzip\r\n" +
			"X-Crawler-Content-Length: 20\r\nContent-Length: 33\r\n\r\n" + rules, want: "1.1 200", body: rules},
		{name: "Common Crawl's length", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 20\r\nContent-Length: 33\r\n" +
			"\r\n" + rules, want: "1.1 200", body: rules},
		{name: "Common Crawl's gzip of a greater length", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: gzip\r\n" +
			"X-Crawler-Content-Length: 50\r\nContent-Length: 33\r\n\r\n" + rules, want: "1.1 200", body: rules},
		{name: "Common Crawl's body that broke off", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 34\r\n" +
			"Content-Length: 33\r\n\r\n" + rules, want: "1.1 200 truncated_body", body: rules},
		{name: "Common Crawl's body that is too long", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 1048577\r\n" +
			"Content-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20), want: "1.1 200 truncated", body: long[1:]},
		{name: "Common Crawl's chunks", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\n\r\n5\r\nhello",
			want: "1.1 200", body: "5\r\nhello"},
		{name: "Common Crawl's chunks of gzip", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\n" +
			"Content-Encoding: gzip\r\n\r\n" + asGzip, want: "1.1 200", body: rules},
		{name: "gzip undone, chunks not", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: gzip\r\n" +
			"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(rules), want: "1.1 200", body: rules},
		{name: "chunks said twice", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, Chunked\r\n\r\n" + chunks(rules),
			want: "1.1 200", body: rules},
		{name: "a space before the colon", answer: "HTTP/1.1 200 OK\r\nContent-Encoding : gzip\r\n\r\n" + asGzip,
			want: "1.1 200", body: rules},
		{name: "chunks", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n" + chunks(rules), want: "1.1 200",
			body: rules},
		{name: "chunks undone without a word", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + rules,
			want: "1.1 200", body: rules},
		{name: "chunks cut short", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nUser",
			want: "1.1 200 truncated_body", body: "User"},
		{name: "broken chunks", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nUserx-agent\r\n",
			want: "1.1 200 protocol", body: "User"},
		{name: "chunks of gzip", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n" +
			chunks(asGzip), want: "1.1 200", body: rules},
		{name: "gzip", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: x-GZIP\r\n\r\n" + asGzip, want: "1.1 200", body: rules},
		{name: "gzip with a length", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9999\r\n\r\n" +
			rules, want: "1.1 200", body: rules},
		{name: "gzip undone without a word", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x00" + rules,
			want: "1.1 200", body: "\x00" + rules},
		{name: "gzip of nothing", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", want: "1.1 200", body: ""},
		{name: "gzip cut short", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + asGzip[:len(asGzip)-8],
			want: "1.1 200 truncated_body", body: rules},
		{name: "broken gzip", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" +
			"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\xff", want: "1.1 200 undecodable_body", body: ""},
		{name: "gzip beyond the limit", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped(long)),
			want: "1.1 200 truncated", body: long[1:]},
		{name: "br", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n" + asBrotli, want: "1.1 200", body: rules},
		{name: "br undone without a word", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n" + rules,
			want: "1.1 200", body: rules},
		{name: "zstd", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n" + asZstd, want: "1.1 200", body: rules},
		{name: "zstd undone without a word", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n" + rules,
			want: "1.1 200", body: rules},
		{name: "zlib", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n" + asZlib, want: "1.1 200", body: rules},
		{name: "deflate", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n" + asDeflate, want: "1.1 200",
			body: rules},
		{name: "deflate undone without a word", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n" + rules,
			want: "1.1 200", body: rules},
		{name: "an unknown encoding", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: none\r\n\r\n" + rules,
			want: "1.1 200 remark", body: rules},
		{name: "an unknown encoding of nothing", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: none\r\n\r\n",
			want: "1.1 200", body: ""},
		{name: "an unknown encoding of what is no text", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: none\r\n\r\n" +
			rules + "\xe9", want: "1.1 200 undecodable_body", body: rules + "\xe9"},
		{name: "an unknown encoding of text that is cut", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: none\r\n\r\n" +
			long[:limit-1] + "é", want: "1.1 200 truncated remark", body: long[:limit-1] + "\xc3"},
		{name: "Common Crawl's unknown encoding", answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: none\r\n\r\n" +
			rules, want: "1.1 200 remark", body: rules},
		{name: "Common Crawl's unknown encoding of what is no text",
			answer: "HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: none\r\n\r\n\x00", want: "1.1 200 undecodable_body",
			body: "\x00"},
		{name: "gzip named twice", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n" +
			asGzip, want: "1.1 200", body: rules},
		{name: "a gzip file", answer: "HTTP/1.1 200 OK\r\n\r\n" + asGzip, want: "1.1 200 remark", body: asGzip},
		{name: "text called gzip, as it was sent", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" +
			"Content-Length: 33\r\n\r\n" + rules, want: "1.1 200 remark", body: rules},
		{name: "text called gzip, as it was sent in chunks", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n" + chunks(rules), want: "1.1 200 remark", body: rules},
		{name: "no text and not the gzip that it is called", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" +
			"Content-Length: 34\r\n\r\n\x00" + rules, want: "1.1 200 undecodable_body", body: ""},
		{name: "gzip in br", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\n\r\n" + compressed(asGzip,
			func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }), want: "1.1 200", body: rules},
		{name: "zlib in gzip, in two lines", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nServer: x\r\n" +
			"Content-Encoding: gzip\r\n\r\n" + string(gzipped(asZlib)), want: "1.1 200", body: rules},
		{name: "gzip in gzip, of which one is undone without a word",
			answer: "HTTP/1.1 200 OK\r\nContent-Encoding: identity, gzip\r\n\r\n" + rules, want: "1.1 200", body: rules},
		{name: "four of nothing", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br, br, br\r\n\r\n", want: "1.1 200",
			body: ""},

		{name: "shorter than declared", answer: "HTTP/1.1 200 OK\r\nContent-Length: 34\r\n\r\n" + rules,
			want: "1.1 200 truncated_body", body: rules},
		{name: "shorter than declared, but up to the limit",
			answer: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", limit+2, long), want: "1.1 200 truncated",
			body: long[1:]},
		{name: "longer than declared", answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + rules, want: "1.1 200",
			body: rules},
		{name: "206 of all", answer: "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-32/33\r\n\r\n" + rules, want: "1.1 206",
			body: rules},
		{name: "206 of all, to the limit", answer: fmt.Sprintf("HTTP/1.1 206 Part\r\nContent-Range: bytes 0-%d/%d\r\n\r\n%s",
			limit-1, limit, long[1:]), want: "1.1 206", body: long[1:]},
		{name: "206 of what the limit takes",
			answer: fmt.Sprintf("HTTP/1.1 206 Part\r\nContent-Range: bytes 0-%d/%d\r\n\r\n%s", limit-1, limit+1, long[1:]),
			want:   "1.1 206 truncated", body: long[1:]},
		{name: "206 of a part", answer: "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-32/34\r\n\r\n" + rules,
			want: "1.1 206 truncated_body", body: rules},
		{name: "206 without a range", answer: "HTTP/1.1 206 Part\r\n\r\n" + rules, want: "1.1 206 truncated_body",
			body: rules},
		{name: "truncated: length", fields: "WARC-Truncated: length\r\n",
			answer: "HTTP/1.1 200 OK\r\nContent-Length: 34\r\n\r\n" + rules, want: "1.1 200 truncated length", body: rules},
		{name: "truncated: unspecified", fields: "WARC-Truncated: unspecified\r\n", answer: "HTTP/1.1 200 OK\r\n\r\n" +
			rules, want: "1.1 200 truncated unspecified", body: rules},
		{name: "truncated: length, of what is not its encoding", fields: "WARC-Truncated: length\r\n",
			answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff",
			want:   "1.1 200 undecodable_body truncated length", body: ""},
		{name: "truncated: time", fields: "WARC-Truncated: time\r\n", answer: "HTTP/1.1 200 OK\r\n\r\n" + rules,
			want: "1.1 200 truncated_body truncated time", body: rules},
		{name: "truncated: disconnect", fields: "WARC-Truncated: disconnect\r\n", answer: "HTTP/1.1 200 OK\r\n\r\n" + rules,
			want: "1.1 200 truncated_body truncated disconnect", body: rules},
		{name: "truncated: disconnect, beyond the limit", fields: "WARC-Truncated: disconnect\r\n",
			answer: "HTTP/1.1 200 OK\r\n\r\n" + long, want: "1.1 200 truncated disconnect", body: long[1:]},
		{name: "in segments", fields: "WARC-Segment-Number: 1\r\n", answer: "HTTP/1.1 200 OK\r\n\r\nUser-agent",
			want: "1.1 200 truncated_body truncated segmented", body: "User-agent"},
		{name: "in segments, and truncated", fields: "WARC-Segment-Number: 1\r\nWARC-Truncated: length\r\n",
			answer: "HTTP/1.1 200 OK\r\n\r\nUser-agent", want: "1.1 200 truncated_body truncated segmented", body: "User-agent"},
		{name: "in segments, beyond the limit", fields: "WARC-Segment-Number: 1\r\n", answer: "HTTP/1.1 200 OK\r\n\r\n" +
			long, want: "1.1 200 truncated segmented", body: long[1:]},
		{name: "truncated gzip: length", fields: "WARC-Truncated: length\r\n",
			answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + asGzip[:len(asGzip)-8],
			want:   "1.1 200 truncated length", body: rules},
		{name: "a truncated error", fields: "WARC-Truncated: disconnect\r\n", answer: "HTTP/1.1 503 Busy\r\n\r\nx",
			want: "1.1 503 disconnect"},

		{name: "a redirect", answer: "HTTP/1.1 301 Moved\r\nLocation: /x?y z#f\r\n\r\nbody",
			want: "1.1 301 to https://a.test/x?y%20z"},
		{name: "a redirect elsewhere", answer: "HTTP/1.1 302 Found\r\nlocation: //B.test/robots.txt\r\n" +
			"Location: /second\r\n\r\n", want: "1.1 302 to https://b.test/robots.txt"},
		{name: "a redirect nowhere", answer: "HTTP/1.1 301 Moved\r\n\r\n", want: "1.1 301 redirect_invalid"},
		{name: "300 with a location", answer: "HTTP/1.1 300 Choices\r\nLocation: /x\r\n\r\nbody",
			want: "1.1 300 to https://a.test/x"},
		{name: "a redirect out of the web", answer: "HTTP/1.1 301 Moved\r\nLocation: mailto:a@b.test\r\n\r\n",
			want: "1.1 301 redirect_unsupported"},
		{name: "not modified", answer: "HTTP/1.1 304 Not Modified\r\n\r\n", want: "1.1 304"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := one(t, warcRecord(warcFields("a.test")+row.fields, row.answer))
			got := fmt.Sprintf("%s %d", c.HTTPVersion, c.Status())
			for _, s := range []string{string(c.Error), map[bool]string{true: "truncated"}[c.Truncated], c.Cut} {
				if s != "" {
					got += " " + s
				}
			}
			if c.Location != "" {
				got += " to " + c.Location
			}
			if c.Error == "" && c.Err != nil {
				got += " remark"
			}
			if got != row.want || string(c.Body) != row.body || c.Error != "" && c.Err == nil {
				t.Errorf("%s %q (%v), want %s %q", got, c.Body, c.Err, row.want, row.body)
			}
			if success := c.Status()/100 == 2 && c.Error != "header_too_large"; success != (c.Body != nil) {
				t.Errorf("status %d, body %v", c.Status(), c.Body)
			}
			if c.Status()/100 != 2 || slices.Contains([]string{"Common Crawl's unknown encoding of what is no text",
				"truncated gzip: length"}, row.name) {
				return
			}
			// As its server sent it, a client reads the same. (Of the two above, it does not know that
			// there was an encoding, and not why the body ends.)
			var reader RecordReader
			defer reader.Close()
			config := Config{Limits: fetch.Limits{MaxBody: limit}, Answer: func(other *Capture, sent io.Reader) {
				body, err := client.Replay(sent, limit)
				failed := c.Error != ""
				if other.Status() != c.Status() || (err != nil) != failed || !failed && string(body) != row.body {
					t.Errorf("sent: %d %q, %v", other.Status(), body, err)
				}
			}}
			_, err := reader.Read(t.Context(), "x", strings.NewReader(warcRecord(warcFields("a.test")+row.fields, row.answer)),
				config, func(*Capture) error { return nil }, func(_ int64, what string) error {
					t.Error(what)
					return nil
				})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Common Crawl cuts bodies at whole mebibytes, which it did not always record.
func TestWARCCrawlerLimit(t *testing.T) {
	for stored, want := range map[int]string{1 << 20: "true ", 5 << 20: "true ", 1<<20 - 1: "false truncated_body"} {
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: %d\r\nContent-Length: %d\r\n\r\n%s", 9<<20,
			stored, strings.Repeat("x", stored))
		var got string
		_, err := Read(t.Context(), "a.warc", strings.NewReader(warcResponse("a.test", answer)),
			Config{Limits: fetch.Limits{MaxBody: 8 << 20}}, func(c *Capture) error {
				got = fmt.Sprintf("%v %s", c.Truncated, c.Error)
				return nil
			}, func(int64, string) error { return errors.New("damaged") })
		if err != nil || got != want {
			t.Errorf("%d bytes stored: %s, want %s, error %v", stored, got, want, err)
		}
	}
}

// A body contradicts a digest only if it is the payload that the digest is of: all of
// it, as it was sent.
func TestWARCMismatch(t *testing.T) {
	body, long := "User-agent: *\n", strings.Repeat("x", limit+1)
	plain := "HTTP/1.1 200 OK\r\n\r\n"
	sum := sha256.Sum256([]byte(body))
	for _, row := range []struct {
		name, fields, answer string
		mismatch             bool
	}{
		{"its own", "sha1:" + digestOf([]byte(body)), plain + body, false},
		{"another's", "sha1:" + digestOf([]byte("x")), plain + body, true},
		{"its own in lower case", "SHA-1:" + strings.ToLower(digestOf([]byte(body))), plain + body, false},
		{"its own SHA-256 in hexadecimal", "sha256:" + hex.EncodeToString(sum[:]), plain + body, false},
		{"another's SHA-256", "sha256:" + hex.EncodeToString(sum[:]), plain + "x", true},
		{"not a digest", "sha1:ABC", plain + body, false},
		{"of an unknown kind", "blake3:" + digestOf([]byte("x")), plain + body, false},
		{"of a body beyond the limit", "sha1:" + digestOf([]byte(long)), plain + long, false},
		{"of a body that the archive cut", "sha1:" + digestOf([]byte(body+body)) + "\r\nWARC-Truncated: length",
			plain + body, false},
		{"of a body that broke off", "sha1:" + digestOf([]byte(body+body)) + "\r\nWARC-Truncated: disconnect", plain + body,
			false},
		{"of a body without its chunks", "sha1:" + digestOf([]byte(body)),
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n" + body + "\r\n0\r\n\r\n", false},
	} {
		c := one(t, warcRecord(warcFields("a.test")+"WARC-Payload-Digest: "+row.fields+"\r\n", row.answer))
		if (c.Mismatch != "") != row.mismatch {
			t.Errorf("a digest that is %s: mismatch %q", row.name, c.Mismatch)
		}
	}
}

func TestEveryHeaderIsKept(t *testing.T) {
	want, lines := fetchtest.AllHeaders()
	got := one(t, warcResponse("a.test", "HTTP/1.1 404 Not Found\r\n"+lines+"\r\n")).Headers
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answerHead (http.go) and record differ (-record +kept):\n%s", diff)
	}
}

func TestWARCKeptHeaders(t *testing.T) {
	c := one(t, warcResponse("a.test", "HTTP/1.1 200 OK\r\ncontent-TYPE: text/plain;\r\n charset=utf-8\r\nServer:x \r\n"+
		"Server: second\r\nETag: \"e\"\r\nLast-Modified: yesterday\r\nCache-Control:\r\nRetry-After: "+strings.Repeat("9",
		5000)+"\r\nX-Crawler-Content-Encoding: gzip\r\n\r\n"))
	h := c.Headers
	for name, row := range map[string]struct {
		got  *string
		want string
	}{
		"content-type": {h.ContentType, "text/plain;   charset=utf-8"}, "server": {h.Server, "x"}, "etag": {h.ETag, `"e"`},
		"last-modified": {h.LastModified, "yesterday"}, "cache-control": {h.CacheControl, ""},
		"retry-after": {h.RetryAfter, strings.Repeat("9", maxStoredHeader)}, "content-encoding": {h.ContentEncoding, "gzip"},
	} {
		if row.got == nil || *row.got != row.want {
			t.Errorf("%s: %v, want %q", name, row.got, row.want)
		}
	}
	if got := one(t, warcResponse("a.test", "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nCache-Control: no-store\r\n"+
		"\r\n")).Headers.CacheControl; got == nil || *got != "max-age=60, no-store" {
		t.Errorf("Cache-Control in two lines: %v", got)
	}
	if c := one(t, warcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\n")); c.Headers.Server != nil ||
		c.Headers.ContentEncoding != nil {
		t.Errorf("headers of an answer without: %+v", c.Headers)
	}
}
