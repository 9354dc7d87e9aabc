package portable

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots"
)

func explainer(t testing.TB, parser, agent string) *Explainer {
	t.Helper()
	google, _ := robots.ProfileNamed(robots.DefaultReader)
	p, ok := robots.ProfileNamed(parser)
	if !ok {
		t.Fatal(parser)
	}
	return NewExplainer(google, p, robots.Agent{Name: agent, Tokens: []string{agent}})
}

// compared compares a file.
func compared(x *Explainer, body []byte, cut bool) Parity {
	f := robots.File{Cut: cut}
	f.Parse(body, x.readers[0])
	return x.Compare(&f)
}

func told(p *Parity) string {
	text := fmt.Sprintf("%s %s %s", p.Difference, p.Google, p.Parser)
	for _, c := range p.Causes {
		text += " " + c.Key
		for _, l := range c.Lines {
			text += fmt.Sprintf(" %d", l.Number)
		}
	}
	return text
}

// Of many lines that a step changes, the cause names those that are needed, and no more.
func TestExplainFewOfManyLines(t *testing.T) {
	body := []byte("User-agent: Spider\n")
	for i := range 200 {
		if i == 99 {
			body = append(body, "Disallow: /*.git$\nDisallow: /images/*.mp4$\n"...)
		}
		body = fmt.Appendf(body, "Disallow: /%d/*/b\n", i)
	}
	p := compared(explainer(t, "crawler-commons", "Spider"), body, false)
	if got, want := told(&p), "different partial partial wildcards 101 102"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Each cause is found in a file that has it alone, at its lines; its text is that line's.
func TestExplain(t *testing.T) {
	for _, c := range []struct{ parser, body, want string }{
		{"heritrix", "\ufeffUser-agent: Spider\nDisallow: /\n", "different disallow_all allow_all bom 1"},
		{"wget", "User-agent: Spider\rDisallow: /\r", "different disallow_all allow_all line_ends 1"},
		{"wget", "User-agent: Spider\nDisallow: /a#b\n", "different partial partial comment 2"},
		{"heritrix", "User-agent: Spider\nDisalow: /\n", "different disallow_all allow_all misspelt 2"},
		{"reppy", "Disallow: /a\n\nUser-agent: Spider\nUser-agent: *\nDisallow: /b\n", "escapes_only partial partial"},
		{"urllib-2025", "User-agent: Spider\n\nDisallow: /\n", "different disallow_all allow_all blank_line 2"},
		{"heritrix", "User-agent: Spider\nCrawl-delay: 1\nUser-agent: Other\nDisallow: /\n",
			"different disallow_all allow_all other_field 2"},
		// Two delays, of which neither is enough alone, and one that has nothing to do with it.
		{"heritrix", "User-agent: Spider\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 1\nUser-agent: c\nDisallow: /\n\n" +
			"User-agent: d\nCrawl-delay: 1\nUser-agent: e\nDisallow: /a\n", "different disallow_all allow_all other_field 2 4"},
		{"wget", "User-agent: Spider/2.0 (all)\nDisallow: /\n", "different disallow_all allow_all text_behind_name 1"},
		{"temoto", "User-agent: Spider\nDisallow: a\n", "different allow_all partial no_slash 2"},
		{"wget", "User-agent: Spider\nDisallow:\nDisallow: /\n", "different disallow_all allow_all empty_rule 2"},
		{"wget", "User-agent: Spider\nDisallow: /a*\n", "different partial partial last_star 2"},
		{"heritrix", "User-agent: Spider\nDisallow: /é\n", "different partial partial escapes 2"},
		{"heritrix", "User-agent: Spider\nDisallow: /a\nDisallow: /ab\n", "different partial partial covered_path 3"},
		{"urllib-2025", "User-agent: Spider\nDisallow: /a\n\nUser-agent: Spider\nDisallow: /b\n",
			"different partial partial several_groups 4"},
		{"wget", "User-agent: Spider\nDisallow: /a\nAllow: /ab\n", "different partial partial shorter_first 2 3"},
		{"heritrix", "User-agent: pide\nDisallow: /a\n\nUser-agent: Spider\nDisallow: /\n",
			"different disallow_all partial part_of_name 1"},
		{"protego", "User-agent: Spi*\nDisallow: /\n", "different allow_all disallow_all part_of_name 1"},
		{"protego", "User-agent: Spider\nDisallow: /a\n\nUser-agent:\nUser-agent: Other\nDisallow: /b\n",
			"different partial partial empty_name 4"},
		{"temoto", "User-agent: a\nCrawl-delay: 5\nUser-agent: Spider\nCrawl-delay: 5\nUser-agent: b\nDisallow: /\n",
			"different disallow_all allow_all other_field 4"},
		{"temoto", "User-agent: Spider\nDisallow: /a\nCrawl-delay: often\n", "different partial partial long_delay 3"},
		{"crawler-commons", "User-agent: Spider\nCrawl-delay: 999\nDisallow: /a\n",
			"different partial disallow_all long_delay 2"},
		{"wget", "User-agent: Spider\nDisallow: /*.pdf$\n", "different partial partial wildcards 2"},
		{"wget", "User-agent: Spider\nDisallow: /a?b\n", "different partial partial query 2"},
		{"reppy", "User-agent: Spider\nDisallow: /a%2Fb\n", "different partial partial escaped_path 2"},
		{"urllib-2026", "User-agent: Spider\nDisallow: /a/*/b\nDisallow: /c\n", "different partial partial escaped_slash 2"},
		{"protego", "User-agent: Spider\nDisallow: /*.php?\nDisallow: /c\n", "different partial partial empty_query 2"},
		{"robots-parser", "User-agent: Spider\nDisallow: /*.php$\nDisallow: /c\n", "different partial partial empty_query 2"},
		{"crawler-commons", "User-agent: Spider\nDisallow: /a/index.htm\n", "different partial partial index 2"},
		{"crawler-commons", "User-agent: Spider\nDisallow: *a$\n", "different partial partial wildcards 2"},
		{"wget", "User-agent: Spider\nDisallow: /a\nAllow: /ab", "different partial partial shorter_first 2 3"},
		{"reppy", "User-agent:\nUser-agent: Spider\nDisallow: /\n", "different disallow_all allow_all empty_name 1"},
		{"temoto", "Crawl-delay: 5\nUser-agent: Spider\nDisallow: /a\n", "different partial partial long_delay 1"},
		{"temoto", "User-agent: *\nDisallow: /\n\nUser-agent: Spider\nDisallow: ",
			"different allow_all disallow_all line_ends 5"},
		{"wget", "User-agent: Spider\nDisallow: /c\nDisallow: /b\nAllow: /c\n",
			"different partial partial shorter_first 2 3 4"},
		// A slash whose escape counts, beside another cause.
		{"urllib-2025", "User-agent: Spider\nDisallow: /a/b*\n", "different partial partial last_star 2 escaped_slash 2"},
		{"crawler-commons", "User-agent: Spider\nDisallow: /a/index.html\n", "different partial partial index 2"},
		// A list without rules at the end, which must not join the group for * that is put behind it.
		{"heritrix", "User-agent: a\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\nDisallow: /ab\n\nUser-agent: a\n" +
			"User-agent: pid\nCrawl-delay: 9\n", "different partial allow_all part_of_name 9 covered_path 6"},
		// One of two groups for all has a path below the other's.
		{"heritrix", "User-agent: *\nDisallow: /a\n\nUser-agent: pid\nDisallow:\n\nUser-agent: *\nDisallow: /ab\n",
			"different partial allow_all part_of_name 4 several_groups 7 covered_path 8"},
		// A line that is enough without other crawlers, and not in the file.
		{"protego", "User-agent: Spider\nCrawl-delay: 9\n\nUser-agent: Other\nCrawl-delay: 9\n\nUser-agent: *\n" +
			"Disallow: /\n", "different disallow_all allow_all other_field 2 5"},
		// A letter for the star would part them again.
		{"heritrix", "User-agent: *\nDisallow: /a\nDisallow: /ab\nDisallow: /b*+\nDisallow: /b*%2B\n\nUser-agent: pid\n" +
			"Disallow:\n", "different partial allow_all part_of_name 7 covered_path 3"},
		// Merging all groups would settle these too, and is not the cause.
		{"urllib-2025", "User-agent: *\nDisallow: /a\n\nUser-agent: Spider\nCrawl-delay: 9\n\nUser-agent: a\nDisallow: /\n",
			"different disallow_all allow_all blank_line 6 other_field 5"},
		{"protego", "User-agent: *\nDisallow: /a\n\nUser-agent: *A*\nDisallow: /a\n\nUser-agent: *Spider*\nDisallow: /\n",
			"different partial disallow_all part_of_name 7"},
		{"robots-parser", "User-agent: *\nDisallow: /\n\nUser-agent: Spider\n\nUser-agent: a\n",
			"different allow_all disallow_all no_rule 4"},
		{"heritrix", "User-agent: a\nDisallow: /\n\nUser-agent: Spider*\nUser-agent: Spider\nUser-agent: a\nDisallow: /\n\n" +
			"User-agent: *\nDisallow: /b\n\nUser-agent: c\nDisallow: /c\n", "different disallow_all allow_all several_groups 6"},
		{"crawler-commons", "User-agent: *\nDisallow: /a\n\nUser-agent: Spider\nCrawl-delay: 999\n\nUser-agent: *\n" +
			"Crawl-delay: 2\n", "different allow_all disallow_all long_delay 5"},
		// A group is not another crawler's because a step leaves nothing in it.
		{"temoto", "User-agent: *\nDisallow: /\n\nUser-agent: Spi\nAllow: .js\n",
			"different disallow_all allow_all part_of_name 4"},
		{"urllib-2025", "User-agent: *\nDisallow: /\n\nUser-agent: Spi\nCrawl-delay: 9\n\nUser-agent: a\nDisallow: /b\n",
			"different disallow_all allow_all part_of_name 4"},
		// One word of a name.
		{"temoto", "User-agent: *\nDisallow: /a\n\nUser-agent: Spi Der\nDisallow: /\n\nUser-agent: a\nDisallow: /\n",
			"different partial disallow_all part_of_name 4"},
		// Only without the text behind it is a name a part of the crawler's.
		{"heritrix", "User-agent: *\nDisallow /a\n\nUser-agent: pid\nUser-agent: Spi der\nUser-agent: b\nDisallow: /\n",
			"different partial disallow_all misspelt 2 part_of_name 4"},
		// Two causes, of which neither is enough alone.
		{"wget", "User-agent: Spider/1\nDisallow: /*a\nDisallow: /b\n",
			"different partial allow_all text_behind_name 1 wildcards 2"},
		{"wget", "User-agent: Spider/1\nDisallow: /*a # c\nDisallow: /b\n",
			"different partial allow_all text_behind_name 1 wildcards 2"},
		// What agrees, and what a crawler asks for anyway.
		{"crawler-commons", "User-agent: Spider\nDisallow: /\n", "equal disallow_all disallow_all"},
		{"wget", "User-agent: Spider\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n", "escapes_only partial partial"},
		// Other crawlers' groups hide a cause of its own: both are told.
		{"urllib-2025", "User-agent: Spi\nDisallow: /a\n\nUser-agent: Spider\nDisallow: /b*\n",
			"different partial partial part_of_name 1 last_star 5"},
	} {
		p := compared(explainer(t, c.parser, "Spider"), []byte(c.body), false)
		if got := told(&p); got != c.want || !p.Named {
			t.Errorf("%s of %q: %s, named %t; want %s", c.parser, c.body, got, p.Named, c.want)
		}
		lines := strings.Split(strings.NewReplacer("\ufeff", "", "\r", "\n").Replace(c.body), "\n")
		for _, x := range p.Causes {
			if CauseTexts[x.Key] == "" {
				t.Errorf("cause %q has no text", x.Key)
			}
			for _, l := range x.Lines {
				if string(l.Text) != lines[l.Number-1] {
					t.Errorf("%q: line %d is %q", c.body, l.Number, l.Text)
				}
			}
		}
	}
}

// Causes are found however many other crawlers a file names, and a line that is cut is not
// moved to where it would count.
func TestExplainLongAndCut(t *testing.T) {
	var others strings.Builder
	for i := range 700 {
		fmt.Fprintf(&others, "User-agent: other%d\nDisallow: /\n\n", i)
	}
	google, _ := robots.ProfileNamed(robots.DefaultReader)
	tooLong := "User-agent: Spider\nDisallow: /a\nAllow: /ab\n"
	tooLong += "#" + strings.Repeat("x", google.SizeLimit-len(tooLong)-len("#\nDisallow: /abc")) + "\nDisallow: /abcd\n"
	for _, c := range []struct {
		parser, body string
		cut          bool
		want         string
	}{
		{"heritrix", "User-agent: *\nDisallow /a\n\nUser-agent: pid\nDisallow:\n\n" + others.String(), false,
			"different partial allow_all misspelt 2 part_of_name 4"},
		{"wget", others.String() + "User-agent: Spider/1\nDisallow: /\n", false,
			"different disallow_all allow_all text_behind_name 2101"},
		{"wget", "User-agent: Spider\nDisallow: /a\nAllow: /ab\nDisallow: /abc", false,
			"different partial partial shorter_first 2 4"},
		{"wget", "User-agent: Spider\nDisallow: /a\nAllow: /ab\nDisallow: /abc", true,
			"different partial partial shorter_first 2 3"},
		{"wget", tooLong, false, "different partial partial shorter_first 2 3"},
		{"crawler-commons", "User-agent: Spider\nDisallow: /a\nDisallow: /b", true, "escapes_only partial partial"},
		// A part of a name, of which one word counts.
		{"temoto", "User-agent: *\nDisallow: /a\n\nUser-agent: Spi Der\nDisallow: /\n\n" + others.String(), false,
			"different partial disallow_all part_of_name 4"},
		// The line that is cut has an end for another parser, to which what is before it counts.
		{"protego", "User-agent: Spider\nDisallow: /a*\nDisallow: /b\u2028x", true, "different partial partial unexplained"},
		// Without the other crawlers it takes three steps together, of which one is enough.
		{"reppy", "foo\nDisallow /a$\r\nUseragent: Spi-der\nDisallow /*b\nDisallow: /\rDisallow: /%7ea\nNoindex: /a\r\n" +
			"user-agent:Spider bot\nDisalow: /\rUser-agent: \xffx\nDisallow /\u00e4", false,
			"different disallow_all partial line_ends 5"},
		// Without the other crawlers line 3 would be enough of the line ends.
		{"wget", "User-agent foo\nDisallow: /a\rUser-agent: Spider bot\rDisallow: /\nDisallow: /%e4\n", false,
			"different disallow_all allow_all line_ends 2 3 text_behind_name 3"},
		// Without the other crawlers line 5 would be enough alone too.
		{"robots-parser", "User-agent: Spider\nCrawl-delay: 1\r\nuser-agent:Spider\nUseragent: Spi-der\nUser agent: \n" +
			"user-agent:MySpider\r\nfoo\r\nUser-agent Spider\nDisallow: /a*\r\n\nUser agent: Spiderman\nUser-agent: pid\n",
			false, "different partial allow_all misspelt 8"},
	} {
		p := compared(explainer(t, c.parser, "Spider"), []byte(c.body), c.cut)
		if got := told(&p); got != c.want {
			t.Errorf("%s of %d bytes, cut %t: %s; want %s", c.parser, len(c.body), c.cut, got, c.want)
		}
	}
}

// A file that names somebody else is of no concern, whatever it says.
func TestUnnamed(t *testing.T) {
	x := explainer(t, "heritrix", "Spider")
	for body, named := range map[string]bool{
		"User-agent: *\nDisallow: /a\nDisallow: /ab\n":    false,
		"User-agent: Other\nDisallow: /*a\n":              false,
		"User-agent: SPIDER\nDisallow: /\n":               true,
		"User-agent: pid\nDisallow: /\n":                  true, // to its parser
		"User-agent: Spider-Image\nDisallow: /\n":         false,
		"User-agent: spider/1.0 Something\nDisallow: /\n": true,
	} {
		if p := compared(x, []byte(body), false); p.Named != named || !named && (p.Difference != robots.Same ||
			p.Causes != nil) {
			t.Errorf("%q: %+v", body, p)
		}
		value := []byte(strings.TrimPrefix(strings.SplitN(body, "\n", 2)[0], "User-agent: "))
		if named && !x.Concerns(value) {
			t.Errorf("%q does not concern the crawler", value)
		}
	}
	if x.Concerns([]byte("*")) || x.Concerns([]byte("Other")) || !x.Concerns([]byte("SPI*DER/9")) {
		t.Error("which names concern a crawler")
	}
}

// Explaining is bounded, whatever the file: in bytes that are read and in the work of
// comparing.
func TestExplainIsBounded(t *testing.T) {
	size := 500_000
	if testing.Short() {
		size = 100_000
	}
	files := hostileFiles(size)
	files["few lines"] = "User-agent: a/1\n" + strings.Repeat("Disallow: /*a*b*c\n\nAllow: /é\n", 300)
	files["twins"] = strings.Repeat("User-agent: a\nCrawl-delay: 1\nUser-agent: aa\nDisallow: /a*\n", size/60)
	for name, body := range files {
		for _, parser := range []string{"wget", "heritrix", "protego", "crawler-commons"} {
			x := explainer(t, parser, "a")
			p := compared(x, []byte(body), false)
			if bytes, work := explainBytes-x.bytes, explainWorkings-x.work; bytes > explainBytes+4*len(body) ||
				work > explainWorkings+8*explainWork {
				t.Errorf("%s for %s: %d bytes were read, with work %d", name, parser, bytes, work)
			}
			if p.Difference == robots.Differs && len(p.Causes) == 0 {
				t.Errorf("%s for %s: %+v", name, parser, p)
			}
			if name == "few lines" && p.Difference == robots.Differs && explainWorkings-x.work < 1000 {
				t.Errorf("%s for %s: comparing took work %d", name, parser, explainWorkings-x.work)
			}
		}
	}
}

// On real files, what is said to be one cause settles the difference on every path that a
// rule names, and lines that alone are enough do.
func TestExplainRealFiles(t *testing.T) {
	found := make(map[string]int)
	most := 2156
	if testing.Short() {
		most = 250
	}
	google, _ := robots.ProfileNamed(robots.DefaultReader)
	explainers := make(map[string]*Explainer)
	eachRealFile(t, most, func(body []byte) {
		if len(body) > 8000 {
			return
		}
		var f robots.File
		f.Parse(body, google)
		var names []string
		for i := range f.Agents {
			name := string(f.Agents[i].Wide)
			if a := (robots.Agent{Name: name, Tokens: []string{name}}); name != "*" && a.Validate() == nil && len(names) < 3 &&
				!slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for _, parser := range []string{"wget", "heritrix", "protego", "urllib-2025"} {
			for _, name := range names {
				x := explainers[parser+name]
				if x == nil {
					x = explainer(t, parser, name)
					explainers[parser+name] = x
				}
				p := compared(x, body, false)
				if p.Difference != robots.Differs || len(p.Causes) != 1 || p.Causes[0].Key == Unexplained {
					continue
				}
				found[p.Causes[0].Key]++
				s := x.steps[slices.IndexFunc(x.steps, func(s *step) bool { return s.key == p.Causes[0].Key })]
				whole := readFile(body, false)
				x.read.Parse(body, x.readers[1])
				whole.hear([]robots.File{x.read})
				next := s.apply(whole, nil)
				a, b := x.policies(&next.read)
				for i := range f.Rules {
					path := concrete(f.Rules[i].Pattern)
					ta, tb := x.readers[0].Target(path), x.readers[1].Target(path)
					if a.Judge(&ta).Value != b.Judge(&tb).Value && !strings.Contains(path, "%") {
						t.Errorf("%s for %s: %s is said to be the cause, and without it they part on %s in\n%s", parser, name, s.key,
							path, body)
						break
					}
				}
			}
		}
	})
	if len(found) < 5 {
		t.Errorf("causes %v", found)
	}
	t.Log(found)
}

// A step after which nobody knows whether the readings agree is no cause, nor is one that
// people are advised to take and that changes what google reads.
func TestAgree(t *testing.T) {
	var entangled strings.Builder
	for i := range 18 {
		fmt.Fprintf(&entangled, "Disallow: /*%c*%c\nAllow: /*%c%c*\n", 'a'+i, 'b'+i, 'c'+i, 'd'+i)
	}
	for body, want := range map[string]bool{"User-agent: Spider\nDisallow: /a\n": true,
		"User-agent: Spider\nDisallow: /b\n": false, "User-agent: Spider\n" + entangled.String(): false} {
		x := explainer(t, "urllib-2026", "Spider")
		x.bytes, x.work = explainBytes, explainWorkings
		for i, reader := range x.readers {
			x.witness[i] = reader.LiteralTarget("http://h/")
		}
		was := body
		if strings.Contains(body, "/b") && len(body) < 100 {
			was = "User-agent: Spider\nDisallow: /a\n"
		} else if len(body) > 100 {
			if a, b := x.policies(&readFile([]byte(body), false).read); x.differ(a, b) != robots.DifferenceUndecided {
				t.Fatal("entangled rules are decided")
			}
		}
		x.as.Load(&readFile([]byte(was), false).read)
		if got := x.agree(readFile([]byte(body), false), &step{advice: "some"}); got != want {
			t.Errorf("%q: %t", body, got)
		}
	}
}

// BenchmarkExplain compares the two readings of the real files that may name a crawler. The
// metric parses is the time that this takes, in multiples of that of parsing them for google.
func BenchmarkExplain(b *testing.B) {
	for _, crawler := range [][2]string{{"wget", "Wget"}, {"heritrix", "archive.org_bot"}, {"crawler-commons", "CCBot"}} {
		b.Run(crawler[0], func(b *testing.B) {
			x := explainer(b, crawler[0], crawler[1])
			var bodies [][]byte
			var f robots.File
			google := x.readers[0]
			eachRealFile(b, 2156, func(body []byte) {
				f.Parse(body, google)
				if slices.ContainsFunc(f.Agents, func(a robots.AgentLine) bool { return x.Concerns(a.Value) }) {
					bodies = append(bodies, body)
				}
			})
			var comparing, parsing time.Duration
			for b.Loop() {
				for _, body := range bodies {
					start := time.Now()
					f.Parse(body, google)
					parsed := time.Now()
					x.Compare(&f)
					comparing, parsing = comparing+time.Since(parsed), parsing+parsed.Sub(start)
				}
			}
			b.ReportMetric(float64(len(bodies)), "files")
			b.ReportMetric(float64(comparing)/float64(parsing), "parses")
		})
	}
}
