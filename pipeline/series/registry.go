package series

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// registry is the registry of agents of a run.
type registry struct {
	known   bool // the run wrote the table agents
	digest  string
	entries map[string]entry
}

// entry holds the fields of an agent that decide about its policies, and its
// category.
type entry struct{ category, tokens, fallsBack, userAgent, ignoresStar string }

func readRegistry(ctx context.Context, dir string, m *sink.Manifest) (*registry, error) {
	lacks := func(column string) bool { return strings.HasPrefix(column, "agents.") } // was published without it
	r := &registry{known: slices.Contains(m.Tables, "agents") && !slices.ContainsFunc(m.Without, lacks), entries: make(map[string]entry)}
	for _, in := range m.Inputs {
		if in.Role == "agents" {
			r.digest = in.SHA256
		}
	}
	text := func(cell *string) string {
		if cell == nil {
			return ""
		}
		return strings.Clone(*cell)
	}
	if !r.known {
		return r, nil
	}
	for _, p := range m.PartsOf("agents") {
		err := scan.Texts(ctx, dir, p, []string{"agent", "category", "tokens", "falls_back_to", "user_agent", "ignores_star"}, func(c []*string) {
			r.entries[text(c[0])] = entry{text(c[1]), text(c[2]), text(c[3]), text(c[4]), text(c[5])}
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// change says how the entry of an agent differs between two registries, or "".
func (r *registry) change(before *registry, agent string) string {
	if !r.known || !before.known {
		if r.digest != "" && r.digest == before.digest {
			return ""
		}
		return fmt.Sprintf("a run did not write the table agents, so the entry of %s may have changed", agent)
	}
	a, b := before.entries[agent], r.entries[agent]
	var out []string
	for _, f := range []struct{ name, a, b string }{
		{"tokens", a.tokens, b.tokens}, {"falls_back_to", a.fallsBack, b.fallsBack},
		{"user_agent", a.userAgent, b.userAgent}, {"ignores_star", a.ignoresStar, b.ignoresStar},
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

// clip shortens a text of a registry for a message.
func clip(s string) string {
	if s == "" {
		return "not set"
	}
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return s
}
