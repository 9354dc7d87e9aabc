package source

import (
	"context"
	"errors"
	"iter"

	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
)

// A Volume is a part of a source that is read in order: a list of hosts, a WARC
// file, a folder of bodies, a segment of an earlier run. Volumes are read
// concurrently. Each has a range of segments, so that segments are the same
// whichever volume is ahead.
type Volume struct {
	First int // number of its first segment
	Most  int // most segments; with 1, all its targets are one segment

	source *Source
	input  journal.Input
	volume int   // index of an archive in Source.Volumes
	at     int   // index of the input in the source
	seq    int64 // the number before its first target; unused if targets have numbers
	mixed  bool  // it yields the targets of all shards
	read   func(ctx context.Context, emit func(target.Target) error) error
	leave  func() // ends the reading that [Source.Peek] has begun, nil for none

	location string                                     // where an archive is, with the query of a URL
	archive  *journal.ArchiveRecord                     // what is known of the archive; nil for another volume
	pass     func(archive *journal.ArchiveRecord) error // accounts for an archive that is not read
}

// seqPerVolume keeps the numbers of volumes apart: the third volume's targets are
// numbered from 20,000,000,001.
const seqPerVolume = 10_000_000_000

// errEnough ends the reading when the limit is reached.
var errEnough = errors.New("enough targets")

// Read calls emit for each target of the volume, in order, until the source's limit
// is reached, ctx ends, or emit returns an error. An input that cannot be read is
// a [userfile.Error]. Read may be called once.
func (v *Volume) Read(ctx context.Context, emit func(target.Target) error) error {
	seq := v.seq
	err := v.read(ctx, func(t target.Target) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.source.Enough() {
			return errEnough
		}
		if seq++; t.Seq == 0 {
			t.Seq = seq
		}
		if v.mixed && !v.source.config.Shard.Has(t.Candidates[0].Host) {
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

// Peek reports whether there is a target. It reads the volumes up to the first one, and
// [Volume.Read] goes on from there. It may be called once, after Start.
func (s *Source) Peek(ctx context.Context) (bool, error) {
	for _, v := range s.Volumes {
		if some, err := v.peek(ctx); some || err != nil {
			return some, err
		}
	}
	return false, nil
}

func (v *Volume) peek(ctx context.Context) (some bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	read := v.read
	next, stop := iter.Pull2(func(yield func(target.Target, error) bool) {
		err := read(ctx, func(t target.Target) error {
			if !yield(t, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(target.Target{}, err)
		}
	})
	v.leave = func() { cancel(); stop() }
	t, err, some := next()
	v.read = func(ctx context.Context, emit func(target.Target) error) error {
		defer v.leave()
		defer context.AfterFunc(ctx, cancel)()
		for ; some; t, err, some = next() {
			if err == nil {
				err = emit(t)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return some, err
}

// Archive returns what is known of the archive that the volume reads: its size and
// tag once a target was emitted, and its end after [Volume.Read]. It returns nil for a
// volume of another kind.
func (v *Volume) Archive() *journal.ArchiveRecord {
	if v.archive == nil {
		return nil
	}
	known := *v.archive
	return &known
}

// PassOver accounts for an archive whose targets an earlier process has committed, so
// that it need not be read. archive is what the record of its last segment says.
func (v *Volume) PassOver(targets int64, archive *journal.ArchiveRecord) error {
	v.source.emitted.Add(targets)
	return v.pass(archive)
}

// Path returns the path of the volume, for errors.
func (v *Volume) Path() string { return v.input.Path }

// number gives each volume of files its range of segments and seqs.
func (s *Source) number() {
	for i, v := range s.Volumes {
		v.First, v.Most, v.seq = i*journal.SegmentsPerVolume, journal.SegmentsPerVolume, int64(i)*seqPerVolume
	}
}

// add adds a volume and its input.
func (s *Source) add(in journal.Input, read func(ctx context.Context, emit func(target.Target) error) error) *Volume {
	v := &Volume{source: s, input: in, at: len(s.inputs), read: read}
	s.Volumes, s.inputs = append(s.Volumes, v), append(s.inputs, in)
	return v
}
