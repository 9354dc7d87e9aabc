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
	"github.com/robocensus/robocensus/sink/store/remote"
)

// A Volume is a part of a source that is read in order: a list of hosts, a WARC
// file, a folder of bodies, a segment of an earlier run. Volumes are read
// concurrently. Each has a range of segments, so that segments are the same
// whichever volume is ahead.
type Volume struct {
	First int // number of its first segment
	Most  int // most segments; with 1, all its targets are one segment

	source *Source
	input  sink.Input
	volume int   // index of an archive in Source.Volumes
	at     int   // index of the input in the source
	seq    int64 // the number before its first target; unused if targets have numbers
	mixed  bool  // it yields the targets of all shards
	read   func(ctx context.Context, emit func(Target) error) error

	location string                                  // where an archive is, with the query of a URL
	archive  *sink.ArchiveRecord                     // what is known of the archive; nil for another volume
	pass     func(archive *sink.ArchiveRecord) error // accounts for an archive that is not read
}

// seqPerVolume keeps the numbers of volumes apart: the third volume's targets are
// numbered from 20,000,000,001.
const seqPerVolume = 10_000_000_000

// errEnough ends the reading when the limit is reached.
var errEnough = errors.New("enough targets")

// Read calls emit for each target of the volume, in order, until the source's limit
// is reached, ctx ends, or emit returns an error. An input that cannot be read is
// a [userfile.Error]. Read may be called once.
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
		if v.mixed && !v.source.config.Shard.has(t.Candidates[0].Host) {
			v.source.elsewhere.Add(1)
			return nil
		}
		v.source.emitted.Add(1)
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

// Archive returns what is known of the archive that the volume reads: its size and
// tag once a target was emitted, and its end after [Volume.Read]. It returns nil for a
// volume of another kind.
func (v *Volume) Archive() *sink.ArchiveRecord {
	if v.archive == nil {
		return nil
	}
	known := *v.archive
	return &known
}

// PassOver accounts for an archive whose targets an earlier process has committed, so
// that it need not be read. archive is what the record of its last segment says.
func (v *Volume) PassOver(targets int64, archive *sink.ArchiveRecord) error {
	v.source.emitted.Add(targets)
	return v.pass(archive)
}

// Path returns the path of the volume, for errors.
func (v *Volume) Path() string { return v.input.Path }

// number gives each volume of files its range of segments and seqs.
func (s *Source) number() {
	for i, v := range s.Volumes {
		v.First, v.Most, v.seq = i*sink.SegmentsPerVolume, sink.SegmentsPerVolume, int64(i)*seqPerVolume
	}
}

// add adds a volume and its input.
func (s *Source) add(in sink.Input, read func(ctx context.Context, emit func(Target) error) error) *Volume {
	v := &Volume{source: s, input: in, at: len(s.inputs), read: read}
	s.Volumes, s.inputs = append(s.Volumes, v), append(s.inputs, in)
	return v
}

// identify identifies a file by its size, its first and its last bytes: archives
// have gigabytes and are read only once.
func identify(ctx context.Context, role, path string) (sink.Input, error) {
	if remote.IsURL(path) {
		o, err := remote.Open(ctx, path)
		if err != nil {
			return sink.Input{}, Unread(path, err)
		}
		defer o.Close()
		if o.Size < 0 {
			return sink.Input{}, &userfile.Error{Path: remote.Name(path), Err: errors.New("the server does not say how large it is; download it")}
		}
		return identifyEnds(role, path, o.Size, func(from, size int64) io.Reader {
			return &io.LimitedReader{R: o.Reader(ctx, from), N: size}
		})
	}
	info, err := os.Stat(path)
	if err != nil {
		return sink.Input{}, &userfile.Error{Path: remote.Name(path), Err: errors.Unwrap(err)}
	}
	in := sink.Input{Role: role, Path: path}
	if info.IsDir() {
		return in, &userfile.Error{Path: path, Err: errors.New("is a folder; give a file")}
	}
	if !info.Mode().IsRegular() {
		return in, nil // a pipe can be opened only once
	}
	f, err := os.Open(path)
	if err != nil {
		return sink.Input{}, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	return identifyEnds(role, path, info.Size(), func(from, size int64) io.Reader { return io.NewSectionReader(f, from, size) })
}

// identifyEnds identifies a file of so many bytes; section reads some of them.
func identifyEnds(role, path string, bytes int64, section func(from, size int64) io.Reader) (sink.Input, error) {
	in := sink.Input{Role: role, Path: remote.Name(path), Bytes: bytes}
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

// openStored opens a file for one sequential read; "-" is standard input. The end
// of ctx ends a wait for the writer of a pipe.
func openStored(ctx context.Context, path string) (io.Reader, func(), error) {
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
