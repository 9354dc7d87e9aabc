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
	o.open = func(ctx context.Context, from, to int64) (io.ReadCloser, version, error) {
		return get(ctx, o, from, to)
	}
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
		if o.version, err = versionOf(o, a, 0, 1); err == nil {
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
	a, err := follow(ctx, o.address, http.Header{"User-Agent": {"robocensus"}, "Accept-Encoding": {"identity"},
		"Range": {span}})
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
		err = fmt.Errorf("read %s: %w", o.URL,
			&busyError{strconv.Itoa(code), retryAfter(a.Header.Get("Retry-After"), time.Now()), code == http.StatusForbidden})
	default:
		err = permanent{fmt.Errorf("read %s: the server answers %d", o.URL, code)}
	}
	a.Body.Close()
	return nil, err
}

// mostSkipped bounds what is read for nothing of a server that sends all of an object
// when it is asked for a range of it.
const mostSkipped = 16 << 20

// get asks for an object from a byte on, up to another, 0 for its end.
func get(ctx context.Context, o *Object, from, to int64) (io.ReadCloser, version, error) {
	span := fmt.Sprintf("bytes=%d-", from)
	if to > 0 {
		span += strconv.FormatInt(to-1, 10)
	}
	a, err := ask(ctx, o, span)
	if err != nil {
		return nil, version{}, err
	}
	v, err := versionOf(o, a, from, to)
	if to > 0 && a.StatusCode == http.StatusOK && from > mostSkipped {
		err = &fs.PathError{Op: "open", Path: o.URL, Err: errNoRanges}
	}
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

// errNoRanges reports a server that does not send parts of an object.
var errNoRanges = permanent{errors.New(
	"its server sends whole files only, and records are read by their place; download it")}

// versionOf returns the version of the object in an answer to a request for the bytes
// from first up to another, 0 for the object's end (RFC 9110, section 14.4). A server may
// send fewer of a bounded range.
func versionOf(o *Object, a *http.Response, first, to int64) (v version, err error) {
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
		var from, last int64
		_, err = fmt.Sscanf(span, "bytes %d-%d/%d", &from, &last, &v.size)
		if err == nil && (from != first || last < from || last >= v.size || to == 0 && last != v.size-1 || to > 0 &&
			last >= to) {
			err = errors.New("another")
		}
	}
	if err != nil {
		return v, permanent{fmt.Errorf("read %s: the server answers a request for the bytes from %d with the range %q",
			o.URL, first, span)}
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
