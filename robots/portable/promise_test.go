package portable

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/internal/automaton"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// oddities are what some parser takes for white space, a line end, a tag, a field or nothing.
var oddities = []string{
	"\f", "\v", "\r", "\r\n", "\n", "\n\n", "\x00", "\x1c", "\x1f", "\u0085", "\u00a0", "\u2028", "\u2029", "\u3000",
	"\ufeff", "\xff", "\xe9",
	"<br>", "</p>", "<html>", "< x", " ", "\t", "#", ":", "*", "$", "?", "%", "%61", "%2f", "%e4", "\\", "{", "/", "//",
	"é", "index.html",
}

// oddFile draws a file of lines that parsers read in their own ways.
func oddFile(draw *rand.Rand) []byte {
	of := func(texts ...string) string { return texts[draw.IntN(len(texts))] }
	var b strings.Builder
	for range 1 + draw.IntN(9) {
		switch draw.IntN(12) {
		case 0, 1, 2:
			b.WriteString(of("User-agent", "user-agent", "Useragent", "User-agnet", "User agent") + of(":", ": ", " : ", " "))
			b.WriteString(of("*", "*", "Spider", "spider", "Foobot", "Foobot/2.0", "Foobot-News", "MJ12bot", "archive.org",
				"Spider Foobot", "", "a"))
		case 3:
			b.WriteString(of("Crawl-delay: 5", "Crawl-delay: 500", "Crawl-delay: often", "Request-rate: 1/5", "Host: h",
				"Sitemap: https://h/s.xml", "foo", ""))
		default:
			b.WriteString(of("Disallow", "Disallow", "Allow", "disallow", "Disalow", "Desallow", "Dissallow", "allow") +
				of(":", ": ", ": ", " ", " : "))
			for range draw.IntN(4) {
				b.WriteString(of("/", "/a", "/b", "/a/b", "*", "$", "/index.html", ".js", "?q=", "/private/", "/a b"))
			}
		}
		if draw.IntN(6) == 0 {
			text := b.String()
			at := draw.IntN(len(text) + 1)
			b.Reset()
			b.WriteString(text[:at] + of(oddities...) + text[at:])
		}
		b.WriteString(of("\n", "\n", "\n", "\n\n", "\r\n", "\r", "\f", "\u2028"))
	}
	return []byte(b.String())
}

// mutated changes a file in a few places.
func mutated(draw *rand.Rand, body []byte) []byte {
	body = slices.Clone(body[:min(len(body), 3000)])
	for range 1 + draw.IntN(3) {
		at := draw.IntN(len(body) + 1)
		switch lines := bytes.SplitAfter(body, []byte("\n")); draw.IntN(4) {
		case 0:
			body = slices.Concat(body[:at], []byte(oddities[draw.IntN(len(oddities))]), body[at:])
		case 1:
			body = slices.Concat(body[:at], body[min(len(body), at+1+draw.IntN(3)):])
		case 2:
			i, k := draw.IntN(len(lines)), draw.IntN(len(lines))
			lines[i], lines[k] = lines[k], lines[i]
			body = bytes.Join(lines, nil)
		case 3:
			i := draw.IntN(len(lines))
			body = bytes.Join(slices.Insert(lines, draw.IntN(len(lines)), lines[i]), nil)
		}
	}
	return body
}

// pathsNear draws paths of normalized URLs that have to do with what a file says.
func pathsNear(draw *rand.Rand, body []byte, n int) (paths []string) {
	texts := []string{"/", "/a", "x"}
	for _, line := range bytes.FieldsFunc(body, func(r rune) bool { return r < ' ' || r == '\u2028' || r == '\u0085' }) {
		if _, value, ok := bytes.Cut(line, []byte(":")); ok && len(value) < 300 {
			texts = append(texts, strings.TrimSpace(string(value)))
		}
		if _, value, ok := strings.Cut(string(line), " "); ok && len(value) < 300 {
			texts = append(texts, value)
		}
	}
	for range 4 * n {
		text := texts[draw.IntN(len(texts))]
		if draw.IntN(3) == 0 {
			text += texts[draw.IntN(len(texts))] // two patterns together
		}
		text = strings.TrimRight(text, "$")
		for strings.Contains(text, "*") {
			text = strings.Replace(text, "*", []string{"", "x", "/", "a/b", texts[draw.IntN(len(texts))][:0]}[draw.IntN(5)], 1)
		}
		switch draw.IntN(5) {
		case 0:
			text += "x"
		case 1:
			text += "/y.html"
		case 2:
			text = text[:draw.IntN(len(text)+1)]
		}
		path, _, _ := strings.Cut("/"+strings.TrimLeft(text, "/"), "#")
		plain := rewrite.AppendURL(nil, path)
		if automaton.IsNormal(plain) && !bytes.Contains(plain, []byte("%2F")) && string(plain) != "/robots.txt" {
			if paths = append(paths, string(plain)); len(paths) == n {
				break
			}
		}
	}
	return paths
}

// policies reads a file as a parser does, for agents.
func policies(parser *robots.Profile, body []byte, agents []robots.Agent) *robots.Judge {
	f := new(robots.File)
	f.Parse(body, parser)
	j := robots.NewJudge(parser, agents)
	j.Load(f)
	return j
}

// keepsItsPromise checks a report by means that it does not use itself: a file as written anew
// is equal for google, by Compare, for every name of either file and for one that none has; and
// no profile reads a portable one otherwise, nor a parser one on which parsers are said to
// agree, on paths drawn; and a document that is said to part does so.
func keepsItsPromise(t testing.TB, draw *rand.Rand, body []byte, r *Report, paths int) {
	asked := parsers(t)
	google := asked[0]
	for _, x := range r.Documents {
		g, o := judge(t, "google", string(body), x.Agent, x.Path), judge(t, x.Document, string(body), x.Agent, x.Path)
		if g != x.Google || o != x.Answer || g == o || x.Cause == "" {
			t.Errorf("%q: google says %s and %s %s; the report has %+v", body, g, x.Document, o, x)
		}
	}
	anew := []byte(r.File)
	if r.FileB64 != nil {
		anew = r.FileB64
	}
	agents := []robots.Agent{{Name: "Zqxj", Tokens: []string{"Zqxj"}}}
	seen := make(map[string]bool)
	for _, text := range [][]byte{body, anew} {
		var f robots.File
		f.Parse(text, google)
		for i := range f.Agents {
			for _, token := range []string{string(f.Agents[i].Token), string(f.Agents[i].Wide)} {
				a := robots.Agent{Name: token, Tokens: []string{token}}
				if !seen[strings.ToLower(token)] && a.Validate() == nil {
					seen[strings.ToLower(token)] = true
					agents = append(agents, a)
				}
			}
		}
	}
	before := policies(google, body, agents)
	if !bytes.Equal(anew, body) {
		after := policies(google, anew, agents)
		for i := range agents {
			if c := robots.Compare(before.Policy(i), after.Policy(i)); c.Relation != robots.Equal {
				t.Errorf("%q\nwritten anew as\n%q\nis %s for %s: %+v %+v", body, anew, c.Relation, agents[i].Name, c.Closes,
					c.Opens)
			}
		}
	}
	switch r.Answer {
	case Portable:
		asked = named(slices.Concat(robots.ParserNames(), robots.DocumentNames()))
	case ParsersAgree:
		if len(r.Documents) == 0 {
			t.Errorf("%q: parsers agree, documents do not, and none is named", body)
		}
	default:
		return
	}
	var wide []robots.Agent // as the file has them: no parser but google cuts names
	var f robots.File
	f.Parse(body, google)
	for _, a := range agents {
		if a.Name == "Zqxj" || slices.ContainsFunc(f.Agents, func(l robots.AgentLine) bool {
			return string(l.Wide) == a.Name
		}) {
			wide = append(wide, a)
		}
	}
	before = policies(google, body, wide)
	drawn := pathsNear(draw, body, paths)
	for _, p := range asked[1:] {
		other := policies(p, body, wide)
		for _, path := range drawn {
			one, two := google.Target("http://h"+path), p.Target("http://h"+path)
			for i := range wide {
				if g, o := before.Policy(i).Judge(&one).Value, other.Policy(i).Judge(&two).Value; g != o {
					t.Errorf("%q is said to be "+string(r.Answer)+": on %s google says %s to %s, and %s %s", body, path, g,
						wide[i].Name, p.Name, o)
					return
				}
			}
		}
	}
}

// Every report of real, mutated and odd files keeps its promise.
func TestPromise(t *testing.T) {
	files, paths := 12_000, 400
	if testing.Short() {
		files, paths = 150, 100
	}
	type job struct {
		n    int
		body []byte
	}
	jobs := make(chan job)
	var lock sync.Mutex
	answers, longest := make(map[Answer]int), time.Duration(0)
	anew, least := 0, ""
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for x := range jobs {
				began := time.Now()
				r := Check(x.body)
				took := time.Since(began)
				keepsItsPromise(t, rand.New(rand.NewPCG(uint64(x.n), 3)), x.body, r, paths)
				lock.Lock()
				answers[r.Answer]++
				if r.File != string(x.body) {
					anew++
				}
				if took > longest {
					longest, least = took, fmt.Sprintf("%d bytes, %.60q", len(x.body), x.body)
				}
				lock.Unlock()
			}
		})
	}
	n := 0
	send := func(body []byte) {
		jobs <- job{n, body}
		n++
	}
	draw := rand.New(rand.NewPCG(11, 12))
	if real := realFiles(t); !testing.Short() {
		for i := 0; i < len(real); i++ {
			send(real[i])
		}
		for len(real) > 0 && n < files*2/3 {
			send(mutated(draw, real[draw.IntN(len(real))]))
		}
	}
	for n < files {
		send(oddFile(draw))
	}
	close(jobs)
	wait.Wait()
	t.Logf("%d files: %v, %d written anew; the longest took %v: %s", n, answers, anew, longest, least)
	if answers[Portable] == 0 || answers[NotPortable] == 0 || anew == 0 {
		t.Errorf("%v, %d written anew", answers, anew)
	}
}

// realFiles returns all real files, none where they are not at hand.
func realFiles(t *testing.T) (all [][]byte) {
	if testing.Short() {
		return nil
	}
	t.Run("real", func(t *testing.T) {
		eachRealFile(t, 1<<20, func(body []byte) { all = append(all, body) })
	})
	return all
}
