package settings

import (
	"testing"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline/registry"
)

func TestAgentNames(t *testing.T) {
	agents, _, err := registry.ParseAgents("agents.yaml", configs.Agents)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"Mozilla/5.0 (compatible; GPTBot/1.2)":                  "GPTBot",
		"Mozilla/5.0 (compatible; NewBot/1.2; +http://a.test/)": "NewBot",
		"GPTBot/1.2": "GPTBot",
		"NewBot/1.2": "NewBot",
		"a b":        "a",
		"///":        "",
	} {
		if got := tokenWithin(in, agents); got != want {
			t.Errorf("the token in %q is %q, want %q", in, got, want)
		}
	}
}
