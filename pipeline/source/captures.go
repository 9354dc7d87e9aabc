package source

import (
	"context"
	"errors"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/source/last"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// readArchive reads the archive of a volume. Where a revisit record stands for another
// record of the same archive, it is read anew from its beginning: its original may come
// after it, and only the archives that need it are read more than once.
func (s *Source) readArchive(ctx context.Context, v *Volume, reject rejectRecord,
	emit func(target.Target) error) error {
	r := &archiveReader{Source: s, volume: v, further: s.answers(), reject: reject, emit: emit}
	defer r.further.close()
	if s.last != nil {
		captures, err := s.last.In(v.volume)
		if err != nil {
			return err
		}
		return r.read(ctx, captures)
	}
	err := r.read(ctx, nil)
	if !errors.Is(err, errRevisit) {
		return err
	}
	originals, err := s.search([]*Volume{v}, func(int64) {}).Originals(ctx)
	if err != nil {
		return err
	}
	defer originals.Close()
	captures, err := originals.In(0)
	if err != nil {
		return err
	}
	return r.read(ctx, captures)
}

// errRevisit ends a reading at the first revisit record whose original is to be found.
var errRevisit = errors.New("a revisit record")

// archiveReader reads an archive, and goes on behind what it has read before.
type archiveReader struct {
	*Source
	volume  *Volume
	further *answersOf
	reject  rejectRecord
	emit    func(target.Target) error

	at              int64 // offset of the last record that counts for the progress
	emitted, damage int64 // captures and damaged places that are dealt with
}

// read reads the archive. captures has what captures lead to; if it is nil, read ends at
// the first that leads to another one.
func (r *archiveReader) read(ctx context.Context, captures *last.Reader) error {
	s, v, path := r.Source, r.volume, r.volume.input.Path
	in, done, err := s.openVolume(ctx, v)
	if err != nil {
		return err
	}
	defer done()
	skipped := make(input.Skipped)
	seq, n, damage := v.seq, int64(0), int64(0)
	isLast, read := func(*warc.Capture) (bool, error) { return true, nil }, warc.Read
	if captures != nil {
		isLast, read = captures.Take, readHeads
	}
	counts, err := read(ctx, path, in, s.config.captures(), func(c *warc.Capture) error {
		if c.Offset > r.at {
			s.progress(c.Offset - r.at)
			r.at = c.Offset
		}
		chosen, err := isLast(c)
		if err != nil || !c.IsRobots() {
			return err
		}
		t, ok := s.wanted(c.Origin, skipped)
		if !ok {
			return nil
		}
		if captures == nil && c.WantsOriginal() && v.canBeReadAgain() {
			return errRevisit
		}
		if seq++; s.last != nil && !chosen {
			skipped[input.Earlier]++
			return nil
		}
		if n++; n <= r.emitted {
			return nil
		}
		r.emitted = n
		if err := r.further.complete(ctx, c); err != nil {
			return err
		}
		t.Seq = seq
		t.Input, t.Capture = c.Hops[0].URL, &c.Capture
		t.Stored = &target.Stored{
			Source: journal.FromArchive, WARC: path, Offset: new(c.Offset), Length: c.Length,
			Mismatch: schema.TextString(c.Mismatch),
		}
		return r.emit(t)
	}, func(offset int64, what string) error {
		if damage++; damage <= r.damage {
			return nil
		}
		r.damage = damage
		return r.reject(offset, path, "damaged_record: "+what)
	})
	if errors.Is(err, errRevisit) {
		return err
	}
	skipped.Add(input.Skipped{input.OtherURLs: counts.OtherURLs, input.OtherRecords: counts.OtherTypes,
		input.Damaged: counts.Damaged})
	s.rejects.Skip(skipped)
	if err == nil && skipped[input.Damaged] == 0 && s.config.Limit == 0 {
		v.archive.End, v.archive.Skipped = true, skipped
	}
	return err
}

// canBeReadAgain reports whether the archive is not a pipe.
func (v *Volume) canBeReadAgain() bool {
	return v.input.Path != "-" && (v.input.EndsSHA256 != "" || v.input.IdentifiedWhenRead)
}

// findLast finds the last captures of the archives, if only they are wanted, and where other
// answers of their hosts are.
func (s *Source) findLast(ctx context.Context) (err error) {
	if s.foreign {
		err = s.indexArchives(ctx)
	}
	if err != nil || !s.config.LastCapture {
		return err
	}
	for _, v := range s.Volumes {
		if !v.canBeReadAgain() {
			return &userfile.Error{Path: v.input.Path,
				Err: errors.New("can be read only once, and --last-capture reads archives several times: give a file")}
		}
	}
	s.last, err = s.search(s.Volumes, s.progress).Find(ctx)
	return err
}

// search searches archives for captures that lead to others.
func (s *Source) search(volumes []*Volume, progress func(bytes int64)) last.Archives {
	return last.Archives{
		Count: len(volumes), Stored: s.config.captures(),
		Progress: progress, Scratch: s.rejects.Scratch,
		Each: func(ctx context.Context, wanted func(int) bool,
			read func(context.Context, int, string, io.Reader) error) error {
			return s.eachArchive(ctx, volumes, wanted, read)
		},
		Wanted: func(o fetch.Origin) bool {
			_, wanted := s.wanted(o, make(input.Skipped))
			return wanted
		},
	}
}

// eachArchive calls read with those of the archives that are wanted, several at a time.
func (s *Source) eachArchive(ctx context.Context, volumes []*Volume, wanted func(i int) bool,
	read func(ctx context.Context, i int, name string, in io.Reader) error) error {
	g, grouped := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	if most := s.AtOnce(); most > 0 {
		g.SetLimit(min(most, runtime.GOMAXPROCS(0)))
	}
	for i, v := range volumes {
		if grouped.Err() != nil {
			break
		}
		if !wanted(i) {
			continue
		}
		g.Go(func() error {
			in, done, err := s.openVolume(grouped, v)
			if err != nil {
				return err
			}
			defer done()
			return read(grouped, i, v.input.Path, in)
		})
	}
	err := g.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// readHeads reads captures as [warc.ReadAll] does, without the bodies of other URLs.
func readHeads(ctx context.Context, name string, r io.Reader, c warc.Config, emit func(*warc.Capture) error,
	damaged func(int64, string) error) (warc.Counts, error) {
	return warc.ReadAll(ctx, name, r, c, func() bool { return false }, emit, damaged)
}
