package source

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// library is archives with an index, as a library that stores each payload once has them.
type library struct {
	files map[string]*bytes.Buffer
	index []string
}

const elevenFields = "x %s %s %s %s %s - - %d %d %s"

// add adds a record to an archive and a line to the index, which it returns.
func (l *library) add(file, date, url, kind, more, answer, mime, status, digest string) string {
	if l.files[file] == nil {
		l.files[file] = new(bytes.Buffer)
	}
	iso, _ := time.Parse("20060102150405", date)
	record := gzipped(sinktest.Record(fmt.Sprintf("WARC-Type: %s\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\n%s", kind,
		iso.Format(time.RFC3339), url, more), answer))
	line := fmt.Sprintf(elevenFields, date, url, mime, status, digest, len(record), l.files[file].Len(), file)
	l.files[file].Write(record)
	l.index = append(l.index, line)
	return line
}

func sha1Of(body string) string {
	sum := sha1.Sum([]byte(body))
	return base32.StdEncoding.EncodeToString(sum[:])
}

func (l *library) response(file, date, url, body string) string {
	digest := sha1Of(body)
	return l.add(file, date, url, "response", "WARC-Payload-Digest: sha1:"+digest+"\r\n", "HTTP/1.1 200 OK\r\n\r\n"+body,
		"text/plain", "200", digest)
}

func (l *library) revisit(file, date, url, body, more, answer string) string {
	if body != "" {
		more += "WARC-Payload-Digest: sha1:" + sha1Of(body) + "\r\n"
	}
	return l.add(file, date, url, "revisit",
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"+more, answer, "warc/revisit",
		"-", sha1Of(body))
}

func (l *library) write(t *testing.T) string {
	dir := t.TempDir()
	for name, content := range l.files {
		must(t, os.WriteFile(filepath.Join(dir, name), content.Bytes(), 0o666))
	}
	return dir
}

// libraryOfRevisits has, of each host, a capture and a revisit record that names its original
// in one of the ways that there are.
func libraryOfRevisits() (l *library, want []string) {
	l = &library{files: make(map[string]*bytes.Buffer)}
	const early, late, ok = "20240101000000", "20240201000000", "HTTP/1.1 200 OK\r\n\r\n"
	say := func(name, body string) {
		for range 2 {
			want = append(want, name+" 200 "+strings.TrimSpace(body))
		}
	}
	pair := func(name, more, answer string) {
		url, body := "http://"+name+"/robots.txt", "# "+name+"\n"
		l.response("early.warc.gz", early, url, body)
		l.revisit("late.warc.gz", late, url, body, more, answer)
		say(name, body)
	}
	pair("digest.example", "", ok)
	pair("date.example", "WARC-Refers-To-Target-URI: http://date.example/robots.txt\r\n"+
		"WARC-Refers-To-Date: 2024-01-01T00:00:00Z\r\n", ok)
	pair("fraction.example", "WARC-Refers-To-Target-URI: http://fraction.example/robots.txt\r\n"+
		"WARC-Refers-To-Date: 2024-01-01T00:00:00.789Z\r\n", ok)
	pair("headless.example", "", "")
	pair("id.example", "WARC-Refers-To: <urn:uuid:1>\r\n", ok)

	// Without digests in the records, a date alone; and of two captures in one second the one
	// that was an answer.
	l.add("early.warc.gz", early, "http://undigested.example/robots.txt", "response", "", ok+"# plain\n", "text/plain",
		"200", "-")
	l.add("late.warc.gz", late, "http://undigested.example/robots.txt", "revisit", "WARC-Refers-To-Target-URI: "+
		"http://undigested.example/robots.txt\r\nWARC-Refers-To-Date: 2024-01-01T00:00:00Z\r\n", ok, "warc/revisit", "200",
		"-")
	say("undigested.example", "# plain")

	// What was an error has the same text.
	l.add("early.warc.gz", early, "http://error.example/robots.txt", "response", "WARC-Payload-Digest: sha1:"+
		sha1Of("# error\n")+"\r\n", "HTTP/1.1 404 Not Found\r\n\r\n# error\n", "text/plain", "404", sha1Of("# error\n"))
	l.revisit("late.warc.gz", late, "http://error.example/robots.txt", "# error\n", "", ok)
	want = append(want, "error.example 200 # error", "error.example 404 ")

	// The original is a capture of another URL, which is no robots.txt.
	l.response("early.warc.gz", early, "http://other.example/robots-copy.txt", "# copied\n")
	l.revisit("late.warc.gz", late, "http://copy.example/robots.txt", "# copied\n", "", ok)
	want = append(want, "copy.example 200 # copied")

	// The place stands in the line alone, as OutbackCDX and pywb say it.
	at := l.response("early.warc.gz", early, "http://place.example/robots.txt", "# place\n")
	fields := strings.Fields(at)
	line := l.add("late.warc.gz", late, "http://place.example/robots.txt", "revisit", "", ok, "warc/revisit", "-", "-")
	l.index[len(l.index)-1] = line + " " + strings.Join(fields[8:], " ")
	say("place.example", "# place")

	// Nobody has the original, or what is said to be it is another one.
	l.revisit("late.warc.gz", late, "http://lost.example/robots.txt", "# lost\n",
		"WARC-Refers-To-Target-URI: http://digest.example/robots.txt\r\nWARC-Refers-To-Date: 2024-01-01T00:00:00Z\r\n", ok)
	want = append(want, "lost.example 200 unstored")
	line = l.revisit("late.warc.gz", late, "http://gone.example/robots.txt", "# gone\n", "", ok)
	l.index[len(l.index)-1] = line + " 100 0 gone.warc.gz"
	want = append(want, "gone.example 200 unstored")
	line = l.revisit("late.warc.gz", late, "http://outside.example/robots.txt", "# outside\n", "", ok)
	l.index[len(l.index)-1] = line + " 100 0 ../early.warc.gz"
	want = append(want, "outside.example 200 unstored")
	line = l.revisit("late.warc.gz", late, "http://wrong.example/robots.txt", "# wrong\n", "", ok)
	l.index[len(l.index)-1] = line + " " + strings.Join(fields[8:], " ")
	want = append(want, "wrong.example 200 unstored")

	// A revisit record that redirects says where to.
	l.revisit("late.warc.gz", late, "http://moved.example/robots.txt", "", "",
		"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n")
	want = append(want, "moved.example 301 unstored")
	return l, want
}

// A revisit record finds its original by what it says itself, by its digest, and by the
// place that the index says; from a folder, and from a server with one request at a time.
func TestOriginalsOfAnIndex(t *testing.T) {
	l, want := libraryOfRevisits()
	dir := l.write(t)
	server := httptest.NewTLSServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	slices.Sort(want)
	for _, base := range []string{dir, server.URL} {
		for name, text := range map[string]string{"in order": strings.Join(l.index, "\n"), "without lengths": withoutLengths(
			l.index)} {
			c := Config{CDX: []string{writeFile(t, "x.cdx", []byte(text))}, Base: base, Remote: remote.Limits{AtOnce: 1}}
			got, rejects, err := readAll(t, c)
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("%s %s: %v\n%s", base, name, err, d)
				continue
			}
			if n := rejects.Lines(); n != 1 { // the one that is no robots.txt
				t.Errorf("%s: %d lines are rejected", name, n)
			}
			c.LastCapture = true
			if got, _, err = readAll(t, c); err != nil || len(got) != len(want)-8 {
				t.Errorf("%s, last captures: %d, %v", name, len(got), err)
			}
		}
	}
}

// withoutLengths writes lines in the forms of 9 and of 12 columns.
func withoutLengths(lines []string) string {
	var out []string
	for _, line := range lines {
		f := strings.Fields(line)
		out = append(out, strings.Join(append(slices.Clone(f[:7]), f[9:]...), " "))
	}
	return strings.Join(out, "\n")
}
