package rowio_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A part that is opened is read from its beginning, as those who copy it need.
func TestOpenPartIsAtItsBeginning(t *testing.T) {
	content, err := schema.EmptyPart("verdicts")
	if err != nil {
		t.Fatal(err)
	}
	dir, sum := t.TempDir(), sha256.Sum256(content)
	p := journal.Part{Table: "verdicts", Path: "part.parquet"}
	p.Bytes, p.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
	if err := os.WriteFile(filepath.Join(dir, p.Path), content, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := rowio.OpenPart(t.Context(), sinktest.Open(t, dir), p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f.Raw); err != nil || len(got) != len(content) {
		t.Errorf("%d bytes of %d are read: %v", len(got), len(content), err)
	}
}
