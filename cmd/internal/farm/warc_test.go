package farm

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

type record struct {
	header textproto.MIMEHeader
	block  []byte
}

func write(t *testing.T, a Archive, name string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := a.Write(context.Background(), &out, name); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// recordsOf reads an archive with a gzip member per record.
func recordsOf(t *testing.T, archive []byte) (out []record) {
	t.Helper()
	in := bytes.NewReader(archive)
	for in.Len() > 0 {
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false)
		member, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(bytes.NewReader(member))
		if line, err := r.ReadString('\n'); line != "WARC/1.0\r\n" {
			t.Fatalf("begins with %q, %v", line, err)
		}
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			t.Fatal(err)
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		rest, _ := io.ReadAll(r)
		if err != nil || string(rest[min(length, len(rest)):]) != "\r\n\r\n" {
			t.Fatalf("Content-Length %s of a block and end of %d", header.Get("Content-Length"), len(rest))
		}
		out = append(out, record{header, rest[:length]})
	}
	return out
}

func digest(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

func TestArchive(t *testing.T) {
	hosts := Hosts{
		"a.test": []byte("a"), "b_c.test_8080": []byte("port"), "d.test_8443": nil, "::1": []byte("six"),
		"192.0.2.7":  []byte("four"),
		"large.test": bytes.Repeat([]byte("x"), archiveLimit+1),
	}
	records := recordsOf(t, write(t, Archive{Hosts: hosts, Repeat: 2}, "a.warc.gz"))
	if got := records[0].header.Get("WARC-Type"); got != "warcinfo" {
		t.Errorf("begins with %s", got)
	}
	ids, bodies, last := map[string]bool{}, map[string]string{}, time.Time{}
	for i, r := range records {
		date, err := time.Parse(time.RFC3339, r.header.Get("WARC-Date"))
		if err != nil || date.Before(last) {
			t.Errorf("record %d: date %v after %v, %v", i, date, last, err)
		}
		last = date
		ids[r.header.Get("WARC-Record-ID")] = true
		if i == 0 {
			continue
		}
		if want := [...]string{"metadata", "request", "response"}[i%3]; r.header.Get("WARC-Type") != want {
			t.Fatalf("record %d: %s, want %s", i, r.header.Get("WARC-Type"), want)
		}
		url := r.header.Get("WARC-Target-URI")
		switch i % 3 {
		case 1:
			req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(r.block)))
			if err != nil || !strings.Contains(url, "://"+req.Host+"/robots.txt") {
				t.Errorf("%s: request %q, %v", url, r.block, err)
			}
		case 2:
			resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.block)), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.ContentLength != int64(len(body)) || resp.StatusCode != 200 {
				t.Errorf("%s: %s of %d bytes, declared %d, %v", url, resp.Status, len(body), resp.ContentLength, err)
			}
			for name := range resp.Header { // the hidden headers of Common Crawl
				hidden, ok := strings.CutPrefix(name, "X-Crawl")
				if ok && hidden != "er-Content-Encoding" && hidden != "er-Transfer-Encoding" && hidden != "er-Content-Length" {
					t.Errorf("%s: a header %s", url, name)
				}
			}
			if r.header.Get("WARC-Block-Digest") != digest(r.block) || r.header.Get("WARC-Payload-Digest") != digest(body) {
				t.Errorf("%s: digests %v", url, r.header)
			}
			if r.header.Get("WARC-Concurrent-To") != records[i-1].header.Get("WARC-Record-ID") {
				t.Errorf("%s: concurrent to %s", url, r.header.Get("WARC-Concurrent-To"))
			}
			if cut := r.header.Get("WARC-Truncated"); cut != "" {
				body = append(body, cut...)
			}
			bodies[url] = string(body)
		}
	}
	if len(ids) != len(records) {
		t.Errorf("%d ids of %d records", len(ids), len(records))
	}
	want := map[string]string{
		"http://b_c.test:8080/robots.txt": "port", "https://d.test:8443/robots.txt": "",
		"https://[::1]/robots.txt": "six", "https://192.0.2.7/robots.txt": "four", "https://a.test/robots.txt": "a",
		"https://large.test/robots.txt": string(hosts["large.test"][:archiveLimit]) + "length",
	}
	for i, name := range slices.Sorted(maps.Keys(hosts)) {
		want[fmt.Sprintf("https://site%d-2.test/robots.txt", i+1)] = want[robotsURL(name)]
	}
	if d := cmp.Diff(want, bodies); d != "" {
		t.Error(d)
	}
}

func TestArchiveForms_NoRace(t *testing.T) {
	a := Archive{Hosts: Hosts{"a.test": []byte("a"), "b.test": []byte(strings.Repeat(rules, 1000))}, Repeat: 50, Other: 40}
	plain := write(t, a, "a.warc")
	unzip := func(b []byte) []byte {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	unzstd := func(b []byte) []byte {
		d, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		out, err := d.DecodeAll(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, undo := range map[string]func([]byte) []byte{"a.warc.gz": unzip, "a.warc.zst": unzstd} {
		once, again := write(t, a, name), write(t, a, name)
		if !bytes.Equal(once, again) {
			t.Errorf("%s: other bytes the second time", name)
		}
		// The first record contains the name of the file, with its length.
		_, got, _ := bytes.Cut(undo(once), []byte("WARC-Filename: "+name))
		if _, want, _ := bytes.Cut(plain, []byte("WARC-Filename: a.warc")); !bytes.Equal(got, want) {
			t.Errorf("%s: other content than plain", name)
		}
	}
	if _, err := a.Write(context.Background(), io.Discard, "a.gz"); err == nil || !strings.Contains(err.Error(),
		".warc.zst") {
		t.Errorf("a.gz: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.Write(ctx, io.Discard, "a.warc"); err != context.Canceled {
		t.Errorf("after the end: %v", err)
	}
}

func TestArchiveOther_NoRace(t *testing.T) {
	statuses := map[int]int{}
	for i, r := range recordsOf(t, write(t, Archive{Hosts: Hosts{"a.test": []byte("a")}, Repeat: 1000, Other: 40},
		"a.warc.gz")) {
		if i == 0 || i%3 != 2 {
			continue
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.block)), nil)
		if err != nil {
			t.Fatal(err)
		}
		statuses[resp.StatusCode]++
		if resp.StatusCode == 301 {
			if next, err := resp.Location(); err != nil || !strings.HasPrefix(next.Host, "www.") {
				t.Errorf("redirect to %v, %v", next, err)
			}
		}
	}
	for status, want := range map[int]int{200: 600, 404: 240, 301: 120, 403: 40} {
		if got := statuses[status]; got < want*3/4 || got > want*5/4 {
			t.Errorf("status %d: %d times of 1000, want about %d", status, got, want)
		}
	}
}
