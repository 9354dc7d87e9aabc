package warc

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// arcRecord returns the text of a record of an ARC file of version 1.
func arcRecord(url, block string) string {
	return fmt.Sprintf("%s 192.0.2.7 20040110060000 text/plain %d\n%s\n", url, len(block), block)
}

func arcResponse(host, answer string) string {
	return arcRecord("http://"+host+"/robots.txt", answer)
}

// arcHead begins a file of version 1 or 2.
func arcHead(version int) string {
	text := fmt.Sprintf("%d 0 InternetArchive\n", version)
	if version == 1 {
		text += "URL IP-address Archive-date Content-type Archive-length\n"
		return arcRecord("filedesc://IA-000001.arc", text)
	}
	text += "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n"
	return fmt.Sprintf("filedesc://IA-000001.arc 0.0.0.0 20040110060000 text/plain 200 - - 0 IA-000001.arc %d\n%s\n",
		len(text), text)
}

func TestARCRecordHeader(t *testing.T) {
	answer := "HTTP/1.0 200 OK\nServer: x\n\nx"
	line := func(s string) string { return fmt.Sprintf("%s %d\n%s\n", s, len(answer), answer) }
	for _, row := range []struct{ name, record, want string }{
		{"version 1", line("http://a.test/robots.txt 192.0.2.7 20040110060708 text/plain"),
			"http://a.test 2004-01-10T06:07:08Z from 192.0.2.7:80"},
		{"version 2",
			line("http://a.test:80/robots.txt 192.0.2.7 20040110060708 text/plain 200 a1b2c3 - 4711 IA-000001.arc"),
			"http://a.test 2004-01-10T06:07:08Z from 192.0.2.7:80"},
		{"version 2, a location",
			line("https://a.test/robots.txt 2001:db8::1 20040110060708 text/plain 302 - http://b.test/ 4711 IA-000001.arc"),
			"https://a.test 2004-01-10T06:07:08Z from [2001:db8::1]:443"},
		{"no seconds", line("http://a.test/robots.txt 192.0.2.7 199610120607 text/plain"),
			"http://a.test 1996-10-12T06:07:00Z from 192.0.2.7:80"},
		{"no address", line("http://a.test/robots.txt - 20040110060708 text/plain"), "http://a.test 2004-01-10T06:07:08Z"},
		{"a content type with spaces", line("http://a.test/robots.txt 192.0.2.7 20040110060708 text/html; charset=x y"),
			"http://a.test 2004-01-10T06:07:08Z from 192.0.2.7:80"},
		{"no content type", line("http://a.test/robots.txt 192.0.2.7 20040110060708 "),
			"http://a.test 2004-01-10T06:07:08Z from 192.0.2.7:80"},
		{"CR LF", fmt.Sprintf("http://a.test/robots.txt 192.0.2.7 20040110060708 text/plain %d\r\n%s\r\n", len(answer),
			answer), "http://a.test 2004-01-10T06:07:08Z from 192.0.2.7:80"},
		{"a space at the end", fmt.Sprintf("http://a.test/robots.txt 192.0.2.7 20040110060708 text/plain %d \n%s\n",
			len(answer), answer), "http://a.test 2004-01-10T06:07:08Z from 192.0.2.7:80"},
		{"a content type that looks like a record",
			line("http://a.test/robots.txt 192.0.2.7 20040110060708 http://b.test/robots.txt 192.0.2.8 20050110060708 x"),
			"http://a.test 2004-01-10T06:07:08Z from 192.0.2.7:80"},
	} {
		for _, form := range warcForms {
			t.Run(row.name+", "+form.name, func(t *testing.T) {
				captures, damages, _ := readAll(t, bytes.NewReader(form.pack(row.record)))
				if len(captures) != 1 || damages != nil {
					t.Fatalf("%d captures, damages %q", len(captures), damages)
				}
				c := captures[0]
				got := c.Origin.String() + " " + c.Start.Format(time.RFC3339)
				if c.Remote.IsValid() {
					got += " from " + c.Remote.String()
				}
				if got != row.want || string(c.Body) != "x" || c.Status() != 200 || c.Hops[0].URL != c.Origin.RobotsURL() {
					t.Errorf("%s %q %v, want %s", got, c.Body, c.Hops, row.want)
				}
			})
		}
	}
	for _, text := range []string{
		"", " ", "http://a.test/robots.txt", "http://a.test/robots.txt 192.0.2.7 20040110060708 4",
		"http://a.test/robots.txt 192.0.2.7 2004011006070 x 4",
		"http://a.test/robots.txt 192.0.2.7 20041310060708 x 4", "http://a.test/robots.txt 192.0.2.7 20040110060708 x -4",
		"http://a.test/robots.txt nobody 20040110060708 x 4",
		"a.test/robots.txt 192.0.2.7 20040110060708 x 4", strings.Repeat("x", maxARCLine) + " 192.0.2.7 20040110060708 x 4",
	} {
		captures, damages, _ := readAll(t, bytes.NewReader(gzipped(text+"\nHTTP/1.0 200 OK\n\n")))
		if len(captures) != 0 || len(damages) != 1 {
			t.Errorf("%.60q: %d captures, damages %q", text, len(captures), damages)
		}
	}
}

// A file has records of other kinds and schemes; each capture is at its place.
func TestARCFile(t *testing.T) {
	for _, version := range []int{1, 2} {
		records := []string{
			arcHead(version),
			arcRecord("dns:a.test", "20040110060000\na.test.\t\t60\tIN\tA\t192.0.2.7\n"),
			arcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n\n\nhttp://b.test/robots.txt\n"),
			arcRecord("http://a.test/", "HTTP/1.1 200 OK\r\n\r\n<html>"),
			arcRecord("http://a b.test/robots.txt x", "HTTP/1.1 200 OK\r\n\r\n"),
			arcRecord("metadata://crawl/order.xml?x=y", "<xml/>"),
			arcResponse("b.test", "HTTP/1.0 404 Not Found\r\n\r\n"),
			arcResponse("c.test", "no HTTP at all"),
		}
		for _, form := range append(warcForms, struct {
			name string
			pack func(string) []byte
		}{"plain, two line ends", func(s string) []byte { return []byte(s + "\n") }}) {
			t.Run(fmt.Sprint(form.name, ", version ", version), func(t *testing.T) {
				var file []byte
				var want, got []string
				for i, r := range records {
					packed := form.pack(r)
					if i == 2 || i >= 6 {
						want = append(want, fmt.Sprintf("%d+%d", len(file), len(packed)))
					}
					file = append(file, packed...)
				}
				captures, damages, counts := readAll(t, bytes.NewReader(file))
				for _, c := range captures {
					got = append(got, fmt.Sprintf("%d+%d", c.Offset, c.Length))
				}
				if d := cmp.Diff(want, got); d != "" || damages != nil ||
					counts != (Counts{Captures: 3, OtherURLs: 4, OtherTypes: 1}) {
					t.Errorf("damages %q, %+v\n%s", damages, counts, d)
				}
				if b := string(captures[0].Body); b != "User-agent: *\n\n\nhttp://b.test/robots.txt\n" {
					t.Errorf("body %q", b)
				}
				streamed, damages, _ := readAll(t, struct{ io.Reader }{bytes.NewReader(file)})
				if len(streamed) != 3 || damages != nil {
					t.Errorf("as a stream: %d captures, damages %q", len(streamed), damages)
				}
			})
		}
		t.Run("one gzip member", func(t *testing.T) {
			captures, damages, _ := readAll(t, bytes.NewReader(gzipped(strings.Join(records, ""))))
			if len(captures) != 3 || damages != nil || captures[2].Length != 0 {
				t.Errorf("%d captures, damages %q", len(captures), damages)
			}
		})
	}
}

// Damage costs the records that it hits. A file holds records of one kind only: a body
// that looks like a WARC record is none.
func TestARCDamage(t *testing.T) {
	answer := func(i int) string { return fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\nUser-agent: r%d\n", i) }
	for _, form := range warcForms {
		t.Run(form.name, func(t *testing.T) {
			pieces := [][]byte{form.pack(arcHead(1))}
			for i := range 5 {
				pieces = append(pieces, form.pack(arcResponse(fmt.Sprintf("h%d.test", i), answer(i))))
			}
			wrong := map[string]func(int, []byte) []byte{
				"the line is garbage": func(i int, b []byte) []byte {
					if form.name == "plain" {
						return append([]byte("@@@@@@@@@"), b[9:]...)
					}
					return form.pack("@@@@@@@@@" + arcResponse("x.test", answer(i))[9:])
				},
				"the length is too long": func(i int, b []byte) []byte {
					return form.pack(strings.Replace(arcResponse("x.test", answer(i)), fmt.Sprint(" ", len(answer(i)), "\n"),
						fmt.Sprint(" ", len(answer(i))+20, "\n"), 1))
				},
				"the length is too short": func(i int, b []byte) []byte {
					return form.pack(strings.Replace(arcResponse("x.test", answer(i)), fmt.Sprint(" ", len(answer(i)), "\n"),
						fmt.Sprint(" ", len(answer(i))-4, "\n"), 1))
				},
			}
			for name, spoil := range wrong {
				file := bytes.Join([][]byte{pieces[0], pieces[1], spoil(1, pieces[2]), pieces[3], pieces[4], pieces[5]}, nil)
				captures, damages, _ := readAll(t, bytes.NewReader(file))
				var hosts []string
				for _, c := range captures {
					hosts = append(hosts, c.Origin.Host)
				}
				if d := cmp.Diff([]string{"h0.test", "h2.test", "h3.test", "h4.test"}, hosts); d != "" || len(damages) != 1 {
					t.Errorf("%s: damages %q\n%s", name, damages, d)
				}
			}
		})
	}
	for _, form := range warcForms { // whole records of the other kind
		for name, records := range map[string][]string{
			"WARC in ARC": {arcHead(1), arcResponse("b.test", answer(1)), warcResponse("evil.test", answer(0)),
				arcResponse("c.test", answer(2))},
			"ARC in WARC": {warcResponse("b.test", answer(1)), arcResponse("evil.test", answer(0)),
				warcResponse("c.test", answer(2))},
		} {
			var file []byte
			for _, r := range records {
				file = append(file, form.pack(r)...)
			}
			captures, damages, _ := readAll(t, bytes.NewReader(file))
			if len(captures) != 2 || captures[0].Origin.Host != "b.test" || captures[1].Origin.Host != "c.test" ||
				len(damages) != 1 {
				t.Errorf("%s, %s: %d captures, damages %q", name, form.name, len(captures), damages)
			}
		}
	}
	inside := "HTTP/1.1 200 OK\r\n\r\nx\n" + warcResponse("evil.test", answer(0))
	for name, file := range map[string]string{
		"a WARC record in an ARC file": arcHead(1) + strings.Replace(arcResponse("a.test", inside), " 20040110060000",
			" 2004", 1) + arcResponse("b.test", answer(1)),
		"an ARC record in a WARC file": warcResponse("b.test", answer(1)) +
			strings.Replace(warcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\nx\n"+arcResponse("evil.test", answer(0))),
				"WARC/1.0", "WARC/x", 1),
	} {
		captures, damages, _ := readAll(t, strings.NewReader(file))
		if len(captures) != 1 || captures[0].Origin.Host != "b.test" || len(damages) != 1 {
			t.Errorf("%s: %d captures, damages %q", name, len(captures), damages)
		}
	}
	cut := []byte(arcHead(1) + arcResponse("a.test", answer(0)) + arcResponse("b.test", answer(1)))
	if captures, damages, _ := readAll(t, bytes.NewReader(cut[:len(cut)-9])); len(captures) != 1 || len(damages) != 1 ||
		!strings.Contains(damages[0], "exceeds the file") {
		t.Errorf("cut off: %d captures, damages %q", len(captures), damages)
	}
}

// The work of finding records in hostile text is bounded.
func TestARCWork(t *testing.T) {
	file := arcHead(1) + strings.Repeat("http://a.test/robots.txt 192.0.2.7 20040110060708 text/plain 100000\n", 20_000)
	in := &meteredReader{Reader: bytes.NewReader([]byte(file))}
	_, damages, _ := readAll(t, in)
	if most := int64(len(file))*maxAgain + 64<<20 + int64(len(file)) + maxChunk; in.n > most || len(damages) == 0 {
		t.Errorf("%d bytes read of a file of %d, %d damages", in.n, len(file), len(damages))
	}
	in = &meteredReader{Reader: bytes.NewReader([]byte(arcHead(1) + strings.Repeat("\nhttp://", 1<<18)))}
	readAll(t, in)
	if most := int64(64<<20 + 40<<20); in.n > most {
		t.Errorf("%d bytes read", in.n)
	}
}
