package sink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// The contract: names, types and nullability of every column, in their order. A
// question mark means nullable.
var contract = map[string]string{
	"fetches": `seq int64, input utf8, host utf8, rank int64?, origin utf8, scheme utf8, port int32, registered_domain utf8?,
		tld utf8?, robots_url utf8, source utf8, fetch_time timestamp[us, tz=UTC], vantage utf8?, outcome utf8, reason utf8, status int32?,
		hops list<struct<url utf8, status int32?>>, final_url utf8?, error_class utf8?, error utf8?, fallback_error_class utf8?,
		attempts int32, remote_address utf8?, http_version utf8?, tls_version utf8?, content_type utf8?, content_encoding utf8?,
		server utf8?, etag utf8?, last_modified utf8?, cache_control utf8?, retry_after utf8?, dns_us int64?, connect_us int64?,
		tls_us int64?, first_byte_us int64?, total_us int64?, body_bytes int64?, body_truncated bool, content_digest utf8?,
		has_bom bool, is_utf8 bool?, is_html bool, only_comments bool, challenge utf8?, cdn utf8?, stale_since timestamp[us, tz=UTC]?, unreachable_since timestamp[us, tz=UTC]?,
		answers_since list<struct<since timestamp[us, tz=UTC], kind utf8, redirects int32>>, copy_time timestamp[us, tz=UTC]?,
		copy_digest utf8?, kept_truncated bool?, probe_front_status int32?, probe_random_status int32?,
		front_page utf8?, front_hops list<struct<url utf8, status int32?>>, front_error_class utf8?, front_headers list<struct<name utf8, value utf8?>>,
		lines int32, groups int32, rules int32, sitemaps int32, invalid_lines int32,
		warc_file utf8?, warc_offset int64?, warc_length int64?`,
	"groups": `seq int64, host utf8, origin utf8, group_index int32, line int32, agents list<utf8>, agent_lines list<int32>, tokens list<utf8>,
		allow_rules int32, disallow_rules int32, crawl_delay float64?, class utf8, joined bool, template utf8?, digest utf8`,
	"rules": `seq int64, host utf8, origin utf8, group_index int32?, line int32, kind utf8, pattern utf8, normalized utf8,
		has_wildcard bool, has_anchor bool, effective bool`,
	"sitemaps": `seq int64, host utf8, origin utf8, line int32, url utf8, is_absolute bool, is_same_host bool`,
	"lines":    `seq int64, host utf8, origin utf8, line int32, group_index int32?, field utf8?, value utf8, class utf8, agent utf8?, parser utf8?, cause utf8?, causes int32?`,
	"signals":  `seq int64, host utf8, origin utf8, line int32, group_index int32?, field utf8, path utf8?, key utf8?, value utf8`,
	"templates": `seq int64, host utf8, rank int64?, origin utf8, template utf8, kind utf8, version utf8?, first_line int32, last_line int32,
		groups int32, rules int32`,
	"answers": `seq int64, host utf8, rank int64?, origin utf8, identity utf8, is_control bool, user_agent utf8, agent utf8?, category utf8?,
		path utf8, fetch_time timestamp[us, tz=UTC]?, status int32?, hops list<struct<url utf8, status int32?>>, outcome utf8?, reason utf8?, error_class utf8?,
		error utf8?, body_bytes int64?, body_truncated bool, content_digest utf8?, challenge utf8?, text_digest utf8?, total_us int64?, same bool?, policy utf8,
		first_difference utf8?, treatment utf8, class utf8, paper utf8?, verdict utf8?, remark utf8?, price utf8?, price_header utf8?`,
	"labels": `seq int64, host utf8, origin utf8, label utf8, value utf8`,
	"sitemap_files": `seq int64, host utf8, rank int64?, origin utf8, url utf8, parent utf8?, line int32?, final_url utf8?, fetch_time timestamp[us, tz=UTC]?, kind utf8,
		status int32?, error_class utf8?, outcome utf8, urls int64, urls_read int64, urls_new int64, outside int64, beyond_folder int64, sitemaps int64, sitemaps_read int64, bytes int64,
		content_digest utf8?, lastmod_newest timestamp[us, tz=UTC]?, remark utf8?`,
	"coverage": `seq int64, host utf8, rank int64?, origin utf8, agent utf8, category utf8, profile utf8, judged_by utf8, class utf8, listed int64, sampled int32,
		allowed int32, disallowed int32, undefined int32, rule_line int32?, rule_pattern utf8?, example utf8?`,
	"urls": `seq int64, host utf8, origin utf8, url utf8, sitemap utf8, lastmod utf8?`,
	"documents": `seq int64, host utf8, rank int64?, origin utf8, document utf8, url utf8, status int32?, outcome utf8, content_type utf8?, bytes int64?,
		content_digest utf8?, final_url utf8?, price utf8?, remark utf8?`,
	"preferences": `seq int64, host utf8, rank int64?, origin utf8, group_agent utf8?, scope utf8, mechanism utf8, document utf8?, header utf8?, label utf8, use utf8?,
		preference utf8?, path utf8?, level utf8?, value utf8, line int32?, conflict bool, remark utf8?`,
	"policies": `seq int64, host utf8, rank int64?, origin utf8, agent utf8, category utf8, profile utf8, judged_by utf8, outcome utf8, group_agent utf8?,
		group_line int32?, match utf8?, is_explicit bool, class utf8, versus_star utf8?, versus_first utf8?, parity utf8?, template utf8?, crawl_delay float64?,
		ai_train utf8?, ai_input utf8?, search utf8?`,
	"verdicts": `seq int64, host utf8, rank int64?, origin utf8, agent utf8, profile utf8, judged_by utf8, url utf8, verdict utf8, reason utf8,
		group_agent utf8?, rule_kind utf8?, rule_pattern utf8?, rule_line int32?`,
	"agents": `agent utf8, category utf8, operator utf8?, tokens list<utf8>, falls_back_to list<utf8>, user_agent utf8?,
		ignores_star bool, user_triggered bool, kind utf8, uses list<utf8>, policy_tokens list<utf8>, binds list<utf8>, reads_as utf8?, source utf8?, checked utf8?, ips utf8?, verifies utf8?`,
	"summary":      `metric utf8, stratum utf8, agent utf8?, category utf8?, profile utf8?, key utf8?, count int64`,
	"label_counts": `metric utf8, label utf8, value utf8, agent utf8?, category utf8?, profile utf8?, key utf8?, count int64`,
	"examples":     `metric utf8, key utf8, host utf8, rank int64?, line int32?, text utf8`,
	"bodies":       `content_digest utf8, body binary`,
}

// newRun creates a run with every table in a temporary folder.
func newRun(t *testing.T) (*Run, string) {
	t.Helper()
	dir := t.TempDir()
	run, err := Create(dir, journal.Plan{Run: "test", ToolVersion: "v0", Tables: schema.TableNames, Profiles: []string{
		"google"}})
	if err != nil {
		t.Fatal(err)
	}
	return run, dir
}

// partsIn returns the number of parts that segments have in all tables.
func partsIn(segments ...int) (n int) {
	for _, segment := range segments {
		for _, table := range schema.TableNames {
			if layout.HasPart(table, segment) {
				n++
			}
		}
	}
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readTable reads a part with arrow-go.
func readTable(t *testing.T, path string) (*file.Reader, arrow.Table) {
	t.Helper()
	r, err := file.OpenParquetFile(path, false)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	a, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	must(t, err)
	table, err := a.ReadTable(context.Background())
	must(t, err)
	return r, table
}

func typeName(f arrow.Field) string {
	var name string
	switch t := f.Type.(type) {
	case *arrow.ListType:
		element := t.ElemField()
		name = "list<" + strings.TrimSuffix(typeName(element), "?") + ">"
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, f.Name+" "+typeName(f))
		}
		name = "struct<" + strings.Join(fields, ", ") + ">"
	default:
		name = fmt.Sprint(t)
	}
	if f.Nullable {
		name += "?"
	}
	return name
}

func TestColumnsAreTheContract(t *testing.T) {
	run, dir := newRun(t)
	s, err := run.Segment(0)
	must(t, err)
	must(t, s.Commit())
	for _, name := range schema.TableNames {
		r, table := readTable(t, filepath.Join(dir, layout.SegmentPart(name, "test", 0, "")))
		var got []string
		for _, f := range table.Schema().Fields() {
			got = append(got, f.Name+" "+typeName(f))
		}
		want := strings.Join(strings.Fields(contract[name]), " ")
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-contract +written):\n%s", name, diff)
		}
		keys := map[string]string{"robocensus.run": "test", "robocensus.schema_version": "2", layout.KeyProfile: "google",
			"robocensus.tool_version": "v0"}
		if name == "summary" {
			keys["robocensus.summary_bins"] = "1"
		}
		for key, want := range keys {
			if got := r.MetaData().KeyValueMetadata().FindValue(key); got == nil || *got != want {
				t.Errorf("%s: metadata %s is %v, want %s", name, key, got, want)
			}
		}
	}
}

// column returns a column of a table, which must have a single chunk.
func column[T arrow.Array](t *testing.T, table arrow.Table, name string) T {
	t.Helper()
	i := table.Schema().FieldIndices(name)
	if len(i) != 1 {
		t.Fatalf("no column %s", name)
	}
	return table.Column(i[0]).Data().Chunk(0).(T)
}

func TestRowsReadBack_NoRace(t *testing.T) {
	run, dir := newRun(t)
	s, err := run.Segment(3)
	must(t, err)
	rank, zero, empty := int64(7), int64(0), ""
	when := time.Date(2026, 11, 20, 10, 15, 0, 123456000, time.UTC)
	must(t, s.Fetches.Write(
		schema.Fetch{Seq: 1, Host: "a.example", Rank: &rank, FetchTime: when, Status: new(int32(200)), BodyBytes: &zero,
			Server: &empty,
			Hops: []schema.Hop{{URL: "http://a.example/robots.txt", Status: new(int32(301))},
				{URL: "https://a.example/robots.txt", Status: nil}}},
		schema.Fetch{Seq: 2, Host: "b.example", FetchTime: when}))
	must(t, s.Verdicts.Write(
		schema.Verdict{Seq: 1, Verdict: "disallow", RulePattern: &empty, RuleLine: new(int32(4)), GroupAgent: new("*")},
		schema.Verdict{Seq: 2, Verdict: "allow"}))
	must(t, s.Groups.Write(schema.Group{Seq: 1, Agents: []string{"a", "b"}}, schema.Group{Seq: 1}))
	must(t, s.Bodies.Write(schema.Body{ContentDigest: "X", Body: []byte{0, 0xff, 'a'}}))
	must(t, s.Commit())

	_, fetches := readTable(t, filepath.Join(dir, "fetches/run=test/part-0000000003.parquet"))
	if r := column[*array.Int64](t, fetches, "rank"); r.Value(0) != 7 || !r.IsNull(1) {
		t.Errorf("rank is %v, want 7 and null", r)
	}
	if b := column[*array.Int64](t, fetches, "body_bytes"); b.IsNull(0) || b.Value(0) != 0 || !b.IsNull(1) {
		t.Errorf("body_bytes is %v, want 0 and null", b)
	}
	if b := column[*array.String](t, fetches, "server"); b.IsNull(0) || b.Value(0) != "" || !b.IsNull(1) {
		t.Errorf("server is %v, want an empty string and null", b)
	}
	if st := column[*array.Int32](t, fetches, "status"); st.Value(0) != 200 || !st.IsNull(1) {
		t.Errorf("status is %v, want 200 and null", st)
	}
	if ts := column[*array.Timestamp](t, fetches, "fetch_time"); int64(ts.Value(0)) != when.UnixMicro() {
		t.Errorf("fetch_time is %v, want %d", ts, when.UnixMicro())
	}
	hops := column[*array.List](t, fetches, "hops")
	status := hops.ListValues().(*array.Struct).Field(1).(*array.Int32)
	if hops.Len() != 2 || status.Len() != 2 || status.Value(0) != 301 || !status.IsNull(1) {
		t.Errorf("hops are %v, want two with status 301 and null", hops)
	}
	_, verdicts := readTable(t, filepath.Join(dir, "verdicts/run=test/part-0000000003.parquet"))
	if p := column[*array.String](t, verdicts, "rule_pattern"); p.IsNull(0) || !p.IsNull(1) {
		t.Errorf("rule_pattern is %v, want an empty string and null", p)
	}
	_, groups := readTable(t, filepath.Join(dir, "groups/run=test/part-0000000003.parquet"))
	if agents := column[*array.List](t, groups, "agents"); fmt.Sprint(agents) != `[["a" "b"] []]` {
		t.Errorf("agents are %v", agents)
	}
	_, bodies := readTable(t, filepath.Join(dir, "bodies/run=test/part-0000000003.parquet"))
	if b := column[*array.Binary](t, bodies, "body"); string(b.Value(0)) != "\x00\xffa" {
		t.Errorf("body is %q", b.Value(0))
	}
}

// A null stays null whatever values surround it.
func TestNullsAmongValues_NoRace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		run, dir := newRun(t)
		s, err := run.Segment(0)
		must(t, err)
		var lines []int32
		for range rapid.IntRange(1, 4).Draw(rt, "writes") {
			batch := rapid.SliceOfN(rapid.Int32Range(0, 3), 1, 200).Draw(rt, "lines")
			var rows []schema.Verdict
			for _, line := range batch {
				v := schema.Verdict{RuleLine: schema.NonZero(line), GroupAgent: schema.NonZero(strings.Repeat("a", int(line)))}
				if line > 1 {
					v.RuleKind = new("allow")
				}
				rows = append(rows, v)
			}
			must(t, s.Verdicts.Write(rows...))
			lines = append(lines, batch...)
		}
		must(t, s.Commit())
		_, table := readTable(t, filepath.Join(dir, "verdicts/run=test/part-0000000000.parquet"))
		line, agent, kind := column[*array.Int32](t, table, "rule_line"), column[*array.String](t, table, "group_agent"),
			column[*array.String](t, table, "rule_kind")
		for i, want := range lines {
			if line.IsNull(i) != (want == 0) || agent.IsNull(i) != (want == 0) || kind.IsNull(i) != (want < 2) {
				rt.Fatalf("row %d of %v: nulls are %v %v %v", i, lines, line.IsNull(i), agent.IsNull(i), kind.IsNull(i))
			}
			if want != 0 && (line.Value(i) != want || agent.Value(i) != strings.Repeat("a", int(want))) {
				rt.Fatalf("row %d of %v: %d %q", i, lines, line.Value(i), agent.Value(i))
			}
		}
	})
}

func TestHostHasABloomFilter(t *testing.T) {
	run, dir := newRun(t)
	s, err := run.Segment(0)
	must(t, err)
	must(t, s.Policies.Write(schema.Policy{Seq: 1, Host: "a.example"}))
	must(t, s.Commit())
	r, _ := readTable(t, filepath.Join(dir, "policies/run=test/part-0000000000.parquet"))
	chunk, err := r.MetaData().RowGroup(0).ColumnChunk(1)
	must(t, err)
	if chunk.BloomFilterOffset() == 0 {
		t.Error("column host of policies has no Bloom filter")
	}
}

func TestLargeBodiesAreStoredOnce(t *testing.T) {
	run, dir := newRun(t)
	s, err := run.Segment(0)
	must(t, err)
	source, size := rand.NewChaCha8([32]byte{}), 0
	for i := range 10 {
		body := make([]byte, 300<<10) // incompressible
		source.Read(body)
		must(t, s.Bodies.Write(schema.Body{ContentDigest: fmt.Sprint(i), Body: body}))
		size += len(body)
	}
	must(t, s.Commit())
	info, err := os.Stat(filepath.Join(dir, "bodies/run=test/part-0000000000.parquet"))
	must(t, err)
	if info.Size() > int64(size)+10_000 {
		t.Errorf("%d bytes of bodies make a part of %d", size, info.Size())
	}
}

func TestManifestNamesWhatIsThere(t *testing.T) {
	run, dir := newRun(t)
	for _, index := range []int{1, 0} { // segments may be committed in any order
		s, err := run.Segment(index)
		must(t, err)
		must(t, s.Rules.Write(schema.Rule{Seq: 1}, schema.Rule{Seq: 2}))
		must(t, s.Commit())
	}
	must(t, completeRun(run, Completion{Finished: time.Now()}))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "test")
	must(t, err)
	if m.State != "complete" || len(m.Parts) != partsIn(0, 1)-2*len(layout.OfRun) || len(m.RunParts) != len(layout.OfRun) {
		t.Fatalf("state %q with %d parts, want complete with %d", m.State, len(m.Parts), partsIn(0, 1)-2*len(layout.OfRun))
	}
	for i, p := range m.Parts {
		if want := i / (partsIn(0) - len(layout.OfRun)); p.Segment != want {
			t.Errorf("part %d is of segment %d, want %d", i, p.Segment, want)
		}
		content, err := os.ReadFile(filepath.Join(dir, p.Path))
		must(t, err)
		sum := sha256.Sum256(content)
		if int64(len(content)) != p.Bytes || hex.EncodeToString(sum[:]) != p.SHA256 {
			t.Errorf("%s: size or digest differ from the manifest", p.Path)
		}
		if p.Table == "rules" && p.Rows != 2 {
			t.Errorf("%s: %d rows in the manifest, want 2", p.Path, p.Rows)
		}
	}
	if rows := run.Rows()["rules"]; rows != 4 {
		t.Errorf("%d rows of rules, want 4", rows)
	}
}

func TestEqualRowsGiveEqualBytes_NoRace(t *testing.T) {
	var first map[string]string
	for range 3 {
		run, dir := newRun(t)
		for index := range 2 { // a writer must not remember the previous part
			s, err := run.Segment(index)
			must(t, err)
			for i := range int64(5000) {
				must(t, s.Verdicts.Write(schema.Verdict{Seq: i, Host: fmt.Sprint("h", i%97), Verdict: "allow", URL: "/"}))
			}
			must(t, s.Commit())
		}
		m, err := journal.ReadManifest(sinktest.Open(t, dir), "test")
		must(t, err)
		sums := make(map[string]string)
		for _, p := range m.Parts {
			sums[p.Path] = p.SHA256
		}
		if sums["verdicts/run=test/part-0000000000.parquet"] != sums["verdicts/run=test/part-0000000001.parquet"] {
			t.Error("equal rows give other bytes in another segment")
		}
		if first == nil {
			first = sums
		} else if diff := cmp.Diff(first, sums); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	run, dir := newRun(t)
	s, err := run.Segment(0)
	must(t, err)
	must(t, s.Fetches.Write(schema.Fetch{Seq: 1}))
	s.Abort()
	files := 0
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.Contains(path, ".parquet") {
			files++
		}
		return err
	}))
	if files != 0 {
		t.Errorf("%d files left", files)
	}
}

func TestATableNotAskedForTakesNoRows(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, journal.Plan{Run: "x", Tables: []string{"fetches"}})
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	if s.Verdicts.Wanted() || !s.Fetches.Wanted() {
		t.Error("wanted: verdicts, or not fetches")
	}
	must(t, s.Verdicts.Write(schema.Verdict{Seq: 1}))
	must(t, s.Commit())
	if _, err := os.Stat(filepath.Join(dir, "verdicts")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder of verdicts: %v", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, journal.Plan{Run: "x", Tables: schema.TableNames})
	must(t, err)
	must(t, run.Close())
	if _, err := Create(dir, journal.Plan{Run: "x", Tables: schema.TableNames}); !errors.Is(err, journal.ErrRunExists) {
		t.Errorf("a second run of one ID: %v", err)
	}
	for _, id := range []string{"", ".", "..", "a/b", "-x", "a b", "é", strings.Repeat("a", 101)} {
		if _, err := Create(dir, journal.Plan{Run: id}); err == nil {
			t.Errorf("run ID %q is accepted", id)
		}
	}
	if _, err := Create(dir, journal.Plan{Run: "y", Tables: []string{"verdict"}}); err == nil {
		t.Error("an unknown table is accepted")
	}
}

func TestText(t *testing.T) {
	for _, row := range [][2]string{
		{"", ""}, {"/é*", "/é*"}, {"/\xe9", "/%E9"}, {"a\x00b", "a%00b"}, {"\xff\xfe", "%FF%FE"},
		{"\ufffd", "\ufffd"}, {"\xed\xa0\x80", "%ED%A0%80"}, {"\xe2\x82", "%E2%82"},
	} {
		if got := schema.Text([]byte(row[0])); got != row[1] {
			t.Errorf("%q is %q, want %q", row[0], got, row[1])
		}
	}
}

// A byte that needs replacing is found wherever it stands in a text, and however long
// the text is.
func TestTextReplacesEveryByteThatNeedsIt(t *testing.T) {
	for n := range 20 {
		plain := strings.Repeat("\x01~", 10)[:n]
		if got := schema.TextString(plain); got != plain {
			t.Errorf("%q becomes %q", plain, got)
		}
		for i := range n {
			for b := range 256 {
				text := []byte(plain)
				text[i] = byte(b)
				want := string(text)
				if b == 0 || b >= utf8.RuneSelf {
					want = fmt.Sprintf("%s%%%02X%s", plain[:i], b, plain[i+1:])
				}
				if got := schema.Text(text); got != want {
					t.Fatalf("%q becomes %q, want %q", text, got, want)
				}
			}
		}
	}
}
