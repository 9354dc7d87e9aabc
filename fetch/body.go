package fetch

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errEncoding is a body that is not what Content-Encoding says.
var errEncoding = errors.New("the body does not decode by its content encoding")

// zstdWindow bounds what a zstd frame may make us allocate.
const zstdWindow = 8 << 20

// readBody reads the decoded body, at most limit bytes of it. truncated tells
// that there was more. What was read before an error is returned with it.
// Memory is bounded by the limit and the decoder's window whatever the size
// of the decoded body: a bomb is read no further than the limit.
func readBody(resp *http.Response, limit int) (body []byte, truncated bool, err error) {
	var r io.Reader = resp.Body
	if resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 {
		r = toEnd{r}
	}
	r, closer, err := decoder(r, resp.Header.Get("Content-Encoding"))
	if err != nil {
		return []byte{}, false, err
	}
	defer closer()
	room := 4096
	if n := resp.ContentLength; n >= 0 && n < int64(limit) {
		room = int(n) + 1
	}
	body = make([]byte, 0, min(room, limit+1))
	for {
		if len(body) == cap(body) {
			if len(body) > limit {
				return body[:limit], true, nil
			}
			grown := make([]byte, len(body), min(2*cap(body)+512, limit+1))
			copy(grown, body)
			body = grown
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if len(body) > limit {
			return body[:limit], true, nil
		}
		switch {
		case err == io.EOF:
			return body, false, nil
		case errors.Is(err, errTooMuch):
			return body, true, nil
		case err != nil:
			return body, false, err
		}
	}
}

// decoder undoes the content encodings that we ask for, and deflate, which
// some servers send unasked. An unknown one is left as it is: the bytes are
// parsed as they came.
func decoder(r io.Reader, encoding string) (io.Reader, func(), error) {
	none := func() {}
	wrap := func(r io.Reader) io.Reader { return decoding{r} }
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "gzip", "x-gzip":
		b := bufio.NewReader(r)
		if _, err := b.Peek(1); err != nil { // an empty body is not gzip, and harmless
			return b, none, nil
		}
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, none, decodeError(err)
		}
		return wrap(z), func() { z.Close() }, nil
	case "br":
		return wrap(brotli.NewReader(r)), none, nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, none, decodeError(err)
		}
		return wrap(z), z.Close, nil
	case "deflate":
		b := bufio.NewReader(r)
		// RFC 9110 section 8.4.1.2: zlib is meant, raw deflate is met.
		if head, err := b.Peek(2); err == nil && head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			z, err := zlib.NewReader(b)
			if err != nil {
				return nil, none, decodeError(err)
			}
			return wrap(z), func() { z.Close() }, nil
		}
		return wrap(flate.NewReader(b)), none, nil
	}
	return r, none, nil
}

// decoding tells errors of the encoding from those of the connection.
type decoding struct{ r io.Reader }

func (d decoding) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = decodeError(err)
	}
	return n, err
}

func decodeError(err error) error {
	if errors.Is(err, errTooMuch) || errors.Is(err, io.ErrUnexpectedEOF) || isNetwork(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errEncoding, err)
}

// toEnd reads a body that only the end of the connection delimits. Many
// servers end a TLS connection without its closing alert, which crypto/tls
// reports as unexpected; with no declared length there is nothing to miss.
type toEnd struct{ r io.Reader }

func (t toEnd) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
