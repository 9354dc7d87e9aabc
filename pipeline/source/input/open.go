package input

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Open opens a file for one sequential read; "-" is standard input. The end
// of ctx ends a wait for the writer of a pipe.
func Open(ctx context.Context, path string) (io.Reader, func(), error) {
	if path == "-" {
		return interruptible(ctx, os.Stdin), func() {}, nil
	}
	if remote.IsURL(path) {
		in, _, err := openURL(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		return in, func() { in.Close() }, nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return interruptible(ctx, &opened{path: path}), func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, &userfile.Error{Path: remote.Name(path), Err: errors.Unwrap(err)}
	}
	return f, func() { f.Close() }, nil
}

// opened opens a file on the first read: opening a pipe waits for its writer.
type opened struct {
	path string
	file *os.File
}

func (o *opened) Read(p []byte) (n int, err error) {
	if o.file == nil {
		if o.file, err = os.Open(o.path); err != nil {
			return 0, err
		}
	}
	if n, err = o.file.Read(p); err != nil {
		o.file.Close()
	}
	return n, err
}

// interruptible reads r in a goroutine, which it abandons when ctx ends: a read of
// a terminal or a pipe cannot be interrupted.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}

// Identify identifies a file by its size, its first and its last bytes: archives
// have gigabytes and are read only once.
func Identify(ctx context.Context, role, path string) (journal.Input, error) {
	if remote.IsURL(path) {
		o, err := remote.Open(ctx, path)
		if err != nil {
			return journal.Input{}, Unread(path, err)
		}
		defer o.Close()
		if o.Size < 0 {
			return journal.Input{}, &userfile.Error{Path: remote.Name(path),
				Err: errors.New("the server does not say how large it is; download it")}
		}
		return identifyEnds(role, path, o.Size, func(from, size int64) io.Reader {
			return &io.LimitedReader{R: o.Reader(ctx, from), N: size}
		})
	}
	info, err := os.Stat(path)
	if err != nil {
		return journal.Input{}, &userfile.Error{Path: remote.Name(path), Err: errors.Unwrap(err)}
	}
	in := journal.Input{Role: role, Path: path}
	if info.IsDir() {
		return in, &userfile.Error{Path: path, Err: errors.New("is a folder; give a file")}
	}
	if !info.Mode().IsRegular() {
		return in, nil // a pipe can be opened only once
	}
	f, err := os.Open(path)
	if err != nil {
		return journal.Input{}, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	return identifyEnds(role, path, info.Size(),
		func(from, size int64) io.Reader { return io.NewSectionReader(f, from, size) })
}

// identifyEnds identifies a file of so many bytes; section reads some of them.
func identifyEnds(role, path string, bytes int64, section func(from, size int64) io.Reader) (journal.Input, error) {
	in := journal.Input{Role: role, Path: remote.Name(path), Bytes: bytes}
	const ends = 64 << 10
	sum := sha256.New()
	binary.Write(sum, binary.BigEndian, bytes)
	for _, from := range []int64{0, max(0, bytes-ends)} {
		r := section(from, ends)
		_, err := io.Copy(sum, r)
		if l, ok := r.(*io.LimitedReader); ok {
			l.R.(io.Closer).Close()
		}
		if err != nil {
			return in, Unread(path, err)
		}
	}
	in.EndsSHA256 = hex.EncodeToString(sum.Sum(nil))
	return in, nil
}
