package robots

import (
	"bytes"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

var fuzzBodies = []string{
	"",
	"user-agent: *\ndisallow: /\n",
	"User-agent: a\r\nUser-Agent: b/1.0 # x\r\nDisallow: /*.php$\r\n\r\nAllow: /\rsitemap: http://a/b",
	"\xef\xbb\xbfuseragent a\ndisalow: /é%7e\nallowed: /index.html\n\x00x: y\nfoo",
	"disallow: /orphan\nuser-agent: a c *\ndisallow: /a /b\nallow: *%3A?b%2f*\ncrawl-delay: 1.5\ncontent-signal: a=b, c=d",
	"user-agent: a\ndisallow: /1\nuser-agent: a\nallow: /1\nuser-agent: MJ12bot\n noindex: /\nuser-agent: * x\nallow: /$",
}

// FuzzParse checks that nothing panics, that every span lies in its line, that
// groups and rules belong together, and that reused memory changes nothing.
func FuzzParse(f *testing.F) {
	for i, b := range fuzzBodies {
		f.Add([]byte(b), uint8(i), uint16(20*i))
	}
	var reused File
	f.Fuzz(func(t *testing.T, body []byte, profile uint8, limit uint16) {
		names := documentNames()
		p := named(t, names[int(profile)%len(names)])
		if limit > 0 {
			p.SizeLimit = int(limit)
		}
		file := File{KeepComments: true}
		file.Parse(body, p)
		checkFile(t, &file, body[:min(len(body), p.SizeLimit)], p)

		reused.KeepComments = true
		reused.Parse(body, p)
		if a, b := remarks(&file), remarks(&reused); strings.Join(a, "\n") != strings.Join(b, "\n") ||
			len(file.Rules) != len(reused.Rules) || len(file.Agents) != len(reused.Agents) {
			t.Errorf("another reading:\n%s\n%s", a, b)
		}
		for i := range file.Rules {
			if string(file.Rules[i].Normalized) != string(reused.Rules[i].Normalized) {
				t.Errorf("rule %d: %q and %q", i, file.Rules[i].Normalized, reused.Rules[i].Normalized)
			}
		}
	})
}

func checkFile(t *testing.T, f *File, body []byte, p *Profile) {
	t.Helper()
	start := bomLength(body)
	if p.Reading == LinesPlain && start < 3 {
		start = 0
	}
	lines := splitLines(body[start:])
	want := len(lines)
	if endsLine(body) {
		want-- // behind the last line end
	}
	if want != f.Lines {
		t.Fatalf("%d lines, want %d", f.Lines, want)
	}
	last := int32(0)
	in := func(what string, line int32, spans ...[]byte) {
		if line < 1 || int(line) > len(lines) {
			t.Fatalf("%s: line %d of %d", what, line, len(lines))
		}
		for _, s := range spans {
			if !strings.Contains(lines[line-1], string(s)) {
				t.Fatalf("%s: %q is not in line %d, %q", what, s, line, lines[line-1])
			}
		}
	}
	for _, r := range f.Rules {
		in("rule", r.Line, r.Pattern)
		if r.Line < last || r.Effective != (r.Length > 0) || r.Effective && r.Group < 0 {
			t.Fatalf("rule %+v", r)
		}
		last = r.Line
		if r.Group >= 0 && f.Groups[r.Group].Line > r.Line {
			t.Fatalf("rule %+v before its group", r)
		}
	}
	for _, a := range f.Agents {
		in("agent", a.Line, a.Value)
		if !bytes.HasPrefix(a.Value, a.Token) || !bytes.HasPrefix(a.Value, a.Wide) || len(a.Wide) < len(a.Token) {
			t.Fatalf("agent %q: token %q, wide %q", a.Value, a.Token, a.Wide)
		}
	}
	for _, x := range f.Sitemaps {
		in("sitemap", x.Line, x.URL)
	}
	for _, r := range f.Remarks {
		in(r.Class.String(), r.Line, r.Field, r.Value)
		if r.Group < -1 || int(r.Group) >= len(f.Groups) {
			t.Fatalf("remark %+v", r)
		}
	}
	for _, s := range f.Signals {
		in("signal", s.Line, s.Field, s.Path, s.Key, s.Value)
	}
	rule, agent := 0, 0
	for rule < len(f.Rules) && f.Rules[rule].Group < 0 {
		rule++
	}
	for i, g := range f.Groups {
		if int(g.Agents.From) != agent || int(g.Rules.From) != rule || g.Agents.To < g.Agents.From ||
			g.Rules.To < g.Rules.From {
			t.Fatalf("group %d: %+v, want agents from %d, rules from %d", i, g, agent, rule)
		}
		for k := g.Agents.From; k < g.Agents.To; k++ {
			if int(f.Agents[k].Group) != i {
				t.Fatalf("agent %d is of group %d", k, f.Agents[k].Group)
			}
		}
		for k := g.Rules.From; k < g.Rules.To; k++ {
			if int(f.Rules[k].Group) != i {
				t.Fatalf("rule %d is of group %d", k, f.Rules[k].Group)
			}
		}
		agent, rule = int(g.Agents.To), int(g.Rules.To)
	}
	if agent != len(f.Agents) || rule != len(f.Rules) {
		t.Fatalf("%d agents and %d rules are in groups, of %d and %d", agent, rule, len(f.Agents), len(f.Rules))
	}
}

// FuzzMatch compares one pattern with one path under each kind of escapes.
func FuzzMatch(f *testing.F) {
	for _, pattern := range []string{"/", "/*", "/fish*.php$", "*", "$", "/a**b", "/%7e*%3A", "/*%2F$", "/a?b=*%2a",
		"é$$", "/*aab*ab$"} {
		f.Add(pattern, "/fish/a.php?b=:/~%2f*$é", uint8(len(pattern)))
		f.Add(pattern, "/aaab?"+strings.Repeat("aab", 50), uint8(len(pattern)))
	}
	f.Fuzz(func(t *testing.T, pattern, url string, profile uint8) {
		if len(pattern) > 500 || len(url) > 500 || strings.ContainsAny(pattern, "\r\n#\x00") ||
			strings.Trim(pattern, " \t\v\f") != pattern {
			return
		}
		names := documentNames()
		p := named(t, names[int(profile)%len(names)])
		if p.Lists && strings.ContainsAny(pattern, " \t") {
			return
		}
		for _, path := range []string{string(rewrite.AppendURL(nil, URLPath(url))), URLPath(url)} {
			p := *p
			p.RobotsTxtAllowed, p.BarePrefix = false, Accept
			target := p.LiteralTarget("http://h" + path) // "//h" alone would be a host
			var file File
			file.Parse([]byte("user-agent: a\ndisallow: "+pattern), &p)
			j := NewJudge(&p, []Agent{{Tokens: []string{"a"}}})
			j.Load(&file)
			got := j.Policy(0).Judge(&target).Value
			pattern := pattern
			if p.AddSlash && pattern != "" && pattern[0] != '/' {
				pattern = "/" + pattern
			}
			var match [2]bool
			for i, letter := range []bool{false, true} {
				switch {
				case pattern == "":
				case !p.Wildcards:
					match[i] = strings.HasPrefix(path, pattern)
				case p.Escapes == EscapesRFC:
					match[i] = slowMatchRFC(pattern, slowForm(path, false, false, letter), letter)
				case p.Escapes == EscapesBoth:
					match[i] = slowMatch(string(rewrite.AppendUpperHex(nil, []byte(pattern))),
						string(rewrite.AppendUpperHex(nil, []byte(path))))
				default:
					match[i] = slowMatch(string(rewrite.AppendUpperHex(nil, []byte(pattern))), path)
				}
			}
			want := map[[2]bool]Value{{}: Permitted, {true, true}: Disallowed, {true, false}: Undefined,
				{false, true}: Undefined}[match]
			if got != want {
				t.Errorf("%s: %q on %q: got %v, want %v", p.Name, pattern, path, got, want)
			}
		}
	})
}

// FuzzPolicy checks a whole file against a direct implementation of the clauses
// and, under google, against a line-by-line walk as well. The class of the
// policy must agree with the verdict.
func FuzzPolicy(f *testing.F) {
	for i, b := range fuzzBodies {
		for k := range 5 {
			f.Add([]byte(b), "/a?b", uint8(k+5*i))
			f.Add([]byte(b), "http://h/index.html", uint8(k))
			f.Add([]byte("user-agent: a\nallow: /p\ndisallow: /*a*b$\ndisalow: /pa\nallow: /*/index.html\n"+b), "/paab",
				uint8(k))
		}
	}
	agents := []Agent{
		{Tokens: []string{"a"}},
		{Tokens: []string{"c-", "B"}},
		{Tokens: []string{"c"}, FallsBackTo: []string{"zz", "b"}},
		{Tokens: []string{"MJ12bot"}},
		{Tokens: []string{"zz"}, IgnoresStar: true},
	}
	f.Fuzz(func(t *testing.T, body []byte, url string, profile uint8) {
		if len(body) > 2000 || len(url) > 300 {
			return
		}
		names := documentNames()
		p := named(t, names[int(profile)%len(names)])
		var file File
		file.Parse(body, p)
		j := NewJudge(p, agents)
		target := p.LiteralTarget(url)
		// Twice, because a judge that reuses its memory must not remember.
		for range 2 {
			j.Load(&file)
			for i, a := range agents {
				if p.AgentMatch == MatchSubstring {
					a.Tokens, a.FallsBackTo = a.Tokens[:1], nil // it sends a single name
				}
				v := j.Policy(i).Judge(&target)
				if want, ok := slowVerdict(p, body, a, URLPath(url)); ok && v.Value != want {
					t.Fatalf("%s: agent %v, path %q: got %v (%v), want %v", p.Name, a.Tokens, target.path, v.Value, v.Reason, want)
				}
				if (v.Rule >= 0) != (v.Reason == ReasonRule || v.Reason == ReasonEmptyRule) {
					t.Fatalf("%s: %+v", p.Name, v)
				}
				if v.Reason == ReasonRule && (file.Rules[v.Rule].Kind == Allow) != (v.Value == Permitted) {
					t.Fatalf("%s: %+v by %v", p.Name, v, file.Rules[v.Rule].Kind)
				}
				class := j.Policy(i).Class()
				if !target.isRobotsTxt && (class == AllowAll && v.Value != Permitted || class == DisallowAll &&
					v.Value != Disallowed) {
					t.Fatalf("%s: agent %v, path %q: %v in a policy of class %v", p.Name, a.Tokens, target.path, v.Value, class)
				}
				if p.Name != "google" || !validToken(a.Tokens[0]) || len(a.allTokens()) > 1 || a.IgnoresStar {
					continue
				}
				line := 0
				if v.Rule >= 0 {
					line = int(file.Rules[v.Rule].Line)
				}
				if allow, n := slowGoogle(body, a.Tokens[0], string(target.path)); allow != (v.Value == Permitted) || n != line {
					t.Fatalf("agent %v, path %q: got %v line %d, want allow=%v line %d", a.Tokens, target.path, v.Value, line, allow,
						n)
				}
			}
		}
	})
}

// FuzzCompare compares two files under two profiles in both directions. The
// counterexamples are true, none of some shorter paths is one, and the two
// directions mirror each other.
func FuzzCompare(f *testing.F) {
	for i, b := range fuzzBodies {
		f.Add([]byte(b), []byte(fuzzBodies[(i+1)%len(fuzzBodies)]), "/a?b", uint8(7*i))
		f.Add([]byte("user-agent: a\ndisallow: /p*%41$\nallow: /*/index.html\n"+b), []byte("user-agent: a\nallow: /p%*\n"+b),
			"/pA/%3a", uint8(i))
	}
	f.Fuzz(func(t *testing.T, one, two []byte, url string, profiles uint8) {
		if len(one) > 500 || len(two) > 500 || len(url) > 100 {
			return
		}
		path := []byte("/")
		for i := range len(url) {
			if c := url[i]; c > ' ' && c <= '~' && c != '#' {
				path = append(path, c)
			}
		}
		names := documentNames()
		var policies [2]*Policy
		for i, body := range [][]byte{one, two} {
			p := named(t, names[int(profiles)/[]int{1, len(names)}[i]%len(names)])
			file := new(File)
			file.Parse(body, p)
			j := NewJudge(p, []Agent{{Tokens: []string{"a", "b"}}})
			j.Load(file)
			policies[i] = j.Policy(0)
		}
		a, b := policies[0], policies[1]
		c, back := Compare(a, b), Compare(b, a)
		for i, pair := range [...][2]*Counterexample{{c.Closes, back.Opens}, {c.Opens, back.Closes}} {
			w, mirrored := pair[0], pair[1]
			if c.Relation != RelationUndecided && back.Relation != RelationUndecided && ((w == nil) != (mirrored == nil) ||
				w != nil && w.Path != mirrored.Path) {
				t.Fatalf("%+v and %+v", c, back)
			}
			if w != nil {
				if x, y := a.judgePath([]byte(w.Path)), b.judgePath([]byte(w.Path)); x != w.A || y != w.B || x.Value == y.Value ||
					rank(y.Value) > rank(x.Value) != (i == 0) {
					t.Fatalf("%+v, and the verdicts are %v and %v", w, x, y)
				}
			}
			// Every prefix of the path.
			for n := 1; n <= len(path); n++ {
				x, y := rank(a.judgePath(path[:n]).Value), rank(b.judgePath(path[:n]).Value)
				if x != y && y > x == (i == 0) && (w == nil && c.Relation != RelationUndecided || w != nil &&
					shorter(string(path[:n]), w.Path) < 0) {
					t.Fatalf("%v, first %+v, and on %s the ranks are %d and %d", c.Relation, w, path[:n], x, y)
				}
			}
		}
	})
}
