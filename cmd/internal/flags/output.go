package flags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// WriteFile calls write to fill the file at path. A regular file appears whole or not
// at all, and keeps its permissions. A link stays, and its target is replaced. A
// device or pipe is written to directly, because a rename would replace it. The
// end of ctx ends a wait for the reader of a pipe.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("write %s: is a folder; give a file", remote.Name(path))
	case err == nil && !info.Mode().IsRegular():
		err = writeInto(ctx, path, write)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
	default:
		_, err = store.WriteFile(path, write)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", remote.Name(path), reason(err))
	}
	return nil
}

// reason removes the operation and the path from an error: the path may be that of a
// temporary file.
func reason(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

func writeInto(ctx context.Context, path string, write func(io.Writer) error) error {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	var to opened
	select {
	case to = <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if to.err != nil {
		return to.err
	}
	err := write(to.file)
	if e := to.file.Close(); err == nil {
		err = e
	}
	return err
}
