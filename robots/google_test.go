package robots

import (
	"strings"
	"testing"
)

// TestGoogleBehaviour checks behaviours of Google's parser that a reader of the
// standard alone would get wrong.
func TestGoogleBehaviour(t *testing.T) {
	p := named(t, "google")
	long := func(n int) string { return strings.Repeat("a", n) }
	const star = "user-agent: *\n"
	for _, c := range []struct {
		name, robots, agent, url string
		allow                    bool
		line                     int
	}{
		// User-agent lines.
		{"1 version is cut", "user-agent: FooBot/2.1\ndisallow: /", "foobot", "/", false, 2},
		{"1 star is cut", "user-agent: FooBot*\ndisallow: /", "FooBot", "/", false, 2},
		{"1 second word is cut", "user-agent: Foo Bar\ndisallow: /", "foo", "/", false, 2},
		{"2 digits are cut", "user-agent: MJ12bot\ndisallow: /", "MJ", "/", false, 2},
		{"2 dots are cut", "user-agent: archive.org_bot\ndisallow: /", "archive", "/", false, 2},
		{"3 the crawler's name is not cut", "user-agent: FooBot\ndisallow: /", "FooBot/2.1", "/", true, 0},
		{"4 star and more is for all", "user-agent: * hello\ndisallow: /", "a", "/", false, 2},
		{"4 star and letters is not", "user-agent: *bot\ndisallow: /", "a", "/", true, 0},
		{"4 two stars are not", "user-agent: **\ndisallow: /", "a", "/", true, 0},
		{"5 no hierarchy", "user-agent: Googlebot\ndisallow: /", "Googlebot-Image", "/", true, 0},
		// Groups.
		{"7 crawl-delay does not part agents", "user-agent: a\ncrawl-delay: 5\nuser-agent: *\ndisallow: /", "a", "/", false,
			4},
		{"7 nor does a sitemap", "user-agent: a\nsitemap: x\nuser-agent: b\ndisallow: /", "a", "/", false, 4},
		{"7 nor does a broken line", "user-agent: a\n\nx y z\nuser-agent: b\ndisallow: /", "a", "/", false, 5},
		{"8 an empty rule does", "user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /", "a", "/", true, 2},
		{"9 an empty agent begins a group", "user-agent: a\ndisallow: /1\nuser-agent:\ndisallow: /2", "a", "/2", true, 0},
		{"9 an empty agent joins a group", "user-agent: a\nuser-agent:\ndisallow: /2", "a", "/2", false, 3},
		{"10 groups merge", "user-agent: a\ndisallow: /1\nuser-agent: b\ndisallow: /\nuser-agent: a\ndisallow: /2", "a",
			"/1", false, 2},
		{"10 an empty last group keeps * away", "user-agent: *\ndisallow: /\nuser-agent: a", "a", "/", true, 0},
		{"11 own and * in one group", "user-agent: *\nuser-agent: a\ndisallow: /1\nuser-agent: *\ndisallow: /2", "a", "/2",
			true, 0},
		{"12 orphan rules", "disallow: /\nuser-agent: *\ndisallow: /1", "a", "/2", true, 0},
		// Lines and keys.
		{"13 keys match by prefix", "user-agents: *\nDisallow-path: /", "a", "/", false, 2},
		{"13 allow by prefix", "user-agent: *\ndisallow: /\nallowed: /1", "a", "/1", true, 3},
		{"13 a byte that case folding makes a colon", "user-agent: a\nAllow\x1a*:\n", "a", "/", true, 2},
		{"14 useragent", "useragent: a\ndisallow: /", "a", "/", false, 2},
		{"14 user agent", "user agent: a\ndisallow: /", "a", "/", false, 2},
		{"14 dissallow", star + "dissallow: /", "a", "/", false, 2},
		{"14 dissalow", star + "dissalow: /", "a", "/", false, 2},
		{"14 disalow", star + "disalow: /", "a", "/", false, 2},
		{"14 diasllow", star + "diasllow: /", "a", "/", false, 2},
		{"14 disallaw", star + "disallaw: /", "a", "/", false, 2},
		{"14 none for allow", star + "disallow: /\nalow: /1", "a", "/1", false, 2},
		{"15 two words need no colon", "user-agent a\ndisallow\t/", "a", "/", false, 2},
		{"15 three words do", "user agent a\ndisallow: /", "a", "/", true, 0},
		{"16 the first colon counts", star + "Disallow http://h/a", "a", "http://x//h/a", false, 2},
		{"17 # cuts anywhere", star + "disallow: /a#b", "a", "/ac", false, 2},
		{"18 NBSP is no white space", star + "disallow: /a\u00a0", "a", "/a", true, 0},
		{"18 VT and FF are", star + "\vdisallow\f:\v/a\f", "a", "/a", false, 2},
		{"18 U+2028 ends no line", star + "disallow: /a\u2028allow: /ab", "a", "/ab", true, 0},
		{"19 CR alone ends a line", "user-agent: *\rdisallow: /", "a", "/", false, 2},
		{"19 CRLF is one end", "user-agent: *\r\n\r\ndisallow: /", "a", "/", false, 3},
		{"19 LFCR is two", "user-agent: *\n\rdisallow: /", "a", "/", false, 3},
		{"20 NUL ends the content", star + "disallow: /a\x00b\ndisallow: /c", "a", "/ax", false, 2},
		{"20 and not the file", star + "disallow: /a\x00b\ndisallow: /c", "a", "/c", false, 3},
		{"21 BOM", "\xef\xbb\xbf" + star + "disallow: /", "a", "/", false, 2},
		{"21 part of a BOM", "\xef\xbb" + star + "disallow: /", "a", "/", false, 2},
		{"21 not a BOM", "\xef\x11\xbf" + star + "disallow: /", "a", "/", true, 0},
		{"21 second BOM", "\xef\xbb\xbf\xef\xbb\xbf" + star + "disallow: /", "a", "/", true, 0},
		{"22 long lines are cut", star + "disallow: /" + long(16663-11) + "$", "a", "/" + long(16663-11) + "b", false, 2},
		{"22 and just fit", star + "disallow: /" + long(16663-12) + "$", "a", "/" + long(16663-12) + "b", true, 0},
		// Patterns.
		{"24 nothing is decoded", star + "disallow: /%7E", "a", "/~", true, 0},
		{"24 hex becomes upper case", star + "disallow: /%aa", "a", "/%AA", false, 2},
		{"24 not that of the URL", star + "disallow: /%aa", "a", "/%aa", true, 0},
		{"24 non-ASCII is escaped", star + "disallow: /é", "a", "/%C3%A9", false, 2},
		{"24 not that of the URL", star + "disallow: /é", "a", "/é", true, 0},
		{"24 other bytes stay", star + "disallow: /a b\"<|", "a", "/a b\"<|", false, 2},
		{"25 length is that of the escaped", star + "allow: /é\ndisallow: /%C3*", "a", "/%C3%A9", true, 2},
		{"25 stars count", star + "allow: /a\ndisallow: /a*", "a", "/a", false, 3},
		{"25 $ counts", star + "allow: /a\ndisallow: /a$", "a", "/a", false, 3},
		{"25 allow wins a tie", star + "disallow: /a\nallow: /a", "a", "/a", true, 3},
		{"25 the first of equals", star + "disallow: /*a\ndisallow: /a*", "a", "/a", false, 2},
		{"26 $ twice", star + "disallow: /a$$", "a", "/a$", false, 2},
		{"26 $ before the end", star + "disallow: /a$*", "a", "/a$b", false, 2},
		{"26 star is also nothing", star + "disallow: /a*b$", "a", "/ab", false, 2},
		{"26 from the start", star + "disallow: /b", "a", "/ab", true, 0},
		{"27 an empty pattern never decides", star + "disallow: /\nallow:", "a", "/", false, 2},
		{"28 no leading slash", star + "disallow: a", "a", "/a", true, 0},
		{"28 $ alone", star + "disallow: $", "a", "/", true, 0},
		{"29 index.html", star + "disallow: /\nallow: /a/index.html", "a", "/a/", true, 3},
		{"29 index.htmx", star + "disallow: /\nallow: /a/index.htmx", "a", "/a/", true, 3},
		{"29 not below", star + "disallow: /\nallow: /a/index.html", "a", "/a/b", false, 2},
		{"29 with its own length", star + "disallow: /a/*****\nallow: /a/index.html", "a", "/a/", false, 2},
		{"29 not for disallow", star + "disallow: /a/index.html", "a", "/a/", true, 0},
		{"29 after a star", star + "disallow: /\nallow: /*/index.html", "a", "/x/", true, 3},
		{"30 robots.txt", star + "disallow: /", "a", "/robots.txt", false, 2},
		// The line reported.
		{"33 an empty rule", star + "disallow:", "a", "/", true, 2},
		{"33 empty allow before empty disallow", star + "disallow:\nallow:", "a", "/", true, 3},
		{"33 own group before *", "user-agent: a\ndisallow:\nuser-agent: *\ndisallow: /", "a", "/", true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, line := ask(p, []byte(c.robots), c.url, c.agent)
			if (v.Value == Permitted) != c.allow || line != c.line {
				t.Errorf("got %v (%v) line %d, want allow=%v line %d", v.Value, v.Reason, line, c.allow, c.line)
			}
		})
	}
}

// TestSeveralTokens is behaviour 6 as SPEC 4 defines it: tokens are an order of
// preference, where Google's parser has a set.
func TestSeveralTokens(t *testing.T) {
	p := named(t, "google")
	body := []byte("user-agent: Googlebot\ndisallow: /1\nuser-agent: Googlebot-Image\ndisallow: /2")
	for url, want := range map[string]Value{"/1": Permitted, "/2": Disallowed} {
		if v, _ := ask(p, body, url, "Googlebot-Image", "Googlebot"); v.Value != want {
			t.Errorf("%s: got %v", url, v.Value)
		}
	}
}

// TestSizeLimit is behaviour 23: in Google's library the limit is outside the
// parser; here it belongs to the profile (RFC 9309, 2.5).
func TestSizeLimit(t *testing.T) {
	eachProfile(t, func(t *testing.T, p *Profile) {
		rules := "user-agent: a\ndisallow: /1\n#"
		body := []byte(rules + strings.Repeat("x", p.SizeLimit-len(rules)-1) + "\ndisallow: /2")
		var f File
		f.Parse(body, p)
		if !f.Truncated || len(f.Rules) != 1 {
			t.Errorf("truncated is %v, %d rules", f.Truncated, len(f.Rules))
		}
		if got := follows(p, string(body), 2, "a"); got != "1" {
			t.Errorf("got %q", got)
		}
		f.Parse(body[:p.SizeLimit], p)
		if f.Truncated {
			t.Error("a body of exactly the limit is truncated")
		}
	})
	if named(t, "google-2012").SizeLimit != 500_000 || named(t, "google").SizeLimit != 512_000 {
		t.Error("limits have changed")
	}
}

// TestURLPath is behaviour 32.
func TestURLPath(t *testing.T) {
	for url, want := range map[string]string{
		"":                      "/",
		"http://h":              "/",
		"http://h/a?b#c":        "/a?b",
		"http://h?x":            "/?x",
		"http://h;p":            "/;p",
		"http://h#f/x":          "/",
		"//h/a":                 "/a",
		"/a":                    "/a",
		"a/b":                   "/b",
		"/r?u=http://h/x":       "/r?u=http://h/x",
		"http://h/%2e%2e/a":     "/%2e%2e/a",
		"http://h/?":            "/?",
		"http://h/a\x00b":       "/a",
		"//a#b/":                "/",
		"http://h//a//b":        "//a//b",
		"h:80/a":                "/a",
		"https://h/a;b#c":       "/a;b",
		"http://example.com//":  "//",
		"data:,a/b":             "/b",
		"a;b://c/d":             "/;b://c/d",
		"http://u:p@h:81/a?b;c": "/a?b;c",
	} {
		if got := URLPath(url); got != want {
			t.Errorf("%q: got %q, want %q", url, got, want)
		}
	}
}
