package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// open opens the list at a path or URL. It returns nil for a pipe.
func open(ctx context.Context, path string) (*input.List, error) {
	l, err := input.OpenList(ctx, path)
	if errors.Is(err, fs.ErrNotExist) && !remote.IsURL(path) {
		err = noFile(path, err)
	}
	return l, err
}

// Inspect reads a hosts list once before the run; see [input.List.Inspect].
func Inspect(ctx context.Context, path string) (in journal.Input, err error) {
	l, err := open(ctx, path)
	switch {
	case err != nil:
		return in, err
	case l == nil:
		return journal.Input{Role: "hosts", Path: path}, nil
	}
	defer l.Close()
	in, err = l.Inspect(ctx, func() (int64, error) { return parquetRows(l.Parquet, l.Name) }, input.Plain)
	in.Role = "hosts"
	return in, err
}

// noFile makes the error of a list that cannot be opened. It helps the user who
// gives a host instead of a list.
func noFile(path string, err error) error {
	why := errors.Unwrap(err)
	if _, _, e := fetch.Parse(path, "https"); e == nil && errors.Is(err, fs.ErrNotExist) &&
		strings.ContainsAny(path, ".:") && !isListName(path) {
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
