package check

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots"
)

// Lines are found once, however many are shown: the second does not need the file.
func TestLinesAreFoundOnce(t *testing.T) {
	l := fileLines{body: []byte("a\r\n\tb \x1b[2J\rc\n")}
	if got := l.text(1); got != "line 1: a" {
		t.Errorf("got %q", got)
	}
	l.body = nil
	for n, want := range map[int32]string{2: "line 2: b \\u001b[2J", 3: "line 3: c", 9: "line 9: "} {
		if got := l.text(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What a parser refuses is not what a document leaves open, whatever a refused file means.
func TestRefusedFile(t *testing.T) {
	for body, line := range map[string]int{
		"User-agent: *\nCrawl-delay: ten\nDisallow: /x": 2,
		"Disallow: /a\nUser-agent: *\nDisallow: /x\n":   1,
		"User-agent: a\nDisallow: /\n\nCrawl-delay:\n":  0, // no pair of words
	} {
		temoto, _ := robots.ProfileNamed("temoto")
		google, _ := robots.ProfileNamed("google")
		agent := robots.Agent{Name: "GPTBot", Tokens: []string{"GPTBot"}}
		for _, profiles := range [][]*robots.Profile{{temoto}, {google, temoto}} {
			var out bytes.Buffer
			e := newExplainer(&out, profiles, agent)
			e.load(fileCapture([]byte(body)))
			e.explain("/x")
			want := fmt.Sprintf("temoto refuses the file, for line %d: ", line)
			if profiles[0] == google {
				want = fmt.Sprintf("undefined   under temoto: the parser refuses the file, for line %d\n", line)
			}
			if got := out.String(); strings.Contains(got, want) != (line > 0) || strings.Contains(got, "leaves a choice") {
				t.Errorf("%q: got\n%s", body, got)
			}
		}
	}
}
