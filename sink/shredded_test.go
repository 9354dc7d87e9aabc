package sink

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/robocensus/robocensus/sink/internal/shred"
)

// The tables that a run fills are shredded by shred, not by parquet-go, which is
// slower. bodies has one large value per row, so it makes no difference there.
func TestTablesAreShredded(t *testing.T) {
	isShredded[Fetch](t)
	isShredded[Group](t)
	isShredded[Rule](t)
	isShredded[Sitemap](t)
	isShredded[Line](t)
	isShredded[Signal](t)
	isShredded[Agent](t)
	isShredded[Policy](t)
	isShredded[Verdict](t)
	isShredded[Count](t)
	isShredded[Example](t)
}

func isShredded[T any](t *testing.T) {
	t.Helper()
	w, err := shred.New[T](io.Discard, new(sync.Pool))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	if err := w.WriteEach("none", nil, nil); !strings.Contains(err.Error(), "no column none") {
		t.Errorf("%T: %v", *new(T), err)
	}
}
