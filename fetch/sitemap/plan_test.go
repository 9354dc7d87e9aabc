package sitemap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// web answers the questions of a plan: URLs and their documents, or their statuses.
type web map[string]string

// ask answers a question as a client does that may ask for everything.
func (w web) ask(t testing.TB, asked *[]*fetch.Further) func(*fetch.Question) *fetch.Further {
	return func(q *fetch.Question) *fetch.Further {
		f := &fetch.Further{Kind: q.Kind, Name: q.Name, URL: q.URL(), Outcome: usage.PageStatus}
		body, ok := w[q.URL()]
		if !ok {
			f.Hops = []answer.Hop{{URL: q.URL(), Status: http.StatusNotFound}}
		} else {
			var kept bytes.Buffer
			if err := q.Read(strings.NewReader(body[:min(len(body), q.MaxBody)]), &kept); err != nil {
				t.Fatal(err)
			}
			f.Outcome, f.Reading, f.Hops = usage.PageRead, kept.Bytes(), []answer.Hop{{URL: q.URL(), Status: http.StatusOK}}
		}
		*asked = append(*asked, f)
		return f
	}
}

// host is a host with a robots.txt, "" for none.
func hostWith(file string) *fetch.Answered {
	return &fetch.Answered{
		Capture: &fetch.Capture{Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}},
		Parse: func(p *robots.Profile, each func(*robots.File)) error {
			if file != "" {
				var f robots.File
				f.Parse([]byte(file), p)
				each(&f)
			}
			return nil
		},
	}
}

var profile, _ = robots.ProfileNamed("google")

// tourOf returns what was asked of a host.
func (w web) tourOf(t testing.TB, file string, b Bounds) (asked []*fetch.Further) {
	b.Profile = profile
	b.Plan().Ask(hostWith(file), w.ask(t, &asked))
	return asked
}

func urlset(urls ...string) string {
	text := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	for _, u := range urls {
		text += "<url><loc>" + u + "</loc></url>"
	}
	return text + "</urlset>"
}

func indexOf(urls ...string) string {
	text := `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	for _, u := range urls {
		text += "<sitemap><loc>" + u + "</loc></sitemap>"
	}
	return text + "</sitemapindex>"
}

func byRank(a, b string) int {
	if rankOf(a) < rankOf(b) {
		return -1
	}
	return 1
}

func readingOf(t testing.TB, f *fetch.Further) Reading {
	t.Helper()
	r, err := ReadingOf(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The sitemaps that the file names come first, then those of their indexes, of which the
// same are taken whatever their order; a circle and what is listed twice are asked for once,
// and what lies too deep is not.
func TestWhichSitemapsAreAskedFor(t *testing.T) {
	var many []string
	w := web{
		"https://a.example/one": urlset("https://a.example/1"), "https://a.example/two": indexOf("https://a.example/one",
			"https://a.example/two", "three"),
		"https://a.example/three": indexOf("https://a.example/two", "https://a.example/four"),
		"https://a.example/four":  indexOf("https://a.example/five"),
		"https://a.example/five":  indexOf("https://a.example/six"), "https://a.example/six": urlset("https://a.example/6"),
		"https://a.example/sitemap.xml": indexOf("https://a.example/one"),
	}
	for i := range 40 {
		many = append(many, fmt.Sprintf("https://a.example/part-%d", i))
		w[many[i]] = urlset(fmt.Sprintf("https://a.example/page-%d", i))
	}
	w["https://a.example/many"] = indexOf(many...)
	slices.Reverse(many)
	w["https://a.example/many-again"] = indexOf(many...)
	names := func(asked []*fetch.Further) (out []string) {
		for _, f := range asked {
			out = append(out, f.Name+" "+strings.TrimPrefix(f.URL, "https://a.example"))
		}
		return out
	}
	b := Bounds{Files: 20, Bytes: 1 << 20, Sample: 10}
	for file, want := range map[string][]string{
		"": {" /sitemap.xml", "https://a.example/sitemap.xml /one"},
		"User-agent: *\nSitemap: https://a.example/one\nsitemap: /gone\nSitemap: https://a.example/one\n": {"2 /one",
			"3 /gone"},
		"Sitemap: https://a.example/two\nSitemap: https://a.example/one\n": {
			"1 /two", "2 /one", "https://a.example/two /three", "https://a.example/three /four", "https://a.example/four /five"},
		"Sitemap: https://b.example/its\nSitemap: mailto:x\nSitemap: ftp://a.example/x\n": {"1 https://b.example/its"},
	} {
		if diff := cmp.Diff(want, names(w.tourOf(t, file, b))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", file, diff)
		}
	}
	b.Files = 7
	first, again := names(w.tourOf(t, "Sitemap: https://a.example/many\n", b)),
		names(w.tourOf(t, "Sitemap: https://a.example/many-again\n", b))
	if len(first) != 7 || !slices.Equal(first[1:], strings.Split(strings.ReplaceAll(strings.Join(again[1:], "\n"),
		"many-again", "many"), "\n")) {
		t.Errorf("%q, and of the same index in another order %q", first, again)
	}
	// Of two indexes, those of the lowest ranks come first, whichever lists them.
	w["https://a.example/odd"], w["https://a.example/even"] = indexOf(), indexOf()
	for i, part := range many {
		at := []string{"https://a.example/odd", "https://a.example/even"}[i%2]
		w[at] = strings.Replace(w[at], "</sitemapindex>", "<sitemap><loc>"+part+"</loc></sitemap></sitemapindex>", 1)
	}
	slices.SortFunc(many, byRank)
	var urls []string
	for _, f := range w.tourOf(t, "Sitemap: https://a.example/odd\nSitemap: https://a.example/even\n", b) {
		urls = append(urls, f.URL)
	}
	if diff := cmp.Diff(append([]string{"https://a.example/odd", "https://a.example/even"}, many[:5]...),
		urls); diff != "" {
		t.Errorf("of two indexes (-want +got):\n%s", diff)
	}
}

// Once the host wants to be left alone, the others are wanted still, so that they are noted.
func TestSparedSitemaps(t *testing.T) {
	var asked []*fetch.Further
	ask := web{"https://a.example/one": indexOf("https://a.example/child")}.ask(t, &asked)
	b := Bounds{Files: 4, Bytes: 1 << 20, Sample: 10, Profile: profile}
	b.Plan().Ask(hostWith("Sitemap: /one\nSitemap: /two\nSitemap: /three\n"), func(q *fetch.Question) *fetch.Further {
		if len(asked) == 0 {
			return ask(q)
		}
		asked = append(asked, &fetch.Further{Name: q.Name, URL: q.URL(), Outcome: usage.PageSpared})
		return asked[len(asked)-1]
	})
	var got []string
	for _, f := range asked {
		got = append(got, f.Name+" "+f.URL+" "+string(f.Outcome))
	}
	want := []string{"1 https://a.example/one read", "2 https://a.example/two spared", "3 https://a.example/three spared",
		"https://a.example/one https://a.example/child spared"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The bytes of all sitemaps are bounded, unpacked, and what is not read is remarked on.
func TestBytesOfAHost(t *testing.T) {
	var pages []string
	for i := range 1000 {
		pages = append(pages, fmt.Sprintf("https://a.example/page-%d", i))
	}
	w := web{"https://a.example/1": urlset(pages...), "https://a.example/2": urlset(pages...),
		"https://a.example/3": urlset(pages...)}
	size := int64(len(w["https://a.example/1"]))
	asked := w.tourOf(t, "Sitemap: https://a.example/1\nSitemap: https://a.example/2\nSitemap: https://a.example/3\n",
		Bounds{Files: 9, Bytes: size + size/2, Sample: 5})
	if len(asked) != 2 {
		t.Fatalf("%d files", len(asked))
	}
	whole, half := readingOf(t, asked[0]), readingOf(t, asked[1])
	if whole.Bytes != size || whole.URLs != 1000 || whole.Digest == "" || len(whole.Remarks) > 0 ||
		len(whole.Sample) != 5 {
		t.Errorf("the first: %+v", whole)
	}
	if half.Bytes != size/2 || half.URLs < 490 || half.URLs > 510 || half.Digest != "" || !slices.Equal(half.Remarks,
		[]Remark{Limit}) || len(half.Sample) != 0 {
		t.Errorf("the second: %+v", half)
	}
}

// A sitemap speaks for the pages of the host that names it. Pages of another scheme, port or
// host are outside, however the origin is written; those beyond its folder count, and are
// counted apart, unless another host has it, which the file vouches for.
func TestWhosePagesCount(t *testing.T) {
	w := web{
		"https://a.example/shop/list": urlset("https://a.example/shop/1", "https://a.example/2",
			"HTTPS://A.Example:443/shop/3", "http://a.example/shop/4", "https://a.example:8443/shop/5",
			"https://www.a.example/shop/6", "https://a.example.org/7", "https://a.example", "https://a.example?q",
			"https://a.example/shop/1#top", "mailto:a@a.example", "/shop/8"),
		"https://cdn.example/maps/list": urlset("https://a.example/shop/1", "https://a.example/9", "https://cdn.example/10"),
	}
	asked := w.tourOf(t, "Sitemap: https://a.example/shop/list\nSitemap: https://cdn.example/maps/list\n",
		Bounds{Files: 5, Bytes: 1 << 20, Sample: 100})
	mine, theirs := readingOf(t, asked[0]), readingOf(t, asked[1])
	if mine.URLs != 11 || mine.Outside != 4 || mine.Listed != 7 || mine.BeyondFolder != 3 {
		t.Errorf("in a folder: %+v", mine)
	}
	if theirs.URLs != 3 || theirs.Outside != 1 || theirs.Listed != 2 || theirs.BeyondFolder != 0 {
		t.Errorf("on another host: %+v", theirs)
	}
	var urls []string
	for _, s := range Smallest(100, slices.Concat(mine.Sample, theirs.Sample)) {
		urls = append(urls, strings.TrimPrefix(s.URL, "https://a.example"))
	}
	slices.Sort(urls)
	if diff := cmp.Diff([]string{"/", "/2", "/9", "/?q", "/shop/1", "/shop/3", "/shop/8"}, urls); diff != "" {
		t.Error(diff)
	}
}

// The sample has the URLs of the lowest ranks of all that are listed, in whatever order and
// number of files, and no other.
func TestSampleIsThatOfTheList(t *testing.T) {
	var pages []string
	for i := range 3000 {
		pages = append(pages, fmt.Sprintf("https://a.example/%d", i))
	}
	want := slices.Clone(pages)
	slices.SortFunc(want, byRank)
	for _, files := range []int{1, 3, 5} {
		w, file := make(web), ""
		for i := range files {
			at := fmt.Sprintf("https://a.example/list-%d", i)
			w[at], file = urlset(pages[i*len(pages)/files:(i+1)*len(pages)/files]...), file+"Sitemap: "+at+"\n"
		}
		// twice
		w["https://a.example/list-0"] = strings.Replace(w["https://a.example/list-0"], "</urlset>", "<url><loc>"+want[0]+
			"</loc></url></urlset>", 1)
		var all []Sampled
		for _, f := range w.tourOf(t, file, Bounds{Files: 9, Bytes: 1 << 20, Sample: 50}) {
			all = append(all, readingOf(t, f).Sample...)
		}
		var got []string
		for _, s := range Smallest(50, all) {
			got = append(got, s.URL)
		}
		if diff := cmp.Diff(want[:50], got); diff != "" {
			t.Errorf("%d files (-want +got):\n%s", files, diff)
		}
		if few := Smallest(20, all); len(few) != 20 || few[19].URL != want[19] {
			t.Errorf("of 20: %v", few)
		}
	}
}

// Dates are those of W3C's note, and of RSS; another costs nothing but a remark.
func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2024": "2024-01-01T00:00:00Z", "2024-05": "2024-05-01T00:00:00Z", "2024-05-06": "2024-05-06T00:00:00Z",
		"2024-05-06T07:08Z":         "2024-05-06T07:08:00Z",
		"2024-05-06T07:08:09+02:00": "2024-05-06T05:08:09Z", "2024-05-06T07:08:09.123456789Z": "2024-05-06T07:08:09.123456Z",
		"Mon, 06 May 2024 07:08:09 GMT":   "2024-05-06T07:08:09Z",
		"Mon, 06 May 2024 07:08:09 +0200": "2024-05-06T05:08:09Z",
		"2024-13":                         "", "24-05-06": "", "yesterday": "", "2024-05-06 07:08:09": "", "06/05/2024": "",
		"0000": "",
	} {
		got := ""
		if date, ok := parseDate(text); ok {
			got = date.Format("2006-01-02T15:04:05.999999Z07:00")
		}
		if got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	w := web{
		"https://a.example/sitemap.xml": `<urlset><url><loc>https://a.example/1</loc><lastmod>2024-05-06</lastmod></url><url><loc>https://a.example/2</loc><lastmod>soon</lastmod></url><url><loc>https://a.example/3</loc><lastmod>2023</lastmod></url></urlset>`}
	r := readingOf(t, w.tourOf(t, "", Bounds{Files: 1, Bytes: 1 << 20, Sample: 3})[0])
	w["https:/"+
		"/a.example/sitemap.xml"] = `<sitemapindex><sitemap><loc>/a</loc><lastmod>2025-01-01</lastmod></sitemap></sitemapindex>`
	if of := readingOf(t, w.tourOf(t, "", Bounds{Files: 1, Bytes: 1 << 20, Sample: 3})[0]); of.Newest.Format(
		"2006-01-02") != "2025-01-01" {
		t.Errorf("of an index: %+v", of)
	}
	if r.Newest.Format("2006-01-02") != "2024-05-06" || r.Listed != 3 || !slices.Equal(r.Remarks, []Remark{Date}) ||
		r.IsDamaged() {
		t.Errorf("%+v", r)
	}
}

// A host's sitemaps are read as the shared examples want: kinds, damage, pages, children and
// remarks.
func TestExamplesOfHosts(t *testing.T) {
	list, err := os.Open(filepath.Join(examples, "index.jsonl"))
	if err != nil {
		t.Skip("the shared examples are not here: ", err)
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var x struct {
			example
			Children []string
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		w := make(web)
		for _, f := range x.Files {
			body, err := os.ReadFile(filepath.Join(examples, f.File))
			if err != nil {
				t.Fatal(err)
			}
			if f.Status == http.StatusOK {
				w[f.URL] = string(body)
			}
			if at := f.Headers["Location"]; at != "" { // a client follows it
				for _, to := range x.Files {
					if strings.HasSuffix(to.URL, at) {
						body, _ := os.ReadFile(filepath.Join(examples, to.File))
						w[f.URL] = string(body)
					}
				}
			}
		}
		host := hostWith("Sitemap: " + x.Entry + "\n")
		host.Origin = fetch.Origin{Scheme: "http", Host: "shop.example", Port: 80}
		var asked []*fetch.Further
		Bounds{Files: 20, Bytes: 1 << 26, Sample: 100_000, Profile: profile}.Plan().Ask(host, w.ask(t, &asked))
		var children []string
		var remarks []Remark
		urls, outside := int64(0), int64(0)
		for i, f := range asked {
			if i > 0 {
				children = append(children, f.URL)
			}
			if f.Outcome == usage.PageRead {
				r := readingOf(t, f)
				urls, outside, remarks = urls+r.URLs, outside+r.Outside, append(remarks, r.Remarks...)
			}
		}
		slices.Sort(children)
		slices.Sort(x.Children)
		if urls != int64(len(x.URLs)) || !slices.Equal(children, x.Children) || x.Remark != "" && !slices.Contains(remarks,
			Remark(x.Remark)) {
			t.Errorf("%s: %d URLs, want %d; children %q, want %q; remarks %q, want %q", x.Name, urls, len(x.URLs), children,
				x.Children, remarks, x.Remark)
		}
	}
}

// Anybody may write a reading into an archive: what no reading has is refused.
func TestForgedReadings(t *testing.T) {
	w := web{"https://a.example/sitemap.xml": urlset("https://a.example/1", "https://b.example/2", "/3")}
	f := w.tourOf(t, "", Bounds{Files: 1, Bytes: 1 << 20, Sample: 3})[0]
	whole := string(f.Reading)
	for _, change := range [][2]string{
		{"", ""},
		{`"kind":"urlset"`, `"kind":"odd\u001b"`}, {`"urls":3`, `"urls":-3`}, {`"urls":3`, `"urls":4`},
		{`"outside":1`, `"outside":2`}, {`"bytes":`, `"bytes":-`},
		{`"outside",`, `"odd\u001b[31m",`}, {`"content_digest":"`, `"content_digest":"\u001b`},
		{`"url":"`, `"url":"` + strings.Repeat("a", 5000)}, {`{`, `[`},
	} {
		text := strings.Replace(whole, change[0], change[1], 1)
		if change[0] != "" && text == whole {
			t.Fatalf("no %s in %s", change[0], whole)
		}
		if _, err := ReadingOf(&fetch.Further{Reading: []byte(text)}); (err == nil) != (change[0] == "") {
			t.Errorf("%s for %s: %v", change[1], change[0], err)
		}
	}
}

// A plan may begin with one sitemap, whatever robots.txt names.
func TestBeginsWithASitemap(t *testing.T) {
	w := web{"https://a.example/one": indexOf("/two"), "https://a.example/two": urlset("https://a.example/2")}
	var got []string
	for _, f := range w.tourOf(t, "Sitemap: /named\n", Bounds{Files: 5, Bytes: 1 << 20, Sample: 5,
		From: "https://a.example/one"}) {
		got = append(got, f.URL)
	}
	if diff := cmp.Diff([]string{"https://a.example/one", "https://a.example/two"}, got); diff != "" {
		t.Error(diff)
	}
}

// The first URL with an origin tells the host of a document that lies nowhere.
func TestReadsADocumentThatLiesNowhere(t *testing.T) {
	b := Bounds{Files: 1, Bytes: 1 << 20, Sample: 9}
	text := urlset("/before", "https://a.example/x", "https://b.example/", "after", "https://A.example:443/x")
	r, of, err := b.Read(strings.NewReader(text), fetch.Origin{})
	want := Reading{Kind: URLSet, URLs: 5, Listed: 4, New: 3, Outside: 1, Bytes: int64(len(text)), Digest: r.Digest,
		Remarks: []Remark{Outside, Relative}}
	sample := make([]string, len(r.Sample))
	for i := range r.Sample {
		sample[i] = r.Sample[i].URL
	}
	slices.Sort(sample)
	if r.Sample = nil; err != nil || of.String() != "https://a.example" {
		t.Errorf("%v, %v", of, err)
	}
	if diff := cmp.Diff(want, r) + cmp.Diff([]string{"/before", "https://a.example/after", "https://a.example/x"},
		sample); diff != "" {
		t.Error(diff)
	}
	other := fetch.Origin{Scheme: "https", Host: "b.example", Port: 443}
	if r, of, err = b.Read(strings.NewReader(text), other); err != nil || of != other || r.Listed != 3 ||
		r.Outside != 2 || r.BeyondFolder != 0 {
		t.Errorf("of another host: %+v, %v, %v", r, of, err)
	}
}
