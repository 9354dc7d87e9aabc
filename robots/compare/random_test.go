package compare

import (
	"bytes"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots"
)

// A file is a body, an agent, and the URLs that real programs and our models of them are
// asked about.
type file struct {
	body  []byte
	agent string
	urls  []string // paths with queries
}

// drawer draws files that are made to be misread.
type drawer struct {
	*rand.Rand
	agent  string
	corpus [][]byte // real files that name it; the first are drawn first
}

var drawSeed = flag.Uint64("draw-seed", 56, "seed of the files that programs are asked about")
var drawMisses = flag.Int("draw-misses", 20, "misses to show")

// newDrawer returns a drawer of files about an agent. If the real files are at hand, it draws
// those that name it too.
func newDrawer(t *testing.T, seed uint64, agent string) *drawer {
	t.Helper()
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, *drawSeed)), agent: agent}
	d.Run(t)
	return d
}

// Run reads the real files that name the agent.
func (d *drawer) Run(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		all := corpus(t) // skips without them
		for _, host := range slices.Sorted(maps.Keys(all)) {
			if body := all[host]; bytes.Contains(bytes.ToLower(body), []byte(strings.ToLower(d.agent))) && len(body) < 1<<18 {
				d.corpus = append(d.corpus, body)
			}
		}
		d.Shuffle(len(d.corpus), func(i, k int) { d.corpus[i], d.corpus[k] = d.corpus[k], d.corpus[i] })
	})
}

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

// drawFor returns a file with URLs: one on which a profile parts the URLs, if a few tries
// find one.
func (d *drawer) drawFor(t *testing.T, profile string, urls int) (f file) {
	for tries := 20; ; tries-- {
		f = d.draw(urls)
		allowed := 0
		for _, answer := range ask(t, profile, &f) {
			if answer == "1" {
				allowed++
			}
		}
		if tries == 0 || 10*allowed > len(f.urls) && 10*allowed < 9*len(f.urls) {
			return f
		}
	}
}

// draw returns a file with URLs.
func (d *drawer) draw(urls int) (f file) {
	f.agent = d.agent
	if len(d.corpus) > 0 && d.IntN(2) == 0 {
		f.body, d.corpus = d.corpus[0], d.corpus[1:]
	} else {
		f.body = d.body()
	}
	var parsed robots.File
	p, _ := robots.ProfileNamed("google")
	parsed.Parse(f.body, p)
	seen := make(map[string]bool)
	for tries := 0; len(f.urls) < urls && tries < 20*urls; tries++ {
		path := d.path()
		if n := len(parsed.Rules); n > 0 && d.IntN(4) > 0 {
			path = d.near(string(parsed.Rules[d.IntN(n)].Pattern))
		}
		if !seen[path] {
			seen[path] = true
			f.urls = append(f.urls, path)
		}
	}
	return f
}

func (d *drawer) body() []byte {
	var b bytes.Buffer
	end := pick(d, "\n", "\n", "\n", "\r\n", "\r")
	if d.IntN(20) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	lines := d.IntN(24) + 1
	if d.IntN(12) == 0 {
		lines *= 20
	}
	for range lines {
		b.WriteString(d.line())
		if d.IntN(15) > 0 {
			b.WriteString(end)
		} else {
			b.WriteString(pick(d, "\n", "\r\n", "\r", "\n\n", "\v", "\x85", "\u2028", " "))
		}
	}
	return b.Bytes()
}

func (d *drawer) line() string {
	field := pick(d, "Disallow", "Disallow", "Disallow", "Disallow", "Allow", "Allow", "User-agent", "User-agent",
		"User-agent",
		"Crawl-delay", "Sitemap", "Host", "X", "disalow", "Request-rate", "useragent", "DISALLOW", "user-AGENT", "",
		"sitemap", "Site-map", "host", "Visit-time", "request rate", "crawl delay", "disallow", "allow", "user  agent")
	value := d.pattern()
	if strings.EqualFold(strings.NewReplacer("-", "", " ", "").Replace(field), "useragent") {
		n := d.agent
		value = pick(d, "*", "*", n, n, n, strings.ToLower(n), strings.ToUpper(n), n+"/1.0", n+"x", n+" y", "x"+n,
			n[:len(n)-1], n[:1], "*x", "x", "y",
			"Win"+n, "web"+n, "", n+"*", "* "+n, "İ", "bot", "z")
	}
	line := pick(d, "", "", "", "", " ", "\t") + field + pick(d, ":", ": ", ": ", ": ", ": ", " : ", ":\t", " ", ":: ") +
		value
	switch d.IntN(24) {
	case 0:
		line += " # " + d.pattern()
	case 1:
		line += "#" + d.pattern()
	case 2:
		line += " "
	case 3:
		line = pick(d, "", " ", "# x", "x", "<b>", ":")
	case 4:
		line += pick(d, "\x00", "\xff", "\u00a0", "é", "\t") + d.pattern()
	}
	return line
}

var (
	pieces = []string{"/", "/", "a", "b", "A", "x", "ab", ".", "-", "_", "~", "=", "&", "?", ";", "%61", "%2F", "%2f",
		"%3F", "%7e", "%C3%A9", "%c3%a9",
		"%E9", "%20", "%2A", "%24", "%25", "%2e", "+", ",", ":", "@", "!", "(", "'", "index.html", "%", "%4", "%zz", "..",
		"//"}
	ofPatterns = []string{"*", "*", "$", "é", "\xe9", " ", "[", "|", "\\", "\t", "https://h/a", "//h/a", "%00", "日"}
	ofPaths    = []string{"*", "$", "%28", "%5B", "%7C", "%26", "%3B", "%3D", "%23", "%3f", "%E6%97%A5", "%E6%97",
		"%ED%A0%80", "%C0%AF", "%7F", "%0A"}
)

func (d *drawer) pattern() string {
	switch d.IntN(30) {
	case 0:
		return ""
	case 1:
		// with many stars, some take very long
		return strings.Repeat(strings.ReplaceAll(d.text(8, ofPatterns), "*", "x"), 20+d.IntN(30))
	case 2:
		return "/" + strings.Repeat("b", 180+d.IntN(60))
	}
	p := d.text(1+d.IntN(6), ofPatterns)
	if d.IntN(6) > 0 {
		p = "/" + p
	}
	return p
}

func (d *drawer) path() string { return "/" + d.text(d.IntN(7), ofPaths) }

func (d *drawer) text(n int, more []string) string {
	var b strings.Builder
	for range n {
		if d.IntN(5) == 0 {
			b.WriteString(pick(d, more...))
		} else {
			b.WriteString(pick(d, pieces...))
		}
	}
	return b.String()
}

// near returns a path that a pattern may match, or nearly so.
func (d *drawer) near(pattern string) string {
	path := strings.ReplaceAll(strings.TrimSuffix(pattern, "$"), "*", pick(d, "", "q", "*", "a/b"))
	switch d.IntN(8) {
	case 0:
		path = strings.ToUpper(path)
	case 1:
		path = strings.ToLower(path)
	case 2:
		path = path + d.path()
	case 3:
		path = d.path() + path
	case 4:
		path += d.text(2, ofPaths)
	case 5:
		if n := len(path); n > 0 {
			i := d.IntN(n)
			path = path[:i] + pick(d, pieces...) + path[i:]
		}
	}
	var b strings.Builder // what a URL can hold
	if !strings.HasPrefix(path, "/") {
		b.WriteByte('/')
	}
	for i := range len(path) {
		if c := path[i]; c > ' ' && c < 0x7F && c != '#' && c != '"' && c != '<' && c != '>' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex(c)))
		}
	}
	if b.Len() > 300 {
		return b.String()[:300]
	}
	return b.String()
}

func hex(c byte) string { return string([]byte{"0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]}) }

// ask asks one of our profiles: 1 is allow, 0 disallow, E a file that the parser refuses.
func ask(t *testing.T, profile string, f *file) []string {
	t.Helper()
	p, ok := robots.ProfileNamed(profile)
	if !ok {
		t.Fatalf("no profile %s", profile)
	}
	var parsed robots.File
	parsed.Parse(f.body, p)
	tokens := []string{f.agent}
	if f.agent == "HTTrack" {
		tokens = []string{f.agent, "WinHTTrack", "WebHTTrack"} // it follows all its names
	}
	j := robots.NewJudge(p, []robots.Agent{{Name: f.agent, Tokens: tokens}})
	j.Load(&parsed)
	answers := make([]string, len(f.urls))
	for i, u := range f.urls {
		target := p.LiteralTarget("https://h.example" + u)
		switch v := j.Policy(0).Judge(&target); {
		case parsed.RefusedAt() > 0:
			answers[i] = "E"
		case v.Value == robots.Permitted:
			answers[i] = "1"
		default:
			answers[i] = "0"
		}
	}
	return answers
}
