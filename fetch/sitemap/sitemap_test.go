package sitemap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
)

// example is a case of the shared examples: documents, and what reading them gives.
type example struct {
	Name, Entry, Kind, Outcome, Remark string
	URLs                               []string
	Files                              []struct {
		File, URL string
		Status    int
		Headers   map[string]string
	}
}

const examples = "../../../shared/sitemaps/examples"

// Every example gives its URLs, its kind and its damage; children of an index are read too.
func TestExamples(t *testing.T) {
	list, err := os.Open(filepath.Join(examples, "index.jsonl"))
	if err != nil {
		t.Skip("the shared examples are not here: ", err)
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var x example
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		if x.Outcome == "absent" || x.Outcome == "unavailable" {
			continue // the body of an error is not read
		}
		n++
		t.Run(x.Name, func(t *testing.T) {
			read := make(map[string]bool)
			urls, result := x.follow(t, x.Entry, read)
			if !slices.Equal(urls, x.URLs) {
				t.Errorf("URLs\n%q, want\n%q", urls, x.URLs)
			}
			if string(result.Kind) != x.Kind || result.IsDamaged() != (x.Outcome == "damaged") {
				t.Errorf("a %s, damaged %v (%q); want %s, %s", result.Kind, result.IsDamaged(), result.Remarks, x.Kind, x.Outcome)
			}
			// The caller remarks on scope and on an index in an index.
			if !slices.Contains([]string{"", "outside", "index-in-index"}, x.Remark) && !result.Is(Remark(x.Remark)) {
				t.Errorf("remarks %q, want %s", result.Remarks, x.Remark)
			}
		})
	}
	if n < 40 {
		t.Errorf("%d examples", n)
	}
}

// follow returns the URLs of a document and of those that it indexes.
func (x *example) follow(t *testing.T, at string, read map[string]bool) (urls []string, result Result) {
	t.Helper()
	if read[at] {
		return nil, result
	}
	read[at] = true
	for _, f := range x.Files {
		if f.URL != at {
			continue
		}
		for name, value := range f.Headers {
			if strings.EqualFold(name, "Location") {
				from, _ := url.Parse(at)
				to, err := from.Parse(value)
				if err != nil {
					t.Fatal(err)
				}
				return x.follow(t, to.String(), read)
			}
		}
		body, err := os.ReadFile(filepath.Join(examples, f.File))
		if err != nil {
			t.Fatal(err)
		}
		base, _ := url.Parse(at)
		var children []string
		result, err = Read(bytes.NewReader(body), base, 1<<26, func(e Entry) error {
			if e.IsSitemap {
				children = append(children, e.URL)
			} else {
				urls = append(urls, e.URL)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, child := range children {
			more, _ := x.follow(t, child, read)
			urls = append(urls, more...)
		}
	}
	return urls, result
}

func readText(text string, limit int64) (urls []string, r Result, err error) {
	r, err = Read(strings.NewReader(text), nil, limit, func(e Entry) error { urls = append(urls, e.URL); return nil })
	return urls, r, err
}

const head = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`

func TestDocuments(t *testing.T) {
	for text, want := range map[string]struct {
		urls    string
		kind    Kind
		remarks []Remark
	}{
		head + "<url><loc>http://a.test/1</loc><lastmod/></url></urlset>": {"http://a.test/1", URLSet, nil},
		// A second loc, and one of an image, are none.
		head + "<url><loc>http://a.test/1</loc><loc>http://a.test/2</loc><image:image><image:loc>http://a.test/i</" +
			"image:loc></image:image></url></urlset>": {"http://a.test/1", URLSet, nil},
		head + `<url><image xmlns="urn:i"><loc>http://a.test/i</loc></image><loc>http://a.test/1</loc></url></urlset>`: {
			"http://a.test/1", URLSet, nil},
		// One bad entry never costs another.
		head + "<url><loc/></url><url/><url><loc>mailto:a@a.test</loc></url><url><lastmod>x</lastmod></url><url><loc>http:/" +
			"/a.test/1</loc></url></urlset>": {"http://a.test/1", URLSet, []Remark{Scheme}},
		head + "<url><loc>http://a.test/1</loc><url><loc>http://a.test/" +
			"2</loc></url></urlset>": {"http://a.test/1 http://a.test/2", URLSet, []Remark{Tags}},
		head + "<url><loc>http://a.test/1</loc></url><url><loc>http:/" +
			"/a.test/2</loc>": {"http://a.test/1 http://a.test/2", URLSet, []Remark{Cut}},
		head + "<url><loc>http://" +
			"a.test/1</loc></url><!x": {"http://a.test/1", URLSet, []Remark{Tags}},
		head + "<url><loc>http://a.test/?&#x41;&#66;&#0;&#xD800;&a;&lt;&amp;amp;" +
			"&</loc></url></urlset>": {"http://a.test/?AB&#0;&#xD800;&a;<&amp;&", URLSet, []Remark{Ampersand}},
		"<rss><channel><link>http://a.test/</link><item><guid>http://a.test/g</guid></item><item><guid isPermaLink='false'>x</guid></item></channel></rss>": {"http://a.test/g", RSS, nil},
		"<html><url><loc>http://a.test/</loc></url></html>": {"", None, []Remark{HTML}},
		"<!DOCTYPE html><p>":              {"", None, []Remark{HTML}},
		"<config><url/></config>":         {"", None, []Remark{Other}},
		"":                                {"", None, []Remark{Empty}},
		" \n\ufeff ":                      {"", None, []Remark{Empty}},
		"no list\nhttp://a.test/\n":       {"", None, []Remark{Other}},
		"http://a.test/1\r\nwww.a.test\n": {"http://a.test/1 www.a.test", Text, []Remark{Relative}},
		"\x1f\x8b damaged":                {"", None, []Remark{Cut}},
	} {
		urls, r, err := readText(text, 1<<20)
		if got := strings.Join(urls, " "); got != want.urls || r.Kind != want.kind ||
			!slices.Equal(r.Remarks, want.remarks) || err != nil {
			t.Errorf("%s\ngives %s of a %s, %q, %v; want %s, %s, %q", text, got, r.Kind, r.Remarks, err, want.urls, want.kind,
				want.remarks)
		}
		// In whatever pieces it comes.
		var pieces []string
		again, err := Read(iotest.OneByteReader(strings.NewReader(text)), nil, 1<<20, func(e Entry) error {
			pieces = append(pieces, e.URL)
			return nil
		})
		if !slices.Equal(pieces, urls) || !slices.Equal(again.Remarks, r.Remarks) || err != nil {
			t.Errorf("%s\nin pieces gives %q, %q, %v", text, pieces, again.Remarks, err)
		}
	}
}

// The limit is on what is unpacked, what comes before it counts, and memory does not grow.
func TestALongDocumentIsCutAtTheLimit(t *testing.T) {
	entry := "<url><loc>http://a.test/</loc></url>"
	text := head + strings.Repeat(entry, 100)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, text)
	z.Close()
	for _, document := range []string{text, packed.String()} {
		urls, r, err := readText(document, int64(len(head)+10*len(entry)+5))
		if len(urls) != 10 || !r.Is(Limit) || err != nil {
			t.Errorf("%d URLs, %q, %v", len(urls), r.Remarks, err)
		}
	}
	if _, r, err := readText(head+"</urlset>", int64(len(head+"</urlset>"))); len(r.Remarks) > 0 || err != nil {
		t.Errorf("a document of the limit: %q, %v", r.Remarks, err)
	}
	if urls, r, err := readText(packed.String()[:packed.Len()-12], 1<<20); err != nil || !r.Is(Cut) || len(urls) == 0 {
		t.Errorf("half of a packed document: %d URLs, %q, %v", len(urls), r.Remarks, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	_, err := Read(io.MultiReader(strings.NewReader(head), io.LimitReader(&endless{text: entry}, 32<<20)), nil, 1<<26,
		func(Entry) error { n++; return nil })
	runtime.ReadMemStats(&after)
	if used := after.Sys - before.Sys; err != nil || n < 32<<20/len(entry) || used > 16<<20 {
		t.Errorf("%d URLs take %d bytes, %v", n, used, err)
	}
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// What each returns ends the reading, and an error of the reader is none of the document.
func TestErrorsAreNotDamage(t *testing.T) {
	own := errors.New("own")
	for _, text := range []string{head + "<url><loc>http://a.test/</loc></url></urlset>", "http://a.test/\n"} {
		if _, err := Read(strings.NewReader(text), nil, 1<<20, func(Entry) error { return own }); err != own {
			t.Errorf("%v, want %v", err, own)
		}
		if _, err := Read(io.MultiReader(strings.NewReader(text[:12]), iotest.ErrReader(own)), nil, 1<<20,
			func(Entry) error { return nil }); !errors.Is(err, own) {
			t.Errorf("%v, want %v", err, own)
		}
	}
}

// FuzzRead checks that a document, however damaged, is read the same in pieces, within the
// limit and without a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + "<url><loc><![CDATA[http://a.test/]]></loc></url></urlset>"))
	f.Add([]byte("<?xml version='1.0' encoding='iso-8859-1'?><feed><entry><link href='http://a.test/'/></entry></feed>"))
	f.Add([]byte("http://a.test/\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		urls, r, err := readText(string(text), 1<<16)
		if err != nil {
			t.Skip(err)
		}
		var pieces []string
		again, err := Read(iotest.HalfReader(bytes.NewReader(text)), nil, 1<<16, func(e Entry) error {
			pieces = append(pieces, e.URL)
			return nil
		})
		if err != nil || !slices.Equal(urls, pieces) || r.Kind != again.Kind {
			t.Fatalf("%q of a %s; in pieces %q of a %s, %v", urls, r.Kind, pieces, again.Kind, err)
		}
	})
}
