package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// longestWait bounds the wait that a server may ask for, unless it is asked within [Limits].
const longestWait = 5 * time.Minute

// busyError is the answer of a server that wants to be asked later.
type busyError struct {
	status  string
	wait    time.Duration // 0 if it does not say how long
	refusal bool          // the answer may be a refusal for good
}

func (b *busyError) Error() string { return "the server answers " + b.status }

// client asks servers for objects. Its limits bound what a server can hold up; a body
// may take as long as it brings bytes (see reader). guarded is the same for the servers
// that redirects lead to, and dials what [Guarded] lets it.
var (
	client  = newClient(nil)
	guarded = newClient(refuseSpecial)
)

func newClient(control func(ctx context.Context, network, address string, c syscall.RawConn) error) *http.Transport {
	t := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second, ControlContext: control}).DialContext,
		TLSHandshakeTimeout:    30 * time.Second,
		ResponseHeaderTimeout:  time.Minute,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 1 << 20,
		DisableCompression:     true, // the bytes as they are
		ForceAttemptHTTP2:      true,
	}
	if control == nil {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

func newHTTPS(url string) *Object {
	o := &Object{URL: Name(url), address: url, Size: -1}
	o.open = func(ctx context.Context, from int64) (io.ReadCloser, version, error) { return get(ctx, o, from) }
	return o
}

func openHTTPS(ctx context.Context, url string) (*Object, error) {
	o := newHTTPS(url)
	err := repeat(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		// Not HEAD: some servers refuse it, or sign a URL for GET alone.
		a, err := ask(ctx, o, "bytes=0-0")
		if err != nil {
			return err
		}
		defer a.Body.Close()
		if o.version, err = versionOf(o, a, 0, 0); err == nil {
			o.Size = o.version.size
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// ask asks for a range of an object. Of the answers that it returns the caller closes
// the body.
func ask(ctx context.Context, o *Object, span string) (*http.Response, error) {
	a, err := follow(ctx, o.address, http.Header{"User-Agent": {"robocensus"}, "Accept-Encoding": {"identity"}, "Range": {span}})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.URL, err)
	}
	switch code := a.StatusCode; {
	case code == http.StatusOK, code == http.StatusPartialContent, code == http.StatusRequestedRangeNotSatisfiable:
		return a, nil
	case code == http.StatusNotFound, code == http.StatusGone:
		err = &fs.PathError{Op: "open", Path: o.URL, Err: fs.ErrNotExist}
	case code == http.StatusUnauthorized:
		err = &fs.PathError{Op: "open", Path: o.URL, Err: fs.ErrPermission}
	// Common Crawl answers 403 and 503 to those who ask too much.
	case code == http.StatusForbidden, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		err = fmt.Errorf("read %s: %w", o.URL, &busyError{strconv.Itoa(code), retryAfter(a.Header.Get("Retry-After"), time.Now()), code == http.StatusForbidden})
	default:
		err = permanent{fmt.Errorf("read %s: the server answers %d", o.URL, code)}
	}
	a.Body.Close()
	return nil, err
}

// get asks for an object from a byte on.
func get(ctx context.Context, o *Object, from int64) (io.ReadCloser, version, error) {
	a, err := ask(ctx, o, fmt.Sprintf("bytes=%d-", from))
	if err != nil {
		return nil, version{}, err
	}
	v, err := versionOf(o, a, from, -1)
	if err != nil {
		a.Body.Close()
		return nil, version{}, err
	}
	if a.StatusCode == http.StatusOK { // a server without ranges sends all of it
		return &skipping{a.Body, from}, v, nil
	}
	return a.Body, v, nil
}

// skipping is a body whose first bytes do not count. A read of these returns none.
type skipping struct {
	io.ReadCloser
	left int64
}

func (s *skipping) Read(p []byte) (int, error) {
	if s.left == 0 {
		return s.ReadCloser.Read(p)
	}
	n, err := s.ReadCloser.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return 0, err
}

// versionOf returns the version of the object in an answer to a request for a range,
// whose last byte is the object's if it is negative (RFC 9110, section 14.4).
func versionOf(o *Object, a *http.Response, first, last int64) (v version, err error) {
	if v.tag = a.Header.Get("ETag"); v.tag == "" {
		v.tag = a.Header.Get("Last-Modified")
	}
	span := a.Header.Get("Content-Range")
	switch a.StatusCode {
	case http.StatusOK:
		v.size = a.ContentLength
		return v, nil
	case http.StatusRequestedRangeNotSatisfiable: // of an empty object
		_, err = fmt.Sscanf(span, "bytes */%d", &v.size)
		if err == nil && v.size > first {
			err = errors.New("refused")
		}
	default:
		var from, to int64
		_, err = fmt.Sscanf(span, "bytes %d-%d/%d", &from, &to, &v.size)
		if last < 0 {
			last = v.size - 1
		}
		if err == nil && (from != first || to != last) {
			err = errors.New("another")
		}
	}
	if err != nil {
		return v, permanent{fmt.Errorf("read %s: the server answers a request for the bytes from %d with the range %q", o.URL, first, span)}
	}
	return v, nil
}

// retryAfter returns the time that a server asks to wait (RFC 9110, section 10.2.3), at
// most a day, whatever number of digits it has.
func retryAfter(text string, now time.Time) time.Duration {
	const most = 24 * time.Hour
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // the nearest number
		return time.Duration(min(max(seconds, 0), int64(most/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), most)
	}
	return 0
}
