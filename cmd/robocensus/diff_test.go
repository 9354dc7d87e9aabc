package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that stays the same changes for no agent but those that the runs define
// differently, in what the profile reads of them.
func TestDiffOfTheSameFiles_NoRace(t *testing.T) {
	bodies, dir := t.TempDir(), t.TempDir()
	// The tables do not hold a line of this length whole, so that without bodies its
	// meaning is undecided.
	long := "User-agent: *\nDisallow: /" + strings.Repeat("x", 17_000) + "\n"
	must(t, os.WriteFile(filepath.Join(bodies, "long.example"), []byte(long), 0o666))
	must(t, os.WriteFile(filepath.Join(bodies, "own.example"),
		[]byte("User-agent: foo\nDisallow: /a\n\nUser-agent: bar\nDisallow: /b\n"), 0o666))
	run := func(id, agents string, args ...string) {
		list := filepath.Join(t.TempDir(), "agents.yaml")
		must(t, os.WriteFile(list, []byte(agents), 0o666))
		call(t, 0, append([]string{"run", "--bodies", bodies, "--out", dir, "--run", id, "--agents", list, "--progress",
			"none"}, args...)...)
	}
	run("plain", "- {name: foo}\n")
	run("named", "- {name: foo, user_agent: Mozilla/5.0 (foo)}\n")
	run("other", "- {name: foo, tokens: [bar]}\n", "--keep-bodies")
	run("bodies", "- {name: foo}\n", "--keep-bodies")
	run("rfc", "- {name: foo}\n", "--profile", "rfc9309")
	run("both", "- {name: foo}\n", "--profile", "rfc9309,google")
	run("fetches", "- {name: foo}\n", "--profile", "google,rfc9309", "--tables", "fetches")
	for _, row := range []struct{ before, after, want string }{
		{"plain", "named", "2 hosts compared, 0 with a change"},
		{"plain", "bodies", "2 hosts compared, 0 with a change"},
		{"bodies", "other", "2 hosts compared, 0 with a change"},
		{"plain", "other", "note: the runs define the agent foo differently (the entry of foo changed: tokens: [\"foo\"], " +
			"now [\"bar\"]): their policies are compared by the later definition"},
		{"plain", "rfc", "rfc since plain: no policy is compared: 2 hosts in both runs, 0 with a change of another " +
			"kind; 0 new, 0 gone\n"},
		{"rfc", "fetches", "fetches since rfc: no policy is compared: 2 hosts in both runs, 0 with a change of another " +
			"kind; 0 new, 0 gone\n"},
		{"plain", "both", "both since plain: 2 hosts compared, "},
	} {
		if text := call(t, 0, "diff", "--out", dir, row.before, row.after); !strings.Contains(text, row.want) {
			t.Errorf("%s and %s: want %q in\n%s", row.before, row.after, row.want, text)
		}
	}
}
