package earlier

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A part of a data set that somebody else made may have any footer: parquet-go panics on
// some. A part of which not every row can be read is an error.
func TestDamagedFootersAreErrors_NoRace(t *testing.T) {
	in := sinktest.Open(t, t.TempDir())
	p := partOf(t, in.Path(""), "fetches", 0, 10, []schema.Fetch{{Seq: 1, Host: "h.example"}})
	name := filepath.Join(in.Path(""), p.Path)
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	end := len(content) - 8
	begin := end - int(binary.LittleEndian.Uint32(content[end:]))
	failed := 0
	for at := begin; at < end; at += 7 {
		damaged := bytes.Clone(content)
		damaged[at] ^= 1 << (at % 8) // each bit, as 7 and 8 have no common factor
		sum := sha256.Sum256(damaged)
		p.SHA256 = hex.EncodeToString(sum[:])
		if err := os.WriteFile(name, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		rows := 0
		err := eachGroup(t.Context(), in, []journal.Part{p}, func(group []schema.Fetch) error {
			rows += len(group)
			return nil
		})
		if err != nil {
			failed++
		} else if rows != 1 {
			t.Errorf("byte %d: %d rows, and no error", at, rows)
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
