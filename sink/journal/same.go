package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Differences describes how the plan of a run differs from the one to resume it with.
// Tables made under both would not be those of one run.
func (p *Plan) Differences(now *Plan) []string {
	var out []string
	differ := func(what string, a, b any) {
		if x, y := normalJSON(a), normalJSON(b); x != y {
			out = append(out, fmt.Sprintf("%s was %s and is now %s", what, x, y))
		}
	}
	differ("the tables' schema version", p.SchemaVersion, now.SchemaVersion)
	differ("the version of the bins in summary", p.SummaryBins, now.SummaryBins)
	differ("the public suffix list of the program", p.PublicSuffixes, now.PublicSuffixes)
	differ("shards", p.Shards, now.Shards)
	differ("shards of the earlier run", p.FromShards, now.FromShards)
	differ("tables", p.Tables, now.Tables)
	differ("profiles", p.Profiles, now.Profiles)

	// A configuration file matters by what it sets, an input by its contents, not by
	// its path.
	inputs := func(of *Plan) map[string][]Input {
		by := make(map[string][]Input)
		for _, in := range of.Inputs {
			if in.Role != "configuration" {
				by[in.Role] = append(by[in.Role], in)
			}
		}
		return by
	}
	before, after := inputs(p), inputs(now)
	for _, role := range keys(before, after) {
		if len(before[role]) != len(after[role]) {
			differ("the number of inputs called "+role, len(before[role]), len(after[role]))
			continue
		}
		for i, a := range before[role] {
			b := after[role][i]
			switch {
			case a.IdentifiedWhenRead && b.IdentifiedWhenRead:
				if a.Path != b.Path {
					out = append(out, fmt.Sprintf("%s: %s is not the archive that the run has read, %s", role, b.Path, a.Path))
				}
			case a.IdentifiedWhenRead || b.IdentifiedWhenRead:
				out = append(out, fmt.Sprintf("%s: one of %s and %s is at an https URL, and the other is not", role, a.Path, b.Path))
			case a.EndsSHA256 != "" && b.EndsSHA256 != "":
				if a.EndsSHA256 != b.EndsSHA256 {
					out = append(out, fmt.Sprintf("%s: %s is not the file that the run has read, %s", role, b.Path, a.Path))
				}
			case b.SHA256 == "" && b.Path == "-", a.SHA256 == "" && a.Path == "-":
				out = append(out, fmt.Sprintf("%s: standard input cannot be read again; keep the list in a file", role))
			case b.SHA256 == "" || a.SHA256 == "":
				out = append(out, fmt.Sprintf("%s: %s is not a regular file and cannot be read again; keep the list in a file", role, b.Path))
			case a.SHA256 != b.SHA256:
				out = append(out, fmt.Sprintf("%s: %s (SHA-256 %.12s…) differs from what the run has read, %s (%.12s…)", role, b.Path, b.SHA256, a.Path, a.SHA256))
			}
		}
	}
	for _, key := range keys(p.Configuration, now.Configuration) {
		// The flag of an input has the name of its role; roles and tables are compared above.
		if before[key] == nil && after[key] == nil && key != "tables" {
			differ(key, p.Configuration[key], now.Configuration[key])
		}
	}
	return out
}

// keys returns the keys of both maps, sorted.
func keys[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// Same reports whether two plans are equal.
func (p *Plan) Same(q *Plan) bool { return normalJSON(p) == normalJSON(q) }

// normalJSON encodes a value as JSON, so that numbers of different types compare equal.
func normalJSON(value any) string {
	text, err := json.Marshal(value)
	if err == nil {
		var back any
		if err = json.Unmarshal(text, &back); err == nil {
			text, err = json.Marshal(back)
		}
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}
