package source

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/sinktest"
)

// captured is a row of a table of captures.
type captured struct {
	Host   string    `parquet:"url_host_name"`
	Time   time.Time `parquet:"fetch_time,timestamp(millisecond)"`
	File   string    `parquet:"warc_filename"`
	Offset int64     `parquet:"warc_record_offset"`
	Length int32     `parquet:"warc_record_length"`
}

// A table of captures is an index: in several files, with a filter of hosts, by date. It may
// have hosts alone, whose records then say the rest.
func TestTablesOfCaptures(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "subset=robotstxt")
	other := filepath.Join(dir, "subset=warc")
	must(t, os.Mkdir(folder, 0o777))
	must(t, os.Mkdir(other, 0o777))
	var archive bytes.Buffer
	var rows []captured
	add := func(host, body string, day int) {
		record := sinktest.Record(fmt.Sprintf("WARC-Type: response\r\nWARC-Date: 2026-01-%02dT06:00:00Z\r\n"+
			"WARC-Target-URI: https://%s/robots.txt\r\n", day, host), "HTTP/1.1 200 OK\r\n\r\n# "+body+"\n")
		name, _, _ := strings.Cut(host, ":")
		rows = append(rows, captured{name, time.Date(2026, 1, day, 6, 0, 0, 0, time.UTC), "x.warc.gz", int64(archive.Len()),
			0})
		content := gzipped(record)
		rows[len(rows)-1].Length = int32(len(content))
		archive.Write(content)
	}
	add("a.example", "first", 3)
	add("b.example", "b", 1)
	add("b.example:8443", "another port", 1)
	add("a.example", "earlier", 2)
	must(t, os.WriteFile(filepath.Join(dir, "x.warc.gz"), archive.Bytes(), 0o666))
	for i, part := range [][]captured{rows[:2], rows[2:]} {
		must(t, parquet.WriteFile(filepath.Join(folder, fmt.Sprintf("part-%d.parquet", i)), part))
	}
	must(t, parquet.WriteFile(filepath.Join(other, "part-0.parquet"), rows))
	files := filepath.Join(dir, "*", "*.parquet")
	for _, row := range []struct {
		name  string
		c     Config
		hosts string
		want  []string
		kinds string
	}{
		{"all", Config{}, "", []string{"a.example 200 # earlier", "a.example 200 # first", "b.example 200 # another port",
			"b.example 200 # b"}, "map[other_subsets:4]"},
		{"hosts", Config{}, "b.example\n", []string{"b.example 200 # another port", "b.example 200 # b"},
			"map[other_hosts:2 other_subsets:4]"},
		{"an origin", Config{}, "https://b.example\n", []string{"b.example 200 # b"}, "map[other_hosts:3 other_subsets:4]"},
		{"last", Config{LastCapture: true}, "a.example\n", []string{"a.example 200 # first"},
			"map[earlier_captures:1 other_hosts:2 other_subsets:4]"},
	} {
		c := row.c
		c.CDX, c.Base = []string{files}, dir
		if row.hosts != "" {
			c.Hosts = writeFile(t, "hosts", []byte(row.hosts))
		}
		got, rejects, err := readAll(t, c)
		if d := cmp.Diff(row.want, got); d != "" || err != nil || rejects.Lines() > 0 {
			t.Errorf("%s: %v\n%s", row.name, err, d)
			continue
		}
		if kinds := fmt.Sprint(map[string]int64(rejects.Skipped())); kinds != row.kinds {
			t.Errorf("%s: skipped %s, want %s", row.name, kinds, row.kinds)
		}
	}
	_, _, err := readAll(t,
		Config{CDX: []string{writeFile(t, "hosts.parquet", parquetOf(t, []struct{ Host string }{{"a.example"}}))}})
	if err == nil || !strings.Contains(err.Error(),
		"has no column url or url_host_name, warc_filename, warc_record_offset") {
		t.Errorf("a list of hosts as an index: %v", err)
	}
}

func parquetOf[T any](t *testing.T, rows []T) []byte {
	var out bytes.Buffer
	must(t, parquet.Write(&out, rows))
	return out.Bytes()
}
