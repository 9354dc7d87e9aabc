package last

import (
	"context"
	"crypto/sha1"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A rec is a record of a test: of a URL without its host, or a whole one, at a date.
type rec struct {
	kind, url, date, more, answer string
}

func (r rec) text() string {
	if !strings.Contains(r.url, "://") {
		r.url = "https://a.example" + r.url
	}
	if !strings.Contains(r.date, "T") && len(r.date) > 4 {
		r.date = "2026-01-10T06:" + r.date + "Z"
	}
	return sinktest.Record("WARC-Type: "+r.kind+"\r\nWARC-Date: "+r.date+"\r\nWARC-Target-URI: "+r.url+"\r\n"+r.more,
		r.answer)
}

func response(url, date, more, answer string) rec { return rec{"response", url, date, more, answer} }
func revisit(url, date, more, answer string) rec  { return rec{"revisit", url, date, more, answer} }

func id(n int) string   { return fmt.Sprintf("WARC-Record-ID: <urn:uuid:%d>\r\n", n) }
func ofID(n int) string { return fmt.Sprintf("WARC-Refers-To: <urn:uuid:%d>\r\n", n) }
func ofDate(url, date string) string {
	return "WARC-Refers-To-Target-URI: " + url + "\r\nWARC-Refers-To-Date: 2026-01-10T06:" + date + "Z\r\n"
}
func digest(body string) string {
	sum := sha1.Sum([]byte(body))
	return "WARC-Payload-Digest: sha1:" + base32.StdEncoding.EncodeToString(sum[:]) + "\r\n"
}
func hexDigest(body string) string {
	sum := sha1.Sum([]byte(body))
	return "WARC-Payload-Digest: SHA-1:" + hex.EncodeToString(sum[:]) + "\r\n"
}

const (
	txt          = "/robots.txt"
	ok           = "HTTP/1.1 200 OK\r\n\r\n"
	unavailable  = "HTTP/1.1 503 x\r\n\r\n"
	identical    = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
	notModified  = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified\r\n"
	itself       = "https://a.example/robots.txt"
	emptyPayload = "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n"
)

// revisits are records of which the last one of a.example's robots.txt is a revisit record,
// and what must come of it: the status and the body, "" if it finds no original.
var revisits = []struct {
	name, want string
	records    []rec
}{
	{"of a record ID alone, as GNU wget writes", `200 "one"`, []rec{response(txt, "01:00", id(1)+digest("one"), ok+"one"),
		response(txt, "02:00", id(2)+digest("two"), ok+"two"), revisit(txt, "03:00", ofID(1)+identical+digest("one"), ok)}},
	{"of a record ID in capitals", `200 "one"`, []rec{response(txt, "01:00", "WARC-Record-ID: <urn:uuid:0A>\r\n",
		ok+"one"), revisit(txt, "03:00", "WARC-Refers-To: urn:uuid:0a\r\n", ok)}},
	{"of a record ID, without digests", `200 "one"`, []rec{response(txt, "01:00", id(1), ok+"one"),
		response(txt, "02:00", id(2), ok+"two"), revisit(txt, "03:00", ofID(1), ok)}},
	{"of a record ID that is another URL's", `200 "one"`, []rec{response("https://b.example/x", "01:00", id(1), ok+"one"),
		revisit(txt, "03:00", ofID(1), ok)}},
	{"of a record ID before a date", `200 "one"`, []rec{response(txt, "01:00", id(1), ok+"one"),
		response(txt, "02:00", id(2), ok+"two"), revisit(txt, "03:00", ofID(1)+ofDate(itself, "02:00"), ok)}},
	{"of a record ID of another payload", `200 "one" but another digest`,
		[]rec{response(txt, "01:00", id(1)+digest("one"), ok+"one"), revisit(txt, "03:00", ofID(1)+digest("two"), ok)}},
	{"of a record ID of another payload, and one of the same", `200 "two"`,
		[]rec{response(txt, "01:00", id(1)+digest("one"), ok+"one"), response(txt, "02:00", id(2)+digest("two"), ok+"two"),
			revisit(txt, "03:00", ofID(1)+digest("two"), ok)}},
	{"of a record ID that is not there, and a date", `200 "two"`, []rec{response(txt, "01:00", id(1), ok+"one"),
		response(txt, "02:00", id(2), ok+"two"), revisit(txt, "03:00", ofID(9)+ofDate(itself, "02:00"), ok)}},
	{"of a record ID that is not there", `200 unresolved`, []rec{response(txt, "01:00", id(1), ok+"one"),
		revisit(txt, "03:00", ofID(9), ok)}},

	{"of whole seconds, the original's with a fraction", `200 "one"`, []rec{response(txt, "01:00.123", "", ok+"one"),
		response(txt, "01:01.5", "", ok+"two"), revisit(txt, "03:00", ofDate(itself, "01:00"), ok)}},
	{"of a fraction, the original's in whole seconds", `200 "one"`, []rec{response(txt, "01:00", "", ok+"one"),
		response(txt, "01:01", "", ok+"two"), revisit(txt, "03:00.7", ofDate(itself, "01:00.999999"), ok)}},
	{"of two fractions that differ", `200 unresolved`, []rec{response(txt, "01:00.123", "", ok+"one"),
		revisit(txt, "03:00", ofDate(itself, "01:00.124"), ok)}},
	{"of fractions of two lengths", `200 "one"`, []rec{response(txt, "01:00.123456", "", ok+"one"),
		revisit(txt, "03:00", ofDate(itself, "01:00.123"), ok)}},
	{"of the year alone", `200 "one"`, []rec{response(txt, "01:00.123456", "", ok+"one"),
		revisit(txt, "2027", "WARC-Refers-To-Date: 2026\r\nWARC-Refers-To-Target-URI: "+itself+"\r\n", ok)}},
	{"of the next second", `200 unresolved`, []rec{response(txt, "01:00.999", "", ok+"one"),
		revisit(txt, "03:00", ofDate(itself, "01:01"), ok)}},
	{"of a date alone", `200 "one"`, []rec{response(txt, "01:00", "", ok+"one"),
		revisit(txt, "03:00", "WARC-Refers-To-Date: 2026-01-10T06:01:00Z\r\n", ok)}},
	{"of a second with a 503 before", `200 "one"`, []rec{response(txt, "01:00", digest("sorry"), unavailable+"sorry"),
		response(txt, "01:00", digest("one"), ok+"one"), revisit(txt, "03:00", ofDate(itself, "01:00")+digest("one"), ok)}},
	{"of a second with a 503 behind", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		response(txt, "01:00", digest("sorry"), unavailable+"sorry"), revisit(txt, "03:00", ofDate(itself, "01:00")+
			digest("one"), ok)}},
	{"of a second with a 503, without digests", `200 "one"`, []rec{response(txt, "01:00", "", ok+"one"),
		response(txt, "01:00", "", unavailable+"sorry"), revisit(txt, "03:00", ofDate(itself, "01:00"), ok)}},
	{"of a second with a 503, without a header", `200 "one"`, []rec{response(txt, "01:00", "", unavailable+"sorry"),
		response(txt, "01:00", "", ok+"one"), revisit(txt, "03:00", ofDate(itself, "01:00"), "")}},
	{"of the 503 of a second, without a header", `503 ""`, []rec{response(txt, "01:00", digest("sorry"), unavailable+
		"sorry"), response(txt, "01:00", digest("one"), ok+"one"), revisit(txt, "03:00", ofDate(itself, "01:00")+
		digest("sorry"), "")}},
	{"of a second with two bodies", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		response(txt, "01:00", digest("two"), ok+"two"), revisit(txt, "03:00", ofDate(itself, "01:00")+hexDigest("one"),
			ok)}},
	{"of a second whose only body is another one", `200 unresolved`,
		[]rec{response(txt, "01:00", digest("two"), ok+"two"), revisit(txt, "03:00", ofDate(itself, "01:00")+digest("one"),
			ok)}},
	{"of another URL", `200 "one"`, []rec{response("http://b.example:80/robots.txt", "01:00", "", ok+"one"),
		revisit(txt, "03:00", ofDate("http://B.example/robots.txt", "01:00"), ok)}},

	{"of a digest alone, as Heritrix 1.14 writes", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		response(txt, "02:00", digest("two"), ok+"two"), revisit(txt, "03:00", identical+digest("one"), ok)}},
	{"of a digest in another spelling", `200 "one"`, []rec{response(txt, "01:00", hexDigest("one"), ok+"one"),
		response(txt, "02:00", hexDigest("two"), ok+"two"), revisit(txt, "03:00", identical+digest("one"), ok)}},
	{"of a digest without a header", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		revisit(txt, "03:00", identical+digest("one"), "")}},
	{"of a digest that a 404 has as well", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		response(txt, "02:00", digest("one"), "HTTP/1.1 404 x\r\n\r\none"), revisit(txt, "03:00", identical+digest("one"),
			ok)}},
	{"of a digest of another host's", `200 "one"`, []rec{response("https://b.example/robots.txt", "01:00", digest("one"),
		ok+"one"), revisit(txt, "03:00", identical+digest("one"), ok)}},
	{"of a digest of another host's, later", `200 "one"`, []rec{revisit(txt, "03:00", identical+digest("one"), ok),
		response("https://b.example/x", "04:00", digest("one"), ok+"one")}},
	{"of a digest and another length", `200 unresolved`, []rec{response("https://b.example/robots.txt", "01:00",
		digest("one"), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"), revisit(txt, "03:00", identical+digest("one"),
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")}},
	{"of a digest, the original without one", `200 "one"`, []rec{response(txt, "01:00", "", ok+"one"),
		response(txt, "02:00", "", ok+"two"), revisit(txt, "03:00", identical+digest("one"), ok)}},
	{"of a digest, the original in chunks and without one", `200 "one"`,
		[]rec{response(txt, "01:00", "", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n"),
			revisit(txt, "03:00", identical+digest("one"), "")}},
	{"of a digest of nothing, of another host's, without a header", `0 unresolved`,
		[]rec{response("https://b.example/robots.txt", "01:00", emptyPayload, ok),
			revisit(txt, "03:00", identical+emptyPayload, "")}},
	{"of a digest of nothing", `200 ""`, []rec{response(txt, "01:00", emptyPayload, ok),
		revisit(txt, "03:00", identical+emptyPayload, ok)}},
	{"of a digest that nothing has", `200 unresolved`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		revisit(txt, "03:00", identical+digest("two"), ok)}},
	{"of a digest of another algorithm", `200 unresolved`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		revisit(txt, "03:00", identical+"WARC-Payload-Digest: md5:f97c5d29941bfb1b2fdab0874906ab82\r\n", ok)}},
	{"of a date, the digests of two algorithms", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		revisit(txt, "03:00", ofDate(itself, "01:00")+"WARC-Payload-Digest: md5:f97c5d29941bfb1b2fdab0874906ab82\r\n", ok)}},

	{"behind its revisit in the file", `200 "one"`, []rec{revisit(txt, "03:00", ofID(1), ok),
		response(txt, "01:00", id(1), ok+"one")}},
	{"of a revisit of a revisit", `200 "one"`, []rec{response(txt, "01:00", id(1), ok+"one"),
		revisit(txt, "02:00", id(2)+ofID(1), ok), revisit(txt, "03:00", id(3)+ofDate(itself, "02:00"), ok)}},
	{"of a revisit by its ID, which has a digest alone", `200 "one"`,
		[]rec{response(txt, "01:00", digest("one"), ok+"one"), revisit(txt, "02:00", id(2)+digest("one"), ok),
			revisit(txt, "03:00", id(3)+ofID(2), ok)}},
	{"of a revisit without a header", `200 "one"`, []rec{response(txt, "01:00", id(1), ok+"one"),
		revisit(txt, "02:00", id(2)+ofID(1), ""), revisit(txt, "03:00", id(3)+ofID(2), "")}},
	{"of itself", `200 unresolved`, []rec{revisit(txt, "03:00", id(1)+ofID(1), ok)}},
	{"of two that refer to each other", `200 unresolved`, []rec{revisit(txt, "02:00", id(1)+ofID(2), ok),
		revisit(txt, "03:00", id(2)+ofID(1), ok)}},

	{"not modified, of a record ID", `200 "one"`, []rec{response(txt, "01:00", id(1)+digest("one"), ok+"one"),
		revisit(txt, "03:00", ofID(1)+notModified+emptyPayload, "HTTP/1.1 304 x\r\n\r\n")}},
	{"not modified, of a date", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		revisit(txt, "03:00", ofDate(itself, "01:00")+notModified, "HTTP/1.1 304 x\r\n\r\n")}},
	{"not modified, of a digest", `200 "one"`, []rec{response(txt, "01:00", digest("one"), ok+"one"),
		response(txt, "02:00", digest("two"), ok+"two"), revisit(txt, "03:00", notModified+digest("one"),
			"HTTP/1.1 304 x\r\n\r\n")}},
	{"not modified, of nothing named", `200 "two"`, []rec{response(txt, "01:00", "", ok+"one"), response(txt, "02:00", "",
		ok+"two"), response(txt, "02:30", "", unavailable), revisit(txt, "03:00", notModified, "")}},
	{"not modified, of what is named and not there", `304 unresolved`, []rec{response(txt, "01:00", "", ok+"one"),
		revisit(txt, "03:00", ofDate(itself, "02:00")+notModified, "HTTP/1.1 304 x\r\n\r\n")}},

	{"with a status of its own", `404 ""`, []rec{response(txt, "01:00", id(1), ok+"one"), revisit(txt, "03:00", ofID(1),
		"HTTP/1.1 404 x\r\n\r\n")}},
	{"without a header, of an error", `404 ""`, []rec{response(txt, "01:00", id(1), "HTTP/1.1 404 x\r\n\r\n"),
		revisit(txt, "03:00", ofID(1), "")}},
	{"of an error, which it is not", `200 unresolved`, []rec{response(txt, "01:00", id(1), "HTTP/1.1 404 x\r\n\r\n"),
		revisit(txt, "03:00", ofID(1), ok)}},
	{"of an error with the same payload, as gowarc finds it", `200 "one"`,
		[]rec{response("https://b.example/x", "01:00", id(1)+digest("one"), "HTTP/1.1 404 x\r\n\r\none"),
			revisit(txt, "03:00", ofID(1)+digest("one"), ok)}},
	{"of the date of an error with the same payload", `200 "one"`, []rec{response("https://b.example/robots.txt", "01:00",
		digest("one"), "HTTP/1.1 404 x\r\n\r\none"), revisit(txt, "03:00", ofDate("https://b.example/robots.txt", "01:00")+
		hexDigest("one"), ok)}},
	{"of the digest of an error before", `200 "one"`,
		[]rec{response(txt, "01:00", digest("one"), "HTTP/1.1 500 x\r\n\r\none"), revisit(txt, "03:00", digest("one"), ok)}},
	{"without a header, of an error with a body", `404 ""`,
		[]rec{response(txt, "01:00", id(1)+digest("one"), "HTTP/1.1 404 x\r\n\r\none"),
			revisit(txt, "03:00", ofID(1)+digest("one"), "")}},
	{"of nothing named", `200 unresolved`, []rec{response(txt, "01:00", "", ok+"one"), revisit(txt, "03:00", "", ok)}},
	{"of what is no digest and no date", `200 unresolved`, []rec{response(txt, "01:00", "WARC-Payload-Digest: sha1:-\r\n",
		ok+"one"), revisit(txt, "03:00", "WARC-Payload-Digest: sha1:-\r\nWARC-Refers-To-Date: soon\r\n", ok)}},
}

func outcome(c *warc.Capture) string {
	text := fmt.Sprintf("%d %q", c.Status(), c.Body)
	if c.Body != nil && !isSuccess(c.Status()) {
		text += " of an error"
	}
	if c.Facts().Kind().Class == answer.RevisitUnresolved {
		text = fmt.Sprintf("%d unresolved", c.Status())
	}
	if strings.Contains(c.Mismatch, "by WARC-Refers-To") {
		text += " but another digest"
	} else if c.Mismatch != "" {
		text += " " + c.Mismatch
	}
	return text
}

// A revisit record finds its original, whatever its writer says of it: in one archive, with
// and without the last captures alone, in two, and in any order.
func TestRevisits(t *testing.T) {
	for _, row := range revisits {
		var texts []string
		for _, r := range row.records {
			texts = append(texts, r.text())
		}
		last := ""
		for _, r := range row.records {
			if r.kind == "revisit" && r.url == txt {
				last = r.text()
			}
		}
		for _, archives := range [][]string{{strings.Join(texts, "")}, texts} {
			for range 2 {
				got := "nothing"
				lastOf(t, archives, 5, func(_, _ int, c *warc.Capture) {
					if c.Origin.Host == "a.example" {
						got = outcome(c)
					}
				})
				if got != row.want {
					t.Errorf("a revisit %s, in %d archives: %s, want %s", row.name, len(archives), got, row.want)
				}
				slices.Reverse(archives)
			}
		}
		if got := original(t, strings.Join(texts, ""), last); got != row.want {
			t.Errorf("a revisit %s, among all captures: %s, want %s", row.name, got, row.want)
		}
	}
}

// original returns what comes of a record if the revisit records of an archive are
// followed, and nothing else.
func original(t *testing.T, archive, record string) (got string) {
	t.Helper()
	archives := []string{archive}
	captures, err := Archives{
		Count: 1, Each: each(archives), Stored: stored, Progress: func(int64) {}, Scratch: sinktest.Scratch(t, t.TempDir()),
		Wanted: func(fetch.Origin) bool { return true },
	}.Originals(t.Context())
	must(t, err)
	defer captures.Close()
	must(t, each(archives)(t.Context(), func(int) bool { return true }, func(ctx context.Context, i int, _ string,
		in io.Reader) error {
		r, err := captures.In(i)
		must(t, err)
		_, err = warc.ReadAll(ctx, "", in, stored, func() bool { return false }, func(c *warc.Capture) error {
			isLast, err := r.Take(c)
			if isLast {
				t.Error("a last capture")
			}
			if strings.HasPrefix(archive[c.Offset:], record) {
				got = outcome(c)
			}
			return err
		}, ignored)
		return err
	}))
	return got
}

// Of a hundred hosts each revisit record finds its own original, in whatever of the forms
// it names it, although what is sorted does not fit into memory.
func TestManyRevisits(t *testing.T) {
	defer func(before int) { memory = before }(memory)
	memory = 2000
	r := rand.New(rand.NewPCG(5, 0))
	const archives = 4
	texts, want := make([][]string, archives), make(map[string]string)
	add := func(r *rand.Rand, record rec) {
		i := r.IntN(archives)
		texts[i] = append(texts[i], record.text())
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for h := range 100 {
		host := fmt.Sprintf("h%d.example", h)
		url := "https://" + host + txt
		chosen := r.IntN(4)
		refers := ""
		for k := range 4 {
			at := start.Add(time.Duration(k) * time.Minute)
			format := []string{time.RFC3339, "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000000Z"}
			at = at.Add(time.Duration(r.IntN(999_999)) * time.Microsecond)
			date := at.Format(format[r.IntN(3)])
			body := fmt.Sprintf("# %d of %s\n", k, host)
			of := url
			if k == chosen && r.IntN(4) == 0 {
				of = "https://mirror.example/" + host
			}
			spelling := []func(string) string{digest, hexDigest}[r.IntN(2)]
			add(r, rec{"response", of, date, fmt.Sprintf("WARC-Record-ID: <urn:%s:%d>\r\n", host, k) + spelling(body),
				ok + body})
			if r.IntN(3) == 0 { // in the same second
				add(r, rec{"response", of, date, digest("sorry"), unavailable + "sorry"})
			}
			if k == chosen {
				want[host] = fmt.Sprintf("200 %q", body)
				refers = []string{
					fmt.Sprintf("WARC-Refers-To: <urn:%s:%d>\r\n", host, k),
					"WARC-Refers-To-Target-URI: " + of + "\r\nWARC-Refers-To-Date: " + at.Format(format[r.IntN(3)]) + "\r\n" +
						digest(body),
					hexDigest(body), identical + digest(body),
				}[r.IntN(4)]
			}
		}
		for i := range 1 + r.IntN(2) { // the second refers to the first
			date := start.Add(time.Duration(10+i) * time.Minute).Format(time.RFC3339)
			add(r, rec{"revisit", url, date, fmt.Sprintf("WARC-Record-ID: <urn:%s:r%d>\r\n", host, i) + refers,
				[]string{ok, ""}[r.IntN(2)]})
			refers = fmt.Sprintf("WARC-Refers-To: <urn:%s:r%d>\r\n", host, i)
		}
	}
	var files []string
	for _, records := range texts {
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		files = append(files, strings.Join(records, ""))
	}
	got := make(map[string]string)
	done := make(chan bool, 1)
	done <- true
	lastOf(t, files, 5, func(_, _ int, c *warc.Capture) {
		<-done
		got[c.Origin.Host] = outcome(c)
		done <- true
	})
	for host, text := range want {
		if got[host] != text {
			t.Errorf("%s: %s, want %s", host, got[host], text)
		}
	}
}
