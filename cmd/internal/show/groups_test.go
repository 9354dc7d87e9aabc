package show

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/sink/schema"
)

// Agents stand together that follow the same lines, under whatever names the file has them;
// the rule that shuts out is told, and who of a category is an exception.
func TestGroupsThatDecide(t *testing.T) {
	v := &hostView{
		groups: []schema.Group{
			{GroupIndex: 0, Line: 1, AgentLines: []int32{1, 2}, Tokens: []string{"a", "b"}},
			{GroupIndex: 1, Line: 5, AgentLines: []int32{5}, Tokens: []string{"*"}},
			{GroupIndex: 2, Line: 20, AgentLines: []int32{20}, Tokens: []string{"a"}},
		},
	}
	rule := func(group, line int32, kind, pattern string) {
		v.rules = append(v.rules, schema.Rule{GroupIndex: &group, Line: line, Kind: kind, Pattern: pattern,
			Effective: pattern != ""})
	}
	rule(0, 3, "disallow", "/x\x1b[31m")
	rule(0, 4, "disallow", "/*")
	for line := range int32(9) {
		rule(1, 6+line, "disallow", "/p/")
	}
	rule(1, 15, "allow", "/p/q")
	rule(2, 21, "allow", "/z")
	agent := func(name, category, class, match, group string) {
		p := schema.Policy{Agent: name, Category: category, Class: class, Match: schema.NonZero(match),
			GroupAgent: schema.NonZero(group)}
		v.policies = append(v.policies, p)
	}
	agent("B1", "ai-training", "disallow_all", "own", "B")
	agent("B2", "ai-training", "disallow_all", "own", "b")
	agent("A", "archive", "partial", "own", "A")
	for _, name := range []string{"S1", "S2", "S3", "S4"} {
		agent(name, "archive", "partial", "star", "*")
		agent("T"+name, "ai-training", "partial", "star", "*")
		agent("O"+name, "seo", "partial", "star", "*")
	}
	agent("Ads", "archive", "allow_all", "none", "")
	v.addDeciding()
	var out strings.Builder
	v.printDeciding(&cli.Text{Out: &out}, false)
	want := `A, from line 1: partly closed
  line 3: Disallow: /x\u001b[31m
  line 4: Disallow: /*
  line 21: Allow: /z
  1 agent: A for archives
B, line 2: shut out
  line 4: Disallow: /*
  2 agents: B1 and B2 for AI training
*, line 5: partly closed
  line 6: Disallow: /p/
  line 7: Disallow: /p/
  line 8: Disallow: /p/
  line 9: Disallow: /p/
  line 10: Disallow: /p/
  line 11: Disallow: /p/
  and 3 more rules, which --agent NAME and --json show
  12 agents: all for SEO; all for AI training but B1 and B2; all for archives but A and Ads
no group: open
  1 agent: Ads for archives
`
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(out.String(), "\n")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	out.Reset()
	v.printDeciding(&cli.Text{Out: &out}, true)
	if !strings.Contains(out.String(), "  AI training:\n  B1, B2\n") {
		t.Errorf("no names:\n%s", out.String())
	}
}

// Where no file decides, that is said once.
func TestNoFileDecides(t *testing.T) {
	v := &hostView{policies: []schema.Policy{{Agent: "A", Category: "seo", Class: "unknown"},
		{Agent: "B", Category: "archive", Class: "unknown"}}}
	v.addDeciding()
	var out strings.Builder
	v.printDeciding(&cli.Text{Out: &out}, false)
	if want := "no file decides: unknown (not read)\n  2 agents, all of the run\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
