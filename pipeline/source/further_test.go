package source

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
)

// record returns a record of a.example: its kind, path, hour and more fields, and what the
// server said.
func record(kind, path, hour, fields, answer string) []byte {
	block := "HTTP/1.1 " + strings.Replace(answer, "\n", "\r\n\r\n", 1)
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Date: 2026-01-10T%s:00:00Z\r\n"+
		"WARC-Target-URI: https://a.example%s\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n",
		kind, hour, path, fields, len(block), block)
}

// Each capture of a robots.txt finds the answers of its host that are nearest to it in time,
// in any archive, and the originals of revisit records.
func TestFurtherAnswersOfArchives(t *testing.T) {
	const revisit = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
	one := [][]byte{
		record("response", "/map", "01", "", "200\nof 1"), record("response", "/robots.txt", "02", "", "200\n#"),
		record("response", "/map", "05", "WARC-Record-ID: <urn:five>\r\n", "200\nof 5"),
		record("response", "/map?other", "02", "", "200\nother"), record("revisit", "/lost", "02", revisit+
			"WARC-Refers-To: <urn:none>\r\n", "200\n"),
	}
	two := [][]byte{
		record("response", "/robots.txt", "08", "", "200\n#"), record("revisit", "/map", "09", revisit+
			"WARC-Refers-To: <urn:five>\r\n", "200\n"),
		record("revisit", "/map", "07", revisit, "200\n"), record("response", "/map", "08", "", "304\n"),
		record("revisit", "/gone", "09", revisit+"WARC-Refers-To: <urn:none>\r\n", "404\nno"),
		record("response", "/robots.txt", "20", "", "200\n#"), record("response", "/map", "19", "", "503\n"),
	}
	want := []string{
		"02 /map 01 200 of 1", "02 /lost none", "02 /gone 09 404 no", "02 /nothing none", "08 /map 09 200 of 5",
		"08 /lost none", "08 /gone 09 404 no", "08 /nothing none",
		"20 /map 19 503 ", "20 /lost none", "20 /gone 09 404 no", "20 /nothing none",
	}
	for name, pack := range map[string]func(string) []byte{
		"plain": func(text string) []byte { return []byte(text) }, "gzip": gzipped, "zstd": zstandard,
	} {
		var files []string
		for i, records := range [][][]byte{one, two} {
			slices.Reverse(records)
			var file []byte
			for _, r := range records {
				file = append(file, pack(string(r))...)
			}
			files = append(files, writeFile(t, fmt.Sprintf("%d.warc", i), file))
		}
		s, err := Open(t.Context(), Config{WARC: files, Limits: fetch.Limits{MaxBody: 1 << 20}, Further: true})
		must(t, err)
		var got []string
		s.Complete = func(ctx context.Context, c *fetch.Capture, find client.Find) error {
			for _, path := range []string{"/map", "/lost", "/gone", "/nothing"} {
				text := "none"
				found, err := find(ctx, "https://a.example"+path, c.Start, func(date time.Time, sent io.Reader) {
					all, err := io.ReadAll(sent)
					must(t, err)
					head, body, _ := strings.Cut(string(all), "\r\n\r\n")
					text = fmt.Sprintf("%s %s %s", date.Format("15"), strings.Fields(head)[1], body)
				})
				if err != nil || found != (text != "none") {
					t.Errorf("%s: found %v %q, %v", path, found, text, err)
				}
				got = append(got, fmt.Sprintf("%s %s %s", c.Start.Format("15"), path, text))
			}
			return nil
		}
		must(t, s.Start(t.Context(), input.NewAccount(nil, in(t, t.TempDir()), func(int64) {}), func(int64) {}))
		for _, v := range s.Volumes {
			must(t, v.Read(t.Context(), func(target.Target) error { return nil }))
		}
		must(t, s.Close())
		order := func(text string) string { return text[:2] }
		slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(order(a), order(b)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
