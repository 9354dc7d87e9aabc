package cdx

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/input"
)

// linesOfIndex reads an index, and returns what its lines name and why they do not.
func linesOfIndex(t testing.TB, text string) (places, rejected []string, err error) {
	t.Helper()
	err = Read(t.Context(), "x.cdx", strings.NewReader(text), Receiver{
		Capture: func(c Capture) error {
			of := ""
			if c.IsRevisit {
				of = " a revisit"
			}
			if c.Original != (Place{}) {
				of += fmt.Sprintf(" of %s %d+%d", c.Original.File, c.Original.Offset, c.Original.Length)
			}
			places = append(places, fmt.Sprintf("%d %s %s %s %d+%d%s", c.Line, c.Origin, c.Date.Format("20060102150405"),
				c.File, c.Offset, c.Length, of))
			return nil
		},
		Other: func(Capture) (bool, error) { return false, nil },
		Reject: func(line int64, text, reason string) error {
			rejected = append(rejected, fmt.Sprintf("%d %s", line, reason))
			return nil
		},
	})
	return places, rejected, err
}

func TestIndexFormats(t *testing.T) {
	const eleven = "com,example)/robots.txt 20190102030405 http://www.example.com:80/robots.txt text/plain 200 AAAA - - " +
		"512 1024 IA-000001.warc.gz"
	for name, row := range map[string]struct{ text, want string }{
		"11 fields, with a header": {" CDX N b a m s k r M S V g\n" + eleven + "\n",
			"2 http://www.example.com 20190102030405 IA-000001.warc.gz 1024+512"},
		"11 fields, without": {eleven, "1 http://www.example.com 20190102030405 IA-000001.warc.gz 1024+512"},
		"9 fields, with a header": {" CDX N b a m s k r V g\r\ncom,example)/robots.txt 20050102030405 " +
			"https://example.com/robots.txt text/plain 200 AAAA - 1024 IA-000001.arc.gz\r\n",
			"2 https://example.com 20050102030405 IA-000001.arc.gz 1024+0"},
		"9 fields, without": {"com,example)/robots.txt 20050102030405 https://example.com/robots.txt text/plain " +
			"200 AAAA - 1024 IA-000001.arc.gz", "1 https://example.com 20050102030405 IA-000001.arc.gz 1024+0"},
		"10 fields": {"com,example)/robots.txt 20050102030405 https://example.com/robots.txt text/plain " +
			"200 AAAA - - 1024 IA-000001.arc.gz", "1 https://example.com 20050102030405 IA-000001.arc.gz 1024+0"},
		"fields in another order": {" CDX A b a V S g\nx 20050102030405 http://example.com/robots.txt 0 77 dir/a.warc\n",
			"2 http://example.com 20050102030405 dir/a.warc 0+77"},
		"no length": {strings.Replace(eleven, " 512 ", " - ", 1),
			"1 http://www.example.com 20190102030405 IA-000001.warc.gz 1024+0"},
		"a revisit": {strings.Replace(eleven, "text/plain 200", "warc/revisit -", 1),
			"1 http://www.example.com 20190102030405 IA-000001.warc.gz 1024+512 a revisit"},
		"CDXJ of pywb": {"!OpenWayback-CDXJ 1.0\n\ncom,example)/robots.txt 20190102030405 {\"url\": " +
			"\"http://example.com/robots.txt\", \"mime\": \"text/plain\", \"status\": \"200\", \"digest\": \"A\", \"length\": " +
			"\"512\", \"offset\": \"1024\", \"filename\": \"a.warc.gz\"}\n",
			"3 http://example.com 20190102030405 a.warc.gz 1024+512"},
		"CDXJ of Common Crawl": {"com,example)/robots.txt 20190102030405 {\"url\": " +
			"\"https://example.com/robots.txt\", \"length\": 512, \"offset\": 1024, \"filename\": " +
			"\"crawl-data/CC-MAIN-2019-04/segments/1/robotstxt/a.warc.gz\"}",
			"1 https://example.com 20190102030405 crawl-data/CC-MAIN-2019-04/segments/1/robotstxt/a.warc.gz 1024+512"},
		"JSON lines of a server": {"{\"urlkey\": \"com,example)/robots.txt\", \"timestamp\": \"20190102030405\", " +
			"\"url\": \"https://example.com/robots.txt\", \"length\": \"512\", \"offset\": \"1024\", \"filename\": " +
			"\"a.warc.gz\"}", "1 https://example.com 20190102030405 a.warc.gz 1024+512"},
		"a byte order mark": {"\ufeff" + eleven,
			"1 http://www.example.com 20190102030405 IA-000001.warc.gz 1024+512"},
		"an archive at its own URL": {strings.Replace(eleven, "IA-000001", "https://data.example/IA-000001", 1),
			"1 http://www.example.com 20190102030405 https://data.example/IA-000001.warc.gz 1024+512"},
	} {
		places, rejected, err := linesOfIndex(t, row.text)
		if err != nil || len(rejected) > 0 || strings.Join(places, "; ") != row.want {
			t.Errorf("%s: %q, rejected %q, %v; want %s", name, places, rejected, err, row.want)
		}
	}
	const lacks = ", and not a date, a URL, an offset and an archive among them"
	of := func(old, new string) string { return strings.Replace(eleven, old, new, 1) }
	for name, row := range map[string]struct{ text, want string }{
		"another URL": {of(":80/robots.txt", ":80/"), "1 not_robots_txt: a capture of another URL"},
		"a query":     {of(":80/robots.txt", ":80/robots.txt?x"), "1 not_robots_txt: a capture of another URL"},
		"dns": {of("http://www.example.com:80/robots.txt", "dns:www.example.com"),
			"1 not_robots_txt: a capture of another URL"},
		"no offset":              {of(" 1024 ", " - "), "1 not_a_capture: no readable offset"},
		"a negative offset":      {of(" 1024 ", " -1024 "), "1 not_a_capture: no readable offset"},
		"an offset beyond int64": {of(" 1024 ", " 9223372036854775807 "), "1 not_a_capture: no readable offset"},
		"no length that is one": {" CDX N b a m s k r M S V g\n" + of(" 512 ", " x "),
			"2 not_a_capture: no readable length"},
		"no archive":           {of("IA-000001.warc.gz", "-"), "1 not_a_capture: no archive is named"},
		"no date":              {of("20190102030405", "2019"), "1 not_a_capture: no readable date"},
		"too few fields":       {"com,example)/robots.txt 20190102030405", "1 not_a_capture: 2 fields" + lacks},
		"as many as no format": {strings.Repeat("x ", 15), "1 not_a_capture: 15 fields" + lacks},
		"JSON that is cut": {"com,example)/robots.txt 20190102030405 {\"url\": \"https://example.com/robots.txt\"",
			"1 not_a_capture: the JSON object cannot be read"},
		"JSON without a place": {"com,example)/robots.txt 20190102030405 {\"url\": \"https://example.com/robots.txt\"}",
			"1 not_a_capture: names no archive and no offset; ask the server of the index for the fields filename and offset"},
		"a line that is too long": {strings.Repeat("x", input.MaxLine+1), fmt.Sprintf("1 line_too_long: more than %d bytes",
			input.MaxLine)},
	} {
		_, rejected, err := linesOfIndex(t, row.text)
		if d := cmp.Diff([]string{row.want}, rejected); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	_, _, err := linesOfIndex(t, " CDX N b a m s k r M S V\n"+eleven)
	var input *userfile.Error
	if !errors.As(err, &input) || input.Line != 1 || !strings.Contains(err.Error(), "names no field g") {
		t.Errorf("a header without file names: %v", err)
	}
}

// FuzzIndex checks that each line is either taken, whole and within bounds, or rejected.
func FuzzIndex(f *testing.F) {
	f.Add(" CDX N b a m s k r M S V g\ncom,example)/robots.txt 20190102030405 http://example.com/robots.txt text/plain " +
		"200 A - - 5 10 a.warc.gz\n")
	f.Add("com,example)/robots.txt 20190102030405 {\"url\": \"https://example.com/robots.txt\", \"length\": \"5\", " +
		"\"offset\": 10, \"filename\": \"a\"}\n!x\n\n")
	f.Add("com,example)/robots.txt 20050102030405 https://example.com/robots.txt text/plain 200 A - 1024 IA.arc.gz\r\n{\n")
	f.Add("[[\"urlkey\",\"timestamp\",\"original\",\"offset\",\"filename\"],\n" +
		"[\"x\",\"20190102030405\",\"http://e.example/robots.txt\",\"7\",\"a\"]]\n{\"url\":")
	f.Fuzz(func(t *testing.T, text string) {
		last, n, most := int64(0), 0, int64(strings.Count(text, "\n")+1)
		took := func(line int64) {
			if n++; line < last || line > most || n > len(text)+1 {
				t.Fatalf("line %d of %d after %d", line, most, last)
			}
			last = line
		}
		isPlace := func(p Place) bool {
			return p.File != "" && p.Offset >= 0 && p.Length >= 0 && p.Offset+p.Length >= 0
		}
		Read(t.Context(), "x", strings.NewReader(text), Receiver{
			Capture: func(c Capture) error {
				if took(c.Line); !isPlace(c.Place) || c.Original != (Place{}) && !isPlace(c.Original) {
					t.Fatalf("%+v", c)
				}
				again, err := Kept(c.Key(), c.Value())
				again.Date, again.Within, again.Status, again.URL, again.IsRevisit = c.Date, c.Within, c.Status, c.URL, c.IsRevisit
				if err != nil || again != c {
					t.Fatalf("%+v is kept as %+v (%v)", c, again, err)
				}
				return nil
			},
			Other: func(c Capture) (bool, error) {
				if !isPlace(c.Place) {
					t.Fatalf("%+v", c)
				}
				return false, nil
			},
			Reject: func(line int64, _, reason string) error {
				if took(line); reason == "" {
					t.Fatalf("line %d has no reason", line)
				}
				return nil
			},
		})
	})
}
