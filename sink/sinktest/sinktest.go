// Package sinktest helps the tests of packages that read output folders.
package sinktest

import (
	"context"

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
