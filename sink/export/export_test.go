package export

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// written writes a run of two segments, with a site of each kind in each, and what a
// spreadsheet and a terminal would obey.
func written(t *testing.T, inputs ...journal.Input) (store.Store, *journal.Manifest) {
	t.Helper()
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{
		Run: "r", ToolVersion: "v0", Tables: schema.TableNames, Profiles: []string{"google", "rfc9309"}, Inputs: inputs,
		Started: time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC), Configuration: map[string]any{},
	})
	must(t, err)
	for index := range 2 {
		s, err := run.Segment(index)
		must(t, err)
		must(t, s.Agents.Write(schema.Agent{Name: "A bot", Category: "ai-training", Tokens: []string{"A"}},
			schema.Agent{Name: "B", Category: "search"}))
		for i, class := range []string{"allow_all", "partial", "disallow_all", "unknown"} {
			seq := int64(10*index + i + 1)
			host := fmt.Sprintf("h%d.example", i)
			f := schema.Fetch{
				Seq: seq, Host: host, Origin: "https://" + host, FetchTime: time.Date(2026, 11, 20-index, 0, 0, 0, 123000,
					time.UTC),
				ContentType: new("=cmd|'/c calc'!A1"), Server: new("a\x1b[31m\u202e"), Hops: []schema.Hop{
					{URL: "https://" + host + "/<x>", Status: new(int32(200))}}, Lines: 5,
			}
			if class != "unknown" {
				f.ContentDigest, f.IsUTF8, f.Rank = new("X"), new(true), new(seq)
			}
			must(t, errors.Join(s.Fetches.Write(f),
				s.Groups.Write(schema.Group{Seq: seq, Host: host, Agents: []string{"A", "B"}, CrawlDelay: new(1.5)}),
				s.Bodies.Write(schema.Body{ContentDigest: fmt.Sprint(seq), Body: []byte{0, 0xff}})))
			for _, agent := range []string{"A bot", "B"} {
				for _, profile := range []string{"google", "rfc9309"} {
					of := class
					if profile == "rfc9309" {
						of = "allow_all"
					}
					must(t, s.Policies.Write(schema.Policy{Seq: seq, Host: host, Origin: f.Origin, Rank: f.Rank, Agent: agent,
						Profile: profile, Class: of}))
				}
				must(t, s.Verdicts.Write(schema.Verdict{Seq: seq, Host: host, Agent: agent, Profile: "google", URL: "/",
					RuleLine: schema.NonZero(int32(i))}))
			}
			s.Targets++
		}
		must(t, s.Commit())
	}
	must(t, run.Close())
	in := sinktest.Open(t, dir)
	m, err := journal.ReadManifest(in, "r")
	must(t, err)
	return in, m
}

func exported(t *testing.T, format string, s Selection) (string, Written) {
	t.Helper()
	in, m := written(t)
	var out bytes.Buffer
	w, err := Table(t.Context(), &out, in, m, s, format)
	must(t, err)
	return out.String(), w
}

func where(column string, values ...string) Condition { return Condition{column, values} }

func TestCSV(t *testing.T) {
	for name, row := range map[string]struct {
		Selection
		want string
	}{
		"columns in the order of the table": {
			Selection{Table: "groups", Columns: []string{"agents", "crawl_delay", "host"}, Where: []Condition{
				where("host", "h1.example", "h3.example")}},
			"host,agents,crawl_delay\n" +
				strings.Repeat("h1.example,\"[\"\"A\"\",\"\"B\"\"]\",1.5\nh3.example,\"[\"\"A\"\",\"\"B\"\"]\",1.5\n", 2),
		},
		"guarded, escaped, nulls of the unread, times": {
			Selection{Table: "fetches", Columns: []string{"seq", "fetch_time", "content_type", "server", "is_utf8", "lines"},
				Where: []Condition{where("seq", "3", "4")}},
			"seq,fetch_time,content_type,server,is_utf8,lines\n" +
				"3,2026-11-20T00:00:00.000123Z,'=cmd|'/c calc'!A1,a\\u001b[31m\\u202e,true,5\n" +
				"4,2026-11-20T00:00:00.000123Z,'=cmd|'/c calc'!A1,a\\u001b[31m\\u202e,,\n",
		},
		"both conditions, an element of a list": {
			Selection{Table: "groups", Columns: []string{"seq"}, Where: []Condition{where("agents", "B"),
				where("host", "h0.example")}}, "seq\n1\n11\n",
		},
		"no element of a list": {
			Selection{Table: "groups", Columns: []string{"seq"}, Where: []Condition{where("agents", "", "C", `["A","B"]`)}},
			"seq\n",
		},
		"null": {Selection{Table: "verdicts", Columns: []string{"seq"}, Where: []Condition{where("rule_line", ""),
			where("agent", "B")}}, "seq\n1\n11\n"},
		"joined": {
			Selection{Table: "verdicts", Columns: []string{"seq", "category"}, Where: []Condition{where("host", "h2.example")}},
			"seq,category\n3,ai-training\n3,search\n13,ai-training\n13,search\n",
		},
		"joined for a condition alone": {Selection{Table: "verdicts", Columns: []string{"seq"}, Where: []Condition{
			where("category", "search"), where("seq", "12")}}, "seq\n12\n"},
		"ranks of two segments": {Selection{Table: "groups", Columns: []string{"seq", "rank"}, Where: []Condition{
			where("host", "h0.example", "h3.example")}}, "seq,rank\n1,1\n4,\n11,11\n14,\n"},
		"bytes": {Selection{Table: "bodies", Where: []Condition{where("content_digest", "2")}},
			"content_digest,body\n2,AP8=\n"},
		"no row": {Selection{Table: "groups", Columns: []string{"host"}, Where: []Condition{
			where("host", "h")}}, "host\n"},
		"no part": {Selection{Table: "rules", Columns: []string{"line", "rank"}}, "line,rank\n"},
		"access": {
			Selection{Table: Access, Columns: []string{"host", "A bot"}},
			"host,A bot\n" + strings.Repeat("h0.example,open\nh1.example,partly\nh2.example,shut out\nh3.example,unread\n", 2),
		},
		"access of an agent under a profile": {
			Selection{Table: Access, Where: []Condition{where("agent", "B"), where("profile", "rfc9309"), where("rank", "3")}},
			"host,rank,origin,B\nh2.example,3,https://h2.example,open\n",
		},
		"access of some": {Selection{Table: Access, Columns: []string{"rank"}, Where: []Condition{where("B", "shut out")}},
			"rank\n3\n13\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, w := exported(t, "csv", row.Selection)
			if d := cmp.Diff(row.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			lines, err := csv.NewReader(strings.NewReader(got)).ReadAll()
			if err != nil || int64(len(lines)-1) != w.Rows {
				t.Errorf("%d rows are read, and %d were written: %v", len(lines)-1, w.Rows, err)
			}
		})
	}
}

// Of several captures of an origin in an archive, the last one counts.
func TestAccessOfLastCaptures(t *testing.T) {
	in, m := written(t, journal.Input{Role: "warc", Path: "a.warc"})
	var out bytes.Buffer
	_, err := Table(t.Context(), &out, in, m, Selection{Table: Access, Columns: []string{"rank"}}, "csv")
	must(t, err)
	if want := "rank\n1\n2\n3\n\"\"\n"; out.String() != want { // the second segment is a day older
		t.Errorf("got %q, want %q", out.String(), want)
	}
	for format, want := range map[string]string{
		"csv":    "host,lines\nh0.example,5\nh1.example,5\nh2.example,5\nh3.example,\n",
		"ndjson": `{"host":"h0.example","lines":5}`} {
		out.Reset()
		written, err := Table(t.Context(), &out, in, m, Selection{Table: "fetches_latest", Columns: []string{
			"host", "lines"}}, format)
		if must(t, err); !strings.HasPrefix(out.String(), want) || written.Rows != 4 {
			t.Errorf("%s: %d rows, got %q, want %q", format, written.Rows, out.String(), want)
		}
	}
	out.Reset()
	if written, err := Table(t.Context(), &out, in, m, Selection{Table: "fetches_latest"}, "arrow"); err != nil ||
		written.Rows != 4 {
		t.Errorf("arrow: %d rows, %v", written.Rows, err)
	}
}

func TestNDJSON(t *testing.T) {
	got, _ := exported(t, "ndjson", Selection{Table: "fetches", Where: []Condition{where("seq", "4")}, Columns: []string{
		"seq", "hops", "server", "rank", "fetch_time", "lines", "has_bom"}})
	want := `{"seq":4,"rank":null,"fetch_time":"2026-11-20T00:00:00.000123Z","hops":[{"url":"https://h3.example/\u003cx\u003e","status":200}],"server":"a\u001b[31m\u202e","has_bom":false,"lines":null}` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var row map[string]any
	must(t, json.Unmarshal([]byte(got), &row))
	if row["server"] != "a\x1b[31m\u202e" {
		t.Errorf("server is %q", row["server"])
	}
}

// A workbook has the rows of the CSV, numbers as numbers, and no formula.
func TestXLSX(t *testing.T) {
	for _, s := range []Selection{{Table: Access}, {Table: "fetches"}, {Table: "groups"}, {Table: "rules"}} {
		text, _ := exported(t, "csv", s)
		want, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		must(t, err)
		content, w := exported(t, "xlsx", s)
		book, err := excelize.OpenReader(strings.NewReader(content))
		must(t, err)
		got, err := book.GetRows("Sheet1", excelize.Options{RawCellValue: true})
		must(t, err)
		for i := range got { // which leaves out empty cells at the end
			got[i] = append(got[i], slices.Repeat([]string{""}, len(want[0])-len(got[i]))...)
			for k := range got[i] {
				if want[i][k] == "true" || want[i][k] == "false" {
					want[i][k] = map[string]string{"true": "1", "false": "0"}[want[i][k]]
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" || int64(len(got)-1) != w.Rows {
			t.Errorf("%s, %d rows (-CSV +workbook):\n%s", s.Table, w.Rows, d)
		}
		archive, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
		must(t, err)
		f, err := archive.Open("xl/worksheets/sheet1.xml")
		must(t, err)
		sheet, err := io.ReadAll(f)
		must(t, err)
		if bytes.Contains(sheet, []byte("<f>")) || s.Table == "fetches" && !bytes.Contains(sheet, []byte("<v>5</v>")) {
			t.Errorf("%s: a formula, or no number: %s", s.Table, sheet)
		}
	}
}

// What a cell does not hold is cut between characters, and counted; what a double does not
// hold is text.
func TestCellsOfAWorkbook(t *testing.T) {
	f := new(xlsxFormat)
	for _, row := range []struct{ value, want any }{
		{int64(1 << 53), int64(1 << 53)}, {int64(1<<53 + 1), "9007199254740993"}, {1.5, 1.5}, {nil, nil}, {true, true},
		{"+1", "'+1"},
		{strings.Repeat("ä", mostUnits), strings.Repeat("ä", mostUnits)},
	} {
		if got := f.cell(row.value); got != row.want {
			t.Errorf("%v becomes %v, want %v", row.value, got, row.want)
		}
	}
	if f.cut() != 0 {
		t.Errorf("%d cells are cut", f.cut())
	}
	if got := f.cell("a" + strings.Repeat("😀", mostUnits/2+1)); got != "a"+strings.Repeat("😀", mostUnits/2) ||
		f.cut() != 1 {
		t.Errorf("%d bytes, %d cut", len(got.(string)), f.cut())
	}
}

func TestAWorkbookThatIsFull(t *testing.T) {
	in, m := written(t)
	x := &xlsxFormat{out: io.Discard}
	e := &exporter{ctx: t.Context(), in: in, m: m, Selection: Selection{Table: Access}, format: x}
	must(t, e.access())
	x.rows = mostRows - 2 // of them the header
	if err := e.access(); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	if x.rows != mostRows+1 {
		t.Errorf("%d lines, want a header and %d rows", x.rows, mostRows)
	}
	x.abort()
}

func TestWhatIsNotThere(t *testing.T) {
	in, m := written(t)
	for _, row := range []struct {
		Selection
		format, want string
	}{
		{Selection{Table: "groups", Where: []Condition{where("hots", "")}}, "csv",
			`column "hots" is not there: the table has seq, host, `},
		{Selection{Table: "groups", Where: []Condition{where("agent", "A")}}, "csv", `column "agent" is not there: `},
		{Selection{Table: Access, Where: []Condition{where("agent", "C")}}, "csv",
			`agent "C" is not there: the run has A bot, B`},
		{Selection{Table: Access, Columns: []string{"C"}}, "csv",
			`column "C" is not there: the table has host, rank, origin, A bot, B`},
		{Selection{Table: "fetches"}, "xls", `format "xls" is not there`},
		{Selection{Table: "document_changes"}, "csv",
			`table "changes", of which the view document_changes is made, is not there: run `},
	} {
		var out bytes.Buffer
		if _, err := Table(t.Context(), &out, in, m, row.Selection, row.format); !errors.Is(err, ErrNotThere) ||
			!strings.Contains(err.Error(), row.want) || out.Len() > 0 {
			t.Errorf("%+v: %v, %d bytes; want %s", row.Selection, err, out.Len(), row.want)
		}
	}
	m.Tables = []string{"fetches"}
	if _, err := Table(t.Context(), io.Discard, in, m, Selection{Table: Access}, "csv"); !errors.Is(err, ErrNotThere) {
		t.Errorf("access without policies: %v", err)
	}
	for table, want := range map[string]string{"answers": `table "answers" is not there: run `,
		"turned_away": `table "answers", of which the view turned_away is made, is not there: run `} {
		if _, err := Table(t.Context(), io.Discard, in, m, Selection{Table: table}, "csv"); !errors.Is(err, ErrNotThere) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s without answers: %v, want %s", table, err, want)
		}
	}
}

// A value behind an interface keeps every method of the types that its own type names in the
// binary: of the library's a formula engine of 3.6 MB.
func TestNoFormatNamesTypesOfExcelize(t *testing.T) {
	of := reflect.TypeFor[xlsxFormat]()
	for i := range of.NumField() {
		if text := of.Field(i).Type.String(); strings.Contains(text, "excelize") {
			t.Errorf("%s is of the type %s: hold a function in its place", of.Field(i).Name, text)
		}
	}
}
