package rowio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// Of reads the rows of parts, as a manifest names them, one part after the other: see
// [Read]. It returns an error of each unchanged, and a [PartError] for a part that cannot be
// read.
func Of[T any](
	ctx context.Context, in store.Store, parts []journal.Part, s Selection, each func(batch []T) error,
) error {
	for _, p := range parts {
		if err := ofPart(ctx, in, p, s, each); err != nil {
			return err
		}
	}
	return nil
}

// PartFile is a part that is open.
type PartFile struct {
	*File
	Raw *os.File // at its beginning
}

// Close closes the part.
func (p *PartFile) Close() error { return p.Raw.Close() }

// OpenPart opens a part, as a manifest names it, for those who need more of it than the rows
// that [Of] reads. It returns an error if the contents do not match the part's digest.
func OpenPart(ctx context.Context, in store.Store, p journal.Part) (*PartFile, error) {
	f, err := store.OpenWritten(ctx, in, p.Path, p.Digest)
	if err != nil {
		return nil, Unreadable(in, p, err)
	}
	opened, err := openPart(f, p)
	if err != nil {
		f.Close()
		return nil, Unreadable(in, p, err)
	}
	return &PartFile{opened, f}, nil
}

func ofPart[T any](ctx context.Context, in store.Store, p journal.Part, s Selection, each func(batch []T) error) error {
	f, err := store.OpenWritten(ctx, in, p.Path, p.Digest)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return Unreadable(in, p, err)
	}
	defer f.Close()
	var own error // returned by each, or by s.Part
	opened, err := openPart(f, p)
	wanted := true
	if err == nil && s.Part != nil {
		wanted, own = s.Part(p, opened)
	}
	if err == nil && own == nil && wanted {
		err = Read(ctx, opened, s, func(batch []T) error {
			own = each(batch)
			return own
		})
	}
	switch {
	case err == nil || own != nil:
		return own
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return Unreadable(in, p, err)
}

// openPart opens a part that has the rows which a manifest says.
func openPart(f io.ReaderAt, p journal.Part) (*File, error) {
	opened, err := Open(f, p.Bytes)
	if err == nil {
		err = HasRows(opened.Rows(), p)
	}
	return opened, err
}

// HasRows returns an error if a part does not have the rows that a manifest says.
func HasRows(n int64, p journal.Part) error {
	if n != p.Rows {
		return fmt.Errorf("has %d rows, and the manifest says %d", n, p.Rows)
	}
	return nil
}

// PartError reports a part that cannot be read.
type PartError struct {
	Path  string
	Check string // the command that checks the folder
	Err   error
}

func (e *PartError) Error() string {
	if store.FaultOf(e.Err) != store.OfData { // the check would fail too, or find nothing
		return fmt.Sprintf("read %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("read %s (see robocensus %s): %v", e.Path, e.Check, e.Err)
}

func (e *PartError) Unwrap() error { return e.Err }

// Unreadable returns the [PartError] for a part in a folder.
func Unreadable(in store.Store, p journal.Part, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is gone") // unwrapped: fs.ErrNotExist would mean that the run is gone
	}
	check := "verify"
	if published, _ := store.Exists(in, layout.ChecksumsName); published {
		check = "reproduce"
	}
	return &PartError{p.Path, check, err}
}
