package warc

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
)

// A WACZ file (Web Archive Collection Zipped 1.1.1) is a ZIP file with WARC files in its
// folder archive. Those of any ZIP file are read, one after the other, as one archive. A
// capture lies at its place in the ZIP file; in a WARC file that is compressed a second
// time, that is the place of the WARC file.

const (
	zipMagic = "PK\x03\x04"
	zipEnd   = "PK\x05\x06" // a ZIP file without files

	// maxZipDirectory bounds the directory of a ZIP file, which has 46 bytes and a name for
	// each file, and is read into memory.
	maxZipDirectory = 8 << 20
	// mostDeflated exceeds the compression ratio of an honest WARC file.
	mostDeflated = 100
)

var (
	errZipPipe = errors.New("a ZIP file, such as a WACZ, has its directory at its end: " +
		"give it as a file, or unpack it and give its WARC files")
	errZipDirectory = fmt.Errorf("the directory of the ZIP file is longer than %d bytes: "+
		"unpack the file and give its WARC files", maxZipDirectory)
	errZipEmpty   = errors.New("a ZIP file without a WARC file; a WACZ has them in its folder archive")
	errZipOverlap = errors.New("the files in the ZIP file overlap")
	errZipExpands = fmt.Errorf("a file in the ZIP file expands more than %d times", mostDeflated)
)

// isZip reports whether a file begins as a ZIP file does.
func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zipMagic)) || bytes.HasPrefix(head, []byte(zipEnd))
}

// isArchiveName reports whether a file is an archive, by its name.
func isArchiveName(name string) bool {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return path.Ext(name) == ".warc" || path.Ext(name) == ".arc"
}

// readZip reads the archives in a ZIP file, each with a copy of w. What is wrong with one
// of them costs the others nothing.
func readZip(ctx context.Context, in *warcFile, w reader) (total Counts, err error) {
	bad := func(offset int64, what error) error {
		total.Damaged++
		return w.damaged(offset, what.Error())
	}
	unread := func() error { // the error of the file
		if in.err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		return &userfile.Error{Path: w.name, Err: in.err}
	}
	if in.seeker == nil {
		return total, bad(0, errZipPipe)
	}
	content := &fileAt{file: in, left: maxZipDirectory}
	z, err := zip.NewReader(content, in.size)
	switch {
	case in.err != nil:
		return total, unread()
	case content.left < 0:
		return total, bad(0, errZipDirectory)
	case err != nil:
		return total, bad(0, fmt.Errorf("the directory of the ZIP file cannot be read: %w", err))
	}
	content.left = math.MaxInt64
	files := slices.DeleteFunc(z.File, func(f *zip.File) bool { return !isArchiveName(f.Name) })
	if len(files) == 0 {
		return total, bad(0, errZipEmpty)
	}
	left := uint64(in.size)
	for _, f := range files {
		from, what := f.DataOffset()
		if f.CompressedSize64 > left {
			what = errZipOverlap // many files of the same bytes
		}
		if what == nil {
			left -= f.CompressedSize64
			var counts Counts
			counts, what, err = readZipped(ctx, content, f, from, w)
			total.add(counts)
		}
		if err == nil {
			err = unread()
		}
		if what != nil && err == nil {
			err = bad(from, what)
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (c *Counts) add(more Counts) {
	c.Captures += more.Captures
	c.OtherURLs += more.OtherURLs
	c.OtherTypes += more.OtherTypes
	c.OfFetches += more.OfFetches
	c.Damaged += more.Damaged
}

// readZipped reads an archive in a ZIP file, whose content begins at an offset. what is the
// damage of the ZIP file there, nil for none.
func readZipped(ctx context.Context, in *fileAt, f *zip.File, from int64, w reader) (counts Counts, what, err error) {
	emit, damaged := w.emit, w.damaged
	switch {
	case f.Flags&1 != 0:
		return counts, errors.New("a file in the ZIP file is encrypted"), nil
	case f.Method == zip.Store:
		w.emit = func(c *Capture) error {
			c.Offset += from
			return emit(c)
		}
		w.damaged = func(offset int64, what string) error { return damaged(from+offset, what) }
		w.members = newMembers(ctx, io.NewSectionReader(in, from, int64(f.CompressedSize64)))
		counts, err = read(ctx, &w)
		return counts, nil, err
	case f.Method == zip.Deflate:
		content, err := f.Open()
		if err != nil {
			return counts, err, nil
		}
		defer content.Close()
		w.emit = func(c *Capture) error {
			c.Offset, c.Length = from, 0
			return emit(c)
		}
		w.damaged = func(_ int64, what string) error { return damaged(from, what) }
		inflated := &inflater{content, int64(f.CompressedSize64)*mostDeflated + 1<<20, nil}
		w.members = newMembers(ctx, inflated)
		counts, err = read(ctx, &w)
		return counts, inflated.err, err
	}
	what = fmt.Errorf("a file in the ZIP file has the compression method %d, which is not read: unpack it", f.Method)
	return counts, what, nil
}

// fileAt reads a file at any place, up to a number of bytes.
type fileAt struct {
	file *warcFile
	left int64
}

func (f *fileAt) ReadAt(p []byte, at int64) (n int, err error) {
	if f.left -= int64(len(p)); f.left < 0 {
		return 0, errZipDirectory
	}
	if at != f.file.at && !f.file.seek(at) {
		return 0, f.file.err
	}
	if n, err = io.ReadFull(f.file, p); err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// inflater ends where its file is damaged or expands too far, and keeps the error.
type inflater struct {
	r    io.Reader
	left int64
	err  error
}

func (f *inflater) Read(p []byte) (n int, err error) {
	if f.err != nil {
		return 0, io.EOF
	}
	n, err = f.r.Read(p)
	if f.left -= int64(n); f.left < 0 {
		err = errZipExpands
	}
	if err != nil && err != io.EOF {
		f.err, err = err, io.EOF
	}
	return n, err
}
