package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/usage"
)

// linesOfUse are lines to change: each mechanism, with what its grammar knows and what it
// does not.
var linesOfUse = []string{
	"Content-Usage: train-ai=n, search=y", "content-usage: /a/ train-ai=y", "Content-Usage: /*.php$ train-ai=n;q=\"a,b\"",
	"Content-Usage: foo=(a b);q=1, train-ai=n",
	"Content-Usage: train-ai=n, note=%\"a#b\"", "Content-Usage: train-ai=y, train-ai=n",
	"Content-Signal: search=yes, ai-train=no, use=reference", "Content-signal: AI-Train = No,, ai-input=yes",
	"License: https://l.example/x?y", "license: /terms",
}

// partsOfUse are what a change may put into a line.
var partsOfUse = []string{
	",", "=", ";", "\"", "%", "(", ")", "/", "*", "$", "#", ":", "?1", "\t", " ", "\x00", "\\", "\xff", "\xc3\xa9", "n",
	"y", "yes", "no", "train-ai", "ai-train", "search", "ai-input", "use=full", "@1", ":YQ==:",
	"Disallow: /", "User-agent: Bot", "-1.5", "1000000000000000", "%c3%a9\"", "https://",
}

// mutated changes the value of a line in one to four places.
func mutated(r *rand.Rand, line string) string {
	field, value, _ := strings.Cut(line, ":")
	for range 1 + r.IntN(4) {
		i := r.IntN(len(value) + 1)
		k := min(len(value), i+r.IntN(4))
		switch r.IntN(4) {
		case 0:
			value = value[:i] + value[k:]
		case 1:
			value = value[:i] + partsOfUse[r.IntN(len(partsOfUse))] + value[i:]
		case 2:
			value = value[:i] + partsOfUse[r.IntN(len(partsOfUse))] + value[k:]
		case 3:
			value = value[:k] + value[i:] // again
		}
	}
	return field + ":" + value
}

// Lines about use that somebody changed never panic, never change a verdict under the
// profiles of documents, and say the same when they are read again, or stand twice. Of a
// list of agents a field that the document of 2012 does not know may be the end, so there
// the line does not stand.
func TestMutatedLinesOfUse(t *testing.T) {
	lines := 1_000_000
	if testing.Short() {
		lines = 4000
	}
	agents := []Agent{{Name: "Bot", Tokens: []string{"Bot"}}, {Name: "Other", Tokens: []string{"Other"}}}
	paths := []string{"/a/b", "/x.php", "/%C3%A9?q=1"}
	parts := []string{"", "user-agent: Other\n", "user-agent: Bot\ndisallow: /x\n",
		"allow: /x.php\n\nuser-agent: *\ndisallow: /a/c\n"}
	whole := strings.Join(parts, "")
	stated := 0
	for _, name := range []string{"google", "google-2019", "google-2012", "classic-1996", "rfc9309"} {
		p := named(t, name)
		judge := NewJudge(p, agents)
		var targets []Target
		for _, path := range paths {
			targets = append(targets, p.Target(path))
		}
		var file File
		read := func(body string) (verdicts, uses string, said int) {
			file.Parse([]byte(body), p)
			judge.Load(&file)
			for i := range agents {
				for k := range targets {
					v := judge.Policy(i).Judge(&targets[k])
					verdicts += fmt.Sprint(v.Value, v.Reason, " ")
					u, ok := judge.Policy(i).Uses(&targets[k], vocabulary)
					for _, s := range u.Stated {
						said += int(s.Preference)
					}
					uses += fmt.Sprint(u.Stated[usage.AITrain].Preference, u.Stated[usage.AIInput].Preference,
						u.Stated[usage.Search].Preference, u.Level, ok, " ")
				}
				uses += fmt.Sprint(judge.Policy(i).Stances(vocabulary), " ")
			}
			return verdicts, uses, said
		}
		want, _, _ := read(whole)
		r := rand.New(rand.NewPCG(35, uint64(len(name))))
		for n := range lines / 5 {
			line := mutated(r, linesOfUse[n%len(linesOfUse)]) + "\n"
			at := [...]int{0, 1, 2, 3, 3, 3, 4}[r.IntN(7)] // most often where it is read
			if at == 2 && (name == "google-2012" || name == "classic-1996") {
				at = 3
			}
			head, tail := strings.Join(parts[:at], ""), strings.Join(parts[at:], "")
			verdicts, uses, said := read(head + line + tail)
			stated += min(said, 1)
			if verdicts != want {
				t.Fatalf("%s: %q changes the verdicts of\n%s\nto %s, want %s", name, line, head+line+tail, verdicts, want)
			}
			if _, again, _ := read(head + line + tail); again != uses {
				t.Fatalf("%s: %q says %s, then %s", name, line, uses, again)
			}
			if _, twice, _ := read(head + line + line + tail); twice != uses {
				t.Fatalf("%s: %q says %s, and standing twice %s", name, line, uses, twice)
			}
		}
	}
	t.Logf("%d lines, of which %d state something", lines, stated)
	if stated < lines/10 {
		t.Error("too few lines state anything for the test to show much")
	}
}
