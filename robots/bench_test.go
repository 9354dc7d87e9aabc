package robots

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// benchBodies returns the real corpus in a fixed order, and its size in bytes.
func benchBodies(b *testing.B) (bodies [][]byte, size int) {
	files := corpus(b)
	var hosts []string
	for h := range files {
		hosts = append(hosts, h)
	}
	slices.Sort(hosts)
	for _, h := range hosts {
		bodies = append(bodies, files[h])
		size += len(files[h])
	}
	return bodies, size
}

var benchAgents = []string{
	"Googlebot", "Googlebot-Image", "Googlebot-News", "bingbot", "GPTBot", "CCBot", "ClaudeBot",
	"Google-Extended", "PerplexityBot", "Bytespider", "Amazonbot", "Applebot", "AhrefsBot",
	"SemrushBot", "MJ12bot", "YandexBot", "Baiduspider", "DuckDuckBot", "Twitterbot", "ia_archiver",
}

var benchURLs = []string{
	"/", "/index.html", "/search?q=robots", "/wp-admin/admin-ajax.php", "/products/shoes?sort=price&page=2",
	"/blog/2019/12/a-long-title-of-an-article.html", "/api/v1/items.json", "/user/login?next=/", "/images/logo.png",
	"/cart",
}

func benchJudge(p *Profile) (*Judge, []Target) {
	var agents []Agent
	for _, a := range benchAgents {
		agents = append(agents, Agent{Name: a, Tokens: []string{a}})
	}
	var targets []Target
	for _, u := range benchURLs {
		targets = append(targets, p.Target(u))
	}
	return NewJudge(p, agents), targets
}

// BenchmarkParse parses every body once, with comments kept.
func BenchmarkParse(b *testing.B) {
	bodies, size := benchBodies(b)
	for _, name := range documentNames() {
		b.Run(name, func(b *testing.B) {
			p := named(b, name)
			f := File{KeepComments: true}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, body := range bodies {
					f.Parse(body, p)
				}
			}
		})
	}
}

// BenchmarkVerdicts parses each body, finds the policies of 20 agents and asks
// each about 10 URLs.
func BenchmarkVerdicts(b *testing.B) {
	bodies, _ := benchBodies(b)
	for _, name := range documentNames() {
		for _, class := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/class=%v", name, class), func(b *testing.B) {
				p := named(b, name)
				j, targets := benchJudge(p)
				var f File
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					for _, body := range bodies {
						f.Parse(body, p)
						j.Load(&f)
						for a := range benchAgents {
							pol := j.Policy(a)
							if class {
								pol.Class()
							}
							for t := range targets {
								if pol.Judge(&targets[t]).Value == Disallowed {
									n++
								}
							}
						}
					}
				}
				verdicts := float64(b.N * len(bodies) * len(benchAgents) * len(targets))
				b.ReportMetric(verdicts/b.Elapsed().Seconds()/1e6, "Mverdicts/s")
			})
		}
	}
}

// hostile returns bodies built to be slow, under a profile without a limit on
// lines.
func hostile() map[string][]byte {
	two := func(format string) []byte {
		var b bytes.Buffer
		b.WriteString("user-agent: *\n")
		for i := range 50000 {
			fmt.Fprintf(&b, "disallow:"+format+"\n", 'a'+i%26, 'a'+i/26%26)
		}
		return b.Bytes()
	}
	lines := func(line string) []byte {
		return []byte("user-agent: *\n" + strings.Repeat(line+"\n", 512000/(len(line)+1)))
	}
	return map[string][]byte{
		"stars":        []byte("user-agent: *\ndisallow: /" + strings.Repeat("*", 512000-40) + "b"),
		"star-lines":   lines("disallow: /" + strings.Repeat("*", 16000) + "b"),
		"star-a":       lines("disallow: /" + strings.Repeat("*a", 8000) + "b"),
		"two-after":    two("/*%c%c"),
		"two-around":   two("/%c*%c"),
		"two-anchored": two("*%c%c$"),
		"almost":       lines("disallow: /*aaaaaaab"),
		"almost-long":  lines("disallow: /*" + strings.Repeat("a", 100) + "b"),
		"literals":     lines("disallow: /aaaaaaaaab"),
		"allow-index":  lines("allow: /*aab/index.html"),
		"escapes":      lines("disallow: /*%3Aab*%2Fab"),
	}
}

func hostileURLs() map[string]string {
	var pairs bytes.Buffer
	for i := 0; pairs.Len() < 8192; i++ {
		pairs.WriteByte('a' + byte(i*i/7%26))
	}
	return map[string]string{
		"a":     "/" + strings.Repeat("a", 8191),
		"aab":   "/" + strings.Repeat("aaaaaaaac", 911) + "ab",
		"mixed": "/" + pairs.String(),
		"query": "/?" + strings.Repeat(":a", 4095),
	}
}

// BenchmarkHostile parses, compiles and gives one verdict, on the worst URL of
// 8 KiB.
func BenchmarkHostile(b *testing.B) {
	for name, body := range hostile() {
		for urlName, url := range hostileURLs() {
			for _, profile := range []string{"google", "google-2019", "rfc9309"} {
				b.Run(name+"/"+urlName+"/"+profile, func(b *testing.B) {
					p := named(b, profile)
					p.SizeLimit = max(p.SizeLimit, len(body))
					t := p.Target(url)
					var f File
					j := NewJudge(p, []Agent{{Name: "x", Tokens: []string{"x"}}})
					for b.Loop() {
						f.Parse(body, p)
						j.Load(&f)
						j.Policy(0).Judge(&t)
					}
				})
			}
		}
	}
}

// raceDetector is set under the race detector, which allocates memory itself.
var raceDetector bool

// TestNoAllocation checks that a file and its verdicts allocate nothing once
// memory has grown.
func TestNoAllocation(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	body := []byte(strings.Repeat("user-agent: a\ndisallow: /é*x\nallow: /%7e\nfoo: bar\ndisalow: /b\nuser-agents: *\n"+
		"crawl-delay: 2.5\ndisallow: /*?a=\ncontent-signal: search=yes, ai-train=no\n", 50))
	for _, name := range documentNames() {
		p := named(t, name)
		target := p.Target("/a/b?c=é")
		j := NewJudge(p, []Agent{{Tokens: []string{"a"}}, {Tokens: []string{"b1", "b"}}})
		f := File{KeepComments: true}
		if n := testing.AllocsPerRun(20, func() {
			f.Parse(body, p)
			j.Load(&f)
			for i := range 2 {
				j.Policy(i).Judge(&target)
				j.Policy(i).Class()
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations for a file", name, n)
		}
	}
}

// TestHostile checks SPEC 7 with a wide margin: what the benchmark measures in
// tens of milliseconds must not take seconds anywhere. If a verdict cost
// pattern times path, it would take minutes.
func TestHostile(t *testing.T) {
	if raceDetector {
		t.Skip("measures time")
	}
	for _, name := range []string{"google", "google-2012", "rfc9309"} {
		p := named(t, name)
		var f File
		j := NewJudge(p, []Agent{{Name: "x", Tokens: []string{"x"}}})
		for bodyName, body := range hostile() {
			p.SizeLimit = max(p.SizeLimit, len(body))
			for urlName, url := range hostileURLs() {
				target := p.Target(url)
				start := time.Now()
				f.Parse(body, p)
				j.Load(&f)
				j.Policy(0).Judge(&target)
				j.Policy(0).Class()
				if d := time.Since(start); d > 3*time.Second {
					t.Errorf("%s: %s on %s takes %v", name, bodyName, urlName, d)
				}
			}
		}
	}
}
