package cdx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	sha1Text = "TPDHOBA5IOSTX7ZY77WY2ASJORYTJ4LH"
	one      = "http://www.example.com 20190102030405 a.warc.gz 1024+512"
)

// The columns of a line without a header are those that hold what they should: as is usual
// for their number, or in whatever order an indexer has written them.
func TestColumnsWithoutAHeader(t *testing.T) {
	const (
		key  = "com,example)/robots.txt"
		url  = "http://www.example.com/robots.txt"
		date = "20190102030405"
	)
	join := func(fields ...string) string { return strings.Join(fields, " ") }
	noLength := strings.Replace(one, "+512", "+0", 1)
	original := " a revisit of b.warc.gz 2048+256"
	for name, row := range map[string]struct{ text, want string }{
		"9": {join(key, date, url, "text/plain", "200", sha1Text, "-", "1024", "a.warc.gz"), noLength},
		"10, robots flags": {join(key, date, url, "text/plain", "200", sha1Text, "-", "AF", "1024", "a.warc.gz"),
			noLength},
		"11": {join(key, date, url, "text/plain", "200", sha1Text, "-", "-", "512", "1024",
			"a.warc.gz"), one},
		"11, a redirect": {join(key, date, url, "text/html", "302", sha1Text, "http://x.example/a.warc.gz", "-",
			"512", "1024", "a.warc.gz"), one},
		"12: 9 and the original": {join(key, date, url, "warc/revisit", "-", sha1Text, "-", "1024", "a.warc.gz", "256",
			"2048", "b.warc.gz"), noLength + original},
		"13: 10 and the original": {join(key, date, url, "warc/revisit", "-", sha1Text, "-", "-", "1024", "a.warc.gz",
			"256", "2048", "b.warc.gz"), noLength + original},
		"14: 11 and the original": {join(key, date, url, "warc/revisit", "-", sha1Text, "-", "-", "512", "1024",
			"a.warc.gz", "256", "2048", "b.warc.gz"), one + original},
		"14, no original": {join(key, date, url, "text/plain", "200", sha1Text, "-", "-", "512", "1024",
			"a.warc.gz", "-", "-", "-"), one},
		"14, its length unknown": {join(key, date, url, "warc/revisit", "200", sha1Text, "-", "-", "512", "1024",
			"a.warc.gz", "-", "2048", "b.warc.gz"), one + strings.Replace(original, "+256", "+0", 1)},
		"14, odd file names": {join(key, date, url, "warc/revisit", "-", sha1Text, "-", "-", "512", "1024", "one",
			"256", "2048", "other"), strings.Replace(one, "a.warc.gz", "one", 1) + strings.Replace(original, "b.warc.gz",
			"other", 1)},
		"7: no key, no type": {join(date, url, "200", sha1Text, "512", "1024", "a.warc.gz"), one},
		"7, no length":       {join(key, date, url, "text/plain", "200", "1024", "a.warc.gz"), noLength},
		"7, an odd file name": {join(key, date, url, "200", "text/plain", "1024", "crawl/a"), strings.Replace(noLength,
			"a.warc.gz", "crawl/a", 1)},
		"8": {join(key, date, url, "text/plain", sha1Text, "512", "1024", "dir/a.arc"),
			strings.Replace(one, "a.warc.gz", "dir/a.arc", 1)},
		"12: a type of two words": {join(key, date, url, "text/plain;", "charset=utf-8", "200", sha1Text, "-", "-", "512",
			"1024", "a.warc.gz"), one},
		"the URL first":     {join(url, date, "200", "512", "1024", "a.warc.gz", "x"), one},
		"the archive first": {join("a.warc.gz", "1024", url, date, sha1Text), noLength},
		"11 in another order": {join(key, date, "192.0.2.1", url, "text/plain", "200", sha1Text, "-", "512", "1024",
			"a.warc.gz"), one},
		"an archive at a URL": {join(date, url, "512", "1024", "https://data.example/a.warc.gz"),
			strings.Replace(one, "a.warc.gz", "https://data.example/a.warc.gz", 1)},
		"a key like a URL": {join("http://(com,example,www,)/robots.txt", date, url, "512", "1024", "a.warc.gz"),
			one},
		"tabs": {strings.Join([]string{key, date, url, "text/plain", "200", sha1Text, "-", "-", "512",
			"1024", "a.warc.gz"}, "\t"), one},
		"a digest with its name": {join(key, date, url, "200", "sha256:"+strings.Repeat("ab", 32), "1024", "a"),
			strings.Replace(noLength, "a.warc.gz", "a", 1)},
		"a date of 12 digits": {join(key, "201901020304", url, "text/plain", "200", sha1Text, "-", "-", "512", "1024",
			"a.warc.gz"), strings.Replace(one, "0405", "0400", 1)},
		"a date of 17 digits": {join(key, "20190102030405678", url, "text/plain", "200", sha1Text, "-", "1024",
			"a.warc.gz"), noLength},
		"12 digits, another order": {join(key, "201901020304", url, "512", "1024", "a.warc.gz"), strings.Replace(one, "0405",
			"0400", 1)},
	} {
		for _, text := range []string{row.text, "\ufeff" + row.text + "\r\n", "\n\n" + row.text} {
			places, rejected, err := linesOfIndex(t, text)
			want := fmt.Sprintf("%d %s", 1+strings.Count(strings.TrimSpace(text), "\n")+2*strings.Count(text, "\n\n"), row.want)
			if err != nil || len(rejected) > 0 || strings.Join(places, "; ") != want {
				t.Errorf("%s: %q, rejected %q, %v; want %s", name, places, rejected, err, want)
			}
		}
	}
	// A line says what it lacks.
	for text, want := range map[string]string{
		join(key, date, url, "text/plain", "200", sha1Text, "512"): "1 " +
			"not_a_capture: names no archive and no offset; ask the server of the index for the fields filename and offset",
		join(key, "20190199030405", url, "text/plain", "200", sha1Text, "-", "-", "512", "1024",
			"a.warc.gz"): "1 not_a_capture: no readable date",
		join(key, date, "dns:example.com", "text/dns", "-", sha1Text, "-", "-", "512", "1024",
			"a.warc.gz"): "1 not_robots_txt: a capture of another URL",
		join(key, date, "http://example.com/a", "text/html", "200", sha1Text, "-", "-", "-", "-",
			"a.warc.gz"): "1 not_robots_txt: a capture of another URL",
		join(key, date, url, "text/plain", "200", sha1Text, "-", "-", "512", "1024", "a.warc.gz", "1", "2",
			"3"): "1 not_a_capture: 14 fields",
	} {
		places, rejected, err := linesOfIndex(t, text)
		if want == "1 not_a_capture: 14 fields" { // an original without an archive is none, and the rest is whole
			if err != nil || strings.Join(places, "; ") != "1 "+one {
				t.Errorf("%q: %q, rejected %q, %v", text, places, rejected, err)
			}
			continue
		}
		if d := cmp.Diff([]string{want}, rejected); d != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
}

// Indexes that were merged have several headers; a line that none of them fits has its
// columns by what they hold.
func TestSeveralHeaders(t *testing.T) {
	text := strings.Join([]string{
		" CDX N b a m s k r M S V g", " CDX N b a m s k r V g", " CDX b a g V S",
		"k 20190102030405 http://www.example.com/robots.txt text/plain 200 A - - 512 1024 a.warc.gz",
		"k 20190102030405 http://www.example.com/robots.txt text/plain 200 A - 1024 a.warc.gz",
		"20190102030405 http://www.example.com/robots.txt 77 1024 512",
		"k 20190102030405 http://www.example.com/robots.txt text/plain 200 A - - 512 1024 a.warc.gz 256 2048 b.warc.gz",
		"k 20190102030405 http://www.example.com/robots.txt 512 1024 a.warc.gz",
	}, "\n")
	places, rejected, err := linesOfIndex(t, text)
	want := []string{"4 " + one, "5 " + strings.Replace(one, "512", "0", 1), "6 " + strings.Replace(one, "a.warc.gz",
		"77", 1), "7 " + one + " of b.warc.gz 2048+256", "8 " + one}
	if d := cmp.Diff(want, places); d != "" || len(rejected) > 0 || err != nil {
		t.Errorf("rejected %q, %v\n%s", rejected, err, d)
	}
}

// JSON is read object by object or row by row, however it is laid out; what is damaged
// costs itself.
func TestJSONForms(t *testing.T) {
	const (
		object  = `{"urlkey": "com,example)/robots.txt", "timestamp": "20190102030405", "url": "http://www.example.com/robots.txt", "mime": "text/plain", "status": "200", "digest": "A", "length": "512", "offset": "1024", "filename": "a.warc.gz"}`
		numbers = `{"timestamp": 20190102030405, "url": "http:\/\/www.example.com\/robots.txt", "length": 512, "offset": 1024, "filename": "a.warc.gz", "languages": null, "x": {"y": [1, "}"]}}`
		header  = `["urlkey","timestamp","original","mimetype","statuscode","digest","length","offset","filename"]`
		row     = `["com,example)/robots.txt","20190102030405","http://www.example.com/robots.txt","text/plain; charset=\"utf-8\"","200","A","512","1024","a.warc.gz"]`
	)
	at := func(lines ...int) (out []string) {
		for _, n := range lines {
			out = append(out, fmt.Sprintf("%d %s", n, one))
		}
		return out
	}
	for name, r := range map[string]struct {
		text     string
		want     []string
		rejected []string
	}{
		"lines":                {object + "\n" + numbers + "\r\n\n" + object, at(1, 2, 4), nil},
		"lines behind a mark":  {"\ufeff" + object + "\n", at(1), nil},
		"an array of objects":  {"[" + object + ",\n" + numbers + "]", at(1, 2), nil},
		"an array in one line": {"[" + object + "," + numbers + "]\n", at(1, 1), nil},
		"rows with names":      {"[" + header + ",\n" + row + ",\n" + row + "]\n", at(2, 3), nil},
		"rows in one line":     {"[" + header + "," + row + "," + row + "]\n", at(1, 1), nil},
		"rows without names":   {row + ",\n" + row + "]\n", at(1, 2), nil},
		"a row to a line":      {header + "\n" + row, at(2), nil},
		"over several lines": {"[\n  {\n  " + strings.ReplaceAll(numbers[1:], ", ", ",\n    ") + "\n]", at(2),
			nil},
		"rows over several lines": {"[\n [\n" + strings.ReplaceAll(header[1:], ",", ",\n  ") + ",\n [\n" +
			strings.ReplaceAll(row[1:], `","`, "\",\n  \"") + "\n]\n", at(12), nil},
		"an empty array":        {"[]\n" + object, at(2), nil},
		"cut off within a text": {object[:60] + "\n" + object, at(2), []string{"1 " + cutOff}},
		"cut off behind a comma": {object[:strings.Index(object, `"mime"`)] + "\n" + object, at(2),
			[]string{"1 " + cutOff}},
		"cut off at the end": {object + "\n" + object[:90], at(1), []string{"2 " + cutOff}},
		"other text between": {object + "\nerror: overloaded\n" + object, at(1, 3), []string{"2 " + notJSON}},
		"an object too long": {object + "\n{\"x\": \"" + strings.Repeat("x", 70<<10) + "\"}\n" + object, at(1, 3),
			[]string{"2 " + tooLong}},
		"an object that is not one": {`{"url": }` + "\n" + object, at(2),
			[]string{"1 not_a_capture: the JSON object cannot be read"}},
		"a row that is not one": {object + "\n[1 2]\n" + object, at(1, 3),
			[]string{"2 not_a_capture: the JSON array is not a row of texts"}},
		"CDXJ of the IIPC": {
			`(com,example,www,)/robots.txt 2019-01-02T03:04:05Z revisit {"uri": "http://www.example.com/robots.txt", "sha": "A", "ref": "warcfile:a.warc.gz#1024"}`, []string{"1 " + strings.Replace(one, "512", "0", 1) + " a revisit"}, nil},
		"pywb resolves": {
			`com,example)/robots.txt 20190102030405 {"url": "http://www.example.com/robots.txt", "mime": "warc/revisit", "digest": "A", "length": "512", "offset": "1024", "filename": "a.warc.gz", "orig.length": "256", "orig.offset": "2048", "orig.filename": "b.warc.gz"}`, []string{"1 " + one + " a revisit of b.warc.gz 2048+256"}, nil},
		"a brace in the key": {
			`com,example)/a{b 20190102030405 {"url": "http://www.example.com/robots.txt", "length": "512", "offset": "1024", "filename": "a.warc.gz"}`, at(1), nil},
		"names as Common Crawl's table": {
			`{"fetch_time": "2019-01-02 03:04:05.000", "url": "http://www.example.com/robots.txt", "warc_record_length": 512, "warc_record_offset": 1024, "warc_filename": "a.warc.gz"}`, at(1), nil},
	} {
		places, rejected, err := linesOfIndex(t, r.text)
		if d := cmp.Diff(r.want, places) + cmp.Diff(r.rejected, rejected); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	if _, _, err := linesOfIndex(t, `[["urlkey","timestamp","original","mimetype","statuscode","digest","length"],`+"\n"+
		`["x","20190102030405","http://www.example.com/robots.txt","-","200","A","512"]]`); err == nil ||
		!strings.Contains(err.Error(), "names no field g") {
		t.Errorf("rows without archives: %v", err)
	}
}
