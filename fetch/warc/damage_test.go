package warc

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robocensus/robocensus/fetch"
)

// manners are ways to damage a record: in its text before it is packed, or in
// the packed bytes.
var manners = []struct {
	name   string
	text   func(string) string
	packed func([]byte, *rand.Rand) []byte
	forms  string // the forms that detect it
}{
	{name: "no version line", text: func(s string) string { return strings.TrimPrefix(s, "WARC/1.0\r\n") }},
	{name: "another version", text: func(s string) string { return strings.Replace(s, "WARC/1.0", "WARC/2.0", 1) }},
	{name: "a length too large", text: length(func(n int) int { return n + 5 })},
	{name: "a length too small", text: length(func(n int) int { return n - 5 })},
	{name: "a length that takes in the next record", text: length(func(n int) int { return n + 700 })},
	{name: "a length of a terabyte", text: length(func(int) int { return 1 << 40 })},
	{name: "a length below zero", text: length(func(int) int { return -1 })},
	{name: "a length of many digits", text: func(s string) string {
		return strings.Replace(s, "Content-Length: ", "Content-Length: 99999999999999999999", 1)
	}},
	{name: "no length", text: func(s string) string { return strings.Replace(s, "Content-Length", "Content-Lenght", 1) }},
	{name: "no date", text: func(s string) string { return strings.Replace(s, "WARC-Date", "WARC-Dote", 1) }},
	{name: "a header without end", text: func(s string) string {
		return strings.ReplaceAll(strings.TrimRight(s, "\r\n"), "\r\n\r\n", "\r\n")
	}},
	{name: "cut in half", packed: func(b []byte, _ *rand.Rand) []byte { return b[:len(b)/2] }},
	{name: "the last bytes missing", packed: func(b []byte, _ *rand.Rand) []byte { return b[:len(b)-5] }},
	{name: "the first byte missing", packed: func(b []byte, _ *rand.Rand) []byte { return b[1:] }},
	{name: "a run of zeros", forms: "gzip zstd", packed: func(b []byte, _ *rand.Rand) []byte {
		clear(b[len(b)/3 : len(b)/2])
		return b
	}},
	{name: "noise", forms: "gzip zstd", packed: func(b []byte, r *rand.Rand) []byte {
		for i := len(b) / 4; i < len(b); i++ {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{name: "a bit flipped", forms: "gzip zstd", packed: func(b []byte, r *rand.Rand) []byte {
		i := 20 + r.IntN(len(b)-20)
		b[i] ^= 1 << r.IntN(8)
		return b
	}},
}

func length(change func(int) int) func(string) string {
	return func(s string) string {
		before, rest, _ := strings.Cut(s, "Content-Length: ")
		number, after, _ := strings.Cut(rest, "\r\n")
		n, err := strconv.Atoi(number)
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf("%sContent-Length: %d\r\n%s", before, change(n), after)
	}
}

// TestWARCDamage damages every tenth response. All others are read, and the
// damaged ones are reported at their offsets.
func TestWARCDamage(t *testing.T) {
	for _, form := range warcForms {
		for _, manner := range manners {
			if manner.forms != "" && !strings.Contains(manner.forms, form.name) {
				continue
			}
			t.Run(form.name+"/"+manner.name, func(t *testing.T) {
				noise := rand.New(rand.NewPCG(1, uint64(crc32.ChecksumIEEE([]byte(manner.name)))))
				file := form.pack(warcRecord("WARC-Type: warcinfo\r\n", "software: x\r\n"))
				var want, got, wantDamage, gotDamage []string
				for i := range 200 {
					host := fmt.Sprintf("host%d.test", i)
					file = append(file, form.pack(warcRecord("WARC-Type: request\r\n", "GET /robots.txt HTTP/1.1\r\nHost: "+host+
						"\r\n\r\n"))...)
					body := "User-agent: *\nDisallow: /" + strings.Repeat(host, i) + "\n#######"
					record := warcRecord(warcFields(host)+"WARC-Payload-Digest: sha1:"+digestOf([]byte(body))+"\r\n",
						"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"+body)
					switch {
					case i%10 != 5:
						want = append(want, fmt.Sprintf("%s %d", host, len(file)))
						file = append(file, form.pack(record)...)
					case manner.text != nil:
						wantDamage = append(wantDamage, strconv.Itoa(len(file)))
						file = append(file, form.pack(manner.text(record))...)
					default:
						wantDamage = append(wantDamage, strconv.Itoa(len(file)))
						file = append(file, manner.packed(form.pack(record), noise)...)
					}
					file = append(file, form.pack(warcRecord("WARC-Type: metadata\r\n", "fetchTimeMs: 1\r\n"))...)
				}
				captures, damages, _ := readAll(t, bytes.NewReader(file))
				for _, c := range captures {
					got = append(got, fmt.Sprintf("%s %d", c.Origin.Host, c.Offset))
				}
				for _, d := range damages {
					offset, _, _ := strings.Cut(d, ":")
					gotDamage = append(gotDamage, offset)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("captures:\n%s", d)
				}
				if d := cmp.Diff(wantDamage, gotDamage); d != "" {
					t.Errorf("damages %q:\n%s", damages, d)
				}
			})
		}
	}
}

// TestWARCCut checks that from a file cut off anywhere all complete records are
// read, with and without seeking.
func TestWARCCut(t *testing.T) {
	for _, form := range warcForms {
		t.Run(form.name, func(t *testing.T) {
			var file []byte
			var ends []int
			for i := range 3 {
				file = append(file, form.pack(warcResponse(fmt.Sprintf("host%d.test", i), "HTTP/1.1 200 OK\r\n\r\nxyz"))...)
				ends = append(ends, len(file))
			}
			for cut := range file {
				whole, at := 0, false
				for _, end := range ends {
					if form.name == "plain" {
						end -= 4 // the line ends after a block are optional
					}
					if cut >= end {
						whole++
					}
					at = at || cut >= end && cut <= end+4 && form.name == "plain" || cut == end
				}
				for name, r := range map[string]io.Reader{"seeker": bytes.NewReader(file[:cut]), "stream": struct {
					io.Reader
				}{bytes.NewReader(file[:cut])}} {
					captures, damages, _ := readAll(t, r)
					wantDamages := 1
					if at { // at 0 the file is empty
						wantDamages = 0
					}
					if len(captures) != whole || len(damages) != wantDamages {
						t.Fatalf("%s cut at %d of %v: %d captures, damages %q", name, cut, ends, len(captures), damages)
					}
				}
			}
		})
	}
}

// TestWARCStreamDamage checks that without seeking, a wrong length loses only
// the records within it.
func TestWARCStreamDamage(t *testing.T) {
	for _, form := range warcForms {
		var file []byte
		for i := range 30 {
			record := warcResponse(fmt.Sprintf("host%d.test", i), "HTTP/1.1 200 OK\r\n\r\nxyz")
			if i%10 == 5 {
				record = length(func(n int) int { return n + 20 })(record)
			}
			file = append(file, form.pack(record)...)
		}
		captures, damages, _ := readAll(t, struct{ io.Reader }{bytes.NewReader(file)})
		want := 27
		if form.name == "plain" {
			want = 24 // the length swallows the start of each next record
		}
		if len(captures) != want || len(damages) != 3 {
			t.Errorf("%s: %d captures, damages %q", form.name, len(captures), damages)
		}
	}
}

// TestWARCOneMemberDamage checks that in a file compressed as a whole, reading
// resumes inside the member.
func TestWARCOneMemberDamage(t *testing.T) {
	var text strings.Builder
	for i := range 30 {
		record := warcResponse(fmt.Sprintf("host%d.test", i), "HTTP/1.1 200 OK\r\n\r\nxyz")
		switch {
		case i%10 == 0:
			record = length(func(n int) int { return n - 2 })(record)
		case i%10 == 5:
			record = strings.TrimPrefix(record, "WARC/1.0\r\n")
		}
		text.WriteString(record)
	}
	for name, file := range map[string][]byte{"gzip": gzipped(text.String()), "zstd": zstandard(text.String())} {
		captures, damages, _ := readAll(t, bytes.NewReader(file))
		if len(captures) != 24 || len(damages) != 6 {
			t.Errorf("%s: %d captures, damages %q", name, len(captures), damages)
		}
	}
}

// TestWARCBetween checks that junk before, between and after the members is
// reported and skipped.
func TestWARCBetween(t *testing.T) {
	for _, form := range warcForms {
		for _, junk := range []string{"x", "\x01\x00", "\x1f\x8b\x08\x00", zstdMagic, "junk WARC/1.",
			strings.Repeat("junk ", 100_000)} {
			record := func(host string) []byte { return form.pack(warcResponse(host, "HTTP/1.1 200 OK\r\n\r\nxyz")) }
			file := slices.Concat([]byte(junk+"\r\n"), record("a.test"), []byte(junk+"\r\n"), record("b.test"), []byte(junk))
			captures, damages, _ := readAll(t, bytes.NewReader(file))
			if len(captures) != 2 || len(damages) != 3 || !strings.HasPrefix(damages[0], "0: ") {
				t.Errorf("%s, %.20q: %d captures, damages %q", form.name, junk, len(captures), damages)
			}
		}
	}
}

// meteredReader counts the bytes read from it.
type meteredReader struct {
	*bytes.Reader
	n int64
}

func (c *meteredReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// TestWARCWork checks that members that begin inside each other, each as long
// as the rest of the file, cost a bounded number of passes over it.
func TestWARCWork(t *testing.T) {
	// Stored blocks of deflate: each contains the header of a gzip member and
	// of a record, and the next block.
	inner := gzipMagic + "\x00\x00\x00\x00\x00\x00\xff"
	record := "WARC/1.0\r\nContent-Length: 1000000000\r\n\r\n"
	var nested strings.Builder
	for range 10_000 {
		nested.WriteString(inner)
		n := len(record) + len(inner)
		nested.Write([]byte{0, byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)})
		nested.WriteString(record)
	}
	plain := strings.Repeat("WARC/1.0\r\nContent-Length: 100000\r\n\r\n", 20_000)
	// The scan for the other forms must not start over at each of these.
	zstd := strings.Repeat(zstdMagic, 1<<20)
	for name, file := range map[string]string{"gzip": nested.String(), "plain": plain, "zstd": zstd} {
		in := &meteredReader{Reader: bytes.NewReader([]byte(file))}
		_, damages, _ := readAll(t, in)
		if most := int64(len(file))*maxAgain + 64<<20 + int64(len(file)) + maxChunk; in.n > most || len(damages) == 0 {
			t.Errorf("%s: %d bytes read of a file of %d, %d damages", name, in.n, len(file), len(damages))
		}
	}
}

// TestWARCBombs checks that members that begin inside each other and all end in
// one bomb expand it only a few times, not as often as the file may be read.
func TestWARCBombs(t *testing.T) {
	const raw, repeated, reserved = 0, 1, 3
	block := func(kind, size int) []byte { return []byte{byte(size<<3 | kind<<1), byte(size >> 5), byte(size >> 13)} }
	frame := zstdMagic + "\x00\x58" // with a window of 2 MB
	var file []byte
	const frames = 10_000
	for k := range frames {
		file = append(append(file, frame...), block(raw, (frames-1-k)*(len(frame)+3))...) // up to the bomb
	}
	file = append(file, bytes.Repeat(append(block(repeated, 128<<10), 'x'), 4000)...)
	file = append(file, block(reserved, 0)...)
	in := &meteredReader{Reader: bytes.NewReader(file)}
	_, damages, _ := readAll(t, in)
	if in.n > 10*int64(len(file)) || len(damages) == 0 {
		t.Errorf("%d bytes read of a file of %d, %d damages", in.n, len(file), len(damages))
	}
}

// FuzzWARC checks that nothing panics and that each capture can be read again
// from its reported place.
func FuzzWARC(f *testing.F) {
	records := []string{
		warcRecord("WARC-Type: warcinfo\r\n", "software: x\r\n"),
		warcResponse("a.test", "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nUser-agent: *\n"),
		warcResponse("b.test", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"+
			"5\r\nhello\r\n0\r\n\r\n"),
		warcResponse("c.test", "HTTP/2 301\nLocation: /x\n\n"),
		warcRecord(strings.Replace(warcFields("d.test"), "response", "revisit", 1)+
			"WARC-Truncated: length\r\nWARC-Profile: <x>\r\n", "HTTP/1.0 404 x\r\n\r\n"),
	}
	for _, form := range warcForms {
		var file []byte
		for _, r := range records {
			file = append(file, form.pack(r)...)
		}
		f.Add(file)
		f.Add(append(file[:len(file)/2], file[len(file)/2+9:]...))
	}
	arc := []string{
		arcHead(1), arcHead(2), arcRecord("dns:a.test", "20040110060000\n"),
		arcResponse("a.test", "HTTP/1.0 200 OK\n\nUser-agent: *\n"),
		"http://b.test/robots.txt - 199610120607 a b 3\nxyz\n",
		"http://c.test/robots.txt ::1 20040110060708 text/plain 200 - - 4711 x.arc 17\nHTTP/1.1 404 x\r\n\r\n\n",
	}
	for _, form := range warcForms {
		var file []byte
		for _, r := range arc {
			file = append(file, form.pack(r)...)
		}
		f.Add(file)
		f.Add(append(file[:len(file)/2], file[len(file)/2+9:]...))
	}
	f.Add(gzipped(strings.Join(arc, "")))
	e := &Evidence{MaxBody: limit}
	var evidence []byte
	for _, c := range fromMemory(f) {
		r, err := e.Capture(c, nothing)
		if err != nil {
			f.Fatal(err)
		}
		evidence = append(evidence, r...)
	}
	f.Add(evidence)
	f.Add(gzipped(strings.Join(records, "")))
	f.Add(zstandard(strings.Join(records, "")))
	f.Fuzz(func(t *testing.T, file []byte) {
		captures, _, _ := readAll(t, bytes.NewReader(file))
		readAll(t, struct{ io.Reader }{bytes.NewReader(file)})
		end := int64(0)
		for _, c := range captures {
			if len(c.Body) > limit || c.Offset < end || c.Offset+c.Length > int64(len(file)) {
				t.Fatalf("%d bytes at %d+%d, behind %d, of %d", len(c.Body), c.Offset, c.Length, end, len(file))
			}
			if end = c.Offset + c.Length; c.Length == 0 || isSkippable(file) {
				continue // a shared member, or a frame that needs a dictionary; see [RecordReader.Begin]
			}
			again, damages, _ := readAll(t, bytes.NewReader(file[c.Offset:end]))
			if len(again) != 1 || len(damages) > 0 || !bytes.Equal(again[0].Body, c.Body) || again[0].Origin != c.Origin ||
				again[0].Start != c.Start {
				t.Fatalf("read again: %+v, damages %q, want %+v", again, damages, c)
			}
		}
	})
}

// BenchmarkWARC reads an archive like Common Crawl's: a gzip member per record,
// three records per capture.
func BenchmarkWARC(b *testing.B) {
	var file []byte
	text := 0
	add := func(record string) { text += len(record); file = append(file, gzipped(record)...) }
	for i := range 1000 {
		host := fmt.Sprintf("host%d.test", i)
		about := "WARC-Date: 2026-01-10T06:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-" +
			fmt.Sprintf("%012d", i) + ">\r\nWARC-IP-Address: 192.0.2.1\r\n"
		add(warcRecord("WARC-Type: request\r\n"+about, "GET /robots.txt HTTP/1.1\r\nHost: "+host+
			"\r\nUser-Agent: x\r\nAccept-Encoding: gzip\r\n\r\n"))
		body := "User-agent: *\n"
		for j := range 100 {
			body += fmt.Sprintf("Disallow: /%x/%d\n", i*j, j)
		}
		add(warcRecord(warcFields(host)+about, "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/plain\r\n"+
			"X-Crawler-Content-Encoding: gzip\r\n\r\n"+body))
		add(warcRecord("WARC-Type: metadata\r\n"+about, "fetchTimeMs: 1\r\n"))
	}
	b.SetBytes(int64(text))
	b.ReportAllocs()
	for b.Loop() {
		captures := 0
		_, err := Read(b.Context(), "bench.warc.gz", bytes.NewReader(file), Config{Limits: fetch.Limits{MaxBody: 512_000}},
			func(*Capture) error { captures++; return nil }, nil)
		if err != nil || captures != 1000 {
			b.Fatal(captures, err)
		}
	}
	b.ReportMetric(float64(b.N)*3000/b.Elapsed().Seconds(), "records/s")
}

func digestOf(body []byte) string {
	sum := sha1.Sum(body)
	return base32.StdEncoding.EncodeToString(sum[:])
}
