package rowio_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// itemOf is the nth row of a target.
type itemOf struct {
	Seq int64 `parquet:"seq"`
	N   int64 `parquet:"n"`
}

// itemsOf writes a part with a row group for each list: of each number, so many rows of a target.
func itemsOf(t *testing.T, dir, name string, groups ...[][2]int64) journal.Part {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[itemOf](&out)
	p := journal.Part{Table: "items", Path: name}
	for _, group := range groups {
		for _, of := range group {
			for n := range of[1] {
				if _, err := w.Write([]itemOf{{of[0], n}}); err != nil {
					t.Fatal(err)
				}
				p.Rows++
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	p.Bytes, p.SHA256 = int64(out.Len()), hex.EncodeToString(sum[:])
	sinktest.Must(t, os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o666))
	return p
}

// The rows of a target come together, wherever batches, row groups and parts end.
func TestTargets(t *testing.T) {
	rowio.Overwrite = true
	defer func() { rowio.Overwrite = false }()
	dir, ctx := t.TempDir(), t.Context()
	in := sinktest.Open(t, dir)
	parts := []journal.Part{
		itemsOf(t, dir, "a.parquet", [][2]int64{{0, 1}, {3, 1500}, {4, 700}}, [][2]int64{{4, 5}, {9, 1}}),
		itemsOf(t, dir, "b.parquet", [][2]int64{{9, 2}, {12, 1}}),
	}
	want := "0:1 3:1500 4:705 9:3 12:1 "
	got := ""
	sinktest.Must(t, rowio.Targets(ctx, in, parts, rowio.Selection{}, func(seq int64, rows []itemOf) error {
		got += fmt.Sprintf("%d:%d ", seq, len(rows))
		for _, row := range rows {
			if row.Seq != seq {
				t.Errorf("a row of target %d among those of %d", row.Seq, seq)
			}
		}
		return nil
	}))
	if got != want {
		t.Errorf("targets %s, want %s", got, want)
	}
	runs := make(map[int64]int)
	sinktest.Must(t, rowio.Runs(ctx, in, parts, rowio.Selection{}, func(path string, seq int64, rows []itemOf) error {
		if runs[seq] += len(rows); path != "a.parquet" && seq < 9 {
			t.Errorf("target %d is in %s", seq, path)
		}
		return nil
	}))
	if runs[0] != 1 || runs[3] != 1500 || runs[4] != 705 || runs[9] != 3 || runs[12] != 1 {
		t.Errorf("runs of rows: %v", runs)
	}
	first := 0
	sinktest.Must(t, rowio.First(ctx, in, parts[1:], rowio.Selection{}, func(rows []itemOf) { first += len(rows) }))
	if first != 2 {
		t.Errorf("the first target has %d rows, want 2", first)
	}

	c := rowio.Follow[itemOf](ctx, in, parts, rowio.Selection{})
	defer c.Close()
	for _, x := range []struct{ seq, rows int64 }{{1, 0}, {3, 1500}, {5, 0}, {9, 3}} {
		rows, err := c.Of(x.seq)
		if err != nil || int64(len(rows)) != x.rows || slices.ContainsFunc(rows, func(row itemOf) bool {
			return row.Seq != x.seq
		}) {
			t.Errorf("of target %d there are %d rows, want %d: %v", x.seq, len(rows), x.rows, err)
		}
	}
	if row, seq, err := c.UpTo(11); row != nil || err != nil {
		t.Errorf("a row of target %d is up to 11: %v", seq, err)
	}
	if row, seq, err := c.UpTo(math.MaxInt64); err != nil || seq != 12 || row.Seq != 12 {
		t.Errorf("the last row is %v of target %d: %v", row, seq, err)
	}
	if row, err := c.Next(); err != io.EOF {
		t.Errorf("after the last row: %v, %v", row, err)
	}
	if row, _, err := c.UpTo(math.MaxInt64); row != nil || err != nil {
		t.Errorf("after the last row: %v, %v", row, err)
	}
}

// Rows that are out of order are damage of their part, and an error ends the reading unchanged.
func TestTargetsOutOfOrder(t *testing.T) {
	dir := t.TempDir()
	in := sinktest.Open(t, dir)
	p := itemsOf(t, dir, "a.parquet", [][2]int64{{5, 3}, {4, 1}})
	all := func(int64, []itemOf) error { return nil }
	err := rowio.Targets(t.Context(), in, []journal.Part{p}, rowio.Selection{}, all)
	if damaged, ok := errors.AsType[*rowio.PartError](err); !ok || damaged.Path != p.Path ||
		!strings.Contains(err.Error(), "seq 4 follows seq 5") {
		t.Errorf("rows out of order: %v", err)
	}
	enough := errors.New("enough")
	err = rowio.Runs(t.Context(), in, []journal.Part{p}, rowio.Selection{}, func(string, int64, []itemOf) error {
		return enough
	})
	if err != enough {
		t.Errorf("the error of the caller becomes %v", err)
	}
}

// A part that is not wanted is not read, and the error of who asks is returned as it is.
func TestPartsThatNobodyWants(t *testing.T) {
	dir := t.TempDir()
	in := sinktest.Open(t, dir)
	parts := []journal.Part{itemsOf(t, dir, "a.parquet", [][2]int64{{1, 2}}), itemsOf(t, dir, "b.parquet",
		[][2]int64{{2, 1}})}
	read := 0
	some := rowio.Selection{Part: func(p journal.Part, f *rowio.File) (bool, error) { return f.Rows() == 1, nil }}
	sinktest.Must(t, rowio.Of(t.Context(), in, parts, some, func(batch []itemOf) error { read += len(batch); return nil }))
	if read != 1 {
		t.Errorf("%d rows are read, want 1", read)
	}
	odd := errors.New("odd")
	some.Part = func(journal.Part, *rowio.File) (bool, error) { return true, odd }
	if err := rowio.Of(t.Context(), in, parts, some, func([]itemOf) error { return nil }); err != odd {
		t.Errorf("the error becomes %v", err)
	}
}
