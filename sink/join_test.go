package sink

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// partsOf writes five segments, and returns their store and the parts of each table.
func partsOf(t *testing.T) (dir string, s store.Store, parts map[string][]journal.Part) {
	t.Helper()
	run, dir := newRun(t)
	parts = make(map[string][]journal.Part)
	for index := range 5 {
		commitSegment(t, run, index)
	}
	finish(t, run)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "test")
	must(t, err)
	for _, p := range m.Parts {
		parts[p.Table] = append(parts[p.Table], p)
	}
	s, err = store.Open(t.Context(), dir)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return dir, s, parts
}

// contentsOf returns the rows of a file as text, and its metadata.
func contentsOf(t *testing.T, content []byte) (f *parquet.File, rows []string, metadata string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	for _, group := range f.RowGroups() {
		in := group.Rows()
		buffer := make([]parquet.Row, 10)
		for {
			n, err := in.ReadRows(buffer)
			for _, row := range buffer[:n] {
				rows = append(rows, fmt.Sprintf("%+v", row))
			}
			if err == io.EOF {
				break
			}
			must(t, err)
		}
		must(t, in.Close())
	}
	var pairs []string
	for _, pair := range f.Metadata().KeyValueMetadata {
		pairs = append(pairs, pair.Key+"="+pair.Value)
	}
	slices.Sort(pairs)
	return f, rows, f.Metadata().CreatedBy + " " + strings.Join(pairs, " ")
}

// Parts of few rows become one row group with all rows and the metadata of the first.
// Row groups of fetches, and large ones, stay.
func TestJoinParts_NoRace(t *testing.T) {
	dir, from, parts := partsOf(t)
	for table, parts := range parts {
		if len(parts) == 1 {
			continue
		}
		var want []string
		metadata := ""
		for i, p := range parts {
			content, err := os.ReadFile(filepath.Join(dir, p.Path))
			must(t, err)
			_, rows, said := contentsOf(t, content)
			want = append(want, rows...)
			if i == 0 {
				metadata = said
			}
		}
		join := func(parts []journal.Part) *parquet.File {
			var out, again bytes.Buffer
			must(t, joinParts(t.Context(), &out, from, parts))
			must(t, joinParts(t.Context(), &again, from, parts))
			if !bytes.Equal(out.Bytes(), again.Bytes()) {
				t.Errorf("%s: joined again, the bytes are others", table)
			}
			f, rows, said := contentsOf(t, out.Bytes())
			if len(parts) > 1 && (!slices.Equal(rows, want) || said != metadata) {
				t.Errorf("%s: %d rows, want %d; metadata %q, want %q", table, len(rows), len(want), said, metadata)
			}
			return f
		}
		groups := 1
		if table == "fetches" || table == "bodies" {
			groups = len(parts)
		}
		f := join(parts)
		if got := len(f.RowGroups()); got != groups {
			t.Errorf("%s: %d row groups, want %d", table, got, groups)
		}
		if host, ok := f.Schema().Lookup("host"); ok &&
			f.RowGroups()[0].ColumnChunks()[host.ColumnIndex].BloomFilter() == nil {
			t.Errorf("%s: no Bloom filter", table)
		}
		join(parts[:1])
		if table == "bodies" {
			continue
		}
		lying := slices.Clone(parts)
		lying[2].Rows++
		if err := joinParts(t.Context(), io.Discard, from, lying); table != "fetches" && err == nil {
			t.Errorf("%s: a part lacks a row that its record has", table)
		}
		for i := range lying {
			lying[i].Rows = fewRows + 1
		}
		var out bytes.Buffer
		must(t, joinParts(t.Context(), &out, from, lying))
		if f, _, _ := contentsOf(t, out.Bytes()); len(f.RowGroups()) != len(parts) {
			t.Errorf("%s: of large parts come %d row groups", table, len(f.RowGroups()))
		}
	}
}

// Rows come over as they are, whatever those before them had.
func TestJoinManyRows_NoRace(t *testing.T) {
	run, dir := newRun(t)
	var want []schema.Policy
	for index := range 2 {
		s, err := run.Segment(index)
		must(t, err)
		var rows []schema.Policy
		for i := range 700 {
			p := schema.Policy{Seq: int64(i), Host: fmt.Sprint("h", i), Class: "partial"}
			if i%300 < 100+index {
				rank, line := int64(i), int32(i)
				p.Rank, p.GroupLine, p.GroupAgent = &rank, &line, &p.Host
			}
			rows = append(rows, p)
		}
		must(t, s.Policies.Write(rows...))
		must(t, s.Commit())
		want = append(want, rows...)
	}
	must(t, completeRun(run, Completion{Finished: time.Now()}))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "test")
	must(t, err)
	from, err := store.Open(t.Context(), dir)
	must(t, err)
	defer from.Close()
	var out bytes.Buffer
	must(t, joinParts(t.Context(), &out, from, m.PartsOf("policies")))
	got, err := parquet.Read[schema.Policy](bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%.2000s", diff)
	}
	lying := m.PartsOf("policies")
	lying[0].Rows--
	if err := joinParts(t.Context(), io.Discard, from, lying); err == nil {
		t.Error("a part has a row more than its record")
	}
}

// A part with a column that the table lacks is of another program, and would lose it.
func TestPartsWithOtherColumnsAreNotJoined(t *testing.T) {
	type later struct {
		Seq  int64  `parquet:"seq"`
		Mood string `parquet:"mood"`
	}
	name := filepath.Join(t.TempDir(), "part")
	must(t, parquet.WriteFile(name, []later{{1, "good"}}))
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	p := journal.Part{Table: "sitemaps", Rows: 1, Digest: store.Digest{Bytes: info.Size()}}
	_, err = copyRows[schema.Sitemap](t.Context(), nil, io.Discard, f, p)
	if err == nil || !strings.Contains(err.Error(), `"mood"`) {
		t.Error(err)
	}
}
