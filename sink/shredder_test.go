package sink

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

func shredded[T any](t interface{ Fatal(...any) }, spare *sync.Pool, batches ...[]T) *parquet.File {
	var out bytes.Buffer
	s, err := newShredder[T](&out, spare, withoutBounds[T]())
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range batches {
		if err := s.write(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.file.Close(); err != nil {
		t.Fatal(err)
	}
	s.release()
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func rowsOf[T any](t interface{ Fatal(...any) }, f *parquet.File) []T {
	rows := make([]T, f.NumRows())
	if len(rows) == 0 {
		return nil
	}
	if n, err := parquet.NewGenericReader[T](f).Read(rows); n != len(rows) {
		t.Fatal(n, err)
	}
	return rows
}

// What is taken apart by column comes back as it was, whatever the runs of
// nulls and of equal texts, and whatever was in the memory that is used again.
func TestShreddedRowsComeBack(t *testing.T) {
	var spare sync.Pool
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]string{"", "a", "b", "/x", "/a longer one", strings.Repeat("long", 100)})
		optional := rapid.Ptr(some, true)
		row := rapid.Custom(func(t *rapid.T) Verdict {
			return Verdict{
				Seq: rapid.Int64().Draw(t, "seq"), Host: some.Draw(t, "host"), Rank: rapid.Ptr(rapid.Int64(), true).Draw(t, "rank"),
				Agent: some.Draw(t, "agent"), URL: rapid.String().Draw(t, "url"), GroupAgent: optional.Draw(t, "group_agent"),
				RuleKind: optional.Draw(t, "rule_kind"), RuleLine: rapid.Ptr(rapid.Int32(), true).Draw(t, "rule_line"),
			}
		})
		var all []Verdict
		var batches [][]Verdict
		for range rapid.IntRange(0, 4).Draw(t, "batches") {
			few := rapid.SliceOfN(row, 1, 8).Draw(t, "rows")
			var batch []Verdict
			for _, r := range few {
				for range rapid.SampledFrom([]int{1, 1, 2, 63, 64, batchRows}).Draw(t, "times") {
					batch = append(batch, r)
				}
			}
			batches, all = append(batches, batch), append(all, batch...)
		}
		if diff := cmp.Diff(all, rowsOf[Verdict](t, shredded(t, &spare, batches...))); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

// Nothing of a row is kept once it is written: its texts may lie in memory
// that the next target's overwrite.
func TestShredderKeepsNoTexts(t *testing.T) {
	var out bytes.Buffer
	s, err := newShredder[Rule](&out, new(sync.Pool), nil)
	must(t, err)
	memory := []byte("/first")
	must(t, s.write([]Rule{{Pattern: Text(memory)}}))
	copy(memory, "/other")
	must(t, s.write([]Rule{{Pattern: Text(memory)}, {Pattern: "/first"}}))
	must(t, s.file.Close())
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	var got []string
	for _, r := range rowsOf[Rule](t, f) {
		got = append(got, r.Pattern)
	}
	if diff := cmp.Diff([]string{"/first", "/other", "/first"}, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// A row group ends before its dictionary outgrows memory.
func TestShredderBoundsDictionaries(t *testing.T) {
	if testing.Short() {
		t.Skip("two dictionaries of the largest size, which are slow under the race detector")
	}
	pad := strings.Repeat("x", 1<<20)
	var rows []Rule
	for i := range 2*dictionaryBytes>>20 + 1 {
		rows = append(rows, Rule{Line: int32(i), Pattern: fmt.Sprint(i, pad)})
	}
	var batches [][]Rule
	for i := range rows {
		batches = append(batches, rows[i:i+1])
	}
	f := shredded(t, new(sync.Pool), batches...)
	if n := len(f.RowGroups()); n != 3 {
		t.Errorf("%d row groups, want 3", n)
	}
	for i, r := range rowsOf[Rule](t, f) {
		if r != rows[i] {
			t.Fatalf("row %d is not what was written", i)
		}
	}
}
