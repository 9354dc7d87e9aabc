package sink

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

func TestChangesReplaceAnEarlierComparisonAsAWhole(t *testing.T) {
	dir := t.TempDir()
	m := &journal.Manifest{Plan: journal.Plan{Run: "b", ConfigurationDigest: "c"}}
	part := filepath.Join(dir, "changes", "run=b", "against=a", "part-0000000000.parquet")
	begin := func(hosts ...string) *Changes {
		t.Helper()
		c, err := CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range hosts {
			if err := c.Write(schema.Change{Host: host, Kind: "text", Severity: "cosmetic", Before: new("x"),
				LineAfter: new(int32(3))}); err != nil {
				t.Fatal(err)
			}
		}
		return c
	}
	hosts := func() (out []string) {
		t.Helper()
		rows, err := parquet.ReadFile[schema.Change](part)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			out = append(out, r.Host)
		}
		return out
	}

	first := begin("one", "two")
	if _, err := CreateChanges(sinktest.Open(t, dir), m, "a", "v1"); !errors.Is(err, ErrRunBusy) {
		t.Errorf("a second comparison at the same time: %v", err)
	}
	if _, err := os.Stat(part); err == nil {
		t.Error("the part is there before it is committed")
	}
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	begin("three").Abort()
	if diff := cmp.Diff([]string{"one", "two"}, hosts()); diff != "" {
		t.Errorf("after one that was given up: %s", diff)
	}
	// The next comparison removes what a killed one left.
	for _, name := range []string{"sort-1.tmp", "expectations-1.tmp", "part-0000000000.parquet.tmp", "lock"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(part), name), []byte("left"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := begin("four").Commit(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"four"}, hosts()); diff != "" {
		t.Error(diff)
	}
	if files, err := os.ReadDir(filepath.Dir(part)); err != nil || len(files) != 1 {
		t.Errorf("left in the folder: %v, %v", files, err)
	}

	r, err := file.OpenParquetFile(part, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for key, want := range map[string]string{layout.KeyRun: "b", "robocensus.against": "a", layout.KeyConfiguration: "c",
		layout.KeySchema: "2", "robocensus.tool_version": "v1"} {
		if got := r.MetaData().KeyValueMetadata().FindValue(key); got == nil || *got != want {
			t.Errorf("metadata %s is %v, want %s", key, got, want)
		}
	}
	m.Run = "../b"
	if _, err := CreateChanges(sinktest.Open(t, dir), m, "a", "v1"); err == nil {
		t.Error("a run ID that leaves the folder is taken")
	}
	m.Run = "c"
	c, err := CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
	if err != nil {
		t.Fatal(err)
	}
	c.Abort()
	if _, err := os.Stat(filepath.Join(dir, "changes", "run=c")); err == nil {
		t.Error("a comparison that was given up leaves its folder")
	}
}
