package warc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
)

const limit = 1000

// warcRecord returns the text of a record: the fields after its version line,
// without the length, and its block.
func warcRecord(fields, block string) string {
	return fmt.Sprintf("WARC/1.0\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", fields, len(block), block)
}

// warcFields returns the fields of a response for a host's robots.txt.
func warcFields(host string) string {
	return "WARC-Type: response\r\nWARC-Date: 2026-01-10T06:00:00Z\r\nWARC-Target-URI: https://" + host + "/robots.txt\r\n"
}

func warcResponse(host, answer string) string { return warcRecord(warcFields(host), answer) }

var gzipEncoder = gzip.NewWriter(nil)

func gzipped(s string) []byte {
	var out bytes.Buffer
	gzipEncoder.Reset(&out)
	io.WriteString(gzipEncoder, s)
	gzipEncoder.Close()
	return out.Bytes()
}

var zstdEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))

func zstandard(s string) []byte { return zstdEncoder.EncodeAll([]byte(s), nil) }

func unpacked(s string) []byte { return []byte(s) }

// warcForms each pack one record.
var warcForms = []struct {
	name string
	pack func(string) []byte
}{{"gzip", gzipped}, {"zstd", zstandard}, {"plain", unpacked}}

// readAll returns the captures of a file, and the damage as "offset: what".
func readAll(t testing.TB, r io.Reader) (captures []*Capture, damages []string, counts Counts) {
	t.Helper()
	counts, err := Read(context.Background(), "test.warc", r, Config{Limits: fetch.Limits{MaxBody: limit}},
		func(c *Capture) error { captures = append(captures, c); return nil },
		func(offset int64, what string) error {
			damages = append(damages, fmt.Sprintf("%d: %s", offset, what))
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if counts.Captures != int64(len(captures)) || counts.Damaged != int64(len(damages)) {
		t.Fatalf("%+v, with %d captures and %d damages", counts, len(captures), len(damages))
	}
	return captures, damages, counts
}

// one reads a single good capture.
func one(t *testing.T, record string) *Capture {
	t.Helper()
	captures, damages, counts := readAll(t, bytes.NewReader(gzipped(record)))
	if len(captures) != 1 || damages != nil {
		t.Fatalf("%d captures, damages %q, %+v", len(captures), damages, counts)
	}
	return captures[0]
}

func TestWARCRecordHeader(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\n\r\nx"
	date := func(s string) string {
		return strings.Replace(warcResponse("a.test", answer), "2026-01-10T06:00:00Z", s, 1)
	}
	target := func(s string) string {
		return strings.Replace(warcResponse("a.test", answer), "https://a.test/robots.txt", s, 1)
	}
	more := func(s string) string { return warcRecord(warcFields("a.test")+s, answer) }
	for _, row := range []struct{ name, record, want string }{
		{"WARC 1.0", warcResponse("a.test", answer), "https://a.test 2026-01-10T06:00:00Z"},
		{"WARC 1.1", strings.Replace(warcResponse("a.test", answer), "WARC/1.0", "WARC/1.1", 1),
			"https://a.test 2026-01-10T06:00:00Z"},
		{"WARC 0.17", strings.Replace(warcResponse("a.test", answer), "WARC/1.0", "WARC/0.17", 1),
			"https://a.test 2026-01-10T06:00:00Z"},
		{"WARC 0.18", strings.Replace(warcResponse("a.test", answer), "WARC/1.0", "WARC/0.18", 1),
			"https://a.test 2026-01-10T06:00:00Z"},
		{"a target in angle brackets", target("<http://a.test/robots.txt>"), "http://a.test 2026-01-10T06:00:00Z"},
		{"a target with port", target("http://A.test:8080/robots.txt"), "http://a.test:8080 2026-01-10T06:00:00Z"},
		{"a target with fragment", target("http://a.test/robots.txt#x"), "http://a.test 2026-01-10T06:00:00Z"},
		{"an IPv6 target", target("http://[2001:DB8::1]/robots.txt"), "http://[2001:db8::1] 2026-01-10T06:00:00Z"},
		{"nanoseconds", date("2026-01-10T06:00:00.123456789Z"), "https://a.test 2026-01-10T06:00:00.123456789Z"},
		{"another zone", date("2026-01-10T06:00:00+01:00"), "https://a.test 2026-01-10T05:00:00Z"},
		{"minutes", date("2026-01-10T06:00Z"), "https://a.test 2026-01-10T06:00:00Z"},
		{"a year", date("2026"), "https://a.test 2026-01-01T00:00:00Z"},
		{"IPv4", more("WARC-IP-Address: 192.0.2.1\r\n"), "https://a.test 2026-01-10T06:00:00Z from 192.0.2.1:443"},
		{"IPv6", more("warc-ip-address: 2001:db8::1\r\n"), "https://a.test 2026-01-10T06:00:00Z from [2001:db8::1]:443"},
		{"no address", more("WARC-IP-Address: nobody\r\n"), "https://a.test 2026-01-10T06:00:00Z"},
		{"digest", more("WARC-Payload-Digest: sha1:ABC\r\n"), "https://a.test 2026-01-10T06:00:00Z sha1:ABC"},
		{"names in any case", strings.ReplaceAll(strings.Replace(warcResponse("a.test", answer), "WARC-T", "wArC-t", -1),
			"Content-Length", "CONTENT-LENGTH"),
			"https://a.test 2026-01-10T06:00:00Z"},
		{"folded lines", more("WARC-Payload-Digest:\r\n sha1:ABC\r\nX: y\r\n\tz\r\n"),
			"https://a.test 2026-01-10T06:00:00Z sha1:ABC"},
		{"LF only", strings.ReplaceAll(warcResponse("a.test", "HTTP/1.1 200 OK\n\nx"), "\r\n", "\n"),
			"https://a.test 2026-01-10T06:00:00Z"},
		{"lines that are no fields", more("nonsense\r\n: x\r\n"), "https://a.test 2026-01-10T06:00:00Z"},
		{"nothing behind the block", strings.TrimRight(warcResponse("a.test", answer), "\r\n"),
			"https://a.test 2026-01-10T06:00:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := one(t, row.record)
			got := c.Origin.String() + " " + c.Start.Format(time.RFC3339Nano)
			if c.Remote.IsValid() {
				got += " from " + c.Remote.String()
			}
			if c.PayloadDigest != "" {
				got += " " + c.PayloadDigest
			}
			if got != row.want || string(c.Body) != "x" || c.Hops[0].URL != c.Origin.RobotsURL() {
				t.Errorf("%s %q %v, want %s", got, c.Body, c.Hops, row.want)
			}
		})
	}
}

func TestWARCWhatCounts(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\n\r\nx"
	var file []byte
	for _, kind := range []string{"warcinfo", "request", "metadata", "resource", "conversion", "continuation",
		"unheard-of"} {
		file = append(file, gzipped(strings.Replace(warcResponse("a.test", answer), "response", kind, 1))...)
	}
	for _, target := range []string{
		"https://a.test/", "https://a.test/robots.txt?x", "https://a.test/a/robots.txt", "https://a.test/Robots.txt",
		"https://a.test//robots.txt",
		"https://a.test?/robots.txt", "dns:a.test", "/robots.txt", "a.test/robots.txt", "", "gopher://a.test/robots.txt",
		"https://u:p@a.test/robots.txt", "https:///robots.txt", "https://a.test:99999/robots.txt", "https://a b/robots.txt",
	} {
		file = append(file, gzipped(strings.Replace(warcResponse("a.test", answer), "https://a.test/robots.txt", target,
			1))...)
	}
	file = append(file, gzipped("")...) // a member without a record
	captures, damages, counts := readAll(t, bytes.NewReader(file))
	if want := (Counts{OtherTypes: 7, OtherURLs: 15}); len(captures) != 0 || damages != nil || counts != want {
		t.Errorf("%d captures, damages %q, %+v", len(captures), damages, counts)
	}
	for _, file := range []string{"", string(gzipped(""))} {
		captures, damages, counts := readAll(t, strings.NewReader(file))
		if captures != nil || len(damages) != 1 || !strings.Contains(damages[0], "the file holds no record") ||
			counts != (Counts{Damaged: 1}) {
			t.Errorf("an empty file: %v, %q, %+v", captures, damages, counts)
		}
	}
}

func TestWARCRevisit(t *testing.T) {
	record := warcRecord(strings.Replace(warcFields("a.test"), "response", "revisit", 1)+
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\nWARC-Payload-Digest: sha1:ABC\r\n"+
		"WARC-Refers-To: <urn:uuid:1>\r\nWARC-Refers-To-Target-URI: <http://a.test/robots.txt>\r\n"+
		"WARC-Refers-To-Date: 2025-01-01T00:00:00Z\r\n",
		"HTTP/1.1 200 OK\r\nServer: s\r\nContent-Length: 100\r\n\r\n")
	c := one(t, record)
	want := &Revisit{"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", "urn:uuid:1",
		"http://a.test/robots.txt", "2025-01-01T00:00:00Z"}
	if d := cmp.Diff(want, c.Revisit); d != "" || c.Body != nil || c.Status() != 200 || *c.Headers.Server != "s" ||
		c.Error != "" || c.PayloadDigest != "sha1:ABC" {
		t.Errorf("%+v\n%s", c, d)
	}
	// The block may be missing.
	c = one(t, strings.Replace(warcResponse("a.test", ""), "response", "revisit", 1))
	if c.Revisit == nil || c.Body != nil || c.Status() != 0 || c.Error != "" {
		t.Errorf("without a block: %+v", c)
	}
}

func TestWARCOffsets(t *testing.T) {
	records := []string{
		warcRecord("WARC-Type: warcinfo\r\n", "x: y"), warcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\na"),
		warcRecord("WARC-Type: request\r\n", "GET /robots.txt HTTP/1.1\r\n\r\n"),
		warcResponse("b.test", "HTTP/1.1 200 OK\r\n\r\nb"),
	}
	for _, form := range warcForms {
		t.Run(form.name, func(t *testing.T) {
			var file []byte
			var want, got []string
			for i, r := range records {
				packed := form.pack(r)
				if i%2 == 1 {
					want = append(want, fmt.Sprintf("test.warc %d+%d", len(file), len(packed)))
				}
				file = append(file, packed...)
			}
			captures, damages, _ := readAll(t, bytes.NewReader(file))
			for _, c := range captures {
				got = append(got, fmt.Sprintf("%s %d+%d", c.File, c.Offset, c.Length))
			}
			if d := cmp.Diff(want, got); d != "" || damages != nil {
				t.Errorf("damages %q\n%s", damages, d)
			}
		})
	}
	for name, file := range map[string][]byte{"one gzip member": gzipped(strings.Join(records, "")),
		"one zstd frame": zstandard(strings.Join(records, ""))} {
		t.Run(name, func(t *testing.T) {
			captures, damages, _ := readAll(t, bytes.NewReader(file))
			if len(captures) != 2 || damages != nil {
				t.Fatalf("%d captures, damages %q", len(captures), damages)
			}
			for _, c := range captures {
				if c.Offset != 0 || c.Length != 0 {
					t.Errorf("%s at %d+%d", c.Origin, c.Offset, c.Length)
				}
			}
		})
	}
}

func TestWARCZstdDictionary(t *testing.T) {
	var samples [][]byte
	for i := range 50 {
		samples = append(samples, []byte(warcResponse(fmt.Sprintf("host%d.test", i),
			"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /private\n")))
	}
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: bytes.Join(samples[:3],
		nil), Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	skippable := func(mark byte, content []byte) []byte {
		n := len(content)
		return append([]byte{mark, 0x2a, 0x4d, 0x18, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, content...)
	}
	for name, first := range map[string][]byte{"plain": dictionary, "compressed": zstandard(string(dictionary))} {
		t.Run(name, func(t *testing.T) {
			file := skippable(0x5d, first)
			for i, s := range samples {
				if i%10 == 0 {
					file = append(file, skippable(0x50, []byte("something else"))...)
				}
				file = append(file, encoder.EncodeAll(s, nil)...)
			}
			captures, damages, _ := readAll(t, bytes.NewReader(file))
			if len(captures) != len(samples) || damages != nil {
				t.Errorf("%d captures, damages %q", len(captures), damages)
			}
			var reader RecordReader
			defer reader.Close()
			for _, others := range [][]byte{nil, gzipped("x"), file} { // another file may be read before
				if err := reader.Begin(t.Context(), bytes.NewReader(others)); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range captures {
				found := ""
				_, err := reader.Read(t.Context(), "x", bytes.NewReader(file[c.Offset:][:c.Length]),
					Config{Limits: fetch.Limits{MaxBody: limit}}, func(again *Capture) error {
						found = again.Origin.Host
						return nil
					}, func(_ int64, what string) error { return errors.New(what) })
				if found != c.Origin.Host || err != nil {
					t.Fatalf("by its place: %q, %v, want %s", found, err, c.Origin.Host)
				}
			}
		})
	}
	t.Run("damaged", func(t *testing.T) {
		file := append(skippable(0x5d, []byte("no dictionary")), zstandard(string(samples[0]))...)
		if captures, damages, _ := readAll(t, bytes.NewReader(file)); len(captures) != 1 || len(damages) != 1 ||
			!strings.HasPrefix(damages[0], "0: the dictionary cannot be read: ") {
			t.Errorf("%d captures, damages %q", len(captures), damages)
		}
	})
}

func TestWARCErrors(t *testing.T) {
	file := append(gzipped(warcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\n")),
		gzipped(warcResponse("b.test", "HTTP/1.1 200 OK\r\n\r\n"))...)
	stop := errors.New("stop")
	emitted := 0
	read := func(ctx context.Context, r io.Reader, emit func(*Capture) error, damaged func(int64, string) error) error {
		_, err := Read(ctx, "a.warc.gz", r, Config{Limits: fetch.Limits{MaxBody: limit}}, emit, damaged)
		return err
	}
	fail := func(*Capture) error { emitted++; return stop }
	if err := read(context.Background(), bytes.NewReader(file), fail, nil); err != stop || emitted != 1 {
		t.Errorf("emit's: %v after %d", err, emitted)
	}
	if err := read(context.Background(), strings.NewReader("nonsense"), nil, func(int64, string) error {
		return stop
	}); err != stop {
		t.Errorf("damaged's: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := read(ctx, iotest.OneByteReader(bytes.NewReader(file)), func(*Capture) error { cancel(); return nil },
		nil); err != context.Canceled {
		t.Errorf("ctx's: %v", err)
	}
	broken := io.MultiReader(bytes.NewReader(file[:100]), iotest.ErrReader(os.ErrPermission))
	err := read(context.Background(), broken, nil, nil)
	if input, ok := errors.AsType[*userfile.Error](err); !ok || input.Path != "a.warc.gz" ||
		!errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "byte 100") {
		t.Errorf("the reader's: %v", err)
	}
}

// TestWARCMemory checks that memory stays small, whatever lengths are claimed
// and however far data expands.
func TestWARCMemory(t *testing.T) {
	huge := strings.Repeat("\x00", 16<<20)
	encoded := "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped(huge))
	for name, row := range map[string]struct {
		file []byte
		want string // the capture, or the damage
	}{
		"a bomb for a body":   {gzipped(warcResponse("a.test", encoded)), "1000 true"},
		"a bomb for a record": {gzipped(warcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\n"+huge)), "1000 true"},
		"a bomb for a header": {gzipped("WARC/1.0\r\nX: " + huge), "0: the header is longer than 65536 bytes"},
		"a bomb for an answer": {gzipped(warcResponse("a.test", "HTTP/1.1 200 OK\r\nX: "+huge)),
			"0 false header_too_large"},
		"a bomb that is no record": {gzipped(huge), "0: not a WARC or ARC record"},
		"a length of a petabyte": {gzipped("WARC/1.0\r\n" + warcFields("a.test") + "Content-Length: 1000000000000000\r\n" +
			"\r\nHTTP/1.1 200 OK\r\n\r\nx"), "0: the record ends before its content-length"},
		"chunks of a petabyte": {
			gzipped(warcResponse("a.test", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\nx")),
			"1 false truncated_body"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			captures, damages, _ := readAll(t, bytes.NewReader(row.file))
			runtime.ReadMemStats(&after)
			got := strings.Join(damages, "\n")
			for _, c := range captures {
				got += strings.TrimSpace(fmt.Sprintf("%d %v %s", len(c.Body), c.Truncated, c.Error))
			}
			if got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
				t.Errorf("%d bytes of memory", used)
			}
		})
	}
}

// ReadAll yields captures of other URLs between those of a robots.txt, in file order,
// with the bodies that are asked for. It reads the rest as Read does.
func TestReadAll(t *testing.T) {
	other := func(uri, answer string) string {
		return warcRecord("WARC-Type: response\r\nWARC-Date: 2026-01-10T06:00:00Z\r\nWARC-Target-URI: "+uri+"\r\n", answer)
	}
	const file = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n"
	for _, form := range warcForms {
		var content []byte
		for _, record := range []string{
			other("https://A.test:443/x%41?q=1 2#f", file), warcResponse("a.test", file), other("https://a.test/y",
				"HTTP/1.1 302 x\r\nLocation: z\r\n\r\nbody"),
			other("dns:a.test", "x"), other("https://a.test/y", "no answer"), other("ftp://a.test/z", file),
			strings.Replace(other("https://a.test/undated", file), "2026-01-10T06:00:00Z", "yesterday", 1),
			strings.Replace(other("https://a.test/z", file), "response", "request", 1), warcResponse("b.test", file),
		} {
			content = append(content, form.pack(record)...)
		}
		asked, got := 0, []string(nil)
		counts, err := ReadAll(t.Context(), "a.warc", bytes.NewReader(content), Config{Limits: fetch.Limits{MaxBody: limit}},
			func() bool { asked++; return asked != 1 }, func(c *Capture) error {
				got = append(got, fmt.Sprintf("%s %d %s %q %s %v", c.Hops[0].URL, c.Status(), c.Location, c.Body, c.Error,
					c.Origin))
				return nil
			}, func(at int64, what string) error { return errors.New(what) })
		want := []string{
			`https://a.test/x%41?q=1%202 200  ""  https://a.test`,
			`https://a.test/robots.txt 200  "User-agent: *\n"  https://a.test`,
			`https://a.test/y 302 https://a.test/z ""  https://a.test`, `https://a.test/y 0  "" protocol https://a.test`,
			`ftp://a.test/z 200  "User-agent: *\n"  ftp://a.test`,
			`https://b.test/robots.txt 200  "User-agent: *\n"  https://b.test`,
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || asked != 4 {
			t.Errorf("%s: asked %d times, %v\n%s", form.name, asked, err, diff)
		}
		if _, _, alone := readAll(t, bytes.NewReader(content)); alone != counts {
			t.Errorf("%s: %+v, and %+v of a robots.txt alone", form.name, counts, alone)
		}
	}
}

// Blanks and zeros between records, before the first and after the last cost nothing,
// wherever they come to lie in the buffer.
func TestPaddingIsNoDamage(t *testing.T) {
	for _, version := range []string{"WARC/1.0", "WARC/0.17", "WARC/0.18"} {
		for _, form := range warcForms {
			for _, padding := range []string{"\x00", "\r\n", " ", "\t\n \x00\x00\n", strings.Repeat("\x00", 511),
				strings.Repeat("\x00", maxChunk+7)} {
				for _, seekable := range []bool{true, false} {
					var file bytes.Buffer
					for i := range 3 {
						file.WriteString(padding)
						file.Write(form.pack(strings.Replace(warcResponse(fmt.Sprintf("h%d.test", i), "HTTP/1.1 200 OK\r\n\r\nx"),
							"WARC/1.0", version, 1)))
					}
					file.WriteString(padding)
					var in io.Reader = &file
					if seekable {
						in = bytes.NewReader(file.Bytes())
					}
					captures, damages, _ := readAll(t, in)
					if len(captures) != 3 || damages != nil {
						t.Errorf("%s, %s, %d of %.8q: %d captures, damages %q", version, form.name, len(padding), padding, len(captures),
							damages)
					}
				}
			}
		}
	}
}

// Other versions than those of 2008 have another header, and a file of nothing but zeros
// is none.
func TestNoRecords(t *testing.T) {
	for _, text := range []string{strings.Repeat("\x00", 3*maxChunk), "WARC/0.10 9 response",
		strings.Replace(warcResponse("a.test", ""), "WARC/1.0", "WARC/0.16", 1)} {
		if captures, damages, _ := readAll(t, strings.NewReader(text)); len(captures) != 0 || len(damages) != 1 {
			t.Errorf("%.20q: %d captures, damages %q", text, len(captures), damages)
		}
	}
}

// A digest is the same in every spelling of writers and indexes, and another one is not.
func TestCanonicalDigest(t *testing.T) {
	const base32, hex = "SQ7VYKRYA6MAFS2ACRTWN2RXIWID22KG", "943f5c2a38079802cb40146766ea3745903d6946"
	for _, text := range []string{
		"sha1:" + base32, "SHA1:" + base32, "sha-1:" + hex, "SHA-1: " + strings.ToUpper(hex), base32, hex, "sha1:" +
			strings.ToLower(base32) + "=", " " + base32 + " ",
	} {
		if got := CanonicalDigest(text); got != "sha1:"+hex {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"": "", "-": "", "sha1:": "", "sha1:abc": "", "sha256:" + hex: "", ":" + hex: "", "none": "", "xxh3:ab==": "xxh3:ab",
		"XXH3:AB": "xxh3:AB",
		"sha256:3DNWL6UBTZOFOP4XKOGDIDACGVNUJPPKCOREFFMMQGLBVM42QTSA====": "sha256:d8db65fa819e5c573f97538c340c02355b44bdea" +
			"13a242958c81961ab39a84e4",
		"md5:d41d8cd98f00b204e9800998ecf8427e": "md5:d41d8cd98f00b204e9800998ecf8427e",
	} {
		if got := CanonicalDigest(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
