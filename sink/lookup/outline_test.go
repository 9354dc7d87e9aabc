package lookup

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/robocensus/robocensus/sink/sinktest"
)

// footersOf returns the footers of all parts of a run.
func footersOf(t testing.TB, dir string) (footers [][]byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "run=r", "*.parquet"))
	must(t, err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		must(t, err)
		end := len(content) - tailBytes
		footers = append(footers, content[end-int(binary.LittleEndian.Uint32(content[end:])):end])
	}
	return footers
}

// decodedFilters returns what a decoder of the whole footer says of Bloom filters, by the
// path of the column.
func decodedFilters(footer []byte) (map[string][]filterAt, error) {
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, &m); err != nil {
		return nil, err
	}
	filters := make(map[string][]filterAt)
	for _, g := range m.RowGroups {
		for _, c := range g.Columns {
			path := strings.Join(c.MetaData.PathInSchema, ".")
			filters[path] = append(filters[path], filterAt{c.MetaData.BloomFilterOffset, int64(c.MetaData.BloomFilterLength)})
		}
	}
	return filters, nil
}

func rowsOf(t *testing.T, footer []byte) int64 {
	t.Helper()
	var m format.FileMetaData
	must(t, thrift.Unmarshal(new(thrift.CompactProtocol), footer, &m))
	return m.NumRows
}

// Who passes over a footer finds the filters that its decoder finds, and only of columns
// that are in no other.
func TestFiltersOfFooters(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 7000) // so that parts of policies have several row groups
	some, groups := 0, 0
	for _, footer := range footersOf(t, dir) {
		all, err := decodedFilters(footer)
		must(t, err)
		rows := rowsOf(t, footer)
		for path, want := range all {
			got, ok := filtersOf(footer, path, rows)
			if nested := strings.Contains(path, "."); ok == nested || !nested && !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v, want %v", path, got, ok, want)
			}
			if path == "host" && want[0].length > 0 {
				some++
				groups = max(groups, len(want))
			}
		}
		for _, none := range []string{"", "none", "url", "element"} {
			if _, ok := filtersOf(footer, none, rows); ok {
				t.Errorf("the column %q is found", none)
			}
		}
	}
	if some < 4 || groups < 2 {
		t.Errorf("%d parts have filters of hosts, one of %d row groups", some, groups)
	}
}

// Each byte of a footer that says how many row groups there are, and what they have, counts: a
// host in a row group that is not looked at would not be in the run.
func TestFootersThatLackRowGroups(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 7000)
	for _, footer := range footersOf(t, dir) {
		rows := rowsOf(t, footer)
		all, err := decodedFilters(footer)
		must(t, err)
		if _, ok := filtersOf(footer, "host", rows+1); ok {
			t.Error("a footer with a row too few is taken for whole")
		}
		if _, ok := filtersOf(append(footer[:len(footer):len(footer)], 0), "host", rows); ok {
			t.Error("a footer with a byte too many is taken for whole")
		}
		for i := range footer {
			for _, other := range []byte{0, 0x0c, 0x1c, footer[i] ^ 0x10, footer[i] ^ 0x80, footer[i] - 0x10} {
				damaged := bytes.Clone(footer)
				damaged[i] = other
				if got, ok := filtersOf(damaged, "host", rows); ok && len(got) != len(all["host"]) {
					t.Errorf("byte %d: %d row groups, want %d", i, len(got), len(all["host"]))
				}
			}
		}
	}
}

// A damaged footer, which may be a stranger's, is read as its decoder reads it, or not.
func TestFiltersOfDamagedFooters(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 40)
	random := rand.New(rand.NewPCG(5, 6))
	read := 0
	for _, footer := range footersOf(t, dir) {
		rows := rowsOf(t, footer)
		for n := range len(footer) {
			if _, ok := filtersOf(footer[:n], "host", rows); ok {
				t.Fatalf("%d of %d bytes are a footer", n, len(footer))
			}
		}
		for range 3000 {
			damaged := bytes.Clone(footer)
			for range 1 + random.IntN(2) {
				damaged[random.IntN(len(damaged))] = byte(random.Uint32())
			}
			got, ok := filtersOf(damaged, "host", rows)
			all, err := decodedFilters(damaged)
			if ok && err == nil && len(all["host"]) > len(got) {
				t.Errorf("%v, and there are %v", got, all["host"])
			}
			if !ok || err != nil || len(got) == 0 || len(all["host"]) != len(got) {
				continue
			}
			read++
			if want := all["host"]; want[0].at >= 0 && want[0].length >= 0 && !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	if read < 1000 {
		t.Errorf("%d damaged footers were read", read)
	}
	for _, hostile := range []string{
		strings.Repeat("\x1c", 10<<20), "\x29" + strings.Repeat("\x19", 10<<20), // structures, and lists, in others
		"\x49\xfc\xff\xff\xff\xff\x07", "\x29\xfc\xff\xff\xff\xff\x07", "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		if filters, ok := filtersOf([]byte(hostile), "host", 1<<40); ok {
			t.Errorf("%.8q… has %v", hostile, filters)
		}
	}
}

// Where a filter is not known, the rows are read.
func TestFiltersThatAreNotKnown(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	m := written(t, dir, 100)
	p := m.PartsOf("fetches")[0]
	name := filepath.Join(dir, filepath.FromSlash(p.Path))
	content, err := os.ReadFile(name)
	must(t, err)
	all, err := decodedFilters(footersOf(t, dir)[0])
	must(t, err)
	filter := all["host"][0]
	for _, c := range []struct {
		what  string
		plant func(filter []byte)
		want  string
	}{
		{"nothing", func([]byte) {}, "1, <nil>"},
		{"another kind of filter", func(b []byte) { b[bytes.IndexByte(b, 0x1c)] = 0x2c }, "1, <nil>"},
		{"another length", func(b []byte) { b[1] ^= 0x40 }, "1, <nil>"},
		{"no header", func(b []byte) { clear(b[:20]) }, "1, <nil>"},
		{"a filter of none", func(b []byte) { clear(b[20:]) }, "0, <nil>"},
	} {
		damaged := bytes.Clone(content)
		c.plant(damaged[filter.at:][:filter.length])
		must(t, os.WriteFile(name, damaged, 0o666))
		r := Open(sinktest.Open(t, dir), m)
		found, err := r.Targets(ctx, hostOf(1))
		if got := fmt.Sprintf("%d, %v", len(found), err); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		must(t, r.Close())
	}
}
