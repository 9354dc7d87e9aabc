package cdx

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/robocensus/robocensus/configs/userfile"
)

// columnar is a row of Common Crawl's index, with its names and types.
type columnar struct {
	Key       string    `parquet:"url_surtkey"`
	URL       string    `parquet:"url"`
	Host      string    `parquet:"url_host_name"`
	Reversed  string    `parquet:"url_host_name_reversed"`
	Protocol  string    `parquet:"url_protocol"`
	Port      *int32    `parquet:"url_port,optional"`
	Path      string    `parquet:"url_path"`
	Query     *string   `parquet:"url_query,optional"`
	FetchTime time.Time `parquet:"fetch_time,timestamp(millisecond)"`
	Status    int16     `parquet:"fetch_status"`
	Digest    *string   `parquet:"content_digest,optional"`
	Type      *string   `parquet:"content_mime_type,optional"`
	File      string    `parquet:"warc_filename"`
	Offset    int32     `parquet:"warc_record_offset"`
	Length    int32     `parquet:"warc_record_length"`
	Segment   string    `parquet:"warc_segment"`
}

func columnarRow(host string, n int) columnar {
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	digest := "TPDHOBA5IOSTX7ZY77WY2ASJORYTJ4LH"
	return columnar{
		Key: strings.TrimSuffix(strings.Join(labels, ","), ",www") + ")/robots.txt", URL: "https://" + host + "/robots.txt",
		Host: host, Reversed: strings.Join(labels, "."), Protocol: "https", Path: "/robots.txt",
		FetchTime: time.Date(2026, 10, 1, 2, 3, 4, 567e6, time.UTC), Status: 200, Digest: &digest,
		File: "crawl-data/x.warc.gz", Offset: int32(1000 * n), Length: 1000, Segment: "1",
	}
}

// columnarFile writes rows as Common Crawl sorts them, some to a row group.
func columnarFile[T any](t *testing.T, rows []T, perGroup int64) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, parquet.Compression(&parquet.Gzip), parquet.MaxRowsPerRowGroup(perGroup))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out.Bytes())
}

// tableRows reads a table, and returns the captures and what is not one.
func tableRows(t *testing.T, in *bytes.Reader, path string, hosts []string) (captures []Capture, rest string) {
	t.Helper()
	table, err := OpenTable(in, in.Size(), "x.parquet", path, true)
	if err != nil {
		t.Fatal(err)
	}
	var rejected []string
	var urls, subsets, unread, others int64
	to := TableReceiver{Hosts: hosts, Skipped: func(a, b, c int64) { urls, subsets, unread = urls+a, subsets+b, unread+c }}
	to.Capture = func(c Capture) error { captures = append(captures, c); return nil }
	to.Other = func(Capture) (bool, error) { others++; return false, nil }
	to.Reject = func(line int64, _, reason string) error {
		rejected = append(rejected, fmt.Sprintf("%d %s", line, reason))
		return nil
	}
	if err := table.Read(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	return captures, fmt.Sprint(rejected, urls, subsets, unread, others)
}

// The table of Common Crawl names captures, by its URL or by the parts of it.
func TestColumnarIndex(t *testing.T) {
	port, query := int32(8443), "x"
	rows := []columnar{columnarRow("a.example", 0), columnarRow("www.b.example", 1), columnarRow("c.example", 2),
		columnarRow("d.example", 3), columnarRow("e.example", 4)}
	rows[1].URL, rows[1].Protocol, rows[1].Port = "http://www.b.example:8443/robots.txt", "http", &port
	rows[2].URL, rows[2].Path = "https://c.example/page", "/page"
	rows[3].URL, rows[3].Query = "https://d.example/robots.txt?x", &query
	rows[4].Offset = -1
	digest := *rows[0].Digest
	at := func(url string, n int64, date time.Time) Capture {
		c := Capture{Line: n, Place: Place{"crawl-data/x.warc.gz", 1000 * (n - 1), 1000}, URL: url, Date: date,
			Within: time.Millisecond, Digest: digest}
		return c
	}
	want := []Capture{at("https://a.example/robots.txt", 1, rows[0].FetchTime), at("http://www.b.example:8443/robots.txt",
		2, rows[1].FetchTime)}
	same := func(what string, got, want []Capture) {
		t.Helper()
		for i := range got {
			got[i].Status = 0
			got[i].Origin = want[min(i, len(want)-1)].Origin
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s:\n%s", what, d)
		}
	}
	got, rest := tableRows(t, columnarFile(t, rows, 100), "", nil)
	if got[1].Origin.String() != "http://www.b.example:8443" || rest != "[5 not_a_capture: no readable offset] 2 0 0 2" {
		t.Errorf("%+v, the rest %s", got, rest)
	}
	same("by URL", got, want)

	type parts struct {
		Host, Protocol string           `parquet:"-"`
		HostName       string           `parquet:"url_host_name"`
		Scheme         string           `parquet:"url_protocol"`
		Port           *int32           `parquet:"url_port,optional"`
		Path           string           `parquet:"url_path"`
		Query          *string          `parquet:"url_query,optional"`
		Time           deprecated.Int96 `parquet:"fetch_time"`
		Digest         *string          `parquet:"content_digest,optional"`
		File           string           `parquet:"warc_filename"`
		Offset         int64            `parquet:"warc_record_offset"`
		Length         int64            `parquet:"warc_record_length"`
	}
	var byParts []parts
	for _, r := range rows {
		const julian = 2440588
		day := r.FetchTime.Unix() / 86400
		nanos := r.FetchTime.UnixNano() - day*86400e9
		byParts = append(byParts, parts{HostName: r.Host, Scheme: r.Protocol, Port: r.Port, Path: r.Path, Query: r.Query,
			Digest: r.Digest, File: r.File, Offset: int64(r.Offset), Length: int64(r.Length),
			Time: deprecated.Int96{uint32(nanos), uint32(nanos >> 32), uint32(day + julian)}})
	}
	got, rest = tableRows(t, columnarFile(t, byParts, 2), "", nil)
	if rest != "[5 not_a_capture: no readable offset] 2 0 0 2" {
		t.Errorf("by parts, the rest: %s", rest)
	}
	same("by parts", got, want)

	type least struct {
		Host   string `parquet:"url_host_name"`
		Time   string `parquet:"fetch_time"`
		File   string `parquet:"warc_filename"`
		Offset string `parquet:"warc_record_offset"`
	}
	got, rest = tableRows(t, columnarFile(t, []least{{"A.example", "2026-10-01 02:03:04.567", "x", "7"},
		{"not a host", "", "x", "7"}}, 2), "", nil)
	if len(got) != 1 || got[0].Origin.Host != "a.example" || got[0].Origin.Scheme != "" || got[0].Offset != 7 ||
		!got[0].Date.Equal(rows[0].FetchTime) || rest != "[2 not_a_capture: no readable host] 0 0 0 0" {
		t.Errorf("a host alone: %+v, the rest %s", got, rest)
	}
	if again, err := Kept(got[0].Key(), got[0].Value()); err != nil || again.Origin != got[0].Origin {
		t.Errorf("a host alone is kept as %+v (%v)", again, err)
	}
}

// Rows of other subsets than robotstxt are left out and counted, whether a column or the
// path names the subset.
func TestSubsets(t *testing.T) {
	type row struct {
		columnar
		Subset string `parquet:"subset"`
	}
	var rows []row
	var plain []columnar
	for i, subset := range []string{"robotstxt", "warc", "robotstxt", "crawldiagnostics"} {
		plain = append(plain, columnarRow(fmt.Sprintf("h%d.example", i), i))
		rows = append(rows, row{plain[i], subset})
	}
	for name, c := range map[string]struct {
		in   *bytes.Reader
		path string
		want string
	}{
		"column": {columnarFile(t, rows, 10), "a.parquet", "2 [] 0 2 0 0"},
		"path": {columnarFile(t, plain, 10), "t/crawl=CC-MAIN-2026-43/subset=robotstxt/a.parquet",
			"4 [] 0 0 0 0"},
		"another path":     {columnarFile(t, plain, 10), "s3://b/t/subset=warc/a.parquet", "0 [] 0 4 0 0"},
		"of Windows":       {columnarFile(t, plain, 10), `t\subset=crawldiagnostics\a.parquet`, "0 [] 0 4 0 0"},
		"no subset at all": {columnarFile(t, plain, 10), "my-subset=warc.parquet", "4 [] 0 0 0 0"},
	} {
		got, rest := tableRows(t, c.in, c.path, nil)
		if got := fmt.Sprint(len(got), " ", rest); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Row groups whose statistics show that they have no wanted host are not read, whatever of
// the columns with hosts a file has and is sorted by.
func TestRowGroupsOfHosts(t *testing.T) {
	var rows []columnar
	hosts := make(map[string]int64)
	for i := range 5000 {
		host := fmt.Sprintf("h%d.d%d.%s", i%7, i, []string{"com", "example", "org"}[i%3])
		if i%5 == 0 {
			host = "www." + host
		}
		rows = append(rows, columnarRow(host, i))
	}
	slices.SortFunc(rows, func(a, b columnar) int { return strings.Compare(a.Key, b.Key) })
	for i, r := range rows {
		hosts[r.Host] = int64(i + 1)
	}
	wanted := []string{rows[0].Host, rows[1700].Host, rows[3333].Host, rows[4999].Host, "none.d9999.org"}
	slices.Sort(wanted)
	const perGroup = 100 // so that there are 50
	check := func(name string, in *bytes.Reader, most int64) {
		t.Helper()
		got, rest := tableRows(t, in, "", wanted)
		var unread int64
		fmt.Sscanf(rest, "[] 0 0 %d", &unread)
		found := 0
		for _, c := range got {
			if slices.Contains(wanted, c.Origin.Host) {
				if found++; c.Line != hosts[c.Origin.Host] {
					t.Errorf("%s: %s is row %d, want %d", name, c.Origin.Host, c.Line, hosts[c.Origin.Host])
				}
			}
		}
		read := (int64(len(rows)) - unread) / perGroup
		t.Logf("%s: %d of %d row groups are read", name, read, len(rows)/perGroup)
		if found != 4 || read > most || int64(len(got)) != int64(len(rows))-unread {
			t.Errorf("%s: %d hosts are found; %d row groups are read, want at most %d", name, found, read, most)
		}
	}
	check("sorted by key", columnarFile(t, rows, perGroup), 5)
	type byHost struct {
		Host   string    `parquet:"url_host_name"`
		Time   time.Time `parquet:"fetch_time,timestamp(millisecond)"`
		File   string    `parquet:"warc_filename"`
		Offset int32     `parquet:"warc_record_offset"`
	}
	slices.SortFunc(rows, func(a, b columnar) int { return cmp.Compare(a.Host, b.Host) })
	var small []byHost
	for i, r := range rows {
		hosts[r.Host] = int64(i + 1)
		small = append(small, byHost{r.Host, r.FetchTime, r.File, r.Offset})
	}
	check("sorted by host", columnarFile(t, small, perGroup), 5)
}

// A file that is no index says what it lacks.
func TestTablesThatAreNoIndex(t *testing.T) {
	type hosts struct {
		Host string `parquet:"url_host_name"`
		Time int64  `parquet:"warc_record_length"`
	}
	type odd struct {
		URL    string   `parquet:"url"`
		File   []string `parquet:"warc_filename,list"`
		Offset int32    `parquet:"warc_record_offset"`
	}
	for _, row := range []struct {
		in    *bytes.Reader
		dated bool
		want  string
	}{
		{columnarFile(t, []hosts{{}}, 1), false,
			"x.parquet: has no column warc_filename, warc_record_offset; an index of captures in Parquet needs them"},
		{columnarFile(t, []hosts{{}}, 1), true, "has no column warc_filename, warc_record_offset, fetch_time; "},
		{columnarFile(t, []struct{ X string }{{}}, 1), false,
			"has no column url or url_host_name, warc_filename, warc_record_offset; "},
		{columnarFile(t, []odd{{}}, 1), false, `column "warc_filename" is of type list`},
		{bytes.NewReader([]byte("PAR1 and no more")), false, "is truncated or damaged Parquet"},
	} {
		_, err := OpenTable(row.in, row.in.Size(), "x.parquet", "", row.dated)
		if _, ok := errors.AsType[*userfile.Error](err); !ok || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
}
