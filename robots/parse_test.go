package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func remarks(f *File) []string {
	var out []string
	for _, r := range f.Remarks {
		out = append(out, fmt.Sprintf("%d %d %v %s|%s", r.Line, r.Group, r.Class, r.Field, r.Value))
	}
	return out
}

func TestRemarks(t *testing.T) {
	body := "disallow: /orphan\n" + // 1
		"User-agent: a # who\n" +
		"Crawl-Delay: 2.5\n" +
		"crawl-delay: soon\n" +
		"disalow: /t\n" + // 5
		"Disallowed: /p\n" +
		"disallow /c\n" +
		"two words\n" +
		"and three words\n" +
		": nothing\n" + // 10
		"foo: bar\n" +
		"nofollow: /x\n" +
		"disallow: /n\x00ul\n" +
		"useragent b\n" +
		"Disallow : /s\n" + // 15
		"foo : bar\n"
	google := []string{
		"1 -1 orphan_rule disallow|/orphan",
		"2 0 comment |who",
		"3 0 extension Crawl-Delay|2.5",
		"4 0 extension crawl-delay|soon",
		"5 0 typo disalow|/t",
		"6 0 key_prefix Disallowed|/p",
		"7 0 missing_colon disallow|/c",
		"8 0 no_field |two words",
		"9 0 no_field |and three words",
		"10 0 no_field |: nothing",
		"11 0 unknown_field foo|bar",
		"12 0 extension nofollow|/x",
		"13 0 nul |disallow: /n\x00ul",
		"14 1 typo useragent|b",
		"14 1 missing_colon useragent|b",
		"15 1 spaced_colon Disallow|/s",
		"16 1 unknown_field foo|bar",
	}
	f := File{KeepComments: true}
	f.Parse([]byte(body), named(t, "google"))
	if got := remarks(&f); !slices.Equal(got, google) {
		t.Errorf("google: got\n%s", strings.Join(got, "\n"))
	}
	if f.Lines != 16 || f.InvalidLines != 5 || len(f.Rules) != 6 || len(f.Groups) != 2 {
		t.Errorf("google: %d lines, %d invalid, %d rules, %d groups", f.Lines, f.InvalidLines, len(f.Rules), len(f.Groups))
	}
	if g := f.Groups[0]; g.CrawlDelay != 2.5 || !g.HasCrawlDelay || g.Line != 2 {
		t.Errorf("google: group is %+v", g)
	}
	// A profile that accepts none of these lines gives the same remarks, except
	// that the last line begins no group.
	f.Parse([]byte(body), named(t, "rfc9309"))
	rfc := slices.Clone(google)
	rfc[13], rfc[14] = "14 0 typo useragent|b", "14 0 missing_colon useragent|b"
	rfc[15], rfc[16] = "15 0 spaced_colon Disallow|/s", "16 0 unknown_field foo|bar"
	if got := remarks(&f); !slices.Equal(got, rfc) {
		t.Errorf("rfc9309: got\n%s", strings.Join(got, "\n"))
	}
	if f.InvalidLines != 9 || len(f.Rules) != 3 || len(f.Groups) != 1 {
		t.Errorf("rfc9309: %d invalid, %d rules, %d groups", f.InvalidLines, len(f.Rules), len(f.Groups))
	}
}

// A sitemap that is quoted, or has another URL or field in it, is remarked; one whose path or
// query holds a URL is not.
func TestOddSitemaps(t *testing.T) {
	for value, odd := range map[string]bool{
		"https://a.example/s.xml": false, "/s.xml": false, "s.xml": false, "": false, "//a.example/s.xml": false,
		"https://a.example/s?of=https://a.example/": false, "https://a.example/web/https://b.example/s.xml": false,
		"https://a.example/s?of=http%3A%2F%2Fb.example": false, "https://http.example/s.xml": false,
		"http://https-a.example/":   false,
		`"https://a.example/s.xml"`: true, "'/s.xml'": true, "<https://a.example/s.xml>": true,
		"[https://a.example/s.xml]":           true,
		"\u201chttps://a.example/s.xml\u201d": true, `https://a.example/s.xml"`: true,
		"Sitemap: https://a.example/s.xml": true, "sitemap:/s.xml": true,
		"https://a.example/s.xml https://a.example/t.xml": true, "https://a.example/s.xml,https://a.example/t.xml": true,
		"https://a.example/s.xmlhttps://a.example/t.xml": true, "https://https://a.example/s.xml": true,
		"http://http//a.example/s.xml": true,
		"http:https://a.example/s.xml": true, "ftp://https://a.example/s.xml": true,
		"://a.example/s.xml https://b.example/": true, "://a.example/s.xml": false,
		"https://a.example/s?https://b.example/": false, "https://a.example/s?a&https://b.example/": false,
		"https://a.example/s?a%https://b.example/": false, "https://a.example/s?a+https://b.example/": false,
		"https://a.example/s;https://b.example/": true, "https://a.example/https://b.example/;https://c.example/": true,
	} {
		for _, profile := range []string{"google", "rfc9309", "heritrix"} {
			var f File
			f.Parse([]byte("User-agent: *\nDisallow: /a\nSitemap: "+value+"\n"), named(t, profile))
			if len(f.Sitemaps) != 1 || f.Sitemaps[0].IsOdd != odd || string(f.Sitemaps[0].URL) != value {
				t.Errorf("%s of %q: %+v, want odd %t", profile, value, f.Sitemaps, odd)
			}
			want := []string(nil)
			if odd {
				want = []string{"3 0 sitemap_value Sitemap|" + value}
			}
			if got := remarks(&f); !slices.Equal(got, want) {
				t.Errorf("%s of %q: remarks %q, want %q", profile, value, got, want)
			}
		}
	}
}

func TestLongAndTruncatedLines(t *testing.T) {
	p := named(t, "google")
	p.SizeLimit = 20100
	body := "disallow: /" + strings.Repeat("a", 20000) + "\n#" + strings.Repeat("b", 200)
	var f File
	f.Parse([]byte(body), p)
	var classes []RemarkClass
	for _, r := range f.Remarks {
		classes = append(classes, r.Class)
	}
	if !slices.Equal(classes, []RemarkClass{TooLong, OrphanRule, TruncatedLine}) || f.Remarks[2].Line != 2 {
		t.Errorf("got %v", classes)
	}
	if n := len(f.Rules[0].Pattern); n != googleLine-len("disallow: ") {
		t.Errorf("pattern of %d bytes", n)
	}
}

// TestCutLine is SPEC 2, "Size": a last line whose end lies beyond the limit is
// no line, under every profile.
func TestCutLine(t *testing.T) {
	const open = "user-agent: a\ndisallow: /private/\ndisallow: /b"
	cut := strings.Index(open, "private") // just after "disallow: /"
	for _, row := range []struct {
		body       string
		limit      int
		cut        bool // already, before Parse
		rules      int
		line       int32 // of the remark, 0 for none
		value      string
		disallowed string
		allowed    string
	}{
		{open, cut, false, 0, 2, "disallow: /", "", "/"},
		{open, cut + 7, false, 0, 2, "disallow: /private", "", "/private/x"},
		{open, cut + 8, false, 0, 2, "disallow: /private/", "", "/private/x"}, // LF is the first byte beyond
		{open, cut + 9, false, 1, 3, "", "/private/x", "/b"},
		{open, len(open) - 1, false, 1, 3, "disallow: /", "/private/x", "/b"},
		{open, len(open), false, 2, 0, "", "/b", "/c"}, // no LF, and nothing beyond
		{open, len(open) + 1, false, 2, 0, "", "/b", "/c"},
		{open[:cut], cut, true, 0, 2, "disallow: /", "", "/"},
		{open[:cut], 1000, true, 0, 2, "disallow: /", "", "/"},
		{open[:cut+9], 1000, true, 1, 3, "", "/private/x", "/b"},
		{"user-agent: a\r\ndisallow: /1\r\ndisallow: /2\r\n", 28, false, 1, 3, "", "/1", "/2"}, // between CR and LF
		{"user-agent: a\r\ndisallow: /1\r\ndisallow: /2\r\n", 27, false, 0, 2, "disallow: /1", "", "/1"},
		{"user-agent: a\rdisallow: /1\rdisallow: /2\r", 27, false, 1, 3, "", "/1", "/2"},
		{"user-agent: a\ndisallow: /\nuser-agent: *", 33, false, 1, 3, "user-ag", "/", ""},
		{"user-agent: a\ndisallow: /1\nbogus \x00 # x\n", 38, false, 1, 3, "bogus \x00 # x", "/1", "/2"},
	} {
		eachProfile(t, func(t *testing.T, p *Profile) {
			p.SizeLimit = row.limit
			f := File{KeepComments: true, Cut: row.cut}
			f.Parse([]byte(row.body), p)
			ok := len(f.Rules) == row.rules && len(f.Remarks) == min(int(row.line), 1)
			for _, r := range f.Remarks {
				ok = ok && r.Class == TruncatedLine && r.Line == row.line && string(r.Value) == row.value
			}
			if !ok {
				t.Errorf("%q at %d: %d rules, remarks %v", row.body, row.limit, len(f.Rules), remarks(&f))
			}
			judge := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}})
			judge.Load(&f)
			for _, url := range []string{row.disallowed, row.allowed} {
				if target := p.Target(url); url != "" &&
					(judge.Policy(0).Judge(&target).Value == Permitted) != (url == row.allowed) {
					t.Errorf("%q at %d: wrong verdict on %s", row.body, row.limit, url)
				}
			}
		})
	}
}

func TestSignals(t *testing.T) {
	body := "user-agent: *\n" +
		"Content-Signal: search=yes, ai-train=no\n" +
		"content-usage: /a train-ai=n\n" +
		"license: https://example.com/license.xml\n" + // 4
		"request-rate: 1/10s 1820-1940\n" +
		"visit-time: 0200-0630\n" +
		"clean-param: ref&sid /books/\n" +
		"host: example.com\n" + // 8
		"noindex: /x\n" +
		"content-usage: /a search=n,\n" + // no dictionary
		"license: none\n" +
		"request-rate: often\n" + // 12
		"visit-time: 2am-3am\n" +
		"host: a b\n" +
		"noindex:\n" +
		"content-signal: Search = YES ,, ai-train\n" + // 16
		"content-usage: search=n;x=1, note=\"a, b\"\n" +
		"content-signal:\n"
	want := []string{
		"2 0 Content-Signal||search|yes",
		"2 0 Content-Signal||ai-train|no",
		"3 0 content-usage|/a|train-ai|n",
		"4 0 license|||https://example.com/license.xml",
		"5 0 request-rate|||1/10s 1820-1940",
		"6 0 visit-time|||0200-0630",
		"7 0 clean-param|/books/||ref",
		"7 0 clean-param|/books/||sid",
		"8 0 host|||example.com",
		"9 0 noindex|/x||/x",
		"16 0 content-signal||Search|YES",
		"16 0 content-signal||ai-train|",
		"17 0 content-usage||search|n;x=1",
		`17 0 content-usage||note|"a, b"`,
	}
	eachProfile(t, func(t *testing.T, p *Profile) {
		var f File
		f.Parse([]byte(body), p)
		var got []string
		for _, s := range f.Signals {
			got = append(got, fmt.Sprintf("%d %d %s|%s|%s|%s", s.Line, s.Group, s.Field, s.Path, s.Key, s.Value))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s", strings.Join(got, "\n"))
		}
		for i, r := range f.Remarks {
			if want := []int32{10, 11, 12, 13, 14, 15, 18}; r.Class != Extension || r.Line != want[i] {
				t.Errorf("remark %d: %+v", i, r)
			}
		}
		if len(f.Remarks) != 7 || f.InvalidLines != 0 {
			t.Errorf("%d remarks, %d invalid lines", len(f.Remarks), f.InvalidLines)
		}
	})
}

func TestFileFacts(t *testing.T) {
	eachProfile(t, func(t *testing.T, p *Profile) {
		for body, want := range map[string][3]bool{ // BOM, UTF-8, HTML
			"":                         {false, true, false},
			"\xef\xbb\xbfuser-agent:*": {true, true, false},
			"\xef\xbb":                 {false, false, false},
			"# caf\xe9":                {false, false, false},
			"<html>é":                  {false, true, true},
		} {
			var f File
			f.Parse([]byte(body), p)
			if got := [3]bool{f.HasBOM, f.IsUTF8, f.IsHTML}; got != want {
				t.Errorf("%q: got %v, want %v", body, got, want)
			}
			if f.Lines != min(1, len(body)) {
				t.Errorf("%q: %d lines", body, f.Lines)
			}
		}
		q := *p
		q.SizeLimit = 4
		var f File
		if f.Parse([]byte("# aé"), &q); !f.IsUTF8 || !f.Truncated {
			t.Error("a character that the limit cuts is not UTF-8")
		}
		if f.Parse([]byte("# a\xe9b"), &q); f.IsUTF8 != true {
			// The limit may have cut a character that begins with this byte.
			t.Error("the first byte of a character is not UTF-8")
		}
		if f.Parse([]byte("# \xe9bb"), &q); f.IsUTF8 {
			t.Error("an incomplete character within the limit is UTF-8")
		}
	})
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		profile, value, normalized  string
		wildcard, anchor, effective bool
		length                      int32
	}{
		{"google", "/a", "/a", false, false, true, 2},
		{"google", "/é*%aa$", "/%C3%A9*%AA$", true, true, true, 12},
		{"google", "/a*", "/a*", true, false, true, 3},
		{"google", "a", "a", false, false, false, 0},
		{"google", "*", "*", true, false, true, 1},
		{"google", "$", "$", false, true, false, 0},
		{"google", "", "", false, false, false, 0},
		{"google-2019", "/a**", "/a**", true, false, true, 2},
		{"google-2019", "/a*$", "/a*$", true, true, true, 2},
		{"google-2019", "/a$", "/a$", false, true, true, 3},
		{"google-2012", "a/é", "/a/%C3%A9", false, false, true, 9},
		{"google-2012", "*.gif$", "/*.gif$", true, true, true, 7},
		{"classic-1996", "/é*$", "/é*$", false, false, true, 5},
		{"rfc9309", "/%7ea%2f$b?%2f%2A$", "/~a%2F%24b?/%2A$", false, true, true, 18},
	} {
		var f File
		f.Parse([]byte("user-agent: a\ndisallow: "+c.value), named(t, c.profile))
		r := f.Rules[0]
		if string(r.Pattern) != c.value || string(r.Normalized) != c.normalized || r.Wildcard != c.wildcard ||
			r.Anchor != c.anchor || r.Effective != c.effective || r.Length != c.length {
			t.Errorf("%s: %s: got %s, wildcard %v, anchor %v, effective %v, length %d",
				c.profile, c.value, r.Normalized, r.Wildcard, r.Anchor, r.Effective, r.Length)
		}
	}
}

func TestSitemaps(t *testing.T) {
	var f File
	f.Parse([]byte("sitemap: https://a.b/s.xml#x\nSite-Map: /s.xml\nsitemap:\nsitemap: http:///x"), named(t, "google"))
	got := fmt.Sprint(f.Sitemaps[0].IsAbsolute, f.Sitemaps[1].IsAbsolute, f.Sitemaps[2].IsAbsolute,
		f.Sitemaps[3].IsAbsolute)
	if got != "true false false false" || string(f.Sitemaps[0].URL) != "https://a.b/s.xml" {
		t.Errorf("got %s, %s", got, f.Sitemaps[0].URL)
	}
}

func TestJoined(t *testing.T) {
	for body, want := range map[string]bool{
		"user-agent: a\nuser-agent: b":                        false,
		"user-agent: a\n\n# x\nuser-agent: b":                 false,
		"user-agent: a\ncrawl-delay: 1\nuser-agent: b":        true,
		"user-agent: a\nfoo\nuser-agent: b":                   true,
		"user-agent: a\nsitemap: x\nuser-agent: b":            true,
		"user-agent: a\nsitemap: x\ndisallow:\nuser-agent: b": false,
	} {
		var f File
		f.Parse([]byte(body), named(t, "google"))
		if f.Groups[0].Joined != want {
			t.Errorf("%q: got %v", body, f.Groups[0].Joined)
		}
	}
}

func TestTarget(t *testing.T) {
	for _, c := range []struct{ profile, url, want, literal string }{
		{"google", "http://h/é a|b%c3", "/%C3%A9%20a%7Cb%c3", "/é a|b%c3"},
		{"google-2019", "/é%c3", "/%C3%A9%C3", "/%C3%A9%C3"},
		{"classic-1996", "/é", "/%C3%A9", "/é"},
		{"rfc9309", "/%7e*$/%2f?%2f*#x", "/~%2A%24/%2F?/%2A", "/~%2A%24/%2F?/%2A"},
	} {
		p := named(t, c.profile)
		a, b := p.Target(c.url), p.LiteralTarget(c.url)
		if a.Path() != c.want || b.Path() != c.literal {
			t.Errorf("%s: %s: got %s and %s", c.profile, c.url, a.Path(), b.Path())
		}
	}
}

func TestContenders(t *testing.T) {
	p := named(t, "google")
	var f File
	f.Parse([]byte("user-agent: *\nallow: /p\ndisallow: /\nallow: /page\ndisallow: /*.htm\ndisallow: /x"), p)
	j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}})
	j.Load(&f)
	target := p.Target("/page.htm")
	if got := j.Policy(0).Contenders(nil, &target); !slices.Equal(got, []int32{3, 2, 0, 1}) {
		t.Errorf("got %v", got)
	}
}

// TestSharedPolicies checks that agents of one group share its rules.
func TestSharedPolicies(t *testing.T) {
	p := named(t, "google")
	var f File
	f.Parse([]byte("user-agent: a\nuser-agent: b\ndisallow: /1\nuser-agent: *\ncrawl-delay: 3\ndisallow: /2"), p)
	var agents []Agent
	for _, n := range []string{"a", "b", "c", "d"} {
		agents = append(agents, Agent{Name: n, Tokens: []string{n}})
	}
	j := NewJudge(p, agents)
	j.Load(&f)
	for i, want := range []int{0, 0, 2, 2} {
		if got := j.Policy(i).SameAs; got != want {
			t.Errorf("agent %d is the same as %d, want %d", i, got, want)
		}
	}
	if j.used != 2 {
		t.Errorf("%d rulesets for two groups", j.used)
	}
	for i, want := range []string{"a own 1 false", "b own 1 false", "* star 4 true", "* star 4 true"} {
		pol := j.Policy(i)
		if got := fmt.Sprint(pol.GroupAgent, " ", pol.Match, " ", pol.GroupLine, " ", pol.HasCrawlDelay); got != want {
			t.Errorf("agent %d: got %s, want %s", i, got, want)
		}
	}
}
