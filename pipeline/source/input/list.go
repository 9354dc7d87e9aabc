package input

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// parquetMagic begins a Parquet file.
const parquetMagic = "PAR1"

// List is an open list or index, of Parquet or of text.
type List struct {
	Name    string
	Parquet *os.File // nil for text
	Text    io.Reader
	Close   func() error
}

// OpenList opens the list at a path or URL. It returns nil for a pipe, which can be read
// only once.
func OpenList(ctx context.Context, path string) (*List, error) {
	if remote.IsURL(path) {
		return openListURL(ctx, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &userfile.Error{Path: remote.Name(path), Err: errors.Unwrap(err)}
	case info.IsDir():
		return nil, &userfile.Error{Path: path, Err: errors.New("is a folder; give a file, or - for standard input")}
	case !info.Mode().IsRegular():
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	l := &List{Name: path, Text: f, Close: f.Close}
	var head [len(parquetMagic)]byte
	if n, _ := f.ReadAt(head[:], 0); string(head[:n]) == parquetMagic {
		l.Parquet = f
	}
	return l, nil
}

// openListURL opens a list at a URL. It copies Parquet, which is not read in order.
func openListURL(ctx context.Context, url string) (*List, error) {
	in, _, err := openURL(ctx, url)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReaderSize(in, 1<<18)
	if head, _ := b.Peek(len(parquetMagic)); string(head) != parquetMagic {
		return &List{Name: remote.Name(url), Text: b, Close: in.Close}, nil
	}
	in.Close()
	f, err := copyURL(ctx, url)
	if err != nil {
		return nil, err
	}
	return &List{Name: remote.Name(url), Parquet: f, Close: f.Close}, nil
}

// IsParquet reports whether a line of text begins a Parquet file, which needs random access.
func IsParquet(text string) bool {
	return len(text) >= len(parquetMagic) && text[:len(parquetMagic)] == parquetMagic
}

// ErrParquetPipe refuses Parquet from a pipe.
var ErrParquetPipe = errors.New("is Parquet, which cannot be read from a pipe; give a file")

// Inspect reads a list once before the run, for its digest and its number of rows, and to
// fail on an unreadable one before anything is fetched. rows returns the number of rows of
// Parquet, plain is [Plain] or [PlainOrJSON].
func (l *List) Inspect(
	ctx context.Context, rows func() (int64, error), plain func(io.Reader) (io.Reader, func(), error),
) (in journal.Input, err error) {
	in.Path = l.Name
	sum := sha256.New()
	if l.Parquet == nil {
		in.Rows, err = countLines(ctx, l.Name, io.TeeReader(l.Text, sum), plain)
	} else if in.Rows, err = rows(); err == nil {
		if _, e := io.Copy(sum, io.NewSectionReader(l.Parquet, 0, math.MaxInt64)); e != nil {
			err = &userfile.Error{Path: l.Name, Err: e}
		}
	}
	in.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return in, err
}
