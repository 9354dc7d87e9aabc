// Package sinktest has what the tests of sources and tables share.
//
//   - sinktest.go: opens output folders, and seals documents
//   - files.go: files that sources read, and rows of parts
//   - servers.go: trust in the servers of httptest
//   - userfile.go: checks errors in users' files
package sinktest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/robocensus/robocensus/sink/store"
)

// T is a test, a benchmark, or a check of package rapid.
type T interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// Open opens an output folder for the length of a test.
func Open(t T, dir string) store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Sealed returns the file of a plan, record or manifest, and its digest, which stands at
// its end and covers the file with zeros in its place.
func Sealed(t T, object any) (content []byte, digest string) {
	t.Helper()
	text, err := json.MarshalIndent(object, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = ",\n \"sha256\": \"", "\"\n}\n"
	text = bytes.TrimSuffix(text, []byte("\n}"))
	sum := sha256.Sum256([]byte(string(text) + begin + strings.Repeat("0", 64) + end))
	digest = hex.EncodeToString(sum[:])
	return []byte(string(text) + begin + digest + end), digest
}
