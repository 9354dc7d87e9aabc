package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
)

// All servers of the tests have the same certificate, which the client trusts.
func TestMain(m *testing.M) {
	s := httptest.NewTLSServer(nil)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	s.Close()
	for _, c := range []*http.Transport{client, guarded} {
		c.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve serves one object and returns its URL.
func serve(t *testing.T, h http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/object"
}

// object serves content with ranges.
func object(content []byte, tag string, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "object", time.Time{}, bytes.NewReader(content))
}

// cutShort is a response that is reset after so many bytes.
type cutShort struct {
	http.ResponseWriter
	left int
}

func (c *cutShort) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; err == nil && c.left == 0 {
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func noise(n int) []byte {
	out := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(out)
	return out
}

// brokenLine serves content over transfers that break at random bytes, says that it is
// busy, and ignores ranges once in a while.
func brokenLine(t *testing.T, content []byte, seed uint64) (url string) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		kind, left := random.IntN(8), 1+random.IntN(len(content)/3)
		mu.Unlock()
		switch {
		case kind == 0:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader([]int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusForbidden}[left%3])
			return
		case kind == 1 && r.Header.Get("Range") != "bytes=0-0":
			r.Header.Del("Range")
		case kind == 2:
			panic(http.ErrAbortHandler)
		}
		object(content, `"one"`, &cutShort{w, left}, r)
	})
}

func TestReadsResume(t *testing.T) {
	t.Parallel()
	content := noise(200_000)
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			o, err := Open(t.Context(), brokenLine(t, content, seed))
			must(t, err)
			if o.Size != int64(len(content)) {
				t.Errorf("%d bytes", o.Size)
			}
			got, err := o.ReadAll(t.Context(), o.Size)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes that differ, %v", len(got), err)
			}
			in := o.Reader(t.Context(), 5)
			defer in.Close()
			for _, at := range []int64{150_000, 7, o.Size - 3, o.Size} {
				n, err := in.Seek(at, io.SeekStart)
				must(t, err)
				p := make([]byte, min(3, o.Size-at))
				if _, err := io.ReadFull(in, p); n != at || err != nil || !bytes.Equal(p, content[at:][:len(p)]) {
					t.Errorf("at %d: %d, %v", at, n, err)
				}
			}
		})
	}
}

// An archive that is read over a broken line has the records of the file, also where
// it is damaged.
func TestArchivesOverABrokenLine(t *testing.T) {
	t.Parallel()
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	var whole bytes.Buffer
	for i := range 60 {
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /%d\n# %x\n", i,
			noise(300*(i%7)))
		z := gzip.NewWriter(&whole)
		fmt.Fprintf(z, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h%d.example/robots.txt\r\n"+
			"WARC-Date: 2026-11-20T10:00:00Z\r\nWARC-Record-ID: <urn:uuid:%d>\r\nContent-Type: application/http; "+
			"msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, i, len(block), block)
		must(t, z.Close())
	}
	damaged := bytes.Clone(whole.Bytes())
	copy(damaged[20_000:], noise(400))
	read := func(in io.Reader) (found []string) {
		counts, err := warc.Read(t.Context(), "archive", in, warc.Config{Limits: fetch.Limits{MaxBody: 1 << 20}},
			func(c *warc.Capture) error {
				found = append(found, fmt.Sprintf("%d+%d %v %q", c.Offset, c.Length, c.Origin, c.Body))
				return nil
			}, func(offset int64, what string) error {
				found = append(found, fmt.Sprintf("%d: %s", offset, what))
				return nil
			})
		return append(found, fmt.Sprintf("%+v, %v", counts, err))
	}
	for name, content := range map[string][]byte{"whole": whole.Bytes(), "damaged": damaged,
		"cut short": whole.Bytes()[:40_000]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := read(bytes.NewReader(content))
			if len(want) < 30 {
				t.Fatalf("the file has %d records", len(want))
			}
			for seed := range seeds {
				o, err := Open(t.Context(), brokenLine(t, content, seed))
				must(t, err)
				in := o.Reader(t.Context(), 0)
				if diff := cmp.Diff(want, read(in)); diff != "" {
					t.Errorf("- from the file, + over the line:\n%s", diff)
				}
				in.Close()
			}
		})
	}
}

// An object that is replaced while it is read is no object at all.
func TestAnObjectThatIsReplaced(t *testing.T) {
	t.Parallel()
	content := noise(100_000)
	for name, change := range map[string]func(w http.ResponseWriter, r *http.Request){
		"tag":  func(w http.ResponseWriter, r *http.Request) { object(content, `"two"`, w, r) },
		"size": func(w http.ResponseWriter, r *http.Request) { object(content[:99_999], `"one"`, w, r) },
		"whole": func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			object(content, `"two"`, w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked > 2 {
					change(w, r)
					return
				}
				object(content, `"one"`, &cutShort{w, 50_000}, r)
			})
			if _, err := ReadAll(t.Context(), url, 1<<20); !errors.Is(err, ErrChanged) {
				t.Errorf("%v", err)
			}
			if asked != 3 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string // in the error, "" for none
		is     error
	}{
		{"empty, 416", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, "", nil},
		{"empty, 200", func(w http.ResponseWriter, r *http.Request) {}, "", nil},
		{"416 of one that is not empty", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes */10")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, `the range "bytes */10"`, nil},
		{"another range", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 5-9/10")
			w.WriteHeader(http.StatusPartialContent)
		}, `the range "bytes 5-9/10"`, nil},
		{"no range", status(http.StatusPartialContent), `the range ""`, nil},
		{"gone", status(http.StatusGone), "", fs.ErrNotExist},
		{"not found", status(http.StatusNotFound), "", fs.ErrNotExist},
		{"unauthorized", status(http.StatusUnauthorized), "", fs.ErrPermission},
		{"teapot", status(http.StatusTeapot), "answers 418", nil},
		{"to http", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/", http.StatusFound)
		}, "which is not https", nil},
		{"in a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) },
			"more than 10 redirects", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			content, err := ReadAll(t.Context(), serve(t, c.answer), 10)
			switch {
			case c.want == "" && c.is == nil:
				if err != nil || len(content) > 0 {
					t.Errorf("%q, %v", content, err)
				}
			case err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) ||
				errors.Is(err, ErrTransfer):
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it takes %v", took)
			}
		})
	}
}

// A redirect within https is followed, and a server that does not say how large an
// object is can be read, but not from the middle.
func TestRedirectsAndSizes(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/object" {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
			return
		}
		w.Write([]byte("12345"))
		http.NewResponseController(w).Flush() // in chunks, without a length
		w.Write([]byte("67890"))
	})
	o, err := Open(t.Context(), url)
	must(t, err)
	if o.Size != -1 {
		t.Errorf("size %d", o.Size)
	}
	if content, err := o.ReadAll(t.Context(), 10); err != nil || string(content) != "1234567890" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := o.ReadAll(t.Context(), 9); err == nil || !strings.Contains(err.Error(), "more than 9 bytes") {
		t.Errorf("%v", err)
	}
	in := o.Reader(t.Context(), 0)
	defer in.Close()
	if _, err := in.Seek(0, io.SeekEnd); err == nil {
		t.Error("there is an end to seek")
	}
}

func TestSeek(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { object([]byte("0123456789"), `"one"`, w, r) })
	o, err := Open(t.Context(), url)
	must(t, err)
	in := o.Reader(t.Context(), 2)
	defer in.Close()
	for _, c := range []struct {
		offset int64
		whence int
		want   string
	}{
		{1, io.SeekCurrent, "3456789"}, {-2, io.SeekEnd, "89"}, {4, io.SeekStart, "456789"},
		{-10, io.SeekCurrent, "0123456789"},
		{0, io.SeekEnd, ""}, {5, io.SeekEnd, ""},
	} {
		_, err := in.Seek(c.offset, c.whence)
		must(t, err)
		if got, err := io.ReadAll(in); string(got) != c.want || err != nil {
			t.Errorf("%d from %d: %q, %v; want %q", c.offset, c.whence, got, err, c.want)
		}
	}
	if _, err := in.Seek(-1, io.SeekStart); err == nil {
		t.Error("before the beginning")
	}
}

// A server that sends nothing more is left for another attempt.
func TestStalledReads(t *testing.T) {
	defer func(d time.Duration) { stalled = d }(stalled)
	stalled = time.Second
	content := noise(50_000)
	asked := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 2 {
			w.Header().Set("Content-Length", "50000")
			w.Header().Set("Content-Range", "bytes 0-49999/50000")
			w.Header().Set("ETag", `"one"`)
			w.WriteHeader(http.StatusPartialContent)
			w.Write(content[:30_000])
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		object(content, `"one"`, w, r)
	})
	got, err := ReadAll(t.Context(), url, 1<<20)
	if err != nil || !bytes.Equal(got, content) || asked < 3 {
		t.Errorf("%d bytes after asking %d times, %v", len(got), asked, err)
	}
}

// A server that drips bytes, or breaks each transfer after a few, holds nobody up for
// long. One that is slow for a while is read.
func TestSlowServers(t *testing.T) {
	defer func(d time.Duration) { stalled = d }(stalled)
	stalled = 150 * time.Millisecond
	content := noise(400_000)
	drip := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "400000")
		w.Header().Set("ETag", `"one"`)
		for i := 0; r.Context().Err() == nil; i++ {
			w.Write(content[i : i+1])
			http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}
	asked := 0
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		slow   bool
	}{
		"drips":  {drip, true},
		"breaks": {func(w http.ResponseWriter, r *http.Request) { object(content, `"one"`, &cutShort{w, 1}, r) }, true},
		"drips at first": {func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked < 2 {
				drip(w, r)
				return
			}
			object(content, `"one"`, w, r)
		}, false},
		"skips": {func(w http.ResponseWriter, r *http.Request) { // without ranges
			w.Header().Set("Content-Length", "400000")
			for part := range slices.Chunk(content, 40_000) {
				time.Sleep(25 * time.Millisecond)
				w.Write(part)
				http.NewResponseController(w).Flush()
			}
		}, false},
	} {
		o := newHTTPS(serve(t, c.answer))
		o.Size, o.version = 400_000, version{400_000, `"one"`}
		from := int64(0)
		if what == "skips" {
			o.version, from = version{size: 400_000}, 399_000
		}
		began := time.Now()
		in := o.Reader(t.Context(), from)
		got, err := io.ReadAll(in)
		in.Close()
		if c.slow {
			if !errors.Is(err, ErrTransfer) || !errors.Is(err, errSlow) || time.Since(began) > 20*time.Second {
				t.Errorf("%s: %d bytes after %s: %v", what, len(got), time.Since(began), err)
			}
		} else if err != nil || !bytes.Equal(got, content[from:]) {
			t.Errorf("%s: %d bytes after %s: %v", what, len(got), time.Since(began), err)
		}
	}
}

// The end of the context ends the wait for a server.
func TestTheContextEndsAPause(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "240")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := Open(ctx, url); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-3": 0, "99999999999999999999": 24 * time.Hour, "-99999999999999999999": 0,
		"Fri, 20 Nov 9999 10:01:00 GMT": 24 * time.Hour, "4000000000": 24 * time.Hour, "soon": 0,
		"Fri, 20 Nov 2026 10:01:00 GMT": time.Minute, "Fri, 20 Nov 2026 09:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
