package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The rows of the tables in the documents, under every profile. A row is named
// after the document that prints it: 1996 (Russian), 2012 (Korean), 2019
// (Indonesian, Thai, Finnish).

// by holds the verdict of each profile, in the order of ProfileNames.
type by struct{ google, d2019, d2012, d1996, rfc string }

func all(v string) by { return by{v, v, v, v, v} }

func (b by) of(profile string) string {
	return map[string]string{"google": b.google, "google-2019": b.d2019, "google-2012": b.d2012,
		"classic-1996": b.d1996, "rfc9309": b.rfc}[profile]
}

// documentNames lists the profiles that are no dialects.
func documentNames() (names []string) {
	for _, f := range documents {
		names = append(names, f().Name)
	}
	return names
}

func eachProfile(t *testing.T, f func(t *testing.T, p *Profile)) {
	for _, name := range documentNames() {
		t.Run(name, func(t *testing.T) { f(t, named(t, name)) })
	}
}

func TestPathTable(t *testing.T) {
	fish := []string{"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html",
		"/fish.php?id=anything"}
	noFish := []string{"/Fish.asp", "/catfish", "/?id=fish"}
	slash := []string{"/fish/", "/fish/?id=anything", "/fish/salmon.htm"}
	noSlash := []string{"/fish", "/fish.html", "/Fish/Salmon.asp"}
	any := []string{"/", "/fish", "/a/b?c"}
	for _, row := range []struct {
		pattern   string
		match, no []string
		// exceptions are profiles in which the pattern is invalid: without * as
		// a wildcard ("full paths", 1996), or with the rule that a pattern
		// begins with a slash (2019: "harus diawali dengan /").
		exceptions []string
	}{
		{"/", any, nil, nil},
		{"/*", any, nil, []string{"classic-1996"}},
		{"/fish", fish, noFish, nil},
		{"/fish*", fish, noFish, []string{"classic-1996"}},
		{"/fish/", slash, noSlash, nil},
		{"fish/", slash, noSlash, []string{"google", "google-2019", "classic-1996", "rfc9309"}},
		{"/*.php", []string{"/filename.php", "/folder/filename.php", "/folder/filename.php?parameters",
			"/folder/any.php.file.html", "/filename.php/"}, []string{"/", "/windows.PHP"}, []string{"classic-1996"}},
		{"/*.php$", []string{"/filename.php", "/folder/filename.php"},
			[]string{"/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"}, []string{"classic-1996"}},
		{"/fish*.php", []string{"/fish.php", "/fishheads/catfish.php?parameters"}, []string{"/Fish.PHP"},
			[]string{"classic-1996"}},
	} {
		t.Run(row.pattern, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				body := []byte("user-agent: a\ndisallow: " + row.pattern)
				means := !slices.Contains(row.exceptions, p.Name)
				for i, url := range slices.Concat(row.match, row.no) {
					want := Permitted
					if means && i < len(row.match) {
						want = Disallowed
						// 1996 leaves open whether a path covers others that
						// merely begin with it.
						if rest := url[len(row.pattern)-1:]; p.BarePrefix == Open && row.pattern == "/fish" && rest != "h" {
							want = Undefined
							if strings.HasPrefix(rest, "h/") {
								want = Disallowed
							}
						}
					}
					if v, _ := ask(p, body, url, "a"); v.Value != want {
						t.Errorf("%s: got %v, want %v", url, v.Value, want)
					}
				}
			})
		})
	}
}

func TestConflictTable(t *testing.T) {
	for _, row := range []struct {
		name, url, allow, disallow string
		want                       by
	}{
		// 1996 has no allow and no wildcards: only the disallow counts.
		{"longer allow", "/page", "/p", "/", by{"allow", "allow", "allow", "disallow", "allow"}},
		{"2012: folder/", "/folder/page", "/folder/", "/folder", by{"allow", "allow", "allow", "disallow", "allow"}},
		// 2012 says nothing about ties.
		{"2019: tie", "/folder/page", "/folder", "/folder", by{"allow", "allow", "undefined", "disallow", "allow"}},
		// 2012: "precedence of rules with wildcards is undefined"; 2019: the
		// row is printed undefined.
		{"wildcard", "/page.htm", "/page", "/*.htm", by{"disallow", "undefined", "undefined", "allow", "disallow"}},
		{"allow /$", "/", "/$", "/", by{"allow", "allow", "allow", "disallow", "allow"}},
		{"allow /$ elsewhere", "/page.htm", "/$", "/", all("disallow")},
	} {
		t.Run(row.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				for _, body := range []string{
					"user-agent: a\nallow: " + row.allow + "\ndisallow: " + row.disallow,
					"user-agent: a\ndisallow: " + row.disallow + "\nallow: " + row.allow,
				} {
					if v, _ := ask(p, []byte(body), "http://example.com"+row.url, "a"); v.Value.String() != row.want.of(p.Name) {
						t.Errorf("got %v, want %s", v.Value, row.want.of(p.Name))
					}
				}
			})
		})
	}
}

// TestWildcardConflicts goes beyond the one row in the documents.
func TestWildcardConflicts(t *testing.T) {
	for _, row := range []struct {
		name, rules, url string
		d2019, d2012     string
	}{
		// 2012: a wildcard rule may win or lose against any; 2019: only the
		// least restrictive competes with the longest.
		{"wildcard allow is longer", "allow: /*.htm\ndisallow: /page", "/page.htm", "allow", "undefined"},
		{"wildcard allow is shorter", "allow: /*.h\ndisallow: /page.htm", "/page.htm", "undefined", "undefined"},
		{"all agree", "disallow: /*.h\ndisallow: /page", "/page.htm", "disallow", "disallow"},
		{"wildcard does not match", "allow: /p\ndisallow: /page\ndisallow: /*.php", "/page.htm", "disallow", "disallow"},
		{"loses to nothing", "disallow: /*.htm", "/page.htm", "disallow", "disallow"},
		// Every possible winner disallows: the allow has lost to /page, which
		// no wildcard rule contradicts.
		{"agree with the winner", "allow: /p\ndisallow: /page\ndisallow: /*.htm", "/page.htm", "disallow", "disallow"},
		// A trailing star "is ignored", so this is not a wildcard rule.
		{"trailing star", "allow: /p\ndisallow: /page*", "/page.htm", "disallow", "disallow"},
		{"trailing star ties", "allow: /page\ndisallow: /page*", "/page.htm", "allow", "undefined"},
		// A wildcard rule contradicts the settled verdict of the others.
		{"wildcard disallow contradicts", "allow: /page\ndisallow: /p\ndisallow: /*.htm", "/page.htm", "undefined",
			"undefined"},
		{"shorter wildcard disallow", "allow: /page\ndisallow: /p\ndisallow: /*.h", "/page.htm", "allow", "undefined"},
		{"shorter wildcard allow", "allow: /*.h\nallow: /p\ndisallow: /page", "/page.htm", "undefined", "undefined"},
		{"two wildcards", "allow: /*.h\ndisallow: /*.ht", "/page.htm", "undefined", "undefined"},
		{"two wildcards, the longer allows", "allow: /*.ht\ndisallow: /*.h", "/page.htm", "allow", "undefined"},
		{"two wildcards tie", "allow: /*.h\ndisallow: /*ge", "/page.htm", "allow", "undefined"},
		{"wildcard ties with another", "allow: /page\ndisallow: /*age", "/page.htm", "allow", "undefined"},
		{"longer than a tie", "allow: /page\ndisallow: /page\ndisallow: /page.", "/page.htm", "disallow", "disallow"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for name, want := range map[string]string{"google-2019": row.d2019, "google-2012": row.d2012} {
				if v, _ := ask(named(t, name), []byte("user-agent: a\n"+row.rules), row.url, "a"); v.Value.String() != want {
					t.Errorf("%s: got %v, want %s", name, v.Value, want)
				}
			}
		})
	}
}

// follows lists which of the paths /1, /2, … a body forbids an agent, with a
// question mark after those that are undefined.
func follows(p *Profile, body string, n int, tokens ...string) string {
	var out []string
	for i := 1; i <= n; i++ {
		switch v, _ := ask(p, []byte(body), fmt.Sprintf("/%d", i), tokens...); v.Value {
		case Disallowed:
			out = append(out, fmt.Sprint(i))
		case Undefined:
			out = append(out, fmt.Sprint(i)+"?")
		}
	}
	return strings.Join(out, " ")
}

func TestAgentTable(t *testing.T) {
	body := "user-agent: googlebot-news\ndisallow: /1\n\nuser-agent: *\ndisallow: /2\n\nuser-agent: googlebot\n" +
		"disallow: /3\n"
	for _, row := range []struct {
		name   string
		tokens []string
		want   by
	}{
		// 1996: googlebot is a substring of googlebot-news as well, and the
		// robot "is free to choose any" of several records.
		{"Googlebot News", []string{"googlebot-news", "googlebot"}, by{"1", "1", "1", "1? 3?", "1"}},
		{"Googlebot web", []string{"googlebot"}, all("3")},
		{"Googlebot Images", []string{"googlebot-images", "googlebot"}, all("3")},
		{"Otherbot web", []string{"otherbot"}, all("2")},
		{"Otherbot News", []string{"otherbot-news"}, all("2")},
	} {
		t.Run(row.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				if got := follows(p, body, 3, row.tokens...); got != row.want.of(p.Name) {
					t.Errorf("got %q, want %q", got, row.want.of(p.Name))
				}
			})
		})
	}
}

func TestSeveralGroups(t *testing.T) {
	body := "user-agent: googlebot-news\ndisallow: /1\n\nuser-agent: *\ndisallow: /2\n\nuser-agent: googlebot-news\n" +
		"disallow: /3\n"
	// 2012: "only one group is valid", but not which one; 1996: any.
	open := "1? 3?"
	want := by{"1 3", "1 3", open, open, "1 3"}
	eachProfile(t, func(t *testing.T, p *Profile) {
		if got := follows(p, body, 3, "googlebot-news"); got != want.of(p.Name) {
			t.Errorf("got %q, want %q", got, want.of(p.Name))
		}
		if got := follows(p, body, 3, "other"); got != "2" {
			t.Errorf("other: got %q", got)
		}
		// If the candidates agree, that is the verdict.
		twice := "user-agent: a\ndisallow: /1\nuser-agent: b\ndisallow: /2\nuser-agent: a\ndisallow: /1\n"
		if got := follows(p, twice, 3, "a"); got != "1" {
			t.Errorf("twice the same: got %q", got)
		}
	})
}

func TestGroupExample(t *testing.T) {
	body := "user-agent: a\ndisallow: /1\n\nuser-agent: b\ndisallow: /2\n\nuser-agent: e\nuser-agent: f\ndisallow: /3\n" +
		"\nuser-agent: h\n\nuser-agent: *\ndisallow: /4"
	// 1996: a record begins at each user-agent line and needs a disallow, so e
	// and h have none.
	for agent, want := range map[string]by{
		"a": all("1"), "b": all("2"), "f": all("3"), "z": all("4"),
		"e": {"3", "3", "3", "4", "3"},
		// Under all other profiles the group of h continues to the next rule.
		"h": {"4", "4", "4", "4", "4"},
	} {
		eachProfile(t, func(t *testing.T, p *Profile) {
			if got := follows(p, body, 4, agent); got != want.of(p.Name) {
				t.Errorf("%s: got %q, want %q", agent, got, want.of(p.Name))
			}
		})
	}
	// 2019: "the last group is empty"; it allows, and * does not apply to h.
	last := "user-agent: *\ndisallow: /1\nuser-agent: h\n"
	want := by{"", "", "", "1", ""}
	eachProfile(t, func(t *testing.T, p *Profile) {
		if got := follows(p, last, 1, "h"); got != want.of(p.Name) {
			t.Errorf("empty last group: got %q, want %q", got, want.of(p.Name))
		}
	})
}

func TestGroupEnd(t *testing.T) {
	for _, row := range []struct {
		name, between string
		a             by // what a, the first agent, may not fetch
	}{
		{"nothing", "", by{"1", "1", "1", "", "1"}},
		{"blank", "\n\n", by{"1", "1", "1", "", "1"}},
		{"comment", "# x\n", by{"1", "1", "1", "", "1"}},
		// 2012: "directly after each other".
		{"sitemap", "sitemap: http://a/b\n", by{"1", "1", "", "", "1"}},
		{"sitemap among others", "crawl-delay: 1\nsitemap: /s\nfoo: bar\n", by{"1", "1", "", "", "1"}},
		// 2012: a field unknown to it "may be ignored".
		{"crawl-delay", "crawl-delay: 1\n", by{"1", "1", "1?", "", "1"}},
		{"unknown", "foo: bar\n", by{"1", "1", "1?", "", "1"}},
		{"typo of sitemap", "sitmap: /s\n", by{"1", "1", "1?", "", "1"}},
		// Not a field, because it is not a token (RFC 1945).
		{"HTML", "<a href=\"http://x/y\">x</a>\n", by{"1", "1", "1", "", "1"}},
		{"two words before a colon", "crawl delay: 1\n", by{"1", "1", "1", "", "1"}},
		{"not ASCII", "é: 1\n", by{"1", "1", "1", "", "1"}},
		// 2012 leaves to the crawler whether this is a record.
		{"crawl-delay without colon", "crawl-delay 1\n", by{"1", "1", "1?", "", "1"}},
		{"no record", "foo bar baz\n", by{"1", "1", "1", "", "1"}},
		{"empty disallow", "disallow:\n", all("")},
	} {
		t.Run(row.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				body := "user-agent: a\n" + row.between + "user-agent: b\ndisallow: /1\n"
				if got := follows(p, body, 1, "a"); got != row.a.of(p.Name) {
					t.Errorf("a: got %q, want %q", got, row.a.of(p.Name))
				}
				if got := follows(p, body, 1, "b"); got != "1" {
					t.Errorf("b: got %q", got)
				}
			})
		})
	}
}

func TestOddLines(t *testing.T) {
	for _, row := range []struct {
		name, body string
		want       by // 2012 leaves misspellings to the crawler
	}{
		{"typo of agent", "useragent: a\ndisallow: /1", by{"1", "", "1?", "", ""}},
		{"typo of rule", "user-agent: a\ndisalow: /1", by{"1", "", "1?", "", ""}},
		{"key prefix", "user-agent: a\ndisallowed: /1", by{"1", "", "1?", "", ""}},
		{"missing colon", "user-agent: a\ndisallow /1", by{"1", "", "1?", "", ""}},
		{"three words", "user-agent: a\ndisallow /1 x", all("")},
		{"one missing", "user-agent: a\nallow: /\ndisallw: /1", by{"", "", "1?", "", ""}},
		{"one too many", "user-agent: a\ndissalllow: /1\ndisallllow: /1", all("")}, // two edits each
		{"one inserted", "user-agent: a\ndis-allow: /1", by{"", "", "1?", "", ""}},
		{"one other", "user_agent: a\ndisallow: /1", by{"", "", "1?", "", ""}},
		{"two swapped", "user-agnet: a\ndisallow: /1", by{"", "", "1?", "", ""}},
		{"in capitals", "user-agent: a\nDISALLWO: /1", by{"", "", "1?", "", ""}},
		{"alow", "user-agent: a\ndisallow: /\nalow: /1", by{"1", "1", "1?", "1", "1"}},
		{"callow", "user-agent: a\ndisallow: /\ncallow: /1", by{"1", "1", "1?", "1", "1"}},
		{"two edits", "user-agent: a\ndisallow: /\naloww: /1\nfallows: /1", all("1")},
		{"begins almost so", "user-agent: a\ndisallow: /\nalow-path: /1", all("1")},
		{"near typo without colon", "user-agent: a\ndisallw /1", by{"", "", "1?", "", ""}},
		// A crawler may accept one spelling and not the other.
		{"two spellings", "user-agent: a\ndisallow: /2\nuseragent: b\ndissallow: /1", by{"", "", "1?", "", ""}},
		{"two spellings of agents", "user-agent: a\ndisallow: /\nuseragent: b\nuser agent: c\nallow: /1\nuser-agents: d\n" +
			"disallow: /1$",
			by{"1", "1", "1?", "1", "1"}},
		{"it does not matter", "user-agent: a\ndisallow: /1\ndissallow: /1", all("1")},
		{"two that outweigh each other", "user-agent: a\ndissallow: /1\nallowed: /1", by{"", "", "1?", "", ""}},
		// Agent line or not, a loses nothing.
		{"it matters to another", "user-agent: a\nuseragent: b\ndisallow: /1", all("1")},
		{"it divides a group", "user-agent: a\nsitemaps: http://a/b\nuser-agent: b\ndisallow: /1",
			by{"1", "1", "1?", "", "1"}},
		{"field in capitals", "USER-AGENT: a\nDISALLOW: /1", all("1")},
		{"white space", " user-agent :\ta \n\tdisallow : /1 # x", all("1")},
	} {
		t.Run(row.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				if got := follows(p, row.body, 1, "a"); got != row.want.of(p.Name) {
					t.Errorf("got %q, want %q", got, row.want.of(p.Name))
				}
			})
		})
	}
}

func TestAgentNames(t *testing.T) {
	for _, row := range []struct {
		name, value, token string
		want               by
	}{
		{"version", "a/1.2", "a", by{"1", "1", "1", "", "1"}},
		{"star", "a*", "a", by{"1", "1", "1", "", "1"}},
		// The text of the 2019 documents compares with case ("peka huruf
		// besar/kecil"), their table without.
		{"case", "A", "a", by{"1", "1?", "1", "1", "1"}},
		{"case of the crawler", "a", "A", by{"1", "1?", "1", "1", "1"}},
		{"longer name", "ab", "a", all("")},
		// 1996: "a substring of the product token".
		{"shorter name", "a", "ab", by{"", "", "", "1", ""}},
		{"digits", "MJ12bot", "MJ12bot", all("1")},
		{"digits and version", "MJ12bot/3.0", "MJ12bot", by{"1", "1", "1", "", "1"}},
		{"digits against its letters", "MJ12bot", "MJ", by{"1", "1", "1", "", "1"}},
		{"letters against digits", "MJ", "MJ12bot", by{"", "", "", "1", ""}},
		{"dots", "archive.org_bot", "archive.org_bot", all("1")},
		{"several", "x a", "a", by{"", "", "", "1", ""}},
		{"for all", "*", "a", all("1")},
		{"for all and more", "* x", "a", all("1")},
		{"star and letters", "*x", "a", all("")},
	} {
		t.Run(row.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				if got := follows(p, "user-agent: "+row.value+"\ndisallow: /1", 1, row.token); got != row.want.of(p.Name) {
					t.Errorf("got %q, want %q", got, row.want.of(p.Name))
				}
			})
		})
	}
}

// TestAgentCase: google-2019 leaves case open, and the verdict is undefined if
// the two readings differ (SPEC 4).
func TestAgentCase(t *testing.T) {
	p := named(t, "google-2019")
	for _, row := range []struct{ name, body, want string }{
		{"as the table has it", "user-agent: Bot\ndisallow: /1", "1"},
		{"no other group", "user-agent: bot\ndisallow: /1", "1?"},
		{"another group", "user-agent: bot\ndisallow: /1\nuser-agent: *\ndisallow: /2", "1? 2?"},
		{"another group that says the same", "user-agent: bot\ndisallow: /1\nuser-agent: *\ndisallow: /1", "1"},
		{"both cases", "user-agent: bot\ndisallow: /1\nuser-agent: Bot\ndisallow: /2", "1? 2"},
		{"an empty group", "user-agent: *\ndisallow: /1\nuser-agent: bot", "1?"},
		{"in one list", "user-agent: bot\nuser-agent: Bot\ndisallow: /1", "1"},
		{"the fallback in its case", "user-agent: bot\ndisallow: /1\nuser-agent: Other\ndisallow: /2", "1? 2?"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := follows(p, row.body, 2, "Bot", "Other"); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
	for match, want := range map[AgentMatch]string{MatchToken: "1", MatchTokenCase: "2"} {
		q := *p
		q.AgentMatch = match
		if got := follows(&q, "user-agent: bot\ndisallow: /1\nuser-agent: *\ndisallow: /2", 2, "Bot"); got != want {
			t.Errorf("agent_match %s: got %q, want %q", match, got, want)
		}
	}
}

func TestIgnoresStar(t *testing.T) {
	eachProfile(t, func(t *testing.T, p *Profile) {
		var f File
		f.Parse([]byte("user-agent: *\ndisallow: /"), p)
		j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}, IgnoresStar: true}, {Name: "b", Tokens: []string{"b"}}})
		j.Load(&f)
		target := p.Target("/x")
		// RFC 9309, 2.2.1, and the documents of 2012 and 2019 bind every crawler.
		if p.IgnoresStar != (p.Name == "google") {
			t.Errorf("ignores_star is %v", p.IgnoresStar)
		}
		v, policy := j.Policy(0).Judge(&target), j.Policy(0)
		if p.IgnoresStar {
			if v != (Verdict{Permitted, ReasonNoGroup, -1}) || policy.GroupAgent != "" || policy.Match != NoGroup {
				t.Errorf("got %+v, match %v", v, policy.Match)
			}
		} else if v.Value != Disallowed || policy.GroupAgent != "*" || policy.Match != StarGroup {
			t.Errorf("got %+v, match %v", v, policy.Match)
		}
		if v := j.Policy(1).Judge(&target); v.Value != Disallowed || j.Policy(1).GroupAgent != "*" {
			t.Errorf("got %+v", v)
		}
	})
}

// TestMatch checks how an agent gets its group: by its tokens, by its
// fallbacks, by *, or not at all (SPEC, "Which group").
func TestMatch(t *testing.T) {
	agents := []Agent{
		{Name: "Kagibot", Tokens: []string{"Kagibot"}, FallsBackTo: []string{"Googlebot"}, UserAgent: "Kagibot/1.0"},
		{Name: "x-image", Tokens: []string{"x-image", "x-pictures"}, FallsBackTo: []string{"x", "y"}},
	}
	const rules = "\ndisallow: /1\n"
	for _, row := range []struct {
		name, body   string
		first, other string // of each agent: match, group, line
		classic      [2]string
	}{
		{"another's name alone", "user-agent: Googlebot" + rules, "fallback Googlebot 1", "none  0",
			[2]string{"none  0", "none  0"}},
		{"another's name and *", "user-agent: *" + rules + "user-agent: Googlebot" + rules,
			"fallback Googlebot 3", "star * 1", [2]string{"star * 1", "star * 1"}},
		{"own before another's", "user-agent: Googlebot" + rules + "user-agent: Kagibot" + rules,
			"own Kagibot 3", "none  0", [2]string{"own Kagibot 3", "none  0"}},
		{"the preferred fallback", "user-agent: y" + rules + "user-agent: x" + rules, "none  0", "fallback x 3",
			[2]string{"none  0", "own x-image 3"}}, // x is part of x-image
		{"an alias is its own", "user-agent: x" + rules + "user-agent: x-pictures" + rules, "none  0", "own x-pictures 3",
			[2]string{"none  0", "own x-image 1"}},
		{"the line of the group, not of the name", "# a\nuser-agent: *\nuser-agent: Kagibot" + rules,
			"own Kagibot 2", "star * 2", [2]string{"own Kagibot 3", "none  0"}}, // 1996: each line begins a record
		{"the first of several groups", "user-agent: z" + rules + "user-agent: Kagibot" + rules + "user-agent: Kagibot" +
			rules,
			"own Kagibot 3", "none  0", [2]string{"own Kagibot 3", "none  0"}},
		{"none", "sitemap: /s\n", "none  0", "none  0", [2]string{"none  0", "none  0"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				var f File
				f.Parse([]byte(row.body), p)
				j := NewJudge(p, agents)
				want := [2]string{row.first, row.other}
				if p.AgentMatch == MatchSubstring {
					want = row.classic
				}
				for range 2 { // the second Load must not remember
					j.Load(&f)
					for i := range agents {
						policy := j.Policy(i)
						if got := fmt.Sprint(policy.Match, " ", policy.GroupAgent, " ", policy.GroupLine); got != want[i] {
							t.Errorf("%s: got %q, want %q", agents[i].Name, got, want[i])
						}
					}
				}
			})
		})
	}
}

// TestClassicPaths: "the full path to a file or directory" covers itself, with
// any query, and the paths below it; the rest is open (SPEC 6).
func TestClassicPaths(t *testing.T) {
	p := named(t, "classic-1996")
	for _, row := range []struct{ rules, url, want string }{
		{"disallow: /help", "/help", "disallow"},
		{"disallow: /help", "/help?a=b", "disallow"},
		{"disallow: /help", "/help/", "disallow"},
		{"disallow: /help", "/help/me", "disallow"},
		{"disallow: /help", "/helpers", "undefined"},
		{"disallow: /help", "/help.html", "undefined"},
		{"disallow: /help", "/hel", "allow"},
		{"disallow: /help", "/HELP", "allow"},
		{"disallow: /help", "/a/help", "allow"},
		{"disallow: /help/", "/help/me", "disallow"},
		{"disallow: /help/", "/help/?a", "disallow"},
		{"disallow: /help/", "/help", "allow"},
		{"disallow: /", "/helpers", "disallow"},
		{"disallow: /a?b", "/a?b", "disallow"},
		{"disallow: /a?b", "/a?bc", "undefined"},
		{"disallow: /help /helpers", "/helpers", "disallow"}, // either way
		{"disallow: /help /helper", "/helpers/a", "undefined"},
		{"disallow: /help*", "/helpers", "allow"}, // a star is a letter
	} {
		if v, _ := ask(p, []byte("user-agent: a\n"+row.rules), row.url, "a"); v.Value.String() != row.want {
			t.Errorf("%s on %s: got %v, want %s", row.rules, row.url, v.Value, row.want)
		}
	}
	for value, want := range map[Leniency]Value{Accept: Disallowed, Reject: Permitted} {
		q := *p
		q.BarePrefix = value
		if v, _ := ask(&q, []byte("user-agent: a\ndisallow: /help"), "/helpers", "a"); v.Value != want {
			t.Errorf("bare_prefix %s: got %v, want %v", value, v.Value, want)
		}
	}
}

// TestTies: an allow and a disallow of one length (SPEC 5).
func TestTies(t *testing.T) {
	for _, row := range []struct {
		rules, url string
		want       by
	}{
		{"allow: /a\ndisallow: /a", "/a/b", by{"allow", "allow", "undefined", "disallow", "allow"}},
		{"allow: /a\ndisallow: /a\nallow: /ab", "/ab", by{"allow", "allow", "allow", "undefined", "allow"}},
		{"allow: /a\ndisallow: /a\ndisallow: /ab", "/ab", all("disallow")},
		{"disallow: /a\ndisallow: /a", "/a", all("disallow")},
	} {
		eachProfile(t, func(t *testing.T, p *Profile) {
			if v, _ := ask(p, []byte("user-agent: a\n"+row.rules), row.url, "a"); v.Value.String() != row.want.of(p.Name) {
				t.Errorf("%q on %s: got %v, want %s", row.rules, row.url, v.Value, row.want.of(p.Name))
			}
		})
	}
}

// TestClassic1996 is the example of the document.
func TestClassic1996(t *testing.T) {
	p := named(t, "classic-1996")
	body := []byte("# two records\nUser-Agent: *\nDisallow: /\n\nUser-Agent: Lycos #\nDisallow: /cgi-bin/ /tmp/ #\n")
	var f File
	f.Parse(body, p)
	j := NewJudge(p, []Agent{
		{Name: "Lycos", UserAgent: "Lycos_Spider_(Rex)/1.0 libwww/3.1"},
		{Name: "another"},
	})
	j.Load(&f)
	for url, want := range map[string][2]Value{
		"/":          {Permitted, Disallowed},
		"/index":     {Permitted, Disallowed},
		"/cgi-bin/x": {Disallowed, Disallowed},
		"/tmp/":      {Disallowed, Disallowed},
		"/TMP/":      {Permitted, Disallowed}, // case counts
	} {
		target := p.Target(url)
		for i := range want {
			if got := j.Policy(i).Judge(&target).Value; got != want[i] {
				t.Errorf("agent %d, %s: got %v, want %v", i, url, got, want[i])
			}
		}
	}
	// A robot without a record ignores the file.
	if v, _ := ask(p, []byte("user-agent: x\ndisallow: /"), "/", "y"); v != (Verdict{Permitted, ReasonNoGroup, -1}) {
		t.Errorf("no record: got %+v", v)
	}
	// allow is not a field, and * and $ are ordinary characters.
	if got := follows(p, "user-agent: a\nallow: /\ndisallow: /*\ndisallow: /1$", 1, "a"); got != "" {
		t.Errorf("got %q", got)
	}
}
