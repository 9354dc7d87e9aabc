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

// Inspect reads a hosts list once before the run, for its digest and its number of
// lines, and to fail on an unreadable list before anything is fetched.
func Inspect(ctx context.Context, path string) (journal.Input, error) {
	if remote.IsURL(path) {
		return inspectURL(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return journal.Input{}, noFile(path, err)
	}
	if info.IsDir() {
		return journal.Input{}, &userfile.Error{Path: path, Err: errors.New("is a folder; give a file of hosts, or - for standard input")}
	}
	if !info.Mode().IsRegular() {
		return journal.Input{Role: "hosts", Path: path}, nil // a pipe can be read only once
	}
	f, err := os.Open(path)
	if err != nil {
		return journal.Input{}, &userfile.Error{Path: path, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	sum := sha256.New()
	counted := func() (int64, error) {
		if isParquet(f) {
			return parquetRows(f, path, info.Size(), sum)
		}
		return input.CountLines(ctx, path, io.TeeReader(f, sum))
	}
	rows, err := counted()
	if err != nil {
		return journal.Input{}, err
	}
	return journal.Input{Role: "hosts", Path: path, SHA256: hex.EncodeToString(sum.Sum(nil)), Rows: rows}, nil
}

// inspectURL inspects a hosts list at a URL.
func inspectURL(ctx context.Context, url string) (journal.Input, error) {
	in, _, err := input.OpenURL(ctx, url)
	if err != nil {
		return journal.Input{}, err
	}
	defer in.Close()
	name := remote.Name(url)
	sum := sha256.New()
	b := bufio.NewReaderSize(in, 1<<18)
	var rows int64
	if head, _ := b.Peek(len(parquetMagic)); string(head) == parquetMagic {
		var f *os.File
		if f, err = input.CopyURL(ctx, url); err != nil {
			return journal.Input{}, err
		}
		defer f.Close()
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			rows, err = parquetRows(f, name, info.Size(), sum)
		}
	} else {
		rows, err = input.CountLines(ctx, name, io.TeeReader(b, sum))
	}
	if err != nil {
		return journal.Input{}, err
	}
	return journal.Input{Role: "hosts", Path: name, SHA256: hex.EncodeToString(sum.Sum(nil)), Rows: rows}, nil
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
