package registry

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/schema"
)

// Each entry of the built-in registry says where it is from, also a dead name. That is a page of
// the operator's, or the software's manual; a directory of crawlers has the names that no
// operator is known to send, and the few agents for which no other page is known.
func TestEachEntryHasItsSource(t *testing.T) {
	nodes, err := userfile.List("agents.yaml", configs.Agents, "agent")
	if err != nil || len(nodes) < 200 {
		t.Fatalf("%d entries: %v", len(nodes), err)
	}
	var secondHand []string
	for _, node := range nodes {
		var entry struct{ Name, Kind, Source string }
		if err := node.Decode(&entry); err != nil || !isURL(entry.Source) {
			t.Errorf("line %d: %s has the source %q: %v", node.Line, entry.Name, entry.Source, err)
		}
		for _, list := range []string{"knownagents.com", "darkvisitors.com", "ai-robots-txt", "crawler-user-agents",
			"radar.cloudflare.com"} {
			if strings.Contains(entry.Source, list) && entry.Kind != KindNamedOnly {
				secondHand = append(secondHand, entry.Name)
			}
		}
	}
	if want := []string{
		"Bytespider", "PanguBot", "Webzio-Extended", "amazon-QBusiness", "AmazonBuyForMe", "Gemini-Deep-Research",
		"Google-Firebase",
		"GoogleAgent-Mariner", "GoogleAgent-URLContext", "kagi-fetcher", "Shap-User", "EchoboxBot", "FirecrawlAgent",
		"HenkBot",
	}; !slices.Equal(secondHand, want) {
		t.Errorf("agents on the word of a directory alone: %v, want %v", secondHand, want)
	}
	for text, want := range map[string]string{
		"- {name: A, source: manual}":               `agent "A": source: "manual" is not the URL of a page`,
		"- {name: A, source: \"ftp://a.example/\"}": "is not the URL",
		"- {name: A, ips: list.json}":               "ips: \"list.json\" is not the URL",
		"- {name: A, checked: \"28.11.2026\"}":      "checked: \"28.11.2026\" is not a day",
		"- {name: A, verifies: dns}":                "verifies: \"dns\" is unknown; use reverse_dns, signature, none",
		"- {name: A, kind: named_only, source: \"https://a.example/\", category: other}": "only a name, a source and the " +
			"day when it was checked",
	} {
		if _, _, err := ParseAgents("mine.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(),
			"mine.yaml:1: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, named, err := ParseAgents("mine.yaml",
		[]byte("- {name: A, source: \"https://a.example/bot\"}\n- {name: B, kind: named_only, source: "+
			"\"http://b.example\"}")); err != nil || len(named) != 1 {
		t.Errorf("%q, %v", named, err)
	}
}

func TestBuiltInRegistry(t *testing.T) {
	agents, _, err := ParseAgents("agents.yaml", configs.Agents)
	if err != nil {
		t.Fatal(err)
	}
	if len(agents) < 80 {
		t.Errorf("%d agents, want 80 at least", len(agents))
	}
	by := make(map[string]schema.Agent)
	categories := make(map[string]int)
	crawlers := 0
	for _, a := range agents {
		if a.Kind == KindCrawler {
			crawlers++
		}
		by[a.Name] = a
		categories[a.Category]++
		if a.Operator == nil && a.Binds == nil { // a token of purpose is nobody's
			t.Errorf("%s has no operator", a.Name)
		}
	}
	for _, c := range Categories {
		if categories[c] == 0 {
			t.Errorf("no agent of category %s", c)
		}
	}
	readme, err := os.ReadFile("../../README.md")
	if want := fmt.Sprintf("each of some %d crawlers", (crawlers+5)/10*10); err != nil ||
		!strings.Contains(string(readme), want) {
		t.Errorf("of %d crawlers README.md does not say %q: %v", crawlers, want, err)
	}
	// No agent has another agent's name among its own tokens.
	names := make(map[string]string)
	for _, a := range agents {
		for _, token := range a.Tokens {
			if other := names[strings.ToLower(token)]; other != "" {
				t.Errorf("%s and %s both have the token %s", other, a.Name, token)
			}
			names[strings.ToLower(token)] = a.Name
		}
	}
	for name, want := range map[string]string{
		"Googlebot": "[Googlebot] []", "Googlebot-Image": "[Googlebot-Image] [Googlebot]", "Kagibot": "[Kagibot] [Googlebot]",
		"Google-CloudVertexBot": "[Google-CloudVertexBot] [Googlebot]", "Applebot": "[Applebot] [Googlebot]",
		"AdsBot-Google-Mobile-Apps": "[AdsBot-Google-Mobile-Apps] [AdsBot-Google]", "YandexImages": "[YandexImages] [Yandex]",
		"bingbot": "[bingbot msnbot] []", // msnbot is its older name
	} {
		if got := fmt.Sprint(by[name].Tokens, by[name].FallsBackTo); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if !by["AdsBot-Google"].IgnoresStar || !by["ChatGPT-User"].UserTriggered || by["GPTBot"].IgnoresStar {
		t.Error("ignores_star or user_triggered are not as documented")
	}
	samples, err := ParseSamples("urls.txt", configs.URLs)
	if err != nil || len(samples) < 12 {
		t.Errorf("%d samples, %v; want a dozen", len(samples), err)
	}
}

func TestParseAgentsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "a: holds no agent;",
		"- {name: A}\n- {}\n":                   "a:2: an agent needs a name",
		"- {name: A}\n- name: B\n  tokens: A\n": "a:3: expected a list, got `A`",
		"- {name: A}\n\n- {name: a}\n":          `a:3: agent "a" is already in line 1`,
		"- name: A\n  categroy: seo\n":          `a:2: unknown key "categroy"`,
		"- {name: A, category: spam}\n":         `a:1: agent "A": no category "spam"`,
		"- {name: A, tokens: [\"A/1.0\"]}\n":    `a:1: agent "A": token "A/1.0" has a character outside A-Z a-z 0-9 . _ -; use "A"`,
		"- {name: A}\n- name: B\n  falls_back_to: [C, D 2]\n": `a:2: agent "B": token "D 2" has a character outside A-Z a-z 0-9 . _ -; use "D"`,
		"- {name: A, falls_back_to: [a]}\n":                   `a:1: agent "A" falls back to its own token "a"`,
		"- {name: A, falls_back_to: B}\n":                     "a:1: expected a list, got `B`",
		"name: A\n":                                           "a:1: ",
		"- A\n":                                               "a:1: expected",
		"- {name: A\n":                                        "a:",
		"- {name: A, user_triggered: perhaps}\n":              "a:1: ",
	} {
		_, _, err := ParseAgents("a", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error has two lines: %q", text, err)
		}
	}
}

func TestParseSamples(t *testing.T) {
	samples, err := ParseSamples("u", []byte("# paths\n/\n\n/a?b\n/\nhttp://a.example:80/x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(samples) != 3 || samples[1].URL != "/a?b" || samples[1].Line != 4 ||
		samples[2].Origin.String() != "http://a.example" {
		t.Errorf("samples: %+v", samples)
	}
	for text, want := range map[string]string{"x": "u:1: ", "/\nexample.com/x": "u:2: ",
		"gopher://a.example/": "cannot be fetched"} {
		if _, err := ParseSamples("u", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The one name of very many that an agent has for a token too is found, whatever its case.
func TestManyNamesThatNobodySends(t *testing.T) {
	var text strings.Builder
	letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8",
		"i", "9", "j")
	for i := range 10_000 {
		name := letters.Replace(fmt.Sprint(i))
		fmt.Fprintf(&text, "- {name: x%s}\n- {name: n%[1]s, kind: named_only}\n", name)
	}
	agents, named, err := ParseAgents("many.yaml", []byte(text.String()))
	if err != nil || len(agents) != 10_000 || len(named) != 10_000 {
		t.Fatal(len(agents), len(named), err)
	}
	text.WriteString("- {name: Last, tokens: [last, NHHHH]}\n")
	_, _, err = ParseAgents("many.yaml", []byte(text.String()))
	want := `many.yaml:20001: agent "Last": the token nhhhh is of kind named_only in line 15556; remove that line`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
