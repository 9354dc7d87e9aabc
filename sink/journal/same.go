package journal

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/robocensus/robocensus/sink/store/remote"
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
	if p.Columns != "" {
		differ("the digest of the tables' columns", p.Columns, now.Columns)
	}
	differ("the version of the bins in summary", p.SummaryBins, now.SummaryBins)
	if p.Shards == now.Shards { // a run without shards does not note the list
		differ("the public suffix list of the program", p.PublicSuffixes, now.PublicSuffixes)
	}
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
				if !SamePath(a.Path, b.Path) {
					out = append(out, fmt.Sprintf("%s: %s is not the archive that the run has read, %s", role, b.Path, a.Path))
				}
			case a.IdentifiedWhenRead || b.IdentifiedWhenRead:
				out = append(out, fmt.Sprintf("%s: one of %s and %s is at an https URL, and the other is not", role, a.Path,
					b.Path))
			case a.EndsSHA256 != "" && b.EndsSHA256 != "":
				if a.EndsSHA256 != b.EndsSHA256 {
					out = append(out, fmt.Sprintf("%s: %s is not the file that the run has read, %s", role, b.Path, a.Path))
				}
			case b.SHA256 == "" && b.Path == "-", a.SHA256 == "" && a.Path == "-":
				out = append(out, fmt.Sprintf("%s: standard input cannot be read again; keep the list in a file", role))
			case b.SHA256 == "" || a.SHA256 == "":
				out = append(out, fmt.Sprintf("%s: %s is not a regular file and cannot be read again; keep the list in a file",
					role, b.Path))
			case a.SHA256 != b.SHA256:
				out = append(out, fmt.Sprintf("%s: %s (SHA-256 %.12s…) differs from what the run has read, %s (%.12s…)", role,
					b.Path, b.SHA256, a.Path, a.SHA256))
			}
		}
	}
	for _, key := range keys(p.Configuration, now.Configuration) {
		// The flag of an input has the name of its role; roles and tables are compared above.
		if before[key] == nil && after[key] == nil && key != "tables" {
			a, b := p.Configuration[key], now.Configuration[key]
			if s, _ := SettingNamed(key); s.Published == ItsFileName {
				x, isPath := a.(string)
				y, alsoPath := b.(string)
				if isPath && alsoPath && SamePath(x, y) {
					continue
				}
			}
			differ(key, a, b)
		}
	}
	return out
}

// SamePath reports whether two paths, or two URLs, are the same but for their spelling.
func SamePath(a, b string) bool { return oneSpelling(a) == oneSpelling(b) }

// oneSpelling returns one spelling for all of the path of a file, or of its URL.
func oneSpelling(path string) string {
	if path == "" || path == "-" {
		return path
	}
	if remote.IsURL(path) {
		return remote.Canonical(path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// matched yields the index of each input, and that of the input that takes its place in
// the plan, the next of its role, -1 for none.
func (p *Plan) matched(inputs []Input) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		left := make(map[string][]int)
		for i, in := range p.Inputs {
			left[in.Role] = append(left[in.Role], i)
		}
		for i, in := range inputs {
			at := -1
			if all := left[in.Role]; len(all) > 0 {
				at, left[in.Role] = all[0], all[1:]
			}
			if !yield(i, at) {
				return
			}
		}
	}
}

// Names returns the paths that the plan has for inputs that do not differ from its own: a
// process that resumes the run may have them by other paths.
func (p *Plan) Names(inputs []Input) []string {
	names := make([]string, len(inputs))
	for i, planned := range p.matched(inputs) {
		if names[i] = inputs[i].Path; planned >= 0 {
			names[i] = p.Inputs[planned].Path
		}
	}
	return names
}

// asRead returns the inputs of the plan, with what is known only of those that were read:
// the digest of standard input, and the size and tag of an archive at an https URL. It
// takes nothing else from them, such as another path or another configuration file.
func (p *Plan) asRead(read []Input) []Input {
	inputs := slices.Clone(p.Inputs)
	for i, planned := range p.matched(read) {
		if planned < 0 {
			continue
		}
		if to := &inputs[planned]; to.IdentifiedWhenRead {
			to.Bytes, to.Tag = read[i].Bytes, read[i].Tag
		} else if to.SHA256 == "" && to.EndsSHA256 == "" {
			to.SHA256, to.Rows = read[i].SHA256, read[i].Rows
		}
	}
	return inputs
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
