package sink

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
)

// The size of a part is a cheap check that it is whole: at completion, and if a
// complete run is to be resumed.
func TestSizesOfCommittedParts_NoRace(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	defer run.Close()
	commitSegment(t, run, 0)
	part := filepath.Join(dir, layout.Part("rules", "r", 0, ""))
	good, err := os.ReadFile(part)
	must(t, err)
	must(t, os.WriteFile(part, good[:len(good)-1], 0o666))
	c := Completion{Finished: time.Now(), Tally: journal.Tally{Targets: targetsOfSegment}, Inputs: described().Inputs}
	if err := completeRun(run, c); err == nil || !strings.Contains(err.Error(),
		"part-0000000000.parquet is damaged: it has") {
		t.Fatalf("a part of another size is completed: %v", err)
	}
	must(t, os.WriteFile(part, good, 0o666))
	must(t, completeRun(run, c))
	must(t, run.Close())
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, ErrRunComplete) {
		t.Errorf("a complete run: %v", err)
	}
	must(t, os.WriteFile(part, append(good, 0), 0o666))
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, journal.ErrNotResumable) ||
		!strings.Contains(err.Error(), "part-0000000000.parquet is damaged: it has") {
		t.Errorf("a part of a complete run has another size: %v", err)
	}
}
