package series

import (
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/summary"
)

// neighbours says what differs between a run and the one before it.
type neighbours struct {
	*past.Differences
	before, after *countedRun
	profiles      map[string][]string // why figures of a profile cannot be compared
	categories    map[string]string   // why figures of a category cannot
}

func newNeighbours(before, after *countedRun, profiles []string) *neighbours {
	n := &neighbours{Differences: past.Compare(before.Run, after.Run), before: before, after: after,
		profiles: make(map[string][]string)}
	for _, p := range append(slices.Clone(profiles), after.FirstProfile()) {
		if n.profiles[p] == nil {
			n.profiles[p] = n.Profile(p)
		}
	}
	if x, y := before.FirstProfile(), after.FirstProfile(); x != y {
		n.profiles[""] = []string{"another first profile: " + x + ", then " + y}
	} else {
		n.profiles[""] = n.profiles[y]
	}
	n.categories = n.Categories()
	return n
}

// whyNot says why a figure cannot be compared with that of the run before, or "".
func (n *neighbours) whyNot(k id, stratum string) string {
	var out []string
	out = append(out, n.All()...)
	switch {
	case isLabel(stratum):
		out = append(out, n.Grouped...)
	case stratum != All:
		out = append(out, n.Ranks...)
	}
	// facts, whatever the profile
	if !slices.Contains([]string{"targets", "status", "turned_away", "entered", "left"}, k.metric) {
		out = append(out, n.profiles[k.profile]...)
	}
	out = append(out, n.words(k)...)
	switch {
	case k.agent != "":
		if text := n.Agent(k.agent); text != "" {
			out = append(out, text)
		}
	case k.category != "":
		if text := n.categories[k.category]; text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// words says why a figure about what files say about use, or about whose words they are,
// cannot be compared.
func (n *neighbours) words(k id) (out []string) {
	add := func(why string) {
		if why != "" {
			out = append(out, why)
		}
	}
	switch k.metric {
	case "coverage_closed":
		add(n.Sitemaps())
	case "template", "policy_template":
		add(n.Templates())
	case "preference", "page_preference":
		add(n.Labels())
	case "page_refusal":
		add(n.Labels())
		if k.key == "alone" { // not by robots.txt
			add(n.categories["ai-training"])
		}
	case "answer", "answer_let_in":
		add(n.Identities())
	case "page_met":
		add(n.Identities())
		add(n.Pages())
	case "refusal":
		shuts := k.key == "crawler" || k.key == "token"
		if !shuts {
			add(n.Labels())
		}
		if shuts || k.key == summary.AnyRefusal || k.key == summary.ByTerms {
			add(n.categories["ai-training"])
		}
	}
	return out
}

// marks returns the events of the later run.
func (n *neighbours) marks(profiles []string) (out []Mark) {
	mark := func(kind, of, text string) { out = append(out, Mark{n.after.ID(), kind, of, text}) }
	for _, text := range slices.Concat(n.All(), n.Ranks, n.Grouped) {
		mark("break", "", text)
	}
	for _, text := range n.Notes {
		mark("settings_changed", "", text)
	}
	for _, text := range []string{n.Labels(), n.Templates()} {
		if text != "" {
			mark("settings_changed", "", text)
		}
	}
	for _, role := range []string{"hosts", "ranks"} {
		if n.EditionOf(role) {
			mark("list_changed", role, "another edition of the list of "+role)
		}
	}
	for _, c := range n.Chosen {
		mark("list_changed", c.Role, c.Text)
	}
	for _, p := range profiles {
		if len(n.profiles[p]) > 0 {
			mark("profile_changed", p, strings.Join(n.profiles[p], "; "))
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(n.after.Category)) {
		if _, ok := n.before.Category[agent]; !ok {
			mark("agent_new", agent, agent+" enters the registry")
		} else if text := n.Entry(agent); text != "" {
			mark("agent_changed", agent, text)
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(n.before.Category)) {
		if _, ok := n.after.Category[agent]; !ok {
			mark("agent_gone", agent, agent+" leaves the registry")
		}
	}
	return out
}
