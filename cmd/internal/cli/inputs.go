package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// InputOf describes an input of a run: what its rows are, its path and its digest.
func InputOf(role, path string, text []byte, rows int) journal.Input {
	sum := sha256.Sum256(text)
	return journal.Input{Role: role, Path: path, SHA256: hex.EncodeToString(sum[:]), Rows: int64(rows)}
}

// ReadOr reads the file that a flag names and returns its name for messages, or what is
// built in for a flag without a value.
func ReadOr(ctx context.Context, path, name string, builtIn []byte) ([]byte, string, error) {
	if path == "" {
		return builtIn, name, nil
	}
	text, err := ReadInput(ctx, path)
	return text, remote.Name(path), err
}

// maxInputFile bounds the files that are read whole.
const maxInputFile = 64 << 20

// ReadInput reads a file or an object by its URL. It stops waiting for the writer of a pipe when ctx ends.
func ReadInput(ctx context.Context, path string) ([]byte, error) {
	if remote.IsURL(path) {
		text, err := remote.ReadAll(ctx, path, maxInputFile)
		if ctx.Err() != nil {
			return nil, ErrInterrupted
		}
		if err != nil {
			return nil, input.Unread(path, err)
		}
		return text, nil
	}
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		file, err := os.Open(path)
		if err != nil {
			done <- result{nil, &userfile.Error{Path: remote.Name(path), Err: errors.Unwrap(err)}}
			return
		}
		defer file.Close()
		text, err := ReadAll(path, file)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, ErrInterrupted
	}
}

func ReadAll(name string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInputFile+1))
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: errors.Unwrap(err)}
	}
	if len(text) > maxInputFile {
		return nil, &userfile.Error{Path: name, Err: fmt.Errorf("is larger than %d MiB", maxInputFile>>20)}
	}
	return text, nil
}

// IsURL reports whether the value of a flag is meant as a URL.
func IsURL(value string) bool { return strings.Contains(value, "://") }

// NotHere returns the error for a flag whose folder must be on this machine.
func NotHere(flag, url string) error {
	return Usagef("--%s %s: give a folder on this machine", flag, remote.Name(url))
}

// IsSameFile reports whether two paths lead to the same existing file or folder.
func IsSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
