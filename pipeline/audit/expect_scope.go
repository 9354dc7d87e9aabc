package audit

import (
	"fmt"
	"slices"
	"strings"
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
		{"severity", x.Severity, func(s *shape) *form { return word(s.severity) }},
		{"after", x.After, func(s *shape) *form { return s.after }},
		{"urls", x.URLs, func(s *shape) *form { return s.url }},
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
		for i := range k.shapes {
			s := &k.shapes[i]
			if !slices.ContainsFunc(by, func(n narrowing) bool { return !n.allows(s) }) {
				found = true
				for i := range by {
					by[i].mark(s, broken[i])
				}
			}
		}
		if found {
			x.kinds = append(x.kinds, k.name)
		} else if key, err = x.neverChanges(k, by); slices.Contains(x.NoChange, k.name) {
			return key, err
		}
	}
	for i, n := range by {
		for _, w := range n.words {
			if !broken[i][w] {
				return n.key, fmt.Errorf("%s %q: no such change has it together with the other keys; make two expectations of it", n.key, w)
			}
		}
	}
	return "", nil
}

// candidates returns the kinds that the expectation names or, by all, that have the
// columns by which it is narrowed.
func (x *expectation) candidates() (out []*changeKind, key string, err error) {
	all := slices.Contains(x.NoChange, "all")
	for i := range changeKinds {
		k := &changeKinds[i]
		named := slices.Contains(x.NoChange, k.name)
		if !named && !all {
			continue
		}
		key := x.cannotNarrow(k, !named)
		if key == "" {
			out = append(out, k)
		} else if named {
			return nil, key, fmt.Errorf("%s does not apply to changes of kind %s: %s", key, k.name, k.narrowed[key])
		}
	}
	if len(out) == 0 {
		return nil, "no_change", fmt.Errorf("no kind of change has all that this expectation names: narrow it by fewer keys")
	}
	return out, "", nil
}

// cannotNarrow returns the key of the expectation by which changes of a kind cannot be
// narrowed, "" for none. Changes that name an agent only sometimes are meant by all.
func (x *expectation) cannotNarrow(k *changeKind, byAll bool) string {
	for _, key := range []string{"agents", "category", "profile", "urls"} {
		if _, given := x.lines[key]; given && k.narrowed[key] != "" && !(byAll && k.someAgents && (key == "agents" || key == "category")) {
			return key
		}
	}
	if k.name == "sitemap" && len(x.After) > 0 && len(x.URLs) > 0 {
		return "after"
	}
	return ""
}

// A narrowing is a key with its words, and the column of a change that has one of them.
type narrowing struct {
	key    string
	words  words
	column func(*shape) *form
}

// allows reports whether a change of this shape can have one of the words.
func (n *narrowing) allows(s *shape) bool {
	f := n.column(s)
	return len(n.words) == 0 || f != nil && slices.ContainsFunc(n.words, f.has)
}

// mark marks the words that changes of this shape can have.
func (n *narrowing) mark(s *shape, marked map[string]bool) {
	f := n.column(s)
	for _, w := range n.words {
		if f != nil && f.has(w) {
			marked[w] = true
		}
	}
}

// known returns the texts that the column can have, for a message.
func (n *narrowing) known(kinds ...*changeKind) []string {
	var out []string
	for _, k := range kinds {
		for i := range k.shapes {
			if f := n.column(&k.shapes[i]); f != nil {
				out = append(out, f.text)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkWords checks that changes of one of the kinds can have each word.
func (n *narrowing) checkWords(kinds []*changeKind) error {
	marked := make(map[string]bool)
	for _, k := range kinds {
		for i := range k.shapes {
			n.mark(&k.shapes[i], marked)
		}
	}
	for _, w := range n.words {
		if marked[w] {
			continue
		}
		known := n.known(kinds...)
		if len(known) == 0 || len(kinds) == len(changeKinds) {
			return fmt.Errorf("%s %q: these changes have no such value", n.key, w)
		}
		return fmt.Errorf("%s %q: use %s", n.key, w, strings.Join(known, ", "))
	}
	return nil
}

// neverChanges says why no change of a kind breaks the expectation, and by which key.
func (x *expectation) neverChanges(k *changeKind, by []narrowing) (key string, err error) {
	for _, n := range by {
		if slices.ContainsFunc(k.shapes, func(s shape) bool { return n.allows(&s) }) {
			continue
		}
		if known := n.known(k); len(known) > 0 {
			return n.key, fmt.Errorf("%s: no change of kind %s has any of these, but %s: give each kind an expectation of its own", n.key, k.name, strings.Join(known, ", "))
		}
		return n.key, fmt.Errorf("%s does not apply to changes of kind %s: remove the kind", n.key, k.name)
	}
	return "no_change", fmt.Errorf("no change of kind %s has these words of severity, after and urls together", k.name)
}
