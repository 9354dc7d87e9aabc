package robots

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A digest is of the tokens in lower case, sorted, and of the rules in the file's order, for
// one token and for several, whatever letters a dialect reads as part of a token.
func TestGroupDigest(t *testing.T) {
	for _, head := range []string{"User-agent: GPTBot\n", "User-agent: *\n", "User-agent: ÄBot\n",
		"User-agent: B\nUser-agent: a\nUser-agent: C\n"} {
		for _, name := range ProfileNames() {
			p := named(t, name)
			if p.ByAgent {
				continue
			}
			var f File
			f.Parse([]byte(head+"Disallow: /X # why\nAllow: /y\n"), p)
			if len(f.Groups) != 1 {
				continue // ÄBot is no token
			}
			var tokens []string
			for _, a := range f.Agents {
				tokens = append(tokens, strings.ToLower(string(a.Wide)))
			}
			slices.Sort(tokens)
			text := ""
			for _, token := range tokens {
				text += "user-agent: " + token + "\n"
			}
			for _, r := range f.Rules {
				text += r.Kind.String() + ": " + string(r.Pattern) + "\n"
			}
			if got, want := f.GroupDigest(0), fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:32]; got != want {
				t.Errorf("%s: %q: %s, want %s", name, head, got, want)
			}
		}
	}
	var f File
	f.Parse([]byte("user-agent: GPTBot\ndisallow: /\n"), named(t, "google"))
	if got, want := f.GroupDigest(0), fmt.Sprintf("%x",
		sha256.Sum256([]byte("user-agent: gptbot\ndisallow: /\n")))[:32]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A comment and no record; a sitemap is one, and so is a field that nobody knows.
func TestOnlyComments(t *testing.T) {
	for body, want := range map[string]bool{
		"# a": true, "\n \n#\n": true, "# a\n<html>": true, "": false, "\n": false, "text": false,
		"# a\nUser-agent: x\n":     false,
		"# a\nSitemap: https://x/": false, "# a\nCrawl-delay: 5\n": false, "# a\nFoo: bar\n": false,
		"# a\nContent-Signal: search=yes\n": false, "# a\nDisallow: /\n": false,
	} {
		f := new(File)
		f.Parse([]byte(body), named(t, "google"))
		if got := f.OnlyComments(); got != want {
			t.Errorf("%q: %t, want %t", body, got, want)
		}
	}
}
