package past

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Registry is the registry of agents of a run.
type Registry struct {
	Known  bool           // the run has the table agents, whole
	Agents []schema.Agent // with the columns that decide about policies, in their order
	digest string         // of the file
	own    bool           // the run judges agents by their own parsers
}

// columns of the table agents that decide about policies.
var columns = []string{"agent", "category", "tokens", "falls_back_to", "user_agent", "ignores_star", "reads_as",
	"kind", "uses", "policy_tokens"}

func readRegistry(ctx context.Context, in store.Store, m *journal.Manifest) (*Registry, error) {
	without := func(column string) bool { return slices.Contains(m.Without, "agents."+column) } // of a published run
	r := &Registry{own: slices.Contains(m.Profiles, robots.Own), Known: slices.Contains(m.Tables, "agents") &&
		!slices.ContainsFunc(columns, without)}
	for _, in := range m.Inputs {
		if in.Role == "agents" {
			r.digest = in.SHA256
		}
	}
	if !r.Known {
		return r, nil
	}
	err := rowio.Of(ctx, in, m.PartsOf("agents"), rowio.Selection{Columns: columns}, func(batch []schema.Agent) error {
		r.Agents = append(r.Agents, batch...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// binds says how the policy tokens that bind an agent differ from those before, or "".
func (r *Registry) binds(before *Registry, agent string) string {
	a, b := before.entry(agent), r.entry(agent)
	if x, y := list(a.PolicyTokens), list(b.PolicyTokens); x != y {
		return fmt.Sprintf("the entry of %s changed: policy_tokens: %s, now %s", agent, clip(x), clip(y))
	}
	for _, token := range b.PolicyTokens {
		if why := r.change(before, token); why != "" {
			return why
		}
		if x, y := list(before.entry(token).Uses), list(r.entry(token).Uses); x != y {
			return fmt.Sprintf("the entry of %s changed: uses: %s, now %s", token, clip(x), clip(y))
		}
	}
	return ""
}

// entry returns the entry of an agent, an empty one if there is none.
func (r *Registry) entry(agent string) *schema.Agent {
	for i := range r.Agents {
		if r.Agents[i].Name == agent {
			return &r.Agents[i]
		}
	}
	return new(schema.Agent)
}

// change says how the entry of an agent differs from the one before, or "".
func (r *Registry) change(before *Registry, agent string) string {
	if !r.Known || !before.Known {
		if r.digest != "" && r.digest == before.digest {
			return ""
		}
		return fmt.Sprintf("a run did not write the table agents, so the entry of %s may have changed", agent)
	}
	a, b := before.entry(agent), r.entry(agent)
	if !before.own || !r.own { // it decides nothing
		x, y := *a, *b
		x.ReadsAs, y.ReadsAs = nil, nil
		a, b = &x, &y
	}
	var out []string
	for _, f := range []struct{ name, a, b string }{
		{"tokens", list(a.Tokens), list(b.Tokens)}, {"falls_back_to", list(a.FallsBackTo), list(b.FallsBackTo)},
		{"user_agent", schema.OrZero(a.UserAgent), schema.OrZero(b.UserAgent)},
		{"ignores_star", fmt.Sprint(a.IgnoresStar), fmt.Sprint(b.IgnoresStar)},
		{"reads_as", schema.OrZero(a.ReadsAs), schema.OrZero(b.ReadsAs)},
	} {
		if f.a != f.b {
			out = append(out, fmt.Sprintf("%s: %s, now %s", f.name, clip(f.a), clip(f.b)))
		}
	}
	if out == nil {
		return ""
	}
	return "the entry of " + agent + " changed: " + strings.Join(out, "; ")
}

// list returns names as text, "" for none.
func list(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return asJSON(names)
}

// clip shortens a text of a run for a message.
func clip(s string) string {
	if s == "" {
		return "not set"
	}
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return s
}
