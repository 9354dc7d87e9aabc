package client

import (
	"bytes"
	"compress/zlib"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// coded returns a body in content codings, applied in their order.
func coded(t *testing.T, body string, codings ...string) string {
	t.Helper()
	for _, coding := range codings {
		body = packed(t, map[string]func(io.Writer) io.WriteCloser{
			"gzip": gzipCoding, "br": brotliCoding, "zstd": zstdCoding,
			"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		}[coding], body, int64(len(body)))
	}
	return body
}

// TestContentCodings is SPEC 2, "Content codings", over the network.
func TestContentCodings(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /é\n"
	latin := strings.Replace(rules, "é", "\xe9", 1)
	for _, row := range []struct {
		header, body string
		class        answer.ErrorClass
		want         string
		err          string // part of it, "-" for none
		truncated    bool
	}{
		{"gzip, br", coded(t, rules, "gzip", "br"), "", rules, "-", false},
		{"br, gzip", coded(t, rules, "br", "gzip"), "", rules, "-", false},
		{"gzip\r\nContent-Encoding: zstd", coded(t, rules, "gzip", "zstd"), "", rules, "-", false},
		{"deflate, identity, zstd, br", coded(t, rules, "deflate", "zstd", "br"), "", rules, "-", false},
		{"gzip, gzip, gzip", coded(t, rules, "gzip", "gzip", "gzip"), "", rules, "-", false},
		{"gzip, gzip, gzip", coded(t, strings.Repeat(rules, 100), "gzip", "gzip", "gzip"), "",
			strings.Repeat(rules, 100)[:1000], "-", true},
		{"br, gzip", coded(t, rules, "gzip", "br"), answer.ErrorUndecodableBody, "", "does not decode", false},
		{"gzip, gzip", coded(t, rules, "gzip"), "", rules, "-", false}, // two equal ones count as one
		{"br\r\nContent-Encoding: br", coded(t, rules, "br"), "", rules, "-", false},
		{"deflate, deflate", coded(t, rules, "deflate"), "", rules, "-", false},
		{"br, gzip", coded(t, rules, "gzip"), "", rules, `not in its content encoding "br"`, false},

		{"gzip", rules, "", rules, `not in its content encoding "gzip"; the body is text`, false},
		{"x-gzip", latin, "", latin, `not in its content encoding "x-gzip"`, false},
		{"br", rules, "", rules, `not in its content encoding "br"`, false},
		{"zstd", rules, "", rules, `not in its content encoding "zstd"`, false},
		{"deflate", rules, "", rules, `not in its content encoding "deflate"`, false},
		{"gzip, br", rules, "", rules, `not in its content encoding "gzip"`, false},
		{"gzip", "a", "", "a", "not in its content encoding", false},
		{"gzip", strings.Repeat("#", 1001), "", strings.Repeat("#", 1000), "not in its content encoding", true},
		{"gzip", "\x00" + rules, answer.ErrorUndecodableBody, "", "does not decode", false},
		{"gzip", coded(t, rules, "br"), answer.ErrorUndecodableBody, "", "does not decode", false},
		{"gzip\r\nContent-Length: 9999", rules, answer.ErrorTruncatedBody, "", "unexpected EOF", false},
		{"", coded(t, rules, "gzip"), "", coded(t, rules, "gzip"), "it is a gzip file", false},
		{"br", coded(t, rules, "gzip", "br"), "", coded(t, rules, "gzip"), "it is a gzip file", false},
		{"gzip, br", coded(t, rules, "gzip", "br")[:30], answer.ErrorTruncatedBody, "", "unexpected EOF", false},
		{"gzip, gzip, gzip, gzip", coded(t, rules, "gzip", "gzip", "gzip", "gzip"), answer.ErrorUndecodableBody, "",
			"more than 3", false},

		{"gzip, gzip, gzip, gzip", "", "", "", "-", false},
		{"gzip, br", coded(t, "", "br"), "", "", "-", false}, // an empty body between them
		{"rot13", "", "", "", "-", false},
		{"br, rot13, zstd", "", "", "", "-", false},

		{"identity", latin, "", latin, "-", false},
		{"", latin, "", latin, "-", false},
		{"rot13", rules, "", rules, `"rot13" is unknown; the body is text`, false},
		{"utf-8, gzip", coded(t, rules, "gzip"), "", rules, `"utf-8" is unknown; the body is text`, false},
		{"Gzip, UTF-8", coded(t, rules, "gzip"), "", rules, `"UTF-8" is unknown; the body is text`, false},
		{"none", strings.Repeat("é", 600), "", strings.Repeat("é", 500), "is text", true},
		{"none", "#" + strings.Repeat("é", 600), "", "#" + strings.Repeat("é", 500)[:999], "is text", true}, // half of an é
		{"rot13", latin, answer.ErrorUndecodableBody, "", `"rot13" is unknown, and the body is not text`, false},
		{"rot13", rules + "\x00", answer.ErrorUndecodableBody, "", "not text", false},
		{"rot13", rules + "\xc3", answer.ErrorUndecodableBody, "", "not text", false},
		{"rot13", "\xc3" + rules, answer.ErrorUndecodableBody, "", "not text", false},
		{"rot13", coded(t, rules, "gzip"), answer.ErrorUndecodableBody, "", "not text", false},
	} {
		t.Run(row.header, func(t *testing.T) {
			c := newClient(t, serve(t, write("HTTP/1.1 200 OK\r\nContent-Encoding: "+row.header+"\r\n\r\n"+row.body)), nil)
			got := c.Fetch(t.Context(), origin(t, "a.example"))
			if got.Error != row.class || got.Truncated != row.truncated || string(got.Whole()) != row.want ||
				(got.Whole() != nil) != (row.class == "") {
				t.Errorf("error %q (%v), truncated %v, body %.90q; want %q, %v, %.90q", got.Error, got.Err, got.Truncated,
					got.Whole(), row.class, row.truncated, row.want)
			}
			if err := got.Err; (err == nil) != (row.err == "-") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("error %v, want %q", err, row.err)
			}
		})
	}
}

// TestBombsOnTopOfEachOther_NoRace decodes what grows a thousandfold, and then again.
// It must run alone, as the other bombs.
func TestBombsOnTopOfEachOther_NoRace(t *testing.T) {
	const limit = 512_000
	empty := packed(t, gzipCoding, "", 0)
	skipped := "\x50\x2a\x4d\x18\x00\x00\x00\x00" // a zstd frame to skip (RFC 8878 section 3.1.2)
	for _, row := range []struct {
		name, codings string
		body          string
		want          int
		allocs        uint64
	}{
		{"1 GiB", "gzip, gzip, gzip", coded(t, packed(t, gzipCoding, "\x00", 1<<30), "gzip", "gzip"), limit, 4 << 20},
		{"256 MiB, each in another", "zstd, br, gzip", coded(t, packed(t, zstdCoding, "\x00", 256<<20), "br", "gzip"), limit,
			40 << 20},
		{"no byte in 100 MB", "gzip, br", packed(t, brotliCoding, empty, 100<<20), 0, 16 << 20},
		{"no byte in 100 MB of zstd", "zstd, gzip, br", coded(t, packed(t, gzipCoding, skipped, 100<<20), "br"), 0, 16 << 20},
	} {
		t.Run(row.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			d, err := Decode([]byte(row.body), row.codings, limit)
			runtime.ReadMemStats(&after)
			if len(d.Body) != row.want || row.want == limit && (!d.Truncated || err != nil) {
				t.Errorf("%d bytes, truncated %v, error %v", len(d.Body), d.Truncated, err)
			}
			n := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes, decoded to %d in %v, %d bytes allocated", len(row.body), len(d.Body), time.Since(began), n)
			if n > row.allocs {
				t.Errorf("%d bytes were allocated, want no more than %d", n, row.allocs)
			}
		})
	}
	if _, err := Remark("x", "", bytes.NewReader(make([]byte, limit)), false); err == nil {
		t.Error("NULs are text")
	}
}
