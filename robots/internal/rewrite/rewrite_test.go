package rewrite

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var harmlessly = Rewriter{Requote: RequoteHarmless, Compared: ComparedDots, FoldCase: true, StarLetter: true}

// What URLs and patterns become.
func TestRewriter(t *testing.T) {
	for _, c := range []struct {
		as                   Rewriter
		url, want            string
		pattern, wantPattern string
	}{
		{as: Rewriter{Requote: RequotePath}, url: "/%7Ea%2f%25=é?é%7E", want: "/~a%2F%25%3D%C3%A9?é%7E",
			pattern: "/%7Ea%2f%25=é?é%7E", wantPattern: "/~a%2F%25=%C3%A9?é%7E"},
		{as: Rewriter{Requote: RequotePath}, url: "/a?", want: "/a", pattern: "/a*b%2a$", wantPattern: "/a*b%2A$"},
		{as: Rewriter{Requote: RequotePath}, url: "/a;b/c;%7E=?q", want: "/a%3Bb/c;%7E=?q", pattern: "/a;b/c;%7E=?q",
			wantPattern: "/a%3Bb/c;%7E=?q"},
		{as: Rewriter{Requote: RequotePath}, url: "/a;", want: "/a", pattern: "/a;", wantPattern: "/a;"},
		{as: Rewriter{Requote: RequotePath}, url: "/\xff\xe2\x82a", want: "/%EF%BF%BD%EF%BF%BDa", pattern: "http://h/a",
			wantPattern: "/http%3A//h/a"},
		{as: Rewriter{Requote: RequotePath}, url: "/a\t\r\nb", want: "/ab", pattern: "\x01 x+1.-:\t//h?\tq",
			wantPattern: "?q"},
		{as: Rewriter{Requote: RequotePath}, url: "/a ", want: "/a%20", pattern: "//a:\t/b", wantPattern: "//a%3A/b"},
		{as: Rewriter{Requote: RequotePath}, url: "/a:b", want: "/a%3Ab", pattern: "1a:/b", wantPattern: "1a%3A/b"},
		{as: Rewriter{Requote: RequoteThrough}, url: "/%7Ea%2f%25=é?é%3D*?", want: "/~a%2F%25=%C3%A9%3F%C3%A9=%2A%3F",
			pattern: "/%7E*%2f%2A$%3D?;$$", wantPattern: "/~*%2F%2A%24=%3F%3B%24$"},
		{as: Rewriter{Requote: RequoteThrough}, url: "/a\t%FF%E2%82?", want: "/a%EF%BF%BD%EF%BF%BD%3F",
			pattern: "http://h/a\t?", wantPattern: "/http%3A//h/a%09%3F"},
		{as: Rewriter{Requote: RequoteQuery}, url: "/a\tb", want: "/ab", pattern: "/a\tb", wantPattern: "/a%09b"},
		{as: Rewriter{Requote: RequoteUnfit, Compared: ComparedWHATWG}, url: "/.\t./a \x00", want: "/a", pattern: "/a\tb",
			wantPattern: "/a%09b"},
		{as: Rewriter{Requote: RequoteValid}, url: "/a\tb", want: "/a%09b", pattern: "/a\tb", wantPattern: "/a%09b"},
		{as: Rewriter{Requote: RequoteQuery}, url: "/a%2Fb=?c%3D=d%26&e/?", want: "/a/b%3D?c%3D=d%26&e/%3F",
			pattern: "/a%2Fb*$?c*%2A&d=%26", wantPattern: "/a/b*$?c*%2A&d=%26"},
		{as: Rewriter{Requote: RequoteQuery, DoubleSlash: true}, url: "//a//b", want: "////a//b", pattern: "//a",
			wantPattern: "//a"},
		{as: Rewriter{Requote: RequoteUnreserved}, url: "/%7e%2f[a b", want: "/~%2F%5Ba%20b", pattern: "/%7e%2f[a b%*",
			wantPattern: "/~%2F%5Ba%20b%25*"},
		{as: Rewriter{Requote: RequoteUnreserved, InvalidIsRoot: true}, url: "/a|b", want: "/", pattern: "/a",
			wantPattern: "/a"},
		{as: Rewriter{Requote: RequoteUnreserved, InvalidIsRoot: true}, url: "/a?[]", want: "/a?%5B%5D", pattern: "/a",
			wantPattern: "/a"},
		{as: Rewriter{Requote: RequoteUnreserved, InvalidIsRoot: true}, url: "/[", want: "/", pattern: "/a",
			wantPattern: "/a"},
		{as: Rewriter{Requote: RequoteUnreserved, InvalidIsRoot: true}, url: "/%4", want: "/", pattern: "/a",
			wantPattern: "/a"},
		{as: Rewriter{Requote: RequoteUnfit, Compared: ComparedWHATWG, EmptyQueryLost: true}, url: `/a/./b\..%7e"{'?'{|`,
			want: "/a/b/..%7E%22%7B'?%27{|", pattern: `/%7e"{'[`, wantPattern: "/%7E%22%7B'%5B"},
		{as: Rewriter{Requote: RequoteUnfit, Compared: ComparedWHATWG, EmptyQueryLost: true}, url: "/a/b/.%2E/c?",
			want: "/a/c", pattern: "/a?", wantPattern: "/a?"},
		{as: Rewriter{Requote: RequoteUnfit, Compared: ComparedWHATWG, EmptyQueryLost: true}, url: "/b/a/..?q",
			want: "/b/?q", pattern: "/b/.", wantPattern: "/b/."},
		{as: Rewriter{Requote: RequoteUnfit, Compared: ComparedWHATWG, EmptyQueryLost: true}, url: "/b/a/.", want: "/b/a/",
			pattern: "/b/.", wantPattern: "/b/."},
		{as: Rewriter{Requote: RequoteUnfit, Compared: ComparedWHATWG, EmptyQueryLost: true}, url: "/../a/..", want: "/",
			pattern: "/..", wantPattern: "/.."},
		{as: Rewriter{Requote: RequoteValid}, url: "/a%3F;/%3F;?%3F", want: "/a%3F;/?;??", pattern: "/*;%3F",
			wantPattern: "/*;?"},
		{as: Rewriter{Requote: RequoteValid}, url: "/%24%3F?%3F%7C", want: "/$%3F??%7C", pattern: "/%24", wantPattern: "/$"},
		{as: Rewriter{Requote: RequotePlain, Compared: ComparedPath}, url: "/%2f%20%25?q", want: "/%2f %",
			pattern: "/%2f%20", wantPattern: "/%2f "},
		{as: harmlessly, url: "/A%7e%2F%2a*%E6%97%A5%e6%97?%41é\"*", want: "/a~%2f%2a\x01日%e6%97?%41%c3%a9%22\x01",
			pattern: "/A%7e*日\t", wantPattern: "/a%7e\x01日\x02"},
		{as: harmlessly, url: "/a/%2e%2E/b/./.", want: "/b/.", pattern: "/..", wantPattern: "/.."},
		{as: harmlessly, url: "/a/..?b/../", want: "/a/..?b/../", pattern: "/.", wantPattern: "/."},
		{as: harmlessly, url: `/../a\b/..`, want: "/a/", pattern: `\`, wantPattern: `\`},
		{as: Rewriter{Requote: RequoteWhole}, url: "/%61%3f=%E2%82%23%3f", want: "/a%3F%3D%EF%BF%BD%23%3F",
			pattern: "%20//?%23", wantPattern: ""},
		{as: Rewriter{Requote: RequoteWhole}, url: "/a%09;b/c;%3F%23", want: "/a%3Bb/c", pattern: "///x%3F",
			wantPattern: "/x"},
		{as: Rewriter{Requote: RequoteWhole}, url: "/%2f;", want: "//", pattern: "/%2F&;", wantPattern: "//%26%3B"},
		{as: Rewriter{Requote: RequoteWhole}, url: "/a;?b;", want: "/a%3Fb%3B", pattern: "//h;x/a;?b#",
			wantPattern: "//h%3Bx/a%3Fb"},
		{as: Rewriter{Requote: RequoteWhole}, url: "/a?", want: "/a", pattern: "//h/x;", wantPattern: "//h/x"},
		{
			as:  Rewriter{Requote: RequoteWhole, FoldCase: true},
			url: "/Ab%3d", want: "/ab%3d", pattern: "/Ab%3d", wantPattern: "/ab%3d",
		},
		{as: Rewriter{Requote: RequotePath, PatternIsURL: true}, url: "/a=", want: "/a%3D", pattern: "//h/a=$",
			wantPattern: "/a%3D$"},
		{as: Rewriter{}, url: "/%7e?", want: "/%7e?", pattern: "/%7e", wantPattern: "/%7e"},
	} {
		if got := c.as.URL([]byte(c.url)); string(got) != c.want {
			t.Errorf("%+v: the URL %s becomes %s, want %s", c.as, c.url, got, c.want)
		}
		if got := c.as.Pattern([]byte(c.pattern), true); string(got) != c.wantPattern {
			t.Errorf("%+v: the pattern %s becomes %s, want %s", c.as, c.pattern, got, c.wantPattern)
		}
	}
}

// drawRewriter returns any mix of what rewriters do.
func drawRewriter(r *rand.Rand) Rewriter {
	as := Rewriter{
		Requote: []Requote{"", RequotePath, RequoteThrough, RequoteQuery, RequoteUnreserved, RequoteUnfit, RequoteValid,
			RequotePlain, RequoteHarmless, RequoteWhole}[r.IntN(10)],
		Compared: []Compared{"", ComparedPath, ComparedDots, ComparedWHATWG}[r.IntN(4)],
	}
	for _, field := range []*bool{&as.EmptyQueryLost, &as.DoubleSlash, &as.InvalidIsRoot, &as.PatternIsURL, &as.FoldCase,
		&as.StarLetter} {
		*field = r.IntN(3) == 0
	}
	return as
}

// Of all guesses about a path exactly one sequence is right: with it the symbols become what
// the URL becomes. A path with dot segments has none where they are resolved. In a mix that is
// sequential, several may be right, which say the same. A state can be packed at any time.
func TestOneGuessIsRight(t *testing.T) {
	rewriters := []Rewriter{
		{Requote: RequotePath}, {Requote: RequotePath, DoubleSlash: true}, {Requote: RequoteQuery, DoubleSlash: true},
		{Requote: RequoteUnreserved, InvalidIsRoot: true},
		{Requote: RequoteUnfit, Compared: ComparedWHATWG, EmptyQueryLost: true}, {Requote: RequoteValid},
		{Requote: RequotePlain, Compared: ComparedPath},
		{Requote: RequoteHarmless, Compared: ComparedDots, FoldCase: true, StarLetter: true}, {Requote: RequoteWhole},
		{Requote: RequoteThrough},
		{Requote: RequoteWhole, FoldCase: true},
	}
	pieces := strings.Fields(
		`/ / a . .. ; ; ? % %4 %41 %2F %2e %E2 %82 %ac %F0%9F%98 %E0%80%80 %E0%A0%80 %ED%A0%80 %F0%80%80%80 %F4%90%80%80 [ | = & \ %80 \\ %3B %C3%A9 A * %2A %3F %23 %09 %2f`)
	r := rand.New(rand.NewPCG(34, 1))
	for n := range 100_000 {
		as := rewriters[r.IntN(len(rewriters))]
		mixed := n%2 == 0
		if mixed {
			as = drawRewriter(r)
		}
		if !as.IsSequential() {
			continue
		}
		path := []byte("/")
		for range r.IntN(7) {
			path = append(path, pieces[r.IntN(len(pieces))]...)
		}
		var found []string
		if as.guess(path, State{}, false, nil, &found); mixed {
			found = slices.Compact(found)
		}
		want := []string{string(as.URL(path))}
		if dotted := withoutDotSegments(path); as.Compared == ComparedDots &&
			!bytes.Equal(dotted, bytes.ReplaceAll(path, []byte(`\`), []byte("/"))) {
			if before, _, _ := bytes.Cut(path, []byte("?")); !bytes.Equal(withoutDotSegments(before),
				bytes.ReplaceAll(before, []byte(`\`), []byte("/"))) && len(dotted) < len(path) {
				want = nil
			}
		}
		if as.Compared == ComparedWHATWG && !bytes.Equal(WithoutDots(path), bytes.ReplaceAll(path, []byte(`\`),
			[]byte("/"))) {
			if before, _, _ := bytes.Cut(path, []byte("?")); !bytes.Equal(WithoutDots(before),
				bytes.ReplaceAll(before, []byte(`\`), []byte("/"))) {
				want = nil
			}
		}
		if !slices.Equal(found, want) {
			t.Fatalf("%+v: %s becomes %q, want %q", as, path, found, want)
		}
	}
}

// guess collects what a path becomes with each sequence of guesses that is not refused.
func (r *Rewriter) guess(rest []byte, s State, query bool, out []byte, found *[]string) {
	if len(rest) == 0 {
		if r.Ends(&s) {
			*found = append(*found, string(out))
		}
		return
	}
	symbol, after := Cut(rest)
	guesses := r.Guesses(&s, &symbol, query)
	if guesses == nil {
		guesses = []Guess{AsUsual}
	}
	for _, symbol.Guess = range guesses {
		if next, state, ok := r.Next(slices.Clone(out), Unpack(s.Pack()), symbol); ok {
			r.guess(after, state, query || symbol.Is('?'), next, found)
		}
	}
}

// A pattern lies in the body of a file, which rewriting leaves as it is.
func TestPatternsStayInTheirFile(t *testing.T) {
	for _, requote := range []Requote{RequotePath, RequoteThrough, RequoteQuery, RequoteUnreserved, RequoteUnfit,
		RequoteValid, RequotePlain, RequoteHarmless, RequoteWhole} {
		for _, pattern := range []string{"/a;?q", "/a$", "/a;b?c", "/A?b", "/a?"} {
			body := []byte(pattern + "\nAllow: /b\n")
			as := Rewriter{Requote: requote, FoldCase: true}
			as.Pattern(body[:len(pattern)], true)
			if string(body) != pattern+"\nAllow: /b\n" {
				t.Errorf("%s of %q leaves %q", requote, pattern, body)
			}
		}
	}
}

// A path that is plain is what the slow way makes of it.
func TestPlainPathsStay(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	kept := 0
	for range 20_000 {
		as := drawRewriter(r)
		path := []byte("/")
		for range r.IntN(6) {
			path = append(path, "a/Z.9-_/b~?=&*%;"[r.IntN(10+r.IntN(7))])
		}
		if !as.keeps(path) {
			continue
		}
		if kept++; string(as.url(path)) != string(path) {
			t.Fatalf("%+v makes %q of %q", as, as.url(path), path)
		}
	}
	if kept < 4000 {
		t.Errorf("%d paths are plain", kept)
	}
}

// What is left over of stars in a row.
func TestOneStar(t *testing.T) {
	for pattern, want := range map[string]string{"": "", "/a": "/a", "**": "*", "/a***b*c**": "/a*b*c*"} {
		if got := OneStar([]byte(pattern)); string(got) != want {
			t.Errorf("%s becomes %s, want %s", pattern, got, want)
		}
	}
}
