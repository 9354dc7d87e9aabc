package source

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// maxLine bounds one line of a hosts list; a longer one is rejected whole.
const maxLine = 64 << 10

// endlessLine is a length that no line of a list has: the file is /dev/zero or a
// compression bomb.
const endlessLine = 64 << 20

var errEndless = fmt.Errorf("is longer than %d MiB: not a list of hosts", endlessLine>>20)

// plainText decompresses a list. A format that is not text is an error that names it.
func plainText(r io.Reader) (io.Reader, func(), error) {
	named := func(b *bufio.Reader) error {
		b.Peek(16)
		head, _ := b.Peek(min(b.Buffered(), userfile.FormatHead)) // without waiting for more
		if isCompressed(head) {
			return nil
		}
		if isJSON(head) {
			return errors.New("is JSON; give one host, origin or URL to a line, or CSV")
		}
		return userfile.Format(head)
	}
	b := bufio.NewReaderSize(r, 1<<18)
	if err := named(b); err != nil {
		return nil, nil, err
	}
	plain, done, err := decompress(b)
	if err != nil || plain == io.Reader(b) {
		return plain, done, err
	}
	inner := bufio.NewReaderSize(plain, 1<<18)
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

// decompress decompresses gzip and zstd. It goes by the first bytes, so that
// misnamed files and standard input work too.
func decompress(r io.Reader) (io.Reader, func(), error) {
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

// inspect reads a hosts list once before the run, for its digest and its number of
// lines, and to fail on an unreadable list before anything is fetched.
func inspect(ctx context.Context, path string) (sink.Input, error) {
	if remote.IsURL(path) {
		return inspectURL(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return sink.Input{}, noFile(path, err)
	}
	if info.IsDir() {
		return sink.Input{}, &userfile.Error{Path: path, Err: errors.New("is a folder; give a file of hosts, or - for standard input")}
	}
	if !info.Mode().IsRegular() {
		return sink.Input{Role: "hosts", Path: path}, nil // a pipe can be read only once
	}
	f, err := os.Open(path)
	if err != nil {
		return sink.Input{}, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	sum := sha256.New()
	counted := func() (int64, error) {
		if isParquet(f) {
			return parquetRows(f, path, info.Size(), sum)
		}
		return countLines(ctx, path, io.TeeReader(f, sum))
	}
	rows, err := counted()
	if err != nil {
		return sink.Input{}, err
	}
	return sink.Input{Role: "hosts", Path: path, SHA256: hex.EncodeToString(sum.Sum(nil)), Rows: rows}, nil
}

// inspectURL inspects a hosts list at a URL.
func inspectURL(ctx context.Context, url string) (sink.Input, error) {
	in, _, err := openURL(ctx, url)
	if err != nil {
		return sink.Input{}, err
	}
	defer in.Close()
	name := remote.Name(url)
	sum := sha256.New()
	b := bufio.NewReaderSize(in, 1<<18)
	var rows int64
	if head, _ := b.Peek(len(parquetMagic)); string(head) == parquetMagic {
		var f *os.File
		if f, err = copyURL(ctx, url); err != nil {
			return sink.Input{}, err
		}
		defer f.Close()
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			rows, err = parquetRows(f, name, info.Size(), sum)
		}
	} else {
		rows, err = countLines(ctx, name, io.TeeReader(b, sum))
	}
	if err != nil {
		return sink.Input{}, err
	}
	return sink.Input{Role: "hosts", Path: name, SHA256: hex.EncodeToString(sum.Sum(nil)), Rows: rows}, nil
}

// noFile makes the error of a list that cannot be opened. It helps the user who
// gives a host instead of a list.
func noFile(path string, err error) error {
	why := errors.Unwrap(err)
	if _, _, e := fetch.Parse(path, "https"); e == nil && errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, ".:") && !isListName(path) {
		why = fmt.Errorf("%w; to ask a host of that name, omit --hosts: robocensus run %s …", why, remote.Name(path))
	}
	return &userfile.Error{Path: remote.Name(path), Err: why}
}

// isListName reports whether a name ends like that of a list.
func isListName(path string) bool {
	switch filepath.Ext(path) {
	case ".txt", ".csv", ".tsv", ".gz", ".zst", ".parquet", ".lst", ".list":
		return true
	}
	return false
}

func countLines(ctx context.Context, path string, r io.Reader) (int64, error) {
	plain, done, err := plainText(r)
	if err != nil {
		return 0, &userfile.Error{Path: path, Line: 1, Err: err}
	}
	defer done()
	var rows int64
	buf := make([]byte, 1<<16)
	last, long := byte('\n'), 0 // long: bytes of the current line
	for {
		n, err := whileRunning{ctx, plain}.Read(buf)
		rows += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if n > 0 {
			last = buf[n-1]
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			long = n - i
		} else if long += n; long > endlessLine {
			return 0, &userfile.Error{Path: path, Line: rows + 1, Err: errEndless}
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

// whileRunning reads until ctx ends: a long list may hold no target at all.
type whileRunning struct {
	ctx context.Context
	r   io.Reader
}

func (w whileRunning) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}
