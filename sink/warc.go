package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// A run with --warc-out keeps its requests and answers as WARC files, one for each
// segment, committed with it. Members of gzip can be joined as they are: on completion
// those of a run become one file, where the user wants it, and those of a shard one file
// of the run:
//
//	_runs/R/warc/<segment>.warc.gz ─► the file of --warc-out
//	spool/_runs/R/warc/*.warc.gz   ─► _runs/R/warc/<shard>-<attempt>.warc.gz

// WriteWARC appends records, as members of gzip, to the WARC file of the segment. The run
// must be planned to keep them.
func (s *Segment) WriteWARC(records []byte) error {
	if s.warc == nil {
		return fmt.Errorf("run %s keeps no WARC records: its plan does not say so", s.run.plan.Run)
	}
	_, err := s.warc.Write(records)
	return err
}

// openWARC creates the WARC file of the segment.
func (s *Segment) openWARC() (err error) {
	if s.run.plan.KeepsWARC() {
		s.warc, err = s.run.store.Create(s.warcPath())
	}
	return err
}

func (s *Segment) warcPath() string {
	if s.piece >= 0 {
		return layout.PieceWARC(s.run.plan.Run, s.index, s.piece)
	}
	return layout.WARC(s.run.plan.Run, s.index, "")
}

// finishWARC gives the WARC file of the segment its name, before the record names it.
func (s *Segment) finishWARC(r *journal.Record) error {
	if s.warc == nil {
		return nil
	}
	digest, err := s.warc.Finish()
	if err == nil {
		err = s.warc.Publish()
	}
	if err == nil && s.piece < 0 {
		err = s.run.store.Sync(layout.WARCFolder(s.run.plan.Run))
	}
	if err != nil {
		return fmt.Errorf("write the WARC records of segment %d: %w", s.index, err)
	}
	r.WARC = &journal.Part{Table: layout.WARCTable, Segment: s.index, Path: s.warcPath(), Rows: s.Targets, Digest: digest}
	return nil
}

// joinWARC writes the members of WARC files, one after the other.
func joinWARC(ctx context.Context, w io.Writer, from store.Store, parts []journal.Part) error {
	for _, p := range parts {
		f, err := store.OpenWritten(ctx, from, p.Path, p.Digest)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// checkWARCOut returns an error if the file of --warc-out, which may be there, cannot be
// made: to be told before all hosts are asked, and not after. "" stands for no file.
func checkWARCOut(file string) error {
	if file == "" {
		return nil
	}
	return fileError(file, store.CheckNewFile(file))
}

// freeWARCOut makes place for the file of --warc-out of a new run. If that run replaces
// one of the same ID, which is in s, the file of that one goes. Any other file is an
// error: none is replaced. s may be nil. It checks the file like checkWARCOut.
func freeWARCOut(s store.Store, run, file string) error {
	if file == "" {
		return nil
	}
	there, err := store.DigestOfFile(context.Background(), file)
	if errors.Is(err, fs.ErrNotExist) {
		return checkWARCOut(file)
	}
	if err == nil && s != nil {
		before, e := writtenBy(s, run)
		if e == nil && before.Digest == there && journal.SamePath(before.Path, file) {
			return fileError(file, os.Remove(file))
		}
	}
	if err == nil {
		err = errors.New("exists; move it away, or give another name")
	}
	return fileError(file, err)
}

// fileError returns an error of a file that the user has named, nil for nil.
func fileError(file string, err error) error {
	if err == nil {
		return nil
	}
	return &userfile.Error{Path: file, Err: reason(err)}
}

// writtenBy returns the file that a complete run wrote.
func writtenBy(s store.Store, run string) (f journal.WARCFile, err error) {
	m, err := journal.ReadManifest(s, run)
	if err == nil && m.WARCFile != nil {
		f = *m.WARCFile
	}
	return f, err
}

func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// writeWARC writes the file of --warc-out, if it does not exist, and names it in the
// manifest in place of the files of the segments. If it exists, it must be the same: left
// by a process that was killed before it wrote the manifest.
func (o *output) writeWARC(m *journal.Manifest, file string) error {
	if file == "" || len(m.WARC) == 0 {
		return nil
	}
	digest, won, err := store.WriteNewFile(
		file, func(w io.Writer) error { return joinWARC(context.Background(), w, o.store, m.WARC) })
	if err == nil && !won {
		err = o.takeWARC(file, digest)
	}
	if err != nil {
		return fmt.Errorf("write --warc-out %s: %w", file, reason(err))
	}
	m.WARCFile, m.WARC = &journal.WARCFile{Path: file, Digest: digest}, nil
	return nil
}

// takeWARC takes a file that exists if it has the contents that it should have. Another
// run may have written it since this one began.
func (o *output) takeWARC(file string, want store.Digest) error {
	there, err := store.DigestOfFile(context.Background(), file)
	if err == nil && there != want {
		err = errors.New("it exists with other contents: move it away")
	}
	if err == nil {
		err = store.SyncFile(file) // the process that wrote it may not have come so far
	}
	return err
}

// copyWARC copies WARC files of a segment or a shard into one.
func (o *output) copyWARC(ctx context.Context, from store.Store, files []journal.Part, attempt string,
	r *journal.Record) (err error) {
	if len(files) == 0 {
		return nil
	}
	p := journal.Part{Table: layout.WARCTable, Segment: r.Segment, Path: layout.WARC(o.plan.Run, r.Segment, attempt),
		Rows: r.Targets}
	r.WARC = &p
	if p.Digest, err = store.Write(o.store, p.Path,
		func(w io.Writer) error { return joinWARC(ctx, w, from, files) }); err == nil {
		err = o.store.Sync(layout.WARCFolder(o.plan.Run))
	}
	if err != nil {
		return fmt.Errorf("copy the WARC records of segment %d: %w", r.Segment, err)
	}
	return nil
}
