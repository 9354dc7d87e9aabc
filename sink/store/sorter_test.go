package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func scratchIn(t *testing.T, dir string) func() (*Scratch, error) {
	f, err := OpenFolder(dir)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return func() (*Scratch, error) { return f.Scratch(".") }
}

func TestSorterGivesBackEveryRecordInOrder(t *testing.T) {
	dir := t.TempDir()
	scratch := scratchIn(t, dir)
	rapid.Check(t, func(t *rapid.T) {
		s := &Sorter{Scratch: scratch, Memory: rapid.IntRange(1, 2000).Draw(t, "memory")}
		defer s.Close()
		records := rapid.MapOf(rapid.StringN(0, 20, -1), rapid.StringN(0, 60, -1)).Draw(t, "records")
		var want, got [][2]string
		for key, value := range records {
			want = append(want, [2]string{key, value})
			if err := s.Add([]byte(key), []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // a second reader begins anew, whatever the first has read
			m, err := s.Sorted()
			if err != nil {
				t.Fatal(err)
			}
			got = got[:0]
			for {
				key, value, err := m.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, [2]string{string(key), string(value)})
			}
		}
		slices.SortFunc(want, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v, %v", left, err)
	}
}

// Whatever byte of what is sorted on disk is another, and wherever it is cut
// short, is an error: nobody decodes it.
func TestSorterNoticesDamage(t *testing.T) {
	scratch := scratchIn(t, t.TempDir())
	// read gives back what is sorted after damage to its file of so many bytes.
	read := func(damage func(f *Scratch, size int64)) (records int, size int64, err error) {
		s := &Sorter{Scratch: scratch, Memory: 100}
		defer s.Close()
		for i := range 12 {
			if err := s.Add([]byte{byte(i)}, bytes.Repeat([]byte{byte(i)}, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		damage(s.file, s.end)
		m, err := s.Sorted()
		for err == nil {
			if _, _, err = m.Next(); err == nil {
				records++
			}
		}
		return records, s.end, err
	}
	records, size, err := read(func(*Scratch, int64) {})
	if records != 12 || err != io.EOF {
		t.Fatalf("without damage: %d records, %v", records, err)
	}
	for at := range size {
		for what, damage := range map[string]func(f *Scratch, size int64){
			"cut short": func(f *Scratch, size int64) { f.Truncate(at) },
			"a bit flipped": func(f *Scratch, size int64) {
				var one [1]byte
				f.ReadAt(one[:], at)
				one[0] ^= 1 << (at % 8)
				f.WriteAt(one[:], at)
			},
		} {
			if _, _, err := read(damage); !errors.Is(err, errDamagedSort) {
				t.Errorf("%s at byte %d of %d: %v", what, at, size, err)
			}
		}
	}
}
