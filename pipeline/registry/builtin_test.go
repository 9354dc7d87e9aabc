package registry

import (
	"slices"
	"testing"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// The built-in agents are those of the file, as values that nobody else holds, and package
// robots takes each of them.
func TestBuiltIn(t *testing.T) {
	want, _, err := ParseAgents("agents.yaml", configs.Agents)
	if err != nil {
		t.Fatal(err)
	}
	agents := BuiltIn()
	if len(agents) != len(want) || agents[0].Name != want[0].Name {
		t.Errorf("%d agents, want %d", len(agents), len(want))
	}
	for i := range agents {
		if err := Robots(&agents[i]).Validate(); err != nil {
			t.Error(err)
		}
	}
	agents[0].Name = "changed"
	if slices.ContainsFunc(BuiltIn(), func(a schema.Agent) bool { return a.Name == "changed" }) {
		t.Error("a caller changes what others get")
	}
	if allowed, err := robots.Allowed([]byte("User-agent: GPTBot\nDisallow: /"), "GPTBot", "/a"); allowed || err != nil {
		t.Errorf("GPTBot: %v, %v", allowed, err)
	}
}
