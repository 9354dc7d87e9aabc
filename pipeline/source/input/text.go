package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/store"
)

// MaxLine bounds one line of a hosts list; a longer one is rejected whole.
const MaxLine = 64 << 10

// endlessLine is a length that no line of a list has: the file is /dev/zero or a
// compression bomb.
const endlessLine = 64 << 20

var ErrEndless = fmt.Errorf("is longer than %d MiB: not a list of hosts", endlessLine>>20)

// Plain decompresses a list. A format that is not text is an error that names it.
func Plain(r io.Reader) (io.Reader, func(), error) { return plain(r, false) }

// PlainOrJSON is [Plain] for what may be JSON.
func PlainOrJSON(r io.Reader) (io.Reader, func(), error) { return plain(r, true) }

func plain(r io.Reader, mayBeJSON bool) (io.Reader, func(), error) {
	named := func(b *bufio.Reader) error {
		b.Peek(16)
		head, _ := b.Peek(min(b.Buffered(), userfile.FormatHead)) // without waiting for more
		if isCompressed(head) {
			return nil
		}
		if !mayBeJSON && isJSON(head) {
			return errors.New("is JSON; give one host, origin or URL to a line, or CSV")
		}
		if userfile.IsMarkup(head) {
			return errors.New("is a web page or XML; give one host, origin or URL to a line, or CSV")
		}
		return userfile.FormatOfLines(head)
	}
	b := bufio.NewReaderSize(r, 1<<18)
	if err := named(b); err != nil {
		return nil, nil, err
	}
	text, done, err := Decompress(b)
	if err != nil || text == io.Reader(b) {
		return text, done, err
	}
	inner := bufio.NewReaderSize(text, 1<<18)
	if err := named(inner); err != nil {
		done()
		return nil, nil, err
	}
	return inner, done, nil
}

func isCompressed(head []byte) bool {
	return bytes.HasPrefix(head, gzipMagic) || bytes.HasPrefix(head, zstdMagic)
}

var gzipMagic, zstdMagic = []byte{0x1f, 0x8b}, []byte{0x28, 0xb5, 0x2f, 0xfd}

// Decompress decompresses gzip and zstd. It goes by the first bytes, so that
// misnamed files and standard input work too.
func Decompress(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, 1<<18)
	head, err := b.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot be read as gzip: %w", err)
		}
		return z, func() { z.Close() }, nil
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, fmt.Errorf("cannot be read as zstd: %w", err)
		}
		return z, z.Close, nil
	}
	return b, func() {}, nil
}

// isJSON reports whether a file begins like a list or an object of JSON. A line may begin
// with the bracket of an IPv6 address.
func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	head = bytes.TrimLeft(head[1:], " \t\r\n")
	return len(head) > 0 && bytes.IndexByte([]byte(`"{[]}`), head[0]) >= 0
}

// ReadLine reads one line. It returns the beginning of a line that is too long and
// drops the rest.
func ReadLine(r *bufio.Reader) (text string, long bool, err error) {
	part, err := r.ReadSlice('\n')
	long = errors.Is(err, bufio.ErrBufferFull)
	if long {
		part = part[:200]
	}
	text = string(bytes.TrimRight(part, "\r\n"))
	for dropped := 0; errors.Is(err, bufio.ErrBufferFull); dropped += MaxLine {
		if dropped > endlessLine {
			return "", true, ErrEndless
		}
		_, err = r.ReadSlice('\n')
	}
	if err == io.EOF && (text != "" || long) {
		err = nil
	}
	return text, long, err
}

// countLines returns the number of lines of a list, plain or compressed; path is for errors.
func countLines(ctx context.Context, path string, r io.Reader, plain func(io.Reader) (io.Reader, func(), error)) (
	int64, error) {
	text, done, err := plain(r)
	if err != nil {
		return 0, &userfile.Error{Path: path, Line: 1, Err: err}
	}
	defer done()
	running := store.While(ctx, text)
	var rows int64
	buf := make([]byte, 1<<16)
	last, long := byte('\n'), 0 // long: bytes of the current line
	for {
		n, err := running.Read(buf)
		rows += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if n > 0 {
			last = buf[n-1]
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			long = n - i
		} else if long += n; long > endlessLine {
			return 0, &userfile.Error{Path: path, Line: rows + 1, Err: ErrEndless}
		}
		if err == io.EOF {
			if last != '\n' {
				rows++
			}
			// The digest includes what follows the compressed stream.
			_, err := io.Copy(io.Discard, r)
			return rows, err
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			return 0, &userfile.Error{Path: path, Line: rows + 1, Err: err}
		}
	}
}
