package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/usage"
)

// What an allow rule with a star opens has uses that no pattern alone shows.
func TestStancesWherePatternsMeet(t *testing.T) {
	const open = "User-agent: *\nDisallow: /\nAllow: /*.html\n"
	for _, row := range []struct {
		file string
		want Stance
	}{
		{open + "Content-Usage: /news/ train-ai=n\n", StancePartial},
		{open + "Content-Usage: train-ai=n\nContent-Usage: /news/ train-ai=y\n", StancePartial},
		{open + "User-agent: Google-Extended\nDisallow: /news/\n", StancePartial},
		{open + "User-agent: Google-Extended\nDisallow: /*.htm\n", StanceDisallow},
		{open + "Content-Usage: /*.html train-ai=n\n", StanceDisallow},
		{"User-agent: *\nDisallow: /\nAllow: /*a\nContent-Signal: ai-train=yes\nContent-Usage: /a train-ai=n\n",
			StancePartial},
		{"User-agent: *\nDisallow: /\nAllow: /*b/\nContent-Signal: ai-train=yes\n\nUser-agent: Google-Extended\n" +
			"Disallow: /\nAllow: /b\n", StancePartial},
		{"User-agent: Other\nContent-Usage: /news/ train-ai=n\nDisallow:\n" + open +
			"Content-Usage: train-ai=y\nContent-Usage: /news$ train-ai=n\n", StanceAllow},
		{"User-agent: *\nAllow: /*b/\nDisallow: /bb\nContent-Usage: /bb train-ai=n\n", StancePartial},
		{"User-agent: *\nAllow: /*b$\nDisallow: /bbbb\nContent-Usage: /bbbb train-ai=n\n", NoStance},
	} {
		for _, name := range []string{"google", "google-2019", "rfc9309", "protego"} {
			if name == "google-2019" && strings.Contains(row.file, "bb") {
				continue // where such an allow leaves the verdict open
			}
			if name == "protego" && strings.Contains(row.file, "$") {
				continue // to which it is a letter too
			}
			p := named(t, name)
			var f File
			f.Parse([]byte(row.file), p)
			j := NewJudge(p, []Agent{{Tokens: []string{"Bot"}}, {Tokens: []string{"Google-Extended"}}})
			j.Load(&f)
			got := j.Policy(0).Stances(vocabulary, TokenPolicy{Policy: j.Policy(1), Uses: []usage.Use{usage.AITrain}})
			if got[usage.AITrain] != row.want {
				t.Errorf("%s: %q: %q, want %q", name, row.file, got[usage.AITrain], row.want)
			}
		}
	}
}

// A stance is what all paths say of a use: those of up to eight bytes here.
func TestStancesByPaths(t *testing.T) {
	files := 3000
	if testing.Short() {
		files = 300
	}
	paths := []string{"/"}
	for i := 0; len(paths[i]) < 8; i++ {
		for _, c := range "ab/" {
			paths = append(paths, paths[i]+string(c))
		}
	}
	r := rand.New(rand.NewPCG(9, 56))
	pattern := func() string {
		text := "/"
		for range r.IntN(3) {
			text += []string{"a", "b", "/", "*"}[r.IntN(4)]
		}
		return text + []string{"", "", "", "$"}[r.IntN(4)]
	}
	partial := 0
	for _, name := range []string{"google", "rfc9309", "google-2019"} {
		p := named(t, name)
		j := NewJudge(p, []Agent{{Tokens: []string{"Bot"}}, {Tokens: []string{"X"}}})
		var targets []Target
		for _, path := range paths {
			targets = append(targets, p.Target(path))
		}
		var f File
		for range files / 3 {
			var b strings.Builder
			b.WriteString("User-agent: *\n")
			for range 1 + r.IntN(3) {
				fmt.Fprintf(&b, "%s: %s\n", []string{"Allow", "Disallow"}[r.IntN(2)], pattern())
			}
			for range r.IntN(3) {
				fmt.Fprintf(&b, "Content-Usage: %s %s=%c\n", pattern(), []string{"train-ai", "search"}[r.IntN(2)], "yn"[r.IntN(2)])
			}
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, "Content-Signal: search=%s\n", []string{"yes", "no"}[r.IntN(2)])
			}
			b.WriteString("User-agent: X\n")
			for range r.IntN(3) {
				fmt.Fprintf(&b, "%s: %s\n", []string{"Allow", "Disallow"}[r.IntN(2)], pattern())
			}
			f.Parse([]byte(b.String()), p)
			j.Load(&f)
			token := TokenPolicy{Policy: j.Policy(1), Uses: []usage.Use{usage.AITrain, usage.AIInput}}
			var seen [usage.NumUses][3]bool
			for i := range targets {
				if u, ok := j.Policy(0).Uses(&targets[i], vocabulary, token); ok {
					for use, s := range u.Stated {
						seen[use][s.Preference] = true
					}
				}
			}
			got := j.Policy(0).Stances(vocabulary, token)
			for use := range usage.Use(usage.NumUses) {
				want := stanceOf(seen[use])
				if got[use] != want {
					t.Errorf("%s: %s of\n%s\n%q, want %q", name, use, b.String(), got[use], want)
				}
				if want == StancePartial {
					partial++
				}
			}
		}
	}
	if partial < files/10 {
		t.Errorf("only %d stances are partial", partial)
	}
}
