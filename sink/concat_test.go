package sink

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/internal/shred"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest/oracle"
)

// partFiles yields contents under the names part 0, part 1 and so on.
func partFiles(contents ...[]byte) iter.Seq2[namedFile, error] {
	return func(yield func(namedFile, error) bool) {
		for i, content := range contents {
			if !yield(namedFile{Name: fmt.Sprint("part ", i), ReaderAt: bytes.NewReader(content), Size: int64(len(content))},
				nil) {
				return
			}
		}
	}
}

func concatenated(t testing.TB, contents ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, concatenate(&out, partFiles(contents...)))
	return out.Bytes()
}

func openParquet(t testing.TB, content []byte) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	return f
}

var keep = flag.String("keep", "", "folder for the files of TestConcatenatedRows_NoRace: of each table its parts "+
	"and what they become")

var (
	made     sync.Once
	theParts map[string][][]byte
)

// tableParts returns the parts of all tables of a run, by table. Of segment 0, verdicts has
// two row groups; segment 2 has no rows.
func tableParts(t testing.TB) map[string][][]byte {
	t.Helper()
	made.Do(func() { theParts = makeParts(t) })
	return theParts
}

func makeParts(t testing.TB) map[string][][]byte {
	t.Helper()
	dir := t.TempDir()
	run, err := Create(dir, journal.Plan{Run: "r", ToolVersion: "v1", Tables: schema.TableNames, Profiles: []string{
		"google"}})
	must(t, err)
	defer run.Close()
	parts := make(map[string][][]byte)
	for segment, hosts := range []int{shred.RowGroup/1000 + 2, 40, 0, 3} {
		s, err := run.Segment(segment)
		must(t, err)
		for host := range hosts {
			writeHost(t, s, fmt.Sprintf("h%d.s%d.example", host, segment), int64(1000*segment+host))
		}
		must(t, s.Commit())
		for _, table := range schema.TableNames {
			if layout.HasPart(table, segment) {
				content, err := os.ReadFile(filepath.Join(dir, layout.SegmentPart(table, "r", segment, "")))
				must(t, err)
				parts[table] = append(parts[table], content)
			}
		}
	}
	return parts
}

// writeHost writes rows of a host to all tables, with nulls and empty lists.
func writeHost(t testing.TB, s *Segment, host string, seq int64) {
	some, origin := seq%3 == 0, "https://"+host
	maybe := func(text string) *string {
		if some {
			return nil
		}
		return &text
	}
	status := int32(200)
	hops := []schema.Hop{{URL: origin, Status: &status}, {URL: origin + "/x"}, {URL: ""}}
	verdicts := make([]schema.Verdict, 1000)
	for i := range verdicts {
		verdicts[i] = schema.Verdict{Seq: seq, Host: host, Rank: &seq, Origin: origin, Agent: "GPTBot",
			URL: fmt.Sprint("/", i%77), Verdict: "allow", RulePattern: maybe("/"), RuleLine: &status}
	}
	must(t, errors.Join(
		s.Fetches.Write(schema.Fetch{Seq: seq, Host: host, Origin: origin, FetchTime: time.UnixMicro(seq),
			Hops: hops[:seq%4], TLD: maybe("example"), Status: &status}),
		s.Groups.Write(schema.Group{Seq: seq, Host: host, Agents: []string{"A", "", host}[:seq%4], AgentLines: []int32{
			1, 2, 3}[:seq%4]}, schema.Group{Seq: seq, Host: host}),
		s.Rules.Write(schema.Rule{Seq: seq, Host: host, Line: 3, Kind: "allow", Pattern: "/", Effective: some}),
		s.Lines.Write(schema.Line{Seq: seq, Host: host, Field: maybe(strings.Repeat("x", int(seq))), Value: host}),
		s.Policies.Write(schema.Policy{Seq: seq, Host: host, Class: "partial"}),
		s.Verdicts.Write(verdicts...),
		s.Agents.Write(schema.Agent{Name: host, Tokens: []string{host, "b"}, FallsBackTo: []string{}}),
		s.Summary.Write(schema.Count{Metric: "m", Stratum: host, Count: seq}),
		s.Bodies.Write(schema.Body{ContentDigest: host, Body: bytes.Repeat([]byte{byte(seq)}, int(seq))}),
	))
	s.Targets++
}

// rowsOf reads all rows with parquet-go.
func rowsOf(t testing.TB, content []byte) (rows []parquet.Row) {
	t.Helper()
	for _, g := range openParquet(t, content).RowGroups() {
		r := g.Rows()
		buffer := make([]parquet.Row, 500)
		for {
			n, err := r.ReadRows(buffer)
			for _, row := range buffer[:n] {
				rows = append(rows, row.Clone())
			}
			if err == io.EOF {
				break
			}
			must(t, err)
		}
		must(t, r.Close())
	}
	return rows
}

// arrowRows reads all rows with arrow-go, as text.
func arrowRows(t testing.TB, content []byte) (rows []string) {
	t.Helper()
	oracle.Arrow(t, content, func(batch arrow.RecordBatch) {
		for i := range int(batch.NumRows()) {
			var row strings.Builder
			for _, c := range batch.Columns() {
				row.WriteString(c.ValueStr(i))
				row.WriteByte('\t')
			}
			rows = append(rows, row.String())
		}
	})
	return rows
}

func equalRows(a, b parquet.Row) bool {
	return slices.EqualFunc(a, b, func(a, b parquet.Value) bool {
		return parquet.DeepEqual(a, b)
	})
}

// The output has the rows of all parts in their order, for parquet-go and for
// arrow-go, and their row groups.
func TestConcatenatedRows_NoRace(t *testing.T) {
	for table, parts := range tableParts(t) {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			out := concatenated(t, parts...)
			if *keep != "" {
				must(t, os.WriteFile(filepath.Join(*keep, table+".parquet"), out, 0o666))
				for i, part := range parts {
					must(t, os.WriteFile(filepath.Join(*keep, fmt.Sprintf("%s-%d.parquet", table, i)), part, 0o666))
				}
				return // DuckDB compares them
			}
			var want []parquet.Row
			var wantText []string
			groups, bytes := 0, 0
			for _, part := range parts {
				want = append(want, rowsOf(t, part)...)
				wantText = append(wantText, arrowRows(t, part)...)
				groups, bytes = groups+len(openParquet(t, part).RowGroups()), bytes+len(part)
			}
			if got := rowsOf(t, out); !slices.EqualFunc(want, got, equalRows) {
				t.Errorf("parquet-go reads other rows: %d, want %d", len(got), len(want))
			}
			if got := arrowRows(t, out); !slices.Equal(wantText, got) {
				t.Errorf("arrow-go reads other rows: %d, want %d", len(got), len(wantText))
			}
			if n := len(openParquet(t, out).RowGroups()); n != groups {
				t.Errorf("%d row groups, want %d", n, groups)
			}
			if len(out) > bytes {
				t.Errorf("%d bytes, where the parts have %d", len(out), bytes)
			}
		})
	}
}

// Bloom filters answer for their own row group.
func TestConcatenatedBloomFilters_NoRace(t *testing.T) {
	parts := tableParts(t)
	for _, table := range []string{"verdicts", "fetches"} {
		f := openParquet(t, concatenated(t, parts[table]...))
		column, _ := f.Schema().Lookup("host")
		var hosts []map[string]bool
		for _, g := range f.RowGroups() {
			in := make(map[string]bool)
			pages := g.ColumnChunks()[column.ColumnIndex].Pages()
			for {
				page, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				must(t, err)
				values := make([]parquet.Value, page.NumValues())
				page.Values().ReadValues(values)
				for _, v := range values {
					in[v.String()] = true
				}
			}
			pages.Close()
			hosts = append(hosts, in)
		}
		if len(hosts) < 3 {
			t.Fatalf("%s has %d row groups", table, len(hosts))
		}
		asked, wrong := 0, 0
		for i, g := range f.RowGroups() {
			filter := g.ColumnChunks()[column.ColumnIndex].BloomFilter()
			if filter == nil {
				t.Fatalf("row group %d of %s has no Bloom filter", i, table)
			}
			for _, in := range hosts {
				for host := range in {
					found, err := filter.Check(parquet.ValueOf(host))
					must(t, err)
					if hosts[i][host] && !found {
						t.Errorf("%s: the filter of row group %d lacks %s", table, i, host)
					}
					if !hosts[i][host] {
						asked++
						if found {
							wrong++
						}
					}
				}
			}
		}
		if asked < 100 || wrong > asked/10 {
			t.Errorf("%s: filters find %d of %d hosts of other row groups", table, wrong, asked)
		}
	}
}

// A reader that seeks a row by the page index finds it, and bounds of pages and row
// groups are those of the parts.
func TestConcatenatedPageIndexes_NoRace(t *testing.T) {
	rows := make([]schema.Fetch, 2000)
	for i := range rows {
		rows[i] = schema.Fetch{Seq: int64(i), Host: fmt.Sprint("h", i), Hops: make([]schema.Hop, i%3)}
	}
	var parts [][]byte
	for _, n := range []int{700, 1, 1299} {
		var out bytes.Buffer
		must(t, parquet.Write(&out, rows[:n], parquet.MaxRowsPerRowGroup(500), parquet.PageBufferSize(256)))
		parts, rows = append(parts, out.Bytes()), rows[n:]
	}
	f := openParquet(t, concatenated(t, parts...))
	var before []parquet.RowGroup
	for _, part := range parts {
		before = append(before, openParquet(t, part).RowGroups()...)
	}
	if len(before) != 6 || len(f.RowGroups()) != 6 {
		t.Fatalf("%d row groups, then %d", len(before), len(f.RowGroups()))
	}
	first := int64(0)
	for i, g := range f.RowGroups() {
		if n := f.Metadata().RowGroups[i].Ordinal; int(n) != i {
			t.Errorf("row group %d has ordinal %d", i, n)
		}
		if begin, column := f.Metadata().RowGroups[i].FileOffset,
			f.Metadata().RowGroups[i].Columns[0].MetaData; begin != column.DataPageOffset {
			t.Errorf("row group %d begins at %d, and its first column at %d", i, begin, column.DataPageOffset)
		}
		for k, c := range g.ColumnChunks() {
			was := before[i].ColumnChunks()[k]
			offsets, err := c.OffsetIndex()
			must(t, err)
			bounds, err := c.ColumnIndex()
			must(t, err)
			wasOffsets, err := was.OffsetIndex()
			must(t, err)
			wasBounds, err := was.ColumnIndex()
			must(t, err)
			if offsets.NumPages() != wasOffsets.NumPages() || k == 0 && g.NumRows() > 100 && offsets.NumPages() < 3 {
				t.Fatalf("%d pages of column %d, want %d", offsets.NumPages(), k, wasOffsets.NumPages())
			}
			for p := range offsets.NumPages() {
				if offsets.FirstRowIndex(p) != wasOffsets.FirstRowIndex(p) ||
					offsets.CompressedPageSize(p) != wasOffsets.CompressedPageSize(p) ||
					!parquet.DeepEqual(bounds.MinValue(p), wasBounds.MinValue(p)) || !parquet.DeepEqual(bounds.MaxValue(p),
					wasBounds.MaxValue(p)) || bounds.NullCount(p) != wasBounds.NullCount(p) {
					t.Errorf("row group %d, column %d: page %d has another index", i, k, p)
				}
			}
		}
		for _, row := range []int64{g.NumRows() - 1, g.NumRows() / 2, 0} {
			r := parquet.NewGenericRowGroupReader[schema.Fetch](g)
			must(t, r.SeekToRow(row))
			got := make([]schema.Fetch, 1)
			if n, err := r.Read(got); n != 1 {
				t.Fatal(err)
			}
			want := schema.Fetch{Seq: first + row, Host: fmt.Sprint("h", first+row), Hops: make([]schema.Hop, (first+row)%3)}
			if got[0].Seq != want.Seq || got[0].Host != want.Host || len(got[0].Hops) != len(want.Hops) {
				t.Errorf("row %d of row group %d is of %s, want %s", row, i, got[0].Host, want.Host)
			}
			must(t, r.Close())
		}
		first += g.NumRows()
	}
}

// One file alone stays as it is, byte for byte, and it does not matter in how many
// steps files are joined.
func TestConcatenatedBytesAreTheSame_NoRace(t *testing.T) {
	for table, parts := range tableParts(t) {
		if one := concatenated(t, parts[0]); !bytes.Equal(one, parts[0]) {
			t.Errorf("%s: one part becomes other bytes", table)
		}
		if len(parts) == 1 {
			continue
		}
		if !bytes.Equal(concatenated(t, parts...), concatenated(t, concatenated(t, parts[:2]...),
			concatenated(t, parts[2:]...))) {
			t.Errorf("%s: joined in two steps, the bytes are others", table)
		}
	}
}

// Files without rows add nothing. Only such files give one without rows.
func TestConcatenateFilesWithoutRows_NoRace(t *testing.T) {
	empty, err := schema.EmptyPart("fetches")
	must(t, err)
	out := concatenated(t, empty, empty, empty)
	if !bytes.Equal(out, empty) {
		t.Error("three files without rows become other bytes than one")
	}
	want, err := rowio.Open(bytes.NewReader(empty), int64(len(empty)))
	must(t, err)
	got, err := rowio.Open(bytes.NewReader(out), int64(len(out)))
	must(t, err)
	if diff := cmp.Diff(want.Layout(), got.Layout()); diff != "" || got.Rows() != 0 {
		t.Errorf("%d rows (-want +got):\n%s", got.Rows(), diff)
	}
}

// Metadata and the name of the writer are those of the first file, as when another
// version resumes a run.
func TestConcatenatedMetadataIsThatOfTheFirst_NoRace(t *testing.T) {
	made := func(version string) []byte {
		var out bytes.Buffer
		must(t, parquet.Write(&out, []schema.Rule{{Seq: 1}}, parquet.CreatedBy("robocensus", version, ""),
			parquet.KeyValueMetadata("version", version)))
		return out.Bytes()
	}
	f := openParquet(t, concatenated(t, made("v1"), made("v2")))
	if v, _ := f.Lookup("version"); v != "v1" || !strings.Contains(f.Metadata().CreatedBy, "v1") {
		t.Errorf("version %q, by %q", v, f.Metadata().CreatedBy)
	}
}
