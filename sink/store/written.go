package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"
)

// ErrOtherBytes reports that a file differs from what was written.
var ErrOtherBytes = errors.New("does not have the bytes that were written")

// measure is a writer that digests what is written to it.
type measure struct {
	sum   hash.Hash
	bytes int64
}

// newMeasure returns a measure of nothing yet.
func newMeasure() *measure { return &measure{sum: sha256.New()} }

func (m *measure) Write(p []byte) (int, error) {
	m.bytes += int64(len(p))
	return m.sum.Write(p)
}

// Digest returns the digest of what was written so far.
func (m *measure) Digest() Digest { return Digest{m.bytes, hex.EncodeToString(m.sum.Sum(nil))} }

// digestOf reads a file and returns its digest.
func digestOf(ctx context.Context, f *os.File) (Digest, error) {
	m := newMeasure()
	_, err := io.Copy(m, While(ctx, f))
	return m.Digest(), err
}

// DigestOfFile returns the digest of a file, which need not be in an output folder.
func DigestOfFile(ctx context.Context, path string) (Digest, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", path, errNotRegular)
	}
	if err != nil {
		return Digest{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Digest{}, err
	}
	defer f.Close()
	return digestOf(ctx, f)
}

// OpenWritten opens a file whose contents match want, else returns [ErrOtherBytes].
// A file with a flipped bit may still decode, but to other rows.
func OpenWritten(ctx context.Context, s Store, name string, want Digest) (*os.File, error) {
	f, err := During(ctx, s).Open(name)
	if err != nil {
		return nil, err
	}
	if err := want.check(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d Digest) check(ctx context.Context, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != d.Bytes {
		return fmt.Errorf("has %d bytes, but %d were written", info.Size(), d.Bytes)
	}
	got, err := digestOf(ctx, f)
	if err != nil {
		return err
	}
	if got.SHA256 != d.SHA256 {
		return fmt.Errorf("%w: SHA-256 %.12s… and not %.12s…", ErrOtherBytes, got.SHA256, d.SHA256)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// Counted returns a context under which the bytes that are read of written files are added
// to a number, for who shows progress.
func Counted(ctx context.Context, read *atomic.Int64) context.Context {
	return context.WithValue(ctx, countedKey{}, read)
}

type countedKey struct{}

// While returns a reader of r until ctx ends: a long file may yield nothing for a while.
func While(ctx context.Context, r io.Reader) io.Reader {
	read, _ := ctx.Value(countedKey{}).(*atomic.Int64)
	return whileRunning{ctx, r, read}
}

type whileRunning struct {
	ctx  context.Context
	r    io.Reader
	read *atomic.Int64 // nil if nobody counts
}

func (w whileRunning) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	if w.read != nil {
		w.read.Add(int64(n))
	}
	return n, err
}
