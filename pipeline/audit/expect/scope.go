package expect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
)

// checkScope finds the kinds of changes that a no_change is about. Each kind that it
// names must have changes that break it, and so must each word of severity, after and
// urls: else it promises nothing. By all it is about every kind that has such changes.
func (x *expectation) checkScope() (key string, err error) {
	if x.what != "no_change" {
		return "", nil
	}
	candidates, key, err := x.candidates()
	if err != nil {
		return key, err
	}
	by := []narrowing{
		{"severity", x.Severity, func(s *change.Shape) *change.Form { return change.Word(s.Severity) }},
		{"after", x.After, func(s *change.Shape) *change.Form { return s.After }},
		{"urls", x.URLs, func(s *change.Shape) *change.Form { return s.URL }},
	}
	for i := range by {
		if err := by[i].checkWords(candidates); err != nil {
			return by[i].key, err
		}
	}
	broken := make([]map[string]bool, len(by)) // the words that some change has
	for i := range broken {
		broken[i] = make(map[string]bool)
	}
	for _, k := range candidates {
		found, err := false, error(nil)
		for i := range k.Shapes {
			s := &k.Shapes[i]
			if s.Nobody && len(x.Agents)+len(x.Category)+len(x.Profile) > 0 {
				continue
			}
			if !slices.ContainsFunc(by, func(n narrowing) bool { return !n.allows(s) }) {
				found = true
				for i := range by {
					by[i].mark(s, broken[i])
				}
			}
		}
		if found {
			x.kinds = append(x.kinds, k.Name)
		} else if key, err = x.neverChanges(k, by); slices.Contains(x.NoChange, k.Name) {
			return key, err
		}
	}
	for i, n := range by {
		for _, w := range n.words {
			if !broken[i][w] {
				return n.key, fmt.Errorf("%s %q: no such change has it together with the other keys; split it in two", n.key, w)
			}
		}
	}
	return "", nil
}

// candidates returns the kinds that the expectation names or, by all, that have the
// columns by which it is narrowed.
func (x *expectation) candidates() (out []*change.Kind, key string, err error) {
	all := slices.Contains(x.NoChange, "all")
	for i := range change.All {
		k := &change.All[i]
		named := slices.Contains(x.NoChange, k.Name)
		if !named && !all {
			continue
		}
		key := x.cannotNarrow(k, !named)
		if key == "" {
			out = append(out, k)
		} else if named {
			return nil, key, fmt.Errorf("%s does not apply to changes of kind %s: %s", key, k.Name, k.CannotNarrow(key))
		}
	}
	if len(out) == 0 {
		return nil, "no_change", fmt.Errorf("no kind of change has all that this expectation names: narrow it by fewer keys")
	}
	return out, "", nil
}

// cannotNarrow returns the key of the expectation by which changes of a kind cannot be
// narrowed, "" for none. Changes that name an agent only sometimes are meant by all.
func (x *expectation) cannotNarrow(k *change.Kind, byAll bool) string {
	for _, key := range []string{"agents", "category", "profile", "urls", "use", "identity"} {
		if _, given := x.lines[key]; given && k.CannotNarrow(key) != "" &&
			!(byAll && k.SomeAgents && (key == "agents" || key == "category")) {
			return key
		}
	}
	if k.Name == "sitemap" && len(x.After) > 0 && len(x.URLs) > 0 {
		return "after"
	}
	return ""
}

// A narrowing is a key with its words, and the column of a change that has one of them.
type narrowing struct {
	key    string
	words  words
	column func(*change.Shape) *change.Form
}

// allows reports whether a change of this shape can have one of the words.
func (n *narrowing) allows(s *change.Shape) bool {
	f := n.column(s)
	return len(n.words) == 0 || f != nil && slices.ContainsFunc(n.words, f.Has)
}

// mark marks the words that changes of this shape can have.
func (n *narrowing) mark(s *change.Shape, marked map[string]bool) {
	f := n.column(s)
	for _, w := range n.words {
		if f != nil && f.Has(w) {
			marked[w] = true
		}
	}
}

// known returns the texts that the column can have, for a message.
func (n *narrowing) known(kinds ...*change.Kind) []string {
	var out []string
	for _, k := range kinds {
		for i := range k.Shapes {
			if f := n.column(&k.Shapes[i]); f != nil {
				out = append(out, f.Text)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkWords checks that changes of one of the kinds can have each word.
func (n *narrowing) checkWords(kinds []*change.Kind) error {
	marked := make(map[string]bool)
	for _, k := range kinds {
		for i := range k.Shapes {
			n.mark(&k.Shapes[i], marked)
		}
	}
	for _, w := range n.words {
		if marked[w] {
			continue
		}
		known := n.known(kinds...)
		if len(known) == 0 || len(kinds) == len(change.All) {
			return fmt.Errorf("%s %q: these changes have no such value", n.key, w)
		}
		return fmt.Errorf("%s %q: use %s", n.key, w, strings.Join(known, ", "))
	}
	return nil
}

// neverChanges says why no change of a kind breaks the expectation, and by which key.
func (x *expectation) neverChanges(k *change.Kind, by []narrowing) (key string, err error) {
	for _, n := range by {
		if slices.ContainsFunc(k.Shapes, func(s change.Shape) bool { return n.allows(&s) }) {
			continue
		}
		if known := n.known(k); len(known) > 0 {
			return n.key, fmt.Errorf("%s: no change of kind %s has any of these, but %s: give each kind an expectation of "+
				"its own", n.key, k.Name, strings.Join(known, ", "))
		}
		return n.key, fmt.Errorf("%s does not apply to changes of kind %s: remove the kind", n.key, k.Name)
	}
	if len(x.Agents)+len(x.Category)+len(x.Profile) > 0 {
		return "no_change", fmt.Errorf(
			"no change of kind %s that names an agent has these words of severity, after and urls "+
				"together", k.Name)
	}
	return "no_change", fmt.Errorf("no change of kind %s has these words of severity, after and urls together", k.Name)
}
