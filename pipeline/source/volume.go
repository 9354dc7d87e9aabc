package source

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink"
)

// A Volume is a part of a source that is read from its beginning to its end: a
// list of hosts, a WARC file, a folder of bodies, a segment of an earlier run.
// Volumes are read side by side, each into segments of its own, so that a run is
// cut into the same segments again whichever volume is ahead.
type Volume struct {
	First int // number of its first segment
	Most  int // segments at most; with 1, all its targets are one segment

	source *Source
	input  sink.Input
	seq    int64 // number before that of its first target; unused where targets bring their own
	read   func(ctx context.Context, emit func(Target) error) error
}

// seqPerVolume keeps the targets of volumes apart: those of the third are
// numbered from 20,000,000,001.
const seqPerVolume = 10_000_000_000

// errEnough ends the reading when the limit is reached.
var errEnough = errors.New("enough targets")

// Read calls emit for each target of the volume, in order, until the limit of the
// source is reached, ctx ends, or emit returns an error. An input that cannot be
// read is a [userfile.Error]. It must not be called twice.
func (v *Volume) Read(ctx context.Context, emit func(Target) error) error {
	seq := v.seq
	err := v.read(ctx, func(t Target) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.source.Enough() {
			return errEnough
		}
		if seq++; t.Seq == 0 {
			t.Seq = seq
		}
		v.source.passed.Add(1)
		if err := emit(t); err != nil {
			return err
		}
		if v.source.Enough() {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// Path is the file that the volume is read from, for errors.
func (v *Volume) Path() string { return v.input.Path }

// number gives volumes that are read from files segments and seqs of their own.
func (s *Source) number() {
	for i, v := range s.Volumes {
		v.First, v.Most, v.seq = i*sink.SegmentsPerVolume, sink.SegmentsPerVolume, int64(i)*seqPerVolume
	}
}

// add makes the volume of an input.
func (s *Source) add(in sink.Input, read func(ctx context.Context, emit func(Target) error) error) *Volume {
	v := &Volume{source: s, input: in, read: read}
	s.Volumes, s.inputs = append(s.Volumes, v), append(s.inputs, in)
	return v
}

// identify tells a file without reading all of it: by its size, its beginning
// and its end. Archives are of gigabytes, and read but once.
func identify(role, path string) (sink.Input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return sink.Input{}, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	in := sink.Input{Role: role, Path: path}
	if info.IsDir() {
		return in, &userfile.Error{Path: path, Err: errors.New("is a folder; give a file")}
	}
	if !info.Mode().IsRegular() {
		return in, nil // a pipe is opened but once
	}
	f, err := os.Open(path)
	if err != nil {
		return sink.Input{}, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	const ends = 64 << 10
	sum := sha256.New()
	in.Bytes = info.Size()
	binary.Write(sum, binary.BigEndian, in.Bytes)
	for _, part := range []io.Reader{io.NewSectionReader(f, 0, ends), io.NewSectionReader(f, max(0, in.Bytes-ends), ends)} {
		if _, err := io.Copy(sum, part); err != nil {
			return in, &userfile.Error{Path: path, Err: err}
		}
	}
	in.Ends = hex.EncodeToString(sum.Sum(nil))
	return in, nil
}

// openStored opens a file that is read once from its beginning to its end; "-"
// is standard input. Where that may wait for a writer, ctx ends it.
func openStored(ctx context.Context, path string) (io.Reader, func(), error) {
	if path == "-" {
		return interruptible(ctx, os.Stdin), func() {}, nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return interruptible(ctx, &opened{path: path}), func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	return f, func() { f.Close() }, nil
}

// opened is a file that its first read opens: to open a pipe waits for its
// writer.
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
