package sinktest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/store"
)

// Must ends the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WriteFile writes a temporary file and returns its path.
func WriteFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	Must(t, os.WriteFile(path, content, 0o666))
	return path
}

// Scratch returns a function that creates scratch files in a folder.
func Scratch(t testing.TB, dir string) func() (*store.Scratch, error) {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	Must(t, err)
	t.Cleanup(func() { s.Close() })
	return func() (*store.Scratch, error) { return s.Scratch(".") }
}

// Rows reads a table of a run of one segment.
func Rows[T any](t testing.TB, dir, run, table string) []T {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, table, "run="+run, "part-*.parquet"))
	if Must(t, err); len(parts) == 0 {
		t.Fatalf("run %s has no part of %s", run, table)
	}
	var rows []T
	for _, part := range parts {
		rows = append(rows, RowsOf[T](t, part)...)
	}
	return rows
}

// RowsOf reads a part.
func RowsOf[T any](t testing.TB, path string) []T {
	t.Helper()
	rows, err := parquet.ReadFile[T](path)
	Must(t, err)
	return rows
}

// Record returns the text of a WARC record: the fields behind its version line,
// without the length, and its block.
func Record(fields, block string) string {
	return fmt.Sprintf("WARC/1.0\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", fields, len(block), block)
}

// ResponseFields returns the fields of a response for a host's robots.txt.
func ResponseFields(host string) string {
	return "WARC-Type: response\r\nWARC-Date: 2026-01-10T06:00:00Z\r\nWARC-Target-URI: https://" + host + "/robots.txt\r\n"
}

// Response returns the record of a host's answer.
func Response(host, answer string) string { return Record(ResponseFields(host), answer) }

var (
	gzipping sync.Mutex
	gzipped  = gzip.NewWriter(nil) // takes a megabyte, and tests compress thousands of records
)

// Gzip compresses a text.
func Gzip(s string) []byte {
	gzipping.Lock()
	defer gzipping.Unlock()
	var out bytes.Buffer
	w := gzipped
	w.Reset(&out)
	w.Write([]byte(s))
	w.Close()
	return out.Bytes()
}

var zstdEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))

// Zstd compresses a text.
func Zstd(s string) []byte { return zstdEncoder.EncodeAll([]byte(s), nil) }
