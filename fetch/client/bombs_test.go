package client

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// packed returns n bytes of s, repeated, in a content coding.
func packed(t *testing.T, coding func(io.Writer) io.WriteCloser, s string, n int64) string {
	t.Helper()
	var b bytes.Buffer
	w := coding(&b)
	if _, err := io.CopyBuffer(w, struct{ io.Reader }{io.LimitReader(endless(s), n)}, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipCoding(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func brotliCoding(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 1) }

func zstdCoding(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
}

// wideFrame is a zstd frame of few bytes that asks for a window of 512 MiB (RFC
// 8878 section 3.1.1.1.2).
const wideFrame = "\x28\xb5\x2f\xfd\x00\x98" + "\x19\x00\x00abc"

// TestABombCostsNoMoreThanTheLimit_NoRace counts the bytes allocated, by client and
// server together, while an answer is read that is a million times larger than
// the part kept. It must run alone: the count is of the whole process.
func TestABombCostsNoMoreThanTheLimit_NoRace(t *testing.T) {
	const limit = 512_000
	// Gzip members and zstd frames may follow each other (RFC 1952 section 2.2,
	// RFC 8878 section 3).
	zip := strings.Repeat(packed(t, gzipCoding, "\x00", 1<<20), 1024)
	frames := strings.Repeat(packed(t, zstdCoding, "\x00", 16<<20), 64)
	coded := func(coding, body string) func(*net.TCPConn, *http.Request, int) {
		head := "HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + "\r\n\r\n"
		return func(c *net.TCPConn, _ *http.Request, _ int) {
			io.WriteString(c, head)
			io.WriteString(c, body)
		}
	}
	forever := func(head, s string) func(*net.TCPConn, *http.Request, int) {
		return func(c *net.TCPConn, _ *http.Request, _ int) {
			io.WriteString(c, head)
			io.CopyBuffer(struct{ io.Writer }{c}, endless(s), make([]byte, 64<<10))
		}
	}
	for _, row := range []struct {
		name   string
		answer func(*net.TCPConn, *http.Request, int)
		class  answer.ErrorClass
		body   int
		allocs uint64 // bytes, at most
	}{
		{"1 GiB in gzip", coded("gzip", zip), "", limit, 4 << 20},
		{"gzip in gzip, of which one is undone", coded("gzip", packed(t, gzipCoding, zip, 4<<20)), "", limit, 4 << 20},
		{"1 GiB in zstd", coded("zstd", frames), "", limit, 16 << 20},
		{"32 MiB in br", coded("br", packed(t, brotliCoding, "\x00", 32<<20)), "", limit, 32 << 20},
		{"zstd that wants a window of 512 MiB", coded("zstd", wideFrame), answer.ErrorUndecodableBody, 0, 8 << 20},
		{"a body without end", forever("HTTP/1.1 200 OK\r\n\r\n", "User-agent: *\n"), "", limit, 4 << 20},
		{"a declared body of 1 EB", forever("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n", "#"), "",
			limit, 4 << 20},
		{"a chunk of 1 EB", forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0de0b6b3a7640000\r\n", "#"), "",
			limit, 4 << 20},
		{"a chunk extension without end", forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x"),
			answer.ErrorProtocol, 0, 1 << 20},
		{"trailers without end", forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
			"X-Filler: 12345\r\n"), "", 0, 1 << 20},
		{"headers without end", forever("HTTP/1.1 200 OK\r\n", "X-Filler: 12345\r\n"), answer.ErrorHeaderTooLarge, 0,
			1 << 20},
		{"one header without end", forever("HTTP/1.1 200 OK\r\nX-Filler: ", "x"), answer.ErrorHeaderTooLarge, 0, 1 << 20},
		{"a Location without end", forever("HTTP/1.1 302 Found\r\nLocation: /", "x"), answer.ErrorHeaderTooLarge, 0, 1 << 20},
		{"1xx with headers, without end", forever("", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"), "", 0, 1 << 20},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t, serve(t, row.answer), func(c *settings) { c.MaxBody = limit })
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := c.Fetch(t.Context(), origin(t, "a.example"))
			runtime.ReadMemStats(&after)
			if got.Error != row.class || len(got.Body) != row.body || got.Truncated != (row.body == limit) {
				t.Errorf("error %q (%v), body of %d bytes, truncated %v; want %q and %d bytes",
					got.Error, got.Err, len(got.Body), got.Truncated, row.class, row.body)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > row.allocs {
				t.Errorf("%d bytes were allocated, want no more than %d", n, row.allocs)
			} else {
				t.Logf("%d bytes allocated", n)
			}
		})
	}
}

// TestTheLimitOfAProfile_NoRace sends bodies that end at, before and after the size
// limit of each profile, in the middle of a rule. A last line that ends beyond the
// limit does not count.
func TestTheLimitOfAProfile_NoRace(t *testing.T) {
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		for _, row := range []struct {
			last      string // last line of the body
			over      int    // bytes beyond the limit
			truncated bool
		}{
			{"Disallow: /ab", -1, false},
			{"Disallow: /ab", 0, false},
			{"Disallow: /ab", 1, true},
			{"Disallow: /ab", 100_000, true},
			{"Disallow: /é", 1, true},
		} {
			for _, coding := range []string{"", "gzip"} {
				t.Run(fmt.Sprintf("%s/%s over by %d %s", name, row.last, row.over, coding), func(t *testing.T) {
					body := bodyAround(p.SizeLimit, row.over, row.last)
					answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
					if coding != "" {
						answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte(body))
					}
					c := newClient(t, serve(t, write(answer)), func(c *settings) { c.MaxBody = sizeLimit })
					got := c.Fetch(t.Context(), origin(t, "a.example"))
					if got.Error != "" || got.Truncated != (len(body) > sizeLimit) || len(got.Body) != min(len(body), sizeLimit) {
						t.Fatalf("a body of %d bytes: kept %d, truncated %v, error %q (%v)", len(body), len(got.Body), got.Truncated,
							got.Error, got.Err)
					}
					var f robots.File
					f.Cut = got.Truncated
					f.Parse(got.Body, p)
					if (len(f.Rules) == 0) != row.truncated || f.Truncated != row.truncated {
						t.Errorf("rules %v, truncated %v; want the last line cut: %v", f.Rules, f.Truncated, row.truncated)
					}
				})
			}
		}
	}
}

// sizeLimit is the largest limit of the built-in profiles: the part kept of a
// body when all judge it.
var sizeLimit = func() (n int) {
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		n = max(n, p.SizeLimit)
	}
	return n
}()

// bodyAround returns a body that is over bytes longer than limit. Its rule,
// last, is at the end, or ends at the limit if over exceeds the rule's length.
func bodyAround(limit, over int, last string) string {
	const head = "User-agent: *\n#"
	after := ""
	if over > len(last) {
		after = "\n" + strings.Repeat("#", over-1)
	}
	room := limit + over - len(head) - len(last) - len(after) - len("\n")
	return head + strings.Repeat("-", room) + "\n" + last + after
}
