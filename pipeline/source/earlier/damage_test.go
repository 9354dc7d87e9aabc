package earlier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
)

// A part of a data set that somebody else made may have any footer: parquet-go panics on
// some. A part of which arrow-go cannot read every row is not read, as in a data set.
func TestDamagedFootersAreErrors_NoRace(t *testing.T) {
	var out bytes.Buffer
	if err := parquet.Write(&out, []schema.Fetch{{Seq: 1, Host: "h.example"}}); err != nil {
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
	p := journal.Part{Path: "part", Rows: 1}
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

// A failing disk, or too few descriptors, says nothing about the input.
func TestInputError(t *testing.T) {
	failed := fmt.Errorf("read part: %w", &fs.PathError{Op: "read", Path: "part", Err: syscall.EIO})
	for err, isInput := range map[error]bool{
		errors.New("dict eof exception"): true, &userfile.Error{Path: "b", Err: errors.New("x")}: true, failed: false,
	} {
		var input *userfile.Error
		if got := inputError("a", err); errors.As(got, &input) != isInput || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
