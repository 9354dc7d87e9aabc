package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/robots/usage"
)

func TestParseUses(t *testing.T) {
	built, err := ParseUses("uses.yaml", configs.Uses, nil)
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[usage.Label]usage.Use{
		{Mechanism: usage.ContentUsage, Name: "train-ai"}:  usage.AITrain,
		{Mechanism: usage.ContentUsage, Name: "search"}:    usage.Search,
		{Mechanism: usage.ContentUsage, Name: "tdm"}:       usage.NoUse,
		{Mechanism: usage.ContentSignal, Name: "ai-train"}: usage.AITrain,
		{Mechanism: usage.ContentSignal, Name: "ai-input"}: usage.AIInput,
		{Mechanism: usage.ContentSignal, Name: "search"}:   usage.Search,
	} {
		if use, known := built[label]; use != want || !known {
			t.Errorf("%v: %v, %v", label, use, known)
		}
	}
	own, err := ParseUses("own.yaml",
		[]byte("- {mechanism: content-usage, label: tdm, use: ai-train}\n- {mechanism: content-usage, label: search}"), built)
	if err != nil || own[usage.Label{Mechanism: usage.ContentUsage, Name: "tdm"}] != usage.AITrain ||
		own[usage.Label{Mechanism: usage.ContentUsage, Name: "search"}] != usage.NoUse || len(own) != len(built) {
		t.Errorf("%v, %v", own, err)
	}
	for text, want := range map[string]string{
		"- {mechanism: license, label: a}":               "own.yaml:1: no mechanism",
		"- {mechanism: content-usage}":                   "needs a label",
		"- {mechanism: content-usage, label: TDM}":       "lower case",
		"- {mechanism: content-usage, label: a, use: b}": `no use "b"; use one of ai-train, ai-input, search`,
		"- {mechanism: content-usage, label: a}\n- {mechanism: content-usage, label: a}": "own.yaml:2: label \"a\" " +
			"of content-usage is already in line 1",
		"- {mechanism: content-usage, labels: a}":                                               "unknown key",
		"- {mechanism: content-usage, label: a}\n- {mechanism: content-signal, label: a, x: 1}": "own.yaml:2",
	} {
		if _, err := ParseUses("own.yaml", []byte(text), built); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestKindsOfAgents(t *testing.T) {
	agents, _, err := ParseAgents("agents.yaml", []byte("- {name: Bot, category: ai-search, policy_tokens: [X]}\n"+
		"- {name: X, kind: token, uses: [ai-train], falls_back_to: ['*']}"))
	if err != nil {
		t.Fatal(err)
	}
	tokens := PolicyTokens(agents)(&agents[0])
	if len(tokens) != 1 || tokens[0].Name != "X" || len(Robots(&tokens[0]).FallsBackTo) != 0 ||
		agents[0].Kind != KindCrawler || agents[0].Uses[0] != "ai-input" {
		t.Errorf("%+v", agents)
	}
	if p := TokenPolicy(&tokens[0], nil); !p.Star || len(p.Uses) != 1 || p.Uses[0] != usage.AITrain {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]string{
		"- {name: A}\n- {name: B, kind: c}":                  "agents.yaml:2: agent \"B\": no kind",
		"- {name: A, uses: [ai]}":                            "no use \"ai\"",
		"- {name: A, policy_tokens: [B]}\n- {name: B}":       "no agent \"B\" of kind token",
		"- {name: A, kind: token, policy_tokens: [B]}":       "has no policy_tokens",
		"- {name: A, falls_back_to: ['*']}":                  "character outside",
		"- {name: A, binds: {uses: [ai-train]}}":             "binds: only an entry of kind token binds other agents",
		"- {name: A, kind: token, binds: {uses: [train]}}":   "no use \"train\"",
		"- {name: A, kind: token, binds: {use: [ai-train]}}": "agents.yaml:1: unknown key \"use\"",
		"- {name: A, kind: token, binds: {uses: []}}":        "agents.yaml:1: binds: names no use",
		"- {name: A, kind: token, binds: [ai-train]}":        "agents.yaml:1: expected",
	} {
		if _, _, err := ParseAgents("agents.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A token that binds by use is a policy token of each agent with the use, once, also of one
// that names it, and of no other token.
func TestTokensThatBindByUse(t *testing.T) {
	agents, _, err := ParseAgents("agents.yaml",
		[]byte("- {name: Trainer, category: ai-training}\n- {name: Finder, category: search, policy_tokens: [Own]}\n"+
			"- {name: Both, uses: [search, ai-train], policy_tokens: [Own, __usage_t]}\n"+
			"- {name: Own, kind: token, uses: [ai-train]}\n- {name: __usage_t, kind: token, uses: [ai-train], binds: {uses: "+
			"[ai-train, ai-input]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"__usage_t"}, {"Own"}, {"Own", "__usage_t"}, nil, nil} {
		if got := agents[i].PolicyTokens; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", agents[i].Name, got, want)
		}
	}
	var many strings.Builder
	for i := range mostBinding + 1 {
		fmt.Fprintf(&many, "- {name: t%d, kind: token, uses: [search], binds: {uses: [search]}}\n", i)
	}
	if _, _, err := ParseAgents("agents.yaml", []byte(many.String())); err == nil || !strings.Contains(err.Error(),
		"agents.yaml:101: ") {
		t.Errorf("%v", err)
	}
}
