package robots

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/usage"
)

// Every example in the text of draft-ietf-aipref-attach-05, as a file, or a header.
func TestExamplesOfAttach(t *testing.T) {
	const introduction = "User-Agent: *\nAllow: /\nContent-Usage: train-ai=n\n" // 1.2
	const example = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n" +
		"Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: train-ai=y\n" // 3.4
	for _, row := range []struct{ section, file, agent, path, want string }{
		{"1.2", introduction, "ExampleBot", "/", "d3u u u"},
		{"3.4", example, "Other", "/test", "d4u u u"},
		{"3.4", example, "Other", "/never/test", "shut"},
		{"3.4", example, "Other", "/ai-ok/test", "a5u u u"},
		{"3.4: all content", example, "ExampleBot", "/test", "a9u u u"},
		{"3.4: all content", example, "ExampleBot", "/never/test", "a9u u u"},
		{"3.4: all content", example, "ExampleBot", "/ai-ok/test", "a9u u u"},
	} {
		if got := short(askUses(named(t, "google"), row.file, "http://a"+row.path, row.agent)); got != row.want {
			t.Errorf("%s: %s %s: %s, want %s", row.section, row.agent, row.path, got, row.want)
		}
	}
	value := "train-ai=n" // of the response in 1.2
	got := vocabulary.OfPage([]usage.HeaderField{{Name: "content-usage", Value: &value}})
	if len(got) != 1 || got[0].Use != usage.AITrain || got[0].Preference != usage.Refuses {
		t.Errorf("1.2: header: %+v, want a refusal of ai-train", got)
	}
}

// The sentences of draft-ietf-aipref-attach-05 about the rule, section 3.
func TestClausesOfAttach(t *testing.T) {
	const star = "user-agent: *\n"
	for _, row := range []struct{ clause, file, path, want string }{
		{"3: the path may be absent", star + "content-usage: train-ai=n", "/", "d2u u u"},
		{"3: a tab separates the path", star + "content-usage: /a\ttrain-ai=n", "/a", "d2u u u"},
		{"3: more than one space separates the path", star + "content-usage: /a  \t train-ai=n", "/a", "d2u u u"},
		{"3.1: order carries no semantics", star + "content-usage: /a train-ai=y\nallow: /a\ncontent-usage: train-ai=n\n" +
			"disallow: /b", "/a", "a2u u u"},
		{"3.1: order carries no semantics", star + "content-usage: train-ai=n\ndisallow: /b\ncontent-usage: /a train-ai=y\n" +
			"allow: /a", "/a", "a4u u u"},
		{"3.1: the path is a prefix", star + "content-usage: /a train-ai=n", "/ab", "d2u u u"},
		{"3.1: a space in a path is %20", star + "content-usage: /a%20b train-ai=n", "/a%20b", "d2u u u"},
		{"3.1: a tab in a path is %09", star + "content-usage: /a%09b train-ai=n", "/a%09b", "d2u u u"},
		{"3.1: a space ends the path", star + "content-usage: /a b train-ai=n", "/a%20b", "u u u"},
		{"3.1: equal paths apply separately", star + "content-usage: /a train-ai=y, search=y\ncontent-usage: /a train-ai=n",
			"/a", "d3u u a2u"},
		{"3.1: what is closed has no preference", star + "disallow: /a\ncontent-usage: /a train-ai=n", "/a", "shut"},
		{"3.2: white space around label and colon", star + " \t content-usage \t : \t train-ai=n \t ", "/", "d2u u u"},
		{"3.2: the label has any case", star + "CONTENT-USAGE: train-ai=n", "/", "d2u u u"},
		{"3.2: up to CR", star + "content-usage: train-ai=n\rcontent-usage: search=n", "/", "d2u u d3u"},
		{"3.2: up to LF", star + "content-usage: train-ai=n\ncontent-usage: search=n", "/", "d2u u d3u"},
		{"3.2: up to #", star + "content-usage: train-ai=n#, search=n", "/", "d2u u u"},
		{"3.2: up to #, in the path too", star + "content-usage: /a#b train-ai=n", "/a", "u u u"},
		{"3.2: another first character is no path", star + "content-usage: a/ train-ai=n", "/a/", "u u u"},
		{"3.2: an asterisk is no path", star + "content-usage: */a train-ai=n", "/a", "u u u"},
		{"3.2: the statement is bytes", star + "content-usage: train-ai=n, \xc3\xa9=y", "/", "u u u"},
	} {
		if got := short(askUses(named(t, "google"), row.file, "http://h"+row.path, "Bot")); got != row.want {
			t.Errorf("%s: %q on %s: %s, want %s", row.clause, row.file, row.path, got, row.want)
		}
	}
}

// Every example in the text of draft-ietf-aipref-vocab-07, and those of its predecessors
// as far as they differ: what they say of ai-train and search under the labels of today.
// Of 07, 6.5.2, the second does not parse by the letter of RFC 9651 (a parameter needs a
// key behind its semicolon); its preference is unknown in both readings.
func TestExamplesOfVocab(t *testing.T) {
	for _, row := range []struct{ section, value, train, search string }{
		{"07, 6", "train-ai=y, search=n", "a", "d"},
		{"07, 6.5.1", `train-ai=y, train-ai, search=n, search="n"`, "u", "u"},
		{"07, 6.5.2", "train-ai;allow=n, train-ai=y", "a", "u"},
		{"07, 6.5.2", `train-ai;has;parameters="?";`, "u", "u"},
		{"07, 6.5: upper case", "Train-AI=y, search=n", "u", "u"},
		{"07, 6.5: no token", "train-ai=1, search=?1", "u", "u"},
		{"07, 6.5: another token", "train-ai=yes, search=no", "u", "u"},
		{"07, 6.4: unknown labels and parameters", "x=y, train-ai=n;x=y, *a.b_c-d=n, search=y;z", "d", "a"},
		{"05, 6.5", `train-ai=y, train-ai="n", search=n, search`, "u", "u"},
		{"04, 6.5", `train-ai=y, train-ai="n", search=n, search, bots=n, bots=()`, "u", "u"},
		{"04, 6", "bots=y, train-ai=n", "d", "u"},
		{"03, 6", "train-ai=y, train-genai=n", "a", "u"},
		{"03, 6.5", `train-ai=y, train-ai="n", train-genai=n, train-genai, bots=n, bots=()`, "u", "u"},
		{"02, 6.5", `train-ai=y, train-ai="n", train-genai=n, train-genai, all=n, all=()`, "u", "u"},
		{"01, 6", "ai=y, genai=n", "u", "u"},
		{"01, 6.5", `ai=y, ai="n", genai=n, genai, tdm=n, tdm=()`, "u", "u"},
	} {
		got := short(askUses(named(t, "google"), "user-agent: *\ncontent-usage: "+row.value+"\n", "http://a/x", "Bot"))
		cell := map[string]string{"d": "d2u", "a": "a2u", "u": "u"}
		if want := cell[row.train] + " u " + cell[row.search]; got != want {
			t.Errorf("vocab-%s: %q: %s, want %s", row.section, row.value, got, want)
		}
	}
}

// Files that contentsignals.org and Cloudflare's documentation show, and the example
// of RSL's guide for robots.txt.
func TestExamplesOfSignalsAndLicenses(t *testing.T) {
	const managed = "# BEGIN Cloudflare Managed content\n\nUser-Agent: *\n%s\nAllow: /\n\nUser-agent: GPTBot\n" +
		"Disallow: /\n\n# END Cloudflare Managed Content\nUser-agent: *\nDisallow: /lp\nDisallow: /feedback\n" +
		"Disallow: /langtest\n\nSitemap: https://www.crawlstop.com/sitemap.xml\n"
	with := func(line string) string { return strings.Replace(managed, "%s", line, 1) }
	for _, row := range []struct{ source, file, path, want string }{
		{"contentsignals.org", "User-Agent: *\nContent-Signal: ai-train=no, search=yes, ai-input=yes\nAllow: /\n", "/",
			"d2s a2s a2s"},
		{"the blog of 2025", "User-Agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n", "/", "d2s u a2s"},
		{"the managed block of 2025, before a file", with("Content-signal: search=yes, ai-train=no"), "/", "d4s u a4s"},
		{"the managed block of 2025, before a file", with("Content-signal: search=yes, ai-train=no"), "/lp", "shut"},
		{"the managed block of 2026", with("Content-Signal: search=yes,ai-train=no,use=reference"), "/x", "d4s u a4s"},
		{"the policy alone", "# search: building a search index\n# ai-train: training or fine-tuning AI models.\n", "/",
			"u u u"},
	} {
		if got := short(askUses(named(t, "google"), row.file, "http://h"+row.path, "Bot")); got != row.want {
			t.Errorf("%s: %s: %s, want %s", row.source, row.path, got, row.want)
		}
	}
	if u, _ := askUses(named(t, "google"), with("Content-Signal: search=yes,ai-train=no,use=reference"), "http://h/",
		"Bot"); u.Level != usage.LevelReference {
		t.Errorf("level %v, want reference", u.Level)
	}
	u, ok := askUses(named(t, "google"), "License: https://your-website.com/license.xml\n\nUser-agent: Googlebot\n"+
		"Allow: /\n", "http://h/", "Googlebot")
	if len(u.Licenses) != 1 || u.Licenses[0] != 1 || short(u, ok) != "u u u" {
		t.Errorf("the guide of RSL: licences on lines %v, %s", u.Licenses, short(u, ok))
	}
}
