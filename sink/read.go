package sink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
)

// errOtherBytes tells that a file has other bytes than were written.
var errOtherBytes = errors.New("does not have the bytes that were written")

// openFile opens a file that is named with its digest, if its bytes are those
// that were written: a flipped one may still decode, to other rows.
func openFile(ctx context.Context, s *store.Store, name string, want store.Digest) (*os.File, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	if err := checkDigest(ctx, f, want); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func checkDigest(ctx context.Context, f *os.File, want store.Digest) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != want.Bytes {
		return fmt.Errorf("has %d bytes, but %d were written", info.Size(), want.Bytes)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, whileRunning{ctx, f}); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return fmt.Errorf("%w: SHA-256 %.12s… and not %.12s…", errOtherBytes, got, want.SHA256)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// whileRunning reads until ctx ends.
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

// OpenPart opens a part below dir that a manifest names, if its bytes are those
// that were written.
func OpenPart(ctx context.Context, dir string, p Part) (*os.File, error) {
	s, err := store.Open(dir)
	if err != nil {
		return nil, unreadable(p, err)
	}
	defer s.Close()
	f, err := openFile(ctx, s, p.Path, p.Digest)
	if err != nil {
		return nil, unreadable(p, err)
	}
	return f, nil
}

// unreadable is the error of a part that cannot be read.
func unreadable(p Part, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is gone") // wrapped, it would be taken for a run that is
	}
	return fmt.Errorf("read %s (see robocensus verify): %w", p.Path, err)
}

// ReadTexts streams columns of a part below dir as text: row gets the cells of
// one row, in the order of names, nil for null. They hold only until it
// returns.
func ReadTexts(ctx context.Context, dir string, p Part, names []string, row func(cells []*string)) error {
	return ReadRows(ctx, dir, p, scan.Selection{Columns: names}, func(batch arrow.RecordBatch) error {
		columns, texts, line := make([]arrow.Array, len(names)), make([]string, len(names)), make([]*string, len(names))
		for k, name := range names {
			columns[k] = scan.Column[arrow.Array](batch, name)
		}
		for i := range int(batch.NumRows()) {
			for k, column := range columns {
				line[k] = nil
				if column.IsValid(i) {
					texts[k] = column.ValueStr(i)
					line[k] = &texts[k]
				}
			}
			row(line)
		}
		return nil
	})
}

// ReadRows reads a committed part below dir batch by batch (see
// [scan.File.Batches]). What each returns comes back as it is.
func ReadRows(ctx context.Context, dir string, p Part, s scan.Selection, each func(arrow.RecordBatch) error) error {
	in, err := store.Open(dir)
	if err != nil {
		return unreadable(p, err)
	}
	defer in.Close()
	return ReadPart(ctx, in, p, s, each)
}

// ReadPart reads a part of an open output folder like [ReadRows].
func ReadPart(ctx context.Context, in *store.Store, p Part, s scan.Selection, each func(arrow.RecordBatch) error) error {
	f, err := openFile(ctx, in, p.Path, p.Digest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return unreadable(p, err)
	}
	defer f.Close()
	var own error // of each
	file, err := scan.Open(f)
	if err == nil {
		err = file.Batches(ctx, s, func(batch arrow.RecordBatch) error {
			own = each(batch)
			return own
		})
	}
	if err == nil || own != nil {
		return own
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return unreadable(p, err)
}
