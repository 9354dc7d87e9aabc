package show

import (
	"fmt"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// A file may have a group in each second line, all for one crawler, and a registry many
// crawlers. To compare each group of each crawler with each other one, or each crawler with
// all others, would not end.
func TestManyGroupsForManyAgents(t *testing.T) {
	const groups, agents = 15000, 20000
	v := &hostView{}
	for i := range int32(groups) {
		v.groups = append(v.groups, schema.Group{GroupIndex: i, Line: 2*i + 1, Tokens: []string{"*"}, AgentLines: []int32{
			2*i + 1}})
		v.rules = append(v.rules, schema.Rule{GroupIndex: &i, Line: 2*i + 2, Kind: "disallow", Pattern: "/x",
			Effective: true})
	}
	for i := range agents {
		p := schema.Policy{Agent: fmt.Sprint("a", i), Category: "other", Class: "partial", GroupAgent: new("*"),
			Match: new("star")}
		if i == 7 {
			p.GroupAgent, p.Class = nil, "allow_all"
		}
		v.policies = append(v.policies, p)
	}
	v.addDeciding()
	if len(v.Deciding) != 2 {
		t.Fatalf("%d ways to decide, want 2", len(v.Deciding))
	}
	d := v.Deciding[0]
	if len(d.Lines) != groups || len(d.Rules) != groups || len(d.Binds) != 1 || len(d.Binds[0].Agents) != agents-1 ||
		len(d.Binds[0].Others) != 1 || d.Binds[0].Others[0] != "a7" {
		t.Errorf("%d lines, %d rules; binds %+v", len(d.Lines), len(d.Rules), d.Binds[0].Others)
	}
	if marks := v.marks(); len(marks) != 2*groups {
		t.Errorf("%d lines are marked, want %d", len(marks), 2*groups)
	}
}
