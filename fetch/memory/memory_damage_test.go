package memory

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

func TestDamagedRecords(t *testing.T) {
	m := openMemory(t, t.TempDir())
	o := host(1)
	keepIn(t, m, whole(o, day, "a"))
	sound, err := m.get(recordKey(o))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(f func([]byte) []byte) []byte { return f(bytes.Clone(sound)) }
	for _, row := range []struct {
		name, says string
		value      []byte
	}{
		{"empty", "is damaged", nil},
		{"cut in the digests", "is damaged", sound[:40]},
		{"cut in the rest", "is damaged", sound[:len(sound)-1]},
		{"more behind it", "is damaged", append(bytes.Clone(sound), '{')},
		{"version 0", "is damaged", changed(func(b []byte) []byte { b[0] = 0; return b })},
		{"another format", fmt.Sprintf("has format %d", recordVersion+1), changed(func(b []byte) []byte {
			b[0] = recordVersion + 1
			return b
		})},
		{"another origin", "is damaged", bytes.Replace(sound, []byte(o.Host), []byte("Host-1.example"), 1)},
		{"a copy without its digest", "is damaged", changed(func(b []byte) []byte { clear(b[33:65]); return b })},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := m.db.Set(recordKey(o), row.value, pebble.Sync); err != nil {
				t.Fatal(err)
			}
			_, err := m.recall(o)
			for _, want := range []string{row.says, m.dir, o.String(), "--state"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("recalled: %v, want %q in it", err, want)
				}
			}
			if err := m.keep("r", whole(o, day, "b")); err == nil {
				t.Error("an unreadable record was overwritten")
			}
			if value, err := m.get(recordKey(o)); err != nil || !bytes.Equal(value, row.value) {
				t.Errorf("the record became %q, %v", value, err)
			}
		})
	}
	// A sweep cannot know which bodies a damaged record names.
	if err := m.db.Set(recordKey(o), sound[:40], pebble.Sync); err != nil {
		t.Fatal(err)
	}
	m.superseded.Store(minSuperseded)
	if err := m.storeCounts(); err != nil {
		t.Fatal(err)
	}
	closeMemory(t, m)
	if _, err := Open(m.dir); err == nil || !strings.Contains(err.Error(), o.String()) {
		t.Errorf("opened for a sweep: %v", err)
	}
}

// The facts of another format are not those that profiles need now: the run
// ends before its first request.
func TestAnotherFormatIsRefused(t *testing.T) {
	for _, version := range []byte{1, 2, 3, recordVersion + 1} {
		m := openMemory(t, t.TempDir())
		keepIn(t, m, whole(host(1), day, "a"))
		value, err := m.get(recordKey(host(1)))
		if err != nil {
			t.Fatal(err)
		}
		value[0] = version
		if err := m.db.Set(recordKey(host(1)), value, pebble.Sync); err != nil {
			t.Fatal(err)
		}
		closeMemory(t, m)
		_, err = Open(m.dir)
		for _, want := range []string{m.dir, fmt.Sprintf("has format %d", version), "--state"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("format %d: %v, want %q in it", version, err, want)
			}
		}
	}
}

// A read that finds bytes changed on disk returns an error, never another
// answer.
func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	m := openMemory(t, dir)
	const n = 3000
	for i := range n {
		b := m.db.NewBatch()
		r := (&record{}).followed("r", whole(host(i), day, fmt.Sprint("body ", i)))
		value, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		b.Set(recordKey(host(i)), value, nil)
		if err := m.account(b, &record{}, r, fmt.Append(nil, "body ", i)); err != nil {
			t.Fatal(err)
		}
		if err := m.commit(b, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	// All in one table at the bottom level, which pebble has no reason to
	// rewrite. A rewrite would find the damage first and end the memory.
	if err := m.db.Compact(t.Context(), []byte{0}, []byte{0xff}, false); err != nil {
		t.Fatal(err)
	}
	closeMemory(t, m)
	tables, err := filepath.Glob(filepath.Join(dir, "answers", "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	data, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)*3/4] ^= 0x10 // records come last
	if err := os.WriteFile(tables[0], data, 0o666); err != nil {
		t.Fatal(err)
	}
	m = openMemory(t, dir)
	failed := 0
	for i := range n {
		p, err := m.recall(host(i))
		switch {
		case err == nil && p.Last == nil:
			t.Errorf("host %d is forgotten", i)
		case err == nil:
			checkLast(t, m, "r", whole(host(i), day, fmt.Sprint("body ", i)))
		case !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n"):
			t.Error(err)
		default:
			failed++
		}
	}
	if failed == 0 || failed == n {
		t.Errorf("%d of %d records could not be read", failed, n)
	}
	closeMemory(t, m)
}

// A body is never taken for another, whatever happened to the folder.
func TestADamagedBodyIsNotTaken(t *testing.T) {
	m := openMemory(t, t.TempDir())
	defer closeMemory(t, m)
	o := host(1)
	keepIn(t, m, whole(o, day, "User-agent: *\n"))
	digest := *recall(t, m, o).LastBody
	if err := m.db.Set(key(bodyPrefix, digest[:]), []byte("User-agent: *\nDisallow: /\n"), nil); err != nil {
		t.Fatal(err)
	}
	if body, err := m.body(digest); err == nil {
		t.Errorf("took %q", body)
	}
}
