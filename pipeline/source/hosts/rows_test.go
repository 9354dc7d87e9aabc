package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
)

// targetsOfFile reads a hosts list and returns its targets and rejected
// lines as text.
func targetsOfFile(t *testing.T, path string, schemes ...string) (targets, rejected []string, err error) {
	t.Helper()
	if len(schemes) == 0 {
		schemes = []string{"https", "http"}
	}
	s := &grouper{
		schemes: schemes,
		emit: func(t target.Target) error {
			text := fmt.Sprintf("%d %s", len(targets)+1, t.Candidates[0])
			for _, o := range t.Candidates[1:] {
				text += "|" + o.String()
			}
			if t.Rank != nil {
				text += fmt.Sprintf(" #%d", *t.Rank)
			}
			for _, path := range t.Paths {
				text += " " + t.Candidates[0].String() + path
			}
			targets = append(targets, text)
			return nil
		},
		remark: func(line int64, text, reason string) error {
			rejected = append(rejected, fmt.Sprintf("%d %s: but kept", line, text))
			return nil
		},
		reject: func(line int64, text, reason string) error {
			code, _, _ := strings.Cut(reason, ":")
			rejected = append(rejected, fmt.Sprintf("%d %s: %s", line, text, code))
			return nil
		},
	}
	err = readHosts(context.Background(), path, "", io.Discard, s.take)
	if err == nil {
		err = s.flush()
	}
	return targets, rejected, err
}

func TestHostsFiles(t *testing.T) {
	for _, row := range []struct {
		name, content     string
		targets, rejected []string
	}{
		{name: "plain", content: "a.example\n\n# comment\r\nB.example\r\nhttp://c.example:8080\nd.example",
			targets: []string{"1 https://a.example|http://a.example", "2 https://b.example|http://b.example",
				"3 http://c.example:8080", "4 https://d.example|http://d.example"}},
		{name: "a byte order mark", content: "\ufeffa.example\n", targets: []string{"1 https://a.example|http://a.example"}},
		{name: "Tranco", content: "1,a.example\r\n2,b.example\r\n",
			targets: []string{"1 https://a.example|http://a.example #1", "2 https://b.example|http://b.example #2"}},
		{name: "CSV with header", content: "country,Rank,HOST\nde,5,a.example\nfr,,\"b.example\"\n",
			targets: []string{"1 https://a.example|http://a.example #5", "2 https://b.example|http://b.example"}},
		{name: "TSV without header", content: "a.example\t3\nb.example\t4\n",
			targets: []string{"1 https://a.example|http://a.example #3", "2 https://b.example|http://b.example #4"}},
		{name: "web graph", content: "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n" +
			"1\t3.0E7\t2\t0.01\tcom.example.www\n",
			targets: []string{"1 https://www.example.com|http://www.example.com #1"}},
		{name: "rows that stand together are one target", content: "https://a.example/x\nhttps://a.example/y?z=1\n" +
			"https://a.example/x\nhttps://b.example/\nhttps://a.example/late\na.example\n",
			targets: []string{"1 https://a.example https://a.example/x https://a.example/y?z=1",
				"2 https://b.example https://b.example/"},
			rejected: []string{"3 https://a.example/x: duplicate", "5 https://a.example/late: not_adjacent",
				"6 a.example: duplicate"}},
		{name: "a column of URLs", content: "host,url\na.example,https://a.example/x\na.example,/y\n" +
			"a.example,http://other.example/z\n",
			targets:  []string{"1 https://a.example https://a.example/x https://a.example/y"},
			rejected: []string{"4 a.example,http://other.example/z: outside_origin"}},
		{name: "duplicates are asked once", content: "a.example\nA.EXAMPLE.\nhttps://a.example:443\n",
			targets:  []string{"1 https://a.example|http://a.example"},
			rejected: []string{"2 A.EXAMPLE.: duplicate", "3 https://a.example:443: duplicate"}},
		{name: "lines that are no host", content: "1,a.example\n2,not a host!\n3,http://\n4,gopher://g.example/\n5,\n" +
			"x,b.example\n7,http://u:p@c.example/\n8,\"d.example\n9,e.example\n",
			targets: []string{"1 https://a.example|http://a.example #1", "2 https://b.example|http://b.example",
				"3 https://e.example|http://e.example #9"},
			rejected: []string{"2 2,not a host!: bad_host", "3 3,http://: bad_host",
				"4 4,gopher://g.example/: unsupported_scheme", "5 5,: no_host",
				"6 x,b.example: but kept", "7 7,http://u:p@c.example/: bad_host", "8 8,\"d.example: bad_quotes"}},
		{name: "URLs with commas are no CSV", content: "https://a.example/x,y\nhttps://a.example/x,z\n",
			targets: []string{"1 https://a.example https://a.example/x,y https://a.example/x,z"}},
		{name: "so without schemes", content: "a.example/x,y\nb.example/z,w\n",
			targets: []string{"1 https://a.example|http://a.example https://a.example/x,y",
				"2 https://b.example|http://b.example https://b.example/z,w"}},
		{name: "a field may be empty", content: "rank\thost\n\ta.example\n2\tb.example\n",
			targets: []string{"1 https://a.example|http://a.example", "2 https://b.example|http://b.example #2"}},
		{name: "a comment is no header", content: "# domain; taken from tranco\n# url, sorted by origin\n1,a.example\n",
			targets: []string{"1 https://a.example|http://a.example #1"}},
		{name: "a number is no host", content: "1,0.53,12:30,a.example\n", targets: []string{
			"1 https://a.example|http://a.example #1"}},
		{name: "URLs with ranks are", content: "https://a.example,1\nhttps://b.example,2\n",
			targets: []string{"1 https://a.example #1", "2 https://b.example #2"}},
		{name: "ranks as pandas writes them", content: "host,rank\na.example,10.0\nb.example,\nc.example,7.5\n" +
			"d.example,.0\ne.example,0.0\n",
			targets: []string{"1 https://a.example|http://a.example #10", "2 https://b.example|http://b.example",
				"3 https://c.example|http://c.example", "4 https://d.example|http://d.example",
				"5 https://e.example|http://e.example"},
			rejected: []string{"4 c.example,7.5: but kept", "5 d.example,.0: but kept", "6 e.example,0.0: but kept"}},
		{name: "ranks as pandas writes them, without a header", content: "7.0,a.example\n8,b.example\n1e3,c.example\n",
			targets: []string{"1 https://a.example|http://a.example #7", "2 https://b.example|http://b.example #8",
				"3 https://c.example|http://c.example"},
			rejected: []string{"3 1e3,c.example: but kept"}},
		{name: "scores after the host", content: "a.example\t7.0\nb.example\t6.5\n",
			targets: []string{"1 https://a.example|http://a.example", "2 https://b.example|http://b.example"}},
		{name: "a whole number is a rank before others", content: "2.0,5,a.example\n", targets: []string{
			"1 https://a.example|http://a.example #5"}},
		{name: "a share is no rank", content: "a.example,0.5\nb.example,7.0\n", targets: []string{
			"1 https://a.example|http://a.example", "2 https://b.example|http://b.example"}},
		{name: "a line break in quotes before the host", content: "note,host,rank\n\"A\nB\",a.example,1\n\"A, x\n" +
			"B\",b.example,2\n\"A\nB\n\nC\",c.example,3\nD,d.example,4\n",
			targets: []string{"1 https://a.example|http://a.example #1", "2 https://b.example|http://b.example #2",
				"3 https://c.example|http://c.example #3", "4 https://d.example|http://d.example #4"}},
		{name: "a stray quote before rows with quotes", content: "note,host\n\"big,a.example\nx,b.example\n" +
			"\"y\",c.example\nz,d.example\n",
			targets: []string{"1 https://b.example|http://b.example", "2 https://c.example|http://c.example",
				"3 https://d.example|http://d.example"},
			rejected: []string{"2 \"big,a.example: bad_quotes"}},
		{name: "a quoted column", content: "\"host\"\n\"a.example\"\n", targets: []string{
			"1 https://a.example|http://a.example"}},
		{name: "semicolons", content: "host;rank\na.example;7\n", targets: []string{
			"1 https://a.example|http://a.example #7"}},
		{name: "Majestic", content: "GlobalRank,TldRank,Domain,TLD\n1,1,a.example,example\n", targets: []string{
			"1 https://a.example|http://a.example #1"}},
		{name: "a rank and a name without a dot", content: "1,localhost\n", rejected: []string{"1 1,localhost: no_dot"}},
		{name: "a row that names the scheme decides for its target", content: "a.example\nhttps://a.example/x\n",
			targets: []string{"1 https://a.example https://a.example/x"}},
		{name: "a row whose URL has another port", content: "host,url\na.example:8080,http://a.example/x\n",
			rejected: []string{"2 a.example:8080,http://a.example/x: outside_origin"}},
		{name: "a line that is too long", content: "a.example\n" + strings.Repeat("x", input.MaxLine*2+77) + "\nb.example\n",
			targets:  []string{"1 https://a.example|http://a.example", "2 https://b.example|http://b.example"},
			rejected: []string{"2 " + strings.Repeat("x", 200) + ": line_too_long"}},
		{name: "empty", content: ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			targets, rejected, err := targetsOfFile(t, writeFile(t, "hosts", []byte(row.content)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.targets, targets); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.rejected, rejected); diff != "" {
				t.Errorf("rejected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHostsFilesCompressed(t *testing.T) {
	text := []byte("1,a.example\n2,b.example\n")
	want := []string{"1 https://a.example #1", "2 https://b.example #2"}
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write(text)
	z.Close()
	zs, _ := zstd.NewWriter(nil)
	for name, content := range map[string][]byte{
		"hosts.csv": text, "hosts.csv.gz": gz.Bytes(), "hosts.csv.zst": zs.EncodeAll(text, nil),
		"two.gz": append(bytes.Clone(gz.Bytes()), gz.Bytes()...),
	} {
		path := writeFile(t, name, content)
		targets, _, err := targetsOfFile(t, path, "https")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, targets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		input, err := Inspect(context.Background(), path)
		if wantRows := int64(2 * (1 + strings.Count(name, "two"))); err != nil || input.Rows != wantRows {
			t.Errorf("%s: %d rows, %v; want %d", name, input.Rows, err, wantRows)
		}
	}
}

func TestHostsFileParquet_NoRace(t *testing.T) {
	type hostRow struct {
		Extra []string `parquet:"extra,list"`
		Rank  *int32   `parquet:"rank"`
		Host  string   `parquet:"host"`
		Other float64  `parquet:"other"`
	}
	type bytesRow struct {
		Domain []byte   `parquet:"Domain"`
		Rank   *float64 `parquet:"GlobalRank"`
	}
	million := 1e6
	bare := filepath.Join(t.TempDir(), "bare.parquet")
	if err := parquet.WriteFile(bare, []bytesRow{{[]byte("abcdefghi.example"), &million},
		{[]byte("b.example"), nil}}); err != nil {
		t.Fatal(err)
	}
	plain, _, err := targetsOfFile(t, bare, "https")
	if diff := cmp.Diff([]string{"1 https://abcdefghi.example #1000000", "2 https://b.example"}, plain); diff != "" ||
		err != nil {
		t.Error(diff, err)
	}

	path := filepath.Join(t.TempDir(), "hosts.parquet")
	one := int32(1)
	if err := parquet.WriteFile(path, []hostRow{{Rank: &one, Host: "a.example", Extra: []string{"x", "y"}},
		{Host: "b.example"}, {Host: "no host"}}); err != nil {
		t.Fatal(err)
	}
	// Whatever is damaged in a file, reading it is an error and never a panic.
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range content {
		broken := bytes.Clone(content)
		broken[i] ^= 0x55
		file := writeFile(t, "broken.parquet", broken)
		if _, err := Inspect(context.Background(), file); err == nil {
			targetsOfFile(t, file)
		}
	}

	targets, rejected, err := targetsOfFile(t, path, "https")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 https://a.example #1", "2 https://b.example"}, targets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"3 no host: bad_host"}, rejected); diff != "" {
		t.Error(diff)
	}
	if input, err := Inspect(context.Background(), path); err != nil || input.Rows != 3 {
		t.Errorf("%d rows, %v; want 3", input.Rows, err)
	}
}

func TestUnreadableHostsFiles(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	for i := range 20000 {
		fmt.Fprintf(z, "host%d.example\n", i*7919)
	}
	z.Close()
	cut := gz.Bytes()[:gz.Len()/2]
	for _, row := range []struct {
		name string
		path string
		line bool
	}{
		{"missing", filepath.Join(t.TempDir(), "none"), false},
		{"a folder", t.TempDir(), false},
		{"cut gzip", writeFile(t, "cut.gz", cut), true},
		{"damaged Parquet", writeFile(t, "x.parquet", []byte("PAR1 and no more")), false},
		{"a header that is no gzip", writeFile(t, "x.gz", []byte{0x1f, 0x8b, 0xff, 0xff}), true},
	} {
		_, err := Inspect(context.Background(), row.path)
		var input *userfile.Error
		if !errors.As(err, &input) || input.Path != row.path || (input.Line > 0) != row.line {
			t.Errorf("%s: %v, want an error of %s with a line: %v", row.name, err, row.path, row.line)
		}
	}
	if _, _, err := targetsOfFile(t, writeFile(t, "h.csv", []byte("https://a.example/m/1,2\n"))); err == nil ||
		!strings.Contains(err.Error(), "h.csv:1: ") {
		t.Errorf("a URL and a number, which may be a rank: %v", err)
	}
	if _, _, err := targetsOfFile(t, writeFile(t, "h.csv", []byte("name,city\nx,y\n"))); err == nil {
		t.Error("a CSV without hosts is accepted")
	}
}

func TestACancelledReadEnds(t *testing.T) {
	path := writeFile(t, "h", []byte("a.example\n"+strings.Repeat("a.example\n", 1<<20)))
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := readHosts(ctx, path, "", io.Discard, func(row) error { n++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || n > 1<<19 {
		t.Errorf("%v after %d rows", err, n)
	}
	if _, err := Inspect(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("inspect: %v", err)
	}
}

func TestHostsThatAreNoHosts(t *testing.T) {
	for given, want := range map[string]string{
		"-a.test": "bad_host", "a-.test": "bad_host", "a...": "bad_host", "m\xfcnchen.test": "bad_host",
		"x@y.test":        "bad_host",
		"mailto:x@y.test": "unsupported_scheme", "gopher://a.test": "unsupported_scheme",
	} {
		targets, rejected, err := targetsOfFile(t, writeFile(t, "h", []byte(given+"\nb.test\n")), "https")
		if err != nil || len(targets) != 1 || len(rejected) != 1 || !strings.Contains(rejected[0], want) {
			t.Errorf("%q: %q rejected, %d targets, %v; want %s", given, rejected, len(targets), err, want)
		}
	}
}

// A file of some kilobytes may hold any number of rows, all the same: it is refused
// before they are read.
func TestParquetOfTooManyRows_NoRace(t *testing.T) {
	type row struct {
		Host string `parquet:"host,dict"`
	}
	write := func(host func(i int) string) string {
		path := filepath.Join(t.TempDir(), "hosts.parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w := parquet.NewGenericWriter[row](f, parquet.Compression(&parquet.Zstd))
		rows := make([]row, 1000)
		for i := range 200 {
			for k := range rows {
				rows[k].Host = host(1000*i + k)
			}
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, err := Inspect(t.Context(), write(func(int) string { return "a.example" }))
	if err == nil || !strings.Contains(err.Error(), "has 200000 rows in ") {
		t.Errorf("the same host 200,000 times: %v", err)
	}
	// The most compressible list of distinct hosts.
	in, err := Inspect(t.Context(), write(func(i int) string { return fmt.Sprintf("%07d.example", i) }))
	if err != nil || in.Rows != 200_000 {
		t.Errorf("200,000 hosts: %d rows, %v", in.Rows, err)
	}
}

// Labels of Parquet may be days, times and answers, as those of CSV.
func TestLabelsOfParquet(t *testing.T) {
	type labelRow struct {
		Host string    `parquet:"host"`
		Day  int32     `parquet:"day,date"`
		Is   bool      `parquet:"is"`
		At   time.Time `parquet:"at,timestamp(millisecond)"`
	}
	path := filepath.Join(t.TempDir(), "labels.parquet")
	must(t, parquet.WriteFile(path, []labelRow{{"a.example", 20512, true, time.Unix(1e9, 0)}}))
	var l Labels
	_, err := l.Read(t.Context(), LabelFile{Path: path, Wanted: []string{AllLabels}}, nil)
	must(t, err)
	must(t, l.Settle())
	var got []string
	for _, label := range l.Of("a.example") {
		got = append(got, label.Name+" "+label.Value)
	}
	if diff := cmp.Diff([]string{"day 2026-02-28", "is true", "at 2001-09-09T01:46:40Z"}, got); diff != "" {
		t.Error(diff)
	}
}

// Decimals are numbers. What can be no label is named, with what to do about it.
func TestDecimalsOfParquet(t *testing.T) {
	type row struct {
		Host  string `parquet:"host"`
		Rank  int64  `parquet:"rank,decimal(0:10)"`
		Price int32  `parquet:"price,decimal(2:9)"`
	}
	path := filepath.Join(t.TempDir(), "decimals.parquet")
	must(t, parquet.WriteFile(path, []row{{"a.example", 7, 150}}))
	got, _, err := targetsOfFile(t, path, "https")
	if diff := cmp.Diff([]string{"1 https://a.example #7"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	var l Labels
	_, err = l.Read(t.Context(), LabelFile{Path: path, Wanted: []string{AllLabels}}, nil)
	must(t, err)
	must(t, l.Settle())
	if all := l.Of("a.example"); len(all) != 1 || all[0].Value != "1.50" {
		t.Errorf("labels %v", all)
	}
	type listed struct {
		Host string   `parquet:"host"`
		Tags []string `parquet:"tags,list"`
	}
	must(t, parquet.WriteFile(path, []listed{{"a.example", []string{"x"}}}))
	for wanted, want := range map[string]string{AllLabels: "name the labels with --label in place of",
		"tags": "must hold text"} {
		if _, err := new(Labels).Read(t.Context(), LabelFile{Path: path, Wanted: []string{wanted}}, nil); err == nil ||
			!strings.Contains(err.Error(), `column "tags" is of type list`) || !strings.Contains(err.Error(), want) {
			t.Errorf("--label %s: %v", wanted, err)
		}
	}
}
