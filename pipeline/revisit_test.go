package pipeline

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// revisitOf returns a revisit record of a host's robots.txt.
func revisitOf(host, more string) string {
	return warcRecord(strings.Replace(warcFields(host), "response", "revisit", 1)+more, "HTTP/1.1 200 OK\r\n\r\n")
}

// Without --last-capture each capture has its row. A revisit record has the body of its
// original if that is in the same archive, before it or behind it; the archive is then read
// again, and nothing counts twice.
func TestRevisitsOfOneArchive_NoRace(t *testing.T) {
	named := func(host string) string {
		return strings.Replace(warcResponse(host, rulesOf+host+"\n"), "WARC-Type", "WARC-Record-ID: <urn:"+host+
			">\r\nWARC-Type", 1)
	}
	broken := "WARC/1.0\r\nWARC-Type: response\r\n\r\n\r\n"
	records := []string{
		named("first.example"), broken, warcResponse("gone.example", "HTTP/1.1 404 x\r\n\r\n"),
		revisitOf("first.example", "WARC-Refers-To: <urn:first.example>\r\n"), broken,
		strings.Replace(warcResponse("x.example", rulesOf+"x\n"), "robots.txt", "other", 1),
		revisitOf("ahead.example", "WARC-Refers-To: <urn:behind.example>\r\n"), revisitOf("bare.example", ""),
		warcResponse("moved.example", toURL("https://first.example/robots.txt")),
		revisitOf("lost.example", "WARC-Refers-To: <urn:elsewhere>\r\n"), named("behind.example"), broken,
	}
	want := []string{
		"ahead.example 00 200 success ahead.example/robots.txt /behind.example",
		"bare.example 00 200 revisit_unresolved bare.example/robots.txt -",
		"behind.example 00 200 success behind.example/robots.txt /behind.example",
		"first.example 00 200 success first.example/robots.txt /first.example",
		"first.example 00 200 success first.example/robots.txt /first.example",
		"gone.example 00 404 client_error gone.example/robots.txt -",
		"lost.example 00 200 revisit_unresolved lost.example/robots.txt -",
		"moved.example 00 301 redirect_unresolved moved.example/robots.txt>first.example/robots.txt -",
	}
	var members []byte
	for _, record := range records {
		members = append(members, gzipped(record)...)
	}
	var wacz bytes.Buffer
	z := zip.NewWriter(&wacz)
	for _, name := range []string{"pages/pages.jsonl", "archive/data.warc.gz"} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		must(t, err)
		_, err = w.Write(members)
		must(t, err)
	}
	must(t, z.Close())
	for name, file := range map[string][]byte{
		"members": members, "one member": gzipped(strings.Join(records, "")), "plain": []byte(strings.Join(records, "")),
		"WACZ": wacz.Bytes(),
	} {
		server := newArchiveServer(t, map[string][]byte{"/a.warc": file})
		for _, s := range []source.Config{
			{WARC: []string{writeFile(t, "a.warc", file)}},
			{WARC: []string{server.URL + "/a.warc"}, Remote: remote.Limits{AtOnce: 1}}, // two readers would wait for each other
		} {
			s.Schemes = []string{"http"}
			c := storedConfig(t, s)
			_, err := Run(t.Context(), c, new(Progress))
			must(t, err)
			if got := lastRows(t, c); !slices.Equal(got, want) {
				t.Errorf("%s: %s", name, cmp.Diff(want, got))
			}
			var seqs []int64
			for _, row := range fetchesOf(t, c) {
				seqs = append(seqs, row.Seq)
			}
			m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
			must(t, err)
			damaged := 0
			for _, reason := range rejectedReasons(t, c) {
				if strings.HasPrefix(reason, "damaged_record") {
					damaged++
				}
			}
			if !slices.Equal(seqs, []int64{1, 2, 3, 4, 5, 6, 7, 8}) || m.Skipped["other_urls"] != 1 ||
				m.Skipped["damaged"] != 3 || damaged != 3 {
				t.Errorf("%s: numbers %d, %v skipped, %d damaged places listed", name, seqs, m.Skipped, damaged)
			}
		}
	}
}

// The archives that fail as their writers write them are read, one row to a host.
func TestArchivesOfWriters_NoRace(t *testing.T) {
	const folder = "../../shared/conformance/archives/"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the archives are not here")
	}
	for file, want := range map[string]string{
		"revisit-by-record-id.warc.gz":  "a.test 00 200 success a.test/robots.txt /private/",
		"revisit-whole-seconds.warc.gz": "a.test 00 200 success a.test/robots.txt /private/",
		"revisit-full.warc.gz":          "a.test 00 200 success a.test/robots.txt /private/",
		"warc-0.18.warc": "a.test 00 200 success a.test/robots.txt /private/\n" +
			"b.test 00 200 success b.test/robots.txt /private/",
		"../reports/status-line-without-version.arc": "a.example 13 200 success a.example/robots.txt /private/",
	} {
		for _, lastCapture := range []bool{true, false} {
			c := storedConfig(t, source.Config{Schemes: []string{"http"}, WARC: []string{filepath.Join(folder, file)},
				LastCapture: lastCapture})
			_, err := Run(t.Context(), c, new(Progress))
			must(t, err)
			rows := slices.Compact(lastRows(t, c)) // without --last-capture the original has its row too
			if got := strings.Join(rows, "\n"); got != want {
				t.Errorf("%s, last capture %v: %s", file, lastCapture, cmp.Diff(want, got))
			}
			if reasons := rejectedReasons(t, c); slices.ContainsFunc(reasons, func(r string) bool {
				return strings.HasPrefix(r, "damaged")
			}) {
				t.Errorf("%s: %q", file, fmt.Sprint(reasons))
			}
		}
	}
}
