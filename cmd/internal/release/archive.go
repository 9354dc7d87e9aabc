package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name       string
	content    []byte
	executable bool
	shared     bool // a folder where anybody may write
}

func (e entry) mode() int64 {
	switch {
	case e.shared:
		return 0o1777
	case e.executable:
		return 0o755
	}
	return 0o644
}

func writeTar(path string, entries []entry, when time.Time) error {
	return write(path, func(out io.Writer) error {
		packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
		if err != nil {
			return err
		}
		return errors.Join(packTar(packed, entries, when), packed.Close())
	})
}

// packTar packs files, and folders, whose names end in /.
func packTar(out io.Writer, entries []entry, when time.Time) error {
	files := tar.NewWriter(out)
	for _, e := range entries {
		header := &tar.Header{Format: tar.FormatUSTAR, Name: e.name, Size: int64(len(e.content)), Mode: e.mode(),
			ModTime: when}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := files.WriteHeader(header); err != nil {
			return err
		}
		if _, err := files.Write(e.content); err != nil {
			return err
		}
	}
	return files.Close()
}

func writeZip(path string, entries []entry, when time.Time) error {
	return write(path, func(out io.Writer) error {
		files := zip.NewWriter(out)
		for _, e := range entries {
			header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when}
			header.SetMode(os.FileMode(e.mode()))
			file, err := files.CreateHeader(header)
			if err != nil {
				return err
			}
			if _, err := file.Write(e.content); err != nil {
				return err
			}
		}
		return files.Close()
	})
}

// write makes a file. It must not exist.
func write(path string, fill func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(fill(file), file.Close())
}
