package series

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// neighbours says what differs between a run and the one before it.
type neighbours struct {
	before, after *counted
	all           []string            // why nothing can be compared
	notes         []string            // settings that differ and change few answers
	strata        []string            // why strata cannot be compared
	profiles      map[string][]string // why figures of a profile cannot
	categories    map[string]string   // why figures of a category cannot
}

func newNeighbours(before, after *counted, profiles []string) *neighbours {
	n := &neighbours{before: before, after: after, profiles: make(map[string][]string), categories: make(map[string]string)}
	a, b := before.m, after.m
	differ := func(to *[]string, what string, x, y any) {
		if x != y {
			*to = append(*to, fmt.Sprintf("%s: %v, then %v", what, x, y))
		}
	}
	differ(&n.all, "another version of the tables", a.SchemaVersion, b.SchemaVersion)
	differ(&n.all, "another kind of source", before.kind(), after.kind())
	if unknown := slices.DeleteFunc([]*sink.Manifest{a, b}, func(m *sink.Manifest) bool { return !isAgain(m) || m.Earlier != nil }); len(unknown) > 0 {
		n.all = append(n.all, fmt.Sprintf("run %s does not say which hosts the run had that it judges again", unknown[0].Run))
	} else {
		differ(&n.all, "another list of hosts", listOf(a, "hosts"), listOf(b, "hosts"))
		differ(&n.all, "another --limit", limitOf(a), limitOf(b))
		differ(&n.all, "another --sample", sampleOf(a), sampleOf(b))
	}
	breaks, notes := settings(before, after)
	n.all, n.notes = append(n.all, breaks...), notes
	differ(&n.strata, "another list of ranks", listOf(a, "ranks"), listOf(b, "ranks"))
	for _, p := range append(slices.Clone(profiles), b.FirstProfile()) {
		if n.profiles[p] == nil {
			n.profiles[p] = profileChanges(a, b, p)
		}
	}
	if x, y := a.FirstProfile(), b.FirstProfile(); x != y {
		n.profiles[""] = []string{fmt.Sprintf("another first profile: %s, then %s", x, y)}
	} else {
		n.profiles[""] = n.profiles[y]
	}
	n.compareCategories()
	return n
}

// kind says where the answers of a run come from: most of them, if from several.
func (r *counted) kind() string {
	kind, most := "", int64(0)
	for source, n := range r.sources {
		if n > most || n == most && source < kind {
			kind, most = source, n
		}
	}
	return kind
}

// isAgain reports whether a run judges the captures of an earlier one again.
func isAgain(m *sink.Manifest) bool {
	return slices.ContainsFunc(m.Inputs, func(in sink.Input) bool { return in.Role == "run" })
}

var digits = regexp.MustCompile(`[0-9]+`)

// listOf names a list without its folder and with # for numbers: tranco-2026-11-01.csv
// and tranco-2026-11-08.csv are two editions of one list. Hosts that are arguments have
// no editions. A run that judges another one again may choose from its hosts.
func listOf(m *sink.Manifest, role string) string {
	return eachInput(m, role, "none", func(in sink.Input) string {
		if in.Path == sink.NamedHosts {
			return fmt.Sprintf("%s (%.8s)", in.Path, in.SHA256)
		}
		return digits.ReplaceAllString(filepath.Base(filepath.ToSlash(in.Path)), "#")
	})
}

// editionOf returns the digest of a list, "" if it is not known.
func editionOf(m *sink.Manifest, role string) string {
	return eachInput(m, role, "", func(in sink.Input) string { return cmp.Or(in.SHA256, in.Ends) })
}

func eachInput(m *sink.Manifest, role, none string, text func(sink.Input) string) string {
	var texts []string
	for _, c := range m.Choices() {
		for _, in := range c.Inputs {
			if in.Role == role {
				texts = append(texts, text(in))
			}
		}
	}
	return cmp.Or(strings.Join(texts, " of "), none)
}

// limitOf returns the smallest limit of a run and those that it judges again.
func limitOf(m *sink.Manifest) int64 {
	least := int64(0)
	for _, c := range m.Choices() {
		if n, _ := strconv.ParseInt(c.Limit, 10, 64); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// sampleOf returns the smallest share: it is a part of the others.
func sampleOf(m *sink.Manifest) float64 {
	least := 1.0
	for _, c := range m.Choices() {
		if share, err := strconv.ParseFloat(c.Sample, 64); err == nil && share > 0 {
			least = min(least, share)
		}
	}
	return least
}

// profileChanges says how a profile differs between two runs.
func profileChanges(a, b *sink.Manifest, name string) (out []string) {
	x, y := a.ProfileFields[name], b.ProfileFields[name]
	switch inA, inB := slices.Contains(a.Profiles, name), slices.Contains(b.Profiles, name); {
	case !inA && inB:
		return []string{"run " + a.Run + " has no profile " + name}
	case !inB:
		return []string{"run " + b.Run + " has no profile " + name}
	case x == nil || y == nil:
		if a.ToolVersion != b.ToolVersion || asJSON(a.Configuration["profiles"]) != asJSON(b.Configuration["profiles"]) {
			return []string{"a run does not say what the profile " + name + " was"}
		}
		return nil
	}
	fields := make(map[string]bool)
	for _, m := range []map[string]any{x, y} {
		for field := range m {
			fields[field] = true
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if before, after := asJSON(x[field]), asJSON(y[field]); before != after {
			out = append(out, fmt.Sprintf("profile %s: %s was %s and is %s", name, field, before, after))
		}
	}
	return out
}

func asJSON(v any) string {
	text, _ := json.Marshal(v) // read from JSON
	return string(text)
}

// compareCategories finds the categories whose agents differ.
func (n *neighbours) compareCategories() {
	of := func(r *counted) map[string][]string {
		by := make(map[string][]string)
		for agent, category := range r.category {
			by[category] = append(by[category], agent)
		}
		return by
	}
	before, after := of(n.before), of(n.after)
	for category, agents := range after {
		var changed []string
		for _, agent := range agents {
			switch was, ok := n.before.category[agent]; {
			case !ok, was != category:
				changed = append(changed, agent+" is new")
			case n.after.agents.change(n.before.agents, agent) != "":
				changed = append(changed, "the entry of "+agent+" changed")
			}
		}
		for _, agent := range before[category] {
			if n.after.category[agent] != category {
				changed = append(changed, agent+" is gone")
			}
		}
		slices.Sort(changed)
		if changed != nil {
			n.categories[category] = "the category " + category + " changed: " + some(changed, 5)
		}
	}
}

// some joins texts, or the first few of many.
func some(texts []string, most int) string {
	if more := len(texts) - most; more > 0 {
		return strings.Join(texts[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(texts, ", ")
}

// whyNot says why a figure cannot be compared with that of the run before, or "".
func (n *neighbours) whyNot(k id, stratum string) string {
	var out []string
	out = append(out, n.all...)
	if stratum != All {
		out = append(out, n.strata...)
	}
	if !slices.Contains([]string{"targets", "status", "entered", "left"}, k.metric) { // facts, whatever the profile
		out = append(out, n.profiles[k.profile]...)
	}
	switch {
	case k.agent != "":
		if _, ok := n.before.category[k.agent]; !ok {
			out = append(out, fmt.Sprintf("the registry of run %s has no %s", n.before.m.Run, k.agent))
		} else if text := n.after.agents.change(n.before.agents, k.agent); text != "" {
			out = append(out, text)
		}
	case k.category != "":
		if text := n.categories[k.category]; text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// marks returns the events of the later run.
func (n *neighbours) marks(profiles []string) (out []Mark) {
	mark := func(kind, of, text string) { out = append(out, Mark{n.after.m.Run, kind, of, text}) }
	for _, text := range n.all {
		mark("break", "", text)
	}
	for _, text := range n.strata {
		mark("break", "", text)
	}
	for _, text := range n.notes {
		mark("settings_changed", "", text)
	}
	for _, role := range []string{"hosts", "ranks"} {
		if a, b := editionOf(n.before.m, role), editionOf(n.after.m, role); a != b && listOf(n.before.m, role) == listOf(n.after.m, role) {
			mark("list_changed", role, "another edition of the list of "+role)
		}
	}
	if a, b := listOf(n.before.m, "bodies"), listOf(n.after.m, "bodies"); a != b {
		mark("list_changed", "bodies", fmt.Sprintf("another folder of files: %s, then %s", a, b))
	}
	for _, p := range profiles {
		if len(n.profiles[p]) > 0 {
			mark("profile_changed", p, strings.Join(n.profiles[p], "; "))
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(n.after.category)) {
		if _, ok := n.before.category[agent]; !ok {
			mark("agent_new", agent, agent+" enters the registry")
		} else if text := n.after.agents.change(n.before.agents, agent); text != "" {
			mark("agent_changed", agent, text)
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(n.before.category)) {
		if _, ok := n.after.category[agent]; !ok {
			mark("agent_gone", agent, agent+" leaves the registry")
		}
	}
	return out
}
