package client

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/robocensus/robocensus/fetch"
)

// recorded is a connection to a server that sends fixed bytes, whatever it
// receives, and then hangs up.
type recorded struct {
	io.Reader
	told  bytes.Buffer
	given int64
}

func (c *recorded) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.given += int64(n)
	return n, err
}

func (c *recorded) Write(p []byte) (int, error)      { return c.told.Write(p) }
func (c *recorded) Close() error                     { return nil }
func (c *recorded) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)} }
func (c *recorded) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 21} }
func (c *recorded) SetDeadline(time.Time) error      { return nil }
func (c *recorded) SetReadDeadline(time.Time) error  { return nil }
func (c *recorded) SetWriteDeadline(time.Time) error { return nil }

func fuzzClient(t testing.TB) *Client {
	t.Helper()
	c, err := New(Config{UserAgent: "x", Timeout: time.Minute, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 1000},
		Concurrency: 1, PerAddress: 1, PerDomain: 1}, Backing{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FuzzAnswer checks that the meaning of an HTTP answer does not depend on how
// it is split into reads, and that no more is read or kept than allowed.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/1.0 200\n\nUser-agent: *\n",
		"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nbody\r\n" +
			"0\r\nX: y\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nno colon\r\n folded\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte("User-agent: *\n")),
		"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-3/4\r\n\r\nbody",
		"HTTP/1.1 301 Moved\r\nLocation: /x\r\nRetry-After: 5\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\nbody",
		"SSH-2.0-x\r\n",
		"HTTP 200 Document follows\nX\u2010Any: 1\nContent-Length: 4, 4\n: x\n\nbody",
		"http/1.0 404\r\nX: \x7f\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\nUser-agent: *\n",
	} {
		f.Add([]byte(answer))
	}
	c := fuzzClient(f)
	o := fetch.Origin{Scheme: "http", Host: "a.test", Port: 80}
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(r io.Reader) (a received, body []byte, failed string) {
			conn := &recorded{Reader: r}
			lease := &Lease{client: c, ctx: t.Context()}
			defer lease.settle()
			over := &weighed{Conn: conn, ctx: t.Context(), spool: c.spool, paused: func(time.Duration) {}}
			defer over.leave()
			fail := lease.exchange(&budget{deadline: time.Now().Add(time.Minute)}, over, over, o, "/robots.txt", "", &a)
			if most := int64(maxHeader + c.config.MaxBody*8 + 64<<10); conn.given > most {
				t.Fatalf("read %d bytes, more than %d", conn.given, most)
			}
			body = readSoFar(t, &a)
			if len(body) > c.config.MaxBody || a.truncated && fail == nil && body == nil {
				t.Fatalf("%d bytes of a body kept, truncated: %v", len(body), a.truncated)
			}
			a.times, a.body = fetch.Times{}, nil
			if fail == nil {
				if a.status < 100 || a.status > 999 || (body != nil) && a.status/100 != 2 {
					t.Fatalf("status %d, with %d bytes", a.status, len(body))
				}
				return a, body, ""
			}
			if fail.Class == "" || fail.Local != nil || a.status/100 == 2 != (a.status != 0 && a.status/100 != 1) {
				t.Fatalf("status %d, and failure %q: %v, local: %v", a.status, fail.Class, fail.Err, fail.Local)
			}
			return a, body, string(fail.Class)
		}
		whole, body, failed := read(bytes.NewReader(text))
		pieces, bodyToo, failedToo := read(iotest.OneByteReader(bytes.NewReader(text)))
		if diff := cmp.Diff(whole, pieces, cmp.AllowUnexported(received{}), cmp.Comparer(sameText),
			cmpopts.EquateComparable(netip.AddrPort{})); diff != "" || failed != failedToo || !bytes.Equal(body, bodyToo) {
			t.Fatalf("failure %q, and in pieces %q (-whole +in pieces):\n%s", failed, failedToo, diff)
		}
	})
}

// FuzzDecode checks that the limit bounds the decoded body, and that a lower limit gives a
// prefix.
func FuzzDecode(f *testing.F) {
	text := "User-agent: *\nDisallow: /\n"
	for name, coding := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": gzipCoding, "br": brotliCoding, "zstd": zstdCoding,
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	} {
		encode := func(s string) []byte {
			var b bytes.Buffer
			w := coding(&b)
			io.WriteString(w, s)
			w.Close()
			return b.Bytes()
		}
		f.Add(encode(text), name, uint16(1000))
		f.Add(encode(strings.Repeat(text, 100)), name, uint16(100))
		f.Add(append(encode(text), encode(text)[:9]...), name+", identity", uint16(2000))
	}
	f.Add([]byte(wideFrame), "zstd", uint16(9))
	f.Fuzz(func(t *testing.T, stored []byte, encoding string, most uint16) {
		const limit = 1 << 16
		decode := func(limit int) (Decoded, error) {
			d, err := Decode(stored, encoding, limit)
			if len(d.Body) > limit || d.Truncated && err != nil {
				t.Fatalf("%d bytes with a limit of %d, truncated: %v, %v", len(d.Body), limit, d.Truncated, err)
			}
			return d, err
		}
		whole, err := decode(limit)
		if err != nil || whole.Plain != "" {
			return
		}
		begin, err := decode(int(most))
		if err != nil || !bytes.HasPrefix(whole.Body, begin.Body) || begin.Truncated != (len(whole.Body) > int(most)) &&
			len(stored) <= int(most) {
			t.Fatalf("%d bytes, with limit %d decoded %d, truncated: %v, %v", len(whole.Body), most, len(begin.Body),
				begin.Truncated, err)
		}
	})
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// readSoFar returns the part of an answer's body that was read, nil for none.
func readSoFar(t *testing.T, a *received) []byte {
	t.Helper()
	if a.body == nil {
		return nil
	}
	body, err := a.body.bytes()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// FuzzFTP checks that, whatever a server replies, only our commands are sent,
// of one line each, no reply is quoted, and no more is read or kept than
// allowed.
func FuzzFTP(f *testing.F) {
	for _, replies := range []string{
		"220 ready\r\n331 password\r\n230 in\r\n211-list\r\n EPSV\r\n211 end\r\n200 binary\r\n229 passive (|||4000|)\r\n" +
			"150 here\r\n226 done\r\n221 bye\r\n",
		"220-a\r\n220 b\r\n230 in\r\n500 what\r\n200 binary\r\n500 what\r\n227 passive (127,0,0,1,40,1)\r\n125 here\r\n" +
			"250 done\r\n",
		"220 a\r\n530 no\r\n", "421 busy\r\n", "SSH-2.0-x\r\n",
		"220 a\r\n331 b\r\n230 c\r\n211 d\r\n200 e\r\n229 (|||25|)\r\n",
		"220 a\r\n331 b\r\n230 c\r\n211 d\r\n200 e\r\n229 (|||4000|)\r\n550 no such file\r\n",
	} {
		f.Add([]byte(replies), []byte("User-agent: *\n"))
	}
	c := fuzzClient(f)
	f.Fuzz(func(t *testing.T, replies, file []byte) {
		conn := &recorded{Reader: bytes.NewReader(replies)}
		var a received
		lease := &Lease{client: c, ctx: context.Background()}
		defer lease.settle()
		fail := lease.converse(&budget{deadline: time.Now().Add(time.Minute)}, conn, "robots.txt", &a,
			func(port uint16) (net.Conn, *fetch.Failure) {
				if port < minDataPort {
					t.Fatalf("a data connection to port %d", port)
				}
				return &recorded{Reader: bytes.NewReader(file)}, nil
			})
		body := readSoFar(t, &a)
		if conn.given > maxReplies || len(body) > c.config.MaxBody {
			t.Fatalf("%d bytes of replies and %d of the file are read", conn.given, len(body))
		}
		for _, line := range strings.SplitAfter(conn.told.String(), "\r\n") {
			verb, _, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), " ")
			if strings.Contains(strings.TrimSuffix(line, "\r\n"), "\n") ||
				!strings.Contains(" USER PASS FEAT TYPE EPSV PASV RETR QUIT OPTS ", " "+verb+" ") && line != "" {
				t.Fatalf("sent %q to the server", line)
			}
		}
		switch {
		case fail == nil && (a.status < 100 || a.status > 999):
			t.Fatalf("status %d without a failure", a.status)
		case fail != nil && (fail.Class == "" || fail.Local != nil):
			t.Fatalf("failure %q: %v, local: %v", fail.Class, fail.Err, fail.Local)
		case fail == nil && a.status/100 == 2 && !a.truncated && !bytes.Equal(body, file):
			t.Fatalf("status %d, and %d of %d bytes", a.status, len(body), len(file))
		}
		// A long line of the server in an error would be a quotation.
		if fail != nil && len(replies) > 0 {
			for _, line := range strings.Split(string(replies), "\r\n") {
				if len(line) > 20 && strings.Contains(fail.Error(), line) {
					t.Fatalf("failure %q quotes the server", fail)
				}
			}
		}
	})
}
