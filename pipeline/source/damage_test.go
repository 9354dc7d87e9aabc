package source

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// A part of a data set that somebody else made may have any footer: parquet-go panics on
// some. A part of which arrow-go cannot read every row is not read, as in a data set.
func TestDamagedFootersAreErrors(t *testing.T) {
	var out bytes.Buffer
	if err := parquet.Write(&out, []sink.Fetch{{Seq: 1, Host: "h.example"}}); err != nil {
		t.Fatal(err)
	}
	content := out.Bytes()
	end := len(content) - 8
	begin := end - int(binary.LittleEndian.Uint32(content[end:]))
	f, err := os.Create(filepath.Join(t.TempDir(), "part"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := sink.Part{Path: "part", Rows: 1}
	p.Bytes = int64(len(content))
	failed := 0
	for at := begin; at < end; at += 7 {
		damaged := bytes.Clone(content)
		damaged[at] ^= 1 << (at % 8) // each bit, as 7 and 8 have no common factor
		if _, err := f.WriteAt(damaged, 0); err != nil {
			t.Fatal(err)
		}
		groups, err := groupsOf(f, p)
		if err == nil {
			var whole *scan.File
			if whole, err = scan.Open(f); err == nil {
				err = whole.Batches(t.Context(), scan.Selection{}, func(arrow.RecordBatch) error { return nil })
			}
		}
		for _, g := range groups {
			if err == nil {
				_, err = rowsOf(g, p)
			}
		}
		if err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage is an error")
	}
}
