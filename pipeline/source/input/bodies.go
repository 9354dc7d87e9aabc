package input

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// BodyFile is a stored robots.txt. Its content is read only by [BodyFile.Read].
type BodyFile struct {
	Name     string // with slashes
	Modified time.Time

	in    string // the folder or tar, for errors
	size  int64
	again bool // it can be read at any time, and not only before the next one
	open  func() (io.ReadCloser, error)
}

// Read reads the content, at most one byte more than the limit, which shows that a body
// is too long.
func (f *BodyFile) Read(limit int) ([]byte, error) {
	in, err := f.open()
	if err != nil {
		return nil, &userfile.Error{Path: f.in, Err: err}
	}
	defer in.Close()
	var b bytes.Buffer
	b.Grow(int(min(f.size, int64(limit)+1)) + bytes.MinRead) // one read
	if _, err := b.ReadFrom(io.LimitReader(in, int64(limit)+1)); err != nil {
		return nil, &userfile.Error{Path: f.in, Err: fmt.Errorf("%s: %w", schema.TextString(f.Name), err)}
	}
	return b.Bytes(), nil
}

// isFolder reports whether the files are in a folder of this machine.
func isFolder(name string) (bool, error) {
	if remote.IsURL(name) {
		return false, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return false, &userfile.Error{Path: remote.Name(name), Err: errors.Unwrap(err)}
	}
	return info.IsDir(), nil
}

// IdentifyBodies identifies a folder or tar of files.
func IdentifyBodies(ctx context.Context, role, name string) (journal.Input, error) {
	folder, err := isFolder(name)
	switch {
	case err != nil:
		return journal.Input{}, err
	case folder:
		return identifyFolder(role, name)
	}
	return Identify(ctx, role, name)
}

// identifyFolder identifies a folder by the names, sizes and times of its files.
func identifyFolder(role, name string) (journal.Input, error) {
	in := journal.Input{Role: role, Path: name}
	sum := sha256.New()
	root := os.DirFS(name)
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := fs.Stat(root, file) // follows links
		if err != nil || !info.Mode().IsRegular() {
			_, err = fmt.Fprintf(sum, "%q none\n", file)
			return err
		}
		in.Bytes += info.Size()
		_, err = fmt.Fprintf(sum, "%q %d %d\n", file, info.Size(), info.ModTime().UnixNano())
		return err
	})
	if err != nil {
		return in, &userfile.Error{Path: name, Err: err}
	}
	in.EndsSHA256 = hex.EncodeToString(sum.Sum(nil))
	return in, nil
}

// checkFiles is the number of files that CheckFolder looks at.
const checkFiles = 100

// CheckBodies returns an error if the first files of a folder that are named by hosts are
// all of another kind than a robots.txt: pages, or in a format that is not text. A folder
// of answers has such files among others.
func CheckBodies(ctx context.Context, name string) error {
	folder, err := isFolder(name)
	if err != nil || !folder || ctx.Err() != nil { // who was told to stop ends before reading
		return err
	}
	enough := errors.New("enough")
	others, first := 0, ""
	err = EachBody(ctx, name, func(f *BodyFile) error {
		if _, err := f.Origin("https"); err != nil {
			return nil
		}
		head, err := f.Read(userfile.FormatHead)
		switch {
		case err != nil || len(head) == 0:
			return err
		case userfile.IsWide(head) || userfile.Format(head) == nil && !userfile.IsMarkup(head):
			return enough
		}
		if others++; others == 1 {
			first = f.Name
		}
		if others == checkFiles {
			return enough
		}
		return nil
	}, func(string, string) error { return nil })
	if others > 0 && (err == nil || others == checkFiles) {
		return &userfile.Error{Path: name,
			Err: fmt.Errorf("holds no robots.txt: the files named by hosts, such as %s, are web pages or not text",
				schema.TextString(first))}
	}
	if errors.Is(err, enough) {
		return nil
	}
	return err
}

// notFile is the reason for which an entry is rejected that is not a regular file.
const notFile = "not_a_file"

// EachBody calls take with the files of a folder, in the order of their names, or of a tar,
// in its order, and reject with what is no file. It passes over names that begin with a
// dot.
func EachBody(ctx context.Context, name string, take func(*BodyFile) error,
	reject func(file, reason string) error) error {
	folder, err := isFolder(name)
	if err != nil {
		return err
	}
	each := eachOfTar
	if folder {
		each = eachOfFolder
	}
	return each(ctx, name, func(f *BodyFile) error {
		if strings.HasPrefix(path.Base(f.Name), ".") {
			return nil
		}
		return take(f)
	}, reject)
}

// eachOfFolder follows links to files; it rejects other links and special files.
func eachOfFolder(ctx context.Context, name string, take func(*BodyFile) error,
	reject func(file, reason string) error) error {
	root := os.DirFS(name)
	return fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return &userfile.Error{Path: name, Err: err}
		}
		if entry.IsDir() {
			return ctx.Err()
		}
		info, err := fs.Stat(root, file)
		if err != nil || !info.Mode().IsRegular() {
			return reject(file, notFile)
		}
		return take(&BodyFile{file, info.ModTime(), name, info.Size(), true,
			func() (io.ReadCloser, error) { return root.Open(file) }})
	})
}

// tarOf returns the bytes of a tar. Those of a plain one in a file can be skipped.
func tarOf(f io.Reader) (io.Reader, func(), error) {
	if file, ok := f.(*os.File); ok {
		head := make([]byte, userfile.FormatHead)
		n, _ := file.ReadAt(head, 0) // reading it returns the error
		if userfile.IsTar(head[:n]) {
			return &skipper{in: file}, func() {}, nil
		}
	}
	plain, done, err := Decompress(f)
	if err != nil {
		return nil, nil, err
	}
	b := bufio.NewReaderSize(plain, mostAhead)
	head, _ := b.Peek(userfile.FormatHead) // tar returns its error
	if err := userfile.Format(head); err != nil && !userfile.IsTar(head) {
		done()
		return nil, nil, err
	}
	return b, done, nil
}

// eachOfTar reads a tar, plain or compressed. It rejects links: a tar is read only once.
func eachOfTar(ctx context.Context, name string, take func(*BodyFile) error,
	reject func(file, reason string) error) error {
	f, closed, err := Open(ctx, name)
	if err != nil {
		return err
	}
	defer closed()
	name = remote.Name(name)
	plain, done, err := tarOf(f)
	if err != nil {
		return &userfile.Error{Path: name, Err: err}
	}
	defer done()
	entries := tar.NewReader(plain)
	for {
		entry, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &userfile.Error{Path: name, Err: fmt.Errorf("cannot be read as a tar: %w", err)}
		}
		switch entry.Typeflag {
		case tar.TypeReg:
			err = take(&BodyFile{entry.Name, entry.ModTime, name, entry.Size, false,
				func() (io.ReadCloser, error) { return io.NopCloser(entries), nil }})
		case tar.TypeDir, tar.TypeXGlobalHeader:
		default:
			err = reject(entry.Name, notFile)
		}
		if err != nil {
			return err
		}
	}
}
