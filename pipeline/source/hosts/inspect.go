package hosts

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// opened is an open list, of Parquet or of text.
type opened struct {
	name    string
	parquet *os.File // nil for text
	text    io.Reader
	close   func() error
}

// open opens the list at a path or URL. It returns nil for a pipe, which can be read only
// once.
func open(ctx context.Context, path string) (*opened, error) {
	if remote.IsURL(path) {
		return openURL(ctx, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, noFile(path, err)
	case info.IsDir():
		return nil, &userfile.Error{Path: path, Err: errors.New("is a folder; give a file of hosts, or - for standard input")}
	case !info.Mode().IsRegular():
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	l := &opened{name: path, text: f, close: f.Close}
	if isParquet(f) {
		l.parquet = f
	}
	return l, nil
}

// openURL opens a list at a URL. It copies Parquet, which is not read in order.
func openURL(ctx context.Context, url string) (*opened, error) {
	in, _, err := input.OpenURL(ctx, url)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReaderSize(in, 1<<18)
	if head, _ := b.Peek(len(parquetMagic)); string(head) != parquetMagic {
		return &opened{name: remote.Name(url), text: b, close: in.Close}, nil
	}
	in.Close()
	f, err := input.CopyURL(ctx, url)
	if err != nil {
		return nil, err
	}
	return &opened{name: remote.Name(url), parquet: f, close: f.Close}, nil
}

// Inspect reads a hosts list once before the run, for its digest and its number of
// lines, and to fail on an unreadable list before anything is fetched.
func Inspect(ctx context.Context, path string) (in journal.Input, err error) {
	l, err := open(ctx, path)
	if err != nil {
		return in, err
	}
	in = journal.Input{Role: "hosts", Path: path}
	if l == nil {
		return in, nil
	}
	defer l.close()
	in.Path = l.name
	sum := sha256.New()
	if l.parquet != nil {
		in.Rows, err = parquetRows(l.parquet, l.name, sum)
	} else {
		in.Rows, err = input.CountLines(ctx, l.name, io.TeeReader(l.text, sum))
	}
	in.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return in, err
}

// noFile makes the error of a list that cannot be opened. It helps the user who
// gives a host instead of a list.
func noFile(path string, err error) error {
	why := errors.Unwrap(err)
	if _, _, e := fetch.Parse(path, "https"); e == nil && errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, ".:") && !isListName(path) {
		why = fmt.Errorf("%w; to ask a host of that name, omit --hosts: robocensus run %s …", why, remote.Name(path))
	}
	return &userfile.Error{Path: remote.Name(path), Err: why}
}

// isListName reports whether a name ends like that of a list.
func isListName(path string) bool {
	switch filepath.Ext(path) {
	case ".txt", ".csv", ".tsv", ".gz", ".zst", ".parquet", ".lst", ".list":
		return true
	}
	return false
}
