package portable

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots"
)

func parsers(t testing.TB) (out []*robots.Profile) {
	for _, name := range robots.ParserNames() {
		p, ok := robots.ProfileNamed(name)
		if !ok {
			t.Fatal(name)
		}
		out = append(out, p)
	}
	return out
}

// Each cause is found by its name, at its line, with a parser that is known to read it
// so (SPECIFICATION.md, section 9); written as advised, the cause is gone.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		body, cause, parser string
		lines               []int
	}{
		{"\ufeffUser-agent: *\nDisallow: /a\n", "byte order mark", "heritrix", []int{1}},
		{"User-agent: *\rDisallow: /a\r", "line ends", "wget", []int{1}},
		{"User-agent: *\nDisallow: /a#b\n", "comment behind", "temoto", []int{2}},
		{"User-agent: *\nDisalow: /a\n", "misspelt", "robots-parser", []int{2}},
		{"Disallow: /a\nUser-agent: *\nDisallow: /b\n", "before the first user-agent", "reppy", []int{1}},
		{"User-agent: *\n\nDisallow: /a\n", "blank line inside", "urllib-2025", []int{2}},
		{"User-agent: Aa\nCrawl-delay: 1\nUser-agent: Bb\nDisallow: /a\n", "another field between", "protego", []int{2}},
		{"User-agent: Foobot/2.0 (all)\nDisallow: /a\n", "text behind the name", "urllib-2026", []int{1}},
		{"User-agent: *\nDisallow: a\nDisallow: /b\n", "without a leading slash", "temoto", []int{2}},
		{"User-agent: *\nDisallow:\nDisallow: /a\n", "empty rule", "urllib-2025", []int{2}},
		{"User-agent: *\nDisallow: /a*\n", "star at the end", "wget", []int{2}},
		{"User-agent: *\nDisallow: /a\nDisallow: /ab\n", "below another", "heritrix", []int{3}},
		{"User-agent: Aa\nDisallow: /a\n\nUser-agent: Aa\nDisallow: /b\n", "several groups", "urllib-2025", []int{4}},
		{"User-agent: *\nDisallow: /a\nAllow: /ab\n", "shorter rule before", "urllib-2025", []int{2, 3}},
		{"User-agent: *\nDisallow: /*.pdf$\n", "wildcards", "wget", []int{2}},
	} {
		r := Check([]byte(c.body))
		k := slices.IndexFunc(r.Findings, func(x Finding) bool { return strings.Contains(x.Cause, c.cause) })
		if k < 0 {
			t.Errorf("%q: no finding %q in %+v", c.body, c.cause, r.Findings)
			continue
		}
		x := &r.Findings[k]
		if !slices.Equal(x.Lines, c.lines) || !slices.Contains(x.Parsers, c.parser) {
			t.Errorf("%q: %s in lines %v for %v, want %v and %s", c.body, x.Cause, x.Lines, x.Parsers, c.lines, c.parser)
		}
		if x.Advice == "" {
			continue
		}
		for _, y := range Check([]byte(r.File)).Findings {
			if y.Cause == x.Cause {
				t.Errorf("%q: written as advised, %q still has %q", c.body, r.File, y.Cause)
			}
		}
	}
	if r := Check([]byte("User-agent: Aa\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n")); r.Differing != 0 ||
		len(r.Findings) != 0 {
		t.Errorf("a plain file has %+v", r.Findings)
	}
}

// A rule with a needless escape is asked about in its plain form too: there google parts
// with those who take both for one path. Nobody asks the reverse of a plain rule.
func TestNeedlessEscapes(t *testing.T) {
	const head = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\n"
	for body, line := range map[string]int{
		head + "Disallow: /%61dmin\n":                     5,
		head + "Disallow: /b\nDisallow: /%7Ejo/%e9\n":     6,
		head + "Disallow: /admin\n":                       0,
		head + "Disallow: /a%2Fb\nDisallow: /c%2E%2E/d\n": 6,
	} {
		r := check(t, []byte(body))
		k := slices.IndexFunc(r.Findings, func(x Finding) bool { return x.Cause == hints[1].cause })
		if line == 0 {
			if r.Answer != ParsersAgree {
				t.Errorf("%q: %+v", body, r)
			}
			continue
		}
		if k < 0 {
			t.Errorf("%q: no such finding in %+v", body, r.Findings)
			continue
		}
		x := &r.Findings[k]
		if !slices.Equal(x.Lines, []int{line}) || !slices.Contains(x.Parsers, "protego") ||
			strings.Contains(x.Path, "%61") || x.Google != "allow" || x.Answer != "disallow" {
			t.Errorf("%q: %+v", body, x)
		}
		advised := strings.NewReplacer("%61", "a", "%7E", "~", "%2E", ".").Replace(body)
		for _, y := range Check([]byte(advised)).Findings {
			if y.Cause == x.Cause {
				t.Errorf("%q still has %+v", advised, y)
			}
		}
	}
}

// URLs have a space only escaped, so google finds it in none of them, and those that escape
// patterns do. Written escaped, the rule would be another one to google.
func TestUnescapedCharacters(t *testing.T) {
	const head = "User-agent: *\nDisallow: /c%e4\n"
	for _, c := range []struct {
		rule, path string
		advised    string // by the finding
	}{
		{"/a b", "/a%20b", "/a%20b"},
		{"/{id}", "/%7Bid%7D", "/%7Bid%7D"},
		{"/a%20b", "", ""},
		{"/\u00e4", "", ""}, // google too escapes these
	} {
		body := head + "Disallow: " + c.rule + "\n"
		r := check(t, []byte(body))
		if google := judge(t, "google", r.File, "ExampleBot", "/a%20b"); google != judge(t, "google", body, "ExampleBot",
			"/a%20b") {
			t.Errorf("%q: written anew %q, google says %s of /a%%20b", body, r.File, google)
		}
		k := slices.IndexFunc(r.Findings, func(x Finding) bool { return x.Cause == hints[0].cause })
		if (k >= 0) != (c.path != "") {
			t.Errorf("%q: %+v", body, r.Findings)
		}
		if k < 0 {
			continue
		}
		x := &r.Findings[k]
		if !slices.Equal(x.Lines, []int{3}) || x.Path != c.path || x.Google != "allow" || x.Answer != "disallow" ||
			!slices.Contains(x.Parsers, "urllib-2025") {
			t.Errorf("%q: %+v", body, x)
		}
		for _, y := range Check([]byte(head + "Disallow: " + c.advised + "\n")).Findings {
			if y.Cause == x.Cause {
				t.Errorf("%q still has %+v", c.advised, y)
			}
		}
	}
}

// judge returns what a parser answers an agent about a path.
func judge(t testing.TB, parser, file, agent, path string) string {
	t.Helper()
	p, ok := robots.ProfileNamed(parser)
	if !ok {
		t.Fatal(parser)
	}
	var f robots.File
	f.Parse([]byte(file), p)
	j := robots.NewJudge(p, []robots.Agent{{Name: agent, Tokens: []string{agent}}})
	j.Load(&f)
	target := target(p, path)
	return j.Policy(0).Judge(&target).Value.String()
}

// check checks what every report promises: google answers all questions about the file as
// written anew like before, and each example shows what it says.
func check(t *testing.T, body []byte) *Report {
	all := parsers(t)
	r := Check(body)
	c := newChecker(all, mostWork)
	c.ask(body[:min(len(body), all[0].SizeLimit)], nil)
	before, _ := c.answers(body)
	after, left := c.answers([]byte(r.File))
	if !slices.Equal(before, after) {
		t.Errorf("%q: google reads %q otherwise", body, r.File)
	}
	if len(left) > 0 && !slices.ContainsFunc(r.Findings, func(x Finding) bool { return !x.Rewritten }) {
		t.Errorf("%q: %d answers differ after all steps, and the report says none", body, len(left))
	}
	if (r.Differing > 0) != (len(r.Findings) > 0) {
		t.Errorf("%q: %d questions differ, with %d findings", body, r.Differing, len(r.Findings))
	}
	for _, x := range r.Findings {
		if g, o := judge(t, "google", r.File, x.Agent, x.Path), judge(t, x.Parser, r.File, x.Agent,
			x.Path); x.Advice == "" && g == o {
			t.Errorf("%q: no step settles %s, where google and %s say %s of %q", body, x.Path, x.Parser, g, r.File)
		}
		if g, o := judge(t, "google", x.File, x.Agent, x.Path), judge(t, x.Parser, x.File, x.Agent, x.Path); g != x.Google ||
			o != x.Answer || g == o {
			t.Errorf("%q: on %q google says %s and %s %s; the report has %s and %s", body, x.File, g, x.Parser, o, x.Google,
				x.Answer)
		}
	}
	return r
}

// eachRealFile calls f with the first real files, where they are at hand.
func eachRealFile(t testing.TB, most int, f func(body []byte)) {
	file, err := os.Open("../../../shared/corpus/robots-real.tar.gz")
	if err != nil {
		t.Skip("the corpus of real files is not at hand")
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); most > 0; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		most--
		f(body)
	}
}

// On real files each report keeps its promises.
func TestRealFiles(t *testing.T) {
	causes := make(map[string]int)
	eachRealFile(t, 90, func(body []byte) {
		if len(body) > 3000 {
			return
		}
		for _, x := range check(t, body).Findings {
			causes[x.Cause]++
		}
	})
	if len(causes) < 4 {
		t.Errorf("the causes are %v only", causes)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"", "User-agent: *\n\nDisallow: /a*\r", "\ufeffuser-agent a\ndisallow:/%zz$\n\nallow: /é",
		"User-agent: a\nCrawl-delay: 9\nUser-agent: a\nDisallow:\nDisallow: b\n#x\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) < 2000 && bytes.Count(body, []byte("\n")) < 40 {
			check(t, body)
		}
	})
}

// Written anew, a file means the same to google, also to crawlers and on paths that nobody
// is asked about.
func TestWrittenAnew(t *testing.T) {
	const plain = "User-agent: *\nDisallow: /p*\n\n"
	for _, c := range []struct{ body, agent, path, want string }{
		{plain + "\x00User-agent: Spider\nDisallow: /\r", "Spider", "/", "User-agent: *\nDisallow: /\n"},
		// The longer rule decides.
		{"User-agent: *\nDisallow: /*.javascr\nAllow: /index.ht*\nDisallow: /p*\n", "b", "/index.ht.javascr",
			"Allow: /index.ht*\nDisallow: /p\n"},
		{plain + "User-agent: Spider\nDisallow: /a\u2028\r", "Spider", "/a", "Disallow: /a"},
		{"User-agent: a\nUser-agent: *\nDisallow: /a\n\nUser-agent: b\nDisallow: /b\n\nUser-agent: *\nUser-agent: c\n" +
			"Disallow: /c\n", "b", "/a", "User-agent: b\nDisallow: /b\n\nUser-agent: c\nDisallow: /c\n\nUser-agent: *\n" +
			"Disallow: /a\nDisallow: /c\n"},
		// A sitemap is for all crawlers.
		{"User-agent: a\nUser-agent: b\nDisallow: /a\nSitemap: s\nHost: h\n\nUser-agent: b\nDisallow: /b\n", "b", "/a",
			"User-agent: a\nDisallow: /a\nSitemap: s\nHost: h\n\nUser-agent: b\nDisallow: /a\nDisallow: /b\nHost: h\n"},
	} {
		r := check(t, []byte(c.body))
		if was, is := judge(t, "google", c.body, c.agent, c.path), judge(t, "google", r.File, c.agent, c.path); was != is ||
			!strings.Contains(r.File, c.want) {
			t.Errorf("%q: google says %s to %s on %s, and %s of %q", c.body, was, c.agent, c.path, is, r.File)
		}
		for _, x := range r.Findings {
			if !slices.IsSorted(x.Lines) || len(slices.Compact(slices.Clone(x.Lines))) < len(x.Lines) {
				t.Errorf("%q: %s in lines %v", c.body, x.Cause, x.Lines)
			}
		}
	}
	// Of merged groups, a rule is several crawlers'.
	r := check(t, []byte("User-agent: a\nUser-agent: b\nDisallow: /*a\n\nUser-agent: b\nDisallow: /b\n"))
	if k := len(r.Findings) - 1; k < 0 || !slices.Equal(r.Findings[k].Lines, []int{3}) {
		t.Errorf("%+v", r.Findings)
	}
}

// Written anew, random files mean the same to google on paths that combine their rules.
func TestWrittenAnewOnCombinedPaths(t *testing.T) {
	changed, draw := 0, rand.New(rand.NewPCG(1, 2))
	text := func(pieces []string, n int) string {
		var b strings.Builder
		for range draw.IntN(n + 1) {
			b.WriteString(pieces[draw.IntN(len(pieces))])
		}
		return b.String()
	}
	files := 5000
	if testing.Short() {
		files = 300
	}
	for range files {
		body := "User-agent: x\n"
		for range 2 + draw.IntN(4) {
			body += []string{"Allow", "Disallow"}[draw.IntN(2)] + ": /" + text([]string{"/", "a", "b", "*", "*", "$", "?"}, 5) +
				"\n"
		}
		r := Check([]byte(body))
		if r.File == body {
			continue
		}
		changed++
		for range 100 {
			path := "/" + text([]string{"/", "a", "b", "?"}, 8)
			if was, is := judge(t, "google", body, "x", path), judge(t, "google", r.File, "x", path); was != is {
				t.Fatalf("%q: google says %s on %s, and %s of %q", body, was, path, is, r.File)
			}
		}
	}
	if changed == 0 {
		t.Error("no file was written anew")
	}
}

// hostileFiles are files of some size that are meant to take long.
func hostileFiles(size int) map[string]string {
	repeated := func(head string, each func(i int) string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < size; i++ {
			b.WriteString(each(i))
		}
		return b.String()
	}
	return map[string]string{
		"blank lines": "User-agent: a\n" + strings.Repeat("\n", size) + "Disallow: /a*\n",
		"empty rules": repeated("User-agent: a\nDisallow: /b*\n", func(int) string { return "Disallow:\n" }),
		"covered paths": repeated("User-agent: a\nAllow: /*$\n", func(i int) string {
			return fmt.Sprintf("Disallow: /%s%d\n", strings.Repeat("a", i%200), i)
		}),
		"wildcards": repeated("User-agent: a/1\n", func(i int) string {
			return fmt.Sprintf("Disallow: /*a*b*%d*c$\nAllow: /é%d*\n", i%100, i)
		}),
		"stars and long paths": repeated("User-agent: a\n", func(i int) string {
			return fmt.Sprintf("Disallow: /*%s%d\n", strings.Repeat("a", 2000), i)
		}),
		"agents": repeated("", func(i int) string {
			return fmt.Sprintf("User-agent: a%s\nCrawl-delay: 1\nDisallow: /%d*\n\n", strings.Repeat("b", i%50), i)
		}),
		"shared groups": func() string {
			var head, own strings.Builder
			for i := range size / 83 {
				name := "a" + strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h",
					"8", "i", "9", "j").Replace(fmt.Sprint(i))
				fmt.Fprintf(&head, "User-agent: %s\n", name)
				fmt.Fprintf(&own, "User-agent: %s\nDisallow: /%d*\n", name, i)
			}
			return repeated(head.String(), func(i int) string {
				if i > size/42 {
					return own.String()
				}
				return fmt.Sprintf("Disallow: /%d\n", i)
			})
		}(),
		"many answers": func() string {
			var all strings.Builder
			all.WriteString("User-agent: *\n")
			for i := range size / 32 {
				fmt.Fprintf(&all, "Disallow: /%d/%d\n", i%200, i)
			}
			return repeated(all.String(), func(i int) string {
				return fmt.Sprintf("User-agent: %c%cbot/1\nDisallow: /%d\n\n", 'c'+i%20, 'c'+i/20%20, i)
			})
		}(),
		"no line ends": "User-agent: a\nDisallow: /" + strings.Repeat("a*", size/2),
		"odd lines":    repeated("User-agent: a\n", func(i int) string { return "a\v:b\f#\u2028disallow:/%zz\r" }),
	}
}

// cpu returns the time that the process has computed.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// Checking a file takes a bounded amount of work, whatever the file, and the report says
// what it leaves out.
func TestCheckIsBounded(t *testing.T) {
	all := parsers(t)
	size := 500_000
	if testing.Short() {
		size = 20_000
	}
	for name, body := range hostileFiles(size) {
		began := cpu(t)
		r, work := examine([]byte(body), nil, mostWork)
		t.Logf("%s: %d bytes, work %d of %d: %d of %d questions differ, %d unexplained; "+
			"%d paths, %d agents not asked, %d not compared; %v", name, len(body), work, mostWork,
			r.Differing, r.Questions, r.Unexplained, r.UnaskedPaths, r.UnaskedAgents, r.Uncompared, cpu(t)-began)
		if work > mostWork*(8+2+2)/8 { // the documents' part, and what is begun before the end
			t.Errorf("%s: work %d of %d", name, work, mostWork)
		}
		if !testing.Short() {
			continue
		}
		// With less to do it in, less is asked and explained, and that is said.
		c := newChecker(all, 0)
		c.ask([]byte(body), nil)
		c.spendStep(readFile([]byte(body), false))
		least := c.work
		less, work := examine([]byte(body), nil, 4*least)
		if work > 12*least {
			t.Errorf("%s: work %d, where %d is to be enough", name, work, 4*least)
		}
		if less.Questions < r.Questions && less.UnaskedPaths == 0 && less.Answer == NotPortable {
			t.Errorf("%s: %d questions, %d paths not asked; with more work %d", name, less.Questions, less.UnaskedPaths,
				r.Questions)
		}
		if rest := slices.ContainsFunc(less.Findings, func(x Finding) bool {
			return x.Advice == ""
		}); less.Unexplained > 0 && rest || less.Differing > 0 && less.Unexplained == 0 && len(less.Findings) == 0 {
			t.Errorf("%s: %d differ, %d unexplained, findings %+v", name, less.Differing, less.Unexplained, less.Findings)
		}
	}
	if r := Check([]byte(hostileFiles(20_000)["shared groups"])); r.UnaskedAgents == 0 {
		t.Error("hundreds of names, and all are asked about")
	}
	// Asking all questions once takes a part of the work.
	body := []byte(hostileFiles(20_000)["wildcards"])
	c := newChecker(all, 1<<22)
	c.ask(body, nil)
	reading := c.work // at least
	if c.answers(body); c.work-reading > c.most/mostPart+reading {
		t.Errorf("a round takes %d of %d", c.work-reading, c.most)
	}
	if r, _ := examine([]byte("User-agent: a/1\nDisallow: /x\n"), nil, 0); r.Unexplained != r.Differing ||
		r.Differing == 0 || r.UnaskedPaths == 0 {
		t.Errorf("without any work: %+v", r)
	}
	long := "User-agent: Spider\nDisallow: /b\n" + strings.Repeat("#", all[0].SizeLimit)
	if r := Check([]byte(long)); !r.Truncated || r.Answer != Undecided {
		t.Errorf("of a file that is cut: %+v", r)
	}
	long = "User-agent: Spider\nDisallow: /b*\n"
	long += "#" + strings.Repeat("x", all[0].SizeLimit-len(long)-len("#\nDisallow: /*c")) + "\nDisallow: /*cd\n"
	for _, end := range []string{"\n", "\r"} {
		r := Check([]byte(strings.ReplaceAll(long, "\n", end)))
		if len(r.Findings) == 0 || strings.Contains(r.File, "/*c") || end == "\n" && len(r.Findings) > 1 {
			t.Errorf("a line that is cut counts, with ends %q: %+v", end, r.Findings)
		}
	}
	if r := Check([]byte("User-agent: Spider\nDisallow: /b/\n")); r.Answer != Portable {
		t.Errorf("of a short file: %+v", r)
	}
}

// Lines that steps leave out: each found once, whatever stands around it.
func TestLinesFoundAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		find func(*file) []bool
		body string
		want []int
	}{
		{"covered", (*file).covered, "User-agent: a\nDisallow: /ab\nDisallow: /a\nDisallow: /a\nAllow: /abc\nDisallow: /b\n" +
			"Allow:\nDisallow: /abc\n\nUser-agent: b\nDisallow: /abc\n", []int{2, 8}},
		{"empty", (*file).emptyBesideOthers, "Disallow:\nUser-agent: a\nDisallow:\nAllow: /a\nAllow:\n\nUser-agent: b\n" +
			"Disallow:\n", []int{3, 5}},
		{"blank", (*file).blanksInGroups, "\nUser-agent: a\n\n#x\nDisallow: /a\n\nAllow: /b\n\nUser-agent: b\nDisallow: /\n" +
			"\nSitemap: x\n\n", []int{3, 4, 6, 11}},
	} {
		var got []int
		for i, found := range c.find(readFile([]byte(c.body), false)) {
			if found {
				got = append(got, i+1)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: lines %v of %q, want %v", c.name, got, c.body, c.want)
		}
	}
	// A file does not grow without bound where crawlers share groups.
	f := readFile([]byte(hostileFiles(20_000)["shared groups"]), false)
	if n := len(f.lines); len(mergeGroups(f, func(int) bool { return true })) > 0 && len(f.lines) > (mostGrowth+1)*n {
		t.Errorf("%d lines become %d", n, len(f.lines))
	}
}

// A document that reads a file otherwise, or leaves open how, is named with the line and the
// reason; what can be written so that it agrees is, and nothing else.
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		body, document, cause string
		lines                 []int
	}{
		{"User-agent: *\nAllow: /a/b/\nDisallow: /a/\n", "classic-1996", "it has no Allow", []int{2}},
		{"User-agent: *\nDisallow: /c/\nDisallow: /a\n", "classic-1996",
			"it leaves open whether a path covers others that merely begin with it", []int{3}},
		{"User-agent: *\nDisallow: /*.pdf$\n", "classic-1996", "it has no wildcards", []int{2}},
		{"User-agent: Aa\nDisallow: /a/\n\nUser-agent: Aa\nDisallow: /b/\n", "google-2012",
			"it leaves open which of several groups of a crawler counts", []int{2, 5}},
	} {
		r := Check([]byte(c.body))
		k := slices.IndexFunc(r.Documents, func(x Departure) bool { return x.Document == c.document && x.Cause == c.cause })
		if k < 0 || !slices.Equal(r.Documents[k].Lines, c.lines) || r.Answer == Portable {
			t.Errorf("%q: %s, want %s because %s in lines %v: %+v", c.body, r.Answer, c.document, c.cause, c.lines, r.Documents)
		}
	}
	for body, want := range map[string]Answer{
		"User-agent: *\nDisallow: /a/\n": Portable,
		"User-agent: *\nDisallow: /a\n":  ParsersAgree,
	} {
		if r := Check([]byte(body)); r.Answer != want || r.File != body {
			t.Errorf("%q: %s, want %s, written anew %q", body, r.Answer, want, r.File)
		}
	}
}
