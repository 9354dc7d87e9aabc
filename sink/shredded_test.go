package sink

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/robocensus/robocensus/sink/internal/shred"
	"github.com/robocensus/robocensus/sink/schema"
)

// The tables that a run fills are shredded by shred, not by parquet-go, which is
// slower. bodies has one large value per row, so it makes no difference there.
func TestTablesAreShredded(t *testing.T) {
	isShredded[schema.Fetch](t)
	isShredded[schema.Group](t)
	isShredded[schema.Rule](t)
	isShredded[schema.Sitemap](t)
	isShredded[schema.Line](t)
	isShredded[schema.Signal](t)
	isShredded[schema.Agent](t)
	isShredded[schema.Policy](t)
	isShredded[schema.Verdict](t)
	isShredded[schema.Count](t)
	isShredded[schema.Example](t)
}

func isShredded[T any](t *testing.T) {
	t.Helper()
	w, err := shred.New[T](io.Discard, new(sync.Pool))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	if err := w.WriteEach(nil, shred.Column{Name: "none"}); !strings.Contains(err.Error(), "no column none") {
		t.Errorf("%T: %v", *new(T), err)
	}
}
