package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink"
)

// A file that exceeds the limit is cut, and its row says so.
func TestBodiesAreCutAtTheLimit(t *testing.T) {
	dir := t.TempDir()
	rules := "User-agent: *\n"
	for name, body := range map[string]string{"a.example": rules, "b.example": rules + "#"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666))
	}
	c := newConfig(t, nil, "")
	c.Source, c.Fetch.MaxBody = source.Config{Schemes: []string{"http"}, Bodies: dir}, len(rules)
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	for _, row := range rowsOf[sink.Fetch](t, c, "fetches") {
		if cut := row.Host == "b.example"; row.BodyTruncated != cut || *row.BodyBytes != int64(len(rules)) {
			t.Errorf("%s: %d bytes, truncated %v", row.Host, *row.BodyBytes, row.BodyTruncated)
		}
	}
}
