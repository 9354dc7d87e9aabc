package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink"
)

// A volume is a file of captures that exist already: of a WARC, of bodies, of
// an earlier run. Several are read at the same time, each into segments of its
// own, so that a run can be cut into the same segments again whoever is ahead.
type volume struct {
	input sink.Input
	first int   // number of its first segment
	most  int   // segments at most
	seq   int64 // number before that of its first target; unused where captures bring their own
	// read calls emit for every capture, in order. It is not called twice at
	// the same time.
	read func(ctx context.Context, emit func(*job) error) error
}

const (
	// seqPerVolume keeps the targets of volumes apart: those of the third are
	// numbered from 20,000,000,001.
	seqPerVolume = 10_000_000_000

	// storedBytes ends a segment early whose bodies are large: nobody waits
	// for a stored capture, so nothing has to be kept for long.
	storedBytes = 16 << 20
)

// stored is what a job of a volume knows besides its capture.
type stored struct {
	source string // warc or body, or what an earlier run says
	warc   string // file, "" for none
	offset int64
	length int64 // 0: not known

	mismatch string // what is wrong with a body that is not the one of its digest
	assumed  bool   // the status is not known, and taken for 200

	bytes     *int64 // of a body that was cut short, and so not kept, if it is of an earlier run
	truncated bool   // whether that body was more than was asked for
}

// tell adds to a row what is known of a stored capture, and takes away what is
// not.
func (s *stored) tell(row *sink.Fetch) {
	row.Source = s.source
	if s.warc != "" {
		row.WARCFile, row.WARCOffset, row.WARCLength = sink.Some(sink.TextString(s.warc)), sink.Some(s.offset), sink.NonZero(s.length)
	}
	if s.bytes != nil && row.BodyBytes == nil {
		row.BodyBytes, row.BodyTruncated = s.bytes, s.truncated
	}
	if s.assumed {
		row.Hops, row.FinalURL, row.Status = nil, nil, nil
	}
}

// rerun cuts the volumes' captures into segments. It returns their number.
func (n *census) rerun(ctx context.Context) (int64, error) {
	g, reading := errgroup.WithContext(ctx) // which ends with the group
	g.SetLimit(runtime.GOMAXPROCS(0))
	if n.Limit > 0 {
		g.SetLimit(1) // the first N are those of the first volumes
	}
	var targets atomic.Int64
	for i := range n.volumes {
		if reading.Err() != nil || n.Limit > 0 && targets.Load() >= n.Limit {
			break
		}
		g.Go(func() error { return n.readVolume(reading, &n.volumes[i], &targets) })
	}
	err := g.Wait()
	if err == nil {
		err = ctx.Err()
	}
	n.progress.sourceEnds(targets.Load())
	return targets.Load(), err
}

// readVolume cuts the captures of a volume.
func (n *census) readVolume(ctx context.Context, v *volume, targets *atomic.Int64) error {
	next, seq := v.first, v.seq
	var now *segment
	count, bytes := 0, 0
	seal := func() error {
		if now == nil {
			return nil
		}
		s := now
		now = nil
		if s.committed {
			return n.passOver(s.index, count, 0)
		}
		return n.done(ctx, s)
	}
	open := func() error {
		if next == v.first+v.most {
			return &userfile.Error{Path: v.input.Path, Err: fmt.Errorf("holds more captures than %d segments can take; split it", v.most)}
		}
		now = &segment{index: next, committed: n.run.Committed(next) != nil}
		next, count, bytes = next+1, 0, 0
		if now.committed {
			return nil
		}
		now.pending.Store(1)
		return n.pressure.enter(ctx)
	}
	err := v.read(ctx, func(j *job) error {
		if n.Limit > 0 && targets.Load() >= n.Limit {
			return errEnough
		}
		if now == nil {
			if err := open(); err != nil {
				return err
			}
		}
		seq++
		targets.Add(1)
		if j.segment = now; j.target.Seq == 0 {
			j.target.Seq = seq
		}
		count, bytes = count+1, bytes+len(j.capture.Body)
		if !now.committed {
			now.jobs = append(now.jobs, j)
			n.progress.fetched(j.capture, 0)
			if err := n.keep(j); err != nil {
				return err
			}
		}
		if v.most > 1 && (count == segmentTargets || bytes >= storedBytes) {
			return seal()
		}
		return ctx.Err()
	})
	if err == nil && next == v.first && (v.first == 0 || v.most == 1) {
		// A run without a capture has tables too, empty ones. The volumes of an
		// earlier run follow each other without gaps, also where --hosts lets
		// nothing of one pass.
		err = open()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return seal()
}

// numbered gives volumes that are read from files segments and seqs of their
// own.
func numbered(volumes []volume) []volume {
	for i := range volumes {
		v := &volumes[i]
		v.first, v.most, v.seq = i*sink.SegmentsPerVolume, sink.SegmentsPerVolume, int64(i)*seqPerVolume
	}
	return volumes
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
