package store

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"

	"github.com/robocensus/robocensus/sink/store/internal/storetest"
)

// A process that ends while it writes a file which others write, too, leaves theirs.
func TestAnAbandonedFileOfOthersStays(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var removed atomic.Int64
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			fmt.Fprint(w, "<ListBucketResult></ListBucketResult>")
		case http.MethodDelete:
			removed.Add(1)
		default:
			cancel()
			<-r.Context().Done()
		}
	})
	s, err := Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := s.Create("rejected.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(); err == nil {
		t.Fatal("a write without an answer succeeds")
	}
	if f.Abandon(); removed.Load() != 0 {
		t.Error("Abandon removes the file")
	}
	if f.Discard(); removed.Load() != 1 {
		t.Errorf("Discard removes the file %d times", removed.Load())
	}

	dir := t.TempDir()
	folder, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if f, err = folder.Create("rejected.csv"); err != nil {
		t.Fatal(err)
	}
	f.Abandon()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("Abandon leaves %v", left)
	}
}
