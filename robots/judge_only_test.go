package robots

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// What a judge needs of a file is found also if that is all that is asked for, and beside a file
// that has the same body, or a part of it.
func TestJudgeOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 3))
	lines := []string{"User-agent: *", "user-agent: a", "Disallow: /a", "Allow: /b*c$", "\tContent-Usage: train-ai=n",
		"\vcOntent-Signal: /x search=no", "License: https://h/l", " license: ", "# content-usage: bots=n", "Crawl-delay: 900",
		"Sitemap: /s", "", "\xff", "Content-Usage : /p bots=y", "Lincense: https://h/l", "clean-param: a", "\x00",
		"\ufeffcontent-usage: bots=n", "License: é # <html>",
		"Disallow: /\v", "content-usage: \u2028bots=n"}
	all, one, google := new(File), new(File), new(File)
	one.JudgeOnly = true
	first := named(t, "google")
	usages := 0
	for _, name := range ProfileNames() {
		p, _ := ProfileNamed(name)
		for range 200 {
			var body []byte
			for range r.IntN(12) {
				body = append(append(body, lines[r.IntN(len(lines))]...), []string{"\n", "\r\n", "\r", "\n"}[r.IntN(4)]...)
			}
			all.Cut = r.IntN(4) == 0
			one.Cut = all.Cut
			all.Parse(body, p)
			google.Parse(body[:r.IntN(2)*len(body)], first)
			one.ParseBeside(google, body, p)
			for _, x := range [][2]any{{all.Groups, one.Groups}, {all.Agents, one.Agents}, {all.Rules, one.Rules},
				{all.Usages, one.Usages}, {all.refusedAt, one.refusedAt}, {all.Lines, one.Lines}} {
				if !reflect.DeepEqual(x[0], x[1]) {
					t.Fatalf("%s: %q: %+v, not %+v", name, body, x[1], x[0])
				}
			}
			usages += len(one.Usages)
		}
	}
	if usages < 1000 {
		t.Errorf("%d lines state a use", usages)
	}
}
