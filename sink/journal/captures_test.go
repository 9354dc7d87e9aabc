package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/sink/store"
)

const (
	name   = "segment"
	digest = "d16e57" // of a plan
)

// folderOf returns an open folder, and its path.
func folderOf(t testing.TB) (*store.Folder, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := store.OpenFolder(dir)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// opened opens the file of captures until the test ends.
func opened(t testing.TB, s *store.Folder) *Captures {
	t.Helper()
	c, err := OpenCaptures(s, name, digest)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func captureOf(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i%50) }

// Wherever the file is cut or changed, the captures before that place are valid and
// no others.
func TestDamage_NoRace(t *testing.T) {
	s, dir := folderOf(t)
	c := opened(t, s)
	ends := []int64{0}
	for i := range 10 {
		must(t, c.Keep(i, captureOf(i)))
		ends = append(ends, c.end)
	}
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	must(t, err)
	for at := range content {
		flipped := bytes.Clone(content)
		flipped[at] ^= 0x10
		for what, damaged := range map[string][]byte{"cut": content[:at], "changed": flipped,
			"zeros": append(bytes.Clone(content[:at]), make([]byte, 40)...)} {
			want := 0
			for want < 10 && bytes.HasPrefix(damaged, content[:ends[want+1]]) {
				want++
			}
			must(t, os.WriteFile(path, damaged, 0o666))
			if n, err := countCaptures(bytes.NewReader(damaged), digest); err != nil || n != int64(want) {
				t.Fatalf("%s at byte %d of %d: counts %d captures, want %d: %v", what, at, len(content), n, want, err)
			}
			c := opened(t, s)
			if len(c.old) != want {
				t.Fatalf("%s at byte %d of %d: %d captures, want %d", what, at, len(content), len(c.old), want)
			}
			must(t, c.Keep(200, captureOf(200))) // overwrites the damage
			c.Close()
			again := opened(t, s)
			if got, err := again.Find(200); len(again.old) != want+1 || err != nil || !bytes.Equal(got, captureOf(200)) {
				t.Fatalf("%s at byte %d: then %d captures, and %q, %v", what, at, len(again.old), got, err)
			}
			again.Close()
		}
	}
}

// Captures of another plan are not found, and give way.
func TestOtherPlan(t *testing.T) {
	s, _ := folderOf(t)
	must(t, opened(t, s).Keep(1, captureOf(1)))
	later, err := OpenCaptures(s, name, "d16e58")
	must(t, err)
	defer later.Close()
	if got, err := later.Find(1); got != nil || err != nil {
		t.Errorf("another plan finds %q, %v", got, err)
	}
	must(t, later.Keep(2, captureOf(2)))
	if n, err := later.Sync(); n != 1 || err != nil {
		t.Errorf("%d captures, %v, want 1", n, err)
	}
	if n, err := opened(t, s).Sync(); n != 0 || err != nil {
		t.Errorf("the first plan has %d captures, %v, want none", n, err)
	}
}

// FuzzFile checks that the captures before the first damage are read, and stay the same when
// the file is read again and after captures are added.
func FuzzFile(f *testing.F) {
	s, dir := folderOf(f)
	c := opened(f, s)
	must(f, errors.Join(c.Keep(3, []byte("three")), c.Keep(1, nil), c.Keep(3, []byte("other"))))
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	must(f, err)
	f.Add(content)
	f.Add(content[:len(content)-2])
	f.Fuzz(func(t *testing.T, content []byte) {
		must(t, os.WriteFile(path, content, 0o666))
		all := func() map[uint32]string {
			c := opened(t, s)
			defer c.Close()
			out := make(map[uint32]string)
			for ordinal := range c.old {
				capture, err := c.Find(int(ordinal))
				must(t, err)
				out[ordinal] = string(capture)
			}
			return out
		}
		first := all()
		second := all()
		c := opened(t, s)
		must(t, c.Keep(9, []byte("nine")))
		c.Close()
		third := all()
		first[9], second[9] = "nine", "nine"
		if len(first) != len(second) || len(first) != len(third) {
			t.Fatalf("%v, then %v, and with another %v", first, second, third)
		}
		for ordinal, capture := range first {
			if second[ordinal] != capture || third[ordinal] != capture {
				t.Fatalf("%v, then %v, and with another %v", first, second, third)
			}
		}
	})
}
